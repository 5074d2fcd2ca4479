#include "homes/home_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "caches/array_caches.hpp"
#include "device/amd_device.hpp"
#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/latency_table.hpp"

namespace ww::microbench {
namespace {

using Table = std::vector<std::vector<double>>;

// The new one's number q is the old one's number order[q].
template <class T>
void reorder(std::vector<T>& values, const std::vector<int>& order) {
  const std::vector<T> old = values;
  for (std::size_t q = 0; q < order.size(); ++q) {
    values[q] = old[static_cast<std::size_t>(order[q])];
  }
}
void reorder(Homes& homes, const std::vector<int>& order) {
  reorder(homes.channels, order);
  for (auto& row : homes.ticks) reorder(row, order);
}

std::string homes_to_json(const HomeMemory& memory, const std::string& notes) {
  auto json = nlohmann::json::parse(notes, nullptr, false);
  if (!json.is_object()) json = nlohmann::json::object();
  json["homes"] = to_json(memory.homes);
  json["homes"]["address"] = memory.address;
  return json.dump();
}

// Sum of squares of what two tables differ by where one's columns are in the given order.
double difference(const Table& recorded, const Table& found, const std::vector<int>& order) {
  double square = 0;
  for (std::size_t e = 0; e < recorded.size(); ++e) {
    for (std::size_t q = 0; q < order.size(); ++q) {
      square += std::pow(recorded[e][q] - found[e][static_cast<std::size_t>(order[q])], 2);
    }
  }
  return square;
}

// The order of the columns in which a table is most like the recorded one; nothing where another
// one is nearly as good.
std::optional<std::vector<int>> match_columns(const Table& recorded, const Table& found) {
  constexpr double kBetter = 4;  // times as much is left by the next order
  std::vector<int> order(recorded.front().size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<int> best;
  double least = std::numeric_limits<double>::infinity();
  double next = least;
  do {
    const double here = difference(recorded, found, order);
    if (here < least) {
      next = std::exchange(least, here);
      best = order;
    } else {
      next = std::min(next, here);
    }
  } while (std::ranges::next_permutation(order).found);
  if (!(next > kBetter * least)) return {};
  return best;
}

// Standard uncertainty of an entry of homes.ticks that no repeat shows: a wavefront of 64 issues
// every four cycles, so that each load takes a multiple of those. Accesses of 1, 2, ... lines cut
// that to a multiple of 4, 2 or 1 cycles; the last is no more than whole cycles are anyway. A mean
// over compute units does not reduce it, because their flights may differ by less.
double issue_ticks(const Homes& homes) {
  constexpr double kIssueCycles = 4;
  const double step = kIssueCycles / lines_at_once(homes.address);
  return step > 1 ? step / std::sqrt(12.0) : 0;
}

// Matches homes to the device's own floorplan where there is one that is to be used.
Result<std::string> match_floorplan(Device& device, const DeviceRequest& request) {
  if (device.floorplan_toml.empty()) return std::string("no floorplan of this die is known");
  if (!request.use_floorplan) return std::string("the floorplan was not to be used");
  WW_ASSIGN(plan, model::parse_floorplan(device.floorplan_toml, device.name + "'s floorplan"));
  return match_homes(*device.homes, plan);
}

// Why a device with this evidence is refused; empty where it is not.
std::string array_cache_obstacle(const ArrayCacheVerdict& verdict, bool may_be_unshown) {
  using Kind = ArrayCacheVerdict::Kind;
  const auto because = [&verdict](const char* what) {
    return fmt::format("no campaign can be run on it: {}: {}", what, verdict.reason);
  };
  switch (verdict.kind) {
    case Kind::passed_by: return {};
    case Kind::answers: return because("the caches of its shader arrays (GL1) answer its streams");
    case Kind::past_l2: return because("its streams go past the L2");
    case Kind::not_shown: break;
  }
  if (may_be_unshown) return {};
  return because("nothing shows that its streams pass the caches of its shader arrays (GL1)");
}

// Lets a device pass whose streams are not answered by a cache before the L2, and notes the
// evidence with how it was opened; nothing on devices other than RDNA.
Status look_at_array_caches(Device& device) {
  if (!is_rdna(device.chip.target)) return {};
  log::info("looking whether {}'s loads pass the caches of its shader arrays",
            device.host->device_name());
  WW_ASSIGN(evidence, find_array_cache_evidence(*device.host));
  const ArrayCacheVerdict verdict = judge_array_caches(evidence);
  const bool has_none = !has_array_caches(device.chip.target);
  // Counters that follow launches judge each run by themselves (runner.cpp).
  const bool counted = device.traffic == Traffic::counters;
  const std::string obstacle = array_cache_obstacle(verdict, has_none || counted);
  if (!obstacle.empty()) return fail(ErrorCode::unsupported, obstacle, device.name);
  auto notes = nlohmann::json::parse(device.notes, nullptr, false);
  if (!notes.is_object()) notes = nlohmann::json::object();
  auto& noted = notes["array_caches"] = to_json(evidence);
  if (verdict.kind == ArrayCacheVerdict::Kind::not_shown) {
    noted["max_hits"] = has_none ? 0 : kMaxArrayCacheHits;
    noted["reason"] = (has_none ? "RDNA 4 has no such cache, by what AMD has published; "
                                : "by the counters of every run; ") +
                      verdict.reason;
  }
  device.notes = notes.dump();
  return {};
}

}  // namespace

FloorplanAgreement compare_floorplan(const Homes& homes, const model::Floorplan& plan) {
  FloorplanAgreement agreement;
  agreement.floorplan = plan.name;
  std::vector<std::size_t> wanted;
  for (const auto& quadrant : plan.quadrants) wanted.push_back(quadrant.size());
  std::vector<std::size_t> found;
  for (const auto& home : homes.channels) found.push_back(home.size());
  if (wanted != found || plan.compute_units.size() != homes.ticks.size()) {
    agreement.reason = fmt::format(
        "the floorplan '{}' has {} quadrants and {} engines; {} homes and {} engines "
        "were found",
        plan.name, wanted.size(), plan.compute_units.size(), found.size(), homes.ticks.size());
    return agreement;
  }
  const QuadrantOrder order = order_groups(homes.ticks, plan);
  agreement.correlation = order.correlation;
  if (!order.by_latency) {
    agreement.reason = fmt::format("measured latencies do not agree with the floorplan '{}': {}",
                                   plan.name, order.reason);
    return agreement;
  }
  agreement.home_of = order.group_of;
  Table ticks = homes.ticks;
  for (auto& row : ticks) reorder(row, order.group_of);
  // The order may be beyond doubt and distances still be wrong: where all ways of an engine pass a
  // port that the drawing does not show, say.
  const model::LatencyWitness witness =
      model::judge_latency_table(ticks, std::hypot(homes.noise_ticks, issue_ticks(homes)), plan);
  agreement.rank_correlation = witness.rank_correlation;
  if (witness.disagrees) {
    agreement.reason = fmt::format("the floorplan '{}' has other distances than were measured: {}",
                                   plan.name, witness.reason);
    return agreement;
  }
  // A scale that may be nothing or twice what is drawn: millimetres would say less than times do.
  constexpr double kUselessScale = 1;
  const double scale = plan.scale_error_95();
  if (scale >= kUselessScale) {
    agreement.reason = fmt::format(
        "the positions of the floorplan '{}' are so uncertain that its distances may be wrong by "
        "{:.0f}%",
        plan.name, 100 * scale);
    return agreement;
  }
  agreement.agrees = true;
  return agreement;
}

nlohmann::json to_json(const FloorplanAgreement& agreement) {
  return {
      {"floorplan", agreement.floorplan},
      {"agrees", agreement.agrees},
      {"reason", agreement.reason},
      {"home_of_quadrant", agreement.home_of},
      {"correlation", agreement.correlation},
      {"rank_correlation", agreement.rank_correlation ? nlohmann::json(*agreement.rank_correlation)
                                                      : nlohmann::json()}};
}

std::string match_homes(HomeMemory& memory, const model::Floorplan& plan) {
  const FloorplanAgreement agreement = compare_floorplan(memory.homes, plan);
  if (!agreement.home_of.empty()) reorder(memory.homes, agreement.home_of);
  if (agreement.agrees) {
    log::info("latencies agree with the floorplan '{}' (correlation {:.3f}, of ranks {:.3f})",
              plan.name, agreement.correlation, agreement.rank_correlation.value_or(0));
  }
  return agreement.reason;
}

bool homes_are_documented(const Device& device, const DeviceRequest& request) {
  return device.chip.interleave_bytes > 0 && !device.floorplan_toml.empty() &&
         request.use_floorplan;
}

Status find_device_homes(Device& device, const DeviceRequest& request) {
  WW_TRY(look_at_array_caches(device));
  log::info("finding out where {}'s lines live", device.host->device_name());
  WW_ASSIGN(memory, discover_homes(*device.host, kHomePages, {}));
  if (!memory.homes.found) {
    return fail(
        ErrorCode::unsupported,
        "no campaign can be run on it: where its lines live cannot be told: " + memory.homes.reason,
        device.name);
  }
  device.homes = std::move(memory);
  Homes& homes = device.homes->homes;
  // Places and not compute units: RDNA names pairs of those alone.
  std::map<int, int> engines;
  for (const TopologyPlace& place : device.homes->places) ++engines[place.engine];
  device.engine_numbers.clear();
  device.engine_cus.clear();
  for (const auto& [number, count] : engines) {
    device.engine_numbers.push_back(number);
    device.engine_cus.push_back(count);
  }
  device.chip.engines = static_cast<int>(engines.size());
  // A place of RDNA is a pair of compute units.
  if (device.chip.cus_per_engine == 0) {
    device.chip.cus_per_engine = 2 * *std::ranges::max_element(device.engine_cus);
  }
  device.chip.channels = homes.address.channels;
  device.chip.interleave_bytes = static_cast<int>(homes.address.interleave_bytes);

  WW_ASSIGN(obstacle, match_floorplan(device, request));
  const auto states = device.sensor->dvfs_states();
  const auto state = static_cast<std::size_t>(std::max(0, device.sensor->dvfs_current()));
  if (state >= states.size() || !(states[state].clock_hz > 0)) {
    return fail(ErrorCode::unsupported, "its clock is not known, so ticks are no nanoseconds",
                device.name);
  }
  const double ns_per_tick = 1e9 / states[state].clock_hz;
  model::MeasuredPaths& paths = device.paths.emplace();
  for (const auto& row : homes.ticks) {
    auto& out = paths.flight_ns.emplace_back();
    for (const double ticks : row) out.push_back(ticks * ns_per_tick);
  }
  paths.noise_ns = homes.noise_ticks * ns_per_tick;
  // Rounded up to whole cycles twice, by the fabric's clock and the core's: each as likely anywhere
  // within a cycle. The fabric's clock is not known; those of cards are about the core's.
  paths.resolution_ns = std::hypot(std::sqrt(2.0 / 12.0), issue_ticks(homes)) * ns_per_tick;
  for (const auto& home : homes.channels) paths.channels.push_back(static_cast<int>(home.size()));
  paths.by_floorplan = obstacle.empty();
  paths.reason = obstacle;
  if (!paths.by_floorplan) device.floorplan_toml.clear();
  device.quadrants = homes.channels;
  device.notes = homes_to_json(*device.homes, device.notes);
  return {};
}

Status continue_homes(Device& device, const std::optional<std::string>& recorded) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, "this campaign cannot be resumed: " + why, device.name);
  };
  if (recorded.has_value() != device.paths.has_value()) {
    return refuse(recorded
                      ? "it found out where lines live, which these options do not ask for"
                      : "it went by the documented order of addresses, and these options do not");
  }
  if (!recorded) return {};
  WW_ASSIGN(json, parse_json(*recorded, model::kPathsFact));
  WW_ASSIGN(before, model::measured_paths_from_json(json));
  model::MeasuredPaths& now = *device.paths;
  if (before.by_floorplan != now.by_floorplan) {
    return refuse(before.by_floorplan
                      ? "its distances are millimetres, and now they would be times: " + now.reason
                      : "its distances are times, and now they would be millimetres");
  }
  if (before.channels != now.channels || before.flight_ns.size() != now.flight_ns.size()) {
    return refuse("other engines and homes were found than in its first session");
  }
  constexpr std::size_t kMaxHomes = 8;  // all orders are tried
  if (now.channels.size() > kMaxHomes) return refuse("it has too many homes to compare");
  const auto order = match_columns(before.flight_ns, now.flight_ns);
  if (!order) return refuse("latencies do not tell which home is which of its first session's");
  reorder(device.homes->homes, *order);
  for (auto& row : now.flight_ns) reorder(row, *order);
  device.quadrants = device.homes->homes.channels;
  device.notes = homes_to_json(*device.homes, device.notes);
  return {};
}

}  // namespace ww::microbench
