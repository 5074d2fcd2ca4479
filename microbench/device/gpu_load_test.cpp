// The doctor's load on an NVIDIA card, through CUDA's driver API on the stub.
#include "ww/microbench/gpu_load.hpp"

#include <gtest/gtest.h>

#include "../test_support/stub_cuda.hpp"
#include "../test_support/stub_meter.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

TEST(GpuLoad, RunsTheFurnaceThroughCudasDriverAndRaisesTheBoardsPower) {
  auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  testing::StubMeter sensor(false);
  ASSERT_TRUE(sensor.usable());
  const auto load = make_gpu_load(**host, sensor);
  ASSERT_TRUE(load) << load.error().text();
  const auto step = (*load)->run_for(1.0);
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_GE(step->off_ns - step->on_ns, 1'000'000'000);
  const auto readings = sensor.new_readings();
  ASSERT_TRUE(readings) << readings.error().text();
  ASSERT_FALSE(readings->empty());
  // The meter's last interval begins and ends with a batch of launches.
  const SensorReading& last = readings->back();
  EXPECT_EQ(last.time_ns, step->off_ns);
  const double loaded_w = testing::stub_cuda::idle_w + testing::stub_cuda::active_w;
  EXPECT_GE(*last.power_uw, 1e6 * (loaded_w - 1));
}

}  // namespace
}  // namespace ww::microbench
