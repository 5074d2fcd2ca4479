// A counter map of one's own: which counters of a made-up gfx999 stand for which bytes.
#pragma once

#include <array>

#include "ww/measure/counter_map.hpp"

namespace ww::examples {

using enum ww::measure::Segment;
using enum ww::measure::MapQuality;
using ww::measure::CounterTerm;
using ww::measure::SegmentRule;

inline constexpr std::string_view source = "the vendor's counter manual, page 12";
inline constexpr std::array reads = {CounterTerm{"NEW_L1_READ_REQ", 128}};
inline constexpr std::array writes = {CounterTerm{"NEW_L1_WRITE_REQ", 64},
                                      CounterTerm{"NEW_L1_ATOMIC_REQ", 64, true}};
inline constexpr std::array gfx999_rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of L1 accesses is known", source},
    SegmentRule{l1_l2_read, reads, unchecked, "", source},
    SegmentRule{l1_l2_write, writes, unchecked, "", source},
};

}  // namespace ww::examples
