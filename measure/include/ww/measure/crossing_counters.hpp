// Which of a profiler's counters tell what crossed between the sides of a partitioned L2.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::measure {

// A counter, or a family of them ("lts__t_sectors_srcnode_*"), and whether its bytes crossed.
struct CrossingCounter {
  std::string_view architectures;  // "sm_80, sm_90"
  std::string_view counter;        // a name, or a family that ends in "*"
  double bytes_each{};             // 0: it does not tell, or nobody has shown what it counts
  MapQuality quality{MapQuality::unchecked};
  std::string_view note;
};
[[nodiscard]] std::span<const CrossingCounter> crossing_counters();

struct CountedCrossings {
  // By kernel, of the kernels of which every dispatch has the counter.
  std::map<std::string, double> bytes;
  // Counters of the dispatches that belong to a family which does not tell, and why it does not;
  // empty where there are none.
  std::string unused;
};
[[nodiscard]] CountedCrossings count_crossings(std::span<const CounterDispatch> dispatches);

}  // namespace ww::measure
