#include "ww/session/bracket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "segments.hpp"
#include "testing/fake_amd_tree.hpp"
#include "testing/fake_cards.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// A card without an energy counter, whose register shows the load 60 ms late.
class LateRegister : public ::testing::Test {
 protected:
  Reading measured(const std::optional<measure::LaunchSensor>& response) {
    using std::chrono::milliseconds;
    const auto folder = ScratchFolder::create("bracket").value();
    const measure::testing::FakeCards cards(folder.path() / "sys");
    const auto file = cards.add(0, "0000:03:00.0", "0x744c") / "hwmon/hwmon0/power1_average";
    const auto show = [&file](const char* power) {
      measure::testing::FakeCards::write(file, std::string(power));
    };
    show("50000000\n");
    setenv("WIREWATT_SYSFS", cards.sysfs().c_str(), 1);
    const auto bracket = Bracket::open("gpu:0", "");
    unsetenv("WIREWATT_SYSFS");
    if (response) (*bracket)->set_response(*response);
    EXPECT_TRUE((*bracket)->begin());
    std::this_thread::sleep_for(milliseconds(60));
    show("150000000\n");  // the load since begin()
    std::this_thread::sleep_for(milliseconds(200));
    return (*bracket)->end().value();
  }
};

TEST_F(LateRegister, IsNotReadBeforeItShowsTheStretch) {
  measure::LaunchSensor response;
  response.delay_s = 0.08;
  response.time_s = 0.02;
  const Reading reading = measured(response);
  ASSERT_EQ(reading.device.status, RowStatus::ok) << reading.device.reason;
  EXPECT_NEAR(reading.device.energy->value, 150 * reading.seconds, 0.5);
  // The time that nobody saw may have drawn anything.
  EXPECT_GT(reading.device.energy->high - reading.device.energy->value, 0.1 * 150);
  EXPECT_THAT(reading.device.reason, Not(HasSubstr("how late")));
}

TEST_F(LateRegister, WithoutItsResponseSaysWhatTheIntervalLeavesOut) {
  const Reading reading = measured(std::nullopt);
  ASSERT_EQ(reading.device.status, RowStatus::ok) << reading.device.reason;
  EXPECT_LT(reading.device.energy->value, 140 * reading.seconds);
  EXPECT_THAT(reading.device.reason, HasSubstr("how late they are is not known"));
}

// The second of two cards, a die of an MI250 that has the package's sensor.
TEST(Bracket, SaysWhoseJoulesTheDevicesAre) {
  const auto folder = ScratchFolder::create("bracket");
  ASSERT_TRUE(folder) << folder.error().text();
  const measure::testing::FakeCards cards(folder->path() / "sys");
  for (const auto& [number, pci] : {std::pair{0, "0000:29:00.0"}, {1, "0000:2f:00.0"}}) {
    const auto device = cards.add(number, pci, "0x740c");
    measure::testing::FakeCards::write(device / "hwmon/hwmon0/power1_average",
                                       std::string("310000000\n"));
  }
  ASSERT_EQ(setenv("WIREWATT_SYSFS", cards.sysfs().c_str(), 1), 0);
  const auto bracket = Bracket::open("pci:0000:2f:00.0", "");
  unsetenv("WIREWATT_SYSFS");
  ASSERT_TRUE(bracket) << bracket.error().text();
  EXPECT_THAT((*bracket)->device(), HasSubstr("0000:2f:00.0"));
  ASSERT_TRUE((*bracket)->begin());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto reading = (*bracket)->end();
  ASSERT_TRUE(reading) << reading.error().text();
  ASSERT_EQ(reading->device.status, RowStatus::ok) << reading->device.reason;
  EXPECT_NEAR(reading->device.energy->value, 310 * reading->seconds, 1);
  EXPECT_THAT(reading->device.reason, HasSubstr("both dies"));
}

// A card faked as files.
TEST(Bracket, OfACardWithTheModelOfAVirtualChipIsNoMeasurement) {
  const auto folder = ScratchFolder::create("bracket").value();
  const measure::testing::FakeAmdTree tree(folder.path() / "sys");
  ::setenv("WIREWATT_SYSFS", (folder.path() / "sys").c_str(), 1);
  const auto is_virtual = [&](const std::string& of_model) {
    const auto file = (folder.path() / "model.json").string();
    EXPECT_TRUE(write_file_atomically(file, R"({"format": "wirewatt-model/1", "device": "x",
      "energy_fj_per_bit_mm": {"status": "ok", "value": 200, "low": 190, "high": 210,
        "sensed_low": 199, "sensed_high": 201, "convention": "per_random_bit", "reason": ""},
      "reference": {"voltage_v": 1.17, "clock_hz": 9.3e8}, "constants": [],
      "distances": {"floorplan": "w9100", "registers_to_l1_mm": 3.5, "l2_to_memory_mm": 11.5,
        "near_mm": 5.25, "far_mm": 15.75, "engine_to_quadrant_mm": [[5.25, 15.75], [15.75, 5.25]]},
      "virtual": )" + of_model + "}"));
    const auto bracket = Bracket::open("gpu:0", file);
    EXPECT_TRUE(bracket) << bracket.error().text();
    return bracket && (*bracket)->is_virtual();
  };
  EXPECT_TRUE(is_virtual("true"));
  EXPECT_FALSE(is_virtual("false"));
  const auto without_model = Bracket::open("gpu:0", "");
  ASSERT_TRUE(without_model) << without_model.error().text();
  EXPECT_FALSE((*without_model)->is_virtual());
  ::unsetenv("WIREWATT_SYSFS");
}

TEST(Bracket, OfACardTakesLaunchesByItsClockAlone) {
  const auto folder = ScratchFolder::create("bracket").value();
  const measure::testing::FakeAmdTree tree(folder.path() / "sys");
  ::setenv("WIREWATT_SYSFS", (folder.path() / "sys").c_str(), 1);
  const auto bracket = Bracket::open("gpu:0", "");
  ::unsetenv("WIREWATT_SYSFS");
  ASSERT_TRUE(bracket) << bracket.error().text();
  const auto ns = [](auto time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
  };
  const auto now = ns(std::chrono::steady_clock::now());
  EXPECT_FALSE((*bracket)->add_launch("copy", now, now + 1)) << "was not begun";
  ASSERT_TRUE((*bracket)->begin());
  const auto of_another_clock = ns(std::chrono::system_clock::now());
  const auto refused = (*bracket)->add_launch("copy", of_another_clock, of_another_clock + 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().text(), HasSubstr("CLOCK_MONOTONIC"));
  const auto begun = ns(std::chrono::steady_clock::now());
  EXPECT_FALSE((*bracket)->add_launch("copy", begun - 5'000'000'000, begun));
  EXPECT_FALSE((*bracket)->add_launch("copy", begun + 1, begun));
  const auto taken = (*bracket)->add_launch("copy", begun, begun + 1000);
  EXPECT_TRUE(taken) << taken.error().text();
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
