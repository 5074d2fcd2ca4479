// Checks a counter mapping on the device itself, with kernels that move a known number of bytes.
// Each segment's bytes are accepted, scaled, or refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/measure/counter_map.hpp"

namespace ww::measure {

// Bytes that the kernel moved. Reads beyond the L2 are known if the data are too large to have been
// in it. Of the writes, at most `l2_bytes` stay dirty and are written later.
struct KnownBytes {
  double read{};
  double written{};
  double l2_bytes{};  // 0: not known, and so neither is what leaves the L2
};

enum class MappingVerdict {
  exact,        // within 0.5%
  scaled,       // wrong by a factor that every run shares: multiply by `scale`
  refused,      // wrong by something else
  unavailable,  // no counter of it
};
[[nodiscard]] std::string_view to_string(MappingVerdict verdict);

struct MappingCheck {
  Segment segment{};
  MappingVerdict verdict{MappingVerdict::unavailable};
  double expected_bytes{};
  std::optional<double> counted_bytes;  // mean over the runs
  double scale{1};                      // of counted bytes, with verdict scaled
  std::string reason;  // with verdict exact: why the bytes beyond the L2 are others, if they are
  // Counted bytes over the expected ones, less 1; where something was counted.
  [[nodiscard]] double error() const { return *counted_bytes / expected_bytes - 1; }
};

// Judges segments whose bytes the kernel fixes: L1-L2 both ways, reads beyond the L2, writes beyond
// it where the L2 is small against them. Each dispatch is one run of the same kernel; two or more.
// A factor is accepted between 1/4 and 4 where all runs agree on it within 0.5%.
[[nodiscard]] std::vector<MappingCheck> check_mapping(std::string_view architecture,
                                                      std::span<const CounterDispatch> runs,
                                                      const KnownBytes& known);

}  // namespace ww::measure
