// The program's memory, by address. All of it is the chip's; the host sees it at the same addresses
// where the process has them free, which pinned and managed memory need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hip/session/session.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver::hip {

// A managed variable is the program's own: neither hipFree nor hipDeviceReset takes it. What
// belongs to an array, a texture or a surface goes with it, and hipFree does not take it. A graph's
// memory is the program's only while the graph has allocated it.
// Registered memory is the twin of the host's own. Mapped memory is what the program has put at
// addresses of its choice, as far as it may be used in one piece.
enum class MemoryKind { device, array, graph, registered, mapped, host, managed, managed_variable };
[[nodiscard]] inline bool host_must_see(MemoryKind kind) {
  return kind >= MemoryKind::host;
}

struct Allocation;

// Who else has to do with memory that is freed: a pool that counts it, a graph that gives it.
class MemoryOwner {
 public:
  // The program frees what begins there. Error kInvalidValue: it is not the program's.
  virtual int free_for_program(std::uint64_t address);
  // The allocation goes.
  virtual void forget(const Allocation&) {}

 protected:
  ~MemoryOwner() = default;
};

struct Allocation {
  std::uint64_t address{};
  std::uint64_t bytes{};
  MemoryKind kind{};
  unsigned flags{};
  int device{};            // whose memory it is
  std::uint32_t number{};  // no other one has had it
  std::uint32_t pool{};    // the number of the one that counts it; 0: none
  MemoryOwner* owner{};    // null: the table alone
};

// Memory of that device. Errors: kOutOfMemory; for what the host has to see, where it cannot (said
// on stderr once).
[[nodiscard]] tl::expected<std::uint64_t, int> allocate_memory(std::uint64_t bytes, MemoryKind kind,
                                                               unsigned flags,
                                                               int ordinal = chosen_device());
// Error kInvalidValue: no allocation begins there.
int free_memory(std::uint64_t address);
// Names the owner of an allocation that begins there; `pool`: the number of the one that counts it.
void give_to(std::uint64_t address, MemoryOwner& owner, std::uint32_t pool = 0);
// Makes plain device memory of what belonged to a graph. An allocation begins there.
void make_device_memory(std::uint64_t address);
// Mapped memory comes, with its address, bytes, flags (an access) and device; and goes. Its bytes
// count apart, where they are made.
void put_mapped(Allocation mapped);
void forget_mapped(std::uint64_t address);
void count_bytes(int ordinal, std::int64_t more);
// The allocation around an address.
[[nodiscard]] std::optional<Allocation> find_allocation(std::uint64_t address);
[[nodiscard]] std::uint64_t allocated_bytes(int ordinal = chosen_device());

}  // namespace ww::sim::driver::hip
