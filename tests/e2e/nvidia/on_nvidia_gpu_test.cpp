// scripts/on_nvidia_gpu: where there is no NVIDIA GPU it says so with exit code 3. On the stubs of
// CUDA and NVML, coupled in chip time, it does every step; stopped or killed it keeps an archive of
// what it had.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

using Variables = std::vector<std::pair<std::string, std::string>>;

ProcessResult start(const std::vector<std::string>& arguments, const Variables& environment,
                    const fs::path& folder = {}) {
  ProcessRequest request;
  request.folder = folder;
  request.command = {variable("WW_SOURCE_DIR") + "/scripts/on_nvidia_gpu"};
  request.command.insert(request.command.end(), arguments.begin(), arguments.end());
  request.environment = environment;
  request.environment.emplace_back("WIREWATT", variable("WW_BINARY_DIR") + "/bin/wirewatt");
  request.limit = std::chrono::minutes(8);
  const auto result = run_process(request);
  EXPECT_TRUE(result) << result.error().text();
  return result.value_or(ProcessResult{});
}

std::string listing(const fs::path& archive) {
  ProcessRequest request;
  request.command = {"tar", "-tzf", archive.string()};
  const auto result = run_process(request);
  return result && result->exit_code == 0 ? result->output : "";
}

class OnNvidiaGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "an NVIDIA driver is installed here";
  }
  // A program that a step starts lives in chip time: the clock goes before it and not before the
  // script, whose sleeps and limits are real.
  Variables stubs() const {
    const std::string lib = variable("WW_BINARY_DIR") + "/lib/";
    std::ofstream(root_ / "config") << "idle_w 80\nnoise_w 0.1\nlanes 1\nloops 16\ncall_s 1e-4\n"
                                       "l1_bytes 131072\nl2_bytes 1048576\npj_per_l1_bit 2e6\n"
                                       "pj_per_l2_bit 4e6\npj_per_memory_bit 2e7\n";
    return {{"LD_PRELOAD", lib + "stubs/libchip_clock.so"},
            {"LD_LIBRARY_PATH", lib + "stubs:" + lib + "nvml_stub"},
            {"WW_STUB_CUDA_CHIP", "1"},
            {"WW_STUB_CUDA_PCI", "0000:c1:00.0"},
            {"WW_NVML_STUB", root_.string()}};
  }
  ScratchFolder scratch_ = ScratchFolder::create("on_nvidia").value();
  const fs::path& root_ = scratch_.path();
};

TEST_F(OnNvidiaGpu, WithoutOneItSaysSoWithExitCode3) {
  const auto result = start({(root_ / "out").string()}, {{"LD_LIBRARY_PATH", ""}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("No NVIDIA GPU here"));
  EXPECT_THAT(result.errors, HasSubstr("nvidia-driver"));
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

TEST_F(OnNvidiaGpu, RefusesABudgetThatIsNoNumber) {
  const auto result = start({"--budget", "soon"}, {});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("'soon'"));
}

TEST_F(OnNvidiaGpu, RefusesAFolderThatCannotBeMade) {
  std::ofstream(root_ / "file") << "a file";
  const auto result = start({(root_ / "file" / "out").string()}, stubs());
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("cannot be made"));
}

// An ncu that runs the program that it is given and counts nothing.
Variables with_a_profiler(Variables environment, const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream(folder / "ncu")
      << "#!/bin/sh\n"
         "echo \"$@\" >> \"$(dirname \"$0\")/calls\"\n"
         "while [ $# -gt 0 ] && [ \"${1##*/}\" != wirewatt ]; do shift; done\n"
         "[ $# -eq 0 ] || exec \"$@\"\n";
  fs::permissions(folder / "ncu", fs::perms::owner_all);
  environment.emplace_back("PATH", folder.string() + ":" + variable("PATH"));
  return environment;
}

// The stub of CUPTI where a toolkit has it.
Variables with_cupti(Variables environment, const fs::path& toolkit) {
  fs::create_directories(toolkit / "lib64");
  fs::create_symlink(variable("WW_BINARY_DIR") + "/lib/stub_cupti/libcupti.so",
                     toolkit / "lib64" / "libcupti.so");
  environment.emplace_back("CUDA_HOME", toolkit.string());
  return environment;
}

// The kernels of the rows that were counted, from all tables of a folder.
std::set<std::string> counted_kernels(const fs::path& folder) {
  std::set<std::string> kernels;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::istringstream rows(read_file(file.path()).value_or(""));
    for (std::string row; std::getline(rows, row);) {
      std::istringstream fields(row);
      std::string id, process, kernel;
      std::getline(std::getline(std::getline(fields, id, ','), process, ','), kernel, ',');
      kernels.insert(kernel);
    }
  }
  return kernels;
}

TEST_F(OnNvidiaGpu, OnTheStubItDoesEveryStepAndPacksRawDataFirst) {
  const auto result =
      start({(root_ / "out").string()},
            with_cupti(with_a_profiler(stubs(), root_ / "profiler"), root_ / "toolkit"));
  const std::string summary = read_file(root_ / "out" / "summary.txt").value_or("");
  EXPECT_EQ(result.exit_code, 0) << result.errors << summary;
  EXPECT_THAT(summary, HasSubstr("budget: 520 s"));
  EXPECT_THAT(summary, HasSubstr("topology: exit 0"));
  EXPECT_THAT(summary, HasSubstr("pinning: 512 wavefronts on 8 SMs"));
  EXPECT_THAT(summary, HasSubstr("calibrate: exit 0"));
  EXPECT_THAT(summary, HasSubstr("ladder: exit 0"));
  EXPECT_THAT(summary, HasSubstr("memory_read_less_l2 "));
  EXPECT_THAT(summary, HasSubstr("doctor: exit 0"));
  // The profiler watches three launches of each way, with caches and clocks as they are.
  EXPECT_THAT(summary, HasSubstr("ncu: exit 0"));
  EXPECT_THAT(read_file(root_ / "profiler" / "calls").value_or(""),
              HasSubstr("--cache-control none --clock-control none --kernel-name cross"));
  const auto watched = nlohmann::json::parse(
      read_file(root_ / "out" / "raw" / "ncu.json").value_or(""), nullptr, false);
  ASSERT_EQ(watched.value("launches", nlohmann::json::array()).size(), 6u) << watched;
  EXPECT_EQ(watched["launches"][0]["way"], "near");
  EXPECT_EQ(watched["launches"][1]["way"], "far");
  EXPECT_GT(watched["launches"][0]["bytes"].get<double>(), 0);
  EXPECT_EQ(watched["launches"][0]["bytes"], watched["launches"][1]["bytes"]);
  // CUPTI's library in the same program: nothing, every kernel, and one of several.
  for (const char* step : {"cupti-none", "cupti-all", "cupti-some", "cupti-none-topology",
                           "cupti-all-topology", "cupti-some-topology"}) {
    EXPECT_THAT(summary, HasSubstr(std::string(step) + ": exit 0"));
  }
  EXPECT_TRUE(fs::is_empty(root_ / "out" / "raw" / "cupti-none"));
  const auto all = counted_kernels(root_ / "out" / "raw" / "cupti-all");
  EXPECT_GE(all.size(), 2U);
  EXPECT_TRUE(all.contains("\"cross\"")) << summary;
  EXPECT_EQ(counted_kernels(root_ / "out" / "raw" / "cupti-some"),
            std::set<std::string>{"\"places\""});
  EXPECT_LT(summary.find("topology: exit"), summary.find("calibrate: exit"));
  EXPECT_LT(summary.find("calibrate: exit"), summary.find("doctor: exit"));
  EXPECT_THAT(read_file(root_ / "out" / "raw" / "topology.json").value_or(""),
              HasSubstr("\"side_of_place\""));
  EXPECT_THAT(read_file(root_ / "out" / "judged" / "crossing.json").value_or(""),
              HasSubstr("\"controls\""));
  // A campaign that takes minutes of a card's time, and almost none of the stub's, is short enough
  // for a call of ten minutes.
  const auto store =
      CampaignStore::open_read_only(root_ / "out" / "raw" / "crossing" / "campaign.db");
  ASSERT_TRUE(store) << store.error().text();
  const auto runs = store->runs();
  ASSERT_TRUE(runs && !runs->empty());
  const double campaign_s =
      static_cast<double>(runs->back().end_ns - runs->front().start_ns) * 1e-9;
  const auto doctor = nlohmann::json::parse(
      read_file(root_ / "out" / "raw" / "doctor.json").value_or(""), nullptr, false);
  const double doctor_s = doctor.value("step_test_s", 1e9);
  EXPECT_LT(campaign_s + doctor_s, 9 * 60);
  // The campaign's slot is three quarters of the budget, of which 15% stay free; opening the card,
  // the driver's compiler and tuning come before the first run and get half a minute.
  constexpr double kSlotS = 520 * 0.75;
  EXPECT_LT(campaign_s + 30, 0.85 * kSlotS);
  std::printf("of a card's time: campaign %.0f s, doctor %.0f s\n", campaign_s, doctor_s);

  const std::string files = listing(root_ / "out.tar.gz");
  EXPECT_THAT(files, HasSubstr("out/raw/crossing/campaign.db"));
  ASSERT_THAT(files, HasSubstr("out/judged/crossing.json"));
  EXPECT_LT(files.find("out/raw/"), files.find("out/judged/"));
}

// The script in the background, which the test stops at a moment that it waits for. What it leaves
// running when it is killed becomes the test's child and is stopped too.
class RunningScript {
 public:
  RunningScript(const std::vector<std::string>& arguments, const Variables& environment) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::vector<std::string> words{variable("WW_SOURCE_DIR") + "/scripts/on_nvidia_gpu"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string program = variable("WW_BINARY_DIR") + "/bin/wirewatt";
    child_ = fork();
    if (child_ != 0) return;
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("WIREWATT", program.c_str(), 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  RunningScript(const RunningScript&) = delete;
  RunningScript& operator=(const RunningScript&) = delete;
  ~RunningScript() {
    if (child_ > 0) stop(SIGKILL);
    for (const pid_t left : children()) {
      kill(left, SIGTERM);
      waitpid(left, nullptr, 0);
    }
  }

  // False where the script ended or two minutes passed before `moment` came.
  template <class Moment>
  [[nodiscard]] bool reaches(const Moment& moment) {
    for (int i = 0; i < 2400; ++i) {
      if (moment()) return true;
      if (waitpid(child_, &status_, WNOHANG) == child_) {
        child_ = 0;
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // The exit code, or that of a shell for an end by a signal.
  int stop(int signal) {
    kill(child_, signal);
    waitpid(child_, &status_, 0);
    child_ = 0;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  static std::vector<pid_t> children() {
    const std::string own = std::to_string(getpid());
    std::ifstream file("/proc/" + own + "/task/" + own + "/children");
    return {std::istream_iterator<pid_t>(file), {}};
  }
  pid_t child_{};
  int status_{};
};

TEST_F(OnNvidiaGpu, StoppedInTheCampaignItKeepsAndJudgesWhatItHad) {
  const fs::path out = root_ / "out";
  RunningScript script({"--budget", "400", out.string()}, stubs());
  const auto recorded = [&] {
    const auto store = CampaignStore::open_read_only(out / "raw" / "crossing" / "campaign.db");
    const auto runs = store ? store->runs() : Result<std::vector<StoredRun>>{};
    return runs ? runs->size() : 0;
  };
  ASSERT_TRUE(script.reaches([&] { return recorded() >= 2; }));
  const std::size_t before = recorded();
  EXPECT_EQ(script.stop(SIGTERM), 1);
  const std::string summary = read_file(out / "summary.txt").value_or("");
  EXPECT_THAT(summary, HasSubstr("topology: exit 0"));
  EXPECT_THAT(summary, HasSubstr("calibrate: stopped"));
  EXPECT_THAT(summary, Not(HasSubstr("doctor")));
  EXPECT_GE(recorded(), before);
  const std::string files = listing(root_ / "out.tar.gz");
  for (const char* name : {"raw/devices.txt", "raw/topology.json", "raw/crossing/campaign.db",
                           "summary.txt", "judged/crossing."}) {
    EXPECT_THAT(files, HasSubstr(std::string("out/") + name));
  }
}

TEST_F(OnNvidiaGpu, KilledItLeavesTheArchiveOfItsLastStep) {
  const fs::path out = root_ / "out";
  RunningScript script({"--budget", "400", out.string()}, stubs());
  ASSERT_TRUE(script.reaches([&] {
    return fs::exists(root_ / "out.tar.gz") &&
           listing(root_ / "out.tar.gz").find("out/raw/topology.json") != std::string::npos;
  }));
  EXPECT_EQ(script.stop(SIGKILL), 128 + SIGKILL);
  const std::string files = listing(root_ / "out.tar.gz");
  for (const char* name : {"raw/devices.txt", "raw/topology.json", "summary.txt"}) {
    EXPECT_THAT(files, HasSubstr(std::string("out/") + name));
  }
}

// All that is whole at the moment of the stop is in the archive, whichever moment that is.
TEST_F(OnNvidiaGpu, UnderATimeoutAtTenMomentsItKeepsWhatItHadEachTime) {
  constexpr double kMoments[] = {0.5, 1, 1.5, 2, 3, 4, 5, 6.5, 8, 10};
  int with_runs = 0;
  for (const double moment : kMoments) {
    SCOPED_TRACE(moment);
    const fs::path out = root_ / "out";
    const fs::path archive = root_ / "out.tar.gz";
    fs::remove_all(out);
    fs::remove(archive);
    ProcessRequest request;
    request.command = {"timeout",
                       "--preserve-status",
                       "--kill-after=60",
                       std::to_string(moment),
                       variable("WW_SOURCE_DIR") + "/scripts/on_nvidia_gpu",
                       out.string()};
    request.environment = stubs();
    request.environment.emplace_back("WIREWATT", variable("WW_BINARY_DIR") + "/bin/wirewatt");
    request.limit = std::chrono::minutes(4);
    const auto result = run_process(request);
    ASSERT_TRUE(result) << result.error().text();
    if (!fs::exists(out)) continue;  // it had not yet seen the card
    ASSERT_TRUE(fs::exists(archive)) << result->errors;
    const std::string files = listing(archive);
    EXPECT_THAT(files, HasSubstr("out/summary.txt"));
    int kept = 0;
    for (const auto& entry : fs::recursive_directory_iterator(out / "raw")) {
      if (!entry.is_regular_file()) continue;
      // A database that is closed has lost its companions.
      const std::string name = fs::relative(entry.path(), root_).string();
      EXPECT_THAT(files, HasSubstr(name));
      ++kept;
    }
    const auto store = CampaignStore::open_read_only(out / "raw" / "crossing" / "campaign.db");
    const auto runs = store ? store->runs() : Result<std::vector<StoredRun>>{};
    const std::size_t recorded = runs ? runs->size() : 0;
    with_runs += recorded > 0 ? 1 : 0;
    std::string summary = read_file(out / "summary.txt").value_or("");
    std::ranges::replace(summary, '\n', ';');
    std::printf("stopped after %4.1f s: exit %d, %d raw files, %zu runs; %s\n", moment,
                result->exit_code, kept, recorded, summary.substr(0, 300).c_str());
  }
  // Some moments lie in the campaign, unless the machine is swamped.
  RecordProperty("moments_with_runs", with_runs);
}

TEST_F(OnNvidiaGpu, DoesTheOneStepThatIsAskedFor) {
  const auto result = start({"--only", "ladder", (root_ / "out").string()}, stubs());
  const std::string summary = read_file(root_ / "out" / "summary.txt").value_or("");
  EXPECT_EQ(result.exit_code, 0) << result.errors << summary;
  EXPECT_THAT(summary, HasSubstr("ladder: exit 0"));
  EXPECT_THAT(summary, HasSubstr("l2_read_less_l1 "));
  EXPECT_THAT(summary, Not(HasSubstr("calibrate")));
  EXPECT_THAT(listing(root_ / "out.tar.gz"), HasSubstr("out/raw/ladder/ladder.db"));

  const auto none = start({"--only", "laddr", (root_ / "none").string()}, stubs());
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.errors,
              HasSubstr("No step is called 'laddr'; there are topology calibrate ladder"));
}

TEST_F(OnNvidiaGpu, LeavesOutWhatTheBudgetDoesNotReachAndSaysSo) {
  // The folder is the caller's, not one of the checkout.
  const auto result = start({"--budget", "12", "out"}, stubs(), root_);
  EXPECT_EQ(result.exit_code, 1);
  const std::string summary = read_file(root_ / "out" / "summary.txt").value_or("");
  EXPECT_THAT(summary, HasSubstr("doctor: left out, the time is up"));
  EXPECT_THAT(listing(root_ / "out.tar.gz"), HasSubstr("out/summary.txt"));
}

}  // namespace
}  // namespace ww
