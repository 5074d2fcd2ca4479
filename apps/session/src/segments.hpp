// Computes joules by segment from traffic and a model.
#pragma once

#include <vector>

#include "ww/model/estimate.hpp"
#include "ww/session/bracket.hpp"

namespace ww::session {

// Fills segments and interconnect; without a model all are unavailable, saying so. Errors of
// model::estimate.
Status fill_segments(Reading& reading, const std::optional<model::WireModel>& model,
                     const std::vector<model::KernelTraffic>& kernels);

// Makes all segments unavailable, for a reason.
void leave_segments_out(Reading& reading, const std::string& reason);

// Traffic on one segment as a caller states it.
struct SaidTraffic {
  double bytes{};
  double toggled_bits{};   // bytes * 8 * rate, of bytes whose rate was said
  double unknown_bytes{};  // of bytes whose rate was not said
  // Toggle rate of all of them; the prior stands in for what was not said.
  [[nodiscard]] model::AssumedData data() const;
};
// Fills the segments from what the caller said, each at its own rate; a segment of which nothing
// was said is unavailable.
Status fill_said_segments(Reading& reading, const std::optional<model::WireModel>& model,
                          const std::array<std::optional<SaidTraffic>, 3>& said);

}  // namespace ww::session
