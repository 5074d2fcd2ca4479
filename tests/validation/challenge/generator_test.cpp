// Invariants of the challenge's generator.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "baselines.hpp"
#include "chip.hpp"
#include "meter.hpp"
#include "recorder.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::challenge {
namespace {

namespace fs = std::filesystem;

const fs::path kRanges = WW_CHALLENGE_RANGES;

// The ranges with some quantities replaced: "[a.b]\nrange = [1, 1]\n..." without sources.
class Challenge : public ::testing::Test {
 protected:
  Draws draws(const std::string& replaced = {}, std::uint64_t number = 0) {
    std::vector<fs::path> files{kRanges};
    if (!replaced.empty()) files.push_back(write("row.toml", replaced));
    auto opened = Draws::open(files, 7, number);
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  fs::path write(const std::string& name, const std::string& text) {
    fs::path file = folder_.path() / name;
    std::ofstream(file) << text;
    return file;
  }
  ScratchFolder folder_ = std::move(*ScratchFolder::create("challenge-test"));
};

std::string fixed(const std::string& key, double value) {
  return "[" + key + "]\nrange = [" + std::to_string(value) + ", " + std::to_string(value) +
         "]\nsource = \"test\"\n";
}
std::string never(const std::string& key) {
  return "[" + key + "]\nprobability = 0\nsource = \"test\"\n";
}
std::string word(const std::string& key, const std::string& value) {
  return "[" + key + "]\nchoices = [\"" + value + "\"]\nsource = \"test\"\n";
}

// Wires in proportion to distance and nothing else along the way.
const std::string kPlainWires = fixed("wire.unevenness", 0) + fixed("wire.length_dependence", 0) +
                                fixed("wire.request_share", 0) + never("wire.ecc") +
                                never("stage.present") + never("stage.quadrant_step");

TEST_F(Challenge, ReplacingOneRangeChangesNoOtherQuantity) {
  auto plain = draws();
  auto replaced = draws(fixed("wire.coupling_share", 0.5));
  EXPECT_EQ(plain.number("wire.capacitance_pf_mm"), replaced.number("wire.capacitance_pf_mm"));
  EXPECT_EQ(replaced.number("wire.coupling_share"), 0.5);
  EXPECT_NE(draws({}, 1).number("wire.capacitance_pf_mm"), plain.number("wire.capacitance_pf_mm"));
}

TEST_F(Challenge, RangeWithoutSourceOrOfNoKnownQuantityIsAnErrorWithItsLine) {
  for (const auto& [text, why] :
       {std::pair<std::string, std::string>{"[wire.parking]\nrange = [0, 1]\n", "no source"},
        {"\n[wire.unknown]\nrange = [0, 1]\nsource = \"x\"\n", "replaces nothing"},
        {"[wire.parking]\nrange = [0, 1]\nprobability = 0.5\nsource = \"x\"\n", "one of range"}}) {
    const auto opened = Draws::open({kRanges, write("row.toml", text)}, 1, 0);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().text().find(why), std::string::npos) << opened.error().text();
    EXPECT_NE(opened.error().text().find("row.toml:"), std::string::npos) << opened.error().text();
  }
}

TEST_F(Challenge, QuantityThatTheRangesLackIsNamedByStatus) {
  auto some = draws();
  EXPECT_TRUE(some.status());
  some.number("wire.no_such");
  ASSERT_FALSE(some.status());
  EXPECT_EQ(some.status().error().context, "wire.no_such");
}

TEST_F(Challenge, WiresAloneCostAQuarterOfCapacitanceTimesVoltageSquared) {
  auto some = draws(kPlainWires + fixed("wire.capacitance_pf_mm", 0.3));
  const Die die = draw_die(some);
  const Wires wires(die, some);
  EXPECT_NEAR(wires.alone_fj_per_mm(1.1), 0.3 * 1.21 / 4 * 1000, 1e-9);
  const auto real = Wires::distances_mm(die.real);
  EXPECT_NEAR(crossed_slope(wires.energies_fj(1.1), real), wires.alone_fj_per_mm(1.1), 1e-9);
}

TEST_F(Challenge, StagesRequestsAndUnevenLinksComeOnTopOfTheWires) {
  auto some = draws(fixed("wire.request_share", 0.1) + fixed("wire.unevenness", 0) +
                    fixed("wire.length_dependence", 0) + never("wire.ecc") +
                    never("stage.present") + never("stage.quadrant_step"));
  const Die die = draw_die(some);
  const Wires wires(die, some);
  EXPECT_NEAR(crossed_slope(wires.energies_fj(1), Wires::distances_mm(die.real)),
              1.1 * wires.alone_fj_per_mm(1), 1e-9);
}

TEST_F(Challenge, UniformLinesCoupleNotAtAllAndConstantsOnlyPark) {
  auto some = draws(kPlainWires + fixed("wire.coupling_share", 0.4));
  const Die die = draw_die(some);
  const Wires wires(die, some);
  const double random = wires.energy_fj(0, 0, activity_of("random", 0), 1);
  EXPECT_NEAR(wires.energy_fj(0, 0, activity_of("uniform_lines", 0), 1), 0.6 * random, 1e-9);
  EXPECT_NEAR(wires.energy_fj(0, 0, activity_of("half_random", 0), 1), 0.5 * random, 1e-9);
  EXPECT_EQ(wires.energy_fj(0, 0, activity_of("zeros", 0), 1), 0);
}

TEST_F(Challenge, SlopeIgnoresWhatBelongsToAnEngineOrAQuadrant) {
  const std::vector<std::vector<double>> distance{{1, 4}, {5, 2}};
  std::vector<std::vector<double>> value = distance;
  for (std::size_t e = 0; e < 2; ++e) {
    for (std::size_t q = 0; q < 2; ++q) {
      value[e][q] =
          3 * distance[e][q] + 100.0 * static_cast<double>(e) - 7.0 * static_cast<double>(q);
    }
  }
  EXPECT_NEAR(crossed_slope(value, distance), 3, 1e-12);
}

TEST_F(Challenge, PositionsAreOffByAboutWhatTheFloorplanDeclares) {
  double square = 0;
  int count = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    auto some = draws(fixed("die.declared_error_mm", 1) + fixed("die.error_over_declared", 1) +
                          fixed("die.own_error_share", 0.5) + never("die.harvested") +
                          never("die.swapped_names"),
                      number);
    const Die die = draw_die(some);
    for (std::size_t q = 0; q < kQuadrants; ++q) {
      const double off = die.real.channels[q][0].x_mm - die.published.channels[q][0].x_mm;
      square += off * off;
      ++count;
    }
  }
  // Shared and own error: (1 + 0.5^2) / 1.96^2.
  EXPECT_NEAR(square / count, 1.25 / (1.96 * 1.96), 0.06);
}

const std::string kQuiet =
    fixed("sensor.white", 0) + fixed("sensor.flicker", 0) + fixed("sensor.offset_w", 0) +
    fixed("sensor.gain_error", 0.02) + fixed("sensor.gain_per_k", 0) + fixed("sensor.jitter", 0) +
    fixed("sensor.outlier_share", 0) + fixed("sensor.rezeros", 0) +
    "[sensor.stamped]\nprobability = 1\nsource = \"test\"\n" + fixed("sensor.step_w", 0.001);

double watts(const SensorReading& reading) {
  return static_cast<double>(*reading.power_uw) * 1e-6;
}

// Feeds a power that depends on time for `seconds`, in steps of at most 1 ms.
template <typename PowerAt>
std::vector<SensorReading> feed(Meter& meter, double seconds, PowerAt&& power_at) {
  std::vector<SensorReading> readings;
  double now_s = 0;
  while (now_s < seconds - 1e-9) {
    const double step_s = std::min({0.001, meter.until_next_s(now_s), seconds - now_s});
    meter.feed(now_s, now_s + step_s, power_at(now_s), {50, 1, 1e9}, readings);
    now_s += step_s;
  }
  return readings;
}

TEST_F(Challenge, AccumulatorCountsTheEnergyTimesTheGain) {
  auto some =
      draws(kQuiet + word("sensor.kind", "accumulator") + fixed("sensor.accumulator_ms", 1));
  Meter meter(some, 100);
  const auto readings = feed(meter, 4, [](double at_s) { return at_s < 2 ? 50.0 : 150.0; });
  const auto ticks = *readings.back().energy_ticks - *readings.front().energy_ticks;
  const double seconds =
      static_cast<double>(readings.back().time_ns - readings.front().time_ns) * 1e-9;
  EXPECT_NEAR(static_cast<double>(ticks) / 65536 / seconds, 1.02 * 100, 0.1);
}

TEST_F(Challenge, WindowOf25MsSeesNothingOfTheOther75) {
  auto some = draws(kQuiet + word("sensor.kind", "window") + fixed("sensor.window_ms", 25) +
                    fixed("sensor.window_period_ms", 100));
  Meter meter(some, 100);
  const auto readings = feed(meter, 1.0001, [](double at_s) {
    return std::fmod(at_s + 1e-9, 0.1) < 0.0745 ? 500.0 : 100.0;
  });
  ASSERT_GE(readings.size(), 9U);
  for (const auto& reading : readings) EXPECT_NEAR(watts(reading), 102, 1.0);
}

TEST_F(Challenge, LaggingRegisterShowsNineTenthsOfAStepAfterItsLag) {
  auto some = draws(kQuiet + word("sensor.kind", "register") + fixed("sensor.register_ms", 2) +
                    fixed("sensor.register_lag_ms", 100));
  Meter meter(some, 100);
  const auto readings = feed(meter, 2, [](double at_s) { return at_s < 1 ? 0.0 : 100.0; });
  for (const auto& reading : readings) {
    if (std::abs(reading.time_ns - 1'100'000'000) > 1'000'000) continue;
    EXPECT_NEAR(watts(reading), 0.9 * 102, 1.5);
  }
  EXPECT_NEAR(watts(readings.back()), 102, 0.1);
}

TEST_F(Challenge, FarPairDrawsMoreByWhatItsWiresCost) {
  auto some = draws(kPlainWires + fixed("power.engine_scatter", 0) + fixed("rate.scatter", 0) +
                    fixed("rate.fall_per_mm", 0) + fixed("heat.hot_spot_k", 0) +
                    fixed("heat.die_k_per_w", 0) + fixed("heat.sink_k_per_w", 0) +
                    fixed("power.drift_w", 0) + fixed("power.background_per_minute", 0) +
                    fixed("heat.air_wander_k", 0) + never("clock.boosts") + never("clock.avfs") +
                    fixed("regulator.load_line_mohm", 0) + fixed("wire.warming_per_k", 0) +
                    fixed("clock.cap_over_stream", 9));
  const Die die = draw_die(some);
  const Wires wires(die, some);
  Chip chip(die, wires, some);
  const auto draw_w = [&](int quadrant, double& bits) {
    chip.begin({false, 0, quadrant, 1, activity_of("random", 0)});
    double sum = 0;
    for (int i = 0; i < 100; ++i) sum += chip.advance(0.001).core_w / 100;
    bits = chip.bits_per_second();
    return sum;
  };
  double bits_a = 0;
  double bits_b = 0;
  const double difference_w = draw_w(3, bits_a) - draw_w(0, bits_b);
  const double expected_w = wires.alone_fj_per_mm(chip.voltage_v()) * 1e-15 * bits_a *
                            (die.real.distance_mm(0, 3) - die.real.distance_mm(0, 0));
  EXPECT_NEAR(difference_w, expected_w, 0.05 * std::abs(expected_w) + 0.02);
}

TEST_F(Challenge, MarginalSlopeOfARegulatorIsTheDerivativeOfItsInput) {
  const Regulator regulator{true, 3, 1.05, 4e-4};
  EXPECT_NEAR(regulator.input_w(100.5) - regulator.input_w(99.5), regulator.marginal(100), 1e-9);
  EXPECT_NEAR(regulator.mean_ratio(100), regulator.input_w(100) / 100, 1e-12);
  EXPECT_EQ(regulator.saved_ratio(100), regulator.marginal(100));
  const Regulator rail{false, 0, 1.02, 0};
  EXPECT_EQ(rail.mean_ratio(100), 1);
  EXPECT_EQ(rail.saved_ratio(100), 1);
}

TEST_F(Challenge, CampaignIsTheSameTwiceAndHoldsWhatThePlanAsksFor) {
  const std::string quick = word("sensor.kind", "register") + fixed("sensor.register_ms", 20) +
                            fixed("sensor.register_lag_ms", 20) + fixed("die.engines", 4) +
                            "[latency.recorded]\nprobability = 1\nsource = \"test\"\n";
  const auto first = folder_.path() / "first.db";
  const auto second = folder_.path() / "second.db";
  auto some = draws(quick);
  auto again = draws(quick);
  const auto one = record(some, 7, first);
  ASSERT_TRUE(one) << one.error().text();
  const auto two = record(again, 7, second);
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ(one->truth, two->truth);
  EXPECT_EQ(one->baselines, two->baselines);
  const auto store = CampaignStore::open_read_only(first);
  ASSERT_TRUE(store);
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  std::size_t streams = 0;
  std::size_t latencies = 0;
  for (const StoredRun& run : *runs) {
    streams += run.kind == RunKind::stream ? 1 : 0;
    latencies += run.kind == RunKind::latency ? 1 : 0;
    if (run.kind != RunKind::stream) continue;
    EXPECT_GT(run.payload_bits, 0);
    EXPECT_GT(run.samples.size(), 12U);
  }
  EXPECT_EQ(streams % 32, 0U);
  EXPECT_GE(streams, 6U * 32);
  EXPECT_EQ(latencies, 3U * 16);
  EXPECT_GT(one->truth["switches_included_fj_per_bit_mm"], one->truth["wires_fj_per_bit_mm"]);
  EXPECT_TRUE(one->baselines["two_plateaus"]["value_fj_per_bit_mm"].is_number());
  EXPECT_TRUE(one->baselines["iiswc16"]["value_fj_per_bit_mm"].is_number());
}

}  // namespace
}  // namespace ww::challenge
