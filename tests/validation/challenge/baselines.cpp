#include "baselines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "ww/core/statistics.hpp"

namespace ww::challenge {
namespace {

using nlohmann::json;

struct Mean {
  double power_w{}, temperature_c{}, bits_per_second{};
};

std::optional<Mean> mean_of(const StoredRun& run, std::int64_t from_ns, std::int64_t to_ns) {
  Mean mean;
  double count = 0;
  for (const SensorReading& reading : run.samples) {
    if (reading.time_ns < from_ns || reading.time_ns > to_ns) continue;
    if (!reading.power_uw || !reading.temperature_mc) continue;
    mean.power_w += static_cast<double>(*reading.power_uw) * 1e-6;
    mean.temperature_c += *reading.temperature_mc * 1e-3;
    count += 1;
  }
  if (count < 1) return std::nullopt;
  mean.power_w /= count;
  mean.temperature_c /= count;
  mean.bits_per_second = run.payload_bits / (static_cast<double>(run.end_ns - run.start_ns) * 1e-9);
  return mean;
}

// Least squares of a cubic in (T - 50)/10, by normal equations; a weak pull to flat keeps it apart
// where temperature hardly moved.
std::array<double, 4> fit_cubic(const std::vector<Mean>& points) {
  std::array<std::array<double, 5>, 4> rows{};
  for (const Mean& point : points) {
    const double t = (point.temperature_c - 50) / 10;
    const std::array<double, 4> powers{1, t, t * t, t * t * t};
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 4; ++c) rows[r][c] += powers[r] * powers[c];
      rows[r][4] += powers[r] * point.power_w;
    }
  }
  for (std::size_t r = 1; r < 4; ++r) rows[r][r] += 1e-6 * static_cast<double>(points.size());
  for (std::size_t pivot = 0; pivot < 4; ++pivot) {
    for (std::size_t r = 0; r < 4; ++r) {
      if (r == pivot) continue;
      const double factor = rows[r][pivot] / rows[pivot][pivot];
      for (std::size_t c = pivot; c < 5; ++c) rows[r][c] -= factor * rows[pivot][c];
    }
  }
  std::array<double, 4> result{};
  for (std::size_t r = 0; r < 4; ++r) result[r] = rows[r][4] / rows[r][r];
  return result;
}

double cubic_at(const std::array<double, 4>& cubic, double celsius) {
  const double t = (celsius - 50) / 10;
  return cubic[0] + t * (cubic[1] + t * (cubic[2] + t * cubic[3]));
}

struct Plateaus {
  std::vector<double> power_w;
  double bits_per_second{};
};

double mean_power(const Plateaus& plateaus) {
  double sum = 0;
  for (const double power : plateaus.power_w) sum += power;
  return sum / static_cast<double>(plateaus.power_w.size());
}

double variance_of_mean(const Plateaus& plateaus) {
  const double mean = mean_power(plateaus);
  const auto n = static_cast<double>(plateaus.power_w.size());
  double square = 0;
  for (const double power : plateaus.power_w) square += (power - mean) * (power - mean);
  return n > 1 ? square / (n - 1) / n : 0;
}

}  // namespace

json baselines(const std::vector<StoredRun>& runs, const Blocks& published, double settle_s) {
  const auto settle_ns = static_cast<std::int64_t>(settle_s * 1e9);
  std::vector<Mean> idle;
  std::map<std::pair<int, int>, Plateaus> raw, dynamic;
  std::vector<std::pair<const StoredRun*, Mean>> streams;
  for (const StoredRun& run : runs) {
    if (run.dvfs_state != 0) continue;
    if (run.kind == RunKind::idle || run.kind == RunKind::cooldown) {
      constexpr std::int64_t kPieceNs = 1'000'000'000;
      for (std::int64_t at = run.start_ns + settle_ns; at < run.end_ns; at += kPieceNs) {
        if (const auto mean = mean_of(run, at, std::min(run.end_ns, at + kPieceNs))) {
          idle.push_back(*mean);
        }
      }
    }
    if (run.kind != RunKind::stream || run.pattern != "random" || run.throttle != 0) continue;
    if (const auto mean = mean_of(run, run.start_ns + settle_ns, run.end_ns)) {
      streams.emplace_back(&run, *mean);
    }
  }
  const json nothing{{"value_fj_per_bit_mm", nullptr}};
  json result{{"two_plateaus", nothing}, {"iiswc16", nothing}};
  if (idle.size() < 4 || streams.empty()) return result;
  const auto cubic = fit_cubic(idle);
  for (const auto& [run, mean] : streams) {
    for (auto* table : {&raw, &dynamic}) {
      Plateaus& pair = (*table)[{*run->engine, *run->quadrant}];
      pair.power_w.push_back(mean.power_w -
                             (table == &dynamic ? cubic_at(cubic, mean.temperature_c) : 0));
      pair.bits_per_second += mean.bits_per_second;
    }
  }
  for (auto* table : {&raw, &dynamic}) {
    for (auto& [pair, plateaus] : *table) {
      plateaus.bits_per_second /= static_cast<double>(plateaus.power_w.size());
    }
  }

  double paper_fj = 0;
  double quadrants = 0;
  for (int q = 0; q < kQuadrants; ++q) {
    int near = -1;
    int far = -1;
    for (int e = 0; e < static_cast<int>(published.compute_units.size()); ++e) {
      if (!raw.contains({e, q})) continue;
      if (near < 0 || published.distance_mm(e, q) < published.distance_mm(near, q)) near = e;
      if (far < 0 || published.distance_mm(e, q) > published.distance_mm(far, q)) far = e;
    }
    if (near < 0 || near == far) continue;
    const double mm = published.distance_mm(far, q) - published.distance_mm(near, q);
    const double fj_per_w = 1e15 / (raw[{near, q}].bits_per_second * mm);
    paper_fj += fj_per_w * (mean_power(dynamic[{far, q}]) - mean_power(dynamic[{near, q}]));
    quadrants += 1;
    if (q != 0) continue;
    const Plateaus& a = raw[{near, q}];
    const Plateaus& b = raw[{far, q}];
    const double value = fj_per_w * (mean_power(b) - mean_power(a));
    const auto count = static_cast<double>(a.power_w.size() + b.power_w.size());
    json& naive = result["two_plateaus"];
    naive["value_fj_per_bit_mm"] = value;
    if (count > 2) {
      const double half = t_quantile_95(count - 2) * fj_per_w *
                          std::sqrt(variance_of_mean(a) + variance_of_mean(b));
      naive["low"] = value - half;
      naive["high"] = value + half;
    }
  }
  if (quadrants > 0) result["iiswc16"]["value_fj_per_bit_mm"] = paper_fj / quadrants;
  return result;
}

}  // namespace ww::challenge
