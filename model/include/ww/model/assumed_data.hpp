// Assumptions about data that no monitor saw (docs/estimate.md, "Toggles that nobody counted").
//
// A real card counts bytes and not toggles. How often a bit of an application's data changes, and
// how neighbouring bits change together, is then an uncertain input of the estimate like any other.
// Both act through one number, the equivalent rate: the toggles per payload bit of random words
// that cost the same. Its range is in the interval of every figure that rests on it.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "ww/model/interval.hpp"

namespace ww::model {

// Energy of a unit of coupling over that of a toggle beside quiet neighbours, 2 Cc / (Cg + 2 Cc),
// where no calibration measured it: from 0.2 of widely spaced wires with strong repeaters to 0.8 of
// unrepeated ones at the least pitch (Ho, Mai, Horowitz, "The Future of Wires", Proc. IEEE 89:490,
// 2001). The error is a standard deviation.
inline constexpr double kCouplingShare = 0.5;
inline constexpr double kCouplingShareError = 0.15;

// How far the toggle rate of one program may differ between two chips, as a factor: judgement.
inline constexpr double kOtherChipsRate = 1.3;

// Counts of toggle monitors on an application's L1-L2 traffic.
struct ApplicationToggles {
  std::string_view name;
  double toggle_rate{};  // toggles per payload bit; random bits: 0.5
  // (2 opposite - adjacent) per toggle, as WireActivity::coupling() counts it: -1 where all wires
  // change together the same way, 0 for random words, 1 where every neighbour goes the other way.
  double coupling_per_toggle{};
  [[nodiscard]] double equivalent_rate(double coupling_share) const {
    return toggle_rate * (1 + coupling_share * coupling_per_toggle);
  }
};
// The workloads of `wirewatt workloads list` with small inputs on virtual:w9100, as
// `studies/applications DIR --table` prints them.
[[nodiscard]] std::span<const ApplicationToggles> application_toggles();

// Equivalent rate of one more application of the same kind: the geometric mean, and Student's 95%
// prediction interval of the logarithms. Needs two applications, each above 0.
[[nodiscard]] Interval rate_of_one_more(std::span<const ApplicationToggles> applications,
                                        double coupling_share);

struct AssumedData {
  double known_rate{};  // toggles per payload bit, of bits whose rate is known; others count as 0
  double unknown_share{};  // the share of the bits of which nothing is known
  bool random_words{};     // neighbours of the known ones are independent for certain
  // Coupling per toggle that monitors of another chip counted, as ApplicationToggles has it; NaN:
  // nobody counted it. The rate is then that chip's, too.
  double counted_coupling{std::numeric_limits<double>::quiet_NaN()};
  // Toggles per bit between which a counted rate lies, before another chip's differences: equal
  // where it was counted in one way.
  double counted_least{}, counted_most{};
};
// An application of which nothing is known.
[[nodiscard]] AssumedData unknown_data();
// Data whose toggle rate is known, 0 to 1, and of whose words nothing is.
[[nodiscard]] AssumedData data_at_rate(double toggle_rate);
// Data whose toggles and coupling monitors of another chip counted. Which line follows which on a
// wire, and which bits are neighbours, differ between chips: the rate may be 1.3 times more or less
// (judgement), and neighbours may save anything between nothing and what they did there.
[[nodiscard]] AssumedData data_counted_elsewhere(double toggle_rate, double coupling_per_toggle);
// Takes a range of rates, where the rate depends on unknowns such as which line follows which.
[[nodiscard]] AssumedData data_counted_between(const Interval& toggle_rate,
                                               double coupling_per_toggle);
// Random words whose toggle rate is certain, 0 to 1.
[[nodiscard]] AssumedData random_words_at_rate(double toggle_rate);

// Energy of data relative to that of random bits, where only random bits were measured: at most in
// proportion to their equivalent rate, and at least the same. The interval contains both, and the
// value is 1.
[[nodiscard]] Interval share_of_random_bits(const AssumedData& data);

// Toggles per payload bit of random words that cost the same. Words of a known rate are random ones
// in the value and at most; at least, what neighbours save is that of one more application.
[[nodiscard]] Interval equivalent_rate(const AssumedData& data, const Interval& coupling_share);

}  // namespace ww::model
