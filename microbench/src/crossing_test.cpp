// The campaign of crossings through CUDA's driver API on the stub, whose energy per crossing is
// known.
#include "ww/microbench/crossing.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "../test_support/stub_cuda.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

namespace stub = testing::stub_cuda;
using ::testing::HasSubstr;

// The stub's meter, read every 10 ms of its time; one sensor with an energy counter, one with
// power readings alone.
class StubSensor final : public measure::Sensor {
 public:
  explicit StubSensor(bool has_energy) : has_energy_(has_energy) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    state_ = reinterpret_cast<stub::State (*)()>(dlsym(library, "ww_stub_cuda_state"));
    sleep_ = reinterpret_cast<void (*)(double)>(dlsym(library, "ww_stub_cuda_sleep"));
    facts_.name = "stub meter";
  }
  [[nodiscard]] bool usable() const { return state_ != nullptr && sleep_ != nullptr; }
  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override {
    poll();
    return std::llround(state_().seconds * 1e9);
  }
  void sleep_until(std::int64_t time_ns) override {
    while (now_ns() < time_ns) sleep_(0.01);
  }
  Result<std::vector<StoredSample>> new_readings() override {
    poll();
    return std::exchange(waiting_, {});
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return fail(ErrorCode::unsupported, "no states"); }

 private:
  void poll() {
    const stub::State now = state_();
    if (now.seconds - last_.seconds < 0.01) return;
    StoredSample sample;
    sample.time_ns = sample.poll_ns = std::llround(now.seconds * 1e9);
    // A little noise, so that intervals are not of length zero.
    noise_ = noise_ * 1664525u + 1013904223u;
    const double watts = (now.joules - last_.joules) / (now.seconds - last_.seconds) +
                         0.02 * (static_cast<double>(noise_ >> 8) / (1 << 24) - 0.5);
    sample.power_uw = std::llround(watts * 1e6);
    if (has_energy_) sample.energy_ticks = std::llround(now.joules * 65536);
    sample.changed = true;
    waiting_.push_back(sample);
    last_ = now;
  }
  bool has_energy_;
  measure::SensorFacts facts_;
  stub::State (*state_)(){};
  void (*sleep_)(double){};
  stub::State last_{};
  std::uint32_t noise_{1};
  std::vector<StoredSample> waiting_;
};

TEST(CrossingCampaign, RecoversTheStubsEnergyPerCrossing) {
  auto host = open_host("cuda:0");
  ASSERT_TRUE(host) << host.error().text();
  if ((*host)->facts().device.find("Stub") == std::string::npos) {
    GTEST_SKIP() << "a real CUDA driver is installed here: " << (*host)->facts().device;
  }
  for (const bool has_energy : {true, false}) {
    StubSensor sensor(has_energy);
    ASSERT_TRUE(sensor.usable());
    const auto folder = std::filesystem::temp_directory_path() /
                        ("ww_crossing_" + std::to_string(getpid()) + (has_energy ? "e" : "p"));
    CrossingOptions options;
    options.blocks = has_energy ? 3 : 2;
    options.plateau_s = 0.7;
    options.groups_per_place = 1;
    options.settle_s = 0.1;
    const auto status = run_crossing(**host, sensor, "cuda:0", folder, options, {});
    ASSERT_TRUE(status) << status.error().text();
    const auto store = CampaignStore::open_read_only(folder / "campaign.db");
    ASSERT_TRUE(store) << store.error().text();
    const auto fit = fit_crossing(*store);
    ASSERT_TRUE(fit) << fit.error().text();
    EXPECT_EQ(fit->blocks, options.blocks);
    EXPECT_EQ(fit->runs, 16 * options.blocks);
    EXPECT_EQ(fit->rejected, 0);
    // Half of random bits are ones.
    const double random = stub::joules_per_crossing_bit + 0.5 * stub::joules_per_crossing_one;
    ASSERT_EQ(fit->random_bit.status, RowStatus::ok) << fit->random_bit.reason;
    EXPECT_NEAR(*fit->random_bit.value / random, 1.0, 0.05);
    ASSERT_EQ(fit->zero_bit.status, RowStatus::ok) << fit->zero_bit.reason;
    EXPECT_NEAR(*fit->zero_bit.value / stub::joules_per_crossing_bit, 1.0, 0.05);
    EXPECT_NEAR(fit->near_bits_per_s / fit->far_bits_per_s, 1.0, 0.02);
    const auto json = to_json(*fit);
    EXPECT_TRUE(json.at("energy_fj_per_bit_mm").is_null());
    EXPECT_TRUE(json.at("distance").at("estimated").get<bool>());
    std::filesystem::remove_all(folder);
  }
}

StoredRun made(std::int64_t block, std::int64_t position, RunKind kind, int place, int line,
               double watts, double bits_per_s) {
  StoredRun run;
  run.block = block;
  run.position = position;
  run.kind = kind;
  if (kind == RunKind::stream) {
    run.engine = place;
    run.quadrant = line;
    run.pattern = "random";
  }
  run.end_ns = 2'000'000'000;
  run.payload_bits = 2 * bits_per_s;
  for (int i = 0; i <= 20; ++i) {
    StoredSample sample;
    sample.time_ns = i * 100'000'000;
    sample.power_uw = std::llround(watts * 1e6);
    run.samples.push_back(sample);
  }
  return run;
}

TEST(CrossingFit, OffsetsOfPlacesAndLinesDropOut) {
  std::vector<StoredRun> runs;
  for (int block = 1; block <= 3; ++block) {
    runs.push_back(made(block, 0, RunKind::idle, 0, 0, 100 + block, 0));
    for (const int place : {0, 1}) {
      for (const int line : {0, 1}) {
        const double crossing = place != line ? 4.0 : 0.0;
        // Blocks differ a little, or the interval has no length.
        const double watts =
            100 + block + 60 + 7.0 * place + 5.0 * line + crossing + 0.01 * block * crossing;
        runs.push_back(
            made(block, 1 + 2 * place + line, RunKind::stream, place, line, watts, 1e12));
      }
    }
  }
  const CrossingFit fit = fit_crossing(runs, 0.5);
  ASSERT_EQ(fit.random_bit.status, RowStatus::ok) << fit.random_bit.reason;
  EXPECT_NEAR(*fit.random_bit.value, 4.08e-12, 1e-15);
  EXPECT_LT(*fit.random_bit.low, 4.08e-12);
  EXPECT_GT(*fit.random_bit.high, 4.08e-12);
  EXPECT_EQ(fit.zero_bit.status, RowStatus::not_identified);
  EXPECT_FALSE(fit.zero_bit.value);
}

TEST(CrossingFit, SaysNotIdentifiedWhenZeroIsWithinTheInterval) {
  std::vector<StoredRun> runs;
  for (int block = 1; block <= 4; ++block) {
    runs.push_back(made(block, 0, RunKind::idle, 0, 0, 100, 0));
    for (const int place : {0, 1}) {
      for (const int line : {0, 1}) {
        const double noise = (block % 2 == 0 ? 3.0 : -3.0) * (place != line ? 1 : 0);
        runs.push_back(
            made(block, 1 + 2 * place + line, RunKind::stream, place, line, 160 + noise, 1e12));
      }
    }
  }
  const CrossingFit fit = fit_crossing(runs, 0.5);
  EXPECT_EQ(fit.random_bit.status, RowStatus::not_identified);
  EXPECT_FALSE(fit.random_bit.value);
  EXPECT_THAT(fit.random_bit.reason, HasSubstr("holds zero"));
}

TEST(CrossingFit, SaysWhenRatesDiffer) {
  std::vector<StoredRun> runs;
  for (int block = 1; block <= 2; ++block) {
    runs.push_back(made(block, 0, RunKind::idle, 0, 0, 100, 0));
    for (const int place : {0, 1}) {
      for (const int line : {0, 1}) {
        runs.push_back(made(block, 1 + 2 * place + line, RunKind::stream, place, line, 160,
                            place != line ? 0.8e12 : 1e12));
      }
    }
  }
  EXPECT_THAT(fit_crossing(runs, 0.5).note, HasSubstr("1.250 times"));
}

}  // namespace
}  // namespace ww::microbench
