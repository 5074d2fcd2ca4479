// Sweeps under Slurm where other things are not as expected: under a real federation of two
// clusters (tests/slurm/slurm_federation_here), and with an sbatch that is slow to answer.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "background.hpp"
#include "slurm_here.hpp"
#include "sweep_folder.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// Programs in a folder of their own, before all others on PATH.
class Programs {
 public:
  Programs() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (folder_.path().string() + ":" + path_).c_str(), 1);
  }
  ~Programs() { ::setenv("PATH", path_.c_str(), 1); }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;
  // Lines of shell, behind one that notes the call.
  void add(const std::string& name, const std::string& lines) const {
    const auto file = folder_.path() / name;
    std::ofstream(file) << "#!/bin/sh\necho \"" << name << " $*\" >> '" << log().string() << "'\n"
                        << lines << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  [[nodiscard]] fs::path log() const { return folder_.path() / "log"; }
  [[nodiscard]] fs::path path(const char* name) const { return folder_.path() / name; }
  [[nodiscard]] std::vector<std::string> calls(const std::string& program) const {
    std::vector<std::string> lines;
    std::istringstream text(text_of(log()));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with(program + " ")) lines.push_back(line);
    }
    return lines;
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

class Federation : public testing::Test {
 protected:
  static void SetUpTestSuite() { slurm_ = SlurmHere::federation(); }
  static void TearDownTestSuite() { slurm_.reset(); }
  void SetUp() override {
    if (!slurm_->running()) {
      GTEST_SKIP() << "NO FEDERATION ON THIS MACHINE, NOTHING WAS TESTED: " << slurm_->why_not();
    }
    // The real programs, and a log of how they are called.
    for (const char* name : {"sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo"}) {
      programs_.add(name, "exec /usr/bin/" + std::string(name) + " \"$@\"");
    }
  }
  void TearDown() override {
    if (HasFailure()) std::cerr << text_of(programs_.log());
  }
  [[nodiscard]] fs::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] std::vector<std::string> command(const std::string& plan,
                                                 const std::vector<std::string>& more) const {
    std::vector<std::string> words{wirewatt(),     "sweep",      plan,   "--out",
                                   out().string(), "--executor", "slurm"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Returns this user's queue in both clusters.
  [[nodiscard]] static std::string queue() {
    return run({"/usr/bin/squeue", "--clusters=near,far", "--noheader", "--format=%i %T %Z"}).out;
  }
  static std::unique_ptr<SlurmHere> slurm_;
  TemporaryFolder folder_;
  Programs programs_;
};
std::unique_ptr<SlurmHere> Federation::slurm_;

TEST_F(Federation, JobsOnTheOtherClusterAreFollowedThere) {
  const auto plan =
      write_plan(folder_.path() / "p.toml", mesh_plan(10, 4) + "[slurm]\nchunk_s = 0.3\n");
  const auto finished = run(command(plan, {"--slurm-option=--clusters=far"}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("on cluster far"));
  const auto points = points_of(out());
  expect_each_once(points, 40);
  EXPECT_EQ(points.status.at("ok"), 40);
  EXPECT_THAT(programs_.calls("sbatch"), SizeIs(2));  // the tasks, and what collects them
  for (const char* program : {"sbatch", "squeue", "sinfo"}) {
    EXPECT_THAT(programs_.calls(program), Each(HasSubstr("--clusters=far"))) << program;
  }
  EXPECT_TRUE(fs::exists(out() / "slurm" / "1" / "tasks-ended"));
}

// A job of no cluster in particular may run on any of a federation, and leaves the queue of this
// one.
TEST_F(Federation, JobsOfThisClusterStayOnIt) {
  const auto plan =
      write_plan(folder_.path() / "p.toml", mesh_plan(10, 4) + "[slurm]\nchunk_s = 0.3\n");
  const auto finished = run(command(plan, {}));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(points_of(out()).status.at("ok"), 40);
  const auto sbatch = programs_.calls("sbatch");
  ASSERT_THAT(sbatch, SizeIs(2));
  EXPECT_THAT(sbatch[1], HasSubstr("--clusters=near"));
  EXPECT_THAT(programs_.calls("squeue"), Each(HasSubstr("--clusters=near")));
}

TEST_F(Federation, AnInterruptLeavesNothingRunningOnTheOtherCluster) {
  const auto plan = write_plan(folder_.path() / "slow.toml",
                               mesh_plan(8, 5, "", "cycles = 60000\n") + "[slurm]\nchunk_s = 1\n");
  const auto log = folder_.path() / "log";
  Background sweep(command(plan, {"--slurm-option=--clusters=far"}), log);
  ASSERT_TRUE(wait_until([&] { return !workers_of(out()).empty(); })) << text_of(log);
  EXPECT_NE(sweep.end(SIGINT), 0) << text_of(log);
  EXPECT_TRUE(workers_of(out()).empty());
  EXPECT_THAT(queue(), testing::Not(HasSubstr(out().string())));
  EXPECT_THAT(programs_.calls("scancel"), Each(HasSubstr("--clusters=far")));
  EXPECT_THAT(programs_.calls("sbatch"), SizeIs(2));
  // Cancelled points are known to have ended: the rest can be run.
  const auto again = run(command(plan, {"--slurm-option=--clusters=far", "--resume"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(points_of(out()).status.at("ok"), 40);
}

TEST_F(Federation, AKilledCommandComesBackToItsJobsOnTheOtherCluster) {
  const auto plan = write_plan(folder_.path() / "slow.toml",
                               mesh_plan(8, 5, "", "cycles = 60000\n") + "[slurm]\nchunk_s = 1\n");
  const auto log = folder_.path() / "log";
  // The command dies in the call of sbatch, so that it cannot note the number of the job.
  programs_.add("sbatch", "/usr/bin/sbatch \"$@\"\nkill -KILL $PPID");
  Background sweep(command(plan, {"--slurm-option=--clusters=far"}), log);
  EXPECT_EQ(sweep.end(), -SIGKILL) << text_of(log);
  programs_.add("sbatch", "exec /usr/bin/sbatch \"$@\"");
  const auto again = run(command(plan, {"--resume"}));
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(points_of(out()).status.at("ok"), 40);
  EXPECT_THAT(again.err, HasSubstr("going on with them"));
  EXPECT_THAT(programs_.calls("sbatch"), SizeIs(1));
}

// Ctrl-C while sbatch waits for a busy controller: the job that it then submits is cancelled.
TEST(SlowSbatch, AnInterruptCancelsTheJobThatIsBeingSubmitted) {
  const Programs programs;
  programs.add("scontrol", "true");
  programs.add("sinfo", "echo 0/4/0/4");
  programs.add("sacct", "exit 1");
  programs.add("sbatch", "sleep 2; : > '" + programs.path("there").string() + "'; echo '7001;far'");
  programs.add("squeue", "[ -e '" + programs.path("there").string() +
                             "' ] && echo 'RUNNING None 7001' || true");
  programs.add("scancel", "rm '" + programs.path("there").string() + "'");
  const TemporaryFolder folder;
  const auto plan = write_plan(folder.path() / "p.toml", mesh_plan(10, 4));
  const auto log = folder.path() / "log";
  Background sweep(
      {wirewatt(), "sweep", plan, "--out", (folder.path() / "out").string(), "--executor", "slurm"},
      log);
  ASSERT_TRUE(wait_until([&] { return !programs.calls("sbatch").empty(); })) << text_of(log);
  EXPECT_NE(sweep.end(SIGINT), 0) << text_of(log);
  EXPECT_THAT(programs.calls("sbatch"), SizeIs(1));
  EXPECT_THAT(programs.calls("scancel"),
              testing::ElementsAre(StartsWith("scancel --clusters=far 7001")));
  EXPECT_FALSE(fs::exists(programs.path("there")));
}

}  // namespace
}  // namespace ww::e2e
