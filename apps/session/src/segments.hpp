// From traffic and a model to joules by segment.
#pragma once

#include <vector>

#include "ww/model/estimate.hpp"
#include "ww/session/bracket.hpp"

namespace ww::session {

// Fills segments and interconnect; without a model all are unavailable, saying so. Errors of
// model::estimate.
Status fill_segments(Reading& reading, const std::optional<model::WireModel>& model,
                     const std::vector<model::KernelTraffic>& kernels);

// What a caller says moved on one segment.
struct SaidTraffic {
  double bytes{};
  double toggled_bits{};   // bytes * 8 * rate, of bytes whose rate was said
  double unknown_bytes{};  // of bytes whose rate was not
  // Toggle rate of all of them; the prior stands in for what was not said.
  [[nodiscard]] model::AssumedData data() const;
};
// The same from what the caller said, each segment at its own rate; a segment of which nothing was
// said is unavailable.
Status fill_said_segments(Reading& reading, const std::optional<model::WireModel>& model,
                          const std::array<std::optional<SaidTraffic>, 3>& said);

}  // namespace ww::session
