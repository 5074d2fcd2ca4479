// Lists a profiler's counters of what crossed between the sides of a partitioned L2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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
  double bytes_each{};             // 0: it gives no bytes, or nobody has shown what it counts
  MapQuality quality{MapQuality::unchecked};
  std::string_view note;
};
[[nodiscard]] std::span<const CrossingCounter> crossing_counters();

// The crossings of a kernel's dispatches.
struct KernelCrossings {
  std::uint64_t counted{};    // dispatches that have the counter
  std::uint64_t uncounted{};  // dispatches without it
  double bytes{};             // that crossed in the counted ones
  // Bytes between L1 and L2 in the counted dispatches; absent where counters are missing.
  std::optional<double> traffic{0};
  bool traffic_at_least{};  // `traffic` may be too few: reductions or atomics were not counted
  std::optional<double> read_traffic{0};     // the part of them that moves to the L1
  std::optional<double> written_traffic{0};  // the part of them that moves to the L2
  // Bytes between L1 and L2 in the others; absent where nothing gives them or bounds them.
  std::optional<double> uncounted_traffic{0};
};

struct CountedCrossings {
  std::map<std::string, KernelCrossings> kernels;  // of which a dispatch has the counter
  // Counters of the dispatches that belong to a family without that count, and why it has none;
  // empty where there are none.
  std::string unused;
};
// `architecture` says how to read the counters of the traffic between L1 and L2.
[[nodiscard]] CountedCrossings count_crossings(std::span<const CounterDispatch> dispatches,
                                               std::string_view architecture);

}  // namespace ww::measure
