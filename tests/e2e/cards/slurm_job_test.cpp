// The prologue and the epilogue of scripts/recipes/slurm under a real Slurm of this machine's own,
// with a card faked as a tree of kernel files: joules by job.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "growing_card.hpp"
#include "made_campaign.hpp"
#include "slurm_here.hpp"
#include "testing/fake_amd_tree.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = std::chrono::seconds(60);

bool wait_until(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

// The sample of the segment L1-L2 in a metrics file; below 0 where there is none.
double sample(const std::string& text, const std::string& metric) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(metric + "{") && line.find("segment=\"L1-L2\"") != std::string::npos) {
      return std::stod(line.substr(line.find("} ") + 2));
    }
  }
  return -1;
}

class SlurmJob : public testing::Test {
 protected:
  // Prologue and epilogue with a configuration of this test's own, and lines of shell after it.
  void prepare(const std::string& more) {
    for (const char* script : {"prolog", "epilog"}) {
      fs::copy_file(source_folder() / "scripts/recipes/slurm" / script, path(script));
    }
    fs::create_directory(path("collected"));
    std::ofstream(path("wirewatt.conf"))
        << "wirewatt='" << wirewatt() << "'\ndevices=gpu:0\nmodel='" << path("run").string()
        << "/model.json'\ncounters=\narch=\nstate='" << path("state").string() << "'\ntextfiles='"
        << path("collected").string() << "'\nexport WIREWATT_SYSFS='" << path("sys").string()
        << "'\n"
        << more;
    const auto made =
        run({(build_folder() / "bin/make_campaign").string(), path("run").string(), "1"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    fs::rename(as_model_of_mi210(path("run")), path("run") / "model.json");
  }
  [[nodiscard]] std::string slurm_conf() const {
    return "Prolog=" + path("prolog").string() + "\nEpilog=" + path("epilog").string() + "\n";
  }
  // Runs a job to its end. Gives its number.
  std::string job(const std::string& script) {
    const auto done = run({"sbatch", "--parsable", "--wait", "-o", path("output").string(), "-D",
                           folder_.path().string(), "--wrap", script});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out.substr(0, done.out.find_first_not_of("0123456789"));
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] bool left_nothing() const {
    return !fs::exists(path("state")) || fs::is_empty(path("state"));
  }

  TemporaryFolder folder_;
};

TEST_F(SlurmJob, LeavesItsJoulesForTheCollectorAndEndsTheMeasurement) {
  measure::testing::FakeAmdTree tree(path("sys"));
  tree.write(tree.device() / "gpu_busy_percent", "50");
  // 200 million requests of 64 B in a millisecond.
  std::ofstream(path("profile.csv"))
      << "\"Dispatch_Id\",\"Agent_Id\",\"Grid_Size\",\"Kernel_Name\",\"Counter_Name\","
         "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
         "1,4,65536,\"copy\",\"TCP_TCC_READ_REQ_sum\",100000000,1000000,2000000\n"
         "1,4,65536,\"copy\",\"TCP_TCC_WRITE_REQ_sum\",100000000,1000000,2000000\n";
  prepare("counters='" + path("profile.csv").string() + "'\narch=gfx90a\n");
  const SlurmHere slurm(slurm_conf());
  if (!slurm.running()) GTEST_SKIP() << slurm.why_not();
  const auto number = job("cat state/job-*/gpu:0.pid; sleep 4");
  const auto file = path("collected") / ("wirewatt-job-" + number + "-gpu-0.prom");
  ASSERT_TRUE(wait_until([&] { return fs::exists(file) && left_nothing(); })) << slurm.why_not();
  const auto text = text_of(file);
  EXPECT_THAT(text, HasSubstr("job_id=\"" + number + "\""));
  EXPECT_THAT(text, HasSubstr("hw_id=\"gpu:0\""));
  // The busy share is steady, so that joules are watts times the time between the refreshes.
  const double watts = sample(text, "wirewatt_wire_power_watts");
  const double joules = sample(text, "wirewatt_wire_energy_joules_total");
  ASSERT_GT(watts, 0) << text;
  EXPECT_GT(joules, 1.5 * watts);
  EXPECT_LT(joules, 15 * watts);
  const auto process = text_of(path("output"));
  ASSERT_FALSE(process.empty());
  EXPECT_TRUE(wait_until(
      [&] { return !fs::exists("/proc/" + process.substr(0, process.find('\n')) + "/cmdline"); }));
}

// An MI300X and an NVIDIA GPU, whose joules need no calibration.
TEST_F(SlurmJob, LeavesTheJoulesOfCardsAndRailsWithoutACalibration) {
  if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "an NVIDIA driver is installed here";
  const measure::testing::FakeAmdTree tree(
      path("sys"), {.name = "AMD Instinct MI300X", .metrics_content = 1, .with_package = true});
  tree.write(tree.device() / "device", "0x74a1");
  const GrowingCard counting(tree, {}, true);
  std::ofstream(path("config")) << "idle_w 350\n";
  prepare("devices='gpu:0 gpu:1'\nmodel=\nexport LD_LIBRARY_PATH='" +
          (build_folder() / "lib/nvml_stub").string() + "'\nexport WW_NVML_STUB='" +
          folder_.path().string() + "'\n");
  const SlurmHere slurm(slurm_conf());
  if (!slurm.running()) GTEST_SKIP() << slurm.why_not();
  const auto number = job("sleep 4");
  const auto amd = path("collected") / ("wirewatt-job-" + number + "-gpu-0.prom");
  const auto nvidia = path("collected") / ("wirewatt-job-" + number + "-gpu-1.prom");
  ASSERT_TRUE(wait_until([&] { return fs::exists(amd) && fs::exists(nvidia) && left_nothing(); }))
      << slurm.why_not();
  EXPECT_THAT(text_of(amd), HasSubstr("\nhw_energy_joules_total{"));
  EXPECT_THAT(text_of(amd), HasSubstr("rail=\"aid\"} "));
  EXPECT_THAT(text_of(nvidia), HasSubstr("\nhw_energy_joules_total{"));
  EXPECT_THAT(text_of(nvidia), Not(HasSubstr("rail=")));
}

TEST_F(SlurmJob, WithoutACardRunsAsEverAndLeavesNoFigure) {
  prepare("");
  fs::create_directory(path("sys"));
  const SlurmHere slurm(slurm_conf());
  if (!slurm.running()) GTEST_SKIP() << slurm.why_not();
  job("echo done");
  EXPECT_EQ(text_of(path("output")), "done\n");
  EXPECT_TRUE(wait_until([&] { return left_nothing(); }));
  EXPECT_TRUE(fs::is_empty(path("collected")));
}

}  // namespace
}  // namespace ww::e2e
