// Finds the contrasts of distance that a floorplan offers.
#include <array>

#include "ww/model/floorplan.hpp"
#include "ww/model/segments_fit.hpp"

namespace ww::model {
namespace {

constexpr int kCusOfGroup = 4;
constexpr std::array<int, 3> kRegisterLanes{16, 32, 64};

// The mean route from some CUs of an engine to channels of a quadrant.
double route_mm(Floorplan plan, int engine, int first_cu, int quadrant) {
  auto& cus = plan.compute_units[static_cast<std::size_t>(engine)];
  cus = {cus.begin() + first_cu, cus.begin() + first_cu + kCusOfGroup};
  return plan.distance(engine, quadrant).value();
}

double memory_mm(Floorplan plan, std::size_t channel) {
  plan.l2_channels = {plan.l2_channels[channel]};
  plan.memory_controllers = {plan.memory_controllers[channel]};
  return plan.l2_to_memory().value();
}

}  // namespace

Result<std::vector<SegmentPoint>> segment_points(const std::string& floorplan_toml) {
  WW_ASSIGN(plan, parse_floorplan(floorplan_toml, "the device's floorplan"));
  std::vector<SegmentPoint> points;
  const auto engines = static_cast<int>(plan.compute_units.size());
  for (int engine = 0; engine < engines; ++engine) {
    const auto cus = static_cast<int>(plan.compute_units[static_cast<std::size_t>(engine)].size());
    for (std::size_t quadrant = 0; quadrant < plan.quadrants.size(); ++quadrant) {
      for (int group = 0; group < cus / kCusOfGroup; ++group) {
        const double mm = route_mm(plan, engine, kCusOfGroup * group, static_cast<int>(quadrant));
        for (const bool slow : {false, true}) {
          points.push_back({"legs", engine, group, plan.quadrants[quadrant], false, slow, mm});
        }
      }
    }
  }
  for (std::size_t channel = 0; channel < plan.l2_channels.size(); ++channel) {
    const auto number = static_cast<int>(channel);
    const double mm = memory_mm(plan, channel);
    const int engine = number % engines;
    points.push_back({"l2_memory", engine, -1, {number}, false, false, mm});
    points.push_back({"l2_memory", engine, -1, {number}, false, true, mm});
    points.push_back({"l2_memory", engine, -1, {number}, true, false, mm});
  }
  for (const int lanes : kRegisterLanes) {
    for (const bool ones : {false, true}) {
      points.push_back({.segment = "registers_l1",
                        .mm = plan.registers_to_l1.value(),
                        .lanes = lanes,
                        .ones = ones});
    }
  }
  return points;
}

}  // namespace ww::model
