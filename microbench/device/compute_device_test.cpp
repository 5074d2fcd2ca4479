#include "ww/microbench/compute_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/real_devices.hpp"

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

TEST(SensorMatch, OfAPartitionIsThePackagesSensor) {
  auto telemetry = two_cards();
  measure::AmdGpu package;
  package.compute_partition = "CPX";
  telemetry.gpus[1].amd = package;
  HostFacts host;
  host.pci_bus = "0000:c1:00.5";
  const auto match = match_sensor(host, telemetry);
  ASSERT_NE(match.gpu, nullptr) << match.reason;
  EXPECT_EQ(match.gpu->name, "second");
  // A card that is not divided has no functions that compute.
  telemetry.gpus[1].amd->compute_partition = "SPX";
  EXPECT_EQ(match_sensor(host, telemetry).gpu, nullptr);
}

RealDevice real(const std::string& name, bool is_gpu, bool usable, const std::string& sensor,
                const std::string& reason) {
  RealDevice device;
  device.listing.name = name;
  device.listing.description = "a card";
  device.listing.usable = usable;
  device.listing.reason = reason;
  device.is_gpu = is_gpu;
  device.sensor = sensor;
  return device;
}

TEST(DefaultDevice, IsTheFirstUsableOneAndNotTheFirstThatHasASensor) {
  const std::vector<RealDevice> devices = {
      real("opencl:0.0", true, false, "amdgpu files", "no floorplan is known of it"),
      real("hip:0", true, false, "amdgpu files", "no floorplan is known of it"),
      real("cuda:0", true, true, "NVML", "")};
  const auto choice = choose_among(devices, two_cards());
  EXPECT_EQ(choice.usable, "cuda:0");
  EXPECT_EQ(choice.readable, "opencl:0.0");
  EXPECT_EQ(choice.obstacle, "");
}

TEST(DefaultDevice, IsAnNvidiaCardByCudaAlsoWhereOpenClListsItFirst) {
  std::vector<RealDevice> devices = {
      real("opencl:0.0", true, true, "NVML", ""), real("opencl:0.1", true, true, "NVML", ""),
      real("cuda:0", true, true, "NVML", ""), real("cuda:1", true, true, "NVML", "")};
  devices[0].pci = devices[3].pci = "0000:c1:00.0";
  devices[1].pci = devices[2].pci = "0000:41:00.0";
  EXPECT_EQ(choose_among(devices, two_cards()).usable, "cuda:1");
  EXPECT_EQ(choose_among(devices, two_cards()).readable, "cuda:1");
  devices[3].listing.usable = false;
  EXPECT_EQ(choose_among(devices, two_cards()).usable, "opencl:0.0");
}

TEST(DefaultDevice, NamesTheCardThatIsThereAndWhatItLacks) {
  auto choice =
      choose_among({real("opencl", false, false, "", "no platform"),
                    real("hip:0", true, false, "amdgpu files", "no floorplan is known of it")},
                   two_cards());
  EXPECT_EQ(choice.usable, "");
  EXPECT_THAT(choice.obstacle, HasSubstr("hip:0 (a card): no floorplan is known of it"));
  // Nothing computes on it at all.
  choice = choose_among({real("opencl", false, false, "", "no platform"),
                         real("hip", false, false, "", "HIP's runtime cannot be loaded")},
                        two_cards());
  EXPECT_THAT(choice.obstacle, HasSubstr("first at 0000:03:00.0"));
  EXPECT_THAT(choice.obstacle, HasSubstr("HIP's runtime cannot be loaded"));
  // Without any card there is nothing to explain.
  choice = choose_among({real("hip", false, false, "", "HIP's runtime cannot be loaded")}, {});
  EXPECT_EQ(choice.obstacle, "");
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
