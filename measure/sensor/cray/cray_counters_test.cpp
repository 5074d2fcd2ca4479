#include "cray_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ww/core/energy_tick.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(CrayCounters, AreAValueAUnitAndATime) {
  const auto energy = parse_cray_value("921658274 J 1784929200361701 us\n", "accel0_energy");
  ASSERT_TRUE(energy) << energy.error().text();
  EXPECT_EQ(energy->value, 921658274);
  EXPECT_EQ(energy->unit, "J");
  EXPECT_EQ(energy->time_ns, 1784929200361701000);
  EXPECT_FALSE(parse_cray_value("0 W", "accel0_power_cap")->time_ns);
  for (const char* bad : {"", "J", "-3 J 17 us", "12", "12 J 17", "12 J x us", "12 J 17 ms",
                          "99999999999999999999 J 17 us", "9000000000000000000 J 17 us"}) {
    const auto value = parse_cray_value(bad, "energy");
    ASSERT_FALSE(value) << bad;
    EXPECT_EQ(value.error().code, ErrorCode::parse_error);
  }
}

class CrayNode : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(folder_.path());
    std::ofstream(folder_.path() / name) << text << '\n';
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }
  ScratchFolder folder_ = ScratchFolder::create("cray").value();
};

TEST_F(CrayNode, CountsAcceleratorsInTheOrderOfTheCardsAddresses) {
  EXPECT_EQ(cray_accelerator(path() + "/none", {}, {}).error().code, ErrorCode::not_found);
  write("accel0_energy", "1 J 1 us");
  write("accel1_energy", "1 J 1 us");
  const PciAddress first{0, 0xc1, 0, 0}, second{0, 0xd1, 0, 0};
  EXPECT_EQ(cray_accelerator(path(), {second, first}, second).value(), 1U);
  EXPECT_EQ(cray_accelerator(path(), {second, first}, first).value(), 0U);
  // A job that sees one of two cards cannot tell which of the accelerators that one is.
  const auto hidden = cray_accelerator(path(), {second}, second);
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code, ErrorCode::unsupported);
  EXPECT_THAT(hidden.error().message, HasSubstr("2 accelerators are metered and 1 cards"));
}

TEST_F(CrayNode, IsASensorOfItsOwn) {
  EXPECT_FALSE(open_cray_accelerator(path(), 0));
  write("accel0_power", "92 W 1784929200361701 us");
  write("accel0_energy", "921658274 J 1784929200361701 us");
  const auto source = open_cray_accelerator(path(), 0);
  ASSERT_TRUE(source) << source.error().text();
  RawReading reading;
  (*source)->read_fast(reading);
  EXPECT_EQ(reading.power_uw, 92'000'000);
  EXPECT_EQ(reading.energy_ticks, 921658274 * kTicksPerJoule);
  EXPECT_THAT(measured_besides((*source)->fields()), HasSubstr("upstream of its regulators"));
  write("accel0_power", "broken");
  RawReading damaged;
  (*source)->read_fast(damaged);
  EXPECT_FALSE(damaged.power_uw);
}

TEST_F(CrayNode, IsASecondWitnessWithTheTimesOfItsOwnRefreshes) {
  write("energy", "5000 J 1000000 us");
  write("accel0_energy", "900 J 1000100 us");
  write("accel0_power", "90 W 1000100 us");
  auto source = with_cray_meters(open_cray_accelerator(path(), 0).value(), path(), 0);
  RawReading reading;
  source->read_slow(reading);
  write("energy", "5050 J 1100000 us");
  source->read_slow(reading);
  const auto rails = source->take_rails();
  ASSERT_EQ(rails.size(), 4U);
  EXPECT_EQ(rails[0].rail, "cray_node_energy");
  EXPECT_EQ(rails[1].rail, "cray_accel_energy");
  EXPECT_EQ(rails[1].source_ns, 1'000'100'000);
  EXPECT_EQ(rails[2].value - rails[0].value, 50 * kTicksPerJoule);
  EXPECT_TRUE(source->take_rails().empty());
}

// Four accelerators of a real node, at rest.
TEST(CrayCounters, OfARealNodeAreRead) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  const fs::path folder = fs::path(shared != nullptr ? shared : "") / "data/cray_pm_counters";
  if (!fs::is_directory(folder)) GTEST_SKIP() << folder << " is not here";
  for (std::size_t accelerator = 0; accelerator < 4; ++accelerator) {
    const auto source = open_cray_accelerator(folder.string(), accelerator);
    ASSERT_TRUE(source) << source.error().text();
    RawReading reading;
    (*source)->read_fast(reading);
    ASSERT_TRUE(reading.power_uw);
    EXPECT_GE(*reading.power_uw, 90'000'000);
    EXPECT_LE(*reading.power_uw, 92'000'000);
  }
  EXPECT_FALSE(open_cray_accelerator(folder.string(), 4));
}

}  // namespace
}  // namespace ww::measure
