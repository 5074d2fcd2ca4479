#include "ww/measure/crossing_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ww::measure {
namespace {

constexpr std::array kCrossingCounters{
    CrossingCounter{"sm_80 and later parts whose L2 has two partitions",
                    "lts__t_sectors_srcunit_ltcfabric.sum", 32, MapQuality::unchecked,
                    "sectors of 32 B that L2 slices were asked for by the fabric between the L2's "
                    "partitions; from public profiles, not checked on a card"},
    CrossingCounter{
        "unknown", "lts__t_sectors_srcnode_*", 0, MapQuality::unchecked,
        "it names the node that a request came from: gpc, hub and fbp in public profiles, "
        "and none of these is the fabric between an L2's partitions"},
    CrossingCounter{
        "unknown", "lts__t_requests_srcunit_*_fabric*", 0, MapQuality::unchecked,
        "it counts requests, which are of one to four sectors; public profiles of GA100 and GH100 "
        "have lts__t_requests_srcunit_ltcfabric.sum"},
};

// Matches a family with at most one "*" inside and one at the end.
bool belongs(std::string_view name, std::string_view family) {
  const auto star = family.find('*');
  if (star == std::string_view::npos) return name == family;
  if (!name.starts_with(family.substr(0, star))) return false;
  std::string_view middle = family.substr(star + 1);
  if (middle.ends_with('*')) middle.remove_suffix(1);
  return middle.empty() || name.substr(star).find(middle) != std::string_view::npos;
}

// Sectors that crossed in the dispatch, in bytes; nothing where no counter gives them.
std::optional<double> crossed_bytes(const CounterDispatch& dispatch) {
  std::optional<double> bytes;
  for (const CrossingCounter& row : crossing_counters()) {
    if (!(row.bytes_each > 0)) continue;
    const auto sectors = counter_total(dispatch, std::string(row.counter));
    if (sectors) bytes = bytes.value_or(0) + row.bytes_each * *sectors;
  }
  return bytes;
}

void add_to(std::optional<double>& sum, const std::optional<double>& more) {
  if (sum && more) {
    *sum += *more;
  } else {
    sum.reset();
  }
}

void add_dispatch(KernelCrossings& kernel, const CounterDispatch& dispatch,
                  std::string_view architecture) {
  const auto segments = segment_bytes(architecture, dispatch);
  const auto of = [&segments](Segment segment) -> const SegmentBytes& {
    return *std::ranges::find(segments, segment, &SegmentBytes::segment);
  };
  const SegmentBytes& both = of(Segment::l1_l2);
  const bool at_least = both.quality == MapQuality::lower_bound;
  const auto crossed = crossed_bytes(dispatch);
  if (!crossed) {
    ++kernel.uncounted;
    add_to(kernel.uncounted_traffic, at_least ? std::nullopt : both.bytes);
    return;
  }
  ++kernel.counted;
  kernel.bytes += *crossed;
  add_to(kernel.traffic, both.bytes);
  kernel.traffic_at_least = kernel.traffic_at_least || at_least;
  add_to(kernel.read_traffic, of(Segment::l1_l2_read).bytes);
  add_to(kernel.written_traffic, of(Segment::l1_l2_write).bytes);
}

}  // namespace

std::span<const CrossingCounter> crossing_counters() {
  return kCrossingCounters;
}

CountedCrossings count_crossings(std::span<const CounterDispatch> dispatches,
                                 std::string_view architecture) {
  CountedCrossings counted;
  std::set<std::string> unused;
  for (const CounterDispatch& dispatch : dispatches) {
    add_dispatch(counted.kernels[dispatch.kernel], dispatch, architecture);
    for (const CrossingCounter& row : crossing_counters()) {
      if (row.bytes_each > 0) continue;
      for (const auto& [name, value] : dispatch.counters) {
        if (belongs(name, row.counter)) unused.insert(fmt::format("{}: {}", name, row.note));
      }
    }
  }
  std::erase_if(counted.kernels, [](const auto& entry) { return entry.second.counted == 0; });
  for (const std::string& one : unused) {
    counted.unused += (counted.unused.empty() ? "" : "; ") + one;
  }
  return counted;
}

}  // namespace ww::measure
