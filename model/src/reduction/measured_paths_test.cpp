// Tests the effect of whole cycles on an energy per nanosecond, on made-up dies.
#include "ww/model/measured_paths.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace ww::model {
namespace {

using Table = std::vector<std::vector<double>>;
using Place = std::pair<double, double>;

double apart(const Place& a, const Place& b) {
  return std::abs(a.first - b.first) + std::abs(a.second - b.second);
}

Table crossed(const Table& table) {
  const std::size_t rows = table.size();
  const std::size_t columns = table.front().size();
  std::vector<double> row(rows);
  std::vector<double> column(columns);
  double mean = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      row[r] += table[r][c] / static_cast<double>(columns);
      column[c] += table[r][c] / static_cast<double>(rows);
      mean += table[r][c] / static_cast<double>(rows * columns);
    }
  }
  Table result = table;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) result[r][c] += mean - row[r] - column[c];
  }
  return result;
}

double dot(const Table& a, const Table& b) {
  double sum = 0;
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) sum += a[r][c] * b[r][c];
  }
  return sum;
}

// True flights and those that loads show: a way takes whole cycles of the fabric, and a load a
// multiple of four cycles of the core [cycles]. Loads of 1 to 4 lines at a time take up to three
// cycles more. An entry is the mean over those, compute units and slices.
struct TimedDie {
  Table truth;
  MeasuredPaths paths;
};

constexpr int kIssueCycles = 4;

// `lines`: how many a load reads at most.
TimedDie timed_die(std::mt19937_64& random, int lines) {
  constexpr int kSlices = 4;
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const double width = between(16, 26);
  const double height = between(14, 26);
  const double mm_per_cycle = between(2, 4.5);
  const double ports = between(0, kIssueCycles);
  const int units = static_cast<int>(between(8, 17));
  const double spread = between(0, 0.2);  // of an engine's units, as a share of the die
  TimedDie die;
  std::vector<std::vector<Place>> homes;
  for (int h = 0; h < 4; ++h) {
    auto& slices = homes.emplace_back();
    for (int s = 0; s < kSlices; ++s) {
      slices.emplace_back(width * (h % 2 == 0 ? 0.47 : 0.53) + between(-0.5, 0.5),
                          height * (h < 2 ? 0.4 : 0.6) + between(-0.5, 0.5));
    }
    die.paths.channels.push_back(kSlices);
  }
  for (int e = 0; e < 4; ++e) {
    const double outwards = e % 2 == 0 ? -1 : 1;
    const Place port{width * (e % 2 == 0 ? 0.42 : 0.58), height * (e < 2 ? 0.3 : 0.7)};
    std::vector<Place> places;
    for (int u = 0; u < units; ++u) {
      places.emplace_back(port.first + outwards * between(0.2, 0.2 + spread * width),
                          port.second + between(-spread, spread) * height);
    }
    auto& truth = die.truth.emplace_back();
    auto& seen = die.paths.flight_ns.emplace_back();
    for (const auto& slices : homes) {
      double true_sum = 0;
      double seen_sum = 0;
      for (const Place& unit : places) {
        for (const Place& slice : slices) {
          const double cycles = 2 * (apart(port, unit) + apart(port, slice)) / mm_per_cycle;
          true_sum += cycles;
          for (int line = 0; line < lines; ++line) {
            const double load = 200 + line + std::ceil(ports + std::ceil(cycles));
            seen_sum += kIssueCycles * std::ceil(load / kIssueCycles) / lines;
          }
        }
      }
      truth.push_back(true_sum / (units * kSlices));
      seen.push_back(seen_sum / (units * kSlices));
    }
  }
  die.paths.resolution_ns = std::sqrt(2.0 / 12.0);
  return die;
}

TEST(FlightError, OfWholeCyclesIsCoveredAsOftenAsSaid) {
  std::mt19937_64 random(7);
  constexpr int kDies = 1000;
  int covered = 0;
  int narrowed = 0;
  for (int i = 0; i < kDies; ++i) {
    const TimedDie die = timed_die(random, kIssueCycles);
    const Table seen = crossed(die.paths.flight_ns);
    // An energy that goes with true flight, over what was measured.
    const double error = std::abs(dot(crossed(die.truth), seen) / dot(seen, seen) - 1);
    const double declared = flight_error_95(die.paths);
    covered += error <= declared ? 1 : 0;
    narrowed += error <= declared / 8 ? 1 : 0;
  }
  // 95% less three standard deviations of the count.
  EXPECT_GE(covered, 930);
  // The interval is no empty promise: an eighth of the width would be too narrow.
  EXPECT_LT(narrowed, 900);
}

// Flights within an engine differ by a few cycles: a mean over its compute units does not take out
// what issuing every fourth cycle rounds.
TEST(FlightError, OfIssueSlotsNeedsLoadsOfSeveralLines) {
  constexpr int kDies = 400;
  const auto covered = [](int lines) {
    std::mt19937_64 random(9);
    int count = 0;
    for (int i = 0; i < kDies; ++i) {
      const TimedDie die = timed_die(random, lines);
      const Table seen = crossed(die.paths.flight_ns);
      const double error = std::abs(dot(crossed(die.truth), seen) / dot(seen, seen) - 1);
      count += error <= flight_error_95(die.paths) ? 1 : 0;
    }
    return count;
  };
  EXPECT_GE(covered(kIssueCycles), 93 * kDies / 100);
  EXPECT_LT(covered(1), 90 * kDies / 100);
}

}  // namespace
}  // namespace ww::model
