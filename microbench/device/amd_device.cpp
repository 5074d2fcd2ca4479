#include "device/amd_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "device/amd_package.hpp"
#include "device/launch_log.hpp"
#include "host/pinning.hpp"
#include "ww/core/log.hpp"
#include "ww/microbench/gpu_load.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

// PCI ids: the PCI ID Repository (pci-ids.ucw.cz), vendor 1002, and the table of Linux's driver
// (amdgpu_drv.c). Channels, interleave and caches: AMD's GCN3, Vega, CDNA 1 and CDNA 2 ISA
// documents and white papers, and what rocminfo lists; every calibration finds channels and
// interleave anew. Steering: the driver's tables of TCP_CHAN_STEER (gfx_v9_0.c, gfx_v9_4_2.c).
const std::array<AmdCard, 5>& cards() {
  static const std::array<AmdCard, 5> known{{
      {"Hawaii (FirePro W9100 and W8100, Radeon R9 290 and 390 series)",
       "w9100",
       "gfx701",
       {0x67a0, 0x67a1, 0x67a2, 0x67a8, 0x67a9, 0x67aa, 0x67b0, 0x67b1, 0x67b8, 0x67b9, 0x67be},
       16,
       256,
       64,
       16 << 10,
       1 << 20,
       false},
      {"Vega 10 (Radeon RX Vega 56 and 64, Vega Frontier, Instinct MI25)",
       "vega10",
       "gfx900",
       {0x6860, 0x6861, 0x6862, 0x6863, 0x6864, 0x6867, 0x6868, 0x6869, 0x686a, 0x686b, 0x686c,
        0x686d, 0x686e, 0x686f, 0x687f},
       16,
       256,
       64,
       16 << 10,
       4 << 20,
       true},
      {"Vega 20 (Instinct MI50 and MI60, Radeon VII, Radeon Pro VII)",
       "vega20",
       "gfx906",
       {0x66a0, 0x66a1, 0x66a2, 0x66a3, 0x66a4, 0x66a7, 0x66af},
       16,
       256,
       64,
       16 << 10,
       4 << 20,
       true},
      {"CDNA 1 (Instinct MI100)",
       "mi100",
       "gfx908",
       {0x7388, 0x738c, 0x738e, 0x7390},
       32,
       256,
       64,
       16 << 10,
       8 << 20,
       true},
      // 0x7410 is the virtual function of such a die, whose power a machine sees only where it has
      // the die to itself.
      {"CDNA 2 (Instinct MI210, MI250, MI250X: one die)",
       "mi210",
       "gfx90a",
       {0x7408, 0x740c, 0x740f, 0x7410},
       32,
       256,
       128,
       16 << 10,
       8 << 20,
       true},
  }};
  return known;
}

// Mean over the channels of each of the floorplan's groups, [engine][group].
std::vector<std::vector<double>> by_group(const std::vector<std::vector<double>>& ticks,
                                          const std::vector<std::vector<int>>& groups) {
  std::vector<std::vector<double>> mean;
  for (const auto& row : ticks) {
    auto& out = mean.emplace_back();
    for (const auto& channels : groups) {
      double sum = 0;
      for (const int channel : channels) sum += row[static_cast<std::size_t>(channel)];
      out.push_back(sum / static_cast<double>(channels.size()));
    }
  }
  return mean;
}

void take_offsets_out(std::vector<std::vector<double>>& table) {
  const auto rows = static_cast<double>(table.size());
  const std::size_t columns = table.front().size();
  for (auto& row : table) {
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(columns);
    for (double& entry : row) entry -= mean;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    double mean = 0;
    for (const auto& row : table) mean += row[c] / rows;
    for (auto& row : table) row[c] -= mean;
  }
}

double correlation(const std::vector<std::vector<double>>& latency,
                   const std::vector<std::vector<double>>& distance,
                   const std::vector<int>& order) {
  double ll = 0;
  double dd = 0;
  double ld = 0;
  for (std::size_t e = 0; e < distance.size(); ++e) {
    for (std::size_t q = 0; q < distance[e].size(); ++q) {
      const double l = latency[e][static_cast<std::size_t>(order[q])];
      const double d = distance[e][q];
      ll += l * l;
      dd += d * d;
      ld += l * d;
    }
  }
  return ll > 0 && dd > 0 ? ld / std::sqrt(ll * dd) : 0.0;
}

// Clock and voltage while the chip works, by the medians of readings.
struct Working {
  std::optional<double> clock_hz, voltage_v;
};
Result<Working> working_point(measure::Sensor& sensor) {
  WW_ASSIGN(readings, sensor.new_readings());
  std::vector<double> clocks;
  std::vector<double> voltages;
  for (const SensorReading& reading : readings) {
    if (reading.clock_khz) clocks.push_back(*reading.clock_khz * 1e3);
    if (reading.voltage_uv) voltages.push_back(*reading.voltage_uv * 1e-6);
  }
  const auto median = [](std::vector<double>& values) -> std::optional<double> {
    if (values.empty()) return {};
    std::ranges::nth_element(values,
                             values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
  };
  return Working{median(clocks), median(voltages)};
}

// The card's sensor with the clock states that a campaign uses: the slowest and the fastest where
// clocks may be fixed, else the one that the driver chooses under load.
class CardSensor final : public measure::Sensor {
 public:
  struct State {
    DvfsState nominal;
    int selected{-1};  // of the sensor's own states; -1: as the driver chooses
  };
  CardSensor(std::unique_ptr<measure::Sensor> sensor, std::vector<State> states)
      : sensor_(std::move(sensor)), states_(std::move(states)) {
    current_ = static_cast<int>(states_.size()) - 1;
  }
  const measure::SensorFacts& facts() const override { return sensor_->facts(); }
  std::int64_t now_ns() override { return sensor_->now_ns(); }
  void sleep_until(std::int64_t time_ns) override { sensor_->sleep_until(time_ns); }
  Result<std::vector<SensorReading>> new_readings() override { return sensor_->new_readings(); }
  std::string throttling() const override { return sensor_->throttling(); }
  std::vector<DvfsState> dvfs_states() const override {
    std::vector<DvfsState> states;
    for (const State& state : states_) states.push_back(state.nominal);
    return states;
  }
  int dvfs_current() const override { return current_; }
  Status select_dvfs(int state) override {
    if (state < 0 || static_cast<std::size_t>(state) >= states_.size()) {
      return fail(ErrorCode::out_of_range, fmt::format("no clock state {}", state), facts().name);
    }
    const int wanted = states_[static_cast<std::size_t>(state)].selected;
    if (wanted >= 0) WW_TRY(sensor_->select_dvfs(wanted));
    current_ = state;
    return {};
  }

 private:
  std::unique_ptr<measure::Sensor> sensor_;
  std::vector<State> states_;
  int current_{};
};

constexpr double kStandInVoltageV = 1.0;

// Runs the furnace at every state and notes what clock and voltage it showed.
Result<std::vector<CardSensor::State>> find_states(ComputeHost& host, measure::Sensor& sensor,
                                                   json& notes) {
  std::vector<CardSensor::State> states;
  const auto offered = sensor.dvfs_states();
  if (offered.size() > 1) {
    states.push_back({offered.front(), 0});
    states.push_back({offered.back(), static_cast<int>(offered.size()) - 1});
  } else {
    states.push_back({{}, offered.empty() ? -1 : 0});
  }
  bool voltage_told = true;
  WW_ASSIGN(load, make_gpu_load(host, sensor));
  for (auto& state : states) {
    if (state.selected >= 0) WW_TRY(sensor.select_dvfs(state.selected));
    WW_ASSIGN(ignored, load->run_for(0.3));  // clocks rise with the load
    static_cast<void>(ignored);
    WW_TRY(working_point(sensor));
    WW_ASSIGN(step, load->run_for(0.6));
    static_cast<void>(step);
    WW_ASSIGN(seen, working_point(sensor));
    if (!seen.clock_hz && !(state.nominal.clock_hz > 0)) {
      return fail(ErrorCode::unsupported,
                  "its driver reports no core clock, so rates have no meaning; try the other way "
                  "to its sensor (ROCm SMI, amdgpu's files)",
                  sensor.facts().name);
    }
    if (seen.clock_hz) state.nominal.clock_hz = *seen.clock_hz;
    voltage_told = voltage_told && seen.voltage_v.has_value();
    state.nominal.voltage_v = seen.voltage_v.value_or(kStandInVoltageV);
  }
  if (!voltage_told && states.size() > 1) states.erase(states.begin());
  notes["states"] = {{"clock_control", offered.size() > 1}, {"voltage_told", voltage_told}};
  if (!voltage_told) {
    for (auto& state : states) state.nominal.voltage_v = kStandInVoltageV;
    notes["states"]["reason"] =
        "the driver tells no core voltage: 1 V stands in for it, and nothing can be said of how "
        "energy goes with voltage";
    log::warn("{}", notes["states"]["reason"].get<std::string>());
  }
  return states;
}

QuadrantOrder as_numbered(const model::Floorplan& plan) {
  QuadrantOrder order;
  order.group_of.resize(plan.quadrants.size());
  std::iota(order.group_of.begin(), order.group_of.end(), 0);
  return order;
}

// Engines and their CUs as wavefronts found them.
Result<std::vector<int>> engine_cus(const Topology& topology, const model::Floorplan& plan,
                                    const std::string& name) {
  std::map<int, int> cus;
  for (const TopologyPlace& place : topology.places) ++cus[place.engine];
  const auto wanted = plan.compute_units.size();
  if (cus.size() != wanted || cus.begin()->first != 0 ||
      cus.rbegin()->first != static_cast<int>(wanted) - 1) {
    std::vector<int> seen;
    seen.reserve(cus.size());
    for (const auto& [engine, count] : cus) seen.push_back(engine);
    return fail(ErrorCode::unsupported,
                fmt::format("wavefronts ran on engines {}; the floorplan '{}' has {}",
                            fmt::join(seen, ", "), plan.name, wanted),
                name);
  }
  std::vector<int> counts;
  counts.reserve(cus.size());
  for (const auto& [engine, count] : cus) counts.push_back(count);
  return counts;
}

// Gives the device its host, and its sensor with the clock states that a campaign uses.
Status attach_states(Device& device, ComputeDevice opened, json& notes) {
  WW_ASSIGN(states, find_states(*opened.host, *opened.sensor, notes));
  device.notes = notes.dump();
  auto sensor = std::make_unique<CardSensor>(std::move(opened.sensor), std::move(states));
  WW_TRY(sensor->select_dvfs(sensor->dvfs_current()));
  attach_logged(device, std::move(sensor), std::move(opened.host));
  return {};
}

// A die of which nothing is known but its driver's L2. Its engines, channels and homes are found
// later (home_device.hpp), and its distances are times.
Result<Device> open_by_home(ComputeDevice opened, const std::string& name) {
  if (opened.l2_bytes <= 0) {
    return fail(ErrorCode::unsupported,
                "the driver does not say how large its L2 is (KFD's topology), so no list of lines "
                "surely fits",
                name);
  }
  Device device;
  device.name = name;
  device.is_virtual = opened.is_virtual;
  device.chip.name = opened.host->device_name();
  device.chip.target = opened.target.substr(0, opened.target.find(':'));
  device.chip.l2_bytes = opened.l2_bytes;
  device.traffic = device.is_virtual ? Traffic::one_launch : Traffic::every_launch;
  json notes = {{"card", device.chip.name},
                {"device_id", opened.amd ? opened.amd->device_id : ""},
                {"driver", opened.host->driver_version()},
                {"sensor", opened.sensor->facts().name},
                {"traffic", {{"source", to_string(device.traffic)}}}};
  WW_TRY(attach_states(device, std::move(opened), notes));
  return device;
}

}  // namespace

const AmdCard* find_amd_card(std::string_view device_id) {
  if (device_id.starts_with("0x")) device_id.remove_prefix(2);
  unsigned id = 0;
  const char* end = device_id.data() + device_id.size();
  if (std::from_chars(device_id.data(), end, id, 16).ptr != end || device_id.empty())
    return nullptr;
  for (const AmdCard& card : cards()) {
    if (std::ranges::find(card.device_ids, id) != card.device_ids.end()) return &card;
  }
  return nullptr;
}

std::string campaign_obstacle(const std::string& target, const std::string& device_id) {
  const auto is = [&target](std::string_view prefix) { return target.starts_with(prefix); };
  if (!is("gfx")) {
    return "its binaries are neither AMD code objects nor PTX, so no kernel can be tied to a place";
  }
  if (dies_repeat_ids(target)) {
    return "every die of this part has an L2 of its own: what a far access crosses is the fabric "
           "between dies, which 'wirewatt calibrate' measures on an undivided MI300X or MI325X "
           "alone; "
           "'wirewatt topology' and imported counters ('wirewatt estimate --counters') work on it";
  }
  // RDNA's streams go by home, whatever the die. Whether they pass the caches of its shader arrays
  // is found out on the card (home_device.hpp).
  if (is_rdna(target)) return {};
  if (find_amd_card(device_id) != nullptr) return {};
  std::string known;
  for (const AmdCard& card : cards()) {
    known += known.empty() ? "" : "; ";
    known += card.name;
  }
  return fmt::format(
      "the die of the card with PCI id {} ({}) is not known, so neither are its L2's size and "
      "rate; "
      "known are {}",
      device_id.empty() ? "unknown" : device_id, target, known);
}

std::string address_obstacle(const AddressMap& map, const AmdCard& card) {
  if (!map.found) {
    return "which addresses share an L2 channel was not found (" + map.reason +
           "), so nothing would tell what a stream reads";
  }
  if (map.channels != card.channels || map.interleave_bytes != card.interleave_bytes) {
    return fmt::format("it has {} channels of {} B in a row; {} is known with {} of {} B",
                       map.channels, map.interleave_bytes, card.name, card.channels,
                       card.interleave_bytes);
  }
  // Contention shows which addresses share a channel, not which slice that channel is.
  if (card.steered) {
    return fmt::format(
        "the driver steers the channels of {} to slices out of order, so that streams follow lists "
        "of lines",
        card.name);
  }
  if (map.form == AddressMap::Form::xor_of_bits) {
    // Another order of the bits only renames channels; more than one bit in a mask is a hash.
    std::set<std::uint64_t> wanted;
    for (int bit = 1; bit < card.channels; bit *= 2) {
      wanted.insert(static_cast<std::uint64_t>(card.interleave_bytes) *
                    static_cast<std::uint64_t>(bit));
    }
    const std::set<std::uint64_t> found(map.masks.begin(), map.masks.end());
    if (found != wanted) {
      return fmt::format(
          "its channels are chosen by parities of address bits (masks {:#x}), so that streams "
          "follow lists of lines",
          fmt::join(map.masks, ", "));
    }
  }
  return {};
}

QuadrantOrder order_quadrants(const LatencyMap& latency, const model::Floorplan& plan) {
  QuadrantOrder order = as_numbered(plan);
  if (!latency.found) {
    order.reason = latency.reason.empty() ? "latencies show no distance" : latency.reason;
    return order;
  }
  if (latency.ticks.size() != plan.compute_units.size() ||
      latency.ticks.front().size() != plan.l2_channels.size()) {
    order.reason = "the latencies are not of this floorplan's engines and channels";
    return order;
  }
  return order_groups(by_group(latency.ticks, plan.quadrants), plan);
}

QuadrantOrder order_groups(const std::vector<std::vector<double>>& group_ticks,
                           const model::Floorplan& plan) {
  QuadrantOrder order = as_numbered(plan);
  constexpr std::size_t most_quadrants = 6;  // 720 orders
  constexpr double needed = 0.7;
  constexpr double ahead = 0.1;
  if (plan.quadrants.size() > most_quadrants) {
    order.reason = "the floorplan has too many quadrants to try all orders";
    return order;
  }
  auto ticks = group_ticks;
  std::vector<std::vector<double>> distance;
  for (std::size_t e = 0; e < plan.compute_units.size(); ++e) {
    auto& row = distance.emplace_back();
    for (std::size_t q = 0; q < plan.quadrants.size(); ++q) {
      row.push_back(plan.distance(static_cast<int>(e), static_cast<int>(q)).value());
    }
  }
  take_offsets_out(ticks);
  take_offsets_out(distance);
  auto candidate = order.group_of;
  double best = -2;
  double second = -2;
  std::vector<int> chosen = candidate;
  do {
    const double fits = correlation(ticks, distance, candidate);
    if (fits > best) {
      second = best;
      best = fits;
      chosen = candidate;
    } else {
      second = std::max(second, fits);
    }
  } while (std::ranges::next_permutation(candidate).found);
  order.correlation = best;
  if (best < needed || best - second < ahead) {
    order.correlation = correlation(ticks, distance, order.group_of);
    order.reason = fmt::format(
        "latencies fit the floorplan with a correlation of {:.2f} at best, the next order has "
        "{:.2f}: quadrants are taken as the floorplan numbers them",
        best, second);
    return order;
  }
  order.by_latency = true;
  order.group_of = std::move(chosen);
  return order;
}

Result<Device> open_amd_device(ComputeDevice opened, const std::string& name) {
  const std::string device_id = opened.amd ? opened.amd->device_id : "";
  if (opened.sensor == nullptr) {
    return tl::unexpected(no_power(opened));
  }
  std::string why = opened.host->facts().no_code;
  if (why.empty()) why = campaign_obstacle(opened.target, device_id);
  if (why.empty() && opened.amd) why = hidden_sibling(*opened.amd);
  if (!why.empty()) {
    return fail(ErrorCode::unsupported, "no campaign can be run on it: " + why, name);
  }
  if (is_rdna(opened.target)) return open_by_home(std::move(opened), name);
  const AmdCard& card = *find_amd_card(device_id);
  if (!opened.target.starts_with(card.target)) {
    return fail(ErrorCode::unsupported,
                fmt::format("PCI id {} is {} ({}), but its driver says {}", device_id, card.name,
                            card.target, opened.target),
                name);
  }
  const auto text = model::known_floorplan(card.floorplan);
  if (!text) return fail(ErrorCode::not_found, "no such floorplan", std::string(card.floorplan));

  Device device;
  device.name = name;
  device.is_virtual = opened.is_virtual;
  device.floorplan_toml = *text;
  WW_ASSIGN(plan, model::parse_floorplan(device.floorplan_toml, std::string(card.floorplan)));
  log::info("looking at {}'s engines and L2 channels", opened.host->device_name());
  WW_ASSIGN(topology, discover_topology(*opened.host, {}));
  if (topology.places.empty()) {
    return fail(ErrorCode::unsupported,
                "no kernel can be tied to a place: " + topology.places_reason, name);
  }
  if (!topology.address.found) {
    return fail(ErrorCode::unsupported, address_obstacle(topology.address, card), name);
  }
  WW_ASSIGN(cus, engine_cus(topology, plan, name));
  // Where addresses are hashed, the campaign finds out where lines live (home_device.hpp).
  const std::string hashed = address_obstacle(topology.address, card);
  QuadrantOrder order;
  if (hashed.empty()) {
    order = order_quadrants(topology.latency, plan);
    if (!order.by_latency) log::warn("which quadrant lies where is assumed: {}", order.reason);
    for (const int group : order.group_of) {
      device.quadrants.push_back(plan.quadrants[static_cast<std::size_t>(group)]);
    }
  } else {
    order.reason = hashed;
    log::info("{}", hashed);
  }

  device.engine_cus = cus;
  device.chip = {opened.host->device_name(),
                 std::string(card.target),
                 static_cast<int>(cus.size()),
                 *std::ranges::max_element(cus),
                 card.channels,
                 hashed.empty() ? card.interleave_bytes : 0,
                 card.bytes_per_clock_per_channel,
                 card.l1_bytes,
                 card.l2_bytes};
  device.traffic = device.is_virtual ? Traffic::one_launch : Traffic::every_launch;
  json notes = {{"card", card.name},
                {"device_id", device_id},
                {"driver", opened.host->driver_version()},
                {"sensor", opened.sensor->facts().name},
                {"floorplan", card.floorplan},
                {"cus", cus},
                {"traffic", {{"source", to_string(device.traffic)}}},
                {"quadrants",
                 {{"told_by_latency", order.by_latency},
                  {"correlation", order.correlation},
                  {"group_of", order.group_of},
                  {"reason", order.reason}}}};
  WW_TRY(attach_states(device, std::move(opened), notes));
  return device;
}

}  // namespace ww::microbench
