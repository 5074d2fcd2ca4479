#include "ww/microbench/compute_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;

measure::Telemetry two_cards() {
  measure::Telemetry telemetry;
  telemetry.gpus.push_back({{0, 3, 0, 0}, "first", {}, {}, {}});
  telemetry.gpus.push_back({{0, 0xc1, 0, 0}, "second", {}, {}, {}});
  telemetry.no_nvidia = "NVML is not here";
  return telemetry;
}

TEST(SensorMatch, IsTheGpuAtTheHostsPciAddress) {
  const auto telemetry = two_cards();
  HostFacts host;
  host.pci_bus = "0000:c1:00.0";
  const auto match = match_sensor(host, telemetry);
  ASSERT_NE(match.gpu, nullptr) << match.reason;
  EXPECT_EQ(match.gpu->name, "second");
}

TEST(SensorMatch, IsNeverAGuess) {
  const auto telemetry = two_cards();
  HostFacts host;
  host.device = "some GPU";
  auto match = match_sensor(host, telemetry);
  EXPECT_EQ(match.gpu, nullptr);
  EXPECT_THAT(match.reason, HasSubstr("does not tell its PCI address"));
  host.pci_bus = "0000:04:00.0";
  match = match_sensor(host, telemetry);
  EXPECT_EQ(match.gpu, nullptr);
  EXPECT_THAT(match.reason, HasSubstr("0000:04:00.0"));
  EXPECT_THAT(match.reason, HasSubstr("NVML is not here"));
}

TEST(DeviceNames, OfHostsStandForThemselvesAndOthersAreRefused) {
  DeviceRequest request;
  request.name = "opencl:99.0";
  const auto missing = open_compute_device(request);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found) << missing.error().text();
  request.name = "quantum:0";
  EXPECT_EQ(open_compute_device(request).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww::microbench
