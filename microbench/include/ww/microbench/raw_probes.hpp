// Small probes whose raw figures a selftest keeps, because nobody has them for many cards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// How long a wavefront sleeps for each argument of its target's own instruction.
struct SleepCurve {
  std::string instruction;                 // "s_sleep", "nanosleep"
  std::vector<std::uint32_t> arguments;    // in its own units: 64 cycles, or ns
  std::vector<std::vector<double>> ticks;  // [argument][round], of the compute unit's clock
};
// Errors: unsupported (the target has no such instruction, or no clock), those of the host.
[[nodiscard]] Result<SleepCurve> measure_sleeps(ComputeHost& host);

// Whether loads see what another shader array has stored meanwhile: a stale line was answered by a
// cache before the L2. Plain loads are the control. If they are never stale, no cache held the
// lines, and the loads past the caches prove nothing.
struct Visibility {
  int lines{};           // of 128 B, of each round
  int rounds{};          // of each kind of load
  std::int64_t stale{};  // lines in which loads past the caches, as of the streams, were stale
  std::int64_t stale_plain{};
  std::uint32_t reader{}, writer{};  // hardware ids of the places
  int places{};                      // that the device has
};
// Errors: unsupported (the places of the part are not told apart, or have one shader array),
// bad_data (wavefronts never ran at both places at once), those of the host.
[[nodiscard]] Result<Visibility> test_visibility(ComputeHost& host);

}  // namespace ww::microbench
