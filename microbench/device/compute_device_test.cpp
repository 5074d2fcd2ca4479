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

std::string chosen(DeviceNeed need, const std::vector<RealDevice>& devices,
                   const measure::Telemetry& telemetry = two_cards()) {
  const auto choice = choose_among(need, devices, telemetry);
  return choice ? choice->name : choice.error().text();
}

TEST(ChooseDevice, TakesForEachNeedTheFirstThatServesIt) {
  std::vector<RealDevice> devices = {
      real("opencl:0.0", true, false, "", "no kernel can be tied to a place"),
      real("hip:0", true, false, "amdgpu files", "no floorplan is known of it"),
      real("cuda:0", true, true, "NVML", "")};
  devices[0].target = "gfx1100";
  devices[0].has_code = false;
  devices[1].pci = "0000:03:00.0";
  devices[2].target = "sm_90";
  EXPECT_EQ(chosen(DeviceNeed::campaign, devices), "cuda:0");
  EXPECT_EQ(chosen(DeviceNeed::look, devices), "cuda:0");
  devices.pop_back();
  EXPECT_THAT(chosen(DeviceNeed::campaign, devices), HasSubstr("no floorplan is known of it"));
  EXPECT_EQ(chosen(DeviceNeed::compute, devices), "hip:0");
  EXPECT_EQ(chosen(DeviceNeed::look, devices), "hip:0");
  EXPECT_EQ(chosen(DeviceNeed::counted, devices), "hip:0");
  devices.pop_back();
  EXPECT_EQ(chosen(DeviceNeed::compute, devices), "opencl:0.0");
  EXPECT_EQ(chosen(DeviceNeed::virtual_chip, devices), "virtual:w9100");
}

TEST(ChooseDevice, TakesAProcessorsGraphicsLast) {
  std::vector<RealDevice> devices = {real("hip:0", true, false, "amdgpu files", "RDNA"),
                                     real("hip:1", true, false, "", "its power cannot be read")};
  devices[0].pci = "0000:03:00.0";
  devices[0].integrated = true;
  devices[1].pci = "0000:c1:00.0";
  for (const DeviceNeed need : {DeviceNeed::compute, DeviceNeed::look, DeviceNeed::counted}) {
    EXPECT_EQ(chosen(need, devices), "hip:1") << to_string(need);
  }
}

TEST(ChooseDevice, TakesAnNvidiaCardByCudaAlsoWhereOpenClListsItFirst) {
  std::vector<RealDevice> devices = {
      real("opencl:0.0", true, true, "NVML", ""), real("opencl:0.1", true, true, "NVML", ""),
      real("cuda:0", true, true, "NVML", ""), real("cuda:1", true, true, "NVML", "")};
  devices[0].pci = devices[3].pci = "0000:c1:00.0";
  devices[1].pci = devices[2].pci = "0000:41:00.0";
  EXPECT_EQ(chosen(DeviceNeed::campaign, devices), "cuda:1");
  EXPECT_EQ(chosen(DeviceNeed::look, devices), "cuda:1");
  devices[3].listing.usable = false;
  EXPECT_EQ(chosen(DeviceNeed::campaign, devices), "opencl:0.0");
}

TEST(ChooseDevice, NamesTheCardThatIsThereAndWhatItLacks) {
  std::vector<RealDevice> devices = {
      real("opencl", false, false, "", "no platform"),
      real("hip:0", true, false, "amdgpu files", "no floorplan is known of it")};
  devices[1].pci = "0000:03:00.0";
  EXPECT_THAT(chosen(DeviceNeed::campaign, devices),
              HasSubstr("hip:0 (a card): no floorplan is known of it"));
  // Nothing computes on it at all.
  devices = {real("opencl", false, false, "", "no platform"),
             real("hip", false, false, "", "HIP's runtime cannot be loaded")};
  for (const DeviceNeed need : {DeviceNeed::campaign, DeviceNeed::compute}) {
    EXPECT_THAT(chosen(need, devices), HasSubstr("first at 0000:03:00.0"));
    EXPECT_THAT(chosen(need, devices), HasSubstr("HIP's runtime cannot be loaded"));
  }
  EXPECT_EQ(chosen(DeviceNeed::look, devices), "pci:0000:03:00.0");
  EXPECT_EQ(chosen(DeviceNeed::counted, devices), "pci:0000:03:00.0");
  // Without any card there is nothing to explain, and another vendor's GPU is none.
  devices.push_back(real("opencl:0.0", true, false, "", "its power cannot be read"));
  for (const DeviceNeed need : {DeviceNeed::campaign, DeviceNeed::compute, DeviceNeed::look,
                                DeviceNeed::power, DeviceNeed::counted}) {
    EXPECT_EQ(chosen(need, devices, {}), "virtual:w9100");
  }
}

TEST(DeviceNames, OfHostsStandForThemselvesAndOthersAreRefused) {
  DeviceRequest request;
  request.name = "opencl:99.0";
  const auto missing = open_compute_device(request);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::missing_dependency) << missing.error().text();
  request.name = "quantum:0";
  EXPECT_EQ(open_compute_device(request).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww::microbench
