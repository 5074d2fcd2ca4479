#include "ww/session/bracket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "segments.hpp"

namespace ww::session {
namespace {

using testing::HasSubstr;

model::WireModel wires() {
  model::WireModel model;
  model.random = {100, 90, 110};
  model.reference_voltage_v = 1;
  model.distance_mm = {std::nullopt, model::Interval{10, 10, 10}, model::Interval{5, 5, 5}};
  return model;
}

TEST(Bracket, SaysWhatIsMissingForAVirtualDevice) {
  const auto bracket = Bracket::open("virtual", "");
  ASSERT_FALSE(bracket);
  EXPECT_EQ(bracket.error().code, ErrorCode::not_found);
  EXPECT_THAT(bracket.error().text(), HasSubstr("wirewatt run"));
}

TEST(Bracket, RefusesUnknownDevicesAndModels) {
  EXPECT_EQ(Bracket::open("cuda", "").error().code, ErrorCode::not_found);
  EXPECT_EQ(Bracket::open("gpu:0x", "").error().code, ErrorCode::not_found);
  EXPECT_FALSE(Bracket::open("virtual", "/no/such/model.json"));
}

TEST(Segments, SaidTrafficCostsEnergyPerBitAndMillimetre) {
  Reading reading;
  std::array<std::optional<SaidTraffic>, 3> said;
  said[1] = SaidTraffic{1e9, 0.5 * 8e9, 0};  // random bits: half of them toggle
  ASSERT_TRUE(fill_said_segments(reading, wires(), said));
  ASSERT_TRUE(reading.segments[1].energy);
  EXPECT_NEAR(reading.segments[1].energy->value, 1e9 * 8 * 10 * 100e-15, 1e-9);
  EXPECT_EQ(reading.segments[1].status, RowStatus::ok);
  EXPECT_EQ(reading.segments[2].status, RowStatus::unavailable);
  EXPECT_EQ(reading.interconnect.energy->value, reading.segments[1].energy->value);
  EXPECT_THAT(reading.interconnect.reason, HasSubstr("without registers_l1, l2_memory"));
}

TEST(Segments, ARateThatTheProgramDoesNotKnowIsInTheInterval) {
  const auto of = [](const SaidTraffic& traffic) {
    Reading reading;
    std::array<std::optional<SaidTraffic>, 3> said;
    said[1] = traffic;
    EXPECT_TRUE(fill_said_segments(reading, wires(), said));
    return *reading.segments[1].energy;
  };
  const double rate = model::equivalent_rate(model::unknown_data(), wires().coupling_share).value;
  const auto known = of({1e9, rate * 8e9, 0});
  const auto half = of({1e9, rate * 4e9, 5e8});
  const auto unknown = of({1e9, 0, 1e9});
  EXPECT_NEAR(unknown.value, known.value, 1e-12);
  EXPECT_NEAR(half.value, known.value, 1e-12);
  EXPECT_LT(half.low, known.low);
  EXPECT_LT(unknown.low, half.low);
  EXPECT_GT(unknown.high, half.high);
}

TEST(Segments, OfAFlaggedModelAreMarked) {
  auto model = wires();
  model.misfit = "pairs depart from distance";
  Reading reading;
  std::array<std::optional<SaidTraffic>, 3> said;
  said[1] = SaidTraffic{1e9, 0.5 * 8e9, 0};
  ASSERT_TRUE(fill_said_segments(reading, model, said));
  EXPECT_EQ(reading.segments[1].status, RowStatus::misfit);
  EXPECT_EQ(reading.interconnect.status, RowStatus::misfit);
  EXPECT_THAT(reading.segments[1].reason, HasSubstr("flagged"));
}

TEST(Segments, NothingIsZeroWithoutAModelOrALaunch) {
  Reading reading;
  ASSERT_TRUE(fill_segments(reading, std::nullopt, {}));
  for (const auto& segment : reading.segments) {
    EXPECT_FALSE(segment.energy);
    EXPECT_THAT(segment.reason, HasSubstr("without a model"));
  }
  ASSERT_TRUE(fill_segments(reading, wires(), {}));
  EXPECT_THAT(reading.segments[1].reason, HasSubstr("nothing was launched"));
  EXPECT_FALSE(reading.interconnect.energy);
}

}  // namespace
}  // namespace ww::session
