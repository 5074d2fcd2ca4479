#include "hip/memory/registered_host.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/stream/stream.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr unsigned kMaxRegisterFlags = 15;

// Registered memory by the host's addresses.
std::map<std::uint64_t, RegisteredHost>& registered() {
  static auto& ranges = *new std::map<std::uint64_t, RegisteredHost>;
  return ranges;
}

// The host's addresses by those of the twins.
std::map<std::uint64_t, std::uint64_t>& twins() {
  static auto& hosts = *new std::map<std::uint64_t, std::uint64_t>;
  return hosts;
}

// Whether the process has this memory.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = address / page * page;
  if (bytes > UINT64_MAX - (address - first) - page) return false;
  const std::uint64_t length = (address - first + bytes + page - 1) / page * page;
  std::vector<unsigned char> there(length / page);
  return mincore(device_pointer(first), length, there.data()) == 0;
}

// The first range that has a byte of these.
std::optional<std::uint64_t> first_in(std::uint64_t address, std::uint64_t bytes) {
  if (const auto around = find_registered(address)) return around->address;
  const auto next = registered().lower_bound(address);
  if (next == registered().end() || next->first - address >= bytes) return std::nullopt;
  return next->first;
}

void forget(std::uint64_t address) {
  const auto found = registered().find(address);
  if (const std::uint64_t twin = found->second.twin; twin != 0) {
    twins().erase(twin);
    static_cast<void>(free_memory(twin));
  }
  registered().erase(found);
}

int register_host(const void* host, std::size_t bytes, unsigned flags) {
  if (host == nullptr || bytes == 0 || flags > kMaxRegisterFlags) return kInvalidValue;
  const std::uint64_t address = address_of(host);
  const auto all =
      static_cast<std::uint64_t>(device().chip().architecture().memory_bytes_of_device());
  if (bytes > all || !is_mapped(address, bytes)) return kInvalidValue;
  // Memory that was registered, freed and given out again: as with AMD's library, the new word
  // holds.
  while (const auto old = first_in(address, bytes)) forget(*old);
  registered()[address] = {address, bytes, flags, chosen_device(), 0};
  return kSuccess;
}

int unregister_host(const void* host) {
  if (host == nullptr) return kInvalidValue;
  if (!registered().contains(address_of(host))) return kHostMemoryNotRegistered;
  forget(address_of(host));
  return kSuccess;
}

// Where kernels find the host's byte at this address, which lies in a registered range.
tl::expected<std::uint64_t, int> place_in_twin(std::uint64_t address) {
  const auto around = std::prev(registered().upper_bound(address));
  RegisteredHost& range = around->second;
  if (range.twin == 0) {
    const auto twin = allocate_memory(range.bytes, MemoryKind::registered, 0, range.device);
    if (!twin) return tl::unexpected<int>(twin.error());
    range.twin = *twin;
    twins()[range.twin] = range.address;
  }
  return range.twin + (address - range.address);
}

// Calls each(host, twin, bytes) for ranges that kernels can reach and the host still has.
template <class Each>
void for_each_twin(Each&& each) {
  for (const auto& [twin, host] : twins()) {
    const RegisteredHost& range = registered().at(host);
    const auto place = device().host_pointer(twin, range.bytes);
    if (place && is_mapped(host, range.bytes)) {
      each(static_cast<std::byte*>(device_pointer(host)), *place, range.bytes);
    }
  }
}

}  // namespace

std::optional<RegisteredHost> find_registered(std::uint64_t address) {
  const auto next = registered().upper_bound(address);
  if (next == registered().begin()) return std::nullopt;
  const RegisteredHost& before = std::prev(next)->second;
  if (address - before.address >= before.bytes) return std::nullopt;
  return before;
}

std::byte* host_behind_twin(std::uint64_t address, std::size_t bytes) {
  const auto next = twins().upper_bound(address);
  if (next == twins().begin()) return nullptr;
  const auto& [twin, host] = *std::prev(next);
  const std::uint64_t offset = address - twin;
  const std::uint64_t all = registered().at(host).bytes;
  if (offset >= all || bytes > all - offset) return nullptr;
  return static_cast<std::byte*>(device_pointer(host + offset));
}

TwinsInUse::TwinsInUse() {
  for_each_twin([](const std::byte* host, std::byte* twin, std::size_t bytes) {
    if (std::memcmp(host, twin, bytes) == 0) return;  // so that launches can be replayed
    std::memcpy(twin, host, bytes);
    device().host_wrote();
  });
}

TwinsInUse::~TwinsInUse() {
  for_each_twin([](std::byte* host, const std::byte* twin, std::size_t bytes) {
    if (std::memcmp(host, twin, bytes) != 0) std::memcpy(host, twin, bytes);
  });
}

void reset_registered(int ordinal) {
  std::erase_if(registered(), [ordinal](const auto& entry) {
    if (entry.second.device != ordinal) return false;
    twins().erase(entry.second.twin);
    return true;
  });
}

WW_HIP_EXPORT int hipHostRegister(void* host, std::size_t bytes, unsigned flags) {
  return guarded([&]() -> int {
    const int bad = refuse_unsafe_in_capture();
    return bad != kSuccess ? bad : register_host(host, bytes, flags);
  });
}
WW_HIP_EXPORT int hipHostUnregister(void* host) {
  return guarded([&]() -> int {
    const int bad = refuse_unsafe_in_capture();
    return bad != kSuccess ? bad : unregister_host(host);
  });
}
WW_HIP_EXPORT int hipHostGetDevicePointer(void** place, void* host, unsigned flags) {
  return guarded([&]() -> int {
    if (place == nullptr || flags != 0) return kInvalidValue;
    if (find_registered(address_of(host))) {
      const auto in_twin = place_in_twin(address_of(host));
      if (!in_twin) return in_twin.error();
      *place = device_pointer(*in_twin);
      return kSuccess;
    }
    const auto found = find_allocation(address_of(host));
    if (!found || !host_must_see(found->kind)) return kInvalidValue;
    *place = host;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipHostGetFlags(unsigned* flags, void* host) {
  return guarded([&]() -> int {
    if (flags == nullptr) return kInvalidValue;
    if (const auto range = find_registered(address_of(host))) {
      *flags = range->flags;
      return kSuccess;
    }
    const auto found = find_allocation(address_of(host));
    if (!found || found->kind != MemoryKind::host) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
