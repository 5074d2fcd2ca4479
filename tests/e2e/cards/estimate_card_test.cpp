// wirewatt estimate -- app where a card is: the program is counted on the card, or refused before
// it runs. The card is a tree of kernel files, the profiler a script.
#include <gmock/gmock.h>

#include <fstream>

#include "fake_profiler.hpp"
#include "made_campaign.hpp"
#include "process.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// 1,000 requests of 64 B each way in a millisecond.
constexpr const char* kTable =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
1,1,4,1,7,7,65536,1,"copy",256,0,0,8,16,"TCP_TCC_READ_REQ_sum",1000,1000000,2000000
1,1,4,1,7,7,65536,1,"copy",256,0,0,8,16,"TCP_TCC_WRITE_REQ_sum",1000,1000000,2000000
)";

class EstimateOnCard : public OfAMadeCampaign {
 protected:
  EstimateOnCard() {
    std::ofstream(file("table.csv")) << kTable;
    fs::create_directories(file("bin"));
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  // The card at 03:00.0, as KFD has it.
  void add_card(const std::string& device_id, int gfx_target_version) const {
    const FakeCards cards(file("sys"));
    const auto device = cards.add(0, "0000:03:00.0", device_id);
    FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("40000000\n"));
    FakeCards::write(cards.sysfs() / "class/kfd/kfd/topology/nodes/1/properties",
                     "simd_count 416\nlocation_id 768\ndomain 0\ngfx_target_version " +
                         std::to_string(gfx_target_version) + "\n");
  }
  void install_profiler(const fs::path& program) const {
    fs::create_directories(program.parent_path());
    std::ofstream(program) << kFakeProfiler;
    fs::permissions(program, fs::perms::owner_all);
  }
  // Estimates a program that leaves a mark.
  [[nodiscard]] Finished estimate(std::vector<std::string> options) const {
    std::vector<std::string> words{wirewatt(), "estimate", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "touch", file("mark")});
    return run(words, {{"WIREWATT_SYSFS", file("sys")},
                       {"WW_PROFILE", file("table.csv")},
                       {"ROCM_PATH", file("rocm")},
                       {"PATH", file("bin") + ":/usr/bin:/bin"}});
  }
  [[nodiscard]] bool ran() const { return fs::exists(file("mark")); }

  TemporaryFolder folder_;
};

TEST_F(EstimateOnCard, CountsTheProgramThereAndSaysWhatItCostsBeforehand) {
  add_card("0x740f", 90010);
  install_profiler(file("bin/rocprofv3"));
  const auto finished = estimate({"--constant", "literature"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(ran());
  EXPECT_THAT(finished.err, HasSubstr("on pci:0000:03:00.0 (gfx90a) with rocprofv3"));
  EXPECT_THAT(finished.err, HasSubstr("which runs it 3 times"));
  EXPECT_EQ(finished.json().value("virtual", true), false) << finished.out;
  EXPECT_THAT(finished.out, Not(HasSubstr("w9100")));
}

TEST_F(EstimateOnCard, FindsTheProfilerBesideRocmsLibraries) {
  add_card("0x740f", 90010);
  fs::create_directories(file("rocm/lib"));
  install_profiler(file("rocm/bin/rocprofv3"));
  const auto finished = estimate({"--constant", "literature"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(ran());
}

TEST_F(EstimateOnCard, WithoutAProfilerNothingRunsAndItsLineIsPrinted) {
  add_card("0x740f", 90010);
  const auto finished = estimate({"--constant", "literature"});
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_FALSE(ran());
  EXPECT_THAT(finished.err, HasSubstr("rocprofv3 -i counters/input.txt"));
  EXPECT_THAT(finished.err, HasSubstr("pmc: TCP_TOTAL_CACHE_ACCESSES_sum TCP_TCC_READ_REQ_sum"));
  EXPECT_THAT(finished.err, HasSubstr("-- touch " + file("mark")));
}

TEST_F(EstimateOnCard, OfAnotherPartThanTheModelsNothingRuns) {
  add_card("0x738c", 90008);
  install_profiler(file("bin/rocprofv3"));
  auto calibrated = json::parse(std::ifstream(model() + "/model.json"));
  calibrated["device"] = "hip:0";
  calibrated["target"] = "gfx90a";
  std::ofstream(file("model.json")) << calibrated.dump();
  const auto finished = estimate({"--model", file("model.json")});
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  EXPECT_FALSE(ran());
  EXPECT_THAT(finished.err, HasSubstr("gfx908"));
}

TEST_F(EstimateOnCard, WithoutKnownCountersNothingRuns) {
  add_card("0x1234", 30000);
  install_profiler(file("bin/rocprofv3"));
  const auto finished = estimate({"--constant", "literature"});
  EXPECT_NE(finished.exit_code, 0) << finished.out;
  EXPECT_FALSE(ran());
}

}  // namespace
}  // namespace ww::e2e
