// Launches on the chip's real accounting: time, activity, sensor.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::chip_time_test {
namespace {

struct Machine {
  std::unique_ptr<VirtualGpu> gpu;
  ProgramId program{};
  std::uint64_t data{}, out{};

  explicit Machine(unsigned threads, std::uint32_t word = 0x13579BDF) {
    gpu = std::move(*VirtualGpu::create(test::load_w9100(), Options{.threads = threads}));
    program = *gpu->load(test::read_kernels());
    data = *gpu->allocate(1 << 20);
    out = *gpu->allocate(1 << 20);
    std::vector<std::uint32_t> words(1 << 18);
    for (std::uint32_t i = 0; i < words.size(); ++i)
      words[i] = word == 0 ? 0 : i * 2654435761U ^ word;
    EXPECT_TRUE(gpu->write(data, std::as_bytes(std::span<const std::uint32_t>(words))));
  }
  LaunchResult stream(std::uint32_t engine, std::uint32_t first_channel) {
    auto result = gpu->launch(program, "pinned_stream", Grid{1, {44 * 1024, 1, 1}, {256, 1, 1}},
                              test::TestGpu::arguments(data, out, engine, first_channel, 64U), 0);
    EXPECT_TRUE(result) << result.error().text();
    return *result;
  }
};

TEST(ChipTime, IsCyclesAtTheClockAfterTheLaunchOverhead) {
  Machine machine(1);
  const Architecture& architecture = machine.gpu->chip().architecture();
  const std::int64_t before = machine.gpu->now_ns();
  const LaunchResult result = machine.stream(0, 0);
  EXPECT_EQ(result.start_ns, before + architecture.launch_overhead_ns);
  EXPECT_EQ(result.end_ns, machine.gpu->now_ns());
  const auto clock =
      architecture.dvfs[static_cast<std::size_t>(machine.gpu->dvfs_state())].clock_hz;
  const auto cycles = static_cast<double>(machine.gpu->last_activity().cycles);
  EXPECT_NEAR(static_cast<double>(result.end_ns - result.start_ns), cycles / clock * 1e9, 2.0);
  const auto dispatch = machine.gpu->dispatch(result.dispatch);
  ASSERT_TRUE(dispatch);
  EXPECT_EQ(dispatch->kernel, "pinned_stream");
  EXPECT_FALSE(machine.gpu->dispatch(result.dispatch + 1));
}

TEST(ChipTime, ReplayMovesTheSensorAsExecutionDoes) {
  // Without replay and with it: the same samples, tick for tick.
  std::vector<std::vector<std::int64_t>> readings;
  for (const bool replay : {false, true}) {
    const auto gpu = test::create(test::load_w9100(), {{.threads = 1}, {.replay = replay}});
    const ProgramId program = *gpu->load(test::read_kernels());
    const auto data = *gpu->allocate(1 << 20);
    const auto out = *gpu->allocate(1 << 20);
    bool replayed = false;
    for (int i = 0; i < 60; ++i) {
      const auto result = gpu->launch(program, "stream", Grid{1, {4096, 1, 1}, {256, 1, 1}},
                                      test::TestGpu::arguments(data, out, 64U, 64U), 0);
      ASSERT_TRUE(result);
      replayed = replayed || result->replayed;
      gpu->idle_until(gpu->now_ns() + 100'000);
    }
    EXPECT_EQ(replayed, replay);
    std::vector<ww_vgpu_sample> samples(100);
    samples.resize(gpu->samples_since(0, samples));
    EXPECT_GT(samples.size(), 4U);
    std::vector<std::int64_t> values;
    for (const auto& sample : samples) {
      values.insert(values.end(), {sample.time_ns, sample.power_uw, sample.energy_ticks});
    }
    readings.push_back(values);
  }
  EXPECT_EQ(readings[0], readings[1]);
}

TEST(ChipTime, ActivityIsTheSameForAnyNumberOfThreads) {
  Machine one(1);
  Machine two(2);
  for (std::uint32_t engine = 0; engine < 4; ++engine) {
    EXPECT_EQ(one.stream(engine, 4).end_ns, two.stream(engine, 4).end_ns);
    EXPECT_EQ(one.gpu->last_activity().capacitance_f, two.gpu->last_activity().capacitance_f);
    EXPECT_EQ(one.gpu->last_activity().cycles, two.gpu->last_activity().cycles);
  }
}

TEST(ChipTime, WiresCostMoreWhenTheDataToggles) {
  Machine random(1);
  Machine zeros(1, 0);
  random.stream(1, 0);
  zeros.stream(1, 0);
  EXPECT_GT(random.gpu->last_activity().parts_f.crossbar_wires,
            1.2 * zeros.gpu->last_activity().parts_f.crossbar_wires);
}

}  // namespace
}  // namespace ww::sim::gpu::chip_time_test
