// Made-up registers of many kinds: whatever the doctor says of them holds the truth, and what the
// polls leave open is said to be open.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "ww/measure/recorded_energy.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::measure {
namespace {

constexpr double kStep_s = 0.5e-3;

enum class Load { kernels, ends_loaded, drifts, repeats };
enum class Truth { none, counter, switches };

struct Variant {
  std::string name;
  ResponseKind kind{ResponseKind::lag};
  double time_s{0.1};
  double period_s{0.001};
  double poll_s{0.004};
  double step_w{1};
  double noise_w{0};
  Load load{Load::kernels};
  Truth truth{Truth::none};
  double seconds{16};
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

struct Recorded {
  std::vector<double> power_w;
  std::vector<double> switches;
  std::vector<PowerPoint> polls;
  EnergyColumn counter{"energy_j", {}};
  double joules{};
};

// Loads of 240 W of random lengths on 60 W. The card itself takes 4 ms to follow.
void load(const Variant& variant, std::mt19937_64& random, Recorded& run) {
  std::uniform_real_distribution<double> length(0.3, 1.6);
  double next_s = variant.load == Load::ends_loaded ? 0.4 * variant.seconds : length(random);
  double watts = 60, wanted = 60;
  for (double t = 0; t < variant.seconds; t += kStep_s) {
    if (variant.load == Load::drifts) {
      wanted = 200 + 1.5 * std::sin(t * 2.3) + std::sin(t * 5.1);
    } else if (variant.load == Load::repeats) {
      wanted = std::fmod(t, 1.3) < 0.5 ? 62 : 60;
    } else if (t >= next_s) {
      run.switches.push_back(next_s);
      wanted = wanted < 100 ? 240 : 60;
      next_s = variant.load == Load::ends_loaded ? 1e9 : next_s + length(random);
    }
    watts = t == 0 ? wanted : watts + (wanted - watts) * kStep_s / 0.004;
    run.power_w.push_back(watts);
  }
}

std::vector<double> shown(const Variant& variant, const std::vector<double>& power_w) {
  std::vector<double> out;
  const auto width = static_cast<std::size_t>(std::lround(variant.time_s / kStep_s));
  double lagged = power_w.front(), sum = static_cast<double>(width) * power_w.front();
  for (std::size_t i = 0; i < power_w.size(); ++i) {
    lagged += (power_w[i] - lagged) * (1 - std::exp(-kStep_s / variant.time_s));
    sum += power_w[i] - (i < width ? power_w.front() : power_w[i - width]);
    out.push_back(variant.kind == ResponseKind::lag ? lagged : sum / static_cast<double>(width));
  }
  return out;
}

Recorded record(const Variant& variant, std::uint64_t seed) {
  Recorded run;
  std::mt19937_64 random(seed);
  load(variant, random, run);
  const auto values = shown(variant, run.power_w);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> part(0, 1);
  const double phase_s = part(random) * variant.period_s;
  std::vector<double> joules{0};
  for (const double watts : run.power_w) joules.push_back(joules.back() + watts * kStep_s);
  double refreshed_s = -1, value = 0, noise = 0;
  for (double t = variant.poll_s * part(random); t < variant.seconds - 2 * variant.poll_s;
       t += variant.poll_s * std::max(0.2, 1 + 0.1 * normal(random))) {
    const double refresh_s =
        std::max(0.0, std::floor((t - phase_s) / variant.period_s) * variant.period_s + phase_s);
    if (refresh_s != refreshed_s) {
      noise = variant.noise_w * normal(random);
      value = values[static_cast<std::size_t>(refresh_s / kStep_s)];
    }
    refreshed_s = refresh_s;
    run.polls.push_back({t, std::round((value + noise) / variant.step_w) * variant.step_w});
    run.counter.polls.push_back({t, joules[static_cast<std::size_t>(t / kStep_s)]});
  }
  run.joules = run.counter.polls.back().energy_j - run.counter.polls.front().energy_j;
  return run;
}

class Variants : public testing::TestWithParam<Variant> {};

TEST_P(Variants, AreHeldOrSaidToBeOpen) {
  const Variant& variant = GetParam();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Recorded run = record(variant, seed);
    const auto period = find_update_period(run.polls);
    if (period.resolved) {
      EXPECT_NEAR(period.period_s, variant.period_s, 0.01 * variant.period_s) << seed;
    } else if (period.within_poll) {
      EXPECT_LE(variant.period_s, 1.05 * period.within_s) << seed;
    }
    const auto readings = refreshes(run.polls, period);
    SensorResponse response;
    if (variant.truth == Truth::counter) {
      response = fit_response(readings, period, mean_power(run.counter));
    } else if (variant.truth == Truth::switches) {
      response = fit_response_to_load(readings, period, run.switches);
    }
    if (response.at_most) {
      EXPECT_LE(variant.time_s, response.high_s) << seed;
    } else if (response.kind != ResponseKind::not_resolved) {
      EXPECT_EQ(response.kind, variant.kind) << seed;
      // Switches are those of the load, which the card follows after 4 ms.
      const double slack_s = variant.truth == Truth::switches ? 0.006 : 0.001;
      EXPECT_LE(response.low_s, variant.time_s + slack_s) << seed;
      EXPECT_GE(response.high_s, variant.time_s - slack_s) << seed;
    } else {
      EXPECT_TRUE(variant.truth == Truth::none || !response.reason.empty()) << seed;
    }
    const auto energy = register_energy(run.polls, period, response, {});
    ASSERT_TRUE(energy.ok()) << energy.reason;
    EXPECT_LE(energy.low_j, run.joules) << seed << ": " << energy.energy_j;
    EXPECT_GE(energy.high_j, run.joules) << seed << ": " << energy.energy_j;
  }
}

constexpr auto kLag = ResponseKind::lag;
constexpr auto kWindow = ResponseKind::window;
INSTANTIATE_TEST_SUITE_P(
    Registers, Variants,
    testing::Values(
        Variant{"half a watt", kLag, 0.1, 0.001, 0.004, 0.5, 0, Load::kernels, Truth::counter},
        Variant{"slow", kLag, 0.5, 0.001, 0.01, 1, 0, Load::kernels, Truth::counter},
        Variant{"polls slower than the lag", kLag, 0.1, 0.001, 0.1, 1, 0, Load::kernels,
                Truth::counter, 40},
        Variant{"noise", kLag, 0.1, 0.001, 0.004, 0.001, 2, Load::kernels, Truth::counter},
        Variant{"held for longer than it lags", kLag, 0.1, 0.05, 0.012, 0.001, 0, Load::kernels,
                Truth::switches},
        Variant{"a window shorter than its period", kWindow, 0.02, 0.1, 0.012, 1, 0, Load::kernels,
                Truth::counter},
        Variant{"all the time seen", kWindow, 0.1, 0.1, 0.012, 1, 0, Load::kernels, Truth::counter},
        Variant{"polls nearly as slow as refreshes", kWindow, 0.1, 0.1, 0.09, 1, 0, Load::kernels,
                Truth::counter, 40},
        Variant{"a window that ramps over whole watts", kWindow, 1.0, 0.001, 0.004, 1, 0,
                Load::kernels, Truth::counter},
        Variant{"ends under load", kLag, 0.1, 0.001, 0.004, 1, 0, Load::ends_loaded},
        Variant{"ends under load, slow", kLag, 0.5, 0.001, 0.004, 1, 0, Load::ends_loaded},
        Variant{"ends under load, averaged", kWindow, 1.0, 0.001, 0.004, 1, 0, Load::ends_loaded},
        Variant{"ends under load, held for a second", kWindow, 0.002, 1.0, 0.05, 1, 0,
                Load::ends_loaded},
        Variant{"a load that drifts", kLag, 0.002, 0.001, 0.004, 1, 0, Load::drifts},
        Variant{"a load that repeats", kLag, 0.002, 0.001, 0.004, 1, 0, Load::repeats}));

}  // namespace
}  // namespace ww::measure
