// Submission and watching under programs that stand for Slurm's own: each writes its words to a log
// and answers what the test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "slurm_commands.hpp"
#include "slurm_jobs.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Where giving up is what is tested.
constexpr SlurmPatience kImpatient{milliseconds(1), milliseconds(4), milliseconds(200),
                                   milliseconds(200), milliseconds(200)};
// Where an answer comes after some attempts: on a busy machine each of them takes long.
constexpr SlurmPatience kPatient{milliseconds(1), milliseconds(4), std::chrono::minutes(1),
                                 std::chrono::minutes(1), std::chrono::minutes(1)};
const OnTasks kQuietly = [](std::size_t, std::size_t, const std::string&) {};

TEST(Sbatch, JobIsReadAmongWhateverElseASitePrints) {
  const auto job = [](const char* printed) {
    return submitted_job(printed).value_or(JobName{"none", "none"});
  };
  EXPECT_EQ(job("123\n"), (JobName{"123", ""}));
  EXPECT_EQ(job("123;nautilus\n"), (JobName{"123", "nautilus"}));
  EXPECT_EQ(job("123;nautilus"), (JobName{"123", "nautilus"}));
  EXPECT_EQ(job("Submitted batch job 123\n"), (JobName{"123", ""}));
  EXPECT_EQ(job("Submitted batch job 123 on cluster far-2\r\n"), (JobName{"123", "far-2"}));
  EXPECT_EQ(job("checking your quota: 12 of 40\nok; queue b\n\n  123;far \n"),
            (JobName{"123", "far"}));
  EXPECT_EQ(job("123;far\nbalance left: 7 hours\n"), (JobName{"123", "far"}));
  for (const char* nothing : {"", "\n", "queued", ";far", "12a", "12 jobs", "-12"}) {
    EXPECT_EQ(submitted_job(nothing), std::nullopt) << nothing;
  }
}

TEST(Sbatch, ClustersAreThoseOfTheLastOptionAndElseOfTheEnvironment) {
  EXPECT_THAT(named_clusters({"--partition=a"}), IsEmpty());
  EXPECT_THAT(named_clusters({"--clusters=a,b", "--qos=x"}), ElementsAre("a", "b"));
  EXPECT_THAT(named_clusters({"--clusters=a", "-Mb"}), ElementsAre("b"));
  EXPECT_THAT(named_clusters({"-M b"}), ElementsAre("b"));
  ::setenv("SLURM_CLUSTERS", "c", 1);
  EXPECT_THAT(named_clusters({}), ElementsAre("c"));
  ::setenv("SBATCH_CLUSTERS", "d", 1);
  EXPECT_THAT(named_clusters({}), ElementsAre("d"));
  EXPECT_THAT(named_clusters({"--clusters=a"}), ElementsAre("a"));
  ::unsetenv("SLURM_CLUSTERS");
  ::unsetenv("SBATCH_CLUSTERS");
}

class SlurmQueue : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    fs::create_directory(folder_.path() / "bin");
    fs::create_directory(sweep());
    ::setenv("PATH", ((folder_.path() / "bin").string() + ":" + path_).c_str(), 1);
    ::setenv("FAKE_SLURM", folder_.path().c_str(), 1);
    // A cluster of its own, without accounting, that knows no job.
    fake("scontrol", "echo");
    fake("sinfo", "echo 0/4/0/4");
    fake("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
    fake("squeue", kUnknown);
    fake("scancel", "exit 0");
    fake("sbatch", "echo 7001");
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  // `answer`: lines of shell. $calls is how often the program was called, this time included.
  void fake(const std::string& program, const std::string& answer) const {
    const auto file = folder_.path() / "bin" / program;
    std::ofstream(file) << "#!/bin/sh\necho \"" << program
                        << " $*\" >> \"$FAKE_SLURM/log\"\ncalls=$(grep -c '^" << program
                        << " ' \"$FAKE_SLURM/log\")\n"
                        << answer << "\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  // The calls of one program, or of all.
  [[nodiscard]] std::vector<std::string> calls(const std::string& program = "") const {
    std::vector<std::string> lines;
    std::ifstream log(folder_.path() / "log");
    for (std::string line; std::getline(log, line);) {
      if (line.starts_with(program)) lines.push_back(line);
    }
    return lines;
  }
  [[nodiscard]] fs::path sweep() const { return folder_.path() / "s.sweep"; }
  [[nodiscard]] Result<SlurmJobs> submitted(const std::string& options = "",
                                            const SlurmPatience& patience = kPatient) const {
    Sweep sweep;
    sweep.folder = this->sweep();
    auto plan =
        parse_plan("command = \"simulate\"\n[axes]\nseed = { from = 1, to = 20, step = 1 }\n" +
                       ("[slurm]\noptions = [" + options + "]\n"),
                   "/data/p.toml");
    EXPECT_TRUE(plan) << plan.error().text();
    sweep.plan = std::make_unique<Plan>(std::move(*plan));
    sweep.points = std::make_unique<Points>(std::move(*Points::expand(*sweep.plan, "program", {})));
    Program program;
    program.executable = "/bin/true";
    Pilot pilot;
    const auto layout = lay_out(sweep, sweep.points->firsts(), pilot, {});
    return submit(sweep, program, layout, pilot, false, kQuietly, patience);
  }
  // Jobs of a submission whose folder is there.
  [[nodiscard]] SlurmJobs jobs(const std::string& cluster = "") const {
    SlurmJobs jobs;
    jobs.folder = submission_folder(sweep(), 1);
    fs::create_directories(jobs.folder);
    jobs.cluster = cluster;
    jobs.arrays = {"7001"};
    jobs.collect = "7002";
    jobs.tasks = 2;
    EXPECT_TRUE(write_jobs(jobs));
    return jobs;
  }
  [[nodiscard]] std::string script(const std::string& words) const {
    return (submission_folder(sweep(), 1) / words).string();
  }

  static constexpr const char* kUnknown =
      "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1";
  ScratchFolder folder_ = *ScratchFolder::create("slurm");
  std::string path_;
};

TEST_F(SlurmQueue, EveryLaterCallNamesTheClusterThatSbatchPrinted) {
  fake("sbatch", "echo \"$((7000 + calls));nautilus\"");
  fake(
      "squeue",
      "case \" $* \" in *--clusters=nautilus*) ;; *) echo 'Invalid job id specified' >&2; exit 1;; "
      "esac\n[ $calls -gt 3 ] || { echo 'PENDING Priority 7001'; exit 0; }\n"
      "echo 'COMPLETED None 7001'; echo 'COMPLETED None 7002'");
  const auto jobs = submitted();
  ASSERT_TRUE(jobs) << jobs.error().text();
  EXPECT_EQ(jobs->cluster, "nautilus");
  EXPECT_EQ(jobs->text(), "7001, 7002 on cluster nautilus");
  const auto status = watch(*jobs, kQuietly, kPatient);
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_TRUE(cancel(*jobs, kPatient));
  const auto sbatch = calls("sbatch");
  ASSERT_EQ(sbatch.size(), 2U);
  // The job that collects is where the tasks are: it depends on them.
  EXPECT_THAT(sbatch[0], testing::Not(HasSubstr("--clusters")));
  EXPECT_THAT(sbatch[1], HasSubstr("--dependency=afterany:7001 --clusters=nautilus"));
  EXPECT_THAT(calls("squeue"), testing::Each(HasSubstr("--clusters=nautilus")));
  EXPECT_THAT(calls("scancel"), ElementsAre("scancel --clusters=nautilus 7001 7002"));
}

TEST_F(SlurmQueue, LimitsAreThoseOfTheClustersThatTheOptionsName) {
  fake("scontrol",
       "case \"$*\" in *=a*) n=101;; *=b*) n=51;; *) n=1001;; esac\necho; echo \"MaxArraySize = "
       "$n\"");
  fake("sinfo", "case \"$*\" in *=a*) echo 0/9/0/9;; *) echo 0/40/0/40;; esac");
  Plan plan;
  EXPECT_EQ(slurm_limits(plan)->max_array_size, 1001U);
  plan.slurm.options = {"--clusters=a,b"};
  const auto limits = slurm_limits(plan);
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->max_array_size, 51U);
  EXPECT_EQ(limits->cpus, 9U);
}

TEST_F(SlurmQueue, InAFederationTheOwnClusterIsNamedWhereSbatchNamesNone) {
  fake("scontrol",
       "[ \"$2\" = federation ] || exit 0\necho 'Federation: both'\n"
       "echo 'Self:       near:127.0.0.1:6817 ID:1 FedState:ACTIVE Features:'\n"
       "echo 'Sibling:    far:127.0.0.1:6818 ID:2 FedState:ACTIVE'");
  const auto jobs = submitted();
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->cluster, "near");
}

// Acts like a busy cluster: the job is there though sbatch failed.
TEST_F(SlurmQueue, AJobThatSbatchLeftWhileItFailedIsFoundAndNotSubmittedAgain) {
  fake("sbatch",
       "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv' >&2; exit "
       "1");
  fake("squeue",
       "[ $calls -gt 1 ] || { echo 'Unable to contact slurm controller' >&2; exit 1; }\n"
       "echo 'CLUSTER: far'; echo 'ARRAY_JOB_ID COMMAND'; echo '7000 /elsewhere/task.sh 0'\n"
       "echo '7001 " +
           script("task.sh 0") + "'; echo '7002 " + script("collect.sh") + "'");
  const auto jobs = submitted("\"--clusters=far,near\"");
  ASSERT_TRUE(jobs) << jobs.error().text();
  EXPECT_EQ(jobs->text(), "7001, 7002 on cluster far");
  EXPECT_EQ(calls("sbatch").size(), 2U);
  EXPECT_THAT(calls("squeue")[0], HasSubstr("--clusters=far,near"));
}

TEST_F(SlurmQueue, AJobThatTheQueueDoesNotListIsSubmittedAgain) {
  fake("squeue", "echo '7000 /elsewhere/task.sh 0'");
  fake("sbatch",
       "[ $calls -gt 2 ] || { echo 'Resource temporarily unavailable' >&2; exit 1; }\necho 7001");
  EXPECT_TRUE(submitted());
  EXPECT_EQ(calls("sbatch").size(), 4U);
}

TEST_F(SlurmQueue, WithoutAnAnswerOfTheQueueNothingIsSubmittedAgain) {
  fake("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1");
  fake("sbatch", "echo 'Unable to contact slurm controller' >&2; exit 1");
  EXPECT_FALSE(submitted("", kImpatient));
  EXPECT_EQ(calls("sbatch").size(), 1U);
  // The job comes later: it is found then.
  fake("squeue", "case \"$*\" in\n*--user*) echo '7001 " + script("task.sh 0") +
                     "';;\n*) echo 'RUNNING None 7001';;\nesac");
  const auto queued = queued_jobs(sweep());
  ASSERT_TRUE(queued && queued->has_value());
  EXPECT_THAT((*queued)->all(), ElementsAre("7001"));
}

TEST_F(SlurmQueue, SbatchThatPrintsNoNumberIsNotRepeated) {
  fake("sbatch", "echo thank you");
  fake("squeue", "echo '7000 /elsewhere/task.sh 0'");
  const auto jobs = submitted("", kImpatient);
  ASSERT_FALSE(jobs);
  EXPECT_THAT(jobs.error().text(), HasSubstr("printed no job number: thank you"));
  EXPECT_EQ(calls("sbatch").size(), 1U);
  fake("squeue", "echo '7001 " + (submission_folder(sweep(), 2) / "task.sh 0").string() +
                     "'; echo '7002 " + (submission_folder(sweep(), 2) / "collect.sh").string() +
                     "'");
  const auto found = submitted();
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(found->all(), ElementsAre("7001", "7002"));
}

TEST_F(SlurmQueue, ArraysThatWereSubmittedAreCancelledWhereTheRestIsRefused) {
  fake("sbatch",
       "[ $calls -lt 2 ] || { echo 'error: Invalid qos specification' >&2; exit 1; }\n"
       "echo '7001;far'");
  EXPECT_FALSE(submitted("", kImpatient));
  EXPECT_THAT(calls("scancel"), ElementsAre("scancel --clusters=far 7001"));
  EXPECT_FALSE(queued_jobs(sweep())->has_value());  // --resume need not wait for it
}

TEST_F(SlurmQueue, ASitesDependencyIsForTheTasks) {
  ASSERT_TRUE(submitted("\"--dependency=singleton\""));
  const auto sbatch = calls("sbatch");
  EXPECT_THAT(sbatch[0], HasSubstr("--dependency=singleton"));
  EXPECT_GT(sbatch[1].find("--dependency=afterany:7001"), sbatch[1].find("singleton"));
}

TEST_F(SlurmQueue, AForgottenJobHasEndedWhenTheAccountingSaysSo) {
  fake("sacct",
       "[ $calls -gt 3 ] || { echo '7001_0|COMPLETED'; echo '7001_[1-9]|PENDING'; exit 0; }\n"
       "echo '7001_0|COMPLETED'; echo '7001_1|CANCELLED by 0'; echo '7002|COMPLETED'");
  const auto status = watch(jobs("far"), kQuietly, kPatient);
  EXPECT_TRUE(status) << status.error().text();
  EXPECT_EQ(calls("sacct").size(), 4U);
  EXPECT_THAT(calls("sacct"), testing::Each(HasSubstr("--clusters=far")));
}

TEST_F(SlurmQueue, AForgottenJobHasEndedWhenTheCollectingJobBegan) {
  const auto all = jobs();
  std::ofstream(tasks_ended(all.folder)) << "";
  EXPECT_TRUE(watch(all, kQuietly, kPatient));
}

TEST_F(SlurmQueue, AJobThatWasSeenToEndMayBeForgotten) {
  fake("squeue",
       std::string(
           "[ $calls -gt 1 ] || { echo 'COMPLETED None 7001'; echo 'PENDING Dependency 7002'; "
           "exit 0; }\n[ $calls -gt 2 ] || { echo 'TIMEOUT None 7002'; exit 0; }\n") +
           kUnknown);
  EXPECT_TRUE(watch(jobs(), kQuietly, kPatient));
  EXPECT_EQ(calls("squeue").size(), 2U);
}

// "Invalid job id" is what a cluster says of another's jobs, too.
TEST_F(SlurmQueue, AJobWithoutATraceIsWaitedForAndNeverTakenToHaveEnded) {
  for (const std::string squeue : {kUnknown, "exit 0", "echo 'REVOKED None 7001'"}) {
    fake("squeue", squeue);
    const auto status = watch(jobs(), kQuietly, kImpatient);
    ASSERT_FALSE(status) << squeue;
    EXPECT_EQ(status.error().code, ErrorCode::device_error);
    EXPECT_THAT(status.error().text(), HasSubstr("nothing is submitted again"));
    const auto queued = queued_jobs(sweep());
    ASSERT_TRUE(queued);
    EXPECT_TRUE(queued->has_value());
  }
  // The way out: the user says that they are gone.
  EXPECT_TRUE(cancel(jobs(), kPatient));
  const auto queued = queued_jobs(sweep());
  ASSERT_TRUE(queued);
  EXPECT_FALSE(queued->has_value());
}

TEST_F(SlurmQueue, JobsThatGoOnAfterScancelAreReported) {
  fake("squeue", "echo 'RUNNING None 7001'");
  const auto status = cancel(jobs("far"), kImpatient);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), HasSubstr("squeue --clusters=far --jobs=7001,7002"));
  const auto queued = queued_jobs(sweep());
  ASSERT_TRUE(queued);
  EXPECT_TRUE(queued->has_value());
}

TEST_F(SlurmQueue, AScancelThatFailsIsRepeated) {
  fake("scancel",
       "[ $calls -gt 2 ] || { echo 'Socket timed out' >&2; exit 1; }\n: > \"$FAKE_SLURM/gone\"");
  fake("squeue",
       "[ -e \"$FAKE_SLURM/gone\" ] || { echo 'RUNNING None 7001'; exit 0; }\n"
       "echo 'CANCELLED None 7001'; echo 'CANCELLED None 7002'");
  EXPECT_TRUE(cancel(jobs(), kPatient));
  EXPECT_EQ(calls("scancel").size(), 3U);
}

// Between sbatch and the note of its number.
TEST_F(SlurmQueue, JobsOfACommandThatWasKilledWhileItSubmittedAreFoundByTheirScripts) {
  SlurmJobs half = jobs();
  half.arrays.clear();
  half.collect.clear();
  half.clusters = {"far"};
  ASSERT_TRUE(write_jobs(half));
  fake("squeue", "case \"$*\" in\n*--user*) echo 'CLUSTER: far'; echo '7001 " +
                     script("task.sh 0") + "'; echo '7001 " + script("task.sh 0") +
                     "'; echo '7003 " + script("task.sh 1000") +
                     "';;\n*) echo 'RUNNING None 7001';;\nesac");
  const auto queued = queued_jobs(sweep());
  ASSERT_TRUE(queued) << queued.error().text();
  ASSERT_TRUE(queued->has_value());
  EXPECT_EQ((*queued)->text(), "7001, 7003 on cluster far");
}

TEST_F(SlurmQueue, StatesThatAreNotKnownHaveNotEnded) {
  fake("squeue", "echo 'EXPEDITING None 7001'; echo 'RUNNING launch failed, requeued 7002'");
  const auto states = queue_states("", {"7001", "7002"});
  ASSERT_TRUE(states);
  EXPECT_EQ(states->active(), 2U);
  EXPECT_THAT(states->ended, IsEmpty());
}

}  // namespace
}  // namespace ww::sweep
