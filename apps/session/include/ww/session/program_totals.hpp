// Sums of what a program did on the virtual GPU: its kernels' counters and bytes, and what was not
// exact.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::session {

// Bytes on the segments that every chip counts.
struct CacheTraffic {
  double l1_l2{};
  double memory_read{};
  double memory_write{};
};

// All launches of one kernel.
struct KernelTotals {
  std::uint64_t dispatches{};
  std::int64_t chip_time_ns{};
  std::map<std::string, double> counters;
};

struct ProgramTotals {
  std::vector<std::string> names;  // of counters, in the order of the files
  std::map<std::string, KernelTotals> kernels;
  std::string architecture;  // whose counters they are

  // Adds the rows of a counter file that the driver wrote, of one process. Errors: those of the CSV
  // reader, with `source` and line.
  Status add(std::string_view csv, const std::string& source);
  [[nodiscard]] KernelTotals sum() const;
  // Converts counts to bytes by the architecture's counter map. A counter that is absent counts 0.
  [[nodiscard]] CacheTraffic traffic(const KernelTotals& kernel) const;
};

// How exact the emulation was.
struct Fidelity {
  std::uint64_t instructions{};  // of waves, for ALUs and memories; of launches that ended
  std::uint64_t approximated{};  // instructions whose last bits may differ on a card
  std::uint64_t stopped_launches{};
  std::uint64_t unknown_instructions{};  // launches that an instruction stopped that cannot run
  std::uint64_t memory_mistakes{};       // accesses

  // Sets the counts of instructions from a program's counters.
  void count_instructions(const KernelTotals& sum);
  [[nodiscard]] std::uint64_t exact() const { return instructions - approximated; }
  // Adds the report of mistakes that the driver of one process wrote. Error parse_error: `json` is
  // no object.
  Status add_mistakes(std::string_view json, const std::string& source);
};

}  // namespace ww::session
