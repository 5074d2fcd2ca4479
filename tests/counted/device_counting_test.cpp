// Counting of a whole card while a program runs, through the stub of rocprofiler-sdk over the
// virtual GPU: its counts are those of the launches in the virtual GPU's own file, or they are
// missing with the reason, by release and by fault. The program never notices.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "stub_fixture.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/measure/counted/device_counting.hpp"

namespace ww::e2e {
namespace {

using measure::CounterDispatch;
using measure::DeviceCounting;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Counted {
  int exit_code{};
  std::vector<CounterDispatch> stretches;
  std::string trouble;  // at the end
  std::vector<std::string> warnings;
  double cpu_s{};

  [[nodiscard]] double total(const std::string& counter) const {
    double sum = 0;
    for (const CounterDispatch& stretch : stretches) {
      const auto found = stretch.counters.find(counter);
      if (found != stretch.counters.end()) sum += found->second;
    }
    return sum;
  }
};

class DeviceCounted : public OnTheStub {
 protected:
  [[nodiscard]] Result<Counted> count(const std::vector<std::string>& command) {
    keep_oracle();
    WW_ASSIGN(sdk, measure::find_counting_sdk());
    WW_ASSIGN(counting, DeviceCounting::prepare(
                            sdk, {"gfx90a", {"0000:03:00.0"}, std::chrono::milliseconds(50)}));
    ProcessRequest request;
    request.command = command;
    request.environment = counting.environment();
    WW_ASSIGN(ran, run_process(request));
    Counted counted;
    counted.exit_code = ran.exit_code;
    WW_ASSIGN(news, counting.poll());
    WW_ASSIGN(warnings, counting.warnings());
    counted.stretches = std::move(news.stretches);
    counted.trouble = news.trouble;
    counted.warnings = std::move(warnings);
    counted.cpu_s = counting.cpu_s();
    return counted;
  }
  [[nodiscard]] static double total(const Launches& launches, const std::string& counter) {
    double sum = 0;
    for (const auto& [id, launch] : launches) sum += launch.counters.at(counter);
    return sum;
  }
  const std::vector<std::string> counters_ = measure::device_counters("gfx90a");
};

TEST(DeviceCounters, FitIntoTheBlocksAndBeginWithTheL2) {
  EXPECT_THAT(measure::device_counters("gfx90a"),
              ::testing::ElementsAre("TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum",
                                     "TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum", "TCC_EA_WRREQ_sum",
                                     "TCC_EA_WRREQ_64B_sum", "TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
                                     "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"));
  for (const char* part : {"gfx908", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1200"}) {
    std::map<std::string, int> blocks;
    const auto counters = measure::device_counters(part);
    EXPECT_FALSE(counters.empty()) << part;
    for (const std::string& name : counters) ++blocks[name.substr(0, name.find('_'))];
    for (const auto& [block, count] : blocks) EXPECT_LE(count, 4) << part << " " << block;
  }
  EXPECT_THAT(measure::device_counters("sm_90"), IsEmpty());
}

// --- releases and faults
// --------------------------------------------------------------------------

// Why nothing is counted, by fault.
const std::map<std::string, std::string> kNothing = {
    {"zeros", "every counter is 0"},
    {"denied", "permission denied"},
    {"sample_denied", "permission denied"},
    {"unset_samples", "returns samples that it did not set"},
    {"hang_on_sample", "did not return from a sample"},
    {"conflict", "another service"},
    {"busy_at_start", "does not count the device"}};

using ReleaseAndFault = std::tuple<std::string, std::string>;
class EveryReleaseOfTheDevice : public DeviceCounted,
                                public ::testing::WithParamInterface<ReleaseAndFault> {};

TEST_P(EveryReleaseOfTheDevice, CountsWhatTheLaunchesCountedOrGivesTheReason) {
  const auto& [release, fault] = GetParam();
  install(release);
  set("WW_STUB_SDK_FAULTS", fault);
  const auto counted = count({program("counted_processes"), "steady", "400"});
  ASSERT_TRUE(counted) << counted.error().text();
  EXPECT_EQ(counted->exit_code, 0);
  const auto launches = expected();
  EXPECT_GT(launches.size(), 3U);  // the program ran to its end
  if (const auto nothing = kNothing.find(fault); nothing != kNothing.end()) {
    EXPECT_THAT(counted->trouble, HasSubstr(nothing->second));
    for (const std::string& counter : counters_) EXPECT_EQ(counted->total(counter), 0);
    return;
  }
  EXPECT_EQ(counted->trouble, "");
  for (const std::string& counter : counters_) {
    if (fault == "two_a_block" && counted->stretches.front().missing.contains(counter)) continue;
    if (fault == "reset") {
      EXPECT_LE(counted->total(counter), total(launches, counter));
    } else {
      EXPECT_EQ(counted->total(counter), total(launches, counter)) << counter;
    }
  }
  EXPECT_EQ(counted->stretches.front().missing.size(), fault == "two_a_block" ? 4U : 0U);
  if (fault == "reset") {
    EXPECT_THAT(counted->warnings, Contains(HasSubstr("counters fell 1 times")));
  } else if (fault == "lost_instance") {
    EXPECT_THAT(counted->warnings, Contains(HasSubstr("lacked instances")));
  } else {
    EXPECT_THAT(counted->warnings, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sdk, EveryReleaseOfTheDevice,
    ::testing::Combine(::testing::Values("0.5", "0.6", "1.0", "1.1", "1.3"),
                       ::testing::Values("", "lost_instance", "eperm", "ebusy", "hsa_not_loaded",
                                         "many_instances", "hang_on_stop", "ptl", "reset",
                                         "two_a_block", "zeros", "denied", "sample_denied",
                                         "unset_samples", "hang_on_sample", "conflict",
                                         "busy_at_start")),
    [](const auto& of) {
      std::string name = std::get<0>(of.param) + "_" +
                         (std::get<1>(of.param).empty() ? "right" : std::get<1>(of.param));
      std::ranges::replace(name, '.', '_');
      return name;
    });

// --- how programs begin and end
// -------------------------------------------------------------------

TEST_F(DeviceCounted, RowsComeWhileTheProgramRuns) {
  install("1.3");
  keep_oracle();
  const auto sdk = measure::find_counting_sdk();
  ASSERT_TRUE(sdk) << sdk.error().text();
  auto counting = DeviceCounting::prepare(*sdk, {"gfx90a", {}, std::chrono::milliseconds(50)});
  ASSERT_TRUE(counting) << counting.error().text();
  const auto before = counting->poll();
  ASSERT_TRUE(before);
  EXPECT_THAT(before->trouble, HasSubstr("has not used the device yet"));
  std::thread program_runs([&] {
    ProcessRequest request;
    request.command = {program("counted_processes"), "steady", "1500"};
    request.environment = counting->environment();
    EXPECT_TRUE(run_process(request));
  });
  std::size_t polls_with_rows = 0;
  double sum = 0;
  const auto take = [&] {
    const auto news = counting->poll();
    ASSERT_TRUE(news) << news.error().text();
    polls_with_rows += !news->stretches.empty();
    for (const auto& stretch : news->stretches) sum += stretch.counters.at("TCP_TCC_READ_REQ_sum");
  };
  for (int i = 0; i < 15; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    take();
  }
  program_runs.join();
  EXPECT_GE(polls_with_rows, 3U);
  take();
  EXPECT_EQ(sum, total(expected(), "TCP_TCC_READ_REQ_sum"));
}

TEST_F(DeviceCounted, AnotherCardsRowsAreNotTaken) {
  install("1.0");
  const auto sdk = measure::find_counting_sdk();
  ASSERT_TRUE(sdk);
  auto counting =
      DeviceCounting::prepare(*sdk, {"gfx90a", {"0000:c3:00.0"}, std::chrono::milliseconds(50)});
  ASSERT_TRUE(counting);
  ProcessRequest request;
  request.command = {program("counted_processes")};
  request.environment = counting->environment();
  ASSERT_TRUE(run_process(request));
  const auto news = counting->poll();
  ASSERT_TRUE(news);
  EXPECT_THAT(news->stretches, IsEmpty());
  EXPECT_THAT(news->trouble, HasSubstr("sees another device in the program: gfx90a"));
}

TEST_F(DeviceCounted, PassesTheExitCodeOn) {
  install("1.0");
  const auto counted = count({program("counted_processes"), "code"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 7);
  EXPECT_EQ(counted->total("TCP_TCC_READ_REQ_sum"), 4 * 1024);
}

TEST_F(DeviceCounted, AKilledProgramKeepsItsLastSample) {
  install("1.3");
  const auto counted = count({program("counted_processes"), "kill"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 137);
  EXPECT_EQ(counted->total("TCP_TCC_READ_REQ_sum"), 4 * 1024);  // it rests 200 ms before its end
  EXPECT_THAT(counted->warnings, Contains(HasSubstr("ended without a word")));
}

TEST_F(DeviceCounted, AChildOfForkIsSilent) {
  install("1.1");
  const auto counted = count({program("counted_processes"), "fork"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 5);
  EXPECT_EQ(counted->total("TCP_TCC_READ_REQ_sum"), 6 * 1024);
  EXPECT_THAT(counted->warnings, IsEmpty());
}

TEST_F(DeviceCounted, CountsEachThreadsLaunches) {
  install("1.0");
  const auto counted = count({program("counted_processes"), "threads"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->total("TCP_TCC_READ_REQ_sum"), total(expected(), "TCP_TCC_READ_REQ_sum"));
}

// Each would count what the other moves.
TEST_F(DeviceCounted, OneProcessCountsAtATime) {
  install("1.0");
  const std::string one = program("counted_processes") + " steady 300";
  const auto counted = count({"sh", "-c", one + " & " + one + " & wait; " + one + "; exit 3"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 3);
  std::map<std::string, std::pair<double, double>> times;  // by process
  for (const CounterDispatch& stretch : counted->stretches) {
    const auto begin = static_cast<double>(*stretch.start_ns);
    const double end = begin + *stretch.duration_ns;
    const auto [of, is_new] = times.try_emplace(stretch.process, begin, end);
    if (!is_new) of->second.second = std::max(of->second.second, end);
  }
  ASSERT_GE(times.size(), 2U);
  for (const auto& [one_process, one_time] : times) {
    for (const auto& [other, other_time] : times) {
      if (one_process == other) continue;
      EXPECT_TRUE(one_time.second <= other_time.first || other_time.second <= one_time.first);
    }
  }
  EXPECT_THAT(counted->warnings, Contains(HasSubstr("one after another")));
}

// Ranks that are forked before any of them uses the device: one of them counts, and has at least
// its own launches.
TEST_F(DeviceCounted, OneOfSeveralRanksCounts) {
  install("1.3");
  const auto counted = count({program("counted_processes"), "ranks"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 0 + 1 + 2);
  EXPECT_GE(counted->total("TCP_TCC_READ_REQ_sum"), 4 * 1024);
  EXPECT_LE(counted->total("TCP_TCC_READ_REQ_sum"), (4 + 5 + 6) * 1024);
}

TEST_F(DeviceCounted, CountsAProgramThatAnotherThreadEnds) {
  install("1.3");
  const auto counted = count({program("counted_processes"), "thread_exit"});
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exit_code, 6);
  EXPECT_EQ(counted->total("TCP_TCC_READ_REQ_sum"), 8 * 1024);
}

TEST_F(DeviceCounted, AProgramWithoutTheDeviceIsNoZero) {
  install("1.0");
  const auto counted = count({program("counted_processes"), "none"});
  ASSERT_TRUE(counted);
  EXPECT_THAT(counted->trouble, HasSubstr("has not used the device"));
  EXPECT_THAT(counted->warnings, Contains(HasSubstr("loaded wirewatt's tool library")));
}

// A thread that wakes 20 times a second for a sample of 3 ms in which it waits.
TEST_F(DeviceCounted, SamplingTakesLittleOfACore) {
  install("1.3");
  const auto counted = count({program("counted_processes"), "steady", "2000"});
  ASSERT_TRUE(counted);
  EXPECT_GT(counted->cpu_s, 0);
  EXPECT_LT(counted->cpu_s, 0.1 * 2);
}

}  // namespace
}  // namespace ww::e2e
