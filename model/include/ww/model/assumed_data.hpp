// What is assumed of data that no monitor saw (docs/estimate.md, "Toggles that nobody counted").
//
// A real card counts bytes and not toggles. How often a bit of an application's data changes, and
// how neighbouring bits change together, is then an uncertain input of the estimate like any other:
// a value with the range that 95% of applications lie in. Both ranges stand in the interval of
// every figure that rests on them.
#pragma once

#include "ww/model/interval.hpp"

namespace ww::model {

struct AssumedData {
  Interval toggle_rate;  // toggles per payload bit; random bits: 0.5
  // (2 opposite - adjacent) per toggle, as WireActivity::coupling() counts it: -1 where all wires
  // change together the same way, 0 for random words, 1 where every neighbour goes the other way.
  Interval coupling;
};

// The prior for an application of which nothing is known.
[[nodiscard]] const AssumedData& unknown_data();

// Data whose toggle rate is known, 0 to 1, and of whose words nothing is.
[[nodiscard]] AssumedData data_at_rate(double toggle_rate);

}  // namespace ww::model
