// Public ranges of the power that a chip draws beside its wires, and the wires' share within them.
//
// The share of the wires has the power of everything else in its denominator. On a card a sensor
// reads that power. On a virtual chip somebody chose it, and no sensor makes the choice better. So
// the share is also bounded by what public sources say of the rest of the chip: an energy of each
// kind of event between a bare array or operator of its node, and the chip's whole power limit at
// the event's highest rate; together within the dynamic power of a stream that was measured.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::model {

struct Bounds {
  double low{}, high{};
};

// A kind of event, at the chip's reference voltage and clock.
struct ChipPart {
  std::string_view name;                   // "busy compute units"
  std::vector<std::string_view> counters;  // whose sum counts the events; empty: nanoseconds
  double events_per_count{1};
  double low_pj{}, high_pj{};  // of one event
  double stream_per_s{};       // events a second in the stream below
  std::string_view source;
};

// Ranges of one chip's power by public sources.
struct ChipPower {
  std::string_view architecture;  // "gfx701"
  double voltage_v{};             // of all figures
  std::vector<ChipPart> parts;
  Bounds stream_w;   // dynamic power of a measured stream, without its wires
  double limit_w{};  // dynamic power that no program exceeds
  std::string_view stream_source, limit_source;
};

// Null where nobody has collected sources.
[[nodiscard]] const ChipPower* chip_power(std::string_view architecture);

// The bounds of the share if one range were a point, its middle.
struct KnownRange {
  std::string_view name;
  Bounds share_percent;
  double narrower{};  // 0 as wide as before, 1 a point; widths are of the logarithm
};

struct ShareBounds {
  Bounds rest_w;                  // of the chip beside its wires
  Bounds share_percent;           // of the wires
  std::vector<KnownRange> known;  // a range each; the one that narrows most comes first
};

// Bounds the share of wires that took `wires_j` in a program with these counters, summed over its
// kernels, which ran for `seconds`. The bounds are exact: the extremes of a linear program.
// Errors: unsupported (a counter is missing), bad_data (no time, no energy of the wires).
[[nodiscard]] Result<ShareBounds> share_bounds(const ChipPower& chip, const Interval& wires_j,
                                               const std::map<std::string, double>& counters,
                                               double seconds);

// {rest_w: {low, high}, share_percent: {low, high}, if_known: [{range, share_percent: {low, high},
// narrower_percent}]}
[[nodiscard]] nlohmann::json to_json(const ShareBounds& bounds);

}  // namespace ww::model
