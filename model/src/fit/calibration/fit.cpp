#include "ww/model/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "fit/calibration/constants.hpp"
#include "fit/calibration/diagnostics.hpp"
#include "fit/calibration/fit_runs.hpp"
#include "fit/calibration/intervals.hpp"
#include "fit/calibration/misfit.hpp"
#include "fit/calibration/payloads.hpp"
#include "fit/calibration/prepare.hpp"
#include "fit/calibration/variant_activity.hpp"
#include "fit/calibration/whole_flight.hpp"
#include "fit/solver/assumptions.hpp"
#include "reduction/facts.hpp"
#include "stats.hpp"
#include "ww/core/hash.hpp"
#include "ww/model/beyond_l2.hpp"
#include "ww/model/latency_table.hpp"

namespace ww::model {
namespace {

std::optional<std::size_t> find_variant(const JointInput& input, const Facts& facts,
                                        std::string_view pattern, bool slowest = false) {
  std::optional<std::size_t> best;
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const Variant& variant = input.variants[v];
    if (variant.pattern != pattern || variant.dvfs_state != facts.reference_state) continue;
    if (variant.turn_s > 0) continue;
    if (!best || (variant.throttle < input.variants[*best].throttle) != slowest) best = v;
  }
  return best;
}

// Dynamic power of a plateau while launches run, at reference voltage, block offset out [W].
double dynamic_power(const JointInput& input, const JointFit& fit, const StreamPlateau& stream) {
  const auto& block = fit.parameters.blocks[stream.block];
  const double nominal = input.dvfs[static_cast<std::size_t>(stream.window.dvfs_state)].voltage_v;
  const double ratio =
      std::isfinite(stream.window.voltage_v) ? stream.window.voltage_v / nominal : 1;
  return (stream.window.power_w - idle_power(input, fit.parameters, stream.window, true) -
          block[0] - block[1] * stream.place) /
         (ratio * ratio * stream.busy_share);
}

void compare_paths(FitResult& result, const JointInput& input, const JointFit& fit,
                   std::size_t variant) {
  const auto engines = input.distance_mm.rows();
  const auto quadrants = input.distance_mm.cols();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(engines, quadrants);
  Eigen::MatrixXd count = sum;
  for (const std::size_t p : input.variants[variant].plateaus) {
    const StreamPlateau& stream = input.streams[p];
    const double weight = fit.stream_weight[p];
    sum(stream.engine, stream.quadrant) += weight * dynamic_power(input, fit, stream);
    count(stream.engine, stream.quadrant) += weight;
  }
  double pairs = 0;
  for (Eigen::Index q = 0; q < quadrants; ++q) {
    Eigen::Index near = 0;
    Eigen::Index far = 0;
    input.distance_mm.col(q).minCoeff(&near);
    input.distance_mm.col(q).maxCoeff(&far);
    if (count(near, q) <= 0 || count(far, q) <= 0) continue;
    result.short_dynamic_w += sum(near, q) / count(near, q);
    result.long_dynamic_w += sum(far, q) / count(far, q);
    result.near_mm += input.distance_mm(near, q);
    result.far_mm += input.distance_mm(far, q);
    pairs += 1;
  }
  if (pairs <= 0) return;
  for (double* value :
       {&result.short_dynamic_w, &result.long_dynamic_w, &result.near_mm, &result.far_mm}) {
    *value /= pairs;
  }
  if (result.short_dynamic_w > 0) {
    result.long_over_short_percent = 100 * (result.long_dynamic_w / result.short_dynamic_w - 1);
  }
}

// Mean dynamic energy of a payload bit [fJ], by pair of engine and quadrant.
std::map<std::pair<int, int>, double> energy_by_pair(const JointInput& input, const JointFit& fit,
                                                     std::size_t variant) {
  std::map<std::pair<int, int>, std::pair<double, double>> sums;
  for (const std::size_t p : input.variants[variant].plateaus) {
    const StreamPlateau& stream = input.streams[p];
    if (!(stream.bits_per_second > 0)) continue;
    auto& [energy, weight] = sums[{stream.engine, stream.quadrant}];
    energy += fit.stream_weight[p] * dynamic_power(input, fit, stream) / stream.bits_per_second;
    weight += fit.stream_weight[p];
  }
  std::map<std::pair<int, int>, double> result;
  for (const auto& [pair, sum] : sums) {
    if (sum.second > 0) result[pair] = 1e15 * sum.first / sum.second;
  }
  return result;
}

// Bounds of the whole way's flight, from what random payload costs the chip beyond zeros.
std::optional<WholeFlight> whole_flight(const JointInput& input, const JointFit& fit,
                                        const Facts& facts, std::optional<std::size_t> random) {
  const auto zeros = find_variant(input, facts, "zeros");
  if (!random || !zeros) return std::nullopt;
  const auto of_zeros = energy_by_pair(input, fit, *zeros);
  // Power that does not follow the rate is shared by more bits at the higher rate: all of a bit's
  // energy may be such power.
  const double faster = std::abs(input.variants[*random].mean_bits_per_second /
                                     input.variants[*zeros].mean_bits_per_second -
                                 1);
  std::vector<double> extra;
  for (const auto& [pair, energy] : energy_by_pair(input, fit, *random)) {
    const auto other = of_zeros.find(pair);
    if (other != of_zeros.end()) extra.push_back(energy - other->second + faster * energy);
  }
  const auto& variants = fit.parameters.variants;
  return bound_whole_flight(
      *facts.paths, extra,
      variants[*random].energy_fj_per_bit_mm - variants[*zeros].energy_fj_per_bit_mm);
}

double bandwidth_fraction(const JointInput& input, const Facts& facts, std::size_t variant) {
  double sum = 0;
  double count = 0;
  for (const std::size_t p : input.variants[variant].plateaus) {
    const StreamPlateau& stream = input.streams[p];
    const double nominal_hz =
        facts.dvfs[static_cast<std::size_t>(stream.window.dvfs_state)].clock_hz;
    const double clock_hz =
        std::isfinite(stream.window.clock_hz) ? stream.window.clock_hz : nominal_hz;
    const int channels = facts.channels_of(stream.quadrant);
    const double peak =
        static_cast<double>(channels) * facts.bytes_per_clock_per_channel * 8 * clock_hz;
    if (peak <= 0) continue;
    sum += stream.bits_per_second / peak;
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

std::vector<IdleCurve> idle_curves(const JointInput& input, const JointFit& fit) {
  std::vector<IdleCurve> curves;
  for (std::size_t s = 0; s < input.dvfs.size(); ++s) {
    IdleCurve curve;
    curve.dvfs_state = static_cast<int>(s);
    curve.coefficients = fit.parameters.idle[s];
    curve.reference_c = input.reference_c;
    double square = 0;
    double count = 0;
    for (std::size_t i = 0; i < input.idle.size(); ++i) {
      if (input.idle[i].dvfs_state != curve.dvfs_state) continue;
      const double t = latent_temperature(input, fit.parameters, input.idle[i]);
      curve.low_c = count > 0 ? std::min(curve.low_c, t) : t;
      curve.high_c = count > 0 ? std::max(curve.high_c, t) : t;
      square += fit.idle_residual_w[i] * fit.idle_residual_w[i];
      count += 1;
    }
    if (count <= 0) continue;
    curve.rms_w = std::sqrt(square / count);
    curves.push_back(curve);
  }
  return curves;
}

std::vector<IdlePoint> idle_points(const JointInput& input, const JointFit& fit) {
  std::vector<IdlePoint> points;
  for (const Window& window : input.idle) {
    const double t = latent_temperature(input, fit.parameters, window);
    const double nominal = input.dvfs[static_cast<std::size_t>(window.dvfs_state)].voltage_v;
    const double at_nominal = idle_power(input, fit.parameters, window.dvfs_state, t, nominal);
    const double here = idle_power(input, fit.parameters, window);
    points.push_back({window.dvfs_state, t, window.power_w * at_nominal / here});
  }
  return points;
}

std::vector<PairPoint> pair_points(const JointInput& input, const JointFit& fit) {
  std::vector<PairPoint> points;
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    const Variant& variant = input.variants[v];
    if (variant.turn_s > 0) continue;  // the same pairs as the plateaus
    const VariantParameters& parameters = fit.parameters.variants[v];
    std::map<std::pair<int, int>, double> plateaus;
    for (const std::size_t p : variant.plateaus) {
      plateaus[{input.streams[p].engine, input.streams[p].quadrant}] += fit.stream_weight[p];
    }
    const double fj_per_w = 1e15 / variant.mean_bits_per_second;
    for (const auto& [pair, count] : plateaus) {
      PairPoint point;
      point.pattern = variant.pattern;
      point.throttle = variant.throttle;
      point.dvfs_state = variant.dvfs_state;
      point.engine = pair.first;
      point.quadrant = pair.second;
      point.distance_mm = input.distance_mm(pair.first, pair.second);
      point.centred_distance_mm = input.centred_distance_mm(pair.first, pair.second);
      point.energy_fj_per_bit = parameters.energy_fj_per_bit_mm * point.centred_distance_mm;
      for (std::size_t i = 0; i < input.basis.size(); ++i) {
        point.energy_fj_per_bit +=
            parameters.unexplained_w[i] * input.basis[i](pair.first, pair.second) * fj_per_w;
      }
      point.error_fj_per_bit = fit.stream_sigma_w[v] * fj_per_w / variant.mean_busy_share /
                               std::sqrt(std::max(count, 1e-3));
      points.push_back(std::move(point));
    }
  }
  return points;
}

// Turns too short for heat must agree with plateaus, or heat is not what the fit takes it for.
void flag_lock_in(FitResult& result) {
  if (std::abs(result.lock_in_disagreement_sigmas) <= kDisagreementSigmas) return;
  flag(result.misfit, "lock-in and plateaus disagree by " +
                          std::to_string(result.lock_in_disagreement_sigmas) + " standard errors");
}

void fill_plateaus(FitResult& result, const Reduced& reduced, const JointInput& input,
                   const JointFit& fit) {
  for (const Plateau& plateau : reduced.plateaus) {
    PlateauRow row = plateau.row;
    if (row.used) {
      row.temperature_c = latent_temperature(input, fit.parameters, plateau.window);
      row.fitted_w = idle_power(input, fit.parameters, plateau.window);
    }
    result.plateaus.push_back(std::move(row));
  }
  double square = 0;
  for (std::size_t i = 0; i < input.streams.size(); ++i) {
    PlateauRow& row = result.plateaus[input.streams[i].source];
    row.fitted_w = row.power_w - fit.stream_residual_w[i];
    row.dynamic_w = input.streams[i].busy_share * dynamic_power(input, fit, input.streams[i]);
    row.distance_mm = input.distance_mm(input.streams[i].engine, input.streams[i].quadrant);
    square += fit.stream_residual_w[i] * fit.stream_residual_w[i];
  }
  result.residual_rms_w = std::sqrt(square / static_cast<double>(input.streams.size()));
}

std::string hash_of(const std::map<std::string, std::string>& facts,
                    const std::vector<StoredRun>& runs) {
  RunningHash hash;
  std::string bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const auto& [key, value] : facts) {
    if (key == campaign_keys::elapsed || key == campaign_keys::started) continue;
    bytes.append(key).append(1, '=').append(value).append(1, '\n');
  }
  for (const StoredRun& run : runs) {
    add(run.session);
    add(run.block);
    add(run.position);
    add(run.start_ns);
    add(run.payload_bits);
    bytes += run.pattern;
    for (const SensorReading& sample : run.samples) {
      add(sample.time_ns);
      add(sample.power_uw.value_or(-1));
    }
    hash.add(std::as_bytes(std::span(bytes)));
    bytes.clear();
  }
  hash.add(std::as_bytes(std::span(bytes)));
  return hash.text();
}

// Rise of the hot spot [K] under the strongest stream, as the fit has it.
double fitted_hot_spot_k(const JointFit& fit) {
  double stream_w = 1;
  for (const auto& variant : fit.parameters.variants) stream_w = std::max(stream_w, variant.mean_w);
  double rise_k = 0;
  for (std::size_t j = 0; j < kFastHeatCount; ++j) rise_k += stream_w * fit.parameters.response[j];
  return rise_k;
}

// Fits, and again without the first windows after a load if what they show is no hot spot. `input`
// gets the windows that were used.
Result<JointFit> fit_heat(JointInput& input) {
  WW_ASSIGN(fit, fit_jointly(input));
  if (!input.temperature_correction || fitted_hot_spot_k(fit) <= kMaxHotSpotK) return fit;
  std::erase_if(input.idle, [](const Window& idle) { return idle.since_load_s < kLatePowerS; });
  return fit_jointly(input);
}

// How far the k_v move from the assumed load line to the steepest one; empty where voltages are
// shown.
Result<std::vector<double>> moved_by_load_line(const JointInput& input, const JointFit& fit) {
  std::vector<double> moved;
  if (!(input.load_line.ohm > 0)) return moved;
  JointInput steeper = input;
  assume_load_line(steeper, input.load_line.steepest_ohm);
  WW_ASSIGN(other, fit_jointly(steeper));
  for (std::size_t v = 0; v < input.variants.size(); ++v) {
    moved.push_back(other.parameters.variants[v].energy_fj_per_bit_mm -
                    fit.parameters.variants[v].energy_fj_per_bit_mm);
  }
  return moved;
}

// Says of a fit over nanoseconds what it is: constants per ns, none per mm; and none at all where
// the latencies' own errors leave no more than the order of magnitude.
void go_by_flight(FitResult& result, const std::string& reason, double flight_error) {
  const auto unknown = [](FittedConstant& constant, const std::string& why) {
    constant.row.status = RowStatus::not_identified;
    constant.row.reason = why;
    constant.row.value = constant.row.low = constant.row.high = std::nullopt;
  };
  result.energy_per_bit_ns = result.energy_per_bit_mm;
  unknown(result.energy_per_bit_mm, reason);
  const auto to_ns = [&](FittedConstant& constant) {
    if (!follows_distance(constant.which)) return;
    constant.row.name = name_of(constant.which, Distance::ns);
    constant.row.unit = unit_of(constant.which, Distance::ns);
    if (flight_error > kMaxFlightError && constant.row.value) {
      unknown(constant, flights_say_nothing(flight_error));
    }
  };
  to_ns(*result.energy_per_bit_ns);
  for (FittedConstant& constant : result.constants) {
    // Another segment's wires have millimetres, and no flight of their own was timed.
    if (constant.row.status == RowStatus::transferred) {
      unknown(constant, reason);
    } else {
      to_ns(constant);
    }
  }
  result.constants.insert(result.constants.begin(), result.energy_per_bit_mm);
}

// Campaigns of earlier versions do not say when they were started, nor that they ended.
bool is_unfinished(const std::map<std::string, std::string>& facts) {
  const auto finished = facts.find(std::string(campaign_keys::finished));
  return facts.contains(std::string(campaign_keys::started)) &&
         (finished == facts.end() || finished->second != "true");
}

std::string control_of(const FitOptions& options) {
  std::string text;
  const auto add = [&text](bool applies, const char* words) {
    if (applies) text += (text.empty() ? "" : ", ") + std::string(words);
  };
  add(options.swap_paths, "with short and long paths exchanged");
  add(!options.temperature_correction, "without temperature");
  add(!options.robust, "without robust");
  add(!options.crossing, "without crossing");
  add(!options.bytes_covariate, "without bytes");
  add(!options.mirrored, "without mirror");
  add(!options.lock_in, "without lock-in");
  return text;
}

// Energy for random payload without temperature correction; NaN where it cannot be fitted.
double uncorrected(const JointInput& input, std::optional<std::size_t> variant) {
  if (!variant || !has_contrast(input)) return std::numeric_limits<double>::quiet_NaN();
  JointInput flat = input;
  flat.temperature_correction = false;
  const auto fit = fit_jointly(flat);
  return fit ? fit->parameters.variants[*variant].energy_fj_per_bit_mm
             : std::numeric_limits<double>::quiet_NaN();
}

// Bytes that a cache before the L2 answered never crossed the wires: with a share h of them, energy
// per byte that crossed is 1 / (1 - h) times what was found. Their share is only bounded, so that
// the upper ends move.
void allow_for_hits(FitResult& result, double share) {
  const auto widen = [share](FittedConstant& constant) {
    if (!constant.row.value || constant.convention == Convention::none) return;
    constant.sensed_high = std::max(constant.sensed_high, constant.sensed_high / (1 - share));
    if (constant.row.high) {
      constant.row.high = std::max(*constant.row.high, *constant.row.high / (1 - share));
    }
  };
  widen(result.energy_per_bit_mm);
  if (result.energy_per_bit_ns) widen(*result.energy_per_bit_ns);
  for (FittedConstant& constant : result.constants) widen(constant);
}

}  // namespace

std::string_view to_string(Convention convention) {
  switch (convention) {
    case Convention::per_random_bit: return "per_random_bit";
    case Convention::per_transition: return "per_transition";
    case Convention::none: return "none";
  }
  return "unknown";
}

Result<FitResult> fit_runs(const std::vector<StoredRun>& runs,
                           const std::map<std::string, std::string>& fact_texts,
                           const FitOptions& options) {
  WW_ASSIGN(facts, read_facts(fact_texts));
  // Computes the hash beside the fit, which does not wait for it.
  auto campaign_hash = std::async(std::launch::async, [&] { return hash_of(fact_texts, runs); });
  WW_ASSIGN(reduced, reduce(runs, facts));
  WW_ASSIGN(input, prepare(reduced, facts, options));
  const auto random = find_variant(input, facts, "random");
  auto flat =
      std::async(std::launch::async, [input, random] { return uncorrected(input, random); });
  WW_ASSIGN(fit, fit_heat(input));
  Uncertainty uncertainty = assess(input, fit, options.bootstrap_replicates, options.seed);
  const std::vector<double> correction = heat_correction(input, fit);
  WW_ASSIGN(load_line, moved_by_load_line(input, fit));
  const Payloads payloads(input, fit, correction, load_line, uncertainty);

  FitResult result;
  result.device = facts.device;
  result.target = facts.target;
  result.is_virtual = facts.is_virtual;
  result.runs = static_cast<std::int64_t>(runs.size());
  result.rejected = reduced.rejected;
  result.version = facts.version;
  result.seed = facts.seed;
  result.fit_seed = options.seed;
  result.control = control_of(options);
  result.unfinished = is_unfinished(fact_texts);
  result.floorplan = facts.floorplan.name;
  result.campaign_hash = campaign_hash.get();
  const auto& reference = facts.dvfs[static_cast<std::size_t>(facts.reference_state)];
  result.reference_voltage_v = reference.voltage_v;
  result.reference_clock_hz = reference.clock_hz;
  if (!facts.by_flight()) {
    result.registers_to_l1_mm = facts.floorplan.registers_to_l1.value();
    result.l2_to_memory_mm = facts.floorplan.l2_to_memory().value();
    result.route_error_95_mm = facts.floorplan.route_error_95().value();
  }
  for (Eigen::Index e = 0; e < input.distance_mm.rows(); ++e) {
    auto& row = result.distance_mm.emplace_back();
    for (Eigen::Index q = 0; q < input.distance_mm.cols(); ++q) {
      row.push_back(facts.distance(static_cast<int>(e), static_cast<int>(q)));
    }
  }

  result.no_voltage_reason = input.no_voltage_reason;
  fill_constants(result, input, fit, payloads, uncertainty, facts, correction, random);
  result.idle = idle_curves(input, fit);
  result.idle_points = idle_points(input, fit);
  result.pairs = pair_points(input, fit);
  result.variant_activity = variant_activity(payloads, uncertainty, runs, facts.reference_state);
  fill_plateaus(result, reduced, input, fit);
  result.uncorrected_fj_per_bit_mm = flat.get();
  if (facts.by_flight()) {
    result.latency.reason = "there is no floorplan to compare latencies with";
  } else if (facts.paths) {
    // A search for homes timed many loads of each pair. The single loads of the latency runs take
    // whole steps of the clock that issues them, four cycles on AMD, and no repeat shows that.
    result.latency = judge_flights(*facts.paths, result.reference_clock_hz, facts.floorplan);
  } else {
    result.latency = judge_latency(runs, facts.floorplan);
  }
  if (random) {
    compare_paths(result, input, fit, *random);
    result.l1_l2_bandwidth_fraction = bandwidth_fraction(input, facts, *random);
    result.diagnostics = diagnose(input, fit, uncertainty, *random);
    if (has_contrast(input)) {
      result.misfit = judge(input, fit, uncertainty, *random);
      flag_lock_in(result);
      if (result.latency.disagrees) flag(result.misfit, result.latency.reason);
      if (const auto absurd =
              absurd_energy(result.energy_per_bit_mm.row, result.reference_voltage_v);
          !facts.by_flight() && !absurd.empty()) {
        flag(result.misfit, absurd);
      }
      mark_constants(result);
    }
  }
  if (facts.by_flight()) {
    result.whole_flight = whole_flight(input, fit, facts, random);
    go_by_flight(result, no_millimetres(facts), flight_error_95(*facts.paths));
  }
  allow_for_hits(result, facts.max_hits);
  if (auto link = bound_fanout_link(result.plateaus)) result.constants.push_back(std::move(*link));
  return result;
}

Result<FitResult> fit_campaign(const CampaignStore& campaign, const FitOptions& options) {
  WW_ASSIGN(facts, campaign.facts());
  WW_ASSIGN(runs, campaign.runs());
  return fit_runs(runs, facts, options);
}

}  // namespace ww::model
