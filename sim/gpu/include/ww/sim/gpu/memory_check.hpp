// The virtual GPU's reports of a kernel's errors with memory: accesses outside every buffer, to
// released buffers, misaligned accesses, and races between work-items on local memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ww::sim::gpu {

// The effect of an access outside every allocation. An access that `tolerate` or `report` permits
// is still listed in findings(). Such loads give 0 and such stores do nothing. An allocation's last
// page and the one behind it exist, however, as memory does on a real card.
enum class OnFault : std::uint8_t {
  stop,      // the first one ends the launch
  tolerate,  // ends it only where a real card would too: outside the card's memory
  report,    // never ends it
};

// Further checks beside bounds. They cost nothing when off.
struct MemoryChecks {
  bool memory{};  // misaligned accesses, local memory out of range; released buffers stay poisoned
  bool races{};   // conflicting accesses to local memory without a barrier between them
};

enum class FindingKind : std::uint8_t {
  out_of_bounds,
  use_after_free,
  misaligned,
  local_out_of_bounds,
  local_race,
  private_out_of_bounds,  // past a work-item's memory, as recursion soon is: permitted loads give
                          // 0, and a store ends the launch unless only reported
  unknown_instruction,    // no access: the launch ends where it is
};
enum class AccessKind : std::uint8_t { load, store, atomic };

[[nodiscard]] std::string_view to_string(FindingKind kind);
[[nodiscard]] std::string_view to_string(AccessKind kind);

// An error of one instruction: its first occurrence, and its number. Addresses are device
// addresses, or offsets in bytes into the work-group's local or the work-item's private memory.
struct MemoryFinding {
  FindingKind kind{};
  AccessKind access{};
  std::uint8_t bytes{};  // of the access
  bool same_wave{};      // races: both work-items belong to one wavefront
  std::uint32_t wave{};  // within the group
  std::uint32_t lane{};
  std::array<std::uint32_t, 3> group{};
  std::array<std::uint32_t, 3> item{};   // within the group
  std::array<std::uint32_t, 3> other{};  // races: the item of the earlier access
  AccessKind other_access{};
  std::uint64_t address{};
  std::uint32_t instruction{};  // bytes from the start of the program's code
  std::int64_t cycle{};
  std::uint64_t count{1};  // accesses of this instruction with this mistake
  // The allocation that the address belongs to, or was nearest behind; 0 bytes: none.
  std::uint64_t allocation{};
  std::uint64_t allocation_bytes{};
};

// One line without the kernel's name: "out-of-bounds store of 4 bytes at 0x... (8 bytes behind the
// 100 bytes at 0x...) by work-item (3, 0, 0) of group (1, 0, 0), lane 3 of wave 0, instruction
// at code +0x40 (program.cl:7); 12 times". `buffer` names the allocation and `line` the source
// where the caller knows them.
[[nodiscard]] std::string describe(const MemoryFinding& finding, const std::string& buffer,
                                   const std::string& line = {});

}  // namespace ww::sim::gpu
