#include "families.hpp"

#include <array>

#include "ww/model/segment_names.hpp"

namespace ww::metrics {
namespace {

using SegmentFigure = std::optional<model::Interval> MetricsState::Segment::*;

// A figure of the segments: the value, and both ends of its interval.
void add_segments(std::vector<Family>& into, const MetricsState& state, SegmentFigure figure,
                  const Family& like) {
  struct Bound {
    const char* ending;
    const char* help;  // empty: the family's own
    double model::Interval::*member;
  };
  constexpr std::array<Bound, 3> kBounds{
      {{"", "", &model::Interval::value},
       {".lower", "Lower end of its 95% interval.", &model::Interval::low},
       {".upper", "Upper end of its 95% interval.", &model::Interval::high}}};
  for (const Bound& bound : kBounds) {
    Family family = like;
    family.name += bound.ending;
    if (*bound.help != '\0') family.help = bound.help;
    for (std::size_t s = 0; s < state.segments.size(); ++s) {
      const auto& interval = state.segments[s].*figure;
      if (!interval) continue;
      family.samples.push_back({(*interval).*bound.member, {{"segment", state.segments[s].name}}});
    }
    into.push_back(std::move(family));
  }
}

// Power and energy by the device's own sensor, or by that of another device of its package.
void add_device(std::vector<Family>& into, const MetricsState& state) {
  Labels covers;
  if (!state.device_of.empty()) covers.emplace_back("wirewatt.of", state.device_of);
  const bool own = state.sensor_of.empty();
  if (!own) covers.emplace_back("wirewatt.sensor_of", state.sensor_of);
  const std::string whose =
      own ? " of the device, by its own sensor."
          : " of the package, by the sensor of another of its devices, whose own figure it is.";
  if (state.device_w) {
    into.push_back({own ? "hw.power" : "wirewatt.shared.power",
                    Unit::watt,
                    false,
                    "Power" + whose,
                    {{*state.device_w, covers}}});
  }
  if (state.device_j) {
    into.push_back({own ? "hw.energy" : "wirewatt.shared.energy",
                    Unit::joule,
                    true,
                    "Energy" + whose,
                    {{*state.device_j, covers}}});
  }
}

void add_rails(std::vector<Family>& into, const std::vector<MetricsState::Rail>& rails,
               Family family) {
  for (const MetricsState::Rail& rail : rails) {
    if (rail.energy_j) family.samples.push_back({*rail.energy_j, {{"rail", rail.name}}});
  }
  if (!family.samples.empty()) into.push_back(std::move(family));
}

}  // namespace

std::vector<MetricsState::Segment> MetricsState::wire_segments() {
  std::vector<Segment> segments;
  segments.reserve(std::size(model::kSegmentNames));
  for (const char* name : model::kSegmentNames) segments.push_back({name, {}, {}, ""});
  return segments;
}

std::vector<Family> families(const MetricsState& state) {
  std::vector<Family> all;
  add_device(all, state);
  const bool own = state.sensor_of.empty();
  add_rails(all, state.rails,
            {own ? "wirewatt.rail.energy" : "wirewatt.shared.rail.energy",
             Unit::joule,
             true,
             "Energy of a part of the package since the start, by its own accumulator. That of "
             "aid, the dies with the fabric, is an upper bound of the network's.",
             {}});
  add_rails(all, state.node,
            {"wirewatt.node.energy",
             Unit::joule,
             true,
             "Energy of the node or of a part of it since the start, by the node's own meter. All "
             "devices of the node show the same: take the maximum of them, not the sum.",
             {}});
  add_segments(all, state, &MetricsState::Segment::power_w,
               {"wirewatt.wire.power", Unit::watt, false, "Power of on-chip wires.", {}});
  add_segments(
      all, state, &MetricsState::Segment::energy_j,
      {"wirewatt.wire.energy", Unit::joule, true, "Energy of on-chip wires since the start.", {}});
  Family status{"wirewatt.wire.status",
                Unit::none,
                false,
                "1, labelled with the status of a segment's figure.",
                {}};
  for (std::size_t s = 0; s < state.segments.size(); ++s) {
    status.samples.push_back(
        {1, {{"segment", state.segments[s].name}, {"status", state.segments[s].status}}});
  }
  all.push_back(std::move(status));
  if (state.dispatches) {
    all.push_back({"wirewatt.dispatches",
                   Unit::kernel,
                   true,
                   "Kernels that were seen since the start.",
                   {{static_cast<double>(*state.dispatches)}}});
  }
  return all;
}

Labels device_labels(const MetricsState& state) {
  Labels labels{{"hw.type", "gpu"},
                {"hw.id", state.device},
                {"hw.name", state.card},
                {"virtual", state.is_virtual ? "true" : "false"}};
  if (!state.job.empty()) labels.emplace_back("job_id", state.job);
  return labels;
}

}  // namespace ww::metrics
