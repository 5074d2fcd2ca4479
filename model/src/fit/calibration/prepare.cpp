#include "fit/calibration/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "fit/solver/assumptions.hpp"
#include "fit/solver/core_voltage.hpp"
#include "stats.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

bool streams_data(RunKind kind) {
  return kind == RunKind::stream || kind == RunKind::lock_in;
}

LoadedVoltage loaded(const Window& window) {
  return {window.power_w, window.voltage_v, window.voltage_readings};
}

std::vector<LoadedVoltage> loaded(const std::vector<const Window*>& windows) {
  std::vector<LoadedVoltage> readings;
  readings.reserve(windows.size());
  for (const Window* window : windows) readings.push_back(loaded(*window));
  return readings;
}

// Replaces averaged voltages by the regulator's load line where it fits: 1-2 mV steps and noise
// then average over the whole session instead of one plateau. A state that hardly ran takes the
// slope of the session's best known one: a short window's own voltage is mostly noise, which would
// look like idle power that does not follow voltage.
void steady_voltages(Reduced& reduced, const Facts& facts) {
  using Key = std::pair<std::int64_t, int>;  // session, state
  std::map<Key, std::vector<Window*>> groups;
  std::map<Key, std::vector<const Window*>> anchors;
  for (Plateau& plateau : reduced.plateaus) {
    if (!plateau.row.used) continue;
    Window& window = plateau.window;
    groups[{window.session, window.dvfs_state}].push_back(&window);
    anchors[{window.session, window.dvfs_state}].push_back(&window);
  }
  for (Window& window : reduced.idle) {
    groups[{window.session, window.dvfs_state}].push_back(&window);
  }
  std::map<Key, LoadLine> lines;
  std::map<std::int64_t, LoadLine> best;  // by session
  for (const auto& [key, plateaus] : anchors) {
    const auto line = fit_load_line(loaded(plateaus), reduced.voltage_step_v);
    if (!line) continue;
    lines[key] = *line;
    if (line->readings > best[key.first].readings) best[key.first] = *line;
  }
  for (const auto& [key, plateaus] : anchors) {
    if (lines.contains(key) || !best.contains(key.first)) continue;
    const LoadSums sums = sum_loads(loaded(plateaus));
    // With as many points a line of its own did not fit.
    if (sums.points >= kLoadLinePoints || !(sums.n > 0)) continue;
    const double slope = best[key.first].slope_ohm;
    lines[key] = {(sums.y - slope * sums.x) / sums.n, slope, sums.n};
  }
  for (const auto& [key, windows] : groups) {
    const auto line = lines.find(key);
    if (line == lines.end()) continue;
    const double nominal_v = facts.dvfs[static_cast<std::size_t>(key.second)].voltage_v;
    for (Window* window : windows) {
      double voltage = std::isfinite(window->voltage_v) ? window->voltage_v : nominal_v;
      for (int i = 0; i < 4; ++i) {
        voltage = line->second.start_v + line->second.slope_ohm * window->power_w / voltage;
      }
      window->voltage_v = voltage;
    }
  }
  for (Plateau& plateau : reduced.plateaus) {
    if (plateau.row.used) plateau.row.voltage_v = plateau.window.voltage_v;
  }
}

// By the strongest load of the campaign.
AssumedLoadLine load_line_of(const Reduced& reduced, const Facts& facts) {
  double most_amps = 0;
  for (const Plateau& plateau : reduced.plateaus) {
    if (!plateau.row.used) continue;
    const double nominal_v = facts.dvfs[static_cast<std::size_t>(plateau.dvfs_state)].voltage_v;
    most_amps = std::max(most_amps, plateau.window.power_w / nominal_v);
  }
  const double nominal_v = facts.dvfs[static_cast<std::size_t>(facts.reference_state)].voltage_v;
  return assumed_load_line(most_amps, nominal_v);
}

// Why no reading shows the die's voltage; empty where some do. Judged at the state with the widest
// range of currents: what the driver shows is the same quantity at all states.
std::string why_no_voltage(const Reduced& reduced, const Facts& facts) {
  std::map<std::pair<std::int64_t, int>, std::vector<LoadedVoltage>> groups;  // session, state
  const auto add = [&](const Window& window) {
    if (!(window.voltage_readings > 0) || !std::isfinite(window.voltage_v)) return;
    groups[{window.session, window.dvfs_state}].push_back(loaded(window));
  };
  std::ranges::for_each(reduced.idle, add);
  for (const Plateau& plateau : reduced.plateaus) {
    if (plateau.row.used) add(plateau.window);
  }
  if (groups.empty()) return "no reading shows the core's voltage";
  // A virtual chip has a driver of its own.
  if (!facts.is_virtual && amdgpu_shows_requested_voltage(facts.target)) {
    return fmt::format("amdgpu shows the requested voltage of {}, not the die's", facts.target);
  }
  double widest = 0;
  const std::vector<LoadedVoltage>* judged = nullptr;
  for (const auto& [key, readings] : groups) {
    const LoadSums sums = sum_loads(readings);
    if (sums.most_amps - sums.least_amps <= widest) continue;
    widest = sums.most_amps - sums.least_amps;
    judged = &readings;
  }
  return judged != nullptr ? why_not_measured(*judged, reduced.voltage_step_v) : std::string{};
}

// Orthonormal basis of the matrices whose rows and columns sum to nothing, without `direction`.
std::vector<Eigen::MatrixXd> orthogonal_interactions(const Eigen::MatrixXd& direction) {
  std::vector<Eigen::MatrixXd> found;
  const double norm = direction.norm();
  if (norm > 1e-9) found.push_back(direction / norm);
  const Eigen::Index rows = direction.rows();
  const Eigen::Index columns = direction.cols();
  for (Eigen::Index r = 0; r + 1 < rows; ++r) {
    for (Eigen::Index c = 0; c + 1 < columns; ++c) {
      Eigen::MatrixXd next = Eigen::MatrixXd::Zero(rows, columns);
      next(r, c) = next(r + 1, c + 1) = 1;
      next(r + 1, c) = next(r, c + 1) = -1;
      for (int twice = 0; twice < 2; ++twice) {  // Gram-Schmidt, repeated for accuracy
        for (const Eigen::MatrixXd& w : found) next -= w * w.cwiseProduct(next).sum();
      }
      if (next.norm() > 1e-6) found.push_back(next / next.norm());
    }
  }
  if (norm > 1e-9) found.erase(found.begin());
  return found;
}

void fill_distances(JointInput& input, const Facts& facts, bool swap, bool crossing) {
  const auto engines = static_cast<Eigen::Index>(facts.engines());
  const auto quadrants = static_cast<Eigen::Index>(facts.quadrants());
  Eigen::MatrixXd& d = input.distance_mm;
  d.resize(engines, quadrants);
  for (Eigen::Index e = 0; e < engines; ++e) {
    for (Eigen::Index q = 0; q < quadrants; ++q) {
      d(e, q) = facts.distance(static_cast<int>(e), static_cast<int>(q));
    }
  }
  if (swap) d = (d.minCoeff() + d.maxCoeff() - d.array()).matrix();
  if (!crossing) {
    input.centred_distance_mm = d.array() - d.mean();
    return;
  }
  const Eigen::VectorXd rows = d.rowwise().mean();
  const Eigen::RowVectorXd columns = d.colwise().mean();
  input.centred_distance_mm = ((d.colwise() - rows).rowwise() - columns).array() + d.mean();
  input.basis = orthogonal_interactions(input.centred_distance_mm);
}

Status check_idle(const Reduced& reduced, const FitOptions& options) {
  if (reduced.idle.empty()) {
    return fail(ErrorCode::bad_data,
                "the campaign has no usable idle or cool-down runs, so dynamic power cannot be "
                "separated from idle power");
  }
  if (!options.temperature_correction) return {};
  bool any = false;
  double low = 1e9;
  double high = -1e9;
  for (const Window& window : reduced.idle) {
    if (!std::isfinite(window.temperature_c)) continue;
    any = true;
    low = std::min(low, window.temperature_c);
    high = std::max(high, window.temperature_c);
  }
  if (!any) return fail(ErrorCode::bad_data, "the temperature sensor returned nothing");
  if (high - low < 3) {
    return fail(ErrorCode::bad_data,
                "idle power was seen at one temperature only; idle power against temperature "
                "needs a heating and a cool-down run");
  }
  return {};
}

}  // namespace

void assume_load_line(JointInput& input, double ohm) {
  const auto set = [&](Window& window) {
    const double nominal_v = input.dvfs[static_cast<std::size_t>(window.dvfs_state)].voltage_v;
    window.voltage_v = voltage_on_load_line(nominal_v, ohm, window.power_w);
  };
  std::ranges::for_each(input.idle, set);
  std::ranges::for_each(input.streams, set, &StreamPlateau::window);
}

double distance_contrast_mm(const JointInput& input) {
  return std::sqrt(input.centred_distance_mm.squaredNorm() /
                   static_cast<double>(input.centred_distance_mm.size()));
}

Result<JointInput> prepare(Reduced& reduced, const Facts& facts, const FitOptions& options) {
  std::size_t streams = 0;
  std::string first_reason;
  std::size_t seen = 0;
  for (const Plateau& plateau : reduced.plateaus) {
    if (!streams_data(plateau.row.kind)) continue;
    ++seen;
    streams += plateau.row.used ? 1 : 0;
    if (!plateau.row.used && first_reason.empty()) first_reason = plateau.row.reason;
  }
  if (seen == 0) return fail(ErrorCode::bad_data, "the campaign has no stream runs");
  if (streams == 0) {
    return fail(ErrorCode::bad_data, "no stream run is usable; the first: " + first_reason);
  }
  if (streams == 1) {
    return fail(ErrorCode::bad_data, "one stream run only; nothing to compare it with");
  }
  WW_TRY(check_idle(reduced, options));

  JointInput input;
  input.dvfs = facts.dvfs;
  input.temperature_correction = options.temperature_correction;
  input.robust = options.robust;
  input.crossing = options.crossing;
  fill_distances(input, facts, options.swap_paths, options.crossing);
  input.no_voltage_reason = why_no_voltage(reduced, facts);
  if (input.no_voltage_reason.empty()) steady_voltages(reduced, facts);
  input.temperature = fit_temperature(reduced);
  input.idle = reduced.idle;

  std::map<std::tuple<int, std::string, int, int>, std::size_t> variant_of;
  // A block that was interrupted goes on in another session, after a gap: its drift starts anew.
  // Every group of a lock-in run's turns is a block of its own.
  using BlockKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  const auto key_of = [](const Plateau& plateau) {
    const bool turns = plateau.row.kind == RunKind::lock_in;
    return BlockKey{plateau.row.session, plateau.row.block,
                    turns ? 1 + 1000 * plateau.row.position + plateau.group : 0};
  };
  std::map<BlockKey, std::size_t> block_of;
  std::map<BlockKey, std::pair<double, double>> place_range;
  for (const Plateau& plateau : reduced.plateaus) {
    if (!streams_data(plateau.row.kind) || !plateau.row.used) continue;
    const auto place = static_cast<double>(plateau.row.position);
    auto [found, fresh] = place_range.try_emplace(key_of(plateau), place, place);
    found->second.first = std::min(found->second.first, place);
    found->second.second = std::max(found->second.second, place);
  }
  std::vector<double> temperatures;
  for (std::size_t i = 0; i < reduced.plateaus.size(); ++i) {
    const Plateau& plateau = reduced.plateaus[i];
    const PlateauRow& row = plateau.row;
    if (!streams_data(row.kind) || !row.used) continue;
    if (row.kind == RunKind::lock_in && !options.lock_in) continue;
    // Turns of one campaign differ by factors; their mean lengths, by a launch.
    const auto turn =
        row.turn_s > 0 ? static_cast<int>(std::lround(8 * std::log2(row.turn_s))) : 999;
    const auto [variant, fresh] = variant_of.try_emplace(
        {plateau.dvfs_state, row.pattern, row.throttle, turn}, input.variants.size());
    if (fresh) {
      input.variants.push_back(
          {row.pattern, row.throttle, plateau.dvfs_state, row.turn_s, {}, 0, 0, 0});
    }
    StreamPlateau stream;
    stream.window = plateau.window;
    stream.source = i;
    stream.engine = row.engine;
    stream.quadrant = row.quadrant;
    stream.variant = variant->second;
    stream.block = block_of.try_emplace(key_of(plateau), block_of.size()).first->second;
    const auto& [low, high] = place_range[key_of(plateau)];
    stream.place =
        high > low ? 2 * (static_cast<double>(row.position) - low) / (high - low) - 1 : 0;
    if (!options.mirrored && stream.place > 0) continue;
    stream.busy_share = plateau.busy_share;
    stream.bits_per_second = row.bits_per_second / plateau.busy_share;
    Variant& mine = input.variants[variant->second];
    mine.plateaus.push_back(input.streams.size());
    mine.mean_bits_per_second += stream.bits_per_second;
    mine.mean_busy_share += stream.busy_share;
    mine.held_s += row.turn_s > 0 ? row.turn_s : row.end_s - row.start_s;
    if (std::isfinite(row.temperature_c)) temperatures.push_back(row.temperature_c);
    input.streams.push_back(stream);
  }
  for (Variant& variant : input.variants) {
    variant.mean_bits_per_second /= static_cast<double>(variant.plateaus.size());
    variant.mean_busy_share /= static_cast<double>(variant.plateaus.size());
    variant.held_s /= static_cast<double>(variant.plateaus.size());
    if (options.bytes_covariate) continue;
    for (const std::size_t p : variant.plateaus) {
      input.streams[p].bits_per_second = variant.mean_bits_per_second;
    }
  }
  input.blocks = block_of.size();
  input.power_step_w = facts.sensor.power_resolution_w;
  if (!input.no_voltage_reason.empty()) {
    input.load_line = load_line_of(reduced, facts);
    assume_load_line(input, input.load_line.ohm);
  }
  input.reference_c = temperatures.empty() ? 50 : std::round(median(std::move(temperatures)));
  return input;
}

}  // namespace ww::model
