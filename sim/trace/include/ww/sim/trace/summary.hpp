// Counts the accesses of a trace by kernel, and finds how well the file is compressed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ww/core/result.hpp"
#include "ww/sim/trace/reader.hpp"

namespace ww::sim::trace {

struct KernelSummary {
  std::uint64_t launches{};
  std::uint64_t wave_accesses{};
  std::uint64_t accesses{};  // of lanes
  std::uint64_t bytes{};     // before coalescing
};

struct Summary {
  std::map<std::string, KernelSummary> kernels;
  std::uint64_t accesses_with_values{};
  // Bytes of the file for an access. Absent for a trace without accesses.
  std::optional<double> bytes_per_access;
  // The size of plain records (an address of 8 B and the value for each lane) over the file's size.
  double compression{};
};

// Reads the accesses that are left. Errors: those of Reader::next().
[[nodiscard]] Result<Summary> summarise(Reader& reader);

}  // namespace ww::sim::trace
