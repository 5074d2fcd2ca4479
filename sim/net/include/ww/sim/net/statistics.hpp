// How sure a mean is: intervals over batches of one run and over runs with other random numbers,
// runs until an interval is narrow enough, and the load at which a network saturates.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/simulate.hpp"

namespace ww::sim::net {

// A mean with its 95% interval by Student's t, the samples taken as independent. One sample has no
// interval: low and high are then minus and plus infinity.
struct MeanInterval {
  double value{}, low{}, high{};
  std::uint32_t samples{};

  // Half of the interval over the value; infinity for a value of 0.
  [[nodiscard]] double relative_half_width() const;
};
[[nodiscard]] MeanInterval interval_of(std::span<const double> samples);
// {value, low, high, samples}; an end that is infinite is null.
void to_json(nlohmann::json& json, const MeanInterval& interval);

// Over the batches of a run (RunResult::batch_latency). Neighbouring batches share packets under
// way, so batches are paired until those that remain have a correlation with their successors below
// 0.2, or fewer than five would (Law and Carson, 1979, in short); what is left is the sample.
[[nodiscard]] MeanInterval batch_interval(std::span<const double> batches);

struct RepeatConfig {
  // Runs until the half-width of the mean packet latency is below this share of it; 0: min_runs.
  double precision{};
  int min_runs{5};
  int max_runs{100};
};

// Runs with the seeds seed, seed + 1, ... of the simulation.
struct Repeated {
  std::vector<RunResult> runs;                // in order of their seeds
  std::vector<power::EnergyReport> energies;  // of the measured cycles of each
  MeanInterval packet_latency;
  MeanInterval network_latency;
  MeanInterval accepted;  // flits a node and cycle
  bool precise{};         // the precision asked for was reached within max_runs
  bool stable{};          // every run was
};
// Over the runs, in pJ of the measured cycles and in pJ a flit.
[[nodiscard]] MeanInterval total_energy(const Repeated& repeated);
[[nodiscard]] MeanInterval energy_per_flit(const Repeated& repeated);
// Means over the runs of the figures and of both ends of their ranges. A figure that a run lacks is
// that of the first run, with its status and reason.
[[nodiscard]] power::EnergyFigures mean_figures(const Repeated& repeated);
// Repeats runs on all cores; their number and results do not depend on how many there are. Errors:
// out_of_range (precision, min_runs, max_runs), unsupported (a trace, whose load is no draw of
// chance), those of simulate().
[[nodiscard]] Result<Repeated> repeat(const Simulation& simulation, const RepeatConfig& config);
// {runs, precise, stable, avg_packet_latency, avg_network_latency, accepted_flits_per_node_cycle,
// energy_pj_per_flit, energy_pj {by component, total}}, all but the first three as intervals.
void to_json(nlohmann::json& json, const Repeated& repeated);
// {avg_packet_latency, avg_network_latency, accepted_flits_per_node_cycle, measured_cycles,
// energy_pj, energy_pj_per_flit}: means over the runs, under the keys of a report of one run.
[[nodiscard]] nlohmann::json mean_json(const Simulation& simulation, const Repeated& repeated);

// The offered load up to which a network keeps up.
struct Saturation {
  double low{};   // the highest rate that was stable
  double high{};  // the lowest that was not; where every load is carried, the highest there is
  bool saturates{};
  double accepted_flits_per_node_cycle{};     // at `low`
  std::optional<power::EnergyReport> energy;  // of the measured cycles at `low`
  double energy_pj_per_flit{};                // of the measured cycles, by flit
  int runs{};
};
// Finds it by bisection, until high - low <= tolerance. The load at which a channel would be full
// (where it can be estimated, estimate.hpp) is tried first: no rate beyond it needs a run. Errors:
// out_of_range (tolerance), unsupported (a trace), those of simulate().
[[nodiscard]] Result<Saturation> find_saturation(const Simulation& simulation, double tolerance);
// {rate: {low, high}, saturates, accepted_flits_per_node_cycle, energy_pj, energy_pj_per_flit,
// runs}; the energies are those at rate.low.
void to_json(nlohmann::json& json, const Saturation& saturation);

}  // namespace ww::sim::net
