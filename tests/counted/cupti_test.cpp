// NVIDIA's kernels counted from inside a program by CUPTI, which is a stub over the stub of the
// driver here: every count equals what that stub says it gave, or the reason is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "process.hpp"
#include "stub_fixture.hpp"
#include "ww/measure/profiler.hpp"

namespace ww::e2e {
namespace {

using measure::CounterDispatch;
using measure::Profiler;
using ::testing::HasSubstr;

constexpr const char* kPart = "sm_90";

class CountedByCupti : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "an NVIDIA driver is installed here";
    const auto lib = build_folder() / "lib";
    std::ofstream(file("config")) << "lanes 1\nloops 16\n";
    variables_.set("LD_LIBRARY_PATH", (lib / "stub_cupti").string() + ":" +
                                          (lib / "stubs").string() + ":" +
                                          (lib / "nvml_stub").string());
    variables_.set("CUDA_HOME", file("no-cuda"));
    variables_.set("WW_NVML_STUB", folder_.path().string());
    variables_.set("WW_STUB_CUDA_PCI", "0000:c1:00.0");
    variables_.set("WW_STUB_CUPTI_ORACLE", file("oracle"));
    variables_.set("WIREWATT_SYSFS", file("sys"));
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  void fault(const std::string& words) { variables_.set("WW_STUB_CUPTI_FAULTS", words); }
  [[nodiscard]] Result<measure::Profile> count(const std::vector<std::string>& command) const {
    const auto installed = measure::installed_profilers(kPart);
    const auto cupti =
        std::ranges::find(installed, Profiler::cupti, &measure::InstalledProfiler::profiler);
    if (cupti == installed.end()) return fail(ErrorCode::not_found, "CUPTI was not found");
    measure::ProfileRequest request;
    request.architecture = kPart;
    request.command = command;
    return measure::profile(*cupti, request);
  }
  [[nodiscard]] Result<measure::Profile> count_exercise() const {
    return count({wirewatt(), "--quiet", "exercise", "--device", "cuda:0"});
  }
  // The values that the stub gave, in the order of the launches.
  [[nodiscard]] std::vector<std::pair<std::string, std::map<std::string, double>>> oracle() const {
    std::vector<std::pair<std::string, std::map<std::string, double>>> launches;
    std::ifstream lines(file("oracle"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string kernel, counter, value;
      std::getline(fields, kernel, ',');
      std::getline(fields, counter, ',');
      std::getline(fields, value);
      if (counter == "gpu__time_duration.sum") launches.push_back({kernel, {}});
      launches.back().second[counter] = std::stod(value);
    }
    return launches;
  }

  TemporaryFolder folder_;
  Variables variables_;
};

TEST_F(CountedByCupti, HasEveryCountOfEveryLaunch) {
  const auto profile = count_exercise();
  ASSERT_TRUE(profile) << profile.error().text();
  const auto should = oracle();
  ASSERT_FALSE(should.empty());
  ASSERT_EQ(profile->counters.dispatches.size(), should.size());
  EXPECT_EQ(profile->counters.architecture, "sm_90");
  for (std::size_t i = 0; i < should.size(); ++i) {
    const CounterDispatch& dispatch = profile->counters.dispatches[i];
    EXPECT_EQ(dispatch.kernel, should[i].first);
    EXPECT_EQ(dispatch.duration_ns, should[i].second.at("gpu__time_duration.sum"));
    for (const std::string& counter : measure::mapped_counters(kPart)) {
      EXPECT_EQ(dispatch.counters.at(counter), should[i].second.at(counter)) << counter;
    }
  }
  std::printf("%zu launches, %zu counters each\n", should.size(),
              measure::mapped_counters(kPart).size());
}

struct Refusal {
  std::string fault, says;
};
class EveryRefusal : public CountedByCupti, public ::testing::WithParamInterface<Refusal> {};

TEST_P(EveryRefusal, GivesTheReason) {
  fault(GetParam().fault);
  const auto profile = count_exercise();
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Cupti, EveryRefusal,
    ::testing::Values(Refusal{"denied", "NVreg_RestrictProfilingToAdminUsers=0"},
                      Refusal{"virtual", "a virtual GPU shows no counters"},
                      Refusal{"taken", "another profiler is in the program"},
                      Refusal{"no_start", "does not start"},
                      Refusal{"dropped", "so which is which is not known"},
                      Refusal{"lacks:dram__bytes_read.sum",
                              "the device has no counter "
                              "dram__bytes_read.sum"}),
    [](const auto& of) { return of.param.fault.substr(0, of.param.fault.find(':')); });

// The program's own end is never touched.
TEST_F(CountedByCupti, AProgramWithoutTheDeviceIsNoZero) {
  const auto profile = count({"true"});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("the program used no NVIDIA GPU"));
}

TEST_F(CountedByCupti, ValuesThatAreNotGivenAreMissing) {
  fault("no_values");
  const auto profile = count_exercise();
  ASSERT_TRUE(profile) << profile.error().text();
  for (const CounterDispatch& dispatch : profile->counters.dispatches) {
    EXPECT_TRUE(dispatch.counters.empty());
    EXPECT_TRUE(dispatch.missing.contains("dram__bytes_read.sum"));
  }
}

// What an owner types on a node without ncu.
TEST_F(CountedByCupti, EstimateCountsWhereNcuIsNotInstalled) {
  variables_.set("PATH", "/usr/bin:/bin");
  const auto finished =
      run({wirewatt(), "estimate", "--json", "--constant", "literature", "--device", "cuda:0", "--",
           wirewatt(), "--quiet", "exercise", "--device", "cuda:0"},
          {});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("with CUPTI"));
  EXPECT_GT(finished.json().at("total").at("segments").at(1).at("bytes").get<double>(), 0);
}

}  // namespace
}  // namespace ww::e2e
