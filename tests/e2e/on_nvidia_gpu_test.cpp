// scripts/on_nvidia_gpu: where there is no NVIDIA GPU it says so with exit code 3; on the stub
// libcuda it finds the sides, proves the pinning and says what failed for want of a sensor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "ww/core/atomic_file.hpp"
#include "ww/core/subprocess.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

ProcessResult start(const fs::path& out, const std::string& libraries) {
  ProcessRequest request;
  request.command = {variable("WW_SOURCE_DIR") + "/scripts/on_nvidia_gpu", out.string()};
  request.environment = {{"WIREWATT", variable("WW_BINARY_DIR") + "/bin/wirewatt"},
                         {"LD_LIBRARY_PATH", libraries}};
  request.limit = std::chrono::minutes(8);
  const auto result = run_process(request);
  EXPECT_TRUE(result) << result.error().text();
  return result.value_or(ProcessResult{});
}

class OnNvidiaGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "an NVIDIA driver is installed here";
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path root_ = fs::temp_directory_path() / ("ww_on_nvidia_" + std::to_string(getpid()));
};

TEST_F(OnNvidiaGpu, WithoutOneItSaysSoWithExitCode3) {
  const auto result = start(root_ / "out", "");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("No NVIDIA GPU here"));
  EXPECT_THAT(result.errors, HasSubstr("nvidia-driver"));
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

TEST_F(OnNvidiaGpu, OnTheStubItProvesPinningAndNamesWhatFailed) {
  const auto result = start(root_ / "out", variable("WW_BINARY_DIR") + "/lib/stubs");
  EXPECT_EQ(result.exit_code, 1) << result.errors;
  const std::string summary = read_file(root_ / "out" / "summary.txt").value_or("");
  EXPECT_THAT(summary, HasSubstr("topology: exit 0"));
  EXPECT_THAT(summary, HasSubstr("pinning: 512 wavefronts on 8 SMs"));
  EXPECT_THAT(summary, HasSubstr("calibrate: exit"));
  EXPECT_THAT(summary, HasSubstr("power cannot be read"));
  EXPECT_THAT(read_file(root_ / "out" / "topology.json").value_or(""),
              HasSubstr("\"side_of_place\""));
  EXPECT_TRUE(fs::exists(root_ / "out.tar.gz"));
}

}  // namespace
}  // namespace ww
