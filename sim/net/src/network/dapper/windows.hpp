// Dapper's global overlay controller and overlay controllers (section IV.B.i, algorithms 2 and 3):
// how long each memory controller (MC) owns the reply plane, and when.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ww::sim::net {

// An MC's report at the end of an epoch. The paper names no units; here both are packets.
struct McStats {
  double arrivals{};   // A: reply packets put into its output buffer per period K
  double occupancy{};  // B: mean number of packets in it
};

// Equations (1) and (2): xi = alpha A + gamma B and T_i = K xi_i / sum(xi), in whole cycles that
// add up to K (largest remainders first, then the lower index). Without any traffic all are equal.
// An MC gets `minimum` cycles at least, which the others give up in proportion.
[[nodiscard]] std::vector<int> time_windows(std::span<const McStats> stats, double alpha,
                                            double gamma, int period, int minimum);

// MC `mc` owns the circuits in cycles [begin, end) of an epoch.
struct Window {
  std::int64_t begin{};
  std::int64_t end{};
  std::uint32_t mc{};
  bool last_of_epoch{};  // of this MC
};

// An epoch's windows: the T_i in turn, repeated each period. `literal` is algorithm 3 as printed,
// which begins with the second MC and never resets its counter: once the counter has reached T_i it
// stays there, and either every cycle switches on (equal windows) or none does any more.
void lay_out_epoch(std::span<const int> windows, int epoch, bool literal, std::vector<Window>& out);

}  // namespace ww::sim::net
