// The ladder's fit on made-up cards: heat, droop, drift, and controls that fail. And what its
// document is good for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ladder/ladder.hpp"
#include "ladder/solve.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/mean.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

struct MadeCard {
  double l1{2e-12}, l2{5e-12}, memory{14e-12};  // J/bit of random reads, at the mean voltage
  double zeros_share{0.6};
  double again{0};    // what the second set of the L2 costs more
  double base_w{40};  // awake, over idle
  double leak_w{30}, leak_w_per_k{0.3}, k_per_w{0.05};
  double unseen_k_per_w{0.02};  // of the die over its sensor
  double droop_v_per_w{2e-4};
  double noise_w{0.05}, block_w{0.4};
  bool shows_voltage{true};
  bool memory_rail{};  // what memory takes beyond the L2 does not pass the core's regulator
  std::vector<double> rates{0.4e12, 0.8e12, 1.2e12, 1.6e12, 2e12};
  int blocks{4};
};

double other_rails_w(const MadeCard& card, double energy, double rate) {
  return card.memory_rail ? std::max(0.0, energy - card.l2) * rate : 0;
}

// Under load. The card's energies are those at this voltage.
double mean_voltage(const MadeCard& card, const std::vector<double>& energies) {
  Mean volt;
  for (const double energy : energies) {
    for (const double rate : card.rates) {
      const double dynamic_w = card.base_w + energy * rate - other_rails_w(card, energy, rate) +
                               card.block_w * (card.blocks + 1) / 2;
      volt.add(1 - card.droop_v_per_w * dynamic_w);
    }
  }
  return volt.value();
}

LadderInput made(const MadeCard& card, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  LadderInput input;
  input.gain_tolerance_95 = 0.05;
  input.regulator_tolerance_95 = 0.02;
  input.nominal_v = 1.0;
  input.streams = {{"l1", false, "random"},       {"l2", false, "random"},
                   {"l2_again", false, "random"}, {"memory", false, "random"},
                   {"memory", true, "random"},    {"l2", false, "zeros"}};
  input.toggle_rate = {0.5, 0.5, 0.5, 0.5, 0.5, 0.0};
  const std::vector<double> energies{card.l1,     card.l2,           card.l2 + card.again,
                                     card.memory, 1.1 * card.memory, card.zeros_share * card.l2};
  const auto idle_at = [&](double celsius) {
    return card.leak_w + card.leak_w_per_k * (celsius - 45);
  };
  const double mean_v = mean_voltage(card, energies);
  for (int i = 0; i < 20; ++i) {
    const double celsius = 42 + 0.5 * i;
    input.idle.push_back({idle_at(celsius) + 0.02 * normal(random), celsius,
                          card.shows_voltage ? std::optional(1.0) : std::nullopt});
  }
  for (int block = 1; block <= card.blocks; ++block) {
    for (std::size_t s = 0; s < energies.size(); ++s) {
      for (const double wanted : card.rates) {
        const double rate = wanted * (1 + 0.01 * normal(random));
        const double other_w = other_rails_w(card, energies[s], rate);
        const double dynamic_w = card.base_w + energies[s] * rate - other_w + card.block_w * block;
        const double volt = 1 - card.droop_v_per_w * dynamic_w;
        const double celsius = 45 + card.k_per_w * dynamic_w + 0.5 * normal(random);
        const double die_c = celsius + card.unseen_k_per_w * dynamic_w;
        const double power = idle_at(die_c) * std::pow(volt, 2.4) +
                             std::pow(volt / mean_v, 2) * dynamic_w + other_w +
                             card.noise_w * normal(random);
        input.runs.push_back({block, s, rate, power, celsius,
                              card.shows_voltage ? std::optional(volt) : std::nullopt, 1e9});
      }
    }
  }
  return input;
}

const LadderRow& row_of(const LadderAnswer& answer, std::string_view name) {
  const auto found = std::ranges::find_if(
      answer.rows, [&](const LadderRow& row) { return row.figure.name == name; });
  EXPECT_NE(found, answer.rows.end()) << name;
  return *found;
}

TEST(LadderFit, RecoversEachLevelUnderHeatAndDroop) {
  const MadeCard card{.noise_w = 0.02};
  const LadderAnswer answer = fit_ladder_runs(made(card));
  for (const auto& [name, truth] :
       {std::pair{"l1_read", card.l1}, std::pair{"l2_read", card.l2},
        std::pair{"memory_read", card.memory}, std::pair{"memory_write", 1.1 * card.memory},
        std::pair{"l2_read_zeros", card.zeros_share * card.l2},
        std::pair{"l2_read_less_l1", card.l2 - card.l1},
        std::pair{"l2_read_per_toggle", 0.4 * card.l2 / 0.5}}) {
    const LadderRow& row = row_of(answer, name);
    ASSERT_TRUE(row.figure.value) << name << ": " << row.figure.reason;
    EXPECT_NEAR(*row.figure.value, truth, 0.02 * truth) << name;
    EXPECT_TRUE(row.sensed->holds(truth)) << name;
    EXPECT_GT(*row.figure.high - *row.figure.value, 0.05 * truth) << name;  // the gain is in it
  }
  EXPECT_TRUE(answer.controls.at(0).passed) << answer.controls.at(0).detail;
  EXPECT_NEAR(answer.idle_w_per_k, card.leak_w_per_k, 0.01);
}

TEST(LadderFit, OfExactLaunchesIsExact) {
  std::vector<ExactLaunch> launches;
  for (const double rate : {1e12, 2e12, 4e12}) {
    launches.push_back({{"l2", false, "random"}, rate, 20 + 3e-12 * rate});
    launches.push_back({{"l2", false, "zeros"}, rate, 20 + 2e-12 * rate});
    launches.push_back({{"memory", false, "random"}, rate, 25 + 9e-12 * rate});
  }
  const auto figures = fit_exact_launches(launches, {{"random", 0.5}}, 64);
  EXPECT_NEAR(figures.at("l2_read"), 3, 1e-6);
  EXPECT_NEAR(figures.at("l2_read_zeros"), 2, 1e-6);
  EXPECT_NEAR(figures.at("memory_read_less_l2"), 6, 1e-6);
}

TEST(LadderFit, CoversTheTruthAsOftenAsItSays) {
  const MadeCard card{.noise_w = 0.5};
  int held = 0;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const LadderAnswer answer = fit_ladder_runs(made(card, 100 + static_cast<std::uint64_t>(i)));
    held += row_of(answer, "memory_read").sensed->holds(card.memory) ? 1 : 0;
  }
  EXPECT_GE(held, 90);
}

// Each rate of a stream rounds alike in all blocks, so that they do not average it out.
TEST(LadderFit, CoversTheTruthBehindAQuietRegisterOfWholeWatts) {
  constexpr int kTries = 100;
  int held = 0, passed = 0, held_without = 0;
  for (int i = 0; i < kTries; ++i) {
    const MadeCard card{.base_w = 40 + 0.37 * i, .noise_w = 0, .block_w = 0};
    LadderInput input = made(card, 200 + static_cast<std::uint64_t>(i));
    for (LadderRun& run : input.runs) run.power_w = std::round(run.power_w);
    const LadderAnswer without = fit_ladder_runs(input);
    held_without += row_of(without, "l1_read").sensed->holds(card.l1) ? 1 : 0;
    input.power_step_w = 1;
    for (LadderRun& run : input.runs) run.power_spread_w = 0;
    const LadderAnswer answer = fit_ladder_runs(input);
    held += row_of(answer, "l1_read").sensed->holds(card.l1) ? 1 : 0;
    passed += answer.controls.at(0).passed ? 1 : 0;
  }
  EXPECT_GE(held, 90);
  EXPECT_GT(held, held_without);
  EXPECT_GE(passed, 95);
}

// Telemetry shows voltages in steps of 6.25 mV with less noise than that: each rate of a stream
// rounds alike in all blocks. The die's voltage lies up to `bent_v` beside a load line.
LadderInput with_voltage_steps(const MadeCard& card, double bent_v, std::uint64_t seed) {
  constexpr double kStepV = 6.25e-3, kNoiseV = 0.5e-3;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  LadderInput input = made(card, seed);
  const auto show = [&](double die_v, auto& at) {
    constexpr int kReadings = 50;
    double off_v = 0, square = 0;
    for (int i = 0; i < kReadings; ++i) {
      const double one = kStepV * std::round((die_v + kNoiseV * normal(random)) / kStepV) - die_v;
      off_v += one / kReadings;
      square += one * one / kReadings;
    }
    at.voltage_v = die_v + off_v;
    at.voltage_spread_v = std::sqrt(std::max(0.0, square - off_v * off_v));
  };
  for (LadderRun& run : input.runs) {
    const double volt = *run.voltage_v + bent_v * std::sin(run.power_w / 8);
    run.power_w *= std::pow(volt / *run.voltage_v, 2);
    show(volt, run);
  }
  for (LadderIdle& idle : input.idle) show(1.0, idle);
  input.voltage_step_v = kStepV;
  return input;
}

TEST(LadderFit, CoversTheTruthBehindAVoltageShownInSteps) {
  constexpr int kTries = 60;
  for (const double bent_v : {0.0, 0.015}) {
    int held = 0, held_without = 0;
    double off = 0, off_without = 0;
    for (int i = 0; i < kTries; ++i) {
      const MadeCard card{
          .base_w = 60 + 0.9 * i, .droop_v_per_w = 6e-4, .noise_w = 0.02, .block_w = 0};
      LadderInput input = with_voltage_steps(card, bent_v, 300 + static_cast<std::uint64_t>(i));
      const LadderAnswer answer = fit_ladder_runs(input);
      EXPECT_EQ(answer.no_voltage_reason, "");
      input.voltage_step_v.reset();  // nobody names the steps
      const LadderAnswer without = fit_ladder_runs(input);
      for (const auto& [name, truth] :
           {std::pair{"l1_read", card.l1}, std::pair{"memory_read", card.memory}}) {
        const Interval found = *row_of(answer, name).sensed;
        const Interval other = *row_of(without, name).sensed;
        held += found.holds(truth) ? 1 : 0;
        held_without += other.holds(truth) ? 1 : 0;
        off += std::abs(found.value / truth - 1);
        off_without += std::abs(other.value / truth - 1);
      }
    }
    EXPECT_GE(held, 2 * kTries * 90 / 100) << bent_v;
    EXPECT_LT(held_without, 2 * kTries * 85 / 100) << bent_v;
    // A line through all runs averages the steps out.
    if (bent_v == 0) {
      EXPECT_LT(off, 0.5 * off_without);
    }
  }
}

// Loads cost by their number, by the lines that they take and by the bytes that they bring.
TEST(LadderFit, PartsWhatALoadItsLinesAndItsBytesCost) {
  constexpr double kLine = 1.0e-12, kRegister = 0.4e-12, kLoad = 3000e-12, kLoop = 0.1e-12;
  constexpr double kBitsOfWave = 8 * 16 * 64;
  MadeCard card{.noise_w = 0.02};
  card.l1 = kLine + kRegister + kLoad / kBitsOfWave + kLoop;
  LadderInput input = made(card);
  const std::size_t whole = 0;
  const std::vector<std::pair<const char*, double>> parts{
      {"l1_quarter", kLine + kRegister / 4 + kLoad / kBitsOfWave + kLoop},
      {"l1_narrow", kLine + kRegister + 4 * (kLoad / kBitsOfWave + kLoop)},
      {"l1_none", kLoop}};
  const std::vector<LadderRun> runs = input.runs;
  Mean volt;
  for (const LadderRun& run : runs) volt.add(*run.voltage_v);
  const double mean_v = volt.value();
  for (const auto& [level, energy] : parts) {
    input.streams.push_back({level, false, "random"});
    input.toggle_rate.push_back(0.5);
    for (const LadderRun& of_l1 : runs) {
      if (of_l1.stream != whole) continue;
      LadderRun run = of_l1;
      run.stream = input.streams.size() - 1;
      run.power_w += std::pow(*run.voltage_v / mean_v, 2) * (energy - card.l1) * run.bits_per_s;
      input.runs.push_back(run);
    }
  }
  const LadderAnswer answer = fit_ladder_runs(input);
  for (const auto& [name, truth] :
       {std::pair{"l1_line", kLine}, std::pair{"l1_register", kRegister},
        std::pair{"l1_instruction", kLoad}}) {
    const LadderRow& row = row_of(answer, name);
    ASSERT_TRUE(row.sensed) << name << ": " << row.figure.reason;
    EXPECT_TRUE(row.sensed->holds(truth)) << name << *row.figure.value;
    EXPECT_NEAR(*row.figure.value, truth, 0.05 * truth) << name;
  }
  for (const LadderRow& row : answer.rows) EXPECT_NE(row.figure.name, "l1_narrow_read");
}

TEST(LadderFit, ADifferenceIsSurerThanItsPartsByTheirCovariance) {
  const LadderAnswer answer = fit_ladder_runs(made({}));
  ASSERT_EQ(answer.covariance.size(), 6U);
  for (std::size_t i = 0; i < answer.covariance.size(); ++i) {
    EXPECT_GT(answer.covariance[i][i], 0);
    EXPECT_NEAR(answer.covariance[i][0], answer.covariance[0][i], 1e-30);
  }
  const Figure& step = row_of(answer, "l2_read_less_l1").figure;
  const Figure& whole = row_of(answer, "l2_read").figure;
  EXPECT_LT(*step.high - *step.low, *whole.high - *whole.low);
}

TEST(LadderFit, RejectsWhatIsAlikeAndMeasuresApart) {
  const LadderAnswer answer = fit_ladder_runs(made({.again = 0.5e-12}));
  EXPECT_FALSE(answer.controls.at(0).passed);
  const Figure& row = row_of(answer, "l2_read").figure;
  EXPECT_EQ(row.status, RowStatus::rejected);
  EXPECT_FALSE(row.value);
  EXPECT_THAT(row.reason, HasSubstr("two sets of the L2"));
}

TEST(LadderFit, NeedsThreeRatesAndTwoBlocks) {
  const Figure few = row_of(fit_ladder_runs(made({.rates = {1e12, 2e12}})), "l2_read").figure;
  EXPECT_EQ(few.status, RowStatus::not_identified);
  EXPECT_THAT(few.reason, HasSubstr("2 rates"));
  const Figure once = row_of(fit_ladder_runs(made({.blocks = 1})), "l2_read").figure;
  EXPECT_EQ(once.status, RowStatus::not_identified);
  EXPECT_THAT(once.reason, HasSubstr("1 blocks"));
  LadderInput none;
  none.streams = {{"l2", false, "random"}};
  none.toggle_rate = {0.5};
  EXPECT_FALSE(row_of(fit_ladder_runs(none), "l2_read").figure.value);
}

// Memory's current does not lower the core's voltage, as a load line through all runs would have
// it. Noise dithers the steps of the voltages.
TEST(LadderFit, TellsMemorysRailFromTheCores) {
  constexpr double kStepV = 6.25e-3, kNoiseV = 0.5e-3;
  constexpr int kTries = 40;
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  int held = 0;
  double off = 0;
  for (int i = 0; i < kTries; ++i) {
    const MadeCard card{.droop_v_per_w = 4e-4, .noise_w = 0.02, .memory_rail = true};
    LadderInput input = made(card, 500 + static_cast<std::uint64_t>(i));
    for (LadderRun& run : input.runs) {
      *run.voltage_v += kNoiseV * normal(random);
      run.voltage_spread_v = kStepV;
    }
    input.voltage_step_v = kStepV;
    const LadderAnswer answer = fit_ladder_runs(input);
    for (const auto& [name, truth] :
         {std::pair{"memory_read", card.memory}, std::pair{"memory_write", 1.1 * card.memory},
          std::pair{"memory_read_less_l2", card.memory - card.l2}}) {
      const Interval found = *row_of(answer, name).sensed;
      held += found.holds(truth) ? 1 : 0;
      off += (found.value / truth - 1) / (3 * kTries);
    }
  }
  EXPECT_GE(held, 3 * kTries * 93 / 100);
  EXPECT_NEAR(off, 0, 0.002);
}

// A driver that shows the requested voltage, or none: the load line lowers power all the same.
TEST(LadderFit, AssumesALoadLineWhereNoVoltageIsMeasured) {
  for (const bool shows_voltage : {true, false}) {
    const MadeCard card{.noise_w = 0.02, .shows_voltage = shows_voltage};
    LadderInput input = made(card);
    const double trusted = *row_of(fit_ladder_runs(input), "l2_read").figure.value;
    for (LadderRun& run : input.runs) {
      if (run.voltage_v) run.voltage_v = 1.0;
    }
    input.voltage_step_v = 0;
    const LadderAnswer answer = fit_ladder_runs(input);
    EXPECT_FALSE(answer.no_voltage_reason.empty());
    for (const auto& [name, truth] :
         {std::pair{"l1_read", card.l1}, std::pair{"l2_read", card.l2},
          std::pair{"memory_read", card.memory}, std::pair{"l2_read_less_l1", card.l2 - card.l1}}) {
      const LadderRow& row = row_of(answer, name);
      ASSERT_TRUE(row.sensed) << name << ": " << row.figure.reason;
      EXPECT_TRUE(row.sensed->holds(truth)) << name << *row.figure.value;
      EXPECT_GT(row.sensed->high - row.sensed->low, 0.04 * truth) << name;
    }
    EXPECT_NEAR(trusted, card.l2, (shows_voltage ? 0.02 : 0.2) * card.l2);
  }
  LadderInput measured = made(MadeCard{.noise_w = 0.02});
  measured.voltage_step_v = 1e-3;
  EXPECT_TRUE(fit_ladder_runs(measured).no_voltage_reason.empty());
}

// NVIDIA's drivers show no voltage, and name none of a clock state. The load line lowers power as
// it does elsewhere, whatever the voltage from which it falls.
TEST(LadderFit, AssumesALoadLineWhereNoVoltageIsEvenNamed) {
  for (const double fall_w : {0.0, 2e-4, 5e-4}) {
    const MadeCard card{.droop_v_per_w = fall_w, .noise_w = 0.02, .shows_voltage = false};
    LadderInput input = made(card);
    input.voltage_step_v = 0;
    const LadderAnswer named = fit_ladder_runs(input);
    input.nominal_v.reset();
    const LadderAnswer answer = fit_ladder_runs(input);
    EXPECT_THAT(answer.no_voltage_reason, HasSubstr("no reading shows the core's voltage"));
    EXPECT_EQ(answer.reference_v, 0);
    for (const auto& [name, truth] :
         {std::pair{"l1_read", card.l1}, std::pair{"l2_read", card.l2},
          std::pair{"memory_read", card.memory}, std::pair{"l2_read_less_l1", card.l2 - card.l1}}) {
      const Interval found = *row_of(answer, name).sensed;
      EXPECT_TRUE(found.holds(truth)) << name << " at " << fall_w << ": " << found.value;
      const Interval other = *row_of(named, name).sensed;
      EXPECT_GT(found.high - found.low, other.high - other.low) << name;
    }
  }
}

// A driver without clock states that shows the requested voltage: its load line begins there.
TEST(LadderFit, BeginsAnAssumedLoadLineAtTheVoltageThatIsShownIdle) {
  LadderInput input = made(MadeCard{.noise_w = 0.02});
  for (LadderRun& run : input.runs) run.voltage_v = 1.0;
  input.voltage_step_v = 0;
  const LadderAnswer named = fit_ladder_runs(input);
  input.nominal_v.reset();
  const LadderAnswer answer = fit_ladder_runs(input);
  EXPECT_FALSE(answer.no_voltage_reason.empty());
  const Interval found = *row_of(answer, "l2_read").sensed;
  const Interval other = *row_of(named, "l2_read").sensed;
  EXPECT_NEAR(found.value, other.value, 1e-3 * other.value);
  EXPECT_NEAR(found.high, other.high, 1e-3 * other.high);
}

TEST(LadderFit, WithoutAVoltageLeavesTheDroopInTheFigures) {
  MadeCard card;
  card.shows_voltage = false;
  card.droop_v_per_w = 0;
  const LadderAnswer answer = fit_ladder_runs(made(card));
  EXPECT_EQ(answer.reference_v, 0);
  EXPECT_NEAR(*row_of(answer, "l2_read").figure.value, card.l2, 0.02 * card.l2);
}

TEST(LadderStreams, AreReadBackFromTheirNames) {
  const LadderStream stream{"memory", true, "half_random"};
  EXPECT_EQ(LadderStream::parse(stream.name()), stream);
  EXPECT_EQ(stream.figure(), "memory_write_half_random");
  EXPECT_EQ((LadderStream{"l2", false, "random"}.figure()), "l2_read");
  EXPECT_FALSE(LadderStream::parse("random"));
  EXPECT_FALSE(LadderStream::parse("copies l2 random"));
}

json document() {
  const auto row = [](const char* name, double value) {
    return json{{"name", name},
                {"value", value},
                {"low", 0.9 * value},
                {"high", 1.1 * value},
                {"unit", "pJ/bit"},
                {"status", "ok"},
                {"sensed_low", 0.98 * value},
                {"sensed_high", 1.02 * value}};
  };
  return {{"method", "ladder"},
          {"device", "virtual:w9100"},
          {"virtual", true},
          {"chip", {{"name", "w9100"}, {"target", "gfx701"}}},
          {"ladder_pj_per_bit",
           {row("l1_read", 2), row("l1_read_zeros", 1), row("l2_read", 5), row("l2_read_zeros", 3),
            row("memory_read", 14), row("l2_read_less_l1", 3), row("memory_read_less_l2", 9)}},
          {"levels", json::array()},
          {"not_reported", {{{"name", "cache"}, {"reason", "none was seen"}}}},
          {"staircase", {{{"bytes", 4096}, {"cycles", 110.0}}}},
          {"controls", json::array()},
          {"rates_bits_per_s", {1e11, 2e12}},
          {"residual_w", 0.1},
          {"blocks", 2},
          {"runs", 10},
          {"rejected", 0}};
}

std::unique_ptr<Calibration> ladder() {
  return parse(document(), "ladder.json", Admission::refuse_flagged).value();
}

TEST(Ladder, IsAKindOfCalibrationByItsKey) {
  const auto made = ladder();
  EXPECT_EQ(made->kind(), "ladder");
  EXPECT_EQ(made->provenance().target, "gfx701");
  EXPECT_EQ(made->figures().size(), 7U);
  EXPECT_THAT(made->page().answer, HasSubstr("l1 2, l2 5, memory 14"));
  EXPECT_EQ(made->project({}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(made->link_constants().error().code, ErrorCode::unsupported);
  json none = document();
  for (json& row : none["ladder_pj_per_bit"]) row["value"] = nullptr;
  EXPECT_FALSE(parse(none, "a file", Admission::refuse_flagged));
}

json estimated(const json& document, double toggle_rate, const std::string& part = "gfx701") {
  Traffic traffic;
  traffic.architecture = part;
  traffic.kernels.resize(1);
  auto& kernel = traffic.kernels[0];
  kernel.kernel = "copy";
  kernel.segments[0].upper_bytes = 4e9;  // whole lines
  kernel.segments[1].bytes = 3e9;
  kernel.segments[2].bytes = 1e9;
  EstimateRequest request;
  request.part = "gfx701";
  request.toggle_rate = toggle_rate;
  const auto made = parse(document, "ladder.json", Admission::refuse_flagged).value();
  const auto answer = made->estimate(traffic, request);
  return answer ? answer->json["total"] : json();
}

double joules(const json& level, const char* key = "value") {
  return level["energy_j"][key].get<double>();
}

TEST(Ladder, PricesBytesByTheStepsThatTheyTake) {
  const json total = estimated(document(), 0.5);
  const json& levels = total["levels"];
  // The price is of streams of whole lines, whose instructions are not the application's.
  EXPECT_EQ(levels[0]["status"], "transferred");
  EXPECT_NEAR(joules(levels[0]), 8 * 4e9 * 2e-12, 1e-4);
  EXPECT_NEAR(joules(levels[1]), 8 * 3e9 * 3e-12, 1e-4);
  EXPECT_NEAR(joules(levels[2]), 8 * 1e9 * 9e-12, 1e-4);
  EXPECT_NEAR(joules(total), 0.064 + 0.072 + 0.072, 1e-4);
  EXPECT_EQ(total["left_out"], "");
  EXPECT_TRUE(estimated(document(), 0.5, "gfx90a").is_null());
  // Zeros take the L1's step off their own.
  EXPECT_NEAR(joules(estimated(document(), 0)["levels"][1]), 8 * 3e9 * 2e-12, 1e-4);
}

TEST(Ladder, PricesWholeLinesOfTheL2WhereMonitorsCountThem) {
  Traffic traffic;
  traffic.architecture = "gfx701";
  traffic.kernels.resize(1);
  auto& l1_l2 = traffic.kernels[0].segments[1];
  l1_l2.bytes = 1e9;  // of 2e9 in whole lines
  l1_l2.wires.emplace().slot_bits = 16e9;
  EstimateRequest request;
  request.part = "gfx701";
  request.toggle_rate = 0.5;
  const json total = ladder()->estimate(traffic, request).value().json["total"];
  EXPECT_NEAR(joules(total["levels"][1]), 8 * 2e9 * 3e-12, 1e-4);
}

// Adds figures to a ladder's document, each within 10%.
void add_figures(json& ladder, std::initializer_list<std::pair<const char*, double>> figures) {
  auto& rows = ladder["ladder_pj_per_bit"];
  for (const auto& [name, value] : figures) {
    json one = rows[0];
    one["name"] = name;
    one["value"] = value;
    one["low"] = 0.9 * value;
    one["high"] = 1.1 * value;
    rows.push_back(one);
  }
}

// No counter has the bytes that come into registers: 4 B of each work-item, from nothing to 16 B.
TEST(Ladder, PricesLoadsByTheirLinesAndTheirNumber) {
  json parts = document();
  add_figures(
      parts,
      {{"l1_line", 1.0}, {"l1_line_zeros", 0.5}, {"l1_register", 0.5}, {"l1_instruction", 800.0}});
  Traffic traffic;
  traffic.architecture = "gfx701";
  traffic.kernels.resize(1);
  auto& kernel = traffic.kernels[0];
  kernel.segments[0].upper_bytes = 4e9;
  kernel.memory_instructions = 2e7;
  EstimateRequest request;
  request.part = "gfx701";
  request.toggle_rate = 0.5;
  const auto made = parse(parts, "ladder.json", Admission::refuse_flagged).value();
  const auto priced = [&] {
    return made->estimate(traffic, request).value().json["total"]["levels"][0];
  };
  const double lines = 8 * 4e9 * 1e-12, loads = 2e7 * 800e-12;
  const double loaded = 2e7 * 64 * 8 * 0.5e-12;  // of a byte of each work-item
  EXPECT_NEAR(joules(priced()), lines + 4 * loaded, 1e-6);
  EXPECT_LT(joules(priced(), "low"), 0.9 * lines + 1e-6);
  EXPECT_NEAR(joules(priced(), "high"), 1.1 * (lines + 16 * loaded + loads), 1e-6);
  EXPECT_EQ(priced()["status"], "transferred");
  EXPECT_THAT(priced()["reason"].get<std::string>(), HasSubstr("4 B of each work-item"));
  kernel.memory_instructions.reset();
  EXPECT_NEAR(joules(priced()), 8 * 4e9 * 2e-12, 1e-6);
}

// A stored line has taken its miss in the L2, and the way to memory where it has left since.
TEST(Ladder, PricesWritesToMemoryAndStoresThatMissByItsOwnStores) {
  json both = document();
  add_figures(both, {{"memory_write_less_l2", 12.0}});
  Traffic traffic;
  traffic.architecture = "gfx701";
  traffic.kernels.resize(1);
  auto& kernel = traffic.kernels[0];
  kernel.segments[2].bytes = 1e9;
  EstimateRequest request;
  request.part = "gfx701";
  request.toggle_rate = 0.5;
  const auto made = parse(both, "ladder.json", Admission::refuse_flagged).value();
  const auto priced = [&] {
    return made->estimate(traffic, request).value().json["total"]["levels"][2];
  };
  EXPECT_NEAR(joules(priced()), 8e-3 * 9, 1e-9);
  kernel.memory_written_bytes = 4e8;
  EXPECT_NEAR(joules(priced()), 8e-3 * (0.6 * 9 + 0.4 * 12), 1e-9);
  kernel.l2_filled_bytes = 1e9;
  EXPECT_NEAR(joules(priced()), 8e-3 * (0.6 * 9 + 0.4 * 12), 1e-9);
  const double low = joules(priced(), "low"), high = joules(priced(), "high");
  kernel.l2_filled_bytes = 1.5e9;
  const double most = 8e-3 * 0.5 * 1.1 * 12;
  EXPECT_NEAR(joules(priced()), 8e-3 * (0.6 * 9 + 0.4 * 12 + 0.5 * (12 - 9)), 1e-9);
  EXPECT_NEAR(joules(priced(), "low"), low, 1e-9);
  EXPECT_NEAR(joules(priced(), "high"), high + most, 1e-9);
}

// Neighbours that change together cost less than a toggle rate alone says.
TEST(Ladder, TakesWhatATogglesFileCountedOfEachKernel) {
  Traffic traffic;
  traffic.architecture = "gfx701";
  traffic.kernels.resize(2);
  for (auto& kernel : traffic.kernels) kernel.segments[1].bytes = 1e9;
  traffic.kernels[0].kernel = "alike";
  traffic.kernels[1].kernel = "other";
  EstimateRequest request;
  request.part = "gfx701";
  request.options.data = model::data_counted_elsewhere(0.5, 0);
  request.options.data_of_kernel["alike"] = model::data_counted_elsewhere(0.5, -1);
  const json kernels = ladder()->estimate(traffic, request).value().json["kernels"];
  EXPECT_NEAR(joules(kernels[1]["levels"][1]), 8e-3 * 3, 1e-9);
  // Zeros cost 2, and random bits 1 more; half of that is left.
  EXPECT_NEAR(joules(kernels[0]["levels"][1]), 8e-3 * 2.5, 1e-9);
  const Foreign foreign = ladder()->foreign(Use::estimate);
  EXPECT_EQ(std::ranges::count(foreign.options, "--toggles"), 0);
}

TEST(Ladder, DoesNotTellACacheFromTheMemoryBehindIt) {
  json both = document();
  add_figures(both, {{"cache_read", 7.0},
                     {"cache_read_less_l2", 2.0},
                     {"memory_read_less_cache", 7.0},
                     {"cache_read_zeros", 4.5},
                     {"memory_read_zeros", 9.0}});
  const json level = estimated(both, 0.5)["levels"][2];
  EXPECT_EQ(level["level"], "cache or memory");
  EXPECT_THAT(level["reason"].get<std::string>(), HasSubstr("no counter parts"));
  EXPECT_LT(joules(level, "low"), 8 * 1e9 * 1.81e-12);
  EXPECT_GT(joules(level, "high"), 8 * 1e9 * 9.89e-12);
}

TEST(Ladder, IsScoredByItsFigures) {
  Revealed truth;
  truth.figures = {{"l2_read", 5.2, 5.05, "pJ/bit"}, {"row_hop", 1, 1, ""}};
  const json score = ladder()->score(truth).value().json;
  ASSERT_EQ(score["figures"].size(), 1U);
  EXPECT_EQ(score["figures"][0]["covered"], true);
  EXPECT_EQ(score["figures"][0]["covered_sensed"], true);
  EXPECT_NEAR(score["figures"][0]["error_sensed_percent"].get<double>(), 100 * (5 / 5.05 - 1),
              1e-9);
}

}  // namespace
}  // namespace ww::calibration
