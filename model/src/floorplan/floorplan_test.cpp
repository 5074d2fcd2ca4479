#include "ww/model/floorplan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
distance_tolerance_95 = 0.05
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
  EXPECT_DOUBLE_EQ(plan->distance_tolerance_95, 0.05);
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
        Bad{"distance_tolerance_95 = 0.05", "distance_tolerance_95 = 5", ErrorCode::out_of_range,
            "toy.toml:7", "'distance_tolerance_95'"},
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

TEST(Floorplan, MissingFileIsNotFound) {
  const auto plan = load_floorplan("/nonexistent/floorplan.toml");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::not_found);
}

TEST(Floorplan, RandomBytesAreErrorsNotCrashes) {
  std::uint64_t state = 88172645463325252ULL;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int edit = 0; edit < 3; ++edit) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      text[state % text.size()] = static_cast<char>(state >> 32);
    }
    const auto plan = parse_floorplan(text, "fuzzed");
    if (plan) {
      EXPECT_GE(plan->distance(0, 0).value(), 0.0);
    }
  }
}

}  // namespace
}  // namespace ww::model
