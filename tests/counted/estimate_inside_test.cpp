// wirewatt estimate -- app on a card that is faked as files, where rocprofiler-sdk is a stub over
// the virtual GPU: the estimate equals that of a profile with the same counters, to the last digit.
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "faked_card.hpp"
#include "made_campaign.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using EstimateInside = FakedCard;

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

// --- some kernels alone, and a limit
// ---------------------------------------------------------------

TEST_F(EstimateInside, CountsTheNamedKernelsAlone) {
  install_sdk();
  const auto words = program("streams");
  std::vector<std::string> more{"-k", "stream_(copy|add)", "--"};
  more.insert(more.end(), words.begin(), words.end());
  const auto inside = estimate(more);
  ASSERT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_THAT(inside.err, HasSubstr("one kernel at a time, also those that are not counted"));
  EXPECT_EQ(inside.json()["dispatches"], 2);
  const auto alone = run(program("streams", {{"WIREWATT_COUNTERS", file("all.csv")}}));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  keep_counters_of_a_card(file("all.csv"), file("card.csv"));
  const auto profile =
      estimate({"--arch", "gfx90a", "-k", "stream_(copy|add)", "--counters", file("card.csv")});
  ASSERT_EQ(profile.exit_code, 0) << profile.err;
  EXPECT_EQ(inside.json().at("total").at("segments"), profile.json().at("total").at("segments"));
}

TEST_F(EstimateInside, NamesTheKernelsWhereNoneMatches) {
  install_sdk();
  const auto words = program("streams");
  std::vector<std::string> more{"-k", "gemm", "--"};
  more.insert(more.end(), words.begin(), words.end());
  const auto finished = estimate(more);
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("no kernel matches 'gemm'; there are"));
  EXPECT_THAT(finished.err, HasSubstr("stream_copy"));
}

TEST_F(EstimateInside, RefusesABadExpressionBeforeTheProgramRuns) {
  install_sdk();
  const auto finished = estimate({"-k", "(", "--", "touch", file("mark")});
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("no regular expression"));
  EXPECT_FALSE(fs::exists(file("mark")));
}

// As kernels that wait for one another would make it.
TEST_F(EstimateInside, EndsAProgramAtItsLimitAndSaysWhy) {
  install_sdk();
  std::string line;
  for (const auto& word : program("reduce")) line += "'" + word + "' ";
  const auto begin = std::chrono::steady_clock::now();
  const auto finished = estimate({"--limit", "1.5", "--", "sh", "-c", line + "; exec sleep 60"});
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_NE(finished.exit_code, 0) << finished.out;
  EXPECT_LT(took, std::chrono::seconds(40));
  EXPECT_THAT(finished.err, HasSubstr("a run is ended after 1.5 s"));
  EXPECT_THAT(finished.err, HasSubstr("was ended after 1.5 s, its limit, with 1 launches counted"));
  EXPECT_THAT(finished.err, HasSubstr("those that wait for one another never end"));
}

TEST_F(EstimateInside, ALimitIsForCardsAlone) {
  const auto finished = estimate({"--limit", "5", "--counters", file("card.csv")});
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("--limit"));
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
