// scripts/on_amd_gpu: where there is no AMD GPU it says so with exit code 3. On a card whose driver
// fails at every launch it keeps an archive with what was found all the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "process.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using ::testing::HasSubstr;

class OnAmdGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (fs::exists("/dev/kfd")) GTEST_SKIP() << "AMD's driver is installed here";
    fs::create_directories(folder_.path() / "sys/class/drm");
    fs::create_directories(folder_.path() / "vendors");
  }
  [[nodiscard]] Finished start(const std::vector<std::string>& words, const Environment& more) {
    std::vector<std::string> command{(source_folder() / "scripts/on_amd_gpu").string()};
    command.insert(command.end(), words.begin(), words.end());
    Environment all{{"WIREWATT", wirewatt()},
                    {"OCL_ICD_VENDORS", (folder_.path() / "vendors").string()},
                    {"WIREWATT_SYSFS", (folder_.path() / "sys").string()},
                    {"WIREWATT_STATE_DIR", (folder_.path() / "state").string()}};
    all.insert(all.end(), more.begin(), more.end());
    return run(command, all);
  }
  TemporaryFolder folder_;
};

TEST_F(OnAmdGpu, WithoutOneItSaysSoWithExitCode3) {
  const auto out = folder_.path() / "out";
  const auto finished = start({out.string()}, {});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("No AMD GPU here (hip:0"));
  EXPECT_FALSE(fs::exists(out));
}

TEST_F(OnAmdGpu, OnADriverThatFailsItKeepsAnArchiveOfWhatItFound) {
  const FakeCards cards(folder_.path() / "sys");
  const auto device = cards.add(0, "0000:03:00.0", "0x73bf");
  FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("15000000\n"));
  const auto libraries = folder_.path() / "lib";
  fs::create_directories(libraries);
  fs::create_symlink(build_folder() / "lib/stubs/libamdhip64.so.6", libraries / "libamdhip64.so.6");
  const auto out = folder_.path() / "out";
  const auto finished = start({"--budget", "60", out.string()},
                              {{"LD_LIBRARY_PATH", libraries.string()},
                               {"WW_STUB_HIP_FAULT", "exit"},
                               {"WW_STUB_HIP_CARDS", "0000:03:00.0 gfx1030 AMD Radeon RX 6800\n"}});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  std::ifstream file(out / "summary.txt");
  const std::string summary{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(summary, HasSubstr("selftest: exit 1"));
  EXPECT_THAT(summary, HasSubstr("calibrate: "));
  EXPECT_TRUE(fs::exists(out / "raw/selftest.wwst"));
  EXPECT_TRUE(fs::exists(out / "raw/choices.txt"));
  EXPECT_TRUE(fs::exists(out.string() + ".tar.gz"));
}

}  // namespace
}  // namespace ww::e2e
