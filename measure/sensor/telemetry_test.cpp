#include "ww/measure/telemetry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

// A meter that belongs to no vendor.
class WallMeter final : public PowerSource {
 public:
  WallMeter() { facts_.name = "wall meter"; }
  const SensorFacts& facts() const override { return facts_; }
  std::string power_name() const override { return "power"; }
  std::string second_power_name() const override { return ""; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  void read_fast(RawReading& reading) override { reading.power_uw = 90'000'000; }
  void read_slow(RawReading&) override {}
  std::string throttle_text(std::uint64_t) const override { return ""; }

 private:
  SensorFacts facts_;
  std::vector<FieldState> fields_{{"power", FieldStatus::ok, "the wall"}};
};

SensorBackend backend(const std::string& name, bool usable, const Result<bool>& opens) {
  return {name, usable, usable ? "" : "it is not plugged in",
          [opens]() -> Result<std::unique_ptr<PowerSource>> {
            if (!opens) return tl::unexpected(opens.error());
            return std::make_unique<WallMeter>();
          }};
}

TelemetryGpu gpu_with(std::vector<SensorBackend> backends) {
  TelemetryGpu gpu;
  gpu.name = "a card of no known vendor";
  gpu.backends = std::move(backends);
  return gpu;
}

TEST(Telemetry, OpensTheFirstBackendThatWorks) {
  const auto source =
      open_source(gpu_with({backend("first", false, true),
                            backend("second", true, fail(ErrorCode::device_error, "it is broken")),
                            backend("wall", true, true)}));
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ((*source)->facts().name, "wall meter");
}

TEST(Telemetry, GivesTheReasonOfEachBackendIfNoneWorks) {
  const auto source = open_source(gpu_with(
      {backend("first", false, true),
       backend("second", true, fail(ErrorCode::permission_denied, "join the group render"))}));
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::permission_denied);
  EXPECT_THAT(source.error().message, HasSubstr("first: it is not plugged in"));
  EXPECT_THAT(source.error().message, HasSubstr("second: join the group render"));
}

TEST(Telemetry, StartsASensorOfNoVendorAndLeavesItsClocksAlone) {
  const auto sensor = open_sensor(gpu_with({backend("wall", true, true)}), {});
  ASSERT_TRUE(sensor) << sensor.error().text();
  EXPECT_EQ((*sensor)->facts().name, "wall meter");
  EXPECT_TRUE((*sensor)->dvfs_states().empty());
}

}  // namespace
}  // namespace ww::measure
