// Sweeps under a real Slurm of this machine's own (tests/slurm/slurm_here): the same bytes as
// without it, and whole results whatever breaks.
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "background.hpp"
#include "slurm_here.hpp"
#include "sweep_folder.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Slurm takes jobs meanwhile, and starts none.
class JobsAreHeld {
 public:
  JobsAreHeld() { set_partition("DOWN"); }
  ~JobsAreHeld() { set_partition("UP"); }
  JobsAreHeld(const JobsAreHeld&) = delete;
  JobsAreHeld& operator=(const JobsAreHeld&) = delete;

 private:
  static void set_partition(const std::string& state) {
    const auto set = run({"scontrol", "update", "PartitionName=here", "State=" + state});
    EXPECT_EQ(set.exit_code, 0) << set.err;
  }
};

class SweepOnSlurm : public testing::Test {
 protected:
  static void SetUpTestSuite() { slurm_ = std::make_unique<SlurmHere>(); }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (!slurm_->running()) {
      // Where the packages are there and Slurm still does not come up, the log says why.
      GTEST_SKIP() << "NO SLURM ON THIS MACHINE, NOTHING WAS TESTED: " << slurm_->why_not();
    }
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] fs::path log() const { return folder_.path() / "log"; }
  [[nodiscard]] std::vector<std::string> command(const std::string& plan,
                                                 bool resume = false) const {
    std::vector<std::string> words{wirewatt(),     "sweep",      plan,   "--out",
                                   out().string(), "--executor", "slurm"};
    if (resume) words.emplace_back("--resume");
    return words;
  }
  // 40 points of a fraction of a second each, in tasks of about a second.
  [[nodiscard]] std::string slow_plan() const {
    return write_plan(folder_.path() / "slow.toml",
                      mesh_plan(8, 5, "", "cycles = 60000\n") + "[slurm]\nchunk_s = 1\n");
  }
  static std::unique_ptr<SlurmHere> slurm_;
  TemporaryFolder folder_;
};
std::unique_ptr<SlurmHere> SweepOnSlurm::slurm_;

TEST_F(SweepOnSlurm, TwoHundredPointsAreTheSameBytesAsLocally) {
  const auto plan =
      write_plan(folder_.path() / "p.toml", mesh_plan(20, 10) + "[slurm]\nchunk_s = 0.3\n");
  const auto finished = run(command(plan));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("tasks"));
  const auto local = folder_.path() / "local";
  ASSERT_EQ(run({wirewatt(), "sweep", plan, "--out", local.string()}).exit_code, 0);
  const auto bytes = csv_of(out());
  EXPECT_EQ(bytes, csv_of(local));
  const auto points = points_of(out());
  expect_each_once(points, 200);
  EXPECT_EQ(points.status.at("ok"), 200);
  // They did run as an array's tasks.
  EXPECT_TRUE(fs::exists(out() / "slurm" / "1" / "jobs.json"));
}

// The machine where the command is started has another name, and may not have the device.
TEST_F(SweepOnSlurm, PointsOfAnotherMachineAllRunThere) {
  std::array<char, 256> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  const auto plan =
      write_plan(folder_.path() / "hosts.toml",
                 mesh_plan(3, 2) + "host = [\"" + name.data() + "\"]\n[slurm]\nchunk_s = 1\n");
  std::string line = "hostname elsewhere && exec";
  for (const auto& word : command(plan)) line += " '" + word + "'";
  const auto finished = run({"unshare", "--uts", "sh", "-c", line});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const auto points = points_of(out());
  expect_each_once(points, 6);
  EXPECT_EQ(points.status.at("ok"), 6);
}

TEST_F(SweepOnSlurm, ADetachedSweepNamesItsJobsAtOnceAndComesBack) {
  const auto plan = slow_plan();
  auto detached = command(plan);
  detached.insert(detached.end(), {"--detach", "--json"});
  {
    // However slow this machine is, no job begins before the second command has looked.
    const JobsAreHeld held;
    const auto first = run(detached);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    const auto jobs = first.json().at("jobs");
    EXPECT_GE(jobs.size(), 2U);  // an array, and what collects it
    // The sweep's jobs are in the queue: they are named again, and not waited for.
    detached.emplace_back("--resume");
    const auto again = run(detached);
    ASSERT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.json().at("jobs"), jobs);
  }
  ASSERT_EQ(run(command(plan, true)).exit_code, 0);
  const auto points = points_of(out());
  expect_each_once(points, 40);
  EXPECT_EQ(points.status.at("ok"), 40);
}

TEST_F(SweepOnSlurm, KilledWorkersAreReplaced) {
  const auto plan = slow_plan();
  Background sweep(command(plan), log());
  int killed = 0;
  ASSERT_TRUE(wait_until([&] {
    for (const auto pid : workers_of(out())) killed += ::kill(pid, SIGKILL) == 0 ? 1 : 0;
    return killed > 1;
  })) << text_of(log());
  EXPECT_EQ(sweep.end(), 0) << text_of(log());
  const auto points = points_of(out());
  expect_each_once(points, 40);
  EXPECT_EQ(points.status.at("ok"), 40);
}

TEST_F(SweepOnSlurm, RestartedDaemonsLoseNothing) {
  const auto plan = slow_plan();
  Background sweep(command(plan), log());
  ASSERT_TRUE(wait_until([&] { return !workers_of(out()).empty(); })) << text_of(log());
  // Slurm's controller saves its jobs within five seconds (SAVE_MAX_WAIT). One that is killed
  // before knows nothing of them, and the sweep then submits nothing again, because they may still
  // run.
  std::this_thread::sleep_for(std::chrono::seconds(7));
  // A node that registers anew reports to a controller that remembers too little what really runs;
  // in the other order Slurm may take minutes to ask.
  slurm_->restart("slurmctld");
  slurm_->restart("slurmd");
  EXPECT_EQ(sweep.end(), 0) << text_of(log());
  const auto points = points_of(out());
  expect_each_once(points, 40);
  EXPECT_EQ(points.status.at("ok"), 40);
}

TEST_F(SweepOnSlurm, AKilledSweepCommandComesBackToItsJobs) {
  const auto plan = slow_plan();
  Background sweep(command(plan), log());
  ASSERT_TRUE(wait_until([&] { return !workers_of(out()).empty(); })) << text_of(log());
  EXPECT_EQ(sweep.end(SIGKILL), -SIGKILL);
  const auto again = run(command(plan, true));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  expect_each_once(points_of(out()), 40);
}

TEST_F(SweepOnSlurm, AnInterruptCancelsTheJobsAndKeepsWhatIsDone) {
  const auto plan = slow_plan();
  Background sweep(command(plan), log());
  ASSERT_TRUE(wait_until([&] { return !workers_of(out()).empty(); })) << text_of(log());
  EXPECT_EQ(sweep.end(SIGINT), 130) << text_of(log());
  EXPECT_TRUE(workers_of(out()).empty());
  expect_each_once(points_of(out()), 40);
  const auto again = run(command(plan, true));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(points_of(out()).status.at("ok"), 40);
}

TEST_F(SweepOnSlurm, APointThatCrashesAndOneThatNeverEndsAreNamed) {
  const auto plan =
      write_plan(folder_.path() / "p.toml",
                 "command = \"estimate\"\ntime_limit_s = 4\n[base]\ndevice = \"virtual:w9100\"\n"
                 "constant = \"literature\"\n[axes]\nprogram = [[\"sh\", \"-c\", \"exit 0\"], "
                 "[\"sh\", \"-c\", \"kill -SEGV $PPID\"], [\"sleep\", \"1000\"]]\n"
                 "toggle-rate = [0.1, 0.2]\n");  // one of each is left for Slurm after the pilot
  EXPECT_EQ(run(command(plan)).exit_code, 1);
  const auto points = points_of(out());
  expect_each_once(points, 6);
  EXPECT_EQ(points.status.at("crashed"), 2);
  EXPECT_EQ(points.status.at("timeout"), 2);
}

}  // namespace
}  // namespace ww::e2e
