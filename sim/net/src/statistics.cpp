#include "ww/sim/net/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "charged_run.hpp"
#include "ww/core/statistics.hpp"
#include "ww/sim/net/estimate.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

double mean_of(std::span<const double> samples) {
  double sum = 0;
  for (const double sample : samples) {
    sum += sample;
  }
  return sum / static_cast<double>(samples.size());
}

// Correlation of samples with their successors.
double lag_one(std::span<const double> samples) {
  const double mean = mean_of(samples);
  double with_next = 0;
  double square = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    square += (samples[i] - mean) * (samples[i] - mean);
    if (i + 1 < samples.size()) {
      with_next += (samples[i] - mean) * (samples[i + 1] - mean);
    }
  }
  return square > 0 ? with_next / square : 0;
}

Status needs_chance(const Simulation& simulation) {
  if (!simulation.trace.empty() || !simulation.packets.empty()) {
    return fail(
        ErrorCode::unsupported,
        "a trace is the same with every seed and at every rate: this needs synthetic traffic",
        "trace");
  }
  return {};
}

Result<ChargedRun> run_at(const Simulation& simulation, std::uint64_t seed, double rate) {
  Simulation one = simulation;
  one.run.traffic.seed = seed;
  one.run.traffic.rate = rate;
  return run_charged(one);
}

template <class Figure>
MeanInterval interval_over(const std::vector<RunResult>& runs, const Figure& figure) {
  std::vector<double> samples;
  samples.reserve(runs.size());
  for (const RunResult& run : runs) {
    samples.push_back(run.*figure);
  }
  return interval_of(samples);
}

bool is_precise(const std::vector<RunResult>& runs, const RepeatConfig& config) {
  return static_cast<int>(runs.size()) >= config.min_runs &&
         (config.precision == 0 ||
          interval_over(runs, &RunResult::avg_packet_latency).relative_half_width() <=
              config.precision);
}

}  // namespace

double MeanInterval::relative_half_width() const {
  return value != 0 ? (high - low) / 2 / std::abs(value) : std::numeric_limits<double>::infinity();
}

MeanInterval interval_of(std::span<const double> samples) {
  MeanInterval interval;
  interval.samples = static_cast<std::uint32_t>(samples.size());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (samples.empty()) {
    interval.low = -kInfinity;
    interval.high = kInfinity;
    return interval;
  }
  interval.value = mean_of(samples);
  const auto count = static_cast<double>(samples.size());
  double half = kInfinity;
  if (samples.size() > 1) {
    double square = 0;
    for (const double sample : samples) {
      square += (sample - interval.value) * (sample - interval.value);
    }
    half = t_quantile_95(count - 1) * std::sqrt(square / (count - 1) / count);
  }
  interval.low = interval.value - half;
  interval.high = interval.value + half;
  return interval;
}

void to_json(nlohmann::json& json, const MeanInterval& interval) {
  const auto end = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  json = {{"value", interval.value},
          {"low", end(interval.low)},
          {"high", end(interval.high)},
          {"samples", interval.samples}};
}

MeanInterval batch_interval(std::span<const double> batches) {
  constexpr double kIndependent = 0.2;
  constexpr std::size_t kFewest = 5;
  std::vector<double> samples(batches.begin(), batches.end());
  while (samples.size() >= 2 * kFewest && lag_one(samples) > kIndependent) {
    std::vector<double> pairs;
    for (std::size_t i = 0; i + 1 < samples.size(); i += 2) {
      pairs.push_back((samples[i] + samples[i + 1]) / 2);
    }
    samples = std::move(pairs);
  }
  return interval_of(samples);
}

Result<Repeated> repeat(const Simulation& simulation, const RepeatConfig& config) {
  WW_TRY(needs_chance(simulation));
  if (!(config.precision >= 0 && config.precision < 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("precision = {} is outside 0 to 1", config.precision), "precision");
  }
  if (config.min_runs < 2 || config.max_runs < config.min_runs) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("{} to {} runs: an interval needs two at least, and the greatest number "
                    "must not be below the least",
                    config.min_runs, config.max_runs),
        "seeds");
  }
  const auto workers = static_cast<std::size_t>(std::max(1U, std::thread::hardware_concurrency()));
  Repeated repeated;
  // Runs are taken in the order of their seeds, so that those which other cores have run beyond the
  // last one needed do not count.
  while (!is_precise(repeated.runs, config) &&
         repeated.runs.size() < static_cast<std::size_t>(config.max_runs)) {
    const std::size_t first = repeated.runs.size();
    const std::size_t count = std::min(workers, static_cast<std::size_t>(config.max_runs) - first);
    std::vector<Result<ChargedRun>> results(count, fail(ErrorCode::cancelled, "not run"));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        results[i] = run_at(simulation, simulation.run.traffic.seed + first + i,
                            simulation.run.traffic.rate);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (auto& result : results) {
      if (!result) {
        return tl::unexpected<Error>(std::move(result).error());
      }
      repeated.runs.push_back(std::move(result->run));
      repeated.energies.push_back(std::move(result->energy));
      if (is_precise(repeated.runs, config)) {
        break;
      }
    }
  }
  repeated.precise = is_precise(repeated.runs, config);
  repeated.stable = std::ranges::all_of(repeated.runs, &RunResult::stable);
  repeated.packet_latency = interval_over(repeated.runs, &RunResult::avg_packet_latency);
  repeated.network_latency = interval_over(repeated.runs, &RunResult::avg_network_latency);
  repeated.accepted = interval_over(repeated.runs, &RunResult::accepted_flits_per_node_cycle);
  return repeated;
}

namespace {

// The mean of each number of documents that have the same keys; the rest is as in the first.
nlohmann::json mean_of(const std::vector<nlohmann::json>& documents) {
  const nlohmann::json& first = documents.front();
  if (first.is_number()) {
    // A figure that one of the runs lacks has no mean.
    for (const auto& one : documents) {
      if (!one.is_number()) return nullptr;
    }
    double sum = 0;
    for (const auto& one : documents) sum += one.get<double>();
    return sum / static_cast<double>(documents.size());
  }
  if (!first.is_object()) return first;
  nlohmann::json mean = nlohmann::json::object();
  for (const auto& [key, value] : first.items()) {
    std::vector<nlohmann::json> values;
    values.reserve(documents.size());
    for (const auto& one : documents) values.push_back(one.at(key));
    mean[key] = mean_of(values);
  }
  return mean;
}

template <class Figure>
MeanInterval energy_interval(const Repeated& repeated, const Figure& figure) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < repeated.energies.size(); ++i) {
    samples.push_back(figure(repeated.runs[i], repeated.energies[i]));
  }
  return interval_of(samples);
}

nlohmann::json energy_intervals(const Repeated& repeated) {
  nlohmann::json json = nlohmann::json::object();
  if (repeated.energies.empty()) return json;
  const auto components = repeated.energies.front().components();
  for (std::size_t i = 0; i < components.size(); ++i) {
    json[components[i].first] =
        energy_interval(repeated, [i](const RunResult&, const power::EnergyReport& energy) {
          return energy.components()[i].second.to<double>();
        });
  }
  json["total"] = total_energy(repeated);
  return json;
}

Figure mean_figure(const Repeated& repeated, Figure power::EnergyFigures::*figure) {
  Figure mean = repeated.energies.front().figures.*figure;
  Interval sum;
  for (const power::EnergyReport& energy : repeated.energies) {
    const auto one = (energy.figures.*figure).interval();
    if (!one) return mean;
    sum = together(sum, *one);
  }
  const auto count = static_cast<double>(repeated.energies.size());
  mean.value = sum.value / count;
  mean.low = sum.low / count;
  mean.high = sum.high / count;
  return mean;
}

}  // namespace

power::EnergyFigures mean_figures(const Repeated& repeated) {
  using Figures = power::EnergyFigures;
  return {mean_figure(repeated, &Figures::energy), mean_figure(repeated, &Figures::power),
          mean_figure(repeated, &Figures::per_flit), mean_figure(repeated, &Figures::per_bit),
          mean_figure(repeated, &Figures::wire_share)};
}

MeanInterval total_energy(const Repeated& repeated) {
  return energy_interval(repeated, [](const RunResult&, const power::EnergyReport& energy) {
    return energy.total().to<double>();
  });
}

MeanInterval energy_per_flit(const Repeated& repeated) {
  return energy_interval(repeated, energy_pj_per_flit);
}

void to_json(nlohmann::json& json, const Repeated& repeated) {
  json = {{"runs", repeated.runs.size()},
          {"precise", repeated.precise},
          {"stable", repeated.stable},
          {"avg_packet_latency", repeated.packet_latency},
          {"avg_network_latency", repeated.network_latency},
          {"accepted_flits_per_node_cycle", repeated.accepted},
          {"energy_pj", energy_intervals(repeated)},
          {"energy_pj_per_flit", energy_per_flit(repeated)}};
}

nlohmann::json mean_json(const Simulation& simulation, const Repeated& repeated) {
  std::vector<nlohmann::json> runs;
  for (std::size_t i = 0; i < repeated.runs.size(); ++i) {
    add_energy(runs.emplace_back(), repeated.runs[i], repeated.energies[i], simulation.misfit);
  }
  nlohmann::json json = mean_of(runs);
  json["avg_packet_latency"] = repeated.packet_latency.value;
  json["avg_network_latency"] = repeated.network_latency.value;
  json["accepted_flits_per_node_cycle"] = repeated.accepted.value;
  return json;
}

Result<Saturation> find_saturation(const Simulation& simulation, double tolerance) {
  WW_TRY(needs_chance(simulation));
  constexpr double kFinest = 1e-4;
  if (!(tolerance >= kFinest && tolerance <= 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("tolerance = {} is outside {} to 1", tolerance, kFinest), "tolerance");
  }
  // Bursts cannot carry every rate.
  const double top = most_rate(simulation.run.traffic);
  Saturation found;
  found.high = top;
  const auto keeps_up = [&](double rate) -> Result<bool> {
    WW_ASSIGN(charged, run_at(simulation, simulation.run.traffic.seed, rate));
    const RunResult& result = charged.run;
    ++found.runs;
    if (result.stable) {
      found.low = rate;
      found.accepted_flits_per_node_cycle = result.accepted_flits_per_node_cycle;
      found.energy_pj_per_flit = energy_pj_per_flit(result, charged.energy);
      found.energy = std::move(charged.energy);
    } else {
      found.high = rate;
      found.saturates = true;
    }
    return result.stable;
  };
  // A short run can carry a little more than a full channel, from an empty network.
  constexpr double kBeyond = 1.02;
  TrafficConfig any = simulation.run.traffic;
  any.rate = std::min(tolerance, top);
  double most = top;
  if (const auto estimate = estimate_latency(simulation.network, any)) {
    most = std::min(top, kBeyond * estimate->full_rate);
  }
  WW_ASSIGN(all, keeps_up(most));
  if (all && most < top) {
    WW_TRY(keeps_up(top));
  }
  while (found.saturates && found.high - found.low > tolerance) {
    WW_TRY(keeps_up((found.low + found.high) / 2));
  }
  return found;
}

void to_json(nlohmann::json& json, const Saturation& saturation) {
  json = {{"rate", {{"low", saturation.low}, {"high", saturation.high}}},
          {"saturates", saturation.saturates},
          {"accepted_flits_per_node_cycle", saturation.accepted_flits_per_node_cycle},
          {"runs", saturation.runs}};
  if (!saturation.energy) return;  // no rate was stable
  json["energy_pj"] = *saturation.energy;
  json["energy_pj_per_flit"] = saturation.energy_pj_per_flit;
}

}  // namespace ww::sim::net
