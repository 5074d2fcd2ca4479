#include "ww/runner/samples_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/runner/sensed_energy.hpp"

namespace ww::runner {
namespace {

constexpr const char* kHead = "time_ns,power_uw,energy_ticks,valid,launched\n";

TEST(SamplesFile, HasValidReadingsAndHowOftenTheProgramWasLaunched) {
  const auto folder = ScratchFolder::create("samples_file").value();
  const auto file = (folder.path() / "samples.csv").string();
  ASSERT_TRUE(write_file_atomically(
      file, std::string(kHead) + "1000,85000000,12,1,3\n2000,1,1,0,3\n3000,,15,1,3\n"));
  const auto samples = read_samples_file(file);
  ASSERT_TRUE(samples) << samples.error().text();
  EXPECT_EQ(samples->launches, 3);
  EXPECT_TRUE(samples->counts_energy());
  ASSERT_EQ(samples->series.readings.size(), 2u);
  EXPECT_EQ(samples->series.readings[0].power_uw, 85'000'000);
  EXPECT_EQ(samples->series.readings[1].power_uw, energy::kAbsent);
  EXPECT_EQ(samples->series.readings[1].ticks, 15);
}

// The driver leaves the ticks out where the chip has no energy counter.
TEST(SamplesFile, OfASensorWithoutACounterHasNoDynamicEnergy) {
  const auto folder = ScratchFolder::create("samples_file").value();
  const auto file = (folder.path() / "samples.csv").string();
  std::string text = kHead;
  for (int i = 0; i < 400; ++i) text += fmt::format("{},40000000,,1,1\n", i * 1'000'000);
  ASSERT_TRUE(write_file_atomically(file, text));
  EXPECT_FALSE(read_samples_file(file)->counts_energy());
  const auto sensed = sensed_run(file);
  ASSERT_FALSE(sensed);
  EXPECT_EQ(sensed.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::runner
