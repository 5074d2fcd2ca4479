// An upper bound of the link between a graphics die and its memory dies (RDNA 3), from power with
// reads that the L2 serves and reads that cross the link.
//
// Every read that crosses the link asks the Infinity Cache behind it, and the links to near and far
// memory dies are built equally: no difference of two conditions is
// the link's alone. But a read that misses the L2 takes nothing less
// than one that hits it, and the link besides. In each round, per bit:
// (P_missed - P_waits) / rate_missed - (P_held - P_waits) / rate_held
// is link, Infinity Cache, the L2's miss and the wires to the die's
// edge together. The bound is the upper end of its 95% interval over
// rounds (Student's t), as far up as gain and regulator may put it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "ww/model/fit.hpp"

namespace ww::model {

// Patterns of runs of the kind beyond_l2: waves that read nothing, what the L2 holds, and what lies
// behind it. Instructions and waits are the same for both kinds of reads.
inline constexpr std::array<std::string_view, 3> kBeyondL2Points{"waits", "held", "missed"};

// The row "fanout_link_fj_per_bit", which is not_identified; 0 and the bound are its interval where
// there is one. Nothing where `plateaus` have no run of that kind.
[[nodiscard]] std::optional<FittedConstant> bound_fanout_link(std::span<const PlateauRow> plateaus);

}  // namespace ww::model
