// Counting from inside a program, through the stub of rocprofiler-sdk over the virtual GPU: the
// counts are those that the virtual GPU writes into its own file, or missing with the reason, by
// release and by fault. The program never notices.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "stub_fixture.hpp"
#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::e2e {
namespace {

using measure::CounterDispatch;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPart = "gfx90a";

class CountedInProcess : public OnTheStub {
 protected:
  // Counts a program; the virtual GPU writes its own counts beside.
  [[nodiscard]] Result<measure::InProcessProfile> count(const std::vector<std::string>& command,
                                                        const std::string& part = kPart) {
    keep_oracle();
    WW_ASSIGN(sdk, measure::find_counting_sdk());
    measure::InProcessRequest request;
    request.architecture = part;
    request.command = command;
    request.counters = part == kPart ? kCounters : std::vector<std::string>{};
    request.quiet = true;
    return measure::profile_in_process(sdk, request);
  }
  // Which counters of a launch differ from the virtual GPU's, and which are missing.
  static std::string difference(const CounterDispatch& is, const CounterDispatch& should,
                                bool named = true) {
    std::string text;
    if (named && is.kernel != should.kernel) text += is.kernel + " for " + should.kernel + "; ";
    if (is.grid_size != should.grid_size) text += "grid; ";
    for (const std::string& counter : kCounters) {
      const auto found = is.counters.find(counter);
      if (found == is.counters.end()) {
        text += is.missing.contains(counter) ? "" : counter + " is lost without a reason; ";
      } else if (found->second != should.counters.at(counter)) {
        text += counter + " differs; ";
      }
    }
    return text;
  }
};

// --- releases and faults
// --------------------------------------------------------------------------

using ReleaseAndFault = std::tuple<std::string, std::string>;
class EveryRelease : public CountedInProcess,
                     public ::testing::WithParamInterface<ReleaseAndFault> {
 protected:
  [[nodiscard]] static std::string release() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::string fault() { return std::get<1>(GetParam()); }
};

TEST_P(EveryRelease, CountsWhatTheDeviceCountedOrGivesTheReason) {
  install(release());
  set("WW_STUB_SDK_FAULTS", fault());
  const auto profile = count({program("hip_programs"), "streams"});
  if (fault() == "denied" || fault() == "conflict") {
    ASSERT_FALSE(profile);
    EXPECT_THAT(profile.error().text(),
                HasSubstr(fault() == "denied" ? "permission denied" : "another service"));
    EXPECT_EQ(expected().size(), 5U);  // the program ran to its end
    return;
  }
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 0);
  const auto launches = expected();
  ASSERT_EQ(profile->counters.dispatches.size(), 5U);
  EXPECT_EQ(profile->runs, fault() == "two_a_block" ? 3 : 1);
  std::size_t missing = 0;
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    const auto should = launches.find({dispatch.process, dispatch.id});
    ASSERT_NE(should, launches.end());
    EXPECT_EQ(difference(dispatch, should->second, fault() != "unnamed"), "");
    missing += dispatch.missing.size();
    if (dispatch.duration_ns) {
      EXPECT_EQ(dispatch.duration_ns, should->second.duration_ns);
      // The clock of the library's times against that of the sensors is read, so within a
      // microsecond.
      EXPECT_NEAR(static_cast<double>(*dispatch.start_ns),
                  static_cast<double>(*should->second.start_ns), 1000);
    }
  }
  const std::size_t all = kCounters.size();
  const std::map<std::string, std::size_t> missing_by_fault = {
      {"lost", 2 * all}, {"lost_instance", 3}, {"zeros", 5 * all}};
  const auto expected_missing = missing_by_fault.find(fault());
  EXPECT_EQ(missing, expected_missing == missing_by_fault.end() ? 0 : expected_missing->second);
}

INSTANTIATE_TEST_SUITE_P(
    Sdk, EveryRelease,
    ::testing::Combine(::testing::Values("0.5", "0.6", "1.0", "1.1", "1.3"),
                       ::testing::Values("", "late", "lost", "lost_instance", "eperm", "ebusy",
                                         "hang_on_stop", "ptl", "many_instances", "zeros",
                                         "unnamed", "two_a_block", "denied", "conflict")),
    [](const auto& of) {
      std::string name = std::get<0>(of.param) + "_" +
                         (std::get<1>(of.param).empty() ? "right" : std::get<1>(of.param));
      std::ranges::replace(name, '.', '_');
      return name;
    });

// --- releases that are refused
// --------------------------------------------------------------------

TEST_F(CountedInProcess, RefusesTheFirstBetaByName) {
  install("0.4");
  const auto profile = count({program("counted_processes")});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("0.4.0"));
  EXPECT_THAT(profile.error().text(), HasSubstr("ROCm 6.3.2"));
  EXPECT_TRUE(expected().empty());  // nothing ran
}

TEST_F(CountedInProcess, RefusesRocm631ByName) {
  install("0.5");
  fs::create_directories(rocm() / ".info");
  std::ofstream(rocm() / ".info/version") << "6.3.1-48\n";
  const auto profile = count({program("counted_processes")});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("ROCm 6.3.1-48"));
}

TEST_F(CountedInProcess, RefusesAnInterfaceThatItDoesNotKnow) {
  install("2.0");
  const auto profile = count({program("counted_processes")});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("newer"));
}

TEST_F(CountedInProcess, WithoutTheSdkNothingRuns) {
  fs::create_directories(rocm() / "lib");
  const auto profile = count({program("counted_processes")});
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ErrorCode::missing_dependency);
  EXPECT_TRUE(expected().empty());
}

// --- how programs begin and end
// -------------------------------------------------------------------

TEST_F(CountedInProcess, PassesTheExitCodeOn) {
  install("1.0");
  const auto profile = count({program("counted_processes"), "code"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 7);
  EXPECT_EQ(profile->counters.dispatches.size(), 4U);
}

struct Ending {
  const char* way;
  int exit_code;
};
class EveryEnding : public CountedInProcess, public ::testing::WithParamInterface<Ending> {};

TEST_P(EveryEnding, KeepsWhatEndedBefore) {
  install("1.3");
  const auto profile = count({program("counted_processes"), GetParam().way});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, GetParam().exit_code);
  // The last record may be under way when the process ends.
  EXPECT_GE(profile->counters.dispatches.size(), 1U);
  EXPECT_LE(profile->counters.dispatches.size(), 4U);
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    EXPECT_EQ(dispatch.counters.at("TCP_TCC_READ_REQ_sum"), 1024);
    EXPECT_EQ(dispatch.counters.size(), kCounters.size());
  }
  EXPECT_THAT(profile->warnings, ::testing::Contains(HasSubstr("ended without a word")));
}

INSTANTIATE_TEST_SUITE_P(Program, EveryEnding,
                         ::testing::Values(Ending{"_exit", 8}, Ending{"abort", 134},
                                           Ending{"kill", 137}, Ending{"term", 143}),
                         [](const auto& of) {
                           return std::string(of.param.way[0] == '_' ? "exit_at_once"
                                                                     : of.param.way);
                         });

TEST_F(CountedInProcess, AChildOfForkIsSilent) {
  install("1.1");
  const auto profile = count({program("counted_processes"), "fork"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 5);
  EXPECT_EQ(profile->counters.dispatches.size(), 6U);
  EXPECT_THAT(profile->warnings, ::testing::IsEmpty());
}

TEST_F(CountedInProcess, AProgramThatBecomesAnotherIsCountedTwice) {
  install("1.0");
  const auto profile = count({program("counted_processes"), "exec"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_GE(profile->counters.dispatches.size(), 5U);
}

TEST_F(CountedInProcess, CountsEachThreadsLaunches) {
  install("1.0");
  const auto profile = count({program("counted_processes"), "threads"});
  ASSERT_TRUE(profile) << profile.error().text();
  const auto launches = expected();
  EXPECT_EQ(launches.size(), 36U);
  ASSERT_EQ(profile->counters.dispatches.size(), 36U);
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    EXPECT_EQ(difference(dispatch, launches.at({dispatch.process, dispatch.id})), "");
  }
}

TEST_F(CountedInProcess, CountsEachOfSeveralProcesses) {
  install("1.0");
  const std::string one = program("counted_processes");
  const auto profile = count({"sh", "-c", one + " & " + one + " & wait; exit 3"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 3);
  EXPECT_EQ(profile->counters.dispatches.size(), 8U);
}

// A launcher whose ranks begin as copies of it and use the device first in themselves.
TEST_F(CountedInProcess, CountsRanksThatAreForkedBeforeTheyUseTheDevice) {
  install("1.3");
  const auto profile = count({program("counted_processes"), "ranks"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 0 + 1 + 2);
  const auto launches = expected();
  ASSERT_EQ(profile->counters.dispatches.size(), 4U + 5U + 6U);
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    EXPECT_EQ(difference(dispatch, launches.at({dispatch.process, dispatch.id})), "");
  }
  EXPECT_THAT(profile->warnings, ::testing::IsEmpty());
}

TEST_F(CountedInProcess, CountsAProgramAndWhatItStarts) {
  install("1.3");
  const auto profile = count({program("counted_processes"), "spawn"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 7);
  EXPECT_EQ(profile->counters.dispatches.size(), 8U);
  EXPECT_THAT(profile->warnings, ::testing::IsEmpty());
}

TEST_F(CountedInProcess, CountsAProgramThatAnotherThreadEnds) {
  install("1.3");
  const auto profile = count({program("counted_processes"), "thread_exit"});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->exit_code, 6);
  EXPECT_EQ(profile->counters.dispatches.size(), 8U);
}

TEST_F(CountedInProcess, AProgramWithoutTheDeviceIsNoZero) {
  install("1.0");
  const auto profile = count({program("counted_processes"), "none"});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("nothing was counted"));
}

// --- Radeon
// -----------------------------------------------------------------------------------------

class RadeonInProcess : public CountedInProcess {
 protected:
  void SetUp() override {
    CountedInProcess::SetUp();
    set("WIREWATT_CHIP", "rx7900");
    install("1.1");
  }
  [[nodiscard]] static measure::SegmentBytes of(const measure::InProcessProfile& profile,
                                                const std::string& part, measure::Segment segment) {
    const auto all = measure::segment_bytes(part, profile.counters.dispatches.front());
    return *std::ranges::find(all, segment, &measure::SegmentBytes::segment);
  }
};

TEST_F(RadeonInProcess, ZerosNameThePerformanceLevel) {
  set("WW_STUB_SDK_FAULTS", "zeros");
  const auto profile = count({program("counted_processes")}, "gfx1100");
  ASSERT_TRUE(profile) << profile.error().text();
  const auto bytes = of(*profile, "gfx1100", measure::Segment::l1_l2);
  EXPECT_FALSE(bytes.bytes);
  EXPECT_THAT(bytes.reason, HasSubstr("power_dpm_force_performance_level"));
}

// rocm-systems issue 2352: four of the eight parts of the L2 are counted, on these parts alone.
TEST_F(RadeonInProcess, AHalvedL2IsALowerBound) {
  set("WW_STUB_SDK_AGENT", "gfx1151");
  const auto whole = count({program("counted_processes")}, "gfx1151");
  ASSERT_TRUE(whole) << whole.error().text();
  set("WW_STUB_SDK_FAULTS", "half_gl2c");
  const auto half = count({program("counted_processes")}, "gfx1151");
  ASSERT_TRUE(half) << half.error().text();
  const auto all = of(*whole, "gfx1151", measure::Segment::l1_l2);
  const auto bytes = of(*half, "gfx1151", measure::Segment::l1_l2);
  ASSERT_TRUE(all.bytes && bytes.bytes);
  EXPECT_LT(*bytes.bytes, *all.bytes);
  EXPECT_EQ(bytes.quality, measure::MapQuality::lower_bound);
  EXPECT_THAT(bytes.reason, HasSubstr("twice as many"));
}

// rocm-systems issues 7893 and 8022: releases that lack the requests of 256 B.
TEST_F(RadeonInProcess, ReadsWithoutTheirLargestRequestsAreNoFigure) {
  set("WW_STUB_SDK_AGENT", "gfx1200");
  set("WW_STUB_SDK_ABSENT", "GL2C_EA_RDREQ_256B");
  const auto profile = count({program("counted_processes")}, "gfx1200");
  ASSERT_TRUE(profile) << profile.error().text();
  const auto bytes = of(*profile, "gfx1200", measure::Segment::l2_memory_read);
  EXPECT_TRUE(!bytes.bytes || bytes.quality == measure::MapQuality::lower_bound) << bytes.reason;
  EXPECT_THAT(bytes.reason, HasSubstr("256B"));
}

// --- what else is on the machine
// ------------------------------------------------------------------

TEST_F(CountedInProcess, ACounterThatTheReleaseLacksIsMissing) {
  install("1.0");
  set("WW_STUB_SDK_ABSENT", "TCC_EA_RDREQ_32B");
  const auto profile = count({program("counted_processes")});
  ASSERT_TRUE(profile) << profile.error().text();
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    EXPECT_THAT(dispatch.missing.at("TCC_EA_RDREQ_32B_sum"), HasSubstr("has no such counter"));
    EXPECT_EQ(dispatch.counters.size(), kCounters.size() - 1);
  }
}

TEST_F(CountedInProcess, FindsTheSdkWithoutItsPlainName) {
  install("1.0");
  fs::remove(rocm() / "lib/librocprofiler-sdk.so");
  const auto profile = count({program("counted_processes")});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->counters.dispatches.size(), 4U);
}

TEST_F(CountedInProcess, CallsTheCopyThatLoadedIt) {
  install("1.0");
  fs::create_directories(folder_.path() / "wheel");
  const auto own = folder_.path() / "wheel/librocprofiler-sdk.so.1";
  fs::copy(rocm() / "lib/librocprofiler-sdk.so.1", own);
  set("LD_PRELOAD", own.string());
  const auto profile = count({program("counted_processes")});
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_EQ(profile->counters.dispatches.size(), 4U);
}

TEST_F(CountedInProcess, AToolThatCannotBeLoadedIsRefused) {
  EXPECT_TRUE(measure::check_loadable(build_folder() / "lib/libwirewatt-rocprofiler.so"));
  const auto broken = folder_.path() / "broken.so";
  std::ofstream(broken) << std::string(4096, 'x');  // more than the head of a library
  const auto refused = measure::check_loadable(broken);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("cannot be loaded by the programs of this machine"));
  EXPECT_THAT(refused.error().text(), HasSubstr("invalid ELF header"));
}

TEST_F(CountedInProcess, KeepsTheUsersTools) {
  EXPECT_EQ(measure::tool_list("", "/lib/w.so"), "/lib/w.so:");
  EXPECT_EQ(measure::tool_list("/a.so", "/lib/w.so"), "/a.so:/lib/w.so:");
  EXPECT_EQ(measure::tool_list("/a.so:/b.so:", "/lib/w.so"), "/a.so:/b.so:/lib/w.so:");
}

}  // namespace
}  // namespace ww::e2e
