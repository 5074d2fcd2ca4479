// wirewatt estimate -- app on a card that is faked as files, where rocprofiler-sdk is a stub over
// the virtual GPU: the estimate equals that of a profile with the same counters, to the last digit.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "made_campaign.hpp"
#include "process.hpp"
#include "testing/fake_cards.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/profiler.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::HasSubstr;

class EstimateInside : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(hip_programs())) {
      GTEST_SKIP() << "Debian's packages clang-19 and lld-19 are not installed";
    }
    const FakeCards cards(file("sys"));
    const auto device = cards.add(0, "0000:03:00.0", "0x740f");
    FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("40000000\n"));
    FakeCards::write(cards.sysfs() / "class/kfd/kfd/topology/nodes/1/properties",
                     std::string("simd_count 416\nlocation_id 768\ndomain 0\n"
                                 "gfx_target_version 90010\n"));
    fs::create_directories(file("rocm/lib"));
  }
  void install_sdk() const {
    const std::string name = "librocprofiler-sdk.so.1";
    fs::copy(build_folder() / "lib/rocprofiler_stub/1" / name, file("rocm/lib/" + name));
    fs::create_symlink(name, file("rocm/lib/librocprofiler-sdk.so"));
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] static std::string hip_programs() {
    return (build_folder() / "bin/hip_programs").string();
  }
  // The program on the virtual GPU, which stands for the card. wirewatt itself has no HIP.
  [[nodiscard]] std::vector<std::string> program(const std::string& name,
                                                 const Environment& more = {}) const {
    std::vector<std::string> words{
        "env",
        "LD_LIBRARY_PATH=" + (build_folder() / "lib/wirewatt/hip").string() + ":" +
            file("rocm/lib"),
        "WIREWATT_CHIP=mi210", "WIREWATT_THREADS=1"};
    for (const auto& [variable, value] : more)
      words.push_back(fmt::format("{}={}", variable, value));
    words.insert(words.end(), {hip_programs(), name});
    return words;
  }
  [[nodiscard]] Finished estimate(const std::vector<std::string>& more) const {
    std::vector<std::string> words{wirewatt(), "estimate", "--json", "--constant", "literature"};
    words.insert(words.end(), more.begin(), more.end());
    return run(
        words,
        {{"WIREWATT_SYSFS", file("sys")}, {"ROCM_PATH", file("rocm")}, {"PATH", "/usr/bin:/bin"}});
  }
  [[nodiscard]] Finished estimate_program(const std::vector<std::string>& words) const {
    std::vector<std::string> more{"--"};
    more.insert(more.end(), words.begin(), words.end());
    return estimate(more);
  }
  // A run's table as rocprofv3 makes it on a card: without the virtual GPU's own counters.
  void keep_counters_of_a_card(const std::string& from, const std::string& to) const {
    const auto counters = measure::mapped_counters("gfx90a");
    std::ifstream rows(from);
    std::ofstream kept(to);
    bool header = true;
    for (std::string row; std::getline(rows, row); header = false) {
      const bool wanted = std::ranges::any_of(counters, [&row](const std::string& counter) {
        return row.find('"' + counter + '"') != std::string::npos;
      });
      if (header || wanted) kept << row << '\n';
    }
  }

  TemporaryFolder folder_;
};

// The card is named where it was counted.
json figures(json document) {
  for (const char* key : {"device"}) document.erase(key);
  return document;
}

class OfProgram : public EstimateInside, public ::testing::WithParamInterface<const char*> {};

TEST_P(OfProgram, EqualsTheProfile) {
  install_sdk();
  const auto inside = estimate_program(program(GetParam()));
  ASSERT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_THAT(inside.err, HasSubstr("from inside, through rocprofiler-sdk 1.0.0"));
  EXPECT_THAT(inside.err, HasSubstr("which runs it 2 times, one kernel at a time"));
  const auto alone = run(program(GetParam(), {{"WIREWATT_COUNTERS", file("all.csv")}}));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  keep_counters_of_a_card(file("all.csv"), file("card.csv"));
  const auto profile = estimate({"--arch", "gfx90a", "--counters", file("card.csv")});
  ASSERT_EQ(profile.exit_code, 0) << profile.err;
  const auto found = inside.json();
  ASSERT_FALSE(found.is_discarded()) << inside.out;
  EXPECT_EQ(figures(found), figures(profile.json()));
}

INSTANTIATE_TEST_SUITE_P(Hip, OfProgram,
                         ::testing::Values("streams", "reduce", "transpose", "symbols", "dynamic",
                                           "other launches", "managed", "struct", "calls",
                                           "clocks"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

// The joules of the card are those of the second run, which nothing disturbs.
TEST_F(EstimateInside, MeterCountsARunBeforeTheOneThatItMeters) {
  install_sdk();
  const auto made = run({(build_folder() / "bin/make_campaign").string(), file("model"), "1"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  std::vector<std::string> words{
      wirewatt(),      "meter", "--json", "--model", as_model_of_mi210(file("model")),
      "--count-first", "--"};
  for (const auto& word : program("reduce")) words.push_back(word);
  const auto metered = run(
      words,
      {{"WIREWATT_SYSFS", file("sys")}, {"ROCM_PATH", file("rocm")}, {"PATH", "/usr/bin:/bin"}});
  ASSERT_EQ(metered.exit_code, 0) << metered.err;
  EXPECT_THAT(metered.out, HasSubstr("a run before this one, by rocprofiler-sdk 1.0.0 inside it"));
  EXPECT_EQ(metered.out.find("reduce     ok"), metered.out.rfind("reduce     ok"));
}

TEST_F(EstimateInside, WithoutTheSdkNothingRunsAndAProfilerIsNamed) {
  const auto finished =
      estimate_program(program("reduce", {{"WIREWATT_COUNTERS", file("all.csv")}}));
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("rocprofv3"));
  EXPECT_FALSE(fs::exists(file("all.csv")));
}

TEST_F(EstimateInside, AProgramThatLoadsNoToolRunsAgainUnderAProfiler) {
  install_sdk();
  std::ofstream(file("table.csv"))
      << R"("Dispatch_Id","Agent_Id","Grid_Size","Kernel_Name","Counter_Name","Counter_Value"
1,4,65536,"copy","TCP_TCC_READ_REQ_sum",1000
1,4,65536,"copy","TCP_TCC_WRITE_REQ_sum",1000
)";
  fs::create_directories(file("bin"));
  std::ofstream(file("bin/rocprofv3")) << R"(#!/bin/sh
while [ "$1" != -- ]; do
  [ "$1" = -d ] && folder=$2
  shift
done
mkdir -p "$folder"
cp "$WW_PROFILE" "$folder/out_counter_collection.csv"
)";
  fs::permissions(file("bin/rocprofv3"), fs::perms::owner_all);
  const auto finished = run(
      {wirewatt(), "estimate", "--json", "--constant", "literature", "--", "touch", file("mark")},
      {{"WIREWATT_SYSFS", file("sys")},
       {"ROCM_PATH", file("rocm")},
       {"WW_PROFILE", file("table.csv")},
       {"PATH", file("bin") + ":/usr/bin:/bin"}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(fs::exists(file("mark")));
  EXPECT_THAT(finished.err, HasSubstr("It runs again under rocprofv3"));
  EXPECT_EQ(finished.json()["dispatches"], 1);
}

TEST_F(EstimateInside, ARefusedReleaseIsNamed) {
  install_sdk();
  const auto finished = run({"env", "WW_STUB_SDK=2.0", "WIREWATT_SYSFS=" + file("sys"),
                             "ROCM_PATH=" + file("rocm"), "PATH=/usr/bin:/bin", wirewatt(),
                             "estimate", "--constant", "literature", "--", "touch", file("mark")});
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("rocprofiler-sdk 2.0.0"));
  EXPECT_FALSE(fs::exists(file("mark")));
}

TEST_F(EstimateInside, TheProgramsOutputAndExitCodePassThrough) {
  install_sdk();
  auto words = program("reduce");
  std::string line;
  for (const auto& word : words) line += "'" + word + "' ";
  const auto finished = run({"env", "WIREWATT_SYSFS=" + file("sys"), "ROCM_PATH=" + file("rocm"),
                             "PATH=/usr/bin:/bin", wirewatt(), "estimate", "--constant",
                             "literature", "--", "sh", "-c", line + "; exit 9"});
  EXPECT_EQ(finished.exit_code, 9) << finished.err;
  const auto first = finished.out.find("reduce     ok");
  ASSERT_NE(first, std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("reduce     ok", first + 1), std::string::npos);
}

}  // namespace
}  // namespace ww::e2e
