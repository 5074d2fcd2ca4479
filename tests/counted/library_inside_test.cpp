// Stretches of a program that libwirewatt measures on a card that is faked as files, counted by
// rocprofiler-sdk as a stub over the virtual GPU: joules by segment equal those of `estimate` on
// what the virtual GPU itself counted in the same run.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "faked_card.hpp"
#include "made_campaign.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Segment {
  int status{};
  double joules{};
  std::string reason;
};
// By the stretch's name and the segment.
using Stretches = std::map<std::pair<std::string, int>, Segment>;

class LibraryInside : public FakedCard {
 protected:
  void SetUp() override {
    FakedCard::SetUp();
    if (IsSkipped()) return;
    const auto made = run({(build_folder() / "bin/make_campaign").string(), file("model"), "1"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    model_ = as_model_of_mi210(file("model"));
  }
  [[nodiscard]] Finished bracket(const Environment& more, const std::string& when = "") const {
    Environment environment{{"WIREWATT_SYSFS", file("sys")},
                            {"ROCM_PATH", file("rocm")},
                            {"WIREWATT_CHIP", "mi210"},
                            {"WIREWATT_THREADS", "1"},
                            {"WIREWATT_COUNTERS", file("all.csv")},
                            {"WW_LIBRARY", (build_folder() / "lib/libwirewatt.so").string()},
                            {"LD_LIBRARY_PATH", (build_folder() / "lib/wirewatt/hip").string() +
                                                    ":" + file("rocm/lib")}};
    environment.insert(environment.end(), more.begin(), more.end());
    std::vector<std::string> words{(build_folder() / "bin/counted_processes").string(), "bracket",
                                   "gpu:0", model_};
    if (!when.empty()) words.push_back(when);
    return run(words, environment);
  }
  static Stretches stretches(const std::string& text) {
    Stretches found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string name, value;
      int segment = 0;
      Segment read;
      if (!(fields >> name >> segment >> read.status >> value)) continue;
      read.joules = std::strtod(value.c_str(), nullptr);
      std::getline(fields, read.reason);
      found[{name, segment}] = read;
    }
    return found;
  }
  [[nodiscard]] json estimated() const {
    keep_counters_of_a_card(file("all.csv"), file("card.csv"));
    const auto finished = run({wirewatt(), "estimate", "--json", "--model", model_, "--arch",
                               "gfx90a", "--counters", file("card.csv")});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json().at("total").at("segments");
  }

  std::string model_;
};

TEST_F(LibraryInside, HasTheJoulesOfTheEstimateForAStretch) {
  install_sdk();
  const auto finished = bracket({});
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const auto found = stretches(finished.out);
  const json estimate = estimated();
  int compared = 0;
  for (int s = 0; s < 3; ++s) {
    const json& energy = estimate.at(static_cast<std::size_t>(s)).at("energy_j");
    const Segment& outer = found.at({"outer", s});
    EXPECT_EQ(std::isnan(outer.joules), energy.is_null()) << s;
    if (energy.is_null()) continue;
    ++compared;
    const double should = energy.at("value").get<double>();
    std::printf("segment %d: the stretch %.9g J, estimated %.9g J, half of it %.9g J\n", s,
                outer.joules, should, found.at({"inner", s}).joules);
    EXPECT_NEAR(outer.joules, should, 1e-6 * should);
    EXPECT_THAT(outer.reason, HasSubstr("the whole card, other processes included"));
    // Half of the launches; the first one of all finds empty caches.
    EXPECT_LT(found.at({"inner", s}).joules, 0.6 * should);
  }
  EXPECT_EQ(compared, 2);
  EXPECT_NEAR(found.at({"inner", 1}).joules, 0.5 * found.at({"outer", 1}).joules,
              0.02 * found.at({"outer", 1}).joules);
  EXPECT_THAT(found.at({"short", 1}).reason, HasSubstr("too short"));
  // Programs that this one starts are not counted.
  EXPECT_THAT(finished.out, HasSubstr("tools none"));
}

// HIP often starts at the first launch, which may lie behind the begin.
TEST_F(LibraryInside, CountsAStretchInWhichHipStarts) {
  install_sdk();
  const auto finished = bracket({}, "lazy");
  ASSERT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  const double should = estimated().at(1).at("energy_j").at("value").get<double>();
  EXPECT_NEAR(stretches(finished.out).at({"outer", 1}).joules, should, 1e-6 * should);
}

TEST_F(LibraryInside, SaysWhyThereIsNoSample) {
  install_sdk();
  const auto denied = bracket({{"WW_STUB_SDK_FAULTS", "denied"}});
  EXPECT_EQ(denied.exit_code, 0) << denied.err;
  EXPECT_THAT(stretches(denied.out).at({"outer", 1}).reason, HasSubstr("permission denied"));
  const auto late = bracket({}, "late");
  EXPECT_EQ(late.exit_code, 0) << late.err;
  EXPECT_THAT(stretches(late.out).at({"outer", 1}).reason,
              HasSubstr("before the first call of HIP"));
}

TEST_F(LibraryInside, RefusesWithoutTheSdkAndLeavesTheEnvironmentAlone) {
  const auto finished = bracket({});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("refused"));
  EXPECT_THAT(finished.out, HasSubstr("rocprofiler-sdk"));
}

}  // namespace
}  // namespace ww::e2e
