#include "testing/synthetic_campaign.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "ww/model/floorplan.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::model::testing {
namespace {

constexpr int kEngines = 4;
constexpr int kQuadrants = 4;
constexpr double kSetVoltageV = 1.1687;
constexpr double kClockHz = 930e6;
// State 0 is the reference.
// Two states along a curve, and two off it.
constexpr std::array<double, 4> state_voltage_v{kSetVoltageV, 0.95, 0.95, kSetVoltageV};
constexpr std::array<double, 4> state_clock_hz{kClockHz, 670e6, kClockHz, 670e6};
constexpr double kPeakBitsPerSecond = 4 * 64 * 8 * kClockHz;

std::string floorplan_toml(bool same_distance) {
  std::ostringstream text;
  text << "name = \"synthetic\"\nestimated = true\nsource = \"made up for tests\"\n"
          "width_mm = 21\nheight_mm = 21\nregisters_to_l1_mm = 3.5\nposition_error_95_mm = 0.2\n"
          "quadrants = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]\n";
  const std::array<std::array<double, 2>, kEngines> centre{
      {{4.5, 15.5}, {16.0, 16.0}, {4.0, 5.5}, {16.5, 4.5}}};
  for (const auto& c : centre) {
    const double x = same_distance ? 10.5 : c[0];
    const double y = same_distance ? 10.5 : c[1];
    text << "[[engine]]\ncu = [[" << x - 1.5 << ", " << y << "], [" << x + 1.5 << ", " << y
         << "]]\n";
  }
  for (int channel = 0; channel < 16; ++channel) {
    const int quadrant = channel / 4;
    const double x = (quadrant % 2 == 0 ? 6.5 : 12.0) + 0.7 * (channel % 4);
    const double y = quadrant < 2 ? 12.5 : 8.0;
    text << "[[l2]]\nat = [" << x << ", " << y << "]\nmemory_controller = [" << x << ", "
         << (quadrant < 2 ? 20.5 : 0.5) << "]\n";
  }
  return text.str();
}

struct Load {
  double activity_w{};  // at reference voltage
  double wire_w{};      // at reference voltage
  int engine{-1};
};

// Five regions (four engines and the rest) on one die, a heat sink, air.
class Chip {
 public:
  explicit Chip(const SyntheticSpec& spec) : spec_(spec) {
    engine_c_.fill(spec.ambient_c + 10);
    die_c_ = spec.ambient_c + 9;
    sink_c_ = spec.ambient_c + 5;
    sensed_c_ = die_c_;
    settle();
  }

  void set_state(int state) {
    nominal_v_ = state_voltage_v[static_cast<std::size_t>(state)];
    clock_share_ = state_clock_hz[static_cast<std::size_t>(state)] / kClockHz;
  }
  double clock_share() const { return clock_share_; }
  double power_w() const { return power_w_; }
  double voltage_v() const { return voltage_v_; }
  double nominal_v() const { return nominal_v_; }
  double sensed_c() const { return sensed_c_; }

  void advance(const Load& load, double dt_s, double time_s) {
    const double ambient =
        spec_.ambient_c + spec_.ambient_drift_c * std::sin(2 * 3.14159265 * time_s / 700);
    const double v = voltage_v_ / kSetVoltageV;
    const double leak_scale = spec_.leakage_w / 5 * std::pow(v, spec_.leakage_voltage_power);
    const double dynamic = v * v * (1 + spec_.dynamic_per_k * (die_c_ - 60));
    std::array<double, kEngines> local{};
    double total = 0;
    for (std::size_t e = 0; e < kEngines; ++e) {
      local[e] = leak_scale * std::exp((engine_c_[e] - 60) / spec_.leakage_fold_c);
      if (static_cast<int>(e) == load.engine) local[e] += load.activity_w * 0.7 * dynamic;
      total += local[e];
    }
    const double rest = leak_scale * std::exp((die_c_ - 60) / spec_.leakage_fold_c) +
                        20 * clock_share_ * v * v +
                        (load.wire_w + load.activity_w * (load.engine >= 0 ? 0.3 : 1.0)) * dynamic;
    power_w_ = total + rest;
    voltage_v_ = nominal_v_ - spec_.load_line_ohm * power_w_ / voltage_v_;
    constexpr double die_tau_s = 2.5;
    constexpr double sink_tau_s = 45;
    for (std::size_t e = 0; e < kEngines; ++e) {
      engine_c_[e] +=
          dt_s / spec_.hot_spot_tau_s * (die_c_ + local[e] * spec_.hot_spot_k_per_w - engine_c_[e]);
    }
    die_c_ += dt_s / die_tau_s * (sink_c_ + power_w_ * spec_.die_k_per_w - die_c_);
    sink_c_ += dt_s / sink_tau_s * (ambient + power_w_ * spec_.sink_k_per_w - sink_c_);
    sensed_c_ += dt_s / 0.7 * (0.75 * die_c_ + 0.25 * engine_c_[0] - sensed_c_);
  }

 private:
  void settle() {
    for (int step = 0; step < 60000; ++step) advance({}, 0.005, 0);
  }

  const SyntheticSpec& spec_;
  std::array<double, kEngines> engine_c_{};
  double die_c_{}, sink_c_{}, sensed_c_{};
  double power_w_{};
  double voltage_v_{kSetVoltageV};
  double nominal_v_{kSetVoltageV};
  double clock_share_{1};
};

class Campaign {
 public:
  explicit Campaign(const SyntheticSpec& spec)
      : spec_(spec),
        random_(spec.seed * 7919 + 13),
        chip_(spec),
        text_(floorplan_toml(spec.same_distance)),
        plan_(*parse_floorplan(floorplan_toml(false), "synthetic")) {
    for (auto& row : wire_mm_) row.resize(kQuadrants);
    draw_pairs();
  }

  SyntheticCampaign run() {
    if (spec_.idle_runs) plain(RunKind::idle, {}, 3.0);
    block_ = 0;
    if (spec_.heat_s > 0) plain(RunKind::heat, {130, 0, -1}, spec_.heat_s);
    if (spec_.cooldown_s > 0) plain(RunKind::cooldown, {}, spec_.cooldown_s);
    std::vector<const SyntheticVariant*> order;
    for (const auto& variant : spec_.variants) {
      for (int b = 0; b < variant.blocks; ++b) order.push_back(&variant);
    }
    std::shuffle(order.begin(), order.end(), random_);
    for (const SyntheticVariant* variant : order) measure_block(*variant);
    for (const double turn_s : spec_.turns_s) lock_in(turn_s);
    SyntheticCampaign campaign;
    campaign.runs = std::move(runs_);
    campaign.facts = facts();
    campaign.energy_fj_per_bit_mm =
        spec_.zero_fj_per_bit_mm + 0.5 * spec_.slope_fj_per_transition_mm;
    campaign.sensed_fj_per_bit_mm = campaign.energy_fj_per_bit_mm * seen_share();
    return campaign;
  }

 private:
  // Regression of the pairs' wires on published distances, row and column means out of both.
  double seen_share() const {
    const auto mean = [](const auto& value, bool over_e, bool over_q, int e, int q) {
      double sum = 0;
      double count = 0;
      for (int i = 0; i < kEngines; ++i) {
        for (int j = 0; j < kQuadrants; ++j) {
          if ((!over_e && i != e) || (!over_q && j != q)) continue;
          sum += value(i, j);
          count += 1;
        }
      }
      return sum / count;
    };
    const auto centred = [&](const auto& value, int e, int q) {
      return value(e, q) - mean(value, false, true, e, q) - mean(value, true, false, e, q) +
             mean(value, true, true, e, q);
    };
    const auto published = [&](int e, int q) { return plan_.distance(e, q).value(); };
    const auto wires = [&](int e, int q) {
      return wire_mm_[static_cast<std::size_t>(e)][static_cast<std::size_t>(q)];
    };
    double top = 0;
    double bottom = 0;
    for (int e = 0; e < kEngines; ++e) {
      for (int q = 0; q < kQuadrants; ++q) {
        top += centred(published, e, q) * centred(wires, e, q);
        bottom += centred(published, e, q) * centred(published, e, q);
      }
    }
    return top / bottom;
  }

  double normal() { return std::normal_distribution<double>()(random_); }

  // Millimetres of wire, as energy sees them, of each pair.
  void draw_pairs() {
    double low = 1e9;
    double high = 0;
    for (int e = 0; e < kEngines; ++e) {
      for (int q = 0; q < kQuadrants; ++q) {
        const double mm = plan_.distance(e, q).value() * (1 + spec_.distance_error * normal());
        low = std::min(low, mm);
        high = std::max(high, mm);
        wire_mm_[static_cast<std::size_t>(e)][static_cast<std::size_t>(q)] = mm;
      }
    }
    for (auto& row : wire_mm_) {
      for (double& mm : row) {
        switch (spec_.departure) {
          case Departure::none: break;
          case Departure::unequal_links:
            mm *= std::max(0.1, 1 + spec_.departure_size * normal());
            break;
          case Departure::distance_steps: {
            const double step = (high - low) * spec_.departure_size;
            mm = low + step * std::ceil((mm - low) / step - 0.5);
            break;
          }
          case Departure::pair_power: mm += spec_.departure_size * (high - low) * normal(); break;
        }
      }
    }
    for (double& offset : engine_offset_) offset = 0.08 * normal();
    for (double& offset : quadrant_offset_) offset = 0.03 * normal();
    for (auto& row : rate_scatter_) {
      for (double& scatter : row)
        scatter = spec_.rate_scatter > 0 ? spec_.rate_scatter * normal() : 0;
    }
  }

  void sense(std::vector<SensorReading>& samples) {
    // The sensor sees the power of delay_s ago through an exponential average (10-90% in rise_s).
    recent_.push_back(chip_.power_w());
    const auto lag = static_cast<std::size_t>(spec_.delay_s / spec_.period_s);
    const double seen = recent_[recent_.size() > lag ? recent_.size() - 1 - lag : 0];
    const double tau = spec_.rise_s / 2.197;
    if (averaged_w_ <= 0) averaged_w_ = seen;
    const double noise_w = spec_.noise_w * normal();
    averaged_w_ += (1 - std::exp(-spec_.period_s / tau)) * (seen + noise_w - averaged_w_);
    energy_j_ += (chip_.power_w() + noise_w) * spec_.gain * spec_.period_s;
    double power = averaged_w_ * spec_.gain;
    if (std::uniform_real_distribution<double>()(random_) < spec_.outlier_share)
      power += 40 * normal();
    power = std::round(power / spec_.power_step_w) * spec_.power_step_w;
    const double temperature =
        std::round(chip_.sensed_c() / spec_.temperature_step_c) * spec_.temperature_step_c;
    const double shown_v = spec_.requested_voltage ? chip_.nominal_v() : chip_.voltage_v();
    const double voltage =
        std::round((shown_v + spec_.voltage_noise_v * normal()) / spec_.voltage_step_v) *
        spec_.voltage_step_v;
    SensorReading sample;
    sample.time_ns = now_ns_;
    sample.poll_ns = now_ns_ + 50000;
    sample.power_uw = std::llround(power * 1e6);
    if (spec_.accumulator) sample.energy_ticks = static_cast<std::int64_t>(energy_j_ * 65536);
    sample.temperature_mc = static_cast<std::int32_t>(std::lround(temperature * 1e3));
    sample.voltage_uv = static_cast<std::int32_t>(std::lround(voltage * 1e6));
    sample.clock_khz = static_cast<std::int32_t>(kClockHz * chip_.clock_share() / 1e3);
    sample.changed = samples.empty() || samples.back().power_uw != sample.power_uw;
    samples.push_back(sample);
  }

  void advance(const Load& load, double seconds, std::vector<SensorReading>& samples) {
    const auto steps = std::lround(seconds / spec_.period_s);
    for (long step = 0; step < steps; ++step) {
      Load now = load;
      const bool idle = load.engine < 0 && load.activity_w == 0;
      since_load_s_ = idle ? since_load_s_ + spec_.period_s : 0;
      if (idle && since_load_s_ <= spec_.late_s) now.activity_w += spec_.late_w;
      chip_.advance(now, spec_.period_s, static_cast<double>(now_ns_) * 1e-9);
      now_ns_ += std::llround(spec_.period_s * 1e9);
      sense(samples);
    }
  }

  StoredRun measure(RunKind kind, const Load& load, double seconds) {
    StoredRun run;
    run.block = block_;
    run.position = position_++;
    run.dvfs_state = state_;
    run.kind = kind;
    advance({}, spec_.gap_s, run.samples);
    run.start_ns = now_ns_;
    advance(load, seconds, run.samples);
    run.end_ns = now_ns_;
    run.launches = load.activity_w > 0 ? 10 : 0;
    return run;
  }

  void plain(RunKind kind, const Load& load, double seconds) {
    runs_.push_back(measure(kind, load, seconds));
  }

  struct Work {
    Load load;
    double bits_per_second{};
    double busy_share{1};
  };
  Work work_of(const SyntheticVariant& variant, int engine, int quadrant) {
    const auto e = static_cast<std::size_t>(engine);
    const auto q = static_cast<std::size_t>(quadrant);
    const double published_mm = plan_.distance(engine, quadrant).value();
    const bool full_speed = variant.throttle == 0;
    const double loss = -spec_.latency_loss_per_mm * (published_mm - 6);
    const double scatter = full_speed ? rate_scatter_[e][q] : 0;
    const double of_run = 1 + 0.0005 * normal();
    const double rate = variant.rate * (1 + loss + scatter) * of_run;
    const bool waits = spec_.latency_loss_per_mm > 0;
    const double waiting = waits ? 1 + loss : 1;
    const double late = (1 + (waits ? 0 : loss) + scatter) * of_run;
    const double follows =
        full_speed && spec_.late_share >= 0
            ? (0.4 + 0.6 * variant.rate * waiting) * (1 + spec_.late_share * (late - 1))
            : 0.4 + 0.6 * rate;
    Work work;
    work.busy_share = 1 / (1 + spec_.launch_gap * rate / variant.rate);
    work.bits_per_second = work.busy_share * rate * kPeakBitsPerSecond * chip_.clock_share();
    const double energy_fj =
        spec_.zero_fj_per_bit_mm + spec_.slope_fj_per_transition_mm * variant.toggle_rate;
    work.load.engine = engine;
    work.load.wire_w = energy_fj * 1e-15 * work.bits_per_second * wire_mm_[e][q];
    const double active = work.busy_share + spec_.gap_share * (1 - work.busy_share);
    work.load.activity_w = active * spec_.activity_w * chip_.clock_share() * follows *
                           (1 + engine_offset_[e] + quadrant_offset_[q]) *
                           (0.9 + 0.2 * variant.toggle_rate);
    if (engine == 0 && quadrant == 0) work.load.activity_w += variant.odd_pair_w;
    if (spec_.burst_w > 0 && random_() % 8 == 0) {
      work.load.activity_w += spec_.burst_w * std::abs(normal());
    }
    return work;
  }

  void stream(const SyntheticVariant& variant, int engine, int quadrant) {
    const Work work = work_of(variant, engine, quadrant);
    StoredRun run = measure(RunKind::stream, work.load, spec_.plateau_s);
    run.engine = engine;
    run.quadrant = quadrant;
    run.pattern = variant.pattern;
    run.throttle = variant.throttle;
    run.payload_bits = work.bits_per_second * static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    if (spec_.launch_gap > 0) run.counters[run_keys::busy_share] = work.busy_share;
    run.kernel_hash = "synthetic";
    runs_.push_back(std::move(run));
  }

  void lock_in(double turn_s) {
    set_state(0);
    ++block_;
    position_ = 0;
    if (spec_.idle_runs) plain(RunKind::idle, {}, spec_.plateau_s);
    StoredRun run;
    run.kind = RunKind::lock_in;
    run.block = block_;
    run.position = position_++;
    run.pattern = "random";
    run.kernel_hash = "synthetic";
    std::vector<int> order(kEngines * kQuadrants);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    order.insert(order.end(), order.rbegin(), order.rend());
    run.start_ns = now_ns_;
    while (static_cast<double>(now_ns_ - run.start_ns) * 1e-9 < spec_.lock_in_s) {
      for (const int pair : order) {
        StoredSlot slot;
        slot.engine = pair / kQuadrants;
        slot.quadrant = pair % kQuadrants;
        slot.start_ns = now_ns_;
        const Work work = work_of({}, slot.engine, slot.quadrant);
        advance(work.load, turn_s, run.samples);
        slot.end_ns = now_ns_;
        slot.payload_bits = work.bits_per_second * turn_s;
        if (spec_.launch_gap > 0) {
          run.counters[run_keys::busy_share_of_turns(slot.engine, slot.quadrant)] = work.busy_share;
        }
        run.payload_bits += slot.payload_bits;
        run.slots.push_back(slot);
      }
    }
    run.end_ns = now_ns_;
    run.launches = static_cast<std::int64_t>(run.slots.size());
    runs_.push_back(std::move(run));
    if (spec_.idle_runs) plain(RunKind::idle, {}, spec_.plateau_s);
  }

  void set_state(int state) {
    state_ = state;
    chip_.set_state(state);
  }

  void measure_block(const SyntheticVariant& variant) {
    set_state(variant.dvfs_state);
    ++block_;
    position_ = 0;
    std::array<int, kEngines * kQuadrants> pairs{};
    std::iota(pairs.begin(), pairs.end(), 0);
    std::shuffle(pairs.begin(), pairs.end(), random_);
    if (spec_.idle_runs) plain(RunKind::idle, {}, spec_.plateau_s);
    for (const int pair : pairs) stream(variant, pair / kQuadrants, pair % kQuadrants);
    if (spec_.idle_runs) plain(RunKind::idle, {}, spec_.plateau_s);
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
      stream(variant, *pair / kQuadrants, *pair % kQuadrants);
    }
    if (spec_.idle_runs) plain(RunKind::idle, {}, spec_.plateau_s);
  }

  std::map<std::string, std::string> facts() const {
    using nlohmann::json;
    std::map<std::string, std::string> facts;
    const auto put = [&](std::string_view key, std::string value) {
      facts[std::string(key)] = std::move(value);
    };
    put(campaign_keys::device, "virtual:synthetic");
    put(campaign_keys::is_virtual, "true");
    put(campaign_keys::seed, std::to_string(spec_.seed));
    put(campaign_keys::version, "test");
    put(campaign_keys::plan, R"({"reference_state": 0})");
    put(campaign_keys::floorplan, text_);
    put(campaign_keys::sensor, json{{"period_s", spec_.period_s},
                                    {"delay_s", spec_.delay_s},
                                    {"rise_s", spec_.rise_s},
                                    {"power_resolution_w", spec_.power_step_w},
                                    {"temperature_resolution_c", spec_.temperature_step_c},
                                    {"gain_tolerance_95", 0.03},
                                    {"regulator_slope_tolerance_95", 0.02}}
                                   .dump());
    put(campaign_keys::chip,
        json{{"engines", 4}, {"channels", 16}, {"bytes_per_clock_per_channel", 64}}.dump());
    json states = json::array();
    for (std::size_t i = 0; i < state_voltage_v.size(); ++i) {
      states.push_back({{"voltage_v", state_voltage_v[i]}, {"clock_hz", state_clock_hz[i]}});
    }
    put(campaign_keys::dvfs, states.dump());
    put(campaign_keys::finished, "true");
    return facts;
  }

  const SyntheticSpec& spec_;
  std::mt19937_64 random_;
  Chip chip_;
  std::string text_;
  Floorplan plan_;
  std::array<std::vector<double>, kEngines> wire_mm_{};
  std::array<std::array<double, kQuadrants>, kEngines> rate_scatter_{};
  std::array<double, kEngines> engine_offset_{};
  std::array<double, kQuadrants> quadrant_offset_{};
  std::vector<double> recent_;
  double averaged_w_{};
  double since_load_s_{1e9};
  double energy_j_{};
  std::int64_t now_ns_{1'000'000'000};
  std::int64_t block_{-1};
  std::int64_t position_{};
  int state_{};
  std::vector<StoredRun> runs_;
};

}  // namespace

SyntheticCampaign make_campaign(const SyntheticSpec& spec) {
  return Campaign(spec).run();
}

Status write_campaign(const SyntheticCampaign& campaign, const std::filesystem::path& file) {
  WW_ASSIGN(store, CampaignStore::create(file));
  for (const auto& [key, value] : campaign.facts) WW_TRY(store.put(key, value));
  WW_ASSIGN(session, store.begin_session());
  for (StoredRun run : campaign.runs) {
    run.session = session;
    WW_TRY(store.add(run));
  }
  return {};
}

}  // namespace ww::model::testing
