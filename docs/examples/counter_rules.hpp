// A counter map of one's own: which counters of a made-up gfx999 stand for which bytes.
#pragma once

#include <array>

#include "ww/measure/counter_map.hpp"

namespace ww::examples {

using enum ww::measure::Segment;
using enum ww::measure::MapQuality;
using ww::measure::CounterTerm;
using ww::measure::SegmentRule;

inline constexpr std::string_view kGfx999Source = "the vendor's counter manual, page 12";
inline constexpr std::array<std::string_view, 1> kGfx999Names = {"gfx999"};
inline constexpr std::array kGfx999Reads = {CounterTerm{"NEW_L1_READ_REQ", 128}};
inline constexpr std::array kGfx999Writes = {CounterTerm{"NEW_L1_WRITE_REQ", 64},
                                             CounterTerm{"NEW_L1_ATOMIC_REQ", 64, true}};
inline constexpr std::array kGfx999Both = {CounterTerm{"NEW_L1_READ_REQ", 128},
                                           CounterTerm{"NEW_L1_WRITE_REQ", 64},
                                           CounterTerm{"NEW_L1_ATOMIC_REQ", 64, true}};
inline constexpr std::array kGfx999Rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of L1 accesses is known", kGfx999Source},
    SegmentRule{l1_l2_read, kGfx999Reads, unchecked, "", kGfx999Source},
    SegmentRule{l1_l2_write, kGfx999Writes, unchecked, "", kGfx999Source},
    SegmentRule{l1_l2, kGfx999Both, unchecked, "", kGfx999Source},
};

}  // namespace ww::examples
