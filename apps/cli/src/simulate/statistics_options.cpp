#include "simulate/statistics_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "option.hpp"
#include "output.hpp"
#include "simulate/energy_text.hpp"
#include "ww/core/log.hpp"
#include "ww/sim/net/estimate.hpp"

namespace ww::cli {
namespace {

constexpr const char* kStatistics = "Output";
constexpr const char* kNoEnergy = "nothing was simulated, so no event has an energy";

bool is_virtual(const sim::net::Simulation& simulation) {
  sim::net::SimulateReport charged;
  charged.simulation = simulation;
  return sim::net::is_virtual(charged);
}

// Describes network and load so that a reader can make them again.
nlohmann::json described(const sim::net::Simulation& simulation) {
  nlohmann::json json{{"network", simulation.network.network},
                      {"traffic", sim::net::to_string(simulation.run.traffic.pattern)},
                      {"virtual", is_virtual(simulation)},
                      {"seed", simulation.run.traffic.seed}};
  if (!simulation.misfit.empty()) {
    json["status"] = "misfit";
    json["reason"] = simulation.misfit;
  }
  return json;
}

void print_marks(const sim::net::Simulation& simulation) {
  if (is_virtual(simulation)) fmt::print("with data of a virtual GPU: not a measurement\n");
  print_misfit(simulation.misfit);
}

std::vector<std::string> energy_row(const char* name, const sim::net::MeanInterval& interval) {
  return {name, energy_text({interval.value, interval.low, interval.high})};
}

std::vector<std::string> interval_row(const char* name, const sim::net::MeanInterval& interval,
                                      const char* unit) {
  return {name, fmt::format("{:.4f} {} ({:.4f}..{:.4f})", interval.value, unit, interval.low,
                            interval.high)};
}

int run_estimate(const sim::net::Simulation& simulation, bool json) {
  const auto estimate = sim::net::estimate_latency(simulation.network, simulation.run.traffic);
  if (!estimate) {
    return report_error(estimate.error());
  }
  if (json) {
    nlohmann::json all = *estimate;
    all.update(described(simulation));
    all["rate"] = simulation.run.traffic.rate;
    all["estimated"] = true;
    all["energy_pj"] = {{"status", "unavailable"}, {"reason", kNoEnergy}};
    print_json(all);
    return 0;
  }
  fmt::print("{} estimated, not simulated\n", simulation.network.network);
  print_table(
      {{"packet latency", fmt::format("{:.2f} cycles", estimate->packet_latency),
        estimate->bounded
            ? fmt::format("within {:.2f} to {:.2f}", estimate->low, estimate->high)
            : fmt::format("at least {:.2f}; too close to saturation for more", estimate->low)},
       {"alone", fmt::format("{:.2f} cycles", estimate->zero_load_latency), ""},
       {"hops", fmt::format("{:.3f} routers", estimate->avg_hops), ""},
       {"busiest channel", fmt::format("{:.3f} flits/cycle", estimate->busiest_link), ""},
       {"full at", fmt::format("{:.3f} flits/node/cycle", estimate->full_rate), ""},
       {"energy", "-", kNoEnergy}});
  return 0;
}

int run_saturation(const sim::net::Simulation& simulation, double tolerance, bool json) {
  const auto found = sim::net::find_saturation(simulation, tolerance);
  if (!found) {
    return report_error(found.error());
  }
  if (json) {
    nlohmann::json all = described(simulation);
    all["saturation"] = *found;
    print_json(all);
    return 0;
  }
  print_marks(simulation);
  if (found->saturates) {
    fmt::print(
        "{} saturates between {:.4f} and {:.4f} flits/node/cycle; at the lower it carries {:.4f} "
        "({} runs)\n",
        simulation.network.network, found->low, found->high, found->accepted_flits_per_node_cycle,
        found->runs);
  } else {
    fmt::print("{} carries every load\n", simulation.network.network);
  }
  if (found->energy) {
    fmt::print("energy of the measured cycles at {:.4f}: {}, {} a flit\n", found->low,
               energy_text(found->energy->total().to<double>()),
               energy_text(found->energy_pj_per_flit));
  }
  return 0;
}

int run_repeated(const sim::net::Simulation& simulation, const StatisticsOptions& options,
                 bool json) {
  constexpr double kPercent = 100;
  sim::net::RepeatConfig config;
  config.precision = options.precision_percent / kPercent;
  config.min_runs = options.seeds > 0 ? options.seeds : config.min_runs;
  config.max_runs =
      config.precision > 0 ? std::max(options.max_seeds, config.min_runs) : config.min_runs;
  const auto repeated = sim::net::repeat(simulation, config);
  if (!repeated) {
    return report_error(repeated.error());
  }
  if (json) {
    nlohmann::json all = described(simulation);
    all["rate"] = simulation.run.traffic.rate;
    all.update(sim::net::mean_json(simulation, *repeated));
    all["intervals"] = *repeated;
    all["stable"] = repeated->stable;  // where every other result of simulate has it
    print_json(all);
  } else {
    fmt::print("{} over {} runs with other random numbers{}\n", simulation.network.network,
               repeated->runs.size(),
               repeated->stable ? "" : ": UNSTABLE, the network does not keep up");
    print_marks(simulation);
    print_table({{"", "MEAN (95%)"},
                 interval_row("packet latency", repeated->packet_latency, "cycles"),
                 interval_row("network latency", repeated->network_latency, "cycles"),
                 interval_row("accepted", repeated->accepted, "flits/node/cycle"),
                 energy_row("energy of the measured cycles", sim::net::total_energy(*repeated)),
                 energy_row("energy a flit", sim::net::energy_per_flit(*repeated))});
    fmt::print(
        "these intervals are of chance alone, over the runs; those of the means below are over "
        "the published estimators, and the calibration's where one is given\n");
    print_table(figure_rows(sim::net::mean_figures(*repeated)));
    if (!repeated->precise) {
      fmt::print("the interval is still wider than {:g}%: allow more with --max-seeds\n",
                 options.precision_percent);
    }
  }
  return repeated->precise ? 0 : 1;
}

}  // namespace

void add_statistics_options(CLI::App& command, StatisticsOptions& options) {
  auto* estimate =
      command.add_flag("--estimate", options.estimate,
                       "Estimate latency and throughput, with bounds, instead of simulating");
  auto* saturation = command.add_flag("--saturation", options.saturation,
                                      "Find the load at which the network saturates, by bisection");
  command
      .add_option("--tolerance", options.tolerance,
                  "With --saturation: how far apart its ends may be [flits/node/cycle]")
      ->capture_default_str()
      ->needs(saturation)
      ->group(kStatistics);
  auto* seeds =
      command
          .add_option("--seeds", options.seeds,
                      "Runs with other random numbers, for 95% intervals (default: one run)")
          ->check(CLI::Range(2, 10000));
  auto* precision =
      command
          .add_option("--precision", options.precision_percent,
                      "Runs until the packet latency is known to this share of it [%] "
                      "(default: one run)")
          ->check(CLI::Range(0.001, 99.0));
  command
      .add_option("--max-seeds", options.max_seeds, "With --precision: give up after these runs")
      ->capture_default_str()
      ->needs(precision)
      ->group(kStatistics);
  auto* skip = command
                   .add_option("--skip-beyond", options.skip_beyond,
                               "Simulate no rate above so many times that at which, as estimated, "
                               "a channel is full (default: simulate every rate)")
                   ->check(CLI::Range(1.0, 1000.0));
  const std::vector<CLI::Option*> ways{estimate, saturation, seeds, precision, skip};
  for (CLI::Option* way : ways) {
    way->group(kStatistics);
    for (const char* other :
         {"--curve", "--heatmap", "--estimators", "--trace", "--workload", "--packet-trace"}) {
      way->excludes(command.get_option(other));
    }
  }
  estimate->excludes(saturation)->excludes(seeds)->excludes(precision)->excludes(skip);
  saturation->excludes(seeds)->excludes(precision)->excludes(skip);
}

std::optional<int> skipped(const sim::net::Simulation& simulation, const StatisticsOptions& options,
                           bool json) {
  if (options.skip_beyond == 0) {
    return std::nullopt;
  }
  const double rate = simulation.run.traffic.rate;
  const auto estimate = sim::net::estimate_latency(simulation.network, simulation.run.traffic);
  if (!estimate || !(rate > options.skip_beyond * estimate->full_rate)) {
    return std::nullopt;
  }
  const std::string reason = fmt::format(
      "not simulated: a rate of {:g} is {:.2f} times the {:.4f} at which a channel is full", rate,
      rate / estimate->full_rate, estimate->full_rate);
  log::warn("{}", reason);
  if (json) {
    nlohmann::json all = described(simulation);
    all["rate"] = rate;
    all["skipped"] = {
        {"reason", reason}, {"full_rate", estimate->full_rate}, {"beyond", options.skip_beyond}};
    all["stable"] = false;
    print_json(all);
  }
  return 1;
}

bool wants_statistics(const StatisticsOptions& options) {
  return options.estimate || options.saturation || options.seeds > 0 ||
         options.precision_percent > 0;
}

int run_statistics(const sim::net::Simulation& simulation, const StatisticsOptions& options,
                   bool json) {
  if (options.estimate) {
    return run_estimate(simulation, json);
  }
  return options.saturation ? run_saturation(simulation, options.tolerance, json)
                            : run_repeated(simulation, options, json);
}

}  // namespace ww::cli
