// wirewatt top and wirewatt meter on a card that is faked as files, where rocprofiler-sdk is a stub
// over the virtual GPU: the joules by segment of a program that runs equal those of `estimate` on
// what the virtual GPU itself counted in the same run.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "faked_card.hpp"
#include "made_campaign.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class LiveInside : public FakedCard {
 protected:
  void SetUp() override {
    FakedCard::SetUp();
    if (IsSkipped()) return;
    const auto made = run({(build_folder() / "bin/make_campaign").string(), file("model"), "1"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    model_ = as_model_of_mi210(file("model"));
  }
  // A program that launches for so many milliseconds, with the virtual GPU's own counts beside.
  [[nodiscard]] std::vector<std::string> steady(const std::string& ms,
                                                const std::string& faults = "") const {
    auto words =
        program("", {{"WIREWATT_COUNTERS", file("all.csv")}, {"WW_STUB_SDK_FAULTS", faults}});
    words.resize(words.size() - 2);
    words.insert(words.end(), {(build_folder() / "bin/counted_processes").string(), "steady", ms});
    return words;
  }
  [[nodiscard]] Finished with_the_card(std::vector<std::string> words,
                                       const std::vector<std::string>& program) const {
    words.insert(words.end(), program.begin(), program.end());
    return run(
        words,
        {{"WIREWATT_SYSFS", file("sys")}, {"ROCM_PATH", file("rocm")}, {"PATH", "/usr/bin:/bin"}});
  }
  // The joules that `estimate` finds from the virtual GPU's counts, read as a card would give them.
  [[nodiscard]] json estimated() const {
    keep_counters_of_a_card(file("all.csv"), file("card.csv"));
    const auto finished = run({wirewatt(), "estimate", "--json", "--model", model_, "--arch",
                               "gfx90a", "--counters", file("card.csv")});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("total").at("segments");
  }
  [[nodiscard]] static std::vector<json> lines(const Finished& finished) {
    std::vector<json> parsed;
    std::istringstream text(finished.out);
    for (std::string line; std::getline(text, line);) parsed.push_back(parse_json(line));
    return parsed;
  }

  std::string model_;
};

// WW_LIVE_SECONDS=60 asks whether the cost is as small as promised, which the start of `top` hides
// in a short run.
constexpr int kLong = 60;
int seconds_of_a_run() {
  const char* text = std::getenv("WW_LIVE_SECONDS");
  return text == nullptr ? 3 : std::max(3, std::atoi(text));
}

// Joules by segment, where both have them; how many do.
int compare(const json& shown, const json& estimated) {
  int compared = 0;
  for (std::size_t s = 0; s < estimated.size(); ++s) {
    const json& of_estimate = estimated.at(s).at("energy_j");
    const json& live = shown.at(s).at("energy_j");
    EXPECT_EQ(live.is_null(), of_estimate.is_null()) << s;
    if (live.is_null() || of_estimate.is_null()) continue;
    ++compared;
    std::printf("segment %zu: live %.9g J, estimated %.9g J\n", s, live.at("value").get<double>(),
                of_estimate.at("value").get<double>());
    for (const char* end : {"value", "low", "high"}) {
      const double should = of_estimate.at(end).get<double>();
      EXPECT_NEAR(live.at(end).get<double>(), should, 0.01 * std::abs(should)) << s << " " << end;
    }
  }
  return compared;
}

TEST_F(LiveInside, TopHasTheJoulesOfTheEstimate) {
  install_sdk();
  const int seconds = seconds_of_a_run();
  const auto finished =
      with_the_card({wirewatt(), "top", "--json", "--interval", seconds < kLong ? "0.5" : "1",
                     "--device", "gpu:0", "--model", model_, "--"},
                    steady(std::to_string(1000 * seconds)));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto shown = lines(finished);
  ASSERT_GE(shown.size(), 4U) << finished.out;
  EXPECT_THAT(shown.back().at("source").get<std::string>(),
              HasSubstr("counters of the whole card, other processes included, by rocprofiler-sdk "
                        "1.0.0 inside the program"));
  EXPECT_EQ(compare(shown.back().at("segments"), estimated()), 2);
  const double own = shown.back().at("cpu_s").get<double>() / seconds;
  const double sampling = shown.back().at("counting_cpu_s").get<double>() / seconds;
  std::printf("of a core, in %d s: top %.3f%%, the thread that samples %.3f%%\n", seconds,
              100 * own, 100 * sampling);
  constexpr double kMaxShare = 0.005;
  if (seconds >= kLong) {
    EXPECT_LE(own + sampling, kMaxShare);
  }
  // It is live: joules grow from line to line.
  const auto joules = [](const json& line) {
    const json& energy = line.at("segments").at(1).at("energy_j");
    return energy.is_null() ? 0.0 : energy.at("value").get<double>();
  };
  EXPECT_GT(joules(shown.at(shown.size() / 2)), 0);
  EXPECT_LT(joules(shown.at(shown.size() / 2)), joules(shown.back()));
  EXPECT_THAT(finished.err, ::testing::Not(HasSubstr("runs twice")));
}

TEST_F(LiveInside, TopSaysWhyNothingIsCounted) {
  install_sdk();
  const auto finished = with_the_card({wirewatt(), "top", "--json", "--interval", "0.2", "--device",
                                       "gpu:0", "--model", model_, "--"},
                                      steady("800", "denied"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto shown = lines(finished);
  ASSERT_FALSE(shown.empty());
  EXPECT_THAT(shown.back().at("no_counts").get<std::string>(), HasSubstr("permission denied"));
  EXPECT_EQ(shown.back().at("segments").at(1).at("status"), "unavailable");
  EXPECT_TRUE(shown.back().at("segments").at(1).at("energy_j").is_null());
}

// The process that counts has a virtual GPU of its own here, on which nothing runs: on a card its
// counts would be those of all processes.
TEST_F(LiveInside, TopCountsBesideProgramsThatRunAlready) {
  install_sdk();
  const auto finished = run(
      {"timeout", "-s", "INT", "4", wirewatt(), "top", "--json", "--interval", "0.2", "--device",
       "gpu:0", "--model", model_, "--count"},
      {{"WIREWATT_SYSFS", file("sys")},
       {"ROCM_PATH", file("rocm")},
       {"WIREWATT_CHIP", "mi210"},
       {"LD_LIBRARY_PATH", (build_folder() / "lib/wirewatt/hip").string() + ":" + file("rocm/lib")},
       {"PATH", "/usr/bin:/bin"}});
  const auto shown = lines(finished);
  ASSERT_FALSE(shown.empty()) << finished.err;
  EXPECT_THAT(shown.back().at("source").get<std::string>(), HasSubstr("beside the program"));
  EXPECT_THAT(shown.back().at("no_counts").get<std::string>(),
              HasSubstr("every counter is 0 so far"));
}

TEST_F(LiveInside, TopSaysThatCountingNeedsHip) {
  install_sdk();
  const auto finished = run(
      {"timeout", "-s", "INT", "2", wirewatt(), "top", "--json", "--interval", "0.2", "--device",
       "gpu:0", "--model", model_, "--count"},
      {{"WIREWATT_SYSFS", file("sys")}, {"ROCM_PATH", file("rocm")}, {"PATH", "/usr/bin:/bin"}});
  const auto shown = lines(finished);
  ASSERT_FALSE(shown.empty()) << finished.err;
  EXPECT_THAT(shown.back().at("no_counts").get<std::string>(), HasSubstr("HIP's runtime"));
}

TEST_F(LiveInside, MeterCountsWhileTheProgramRuns) {
  install_sdk();
  const auto finished = with_the_card(
      {wirewatt(), "meter", "--json", "--model", model_, "--count", "--"}, steady("1500"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto shown =
      json::parse(finished.out.substr(finished.out.rfind("\n{") + 1), nullptr, false);
  ASSERT_FALSE(shown.is_discarded()) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("the whole card while it ran"));
  EXPECT_EQ(compare(shown.at("wires").at("rows"), estimated()), 2);
}

TEST_F(LiveInside, MeterWantsTheSdkForThat) {
  const auto finished = with_the_card({wirewatt(), "meter", "--model", model_, "--count", "--"},
                                      {"touch", file("mark")});
  EXPECT_EQ(finished.exit_code, 3) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("rocprofiler-sdk"));
  EXPECT_FALSE(fs::exists(file("mark")));
}

// AMD's runtimes end a program that asks for a tool where there is no SDK.
TEST_F(LiveInside, WithoutTheSdkTheEnvironmentIsNotTouched) {
  fs::create_directories(file("bin"));
  std::ofstream(file("bin/rocprofv3")) << R"(#!/bin/sh
while [ "$1" != -- ]; do
  [ "$1" = -d ] && folder=$2
  shift
done
shift
"$@"
mkdir -p "$folder"
printf '"Dispatch_Id","Agent_Id","Grid_Size","Kernel_Name","Counter_Name","Counter_Value"\n' \
  >"$folder/out_counter_collection.csv"
printf '1,4,65536,"copy","TCP_TCC_READ_REQ_sum",1000\n' >>"$folder/out_counter_collection.csv"
)";
  fs::permissions(file("bin/rocprofv3"), fs::perms::owner_all);
  const auto finished =
      run({wirewatt(), "top", "--json", "--interval", "0.2", "--device", "gpu:0", "--model", model_,
           "--", "sh", "-c", "env >> '" + file("environment") + "'; sleep 0.3"},
          {{"WIREWATT_SYSFS", file("sys")},
           {"ROCM_PATH", file("rocm")},
           {"PATH", file("bin") + ":/usr/bin:/bin"}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("runs twice"));
  std::ifstream stream(file("environment"));
  const std::string environment(std::istreambuf_iterator<char>(stream), {});
  EXPECT_THAT(environment, HasSubstr("PATH="));
  for (const char* name : {"ROCP_TOOL_LIBRARIES", "ROCPROFILER_REGISTER", "WIREWATT_COUNT"}) {
    EXPECT_THAT(environment, ::testing::Not(HasSubstr(name)));
  }
}

}  // namespace
}  // namespace ww::e2e
