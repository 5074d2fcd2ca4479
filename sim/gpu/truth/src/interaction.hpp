// The interaction of engine and quadrant in the energy that the ledger charges, and how far it
// follows that of distance. What reveal() reports and what a chip's class is judged by.
#pragma once

#include <vector>

#include "stream.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::sim::gpu {

struct Interaction {
  double per_true_mm{};       // switched capacitance per payload bit and true routed mm [F]
  double per_published_mm{};  // capacitance per published mm [F]
  double per_flight_ns{};     // per ns of a request and its reply
  // Residual that published distance leaves, relative to what it explains (both rms).
  double residual_ratio{};
  // Far minus near in switched capacitance per payload bit [F]: largest spread over the pairs.
  double spread_f_per_bit{};
  // Transitions of request and tag wires per payload bit.
  double control_toggles_per_bit{};
};

// Saturated streams of `pattern`, one per (engine, quadrant), `beats` a channel. Both matrices are
// double-centred, then regressed through the origin. Of shader arrays that make an engine to
// programs, the mean counts. Flight is that of reveal().
[[nodiscard]] Interaction interaction(const Chip& chip, StreamPattern pattern, std::int64_t beats,
                                      const FlightTable& measured_ns = {});

// The chip's power [W] while engine 0 streams random bits from quadrant 0 for long, as
// ChipTimeline has it, sensor errors undone.
[[nodiscard]] double stream_power_w(const Chip& chip);
// Sum over zones, as power at the reference state [W].
[[nodiscard]] double dynamic_power_w(const Chip& chip, const LaunchActivity& activity);

}  // namespace ww::sim::gpu
