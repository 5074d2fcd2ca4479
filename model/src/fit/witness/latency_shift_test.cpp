// The smallest shift of blocks that the latencies of a campaign contradict, for the floorplans that
// come with the program. Prints the table of docs/method.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ww/model/known_floorplans.hpp"
#include "ww/model/latency_witness.hpp"

namespace ww::model {
namespace {

// Constants as in latency_witness_test.cpp.
constexpr double kShiftTicksPerMm = 2;
constexpr double kShiftNoiseTicks = 0.3;
constexpr double kStepMm = 0.25;
constexpr double kFarthestMm = 6;
constexpr int kCampaigns = 20;
constexpr int kFlaggedOf20 = 19;

enum class Blocks { ports, engines };

struct Shift {
  const char* name;
  Blocks blocks;
  bool along_y;
  double sign;  // 1: away from the die's middle
};
constexpr Shift kShifts[] = {{"ports farther out in x", Blocks::ports, false, 1},
                             {"ports farther out in y", Blocks::ports, true, 1},
                             {"ports farther in in y", Blocks::ports, true, -1},
                             {"engines farther out in y", Blocks::engines, true, 1}};

Floorplan shifted(Floorplan plan, const Shift& shift, double mm) {
  const auto move = [&](Point& point) {
    double& at = shift.along_y ? point.y_mm : point.x_mm;
    const double middle = (shift.along_y ? plan.height : plan.width).value() / 2;
    at += shift.sign * (at < middle ? -mm : mm);
  };
  if (shift.blocks == Blocks::ports) {
    for (Point& port : plan.l2_channels) move(port);
  } else {
    for (auto& engine : plan.compute_units) {
      for (Point& unit : engine) move(unit);
    }
  }
  return plan;
}

// Three passes on a chip whose blocks lie as in `real`. A way takes whole cycles there and back,
// the same ones each time.
std::vector<StoredRun> timed(const Floorplan& real, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, kShiftNoiseTicks);
  std::vector<StoredRun> runs;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::size_t e = 0; e < real.compute_units.size(); ++e) {
      for (std::size_t q = 0; q < real.quadrants.size(); ++q) {
        StoredRun run;
        run.kind = RunKind::latency;
        run.engine = static_cast<int>(e);
        run.quadrant = static_cast<int>(q);
        const double one_way =
            75 +
            kShiftTicksPerMm / 2 * real.distance(static_cast<int>(e), static_cast<int>(q)).value();
        run.counters[kLatencyCounter] = 2 * std::round(one_way) + noise(random);
        runs.push_back(run);
      }
    }
  }
  return runs;
}

// Nothing where no shift up to kFarthestMm is flagged.
std::optional<double> smallest_flagged_mm(const Floorplan& plan, const Shift& shift) {
  for (double mm = kStepMm; mm <= kFarthestMm; mm += kStepMm) {
    const Floorplan real = shifted(plan, shift, mm);
    int flagged = 0;
    for (int campaign = 0; campaign < kCampaigns; ++campaign) {
      const int missed = campaign - flagged;
      if (missed > kCampaigns - kFlaggedOf20) break;
      flagged +=
          judge_latency(timed(real, 100 + static_cast<std::uint64_t>(campaign)), plan).disagrees
              ? 1
              : 0;
    }
    if (flagged >= kFlaggedOf20) return mm;
  }
  return std::nullopt;
}

Floorplan known(std::string_view name, double position_error_mm) {
  const auto text = known_floorplan(name);
  EXPECT_TRUE(text) << name;
  auto plan = parse_floorplan(std::string(*text), std::string(name));
  EXPECT_TRUE(plan) << plan.error().text();
  plan->position_error_95 = Millimetre(position_error_mm);
  return *plan;
}

TEST(LatencyShift, IsFlaggedFromTheSmallerOnTheBetterTheDrawingIsKnown) {
  constexpr double kErrorsMm[] = {0.1, 0.2, 0.5, 1.0};
  std::printf(
      "| floorplan | shift | 0.1 mm | 0.2 mm | 0.5 mm | 1 mm |\n|---|---|---|---|---|---|\n");
  for (const char* name : {"w9100", "vega10", "mi210"}) {
    for (const Shift& shift : kShifts) {
      std::string line = fmt::format("| `{}` | {} |", name, shift.name);
      double before_mm = 0;
      for (const double error_mm : kErrorsMm) {
        const auto mm = smallest_flagged_mm(known(name, error_mm), shift);
        line += mm ? fmt::format(" {:g} mm |", *mm) : " none |";
        // A shift that the drawing itself allows for contradicts nothing.
        EXPECT_GT(mm.value_or(kFarthestMm), error_mm) << line;
        EXPECT_GE(mm.value_or(kFarthestMm + kStepMm), before_mm) << line;
        before_mm = mm.value_or(kFarthestMm + kStepMm);
      }
      std::printf("%s\n", line.c_str());
    }
  }
}

// Two standard deviations of what the published floorplan declares are no contradiction; the same
// shift of a drawing that is known to a tenth of a millimetre is one.
TEST(LatencyShift, OfAMillimetreInYIsWithinWhatTheW9100sFloorplanDeclares) {
  const Shift& ports_in_y = kShifts[1];
  const auto flagged = [&](double error_mm) {
    const Floorplan plan = known("w9100", error_mm);
    return judge_latency(timed(shifted(plan, ports_in_y, 1), 1), plan);
  };
  EXPECT_FALSE(flagged(1.0).disagrees);
  EXPECT_GT(flagged(1.0).p_value, 0.05);
  EXPECT_GT(flagged(1.0).relative, 0.1);  // it is large enough to matter
  EXPECT_TRUE(flagged(0.1).disagrees);
}

}  // namespace
}  // namespace ww::model
