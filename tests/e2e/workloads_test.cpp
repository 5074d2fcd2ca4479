// The papers' applications on the virtual GPU: results and traffic of all of them, as users run it.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <thread>

#include "process.hpp"
#include "recording.hpp"
#include "ww/core/process.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Workloads, AllPassAtTheSmallSize) {
  // The fixture fails where the command does.
  const json result = read_recording("workloads").printed;
  ASSERT_TRUE(result.is_object());
  EXPECT_TRUE(result.at("virtual").get<bool>());
  EXPECT_EQ(result.at("size"), "small");
  std::set<std::string> names;
  for (const json& workload : result.at("workloads")) {
    const auto name = workload.at("name").get<std::string>();
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(workload.at("status"), "pass") << name << ": " << workload.at("reason");
    EXPECT_GT(workload.at("l1_l2_write_bytes").get<double>() +
                  workload.at("l1_l2_atomic_bytes").get<double>(),
              0)
        << name;
  }
  const json listed = run({wirewatt(), "workloads", "list", "--json"}).json().at("workloads");
  EXPECT_GE(listed.size(), 36U);
  for (const json& workload : listed) {
    EXPECT_TRUE(names.contains(workload.at("name").get<std::string>())) << workload;
  }
}

TEST(Workloads, TheTableSaysThatTheDeviceIsVirtual) {
  const auto finished = run({wirewatt(), "workloads", "run", "bfs"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out.find("virtual:w9100 (virtual, not a measurement), inputs of size small\n"),
            0U)
      << finished.out;
}

// The workloads that run the most kinds of instructions.
TEST(Workloads, PassAsCodeOfOtherInstructionSets) {
  std::vector<const char*> devices{"virtual:vega10", "virtual:mi210", "virtual:rx6800"};
  if (!find_program("clang-19").empty() && !find_program("ld.lld-19").empty())
    devices.insert(devices.end(), {"virtual:mi300x_cpx", "virtual:rx7900"});
  for (const char* device : devices) {
    const auto finished = run({wirewatt(), "workloads", "run", "blackscholes", "bfs", "comd",
                               "dxtc", "montecarlo", "scan", "swat", "smallpt", "sdk-histo",
                               "sdk-montecarlo", "--device", device, "--json"});
    ASSERT_EQ(finished.exit_code, 0) << device << finished.out << finished.err;
    for (const json& workload : finished.json().at("workloads")) {
      EXPECT_EQ(workload.at("status"), "pass")
          << device << ' ' << workload.at("name") << ": " << workload.at("reason");
    }
  }
}

// The compile worker outlives the program by an instant, and takes its files with it.
TEST(Workloads, LeaveNoTemporaryFiles) {
  if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
    GTEST_SKIP() << "the worker keeps files for clang-19 alone, which is not here, or lld-19";
  }
  const TemporaryFolder folder;
  for (int time = 0; time < 5; ++time) {
    const auto finished = run(
        {wirewatt(), "workloads", "run", "nn", "--size", "small", "--device", "virtual:mi300x_cpx"},
        {{"TMPDIR", folder.path().string()}, {"WIREWATT_COMPILE_CACHE", "0"}});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }
  for (int tries = 0; tries < 200 && !fs::is_empty(folder.path()); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    ADD_FAILURE() << entry.path() << " was left";
  }
}

TEST(Workloads, GiveTheSameTrafficWithOneThreadAndTwo) {
  const std::vector<std::string> command{wirewatt(), "workloads", "run",   "bfs",
                                         "swat",     "comd",      "--json"};
  const auto traffic = [&](const char* threads) {
    const auto finished = run(command, {{"WIREWATT_THREADS", threads}});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    json workloads = finished.json().at("workloads");
    for (json& workload : workloads) workload.erase("seconds");
    return workloads;
  };
  EXPECT_EQ(traffic("1"), traffic("2"));
}

TEST(Workloads, AreListedWithTheirPaperAndSuite) {
  const auto finished = run({wirewatt(), "workloads", "list", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json entries = finished.json().at("workloads");
  EXPECT_GE(entries.size(), 45U);
  int of_table_iii = 0;
  for (const json& entry : entries) {
    of_table_iii +=
        entry.at("paper").get<std::string>().find("iiswc16") != std::string::npos ? 1 : 0;
    for (const auto* key : {"name", "paper", "suite", "stresses"}) {
      EXPECT_FALSE(entry.at(key).get<std::string>().empty()) << entry;
    }
  }
  EXPECT_EQ(of_table_iii, 23);
}

TEST(Workloads, ThoseOfTableIIIHaveSizesThatGrow) {
  const auto finished = run({wirewatt(), "workloads", "list", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const json& entry : finished.json().at("workloads")) {
    if (entry.at("paper").get<std::string>().find("iiswc16") == std::string::npos) continue;
    const json sizes = entry.at("sizes");
    EXPECT_FALSE(sizes.at("of").get<std::string>().empty()) << entry;
    const auto at = sizes.at("at").get<std::vector<std::size_t>>();
    ASSERT_EQ(at.size(), 4U) << entry;
    EXPECT_LT(at[0], at[3]) << entry;  // small and suite
    EXPECT_LE(at[0], at[2]) << entry;  // small and paper
  }
}

TEST(Workloads, ASizeByNumberMovesAsManyBytesAsItSays) {
  const auto moved = [](const char* size) {
    const auto finished =
        run({wirewatt(), "workloads", "run", "sdk-histo", "--size", size, "--json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("workloads")[0].at("l1_l2_read_bytes").get<double>();
  };
  EXPECT_EQ(moved("2097152"), 4.0 * 2097152);
  EXPECT_EQ(moved("small"), moved("1048576"));
  const auto refused = run({wirewatt(), "workloads", "run", "sdk-histo", "--size", "5"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("1048576"), std::string::npos) << refused.err;
  EXPECT_EQ(run({wirewatt(), "workloads", "run", "dct", "--size", "4096"}).exit_code, 2);
}

TEST(Workloads, WhatCannotBeRunIsNamed) {
  const auto unknown = run({wirewatt(), "workloads", "run", "no-such-workload"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("no-such-workload"), std::string::npos) << unknown.err;
  EXPECT_EQ(run({wirewatt(), "workloads", "run", "dct", "--size", "huge"}).exit_code, 2);
  EXPECT_EQ(run({wirewatt(), "workloads", "run"}).exit_code, 2);
  EXPECT_EQ(run({wirewatt(), "workloads", "run", "dct", "--all"}).exit_code, 2);
}

}  // namespace
}  // namespace ww::e2e
