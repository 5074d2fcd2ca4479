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
  [[nodiscard]] Result<measure::Profile> count(const std::vector<std::string>& command,
                                               const std::string& kernels = "") const {
    const auto installed = measure::installed_profilers(kPart);
    const auto cupti =
        std::ranges::find(installed, Profiler::cupti, &measure::InstalledProfiler::profiler);
    if (cupti == installed.end()) return fail(ErrorCode::not_found, "CUPTI was not found");
    measure::ProfileRequest request;
    request.architecture = kPart;
    request.command = command;
    request.kernels = kernels;
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

// Launches gemm, copy, copy, gemm, sum, copy through the driver's own interface, each of another
// size. The stub's values follow from a launch and not from what was launched before it.
constexpr const char* kThreeKernels = R"(
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *words):
    code = getattr(cuda, name)(*words)
    assert code == 0, (name, code)
context, module = ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
entries = "".join(".visible .entry %s()\n{\n ret;\n}\n" % name for name in ("gemm", "copy", "sum"))
text = (".version 6.0\n.target sm_70\n.address_size 64\n" + entries).encode()
call("cuModuleLoadDataEx", ctypes.byref(module), text, 0, None, None)
size, none = ctypes.c_size_t(0), ctypes.create_string_buffer(8)
extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(none), 2, ctypes.addressof(size), None)
for groups, name in enumerate(("gemm", "copy", "copy", "gemm", "sum", "copy"), 1):
    function = ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    call("cuLaunchKernel", function, groups, 1, 1, 32, 1, 1, 0, None, None, extra)
call("cuCtxSynchronize")
)";

TEST_F(CountedByCupti, OnlyKernelsWhoseNamesMatchAreCounted) {
  const std::vector<std::string> program{"/usr/bin/python3", "-c", kThreeKernels};
  const auto all = count(program);
  ASSERT_TRUE(all) << all.error().text();
  ASSERT_EQ(all->counters.dispatches.size(), 6U);
  for (const auto& [kernels, wanted] :
       std::map<std::string, std::vector<std::size_t>>{{"gemm", {0, 3}},
                                                       {"copy", {1, 2, 5}},
                                                       {"^(gemm|sum)$", {0, 3, 4}},
                                                       {"u", {4}},
                                                       {".", {0, 1, 2, 3, 4, 5}}}) {
    fs::remove(file("oracle"));
    const auto some = count(program, kernels);
    ASSERT_TRUE(some) << some.error().text();
    EXPECT_EQ(oracle().size(), wanted.size()) << "CUPTI counted others, too";
    ASSERT_EQ(some->counters.dispatches.size(), wanted.size()) << kernels;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const CounterDispatch& is = some->counters.dispatches[i];
      const CounterDispatch& should = all->counters.dispatches[wanted[i]];
      EXPECT_EQ(is.kernel, should.kernel);
      EXPECT_EQ(is.counters, should.counters);
      EXPECT_EQ(is.duration_ns, should.duration_ns);
    }
    std::printf("%s: %zu of 6 launches counted\n", kernels.c_str(), wanted.size());
  }
}

TEST_F(CountedByCupti, AFilterThatMatchesNothingNamesTheKernels) {
  const auto none = count({"/usr/bin/python3", "-c", kThreeKernels}, "axpy");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(none.error().text(),
              HasSubstr("no kernel matches 'axpy'; there are copy, gemm, sum"));
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

// The command that an owner types on a node without ncu.
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
