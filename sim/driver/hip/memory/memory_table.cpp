#include "hip/memory/memory_table.hpp"

#include <map>
#include <vector>

#include "hip/memory/advice.hpp"

namespace ww::sim::driver::hip {
namespace {

struct MemoryTable {
  std::map<std::uint64_t, Allocation> allocations;
  std::map<int, std::uint64_t> bytes;  // by device
  std::uint32_t made{};
};

MemoryTable& memory_table() {
  static auto& instance = *new MemoryTable;
  return instance;
}

bool host_can_see() {
  if (device().host_at_device_addresses()) return true;
  static bool said = false;
  if (!std::exchange(said, true)) {
    print_line(
        "HIP: no pinned or managed memory: this process uses the addresses where it would lie "
        "(a sanitizer, perhaps)");
  }
  return false;
}

}  // namespace

tl::expected<std::uint64_t, int> allocate_memory(std::uint64_t bytes, MemoryKind kind,
                                                 unsigned flags, int ordinal) {
  if (host_must_see(kind) && !host_can_see()) return tl::unexpected<int>(kOutOfMemory);
  device().select_device(ordinal);
  const auto address = device().allocate(bytes);
  if (!address) return tl::unexpected<int>(kOutOfMemory);
  auto& table = memory_table();
  table.allocations[*address] = {*address, bytes, kind, flags, ordinal, ++table.made};
  table.bytes[ordinal] += bytes;
  return *address;
}

int MemoryOwner::free_for_program(std::uint64_t address) {
  return free_memory(address);
}

int free_memory(std::uint64_t address) {
  auto& table = memory_table();
  const auto found = table.allocations.find(address);
  if (found == table.allocations.end()) return kInvalidValue;
  if (found->second.owner != nullptr) found->second.owner->forget(found->second);
  if (found->second.kind == MemoryKind::managed) forget_advice(address, found->second.bytes);
  table.bytes[found->second.device] -= found->second.bytes;
  table.allocations.erase(found);
  return device().release(address) ? kSuccess : kInvalidValue;
}

void give_to(std::uint64_t address, MemoryOwner& owner, std::uint32_t pool) {
  Allocation& allocation = memory_table().allocations.at(address);
  allocation.owner = &owner;
  allocation.pool = pool;
}

void make_device_memory(std::uint64_t address) {
  Allocation& allocation = memory_table().allocations.at(address);
  allocation.kind = MemoryKind::device;
  allocation.owner = nullptr;
}

void put_mapped(Allocation mapped) {
  auto& table = memory_table();
  mapped.kind = MemoryKind::mapped;
  mapped.number = ++table.made;
  table.allocations[mapped.address] = mapped;
}

void forget_mapped(std::uint64_t address) {
  memory_table().allocations.erase(address);
}

void count_bytes(int ordinal, std::int64_t more) {
  memory_table().bytes[ordinal] += static_cast<std::uint64_t>(more);
}

std::optional<Allocation> find_allocation(std::uint64_t address) {
  const auto& all = memory_table().allocations;
  auto next = all.upper_bound(address);
  if (next == all.begin()) return std::nullopt;
  const Allocation& before = std::prev(next)->second;
  if (address - before.address >= before.bytes) return std::nullopt;
  return before;
}

std::uint64_t allocated_bytes(int ordinal) {
  return memory_table().bytes[ordinal];
}

void reset_memory(int ordinal) {
  std::vector<std::uint64_t> addresses;
  for (const auto& [address, allocation] : memory_table().allocations) {
    if (allocation.kind == MemoryKind::managed_variable || allocation.device != ordinal) continue;
    if (allocation.kind == MemoryKind::mapped) continue;  // no context has it
    addresses.push_back(address);
  }
  for (const std::uint64_t address : addresses) static_cast<void>(free_memory(address));
}

}  // namespace ww::sim::driver::hip
