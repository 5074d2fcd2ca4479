// Channels that lie together, from how long places wait for them.
#pragma once

#include <string>
#include <vector>

#include "latency/latency_table.hpp"

namespace ww::microbench {

struct HomeClusters {
  bool found{};
  std::string reason;
  std::vector<std::vector<int>> members;  // [home] -> columns of the table, ascending
  double separation{};
  double margin{};
};

// Splits the columns of a table [place][channel] in ticks into homes of equal size, so that the
// profiles within homes differ least: the sum of squared differences, rows' and columns' means
// taken out. Four homes, as the dies of GCN and CDNA have quadrants; another number where four do
// not divide the channels, or where fewer homes leave less within them: six slices at each of three
// places are three homes. Not found where profiles do not stand out of `noise_ticks` (of an
// entry), or where exchanging two channels of different homes would do nearly as well: homes are
// then refused and never mixed.
[[nodiscard]] HomeClusters cluster_channels(const LatencyTable& ticks, double noise_ticks);

}  // namespace ww::microbench
