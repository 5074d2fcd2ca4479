#include "ww/measure/crossing_counters.hpp"

#include <fmt/format.h>

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

// With at most one "*" inside and one at the end.
bool belongs(std::string_view name, std::string_view family) {
  const auto star = family.find('*');
  if (star == std::string_view::npos) return name == family;
  if (!name.starts_with(family.substr(0, star))) return false;
  std::string_view middle = family.substr(star + 1);
  if (middle.ends_with('*')) middle.remove_suffix(1);
  return middle.empty() || name.substr(star).find(middle) != std::string_view::npos;
}

}  // namespace

std::span<const CrossingCounter> crossing_counters() {
  return kCrossingCounters;
}

CountedCrossings count_crossings(std::span<const CounterDispatch> dispatches) {
  CountedCrossings counted;
  std::set<std::string> uncounted;
  std::set<std::string> unused;
  for (const CounterDispatch& dispatch : dispatches) {
    bool told = false;
    for (const CrossingCounter& row : crossing_counters()) {
      if (row.bytes_each > 0) {
        const auto sectors = counter_total(dispatch, std::string(row.counter));
        if (!sectors) continue;
        counted.bytes[dispatch.kernel] += row.bytes_each * *sectors;
        told = true;
        continue;
      }
      for (const auto& [name, value] : dispatch.counters) {
        if (belongs(name, row.counter)) unused.insert(fmt::format("{}: {}", name, row.note));
      }
    }
    if (!told) uncounted.insert(dispatch.kernel);
  }
  std::erase_if(counted.bytes, [&](const auto& entry) { return uncounted.contains(entry.first); });
  for (const std::string& one : unused) {
    counted.unused += (counted.unused.empty() ? "" : "; ") + one;
  }
  return counted;
}

}  // namespace ww::measure
