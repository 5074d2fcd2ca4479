// wirewatt top on a real GPU, faked as a tree of kernel files: device power from its sensor, the
// segments from a profile, scaled by how busy the driver says it is.
#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "fake_profiler.hpp"
#include "made_campaign.hpp"
#include "process.hpp"
#include "testing/fake_amd_tree.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using nlohmann::json;
using testing::HasSubstr;

// 200 million requests of 64 B in a millisecond.
constexpr const char* kProfile =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,4,1,7,7,65536,1,"copy",256,0,0,8,16,"TCP_TCC_READ_REQ_sum",100000000,1000000,2000000
1,1,4,1,7,7,65536,1,"copy",256,0,0,8,16,"TCP_TCC_WRITE_REQ_sum",100000000,1000000,2000000
)";

class TopOnCard : public OfAMadeCampaign {
 protected:
  TopOnCard() : model_file_(as_model_of_mi210(model())), tree_(folder_.path() / "sys") {
    std::ofstream(folder_.path() / "profile.csv") << kProfile;
  }
  // The lines of JSON until the program ends, or is ended after `seconds`.
  std::vector<json> lines(const std::vector<std::string>& more, const char* seconds = "3") {
    std::vector<std::string> command{"timeout", "-s",       "INT",      seconds,      wirewatt(),
                                     "top",     "--device", "gpu:0",    "--interval", "0.1",
                                     "--json",  "--model",  model_file_};
    command.insert(command.end(), more.begin(), more.end());
    finished_ = run(command, {{"WIREWATT_SYSFS", (folder_.path() / "sys").string()},
                              {"WW_PROFILE", (folder_.path() / "profile.csv").string()},
                              {"PATH", (folder_.path() / "bin").string() + ":/usr/bin:/bin"}});
    std::vector<json> parsed;
    std::istringstream text(finished_.out);
    for (std::string line; std::getline(text, line);) parsed.push_back(parse_json(line));
    return parsed;
  }
  static double l1_l2_w(const json& line) {
    const json& power = line.at("segments").at(1).at("power_w");
    return power.is_null() ? -1 : power.at("value").get<double>();
  }

  std::string model_file_;
  TemporaryFolder folder_;
  FakeAmdTree tree_;
  Finished finished_;
};

TEST_F(TopOnCard, ScalesTheProfileByHowBusyTheCardIs) {
  const auto counters = (folder_.path() / "profile.csv").string();
  const std::vector<std::string> options{"--counters", counters, "--arch", "gfx90a"};
  tree_.write(tree_.device() / "gpu_busy_percent", "100");
  const auto whole = lines(options);
  ASSERT_FALSE(whole.empty()) << finished_.err;
  tree_.write(tree_.device() / "gpu_busy_percent", "25");
  const auto quarter = lines(options);
  ASSERT_FALSE(quarter.empty()) << finished_.err;
  EXPECT_GT(l1_l2_w(whole.back()), 0);
  EXPECT_NEAR(l1_l2_w(quarter.back()), l1_l2_w(whole.back()) / 4, 1e-6 * l1_l2_w(whole.back()));
  EXPECT_DOUBLE_EQ(quarter.back().at("busy_share").get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(quarter.back().at("device_w").get<double>(), 100);
  EXPECT_EQ(quarter.back().at("segments").at(1).at("status"), "estimated");
  EXPECT_THAT(quarter.back().at("source").get<std::string>(), HasSubstr("profile.csv"));
  // The model here is of a virtual chip, and is not passed off as another.
  EXPECT_EQ(quarter.back().at("virtual"), true);
}

TEST_F(TopOnCard, WithoutCountersTheSensorAloneIsShown) {
  const auto shown = lines({});
  ASSERT_FALSE(shown.empty()) << finished_.err;
  EXPECT_DOUBLE_EQ(shown.back().at("device_w").get<double>(), 100);
  EXPECT_THAT(shown.back().at("device").get<std::string>(), HasSubstr("at 0000:03:00.0"));
  EXPECT_FALSE(shown.back().contains("device_w_of"));  // the card alone
  EXPECT_EQ(shown.back().at("segments").at(1).at("status"), "unavailable");
  EXPECT_TRUE(shown.back().at("segments").at(1).at("power_w").is_null());
}

TEST_F(TopOnCard, SaysThatTheSensorHasFallenSilent) {
  // The card sleeps as soon as the program begins: nothing is read from then on.
  const auto file = (tree_.hwmon() / "power1_average").string();
  tree_.write(tree_.device() / "gpu_busy_percent", "50");
  const auto installed = folder_.path() / "bin/rocprofv3";
  std::filesystem::create_directories(installed.parent_path());
  std::ofstream(installed) << kFakeProfiler;
  std::filesystem::permissions(installed, std::filesystem::perms::owner_all);
  const auto shown =
      lines({"--arch", "gfx90a", "--", "sh", "-c",
             "sleep 0.4; : > '" + file + "'; : > '" + (tree_.device() / "gpu_metrics").string() +
                 "'; : > '" + (tree_.device() / "gpu_busy_percent").string() + "'; sleep 0.6"},
            "30");
  ASSERT_GE(shown.size(), 2U) << finished_.err;
  EXPECT_FALSE(shown.back().contains("device_w"));
  EXPECT_THAT(shown.back().at("no_device_w").get<std::string>(), HasSubstr("sleeps"));
  // Nor is the profile taken for a card that works without a pause.
  EXPECT_EQ(l1_l2_w(shown.front()), -1);
  EXPECT_EQ(shown.front().at("segments").at(1).at("status"), "unavailable");
}

TEST_F(TopOnCard, SaysThatThePowerIsThatOfBothDies) {
  tree_.write(tree_.device() / "device", "0x7408");
  const auto shown = lines({});
  ASSERT_FALSE(shown.empty()) << finished_.err;
  EXPECT_THAT(shown.back().at("device_w_of").get<std::string>(), HasSubstr("both dies"));
}

TEST_F(TopOnCard, AProgramIsCountedFirstAndThenWatched) {
  const auto installed = folder_.path() / "bin/rocprofv3";
  std::filesystem::create_directories(installed.parent_path());
  std::ofstream(installed) << kFakeProfiler;
  std::filesystem::permissions(installed, std::filesystem::perms::owner_all);
  tree_.write(tree_.device() / "gpu_busy_percent", "50");
  const auto shown = lines({"--arch", "gfx90a", "--", "sh", "-c", "sleep 0.5; exit 7"}, "30");
  ASSERT_GE(shown.size(), 2U) << finished_.err;
  EXPECT_EQ(finished_.exit_code, 7) << finished_.err;
  EXPECT_GT(l1_l2_w(shown.front()), 0);
  EXPECT_THAT(shown.front().at("source").get<std::string>(), HasSubstr("rocprofv3"));
  EXPECT_EQ(shown.back().at("running"), false);
}

// A bit costs something else on another part, on a card and on the virtual GPU.
TEST_F(TopOnCard, ACalibrationOfAnotherPartIsRefused) {
  model_file_ = model() + "/model.json";  // a W9100's
  EXPECT_TRUE(
      lines({"--counters", (folder_.path() / "profile.csv").string(), "--arch", "gfx90a"}).empty());
  EXPECT_EQ(finished_.exit_code, 2);
  EXPECT_THAT(finished_.err, HasSubstr("is of gfx90a, the calibration of gfx701"));
  const auto traced = (folder_.path() / "app.pftrace").string();
  for (const auto& command :
       {std::vector<std::string>{"top"}, std::vector<std::string>{"run", "--timeline", traced}}) {
    std::vector<std::string> words{wirewatt()};
    words.insert(words.end(), command.begin(), command.end());
    words.insert(words.end(), {"--model", model_file_, "--device", "virtual:mi210", "--", "true"});
    const auto finished = run(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("virtual:mi210: is of gfx90a, the calibration of gfx701"));
  }
}

TEST_F(TopOnCard, AProgramIsCountedByTheCalibrationsArchitecture) {
  lines({"--", "true"});  // no profiler is installed
  EXPECT_EQ(finished_.exit_code, 3) << finished_.err;
  EXPECT_THAT(finished_.err, HasSubstr("rocprof"));
}

}  // namespace
}  // namespace ww::e2e
