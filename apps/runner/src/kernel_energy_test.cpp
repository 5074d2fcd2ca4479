#include "ww/runner/kernel_energy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ww/core/atomic_file.hpp"
#include "ww/core/energy_tick.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/runner/sensed_energy.hpp"

namespace ww::runner {
namespace {

struct RunFiles {
  ScratchFolder folder = ScratchFolder::create("kernel_energy").value();
  std::string samples = (folder.path() / "samples.csv").string();
  std::string counters = (folder.path() / "counters.csv").string();
};

// `count` launches of two kernels, 10 mJ and 30 mJ above 40 W, 0.2 ms each, and an energy counter
// that refreshes every millisecond. `in_turn`: each launch of one follows a launch of the other.
void write_run(const RunFiles& files, int count, bool in_turn, double noise_w) {
  SplitMix draw(3);
  std::string counters = "Dispatch_Id,Kernel_Name,Counter_Name,Start_Timestamp,End_Timestamp\n";
  std::string samples = "time_ns,energy_ticks,valid,launched\n";
  std::vector<std::pair<std::int64_t, double>> ends;
  std::int64_t at = 40'000'000;
  for (int i = 0; i < count; ++i) {
    const bool second = in_turn ? i % 2 == 1 : (i / 10) % 2 == 1;
    for (const char* counter : {"A", "B"}) {
      counters +=
          fmt::format("{},{},{},{},{}\n", i + 1, second ? "two" : "one", counter, at, at + 200'000);
    }
    ends.emplace_back(at + 200'000, second ? 0.030 : 0.010);
    at += in_turn ? 210'000 : 210'000 + 3'000'000 * (i % 10 == 9);
  }
  double joules = 0;
  for (std::int64_t time = 1'000'000; time < at + 40'000'000; time += 1'000'000) {
    joules += 0.040 + noise_w * 1e-3 * draw.normal();
    double launched = 0;
    for (const auto& [end, energy] : ends) {
      const double done = static_cast<double>(time - (end - 200'000)) / 200'000.0;
      launched += energy * std::min(1.0, std::max(0.0, done));
    }
    samples += fmt::format("{},{:.0f},1,1\n", time, (joules + launched) / kJoulesPerTick);
  }
  ASSERT_TRUE(write_file_atomically(files.samples, samples));
  ASSERT_TRUE(write_file_atomically(files.counters, counters));
}

std::vector<KernelEnergy> two_unknown_energies(const RunFiles& files) {
  auto found = kernel_energies(files.samples, files.counters);
  EXPECT_TRUE(found) << found.error().text();
  if (!found) return {};
  EXPECT_EQ(found->size(), 2u);
  for (const KernelEnergy& kernel : *found) {
    EXPECT_EQ(kernel.status, RowStatus::not_identified);
    EXPECT_FALSE(kernel.energy_j);
  }
  return *std::move(found);
}

TEST(KernelEnergies, PartTwoKernelsByTheirLaunches) {
  const RunFiles files;
  write_run(files, 400, false, 0.5);
  const auto found = kernel_energies(files.samples, files.counters);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 2u);
  for (const KernelEnergy& kernel : *found) {
    ASSERT_EQ(kernel.status, RowStatus::ok) << kernel.reason;
    EXPECT_EQ(kernel.launches, 200u);
    const double truth = kernel.kernel == "one" ? 2.0 : 6.0;
    EXPECT_NEAR(kernel.energy_j->value, truth, 0.02 * truth);
    EXPECT_LT(kernel.energy_j->low, truth);
    EXPECT_GT(kernel.energy_j->high, truth);
    EXPECT_GT(kernel.energy_j->relative(), 0.05);  // the gain is in it
  }
}

TEST(KernelEnergies, SayHowManyLaunchesANoisySensorNeeds) {
  const RunFiles files;
  write_run(files, 40, false, 60);
  const auto found = kernel_energies(files.samples, files.counters);
  ASSERT_TRUE(found) << found.error().text();
  const KernelEnergy& kernel = found->front();
  EXPECT_EQ(kernel.status, RowStatus::not_identified);
  EXPECT_FALSE(kernel.energy_j);
  ASSERT_TRUE(kernel.launches_wanted);
  EXPECT_GT(*kernel.launches_wanted, 20);
  EXPECT_NE(kernel.reason.find("launches would bring it"), std::string::npos) << kernel.reason;
}

TEST(KernelEnergies, SayHowManyLaunchesFillTheReadings) {
  const RunFiles files;
  write_run(files, 2, true, 0);
  for (const KernelEnergy& kernel : two_unknown_energies(files)) {
    // 100 readings of 1 ms, by launches of 0.2 ms.
    ASSERT_TRUE(kernel.launches_wanted);
    EXPECT_NEAR(*kernel.launches_wanted, 500, 1);
    EXPECT_NE(kernel.reason.find("launches would fill 100"), std::string::npos) << kernel.reason;
  }
}

// The driver leaves the ticks out where the chip has no energy counter.
TEST(KernelEnergies, AreNotReadFromASensorWithoutACounter) {
  const RunFiles files;
  write_run(files, 400, false, 0.5);
  std::string samples = "time_ns,energy_ticks,valid,launched\n";
  for (int i = 0; i < 400; ++i) samples += fmt::format("{},,1,1\n", i * 1'000'000);
  ASSERT_TRUE(write_file_atomically(files.samples, samples));
  for (const KernelEnergy& kernel : two_unknown_energies(files)) {
    EXPECT_FALSE(kernel.launches_wanted);
    EXPECT_NE(kernel.reason.find("no energy counter"), std::string::npos) << kernel.reason;
  }
  const auto sensed = sensed_run(files.samples);
  ASSERT_FALSE(sensed);
  EXPECT_EQ(sensed.error().code, ErrorCode::unsupported);
}

TEST(KernelEnergies, RefuseAFileWithoutTimes) {
  const RunFiles files;
  write_run(files, 2, true, 0);
  ASSERT_TRUE(write_file_atomically(files.counters, "Dispatch_Id,Kernel_Name\n1,one\n"));
  const auto found = kernel_energies(files.samples, files.counters);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text().find("Start_Timestamp"), std::string::npos);
}

}  // namespace
}  // namespace ww::runner
