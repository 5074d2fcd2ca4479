// Traces of Score-P as users give them: to the doctor, and beside a profile's kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "made_campaign.hpp"
#include "process.hpp"
#include "testing/read_trace.hpp"
#include "testing/trace_writer.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using otf2::testing::write_trace;
using otf2::testing::WrittenMetric;
using otf2::testing::WrittenTrace;
using ::testing::HasSubstr;

constexpr const char* kPower = "A2rocm_smi:::current_socket_power:device=0";
constexpr const char* kEnergy = "A2rocm_smi:::energy_count:device=0";

class ScoreP : public OfAMadeCampaign {
 protected:
  [[nodiscard]] std::string trace() const { return (folder_.path() / "scorep").string(); }
  [[nodiscard]] std::string file(const char* name) const {
    return (folder_.path() / name).string();
  }
  // A thousand polls from `start_ns` on: 100 W, and from the half on 300 W.
  void put(std::uint64_t start_ns, std::uint64_t step_ns,
           std::uint64_t ticks_per_s = 1'000'000'000) {
    constexpr std::uint64_t kPolls = 1000;
    WrittenTrace written;
    written.ticks_per_s = ticks_per_s;
    written.start = start_ns;
    written.metrics = {WrittenMetric{kPower}, WrittenMetric{kEnergy}};
    double joules = 0;
    for (std::uint64_t i = 0; i < kPolls; ++i) {
      const double watts = i < kPolls / 2 ? 100 : 300;
      const std::uint64_t at = start_ns + i * step_ns;
      written.metrics[0].readings.push_back({at, watts * 1e6});
      written.metrics[1].readings.push_back({at, std::round(joules * 1e6)});
      joules += watts * static_cast<double>(step_ns) * 1e-9;
    }
    std::filesystem::remove_all(trace());
    ASSERT_TRUE(write_trace(trace(), written));
  }
  // An estimate of a program's counters on a timeline with the trace's power.
  [[nodiscard]] Finished estimate(const std::vector<std::string>& more) {
    const auto counters = file("counters.csv");
    const auto program = (build_folder() / "bin/icd_saxpy").string();
    EXPECT_EQ(run({wirewatt(), "run", "--counters", counters, "--", program}).exit_code, 0);
    std::vector<std::string> words{wirewatt(), "estimate",   "--model",
                                   model(),    "--counters", counters};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  TemporaryFolder folder_;
};

TEST_F(ScoreP, TraceIsARecordingForTheDoctor) {
  put(7'000'000'000, 4'000'000);
  const auto finished = run({wirewatt(), "doctor", "--json", "--recording", trace()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json& column = report.at("columns").at(0);
  EXPECT_EQ(column.at("name"), kPower);
  EXPECT_EQ(column.at("compared_with"), kEnergy);
  EXPECT_NEAR(column.at("energy_j").at("value").get<double>(), 800, 3);
  const json& counter = report.at("counters").at(0);
  EXPECT_EQ(counter.at("name"), kEnergy);
  EXPECT_NEAR(counter.at("energy_j").at("value").get<double>(), 800, 3);
}

TEST_F(ScoreP, TraceThatIsNoneIsRefusedByTheDoctor) {
  std::ofstream(file("traces.otf2")) << "time_s,power_w\n0,1\n";
  const auto finished = run({wirewatt(), "doctor", "--recording", file("traces.otf2")});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("not the anchor file of a trace"));
}

TEST_F(ScoreP, PowerIsDrawnBesideTheKernels) {
  put(0, 1'000);
  for (const auto& [metric, readings] : {std::pair{kPower, 1000u}, std::pair{kEnergy, 999u}}) {
    const auto finished =
        estimate({"--power", trace(), "--power-metric", metric, "--timeline", file("app.pftrace")});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const timeline::testing::ReadTrace drawn(file("app.pftrace"));
    const auto tracks = drawn.tracks("device power, by its sensor [W]");
    ASSERT_EQ(tracks.size(), 1u);
    ASSERT_EQ(tracks[0].packets.size(), readings) << metric;
    EXPECT_EQ(tracks[0].packets[3].timestamp(), 3000u);
    EXPECT_NEAR(tracks[0].packets[3].track_event().double_counter_value(), 100, 1e-6);
    EXPECT_NEAR(tracks[0].packets[700].track_event().double_counter_value(), 300, 1e-6);
  }
}

TEST_F(ScoreP, PowerThatCannotBeJoinedIsRefused) {
  put(0, 1'000);
  const auto several = estimate({"--power", trace(), "--timeline", file("a")});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr(kEnergy));
  const auto nowhere = estimate({"--power", trace(), "--power-metric", "socket_power"});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--timeline"));
  const std::vector<std::string> words{"--power",      trace(),      "--power-metric",
                                       "socket_power", "--timeline", file("b")};
  put(900'000'000'000, 1'000);
  const auto apart = estimate(words);
  EXPECT_NE(apart.exit_code, 0);
  EXPECT_THAT(apart.err, HasSubstr("two clocks"));
  put(0, 1'000, 3'700'000'000);
  const auto cycles = estimate(words);
  EXPECT_NE(cycles.exit_code, 0);
  EXPECT_THAT(cycles.err, HasSubstr("SCOREP_TIMER"));
}

}  // namespace
}  // namespace ww::e2e
