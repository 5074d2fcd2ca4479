// Jobs as processes: their logs, their order, and how many threads a virtual GPU in them gets.
#include "ww/runner/job_pool.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::runner {
namespace {

// Runs a job and returns what it prints.
std::string printed(const std::string& script) {
  const auto folder = ScratchFolder::create("jobs");
  EXPECT_TRUE(folder) << folder.error().text();
  const std::string log = (folder->path() / "log").string();
  const auto run = run_jobs({{{"/bin/sh", "-c", script}, log}}, 1, [](std::size_t, int code) {
    EXPECT_EQ(code, 0);
    return true;
  });
  EXPECT_TRUE(run) << run.error().text();
  return read_file(log).value_or("no log");
}

TEST(JobPool, GivesAVirtualGpuInAJobOneThread) {
  ::unsetenv("WIREWATT_THREADS");
  EXPECT_EQ(printed("echo $WIREWATT_THREADS"), "1\n");
}

TEST(JobPool, LeavesTheThreadsThatTheUserAskedFor) {
  ::setenv("WIREWATT_THREADS", "3", 1);
  EXPECT_EQ(printed("echo $WIREWATT_THREADS"), "3\n");
  ::unsetenv("WIREWATT_THREADS");
}

TEST(JobPool, LetsMallocUseHugePagesUnlessTheEnvironmentSaysOtherwise) {
  ::unsetenv("GLIBC_TUNABLES");
  EXPECT_EQ(printed("echo $GLIBC_TUNABLES"), "glibc.malloc.hugetlb=1\n");
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.check=0", 1);
  EXPECT_EQ(printed("echo $GLIBC_TUNABLES"), "glibc.malloc.check=0\n");
  ::unsetenv("GLIBC_TUNABLES");
}

TEST(JobPool, StopsAfterAJobThatItsCallerRefuses) {
  const auto folder = ScratchFolder::create("jobs");
  ASSERT_TRUE(folder) << folder.error().text();
  std::vector<Job> jobs;
  jobs.reserve(4);
  for (int i = 0; i < 4; ++i) {
    jobs.push_back({{"/bin/sh", "-c", "exit " + std::to_string(i)},
                    (folder->path() / std::to_string(i)).string()});
  }
  std::vector<int> codes;
  const auto run = run_jobs(jobs, 1, [&](std::size_t, int code) {
    codes.push_back(code);
    return code < 2;
  });
  EXPECT_TRUE(run);
  EXPECT_EQ(codes, (std::vector<int>{0, 1, 2}));
}

}  // namespace
}  // namespace ww::runner
