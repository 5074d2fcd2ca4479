#include "segments.hpp"

namespace ww::session {
namespace {

void add_together(Reading& reading) {
  std::string left_out;
  std::optional<model::Interval> sum;
  bool all_own = true;
  bool misfit = false;
  for (std::size_t s = 0; s < reading.segments.size(); ++s) {
    const Joules& segment = reading.segments[s];
    if (segment.energy) {
      sum = sum ? model::together(*sum, *segment.energy) : *segment.energy;
      all_own = all_own && segment.status == RowStatus::ok;
      misfit = misfit || segment.status == RowStatus::misfit;
    } else {
      left_out += (left_out.empty() ? "without " : ", ");
      left_out += model::to_string(model::kWireSegments[s]);
    }
  }
  reading.interconnect = {};
  if (!sum) {
    reading.interconnect.reason = "no segment has a figure";
    return;
  }
  reading.interconnect.energy = sum;
  reading.interconnect.status = misfit    ? RowStatus::misfit
                                : all_own ? RowStatus::ok
                                          : RowStatus::transferred;
  reading.interconnect.reason = left_out;
}

Joules joules(const model::SegmentEstimate& segment) {
  return {segment.status, segment.reason, segment.energy_j};
}

}  // namespace

model::AssumedData SaidTraffic::data() const {
  if (!(bytes > 0)) {
    return model::unknown_data();
  }
  return {toggled_bits / (8 * bytes), unknown_bytes / bytes, false};
}

Status fill_segments(Reading& reading, const std::optional<model::WireModel>& model,
                     const std::vector<model::KernelTraffic>& kernels) {
  if (!model || kernels.empty()) {
    leave_segments_out(reading,
                       !model ? "opened without a model" : "nothing was launched in between");
    return {};
  }
  WW_ASSIGN(estimate, model::estimate(*model, kernels, {}));
  for (std::size_t s = 0; s < reading.segments.size(); ++s) {
    reading.segments[s] = joules(estimate.total.segments[s]);
  }
  add_together(reading);
  return {};
}

void leave_segments_out(Reading& reading, const std::string& reason) {
  for (Joules& segment : reading.segments) segment = {RowStatus::unavailable, reason, std::nullopt};
  add_together(reading);
}

Status fill_said_segments(Reading& reading, const std::optional<model::WireModel>& model,
                          const std::array<std::optional<SaidTraffic>, 3>& said) {
  for (std::size_t s = 0; s < said.size(); ++s) {
    if (!model || !said[s]) {
      reading.segments[s] = {
          RowStatus::unavailable,
          !model ? "opened without a model"
                 : "nothing counts in the process, and nothing was said of its traffic",
          std::nullopt};
      continue;
    }
    model::KernelTraffic traffic;
    traffic.kernel = "bracket";
    traffic.dispatches = 1;
    traffic.segments[s].bytes = said[s]->bytes;
    traffic.segments[s].reason = "bytes as the program said";
    model::EstimateOptions options;
    options.data = said[s]->data();
    WW_ASSIGN(estimate, model::estimate(*model, {traffic}, options));
    reading.segments[s] = joules(estimate.total.segments[s]);
  }
  add_together(reading);
  return {};
}

}  // namespace ww::session
