#include "ww/sweep/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <thread>

namespace ww::sweep {
namespace {

// A command line of a word and a number.
int act(const std::vector<std::string>& arguments) {
  const auto& what = arguments.at(0);
  const int number = std::stoi(arguments.at(1));
  if (what == "print") {
    std::printf("%d %d", number, ::getpid());
    std::fprintf(stderr, "said %d", number);
  }
  if (what == "long") std::printf("%s", std::string(static_cast<std::size_t>(number), 'x').c_str());
  if (what == "crash") ::raise(SIGSEGV);
  if (what == "kill") ::raise(SIGKILL);
  if (what == "quit") ::_exit(number);
  if (what == "hang") {
    for (;;) ::pause();
  }
  if (what == "eat") {
    std::vector<char> memory(static_cast<std::size_t>(number) << 20, 1);
    for (;;) ::pause();
  }
  if (what == "feed") {  // a child that eats
    const pid_t child = ::fork();
    if (child == 0) return act({"eat", arguments.at(1)});
    for (;;) ::pause();
  }
  return what == "fail" ? number : 0;
}

std::map<std::size_t, Finished> run_all(const PoolOptions& options,
                                        const std::vector<std::vector<std::string>>& jobs) {
  std::map<std::size_t, Finished> endings;
  std::size_t next = 0;
  const auto status = run_pool(
      options, act,
      [&]() -> std::optional<Job> {
        if (next == jobs.size()) return std::nullopt;
        const auto id = next++;
        return Job{id, jobs[id]};
      },
      [&](Finished&& one) -> Status {
        const auto id = one.id;
        EXPECT_TRUE(endings.emplace(id, std::move(one)).second) << "twice: " << id;
        return {};
      });
  EXPECT_TRUE(status) << status.error().text();
  return endings;
}

TEST(Pool, RunsEachJobOnceAndKeepsWhatItPrints) {
  for (const unsigned reuse : {1U, 7U}) {
    std::vector<std::vector<std::string>> jobs;
    for (int i = 0; i < 40; ++i) jobs.push_back({"print", std::to_string(i)});
    const auto endings = run_all({.slots = 3, .points_per_process = reuse}, jobs);
    ASSERT_EQ(endings.size(), jobs.size());
    std::map<std::string, unsigned> per_process;
    for (const auto& [id, one] : endings) {
      EXPECT_EQ(one.ending.exit_code, 0);
      EXPECT_EQ(one.ending.err, "said " + std::to_string(id));
      const auto space = one.ending.out.find(' ');
      EXPECT_EQ(one.ending.out.substr(0, space), std::to_string(id));
      ++per_process[one.ending.out.substr(space)];
    }
    for (const auto& [pid, count] : per_process) EXPECT_LE(count, reuse);
  }
}

TEST(Pool, TakesLongOutput) {
  const auto endings = run_all({.slots = 2, .points_per_process = 5},
                               {{"long", "3000000"}, {"long", "5"}, {"long", "2000000"}});
  EXPECT_EQ(endings.at(0).ending.out.size(), 3'000'000U);
  EXPECT_EQ(endings.at(1).ending.out.size(), 5U);
  EXPECT_EQ(endings.at(2).ending.out.size(), 2'000'000U);
}

TEST(Pool, ACrashTakesNothingElseWithIt) {
  std::vector<std::vector<std::string>> jobs;
  for (int i = 0; i < 30; ++i) jobs.push_back({i % 10 == 4 ? "crash" : "print", std::to_string(i)});
  const auto endings = run_all({.slots = 2, .points_per_process = 100}, jobs);
  ASSERT_EQ(endings.size(), 30U);
  for (const auto& [id, one] : endings) {
    EXPECT_EQ(one.ending.signal, id % 10 == 4 ? SIGSEGV : 0) << id;
  }
}

TEST(Pool, AKilledProcessIsTriedThreeTimes) {
  const auto endings = run_all({.slots = 1}, {{"kill", "0"}, {"print", "1"}});
  EXPECT_EQ(endings.at(0).ending.signal, SIGKILL);
  EXPECT_EQ(endings.at(0).attempts, 3);
  EXPECT_EQ(endings.at(1).attempts, 1);
}

TEST(Pool, EndsWhatPassesItsTimeLimit) {
  const auto endings =
      run_all({.slots = 2, .time_limit_s = 0.2}, {{"hang", "0"}, {"print", "1"}, {"print", "2"}});
  EXPECT_TRUE(endings.at(0).ending.timed_out);
  EXPECT_FALSE(endings.at(1).ending.timed_out);
  EXPECT_EQ(endings.size(), 3U);
}

TEST(Pool, EndsWhatPassesItsMemoryLimit) {
  const auto endings = run_all({.slots = 1, .time_limit_s = 60, .memory_mib = 200},
                               {{"eat", "400"}, {"print", "1"}});
  EXPECT_TRUE(endings.at(0).ending.over_memory);
  EXPECT_EQ(endings.at(1).ending.exit_code, 0);
}

TEST(Pool, CountsTheMemoryOfWhatAPointStarts) {
  const auto endings = run_all({.slots = 1, .time_limit_s = 60, .memory_mib = 200},
                               {{"feed", "400"}, {"print", "1"}});
  EXPECT_TRUE(endings.at(0).ending.over_memory);
  EXPECT_GT(endings.at(0).peak_mib, 200);
  EXPECT_EQ(endings.at(1).ending.exit_code, 0);
}

TEST(Pool, AProcessThatEndsItselfIsAnEnding) {
  const auto endings = run_all({.slots = 1}, {{"quit", "3"}, {"fail", "2"}});
  EXPECT_EQ(endings.at(0).ending.exit_code, 3);
  EXPECT_EQ(endings.at(1).ending.exit_code, 2);
}

TEST(Pool, AnErrorOfTheReceiverEndsItAll) {
  int given = 0;
  const auto status = run_pool(
      {.slots = 2}, act,
      [&]() -> std::optional<Job> {
        return Job{static_cast<std::size_t>(given++), {"print", "1"}};
      },
      [](Finished&&) -> Status { return fail(ErrorCode::io_error, "disk full"); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "disk full");
}

TEST(Slots, AreAtLeastOneHoweverLittleMemoryThereIs) {
  EXPECT_EQ(slots_for(1, 1e12), 1U);
  EXPECT_EQ(slots_for(1'000'000, 0), 1U);
  EXPECT_GE(slots_for(1, 0), 1U);
}

}  // namespace
}  // namespace ww::sweep
