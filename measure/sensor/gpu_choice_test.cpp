#include "ww/measure/gpu_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::measure {
namespace {

using ::testing::HasSubstr;

class GpuChoice : public ::testing::Test {
 protected:
  GpuChoice() {
    for (const char* variable : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                 "GPU_DEVICE_ORDINAL", "CUDA_VISIBLE_DEVICES"}) {
      unsetenv(variable);
    }
  }
  ~GpuChoice() override { unsetenv("HIP_VISIBLE_DEVICES"); }

  // A card on the bus of that number, whose render device is there or not.
  void add(std::uint32_t bus, bool may_be_opened, bool integrated = false) {
    TelemetryGpu gpu;
    gpu.pci = {0, bus, 0, 0};
    gpu.name = "MI210";
    gpu.amd.emplace();
    gpu.amd->render_device = folder_.path() / ("renderD" + std::to_string(bus));
    gpu.amd->integrated = integrated;
    if (may_be_opened) std::ofstream(gpu.amd->render_device) << "";
    telemetry_.gpus.push_back(std::move(gpu));
  }

  ScratchFolder folder_ = ScratchFolder::create("choice").value();
  Telemetry telemetry_;
};

TEST_F(GpuChoice, IsByPlaceOrByAddress) {
  add(0x03, true);
  add(0x43, true);
  EXPECT_EQ(choose_gpu(telemetry_, "gpu:1").value(), 1U);
  EXPECT_EQ(choose_gpu(telemetry_, "pci:0000:43:00.0").value(), 1U);
  EXPECT_EQ(choose_gpu(telemetry_, "gpu:2").error().code, ErrorCode::missing_dependency);
  EXPECT_EQ(choose_gpu(telemetry_, "pci:0000:44:00.0").error().code, ErrorCode::missing_dependency);
  EXPECT_EQ(choose_gpu(telemetry_, "gpu:0x").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(choose_gpu(telemetry_, "cuda:0").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(name_with_address(telemetry_.gpus[1]), "MI210 at 0000:43:00.0");
}

TEST_F(GpuChoice, WithoutANameIsTheFirst) {
  EXPECT_EQ(choose_gpu(telemetry_, "").error().code, ErrorCode::missing_dependency);
  add(0x03, true);
  add(0x43, true);
  EXPECT_EQ(choose_gpu(telemetry_, "").value(), 0U);
}

// A container sees the sensors of all cards of the machine, and was given one of them.
TEST_F(GpuChoice, WithoutANameIsTheOneThatThisProcessMayOpen) {
  add(0x03, false);
  add(0x43, true);
  add(0x83, false);
  setenv("HIP_VISIBLE_DEVICES", "0", 1);  // of those that are left: it is no other
  EXPECT_EQ(choose_gpu(telemetry_, "").value(), 1U);
  EXPECT_EQ(gpus_of_this_process(telemetry_), std::vector<std::size_t>{1});
  add(0xc3, true);
  EXPECT_EQ(gpus_of_this_process(telemetry_), (std::vector<std::size_t>{1, 3}));
}

TEST_F(GpuChoice, WithoutANameIsACardRatherThanAProcessorsGraphics) {
  add(0x03, true, true);
  EXPECT_EQ(choose_gpu(telemetry_, "").value(), 0U);
  add(0x43, true);
  EXPECT_EQ(choose_gpu(telemetry_, "").value(), 1U);
}

TEST_F(GpuChoice, WithoutANameIsRefusedWhereTheEnvironmentHidesCards) {
  add(0x03, true);
  add(0x43, true);
  setenv("HIP_VISIBLE_DEVICES", "1", 1);
  const auto chosen = choose_gpu(telemetry_, "");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(chosen.error().message, HasSubstr("HIP_VISIBLE_DEVICES=1"));
  EXPECT_THAT(chosen.error().message, HasSubstr("gpu:1 (MI210 at 0000:43:00.0)"));
  EXPECT_EQ(choose_gpu(telemetry_, "gpu:0").value(), 0U);  // named
}

}  // namespace
}  // namespace ww::measure
