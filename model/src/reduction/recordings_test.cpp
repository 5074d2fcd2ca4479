// Nulls and injections on recordings of real power sensors. A made-up schedule of near and far is
// laid over a stretch of constant load or idle: the difference must be zero within its interval as
// often as said, and watts that are added to the far turns, as the sensor's window would show them,
// must come back. Skips without the recordings.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "reduction/reduction.hpp"
#include "testing/synthetic_campaign.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

// A stretch of one recording under constant load. Period and window are what the recordings' own
// page found with an external meter; the K40m filters with a lag of 50 ms, of which 0.2 s leave
// 2%.
struct Stretch {
  const char* file;
  double from_s, to_s;
  double period_s, window_s;
};
constexpr auto kStretches = std::to_array<Stretch>({
    {"3090_5050/gpudata.csv", 2.5, 8.2, 0.1, 0.1},
    {"4090_TR/gpudata.csv", 2.5, 6.8, 0.1, 0.1},
    {"4090_TR/gpudata.csv", 9.5, 16.3, 0.1, 0.1},
    {"K40m_TR/gpudata.csv", 2.6, 6.9, 0.015, 0.2},
    {"K40m_TR/gpudata.csv", 8.8, 16.3, 0.015, 0.2},
    {"pwr_update_freq_3090_first30s.csv", 2.5, 30, 0.1, 0.1},
    {"pwr_update_freq_A100_first30s.csv", 2.5, 30, 0.1, 0.025},
    {"pwr_update_freq_V100_first30s.csv", 2.5, 30, 0.02, 0.01},
});

struct Reading {
  double time_s{}, power_w{};
};

// nvidia-smi's table: "2023/07/08 19:28:27.236, ..., 126.80"; the last column of power.
std::vector<Reading> read_polls(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::size_t column = 0;
  std::istringstream head(line);
  std::string field;
  for (std::size_t i = 0; std::getline(head, field, ','); ++i) {
    if (field.find("power.draw") != std::string::npos) column = i;
  }
  std::vector<Reading> polls;
  while (std::getline(in, line)) {
    int hours = 0;
    int minutes = 0;
    double seconds = 0;
    if (std::sscanf(line.c_str(), "%*d/%*d/%*d %d:%d:%lf", &hours, &minutes, &seconds) != 3) {
      continue;
    }
    std::istringstream cells(line);
    for (std::size_t i = 0; i <= column; ++i) std::getline(cells, field, ',');
    char* end = nullptr;
    const double watts = std::strtod(field.c_str(), &end);
    if (end == field.c_str()) continue;
    polls.push_back({hours * 3600.0 + minutes * 60.0 + seconds, watts});
  }
  for (std::size_t i = polls.size(); i-- > 0;) polls[i].time_s -= polls.front().time_s;
  return polls;
}

struct Answer {
  double value_w{}, half_width_w{};
};

// Blocks of near, far, far, near, or the other way round, from `start_s` on; `injected_w` more on
// the far turns. Each block gives a difference free of linear drift; Student's t over the blocks.
class Schedule {
 public:
  Schedule(const Stretch& stretch, const Facts& facts, std::mt19937_64& random)
      : stretch_(stretch), facts_(facts) {
    facts_.sensor.period_s = stretch.period_s;
    facts_.sensor.delay_s = stretch.window_s;
    facts_.sensor.rise_s = 0;
    const double length_s = stretch.to_s - stretch.from_s;
    turn_s_ = std::max(2.5 * (stretch.period_s + stretch.window_s), 0.2);
    turn_s_ = std::min(turn_s_, length_s / (4 * kFewestBlocks));
    const int blocks = std::min(10, static_cast<int>(length_s / (4 * turn_s_)));
    start_s_ = stretch.from_s +
               std::uniform_real_distribution(0.0, 1.0)(random) * (length_s - 4 * turn_s_ * blocks);
    for (int block = 0; block < blocks; ++block) {
      const bool near_first = std::bernoulli_distribution(0.5)(random);
      for (const bool outer : {true, false, false, true}) far_.push_back(outer != near_first);
    }
  }

  [[nodiscard]] Answer measure(const std::vector<Reading>& polls, double injected_w) const {
    std::vector<StoredRun> runs;
    for (std::size_t turn = 0; turn < far_.size(); ++turn) {
      StoredRun run;
      run.block = static_cast<std::int64_t>(turn / 4);
      run.position = static_cast<std::int64_t>(turn);
      run.kind = RunKind::stream;
      run.engine = run.quadrant = 0;
      run.payload_bits = 1;
      run.start_ns = nanoseconds(turn_start_s(turn));
      run.end_ns = nanoseconds(turn_start_s(turn + 1));
      for (const Reading& poll : polls) {
        if (poll.time_s < turn_start_s(turn) || poll.time_s >= turn_start_s(turn + 1)) continue;
        SensorReading sample;
        sample.time_ns = nanoseconds(poll.time_s);
        sample.power_uw =
            std::llround(1e6 * (poll.power_w + injected_w * share_of_far(poll.time_s)));
        run.samples.push_back(sample);
      }
      runs.push_back(std::move(run));
    }
    const auto reduced = reduce(runs, facts_);
    if (!reduced) {
      ADD_FAILURE() << reduced.error().text();
      return {};
    }
    std::vector<double> differences(far_.size() / 4, 0.0);
    for (std::size_t turn = 0; turn < far_.size(); ++turn) {
      const PlateauRow& row = reduced->plateaus[turn].row;
      EXPECT_TRUE(row.used) << row.reason;
      differences[turn / 4] += (far_[turn] ? 0.5 : -0.5) * row.power_w;
    }
    const auto n = static_cast<double>(differences.size());
    double mean = 0;
    for (const double d : differences) mean += d / n;
    double square = 0;
    for (const double d : differences) square += (d - mean) * (d - mean);
    return {mean, t_quantile_95(n - 1) * std::sqrt(square / (n - 1) / n)};
  }

 private:
  static constexpr int kFewestBlocks = 3;
  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
  [[nodiscard]] double turn_start_s(std::size_t turn) const {
    return start_s_ + turn_s_ * static_cast<double>(turn);
  }
  // Share of far in the window that the register shows at a poll: it was refreshed within the last
  // period, here as long ago as can be.
  [[nodiscard]] double share_of_far(double poll_s) const {
    const double to = poll_s - stretch_.period_s;
    const double from = to - stretch_.window_s;
    double share = 0;
    for (std::size_t turn = 0; turn < far_.size(); ++turn) {
      if (!far_[turn]) continue;
      const double overlap =
          std::min(to, turn_start_s(turn + 1)) - std::max(from, turn_start_s(turn));
      share += std::max(0.0, overlap) / stretch_.window_s;
    }
    return share;
  }

  Stretch stretch_;
  Facts facts_;
  double turn_s_{}, start_s_{};
  std::vector<bool> far_;  // by turn
};

TEST(Recordings, GiveNothingForNothingAndTheWattsThatWereAdded) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  const std::filesystem::path data =
      std::filesystem::path(shared != nullptr ? shared : "") / "data";
  // Only without any recordings: one that is missing among others is a failure.
  if (!std::filesystem::is_directory(data)) {
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout";
  }
  const std::filesystem::path folder = data / "gpu_power_benchmark";
  ASSERT_TRUE(std::filesystem::is_directory(folder)) << folder;
  const auto facts = read_facts(testing::make_campaign({}).facts);
  ASSERT_TRUE(facts);
  constexpr int kSchedules = 40;
  int covered = 0;
  int all = 0;
  int came_back = 0;
  for (const Stretch& stretch : kStretches) {
    const auto polls = read_polls(folder / stretch.file);
    ASSERT_GT(polls.size(), 500U) << stretch.file;
    std::mt19937_64 random(17);
    int here = 0;
    double half_width = 0;
    for (int i = 0; i < kSchedules; ++i) {
      const Schedule schedule(stretch, *facts, random);
      const Answer null = schedule.measure(polls, 0);
      here += std::abs(null.value_w) <= null.half_width_w ? 1 : 0;
      half_width += null.half_width_w / kSchedules;
      const double watts = std::array{1.0, 2.0, 4.0}[static_cast<std::size_t>(i % 3)];
      const Answer found = schedule.measure(polls, watts);
      came_back += std::abs(found.value_w - watts) <= found.half_width_w ? 1 : 0;
      // A step that is added is lost neither to the sensor's window nor to the repair of glitches,
      // which may take other readings for them.
      EXPECT_NEAR(found.value_w - null.value_w, watts, 0.05 * watts + 0.03 * null.half_width_w)
          << stretch.file;
    }
    EXPECT_GE(here, 0.8 * kSchedules) << stretch.file << " from " << stretch.from_s;
    std::printf("%s from %g s: zero covered %d of %d, mean half-width %.3f W\n", stretch.file,
                stretch.from_s, here, kSchedules, half_width);
    covered += here;
    all += kSchedules;
  }
  std::printf("zero covered %d of %d, added watts %d of %d\n", covered, all, came_back, all);
  EXPECT_GE(covered, 0.92 * all);
  EXPECT_GE(came_back, 0.92 * all);
}

}  // namespace
}  // namespace ww::model
