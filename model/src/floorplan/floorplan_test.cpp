#include "ww/model/floorplan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace ww::model {
namespace {

using testing::HasSubstr;

const std::string good = R"(name = "toy"
estimated = true
source = "made up for this test"
width_mm = 10.0
height_mm = 8
registers_to_l1_mm = 3.5
position_error_95_mm = 0.2
quadrants = [[0, 1], [2]]

[[engine]]
cu = [[1.0, 1.0], [3.0, 1.0]]

[[engine]]
cu = [[9, 7]]

[[l2]]
at = [2.0, 4.0]
memory_controller = [0.0, 4.0]

[[l2]]
at = [2.0, 6.0]
memory_controller = [0.0, 6.0]

[[l2]]
at = [8.0, 4.0]
memory_controller = [10.0, 3.0]
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Floorplan, DistanceIsTheMeanManhattanRouteFromUnitsToChannels) {
  const auto plan = parse_floorplan(good, "toy.toml");
  ASSERT_TRUE(plan) << plan.error().text();
  // CUs (1,1) and (3,1) to channels (2,4) and (2,6): 1+3, 1+5, 1+3, 1+5.
  EXPECT_DOUBLE_EQ(plan->distance(0, 0).value(), 5.0);
  // (9,7) to (8,4).
  EXPECT_DOUBLE_EQ(plan->distance(1, 1).value(), 4.0);
  EXPECT_DOUBLE_EQ(plan->l2_to_memory().value(), (2.0 + 2.0 + 3.0) / 3.0);
  EXPECT_TRUE(plan->estimated);
  EXPECT_DOUBLE_EQ(plan->height.value(), 8.0);
  EXPECT_DOUBLE_EQ(plan->position_error_95.value(), 0.2);
}

TEST(Floorplan, SaysWhereBlocksComeFrom) {
  const std::string entry =
      "[[evidence]]\nblock = \"L2\"\nsource = \"a page\"\nurl = \"https://example.org\"\n"
      "error_95_mm = 0.1\ninferred = true\n";
  const auto plan = parse_floorplan(good + entry, "toy.toml");
  ASSERT_TRUE(plan) << plan.error().text();
  ASSERT_EQ(plan->evidence.size(), 1U);
  EXPECT_EQ(plan->evidence[0].block, "L2");
  EXPECT_EQ(plan->evidence[0].url, "https://example.org");
  EXPECT_DOUBLE_EQ(plan->evidence[0].error_95.value(), 0.1);
  EXPECT_TRUE(plan->evidence[0].inferred);
  EXPECT_TRUE(parse_floorplan(good, "toy.toml")->evidence.empty());
  // No block is off by more than the floorplan declares for all.
  const auto more = parse_floorplan(good + with(entry, "0.1", "0.3"), "toy.toml");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::out_of_range);
  EXPECT_THAT(more.error().text(), HasSubstr("evidence.error_95_mm"));
  const auto vague = parse_floorplan(good + with(entry, "inferred = true", ""), "toy.toml");
  ASSERT_FALSE(vague);
  EXPECT_THAT(vague.error().text(), HasSubstr("evidence.inferred"));
}

struct Bad {
  const char* from;
  const char* to;
  ErrorCode code;
  const char* context;
  const char* message;
};

class BadFloorplan : public testing::TestWithParam<Bad> {};

TEST_P(BadFloorplan, NamesOriginLineAndKey) {
  const Bad& bad = GetParam();
  const auto plan = parse_floorplan(with(good, bad.from, bad.to), "toy.toml");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, bad.code) << plan.error().text();
  EXPECT_EQ(plan.error().context, bad.context);
  EXPECT_THAT(plan.error().message, HasSubstr(bad.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFloorplan,
    testing::Values(
        Bad{"name = \"toy\"", "nmae = \"toy\"", ErrorCode::parse_error, "toy.toml:1", "'nmae'"},
        Bad{"estimated = true\n", "", ErrorCode::parse_error, "toy.toml:1",
            "missing key 'estimated'"},
        Bad{"estimated = true", "estimated = 1", ErrorCode::parse_error, "toy.toml:2",
            "'estimated'"},
        Bad{"source = \"made up for this test\"", "source = \"\"", ErrorCode::parse_error,
            "toy.toml:3", "'source'"},
        Bad{"width_mm = 10.0", "width_mm = -1", ErrorCode::out_of_range, "toy.toml:4",
            "'width_mm'"},
        Bad{"width_mm = 10.0", "width_mm = nan", ErrorCode::out_of_range, "toy.toml:4",
            "'width_mm'"},
        Bad{"width_mm = 10.0", "width_mm = 1e9", ErrorCode::out_of_range, "toy.toml:4",
            "'width_mm'"},
        Bad{"width_mm = 10.0", "width_mm = \"10\"", ErrorCode::parse_error, "toy.toml:4",
            "'width_mm'"},
        Bad{"position_error_95_mm = 0.2", "position_error_95_mm = -5", ErrorCode::out_of_range,
            "toy.toml:7", "'position_error_95_mm'"},
        Bad{"position_error_95_mm = 0.2\n", "", ErrorCode::parse_error, "toy.toml:1",
            "missing key 'position_error_95_mm'"},
        Bad{"[[0, 1], [2]]", "[[0, 1], [3]]", ErrorCode::out_of_range, "toy.toml:8", "channel 3"},
        Bad{"[[0, 1], [2]]", "[[0, 1], [1]]", ErrorCode::out_of_range, "toy.toml:8", "twice"},
        Bad{"[[0, 1], [2]]", "[[0], [2]]", ErrorCode::out_of_range, "toy.toml:8", "leaves out"},
        Bad{"[[0, 1], [2]]", "[[0, 1], []]", ErrorCode::parse_error, "toy.toml:8", "'quadrants'"},
        Bad{"cu = [[9, 7]]", "cu = [[9, 9]]", ErrorCode::out_of_range, "toy.toml:14",
            "outside the die"},
        Bad{"cu = [[9, 7]]", "cu = [[9]]", ErrorCode::parse_error, "toy.toml:14", "engine.cu"},
        Bad{"cu = [[9, 7]]", "cu = []", ErrorCode::parse_error, "toy.toml:14", "engine.cu"},
        Bad{"cu = [[9, 7]]", "cus = [[9, 7]]", ErrorCode::parse_error, "toy.toml:14", "engine.cus"},
        Bad{"at = [8.0, 4.0]\n", "", ErrorCode::parse_error, "toy.toml:24", "'l2.at'"},
        Bad{"name = \"toy\"", "name = ", ErrorCode::parse_error, "toy.toml:1", ""}));

// Four engines in the corners, four quadrants of the L2 `out_mm` from the middle along either axis.
Floorplan four_corners(double out_x_mm, double out_y_mm, double error_mm) {
  Floorplan plan;
  plan.width = plan.height = Millimetre(20);
  plan.position_error_95 = Millimetre(error_mm);
  for (int corner = 0; corner < 4; ++corner) {
    const double x = corner % 2 == 0 ? -1 : 1;
    const double y = corner < 2 ? 1 : -1;
    plan.compute_units.push_back({{10 + 7 * x, 10 + 7 * y}, {10 + 5 * x, 10 + 6 * y}});
    plan.l2_channels.push_back({10 + out_x_mm * x, 10 + out_y_mm * y});
    plan.memory_controllers.push_back({0, 0});
    plan.quadrants.push_back({corner});
  }
  return plan;
}

// Relative excess of a fit on published distances over energies that follow the true ones.
double scale_seen(const Floorplan& published, const Floorplan& exact) {
  double product = 0;
  double square = 0;
  // Corners lie across by x, by y or by both: the interaction of a pair is a sum of two signs.
  const auto centred = [](const Floorplan& plan, int e, int q) {
    double row = 0;
    double column = 0;
    double mean = 0;
    for (int i = 0; i < 4; ++i) {
      row += plan.distance(e, i).value() / 4;
      column += plan.distance(i, q).value() / 4;
      for (int j = 0; j < 4; ++j) mean += plan.distance(i, j).value() / 16;
    }
    return plan.distance(e, q).value() - row - column + mean;
  };
  for (int e = 0; e < 4; ++e) {
    for (int q = 0; q < 4; ++q) {
      product += centred(published, e, q) * centred(exact, e, q);
      square += centred(published, e, q) * centred(published, e, q);
    }
  }
  return product / square - 1;
}

TEST(Floorplan, PortsFartherOutThanDrawnScaleTheEnergyByAsMuch) {
  // Only how far the ports of the L2 lie from the middle makes near and far: engines drop out.
  const double seen = scale_seen(four_corners(3, 2, 0), four_corners(3.5, 2, 0));
  EXPECT_NEAR(seen, 0.5 * 3 / (9 + 4), 1e-9);
  // 0.5 mm stated, along either axis.
  const double error = four_corners(3, 2, 0.5).scale_error_95();
  EXPECT_NEAR(error, 0.5 * std::hypot(3.0, 2.0) / (9 + 4), 1e-9);
  EXPECT_LT(seen, error);
  EXPECT_NEAR(four_corners(3, 2, 1.0).scale_error_95(), 2 * error, 1e-9);
}

TEST(Floorplan, PositionsWrongByWhatItStatesKeepItsScaleError) {
  constexpr double kErrorMm = 0.8;
  constexpr int kPlans = 400;
  const Floorplan exact = four_corners(3, 2.5, kErrorMm);
  std::mt19937_64 random(5);
  // Half of the variance common to all ports, half each one's own; or all of it common.
  for (const double common : {0.5, 1.0}) {
    std::normal_distribution<double> shift(0, kErrorMm / 1.96);
    int covered = 0;
    for (int i = 0; i < kPlans; ++i) {
      Floorplan published = exact;
      const double out_x = std::sqrt(common) * shift(random);
      const double out_y = std::sqrt(common) * shift(random);
      for (Point& port : published.l2_channels) {
        port.x_mm += (port.x_mm < 10 ? -out_x : out_x) + std::sqrt(1 - common) * shift(random);
        port.y_mm += (port.y_mm < 10 ? -out_y : out_y) + std::sqrt(1 - common) * shift(random);
      }
      covered += std::abs(scale_seen(published, exact)) <= published.scale_error_95() ? 1 : 0;
    }
    EXPECT_GE(covered, 0.92 * kPlans) << common;
    if (common == 1) {
      EXPECT_LE(covered, 0.985 * kPlans);
    }
  }
}

TEST(Floorplan, WithoutInteractionOfDistancesHasNoScaleAtAll) {
  EXPECT_EQ(four_corners(0, 0, 0.1).scale_error_95(), 1);
}

TEST(Floorplan, OfAnEarlierRecordingIsTakenForOneThatStatesNoPositions) {
  const auto plan = parse_floorplan(
      with(good, "position_error_95_mm = 0.2", "distance_tolerance_95 = 0.05"), "toy.toml");
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_DOUBLE_EQ(plan->position_error_95.value(), 1.0);
}

TEST(Floorplan, MissingFileIsNotFound) {
  const auto plan = load_floorplan("/nonexistent/floorplan.toml");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::not_found);
}

// Whatever is accepted has units on its die, which no route leaves. Any bytes for others seldom
// leave a plan; digits for digits often do.
TEST(Floorplan, RandomBytesAreErrorsOrAPlanWithinItsDie) {
  int accepted = 0;
  int refused = 0;
  std::uint64_t state = 88172645463325252ULL;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int edit = 0; edit < 3; ++edit) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      std::size_t at = state % text.size();
      if (round % 2 == 0) {
        text[at] = static_cast<char>(state >> 32);
        continue;
      }
      at = text.find_first_of("0123456789", at);
      if (at != std::string::npos) text[at] = static_cast<char>('0' + (state >> 32) % 10);
    }
    const auto plan = parse_floorplan(text, "fuzzed");
    if (!plan) {
      ++refused;
      EXPECT_THAT(plan.error().context, testing::StartsWith("fuzzed")) << text;
      continue;
    }
    ++accepted;
    for (int engine = 0; engine < 2; ++engine) {
      for (int quadrant = 0; quadrant < 2; ++quadrant) {
        EXPECT_GE(plan->distance(engine, quadrant).value(), 0.0) << text;
        EXPECT_LE(plan->distance(engine, quadrant).value(), (plan->width + plan->height).value())
            << text;
      }
    }
    EXPECT_LE(plan->l2_to_memory().value(), (plan->width + plan->height).value()) << text;
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace ww::model
