#include "ww/session/launch_tables.hpp"

#include <gmock/gmock.h>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LaunchTables : public testing::Test {
 protected:
  Result<RecordedLaunches> read(const std::string& launches, const std::string& power,
                                const std::string& watts = "power_w") {
    const std::string of_launches = (folder_.path() / "launches.csv").string();
    const std::string of_power = (folder_.path() / "power.csv").string();
    EXPECT_TRUE(write_file_atomically(of_launches, launches));
    EXPECT_TRUE(write_file_atomically(of_power, power));
    return read_recorded_launches(of_launches, of_power, watts);
  }
  ScratchFolder folder_ = ScratchFolder::create("launch_tables").value();
};

TEST_F(LaunchTables, TimesAreNanosecondsSinceTheFirstLaunchInAnyUnit) {
  const auto read = this->read("kernel,start_ms,end_ms\ntwo,1010,1012.5\none,1000,1001\n",
                               "time_s,power_w\n0.999,40\n1.002,41.5\n");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(read->log.kernels(), ElementsAre("one", "two"));
  ASSERT_EQ(read->log.launches().size(), 2U);
  EXPECT_EQ(read->log.launches()[0].start_ns, 0);
  EXPECT_EQ(read->log.launches()[0].end_ns, 1'000'000);
  EXPECT_EQ(read->log.launches()[1].start_ns, 10'000'000);
  EXPECT_EQ(read->log.launches()[1].end_ns, 12'500'000);
  ASSERT_EQ(read->polls.readings.size(), 2U);
  EXPECT_EQ(read->polls.readings[0].time_ns, -1'000'000);
  EXPECT_EQ(read->polls.readings[1].time_ns, 2'000'000);
  EXPECT_EQ(read->polls.readings[1].power_uw, 41'500'000);
}

TEST_F(LaunchTables, AProfilersKernelTraceIsInNanoseconds) {
  const auto read = this->read("Kernel_Name,Start_Timestamp,End_Timestamp\ncopy,5000,7000\n",
                               "time_us,gpu_w\n4,40\n6,42\n", "gpu_w");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(read->log.kernels(), ElementsAre("copy"));
  EXPECT_EQ(read->log.launches()[0].end_ns, 2000);
  EXPECT_EQ(read->polls.readings[0].time_ns, -1000);
}

TEST_F(LaunchTables, TimeThatRunsBackwardsIsNamedByItsLine) {
  const auto read = this->read("kernel,start_s,end_s\none,0,1\n", "time_s,power_w\n2,40\n1,40\n");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("power.csv:3"));
}

TEST_F(LaunchTables, AColumnOfTimesWithoutAUnitIsRefused) {
  const auto read = this->read("kernel,start,end\none,0,1\n", "time_s,power_w\n2,40\n");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("start_s, start_ms, start_us or start_ns"));
}

}  // namespace
}  // namespace ww::session
