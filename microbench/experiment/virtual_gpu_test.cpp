// The campaign's parts on the virtual GPU itself, through the OpenCL loader: real compiler, real
// machine code, real patch. Whole campaigns are run by tests/e2e.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/device.hpp"
#include "experiment/ladder/ladder_kernels.hpp"
#include "experiment/stream_kernels.hpp"
#include "host/pinning.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/campaign.hpp"
#include "ww/microbench/virtual_chips.hpp"

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;

// One chip a process: all tests share it.
class OnVirtualGpu : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    DeviceRequest request;
    request.name = "virtual:w9100";
    auto device = open_device(request, request.name);
    ASSERT_TRUE(device) << device.error().text();
    device_ = std::make_unique<Device>(std::move(*device));
    pinning_ = make_pinning(device_->chip.target).value();
    auto bench = StreamKernels::create(*device_, *pinning_, true, 1);
    ASSERT_TRUE(bench) << bench.error().text();
    bench_ = std::move(*bench);
  }
  static void TearDownTestSuite() {
    bench_.reset();
    pinning_.reset();
    device_.reset();
  }
  void SetUp() override { ASSERT_NE(bench_, nullptr); }

  struct Seen {
    std::map<std::string, double> counters;
    double nanoseconds{};
  };
  static Seen launch(const Stream& stream, std::uint32_t loops, std::uint32_t throttle) {
    EXPECT_TRUE(bench_->select(stream, loops, throttle));
    EXPECT_TRUE(bench_->launch_stream());  // fills the L2
    EXPECT_TRUE(bench_->launch_stream());
    EXPECT_TRUE(device_->host->finish());
    const auto count = device_->counters->dispatch_count();
    const auto dispatch = device_->counters->dispatch(count - 1).value();
    return {device_->counters->sum(count - 1, count).value(),
            static_cast<double>(dispatch.end_ns - dispatch.start_ns)};
  }

  static inline std::unique_ptr<Device> device_;
  static inline std::unique_ptr<Pinning> pinning_;
  static inline std::unique_ptr<StreamKernels> bench_;
};

TEST_F(OnVirtualGpu, EveryEngineIsPinnedAndFull) {
  for (int engine = 0; engine < device_->chip.engines; ++engine) {
    const Stream stream{engine, 1, kernels::Pattern::random, Rate::saturated};
    launch(stream, 2, 0);
    const auto report = bench_->read_log(stream);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(report->working_cus, device_->chip.cus_per_engine);
    for (const StoredWaves& waves : report->working) {
      EXPECT_EQ(pinning_->place(waves.hw_id)->engine, engine);
    }
  }
}

TEST_F(OnVirtualGpu, SaturatedStreamsReachNinetySevenPercentPastTheL1) {
  const double clock_hz =
      device_->sensor->dvfs_states()[static_cast<std::size_t>(device_->sensor->dvfs_current())]
          .clock_hz;
  for (const int quadrant : {0, 3}) {
    const Stream stream{0, quadrant, kernels::Pattern::random, Rate::saturated};
    constexpr std::uint32_t loops = 60;
    const Seen seen = launch(stream, loops, 0);
    const double bytes = measure::l1_l2_bytes(device_->chip.target, seen.counters).value();
    const auto report = bench_->read_log(stream).value();
    EXPECT_NEAR(
        bytes / (static_cast<double>(report.working_waves) * StreamKernels::bytes_per_wave(loops)),
        1.0, 0.005);
    const double share =
        bytes / (bench_->peak_bytes_per_second(quadrant, clock_hz) * seen.nanoseconds * 1e-9);
    EXPECT_GT(share, 0.97);
    EXPECT_LE(share, 1.0);
    const auto at = [&seen](const char* name) {
      const auto found = seen.counters.find(name);
      return found != seen.counters.end() ? found->second
                                          : seen.counters.at(std::string(name) + "_sum");
    };
    EXPECT_GT(at("TCC_HIT") / (at("TCC_HIT") + at("TCC_MISS")), 0.999);
  }
}

TEST_F(OnVirtualGpu, WaitingLowersTheRateAlikeNearAndFar) {
  const Stream first{0, 0, kernels::Pattern::random, Rate::throttled};
  const Stream second{0, 3, kernels::Pattern::random, Rate::throttled};
  const double saturated =
      launch({0, 0, kernels::Pattern::random, Rate::saturated}, 16, 0).nanoseconds;
  const double one = launch(first, 16, 16).nanoseconds;
  const double other = launch(second, 16, 16).nanoseconds;
  EXPECT_GT(one, 1.3 * saturated);
  EXPECT_NEAR(other / one, 1.0, 0.03);
}

// Units of 256 cycles, though a long wait is slept in other pieces than a short one.
TEST_F(OnVirtualGpu, ALongWaitIsAsLongAsItsUnitsSay) {
  LadderSet set;
  set.name = calibration::ladder_levels::l2;
  set.set_bytes = 1 << 16;
  const auto kernels = LadderKernels::create(*device_, {set}, {"random"}, 1);
  ASSERT_TRUE(kernels) << kernels.error().text();
  const double clock_hz =
      device_->sensor->dvfs_states()[static_cast<std::size_t>(device_->sensor->dvfs_current())]
          .clock_hz;
  const auto cycles = [&](std::uint32_t units) {
    constexpr std::uint32_t kLoops = 8;
    EXPECT_TRUE((*kernels)->select_empty(units, kLoops));
    for (int i = 0; i < 2; ++i) EXPECT_TRUE((*kernels)->launch());
    EXPECT_TRUE(device_->host->finish());
    const auto last = device_->counters->dispatch(device_->counters->dispatch_count() - 1).value();
    return static_cast<double>(last.end_ns - last.start_ns) * 1e-9 * clock_hz / kLoops;
  };
  // Behind shorter waits, what the wavefronts of a unit issue hides in part.
  constexpr std::uint32_t kShort = 7;
  const double brief = cycles(kShort);
  for (const std::uint32_t units : {8U, 15U, 27U, 28U, 29U, 63U, 200U}) {
    const double more = 256.0 * (units - kShort);
    EXPECT_NEAR(cycles(units) - brief, more, 60 + 0.02 * more) << units;
  }
}

TEST_F(OnVirtualGpu, KnownBytesAreCounted) {
  const auto first = device_->counters->dispatch_count();
  const auto expected = bench_->run_known_bytes();
  ASSERT_TRUE(expected) << expected.error().text();
  const auto counters = device_->counters->sum(first, device_->counters->dispatch_count()).value();
  EXPECT_NEAR(measure::l1_l2_bytes(device_->chip.target, counters).value() / *expected, 1.0, 0.005);
}

TEST_F(OnVirtualGpu, AProcessHasOneChip) {
  DeviceRequest other;
  other.name = "virtual:random";
  const auto device = open_device(other, other.name);
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("another process"));
}

TEST_F(OnVirtualGpu, AnUnpatchedCampaignIsRefusedAndLeavesNothing) {
  CampaignRequest request;
  request.device.name = "virtual:w9100";
  const auto scratch = ScratchFolder::create("unpatched").value();
  request.folder = scratch.path() / "run";
  request.quick = true;
  request.patch_binary = false;
  const auto summary = run_campaign(request, {}, {});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().code, ErrorCode::bad_data);
  EXPECT_THAT(summary.error().message, HasSubstr("not patched"));
  EXPECT_FALSE(std::filesystem::exists(request.folder));
}

TEST(VirtualChips, AreThoseThatTheDriverHasBuiltIn) {
  const auto chips = virtual_chips();
  ASSERT_TRUE(chips) << chips.error().text();
  std::vector<std::string> names;
  for (const VirtualChip& chip : *chips) {
    names.push_back(chip.name);
  }
  const auto folder = std::filesystem::path(std::getenv("WW_SOURCE_DIR")) / "sim/gpu/chips";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".toml") {
      EXPECT_THAT(names, ::testing::Contains(file.path().stem().string()));
    }
  }
  EXPECT_THAT(names, ::testing::Contains("random"));
  EXPECT_EQ(names.back(), "random_rdna");
  EXPECT_THAT(chips->front().description, HasSubstr("gfx701, 4 engines of 11 CUs"));
}

TEST(VirtualChips, HaveDataSheetsWithoutTheTruth) {
  const auto sheet = virtual_data_sheet({.name = "virtual:mi210"});
  ASSERT_TRUE(sheet) << sheet.error().text();
  EXPECT_THAT(*sheet, HasSubstr("gfx90a"));
  EXPECT_THAT(*sheet, HasSubstr("shader_engines = 8"));
  for (const char* sealed : {"wires", "ground_ff_per_mm", "leakage", "noise_relative"}) {
    EXPECT_THAT(*sheet, ::testing::Not(HasSubstr(sealed)));
  }
  const auto drawn = virtual_data_sheet({.name = "virtual:random", .chip_seed = 7});
  ASSERT_TRUE(drawn) << drawn.error().text();
  EXPECT_NE(*drawn, *virtual_data_sheet({.name = "virtual:random", .chip_seed = 8}));
  EXPECT_EQ(virtual_data_sheet({.name = "virtual:mi211"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(virtual_data_sheet({.name = "cuda:0"}).error().code, ErrorCode::unsupported);
}

TEST(ListDevices, ShowsTheVirtualGpuAndSaysThatItIsOne) {
  const auto devices = list_devices();
  for (const char* name : {"virtual:w9100", "virtual:random"}) {
    const auto found = std::ranges::find(devices, name, &DeviceListing::name);
    ASSERT_NE(found, devices.end()) << name;
    EXPECT_TRUE(found->usable) << found->reason;
    EXPECT_TRUE(found->is_virtual);
    EXPECT_THAT(found->description, HasSubstr("virtual"));
  }
}

}  // namespace
}  // namespace ww::microbench
