// Counters that profilers are known to count too few of, by part and release.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ww/measure/counter_map.hpp"

namespace ww::measure {

struct Undercount {
  std::string_view architecture;  // prefix: "gfx115" stands for gfx1150 to gfx1153
  std::string_view counters;      // prefix of their names
  std::size_t instances{};        // that the part has; a file that names as many is complete
  std::string_view what;          // "the true bytes may be twice as many: ..."
  std::string_view source;
};
[[nodiscard]] std::span<const Undercount> undercounts();

// Describes what a figure by this rule may lack on the part; empty where nothing is known, or where
// the dispatch shows that all instances were counted.
[[nodiscard]] std::string undercount(std::string_view architecture, const SegmentRule& rule,
                                     const CounterDispatch& dispatch);

}  // namespace ww::measure
