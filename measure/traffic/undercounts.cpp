#include "undercounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ww::measure {
namespace {

constexpr std::array kTable = {
    Undercount{"gfx115", "GL2C_", 8,
               "the true bytes may be twice as many: rocprofv3 before February 2026 reads 4 of the "
               "8 parts of this L2",
               "ROCm/rocm-systems issue 2352 (gfx1151: 524,308 KiB counted of 1 GiB) and pull "
               "request 3100, merged on 2026-02-05, for gfx1150 to gfx1153"},
};

bool all_instances(const Undercount& row, const SegmentRule& rule,
                   const CounterDispatch& dispatch) {
  return std::ranges::all_of(rule.terms, [&](const CounterTerm& term) {
    return term.optional ||
           dispatch.counters.contains(fmt::format("{}[{}]", term.counter, row.instances - 1));
  });
}

}  // namespace

std::span<const Undercount> undercounts() {
  return kTable;
}

std::string undercount(std::string_view architecture, const SegmentRule& rule,
                       const CounterDispatch& dispatch) {
  for (const Undercount& row : kTable) {
    if (!architecture.starts_with(row.architecture)) continue;
    const bool used = std::ranges::any_of(rule.terms, [&](const CounterTerm& term) {
      return term.counter.starts_with(row.counters);
    });
    if (used && !all_instances(row, rule, dispatch)) return std::string(row.what);
  }
  return {};
}

}  // namespace ww::measure
