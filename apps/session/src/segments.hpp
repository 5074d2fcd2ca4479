// From traffic and a model to joules by segment.
#pragma once

#include <vector>

#include "ww/model/estimate.hpp"
#include "ww/session/bracket.hpp"

namespace ww::session {

// Fills segments and interconnect; without a model all are unavailable, saying so. Errors of
// model::estimate.
Status fill_segments(Reading& reading, const std::optional<model::WireModel>& model,
                     const std::vector<model::KernelTraffic>& kernels, double toggle_rate);

// What a caller says moved on one segment.
struct SaidTraffic {
  double bytes{};
  double toggled_bits{};  // bytes * 8 * rate
  [[nodiscard]] double toggle_rate() const { return bytes > 0 ? toggled_bits / (8 * bytes) : 0; }
};
// The same from what the caller said, each segment at its own rate; a segment of which nothing was
// said is unavailable.
Status fill_said_segments(Reading& reading, const std::optional<model::WireModel>& model,
                          const std::array<std::optional<SaidTraffic>, 3>& said);

}  // namespace ww::session
