// How long the whole way between engines and homes can be, where only its differences were timed:
// what an estimate multiplies energy per nanosecond with.
#pragma once

#include <optional>
#include <span>

#include "ww/model/fit.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::model {

// The least mean flight [ns] that agrees with the measured differences. Engines and homes add times
// of their own to a latency, so that t(e,h) = flight_ns(e,h) + r(e) + c(h) with unknown r and c;
// but no flight is below 0. The least mean of t is a linear programme. Every feasible point of its
// dual, a transport of equal shares from engines to homes, is a lower bound; the cheapest entries
// are taken first. Noise makes the least of n entries too low by at most sqrt(2 ln n) standard
// errors in the mean, which are subtracted.
[[nodiscard]] double least_whole_flight_ns(const MeasuredPaths& paths);

// Bounds of the mean flight over all pairs of engine and home. From above: the whole chip draws
// `extra_fj_per_bit` (one entry a pair) more for random payload than for zeros, and wires of this
// length would draw `slope_fj_per_bit_ns` a nanosecond of it; nothing else draws less for random
// payload than for zeros. Nothing where the slope is not positive or the bounds leave nothing.
[[nodiscard]] std::optional<WholeFlight> bound_whole_flight(
    const MeasuredPaths& paths, std::span<const double> extra_fj_per_bit,
    double slope_fj_per_bit_ns);

}  // namespace ww::model
