#include "recorder.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "baselines.hpp"
#include "bench/sensor_steps.hpp"
#include "chip.hpp"
#include "experiment/plan.hpp"
#include "meter.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/measure/sensor_info.hpp"
#include "ww/measure/step_test.hpp"

namespace ww::challenge {
namespace {

using microbench::PlannedRun;
using nlohmann::json;

constexpr double kGapS = 0.012;  // between runs, in which the next stream's data are laid out
constexpr double kFineS = 0.001;
constexpr double kFineForS = 0.05;  // after a change of load
constexpr double kCoarsestS = 0.02;
constexpr int kThrottle = 40;
constexpr double kAboutS = 700;  // length of a quick campaign, for what happens once in it
constexpr int kLatencyRepeats = 3;
constexpr std::int64_t kFirstLatency = 100;  // position in block 0

class Recorder {
 public:
  Recorder(Draws& draws, std::uint64_t seed, CampaignStore store)
      : draws_(draws),
        store_(std::move(store)),
        die_(draw_die(draws)),
        wires_(die_, draws),
        chip_(die_, wires_, draws),
        meter_(draws, kAboutS),
        random_(draws.stream("recorder")) {
    inputs_.device = "virtual:challenge";
    inputs_.seed = seed;
    inputs_.quick = true;
    inputs_.engines = die_.engines;
    inputs_.quadrants = kQuadrants;
    inputs_.dvfs_states = static_cast<int>(chip_.states().size());
  }

  Result<Recording> run();

 private:
  Status set_up();
  Status find_response();
  Status put_facts();
  Status perform(const PlannedRun& planned);
  Status latency_runs();
  void apply(const Load& load, double seconds);
  void stream(const PlannedRun& planned, StoredRun& run);
  void lock_in(const PlannedRun& planned, StoredRun& run);
  [[nodiscard]] Load load_of(const PlannedRun& planned, int engine, int quadrant) const;
  [[nodiscard]] std::int64_t now_ns() const { return std::llround(now_s_ * 1e9); }
  [[nodiscard]] json truth() const;
  [[nodiscard]] json strata() const;

  Draws& draws_;
  CampaignStore store_;
  Die die_;
  Wires wires_;
  Chip chip_;
  Meter meter_;
  std::mt19937_64 random_;
  microbench::PlanInputs inputs_;
  measure::SensorInfo sensor_;
  std::int64_t session_{};
  double now_s_{};
  double payload_bits_{};  // since it was last set to 0
  std::vector<SensorReading> readings_;
  std::vector<StoredRun> runs_;
  // Sums over random payload at full rate, for the temperature and load at which the truth applies.
  double stream_s_{}, wire_c_s_{}, die_c_s_{}, core_j_{};
  bool latency_{};
};

// Lets the chip work under a load, in steps that are fine after its change.
void Recorder::apply(const Load& load, double seconds) {
  chip_.begin(load);
  const double from_s = now_s_;
  const double end_s = now_s_ + seconds;
  while (now_s_ < end_s - 1e-9) {
    const double age_s = now_s_ - from_s;
    double step_s = age_s < kFineForS
                        ? kFineS
                        : std::clamp(age_s / 20, kFineS, std::min(kCoarsestS, meter_.period_s()));
    step_s = std::min({step_s, end_s - now_s_, meter_.until_next_s(now_s_)});
    const double before_s = now_s_;
    payload_bits_ += chip_.bits_per_second() * step_s;
    const Power power = chip_.advance(step_s);
    now_s_ += step_s;
    meter_.feed(before_s, now_s_, chip_.regulator().input_w(power.core_w) + power.rest_w,
                {chip_.die_c(), chip_.voltage_v(), chip_.clock_hz()}, readings_);
    if (load.engine >= 0 && load.rate >= 1 && load.activity.toggles == 0.5 &&
        load.activity.coupling == 0.5) {
      stream_s_ += step_s;
      wire_c_s_ += chip_.wire_c() * step_s;
      die_c_s_ += chip_.die_c() * step_s;
      core_j_ += power.core_w * step_s;
    }
  }
}

Load Recorder::load_of(const PlannedRun& planned, int engine, int quadrant) const {
  const bool full = planned.rate == microbench::Rate::saturated;
  return {false, engine, quadrant, full ? 1 : chip_.throttled_rate(),
          activity_of(kernels::to_string(planned.pattern), wires_.parking())};
}

void Recorder::stream(const PlannedRun& planned, StoredRun& run) {
  run.engine = planned.engine;
  run.quadrant = planned.quadrant;
  run.pattern = kernels::to_string(planned.pattern);
  run.throttle = planned.rate == microbench::Rate::saturated ? 0 : kThrottle;
  run.kernel_hash = "challenge";
  payload_bits_ = 0;
  apply(load_of(planned, planned.engine, planned.quadrant), planned.seconds);
  run.payload_bits = payload_bits_;
  run.launches = 1;
}

void Recorder::lock_in(const PlannedRun& planned, StoredRun& run) {
  run.pattern = kernels::to_string(planned.pattern);
  run.kernel_hash = "challenge";
  const std::vector<int> order = microbench::cycle_of_turns(planned, kQuadrants);
  const double end_s = now_s_ + planned.seconds;
  while (now_s_ < end_s - 1e-9) {
    for (const int pair : order) {
      StoredSlot slot;
      slot.engine = pair / kQuadrants;
      slot.quadrant = pair % kQuadrants;
      slot.start_ns = now_ns();
      payload_bits_ = 0;
      apply(load_of(planned, slot.engine, slot.quadrant), planned.turn_s);
      slot.end_ns = now_ns();
      slot.payload_bits = payload_bits_;
      run.payload_bits += payload_bits_;
      run.slots.push_back(slot);
    }
  }
  run.launches = static_cast<std::int64_t>(run.slots.size());
}

Status Recorder::perform(const PlannedRun& planned) {
  if (planned.kind == RunKind::known_bytes) return {};  // checks counters, which are exact here
  chip_.select(planned.dvfs_state);
  StoredRun run;
  run.session = session_;
  run.block = planned.block;
  run.position = planned.position;
  run.kind = planned.kind;
  run.dvfs_state = planned.dvfs_state;
  readings_.clear();
  apply({}, planned.kind == RunKind::step_test ? planned.seconds : kGapS);
  run.start_ns = now_ns();
  switch (planned.kind) {
    case RunKind::stream: stream(planned, run); break;
    case RunKind::lock_in: lock_in(planned, run); break;
    case RunKind::step_test:
      apply(load_of(planned, planned.engine, planned.quadrant), planned.seconds);
      break;
    case RunKind::heat: {
      Load furnace;
      furnace.furnace = true;
      furnace.rate = 1;
      furnace.activity = activity_of("random", 0);
      apply(furnace, planned.seconds);
      break;
    }
    default: apply({}, planned.seconds);
  }
  run.end_ns = now_ns();
  if (planned.kind == RunKind::step_test) apply({}, planned.seconds);
  run.samples = readings_;
  WW_TRY(store_.add(run));
  runs_.push_back(std::move(run));
  return {};
}

// Pointer chases of every pair, each repeated.
Status Recorder::latency_runs() {
  latency_ = draws_.chance("latency.recorded");
  const double ns_per_mm = draws_.number("latency.ns_per_mm");
  const double noise = draws_.number("latency.noise_ticks");
  if (!latency_) return {};
  std::normal_distribution<double> normal;
  std::vector<double> engine_ticks, quadrant_ticks;
  for (int e = 0; e < die_.engines; ++e) engine_ticks.push_back(3 * normal(random_));
  for (int q = 0; q < kQuadrants; ++q) quadrant_ticks.push_back(3 * normal(random_));
  const double ghz = chip_.states().front().clock_hz * 1e-9;
  std::int64_t position = kFirstLatency;
  for (int repeat = 0; repeat < kLatencyRepeats; ++repeat) {
    for (int e = 0; e < die_.engines; ++e) {
      for (int q = 0; q < kQuadrants; ++q) {
        StoredRun run;
        run.session = session_;
        run.block = 0;
        run.position = position++;
        run.kind = RunKind::latency;
        run.engine = e;
        run.quadrant = q;
        run.start_ns = now_ns();
        apply({}, kGapS);
        run.end_ns = now_ns();
        run.launches = 1;
        const double way = 2 * (ns_per_mm * die_.real.distance_mm(e, q) * ghz +
                                (wires_.has_stages() ? wires_.stages(e, q) : 0));
        run.counters["latency_ticks"] = 120 + engine_ticks[static_cast<std::size_t>(e)] +
                                        quadrant_ticks[static_cast<std::size_t>(q)] + way +
                                        noise * normal(random_);
        WW_TRY(store_.add(run));
        runs_.push_back(std::move(run));
      }
    }
  }
  return {};
}

Status Recorder::put_facts() {
  WW_TRY(store_.put(campaign_keys::device, inputs_.device));
  WW_TRY(store_.put(campaign_keys::is_virtual, "true"));
  WW_TRY(store_.put(campaign_keys::seed, std::to_string(inputs_.seed)));
  WW_TRY(store_.put(campaign_keys::version, "challenge"));
  WW_TRY(store_.put(campaign_keys::floorplan, die_.floorplan_toml()));
  WW_TRY(store_.put(campaign_keys::chip,
                    json{{"engines", die_.engines},
                         {"channels", kQuadrants * kChannelsOfQuadrant},
                         {"bytes_per_clock_per_channel", chip_.bytes_per_channel()}}
                        .dump()));
  json states = json::array();
  for (const DvfsState& state : chip_.states()) {
    states.push_back({{"voltage_v", state.voltage_v}, {"clock_hz", state.clock_hz}});
  }
  return store_.put(campaign_keys::dvfs, states.dump());
}

Status Recorder::find_response() {
  const auto analyse = [&](std::size_t first) -> Result<measure::StepResponse> {
    std::vector<SensorReading> readings;
    std::vector<measure::LoadStep> steps;
    for (std::size_t i = first; i < runs_.size(); ++i) {
      if (runs_[i].kind != RunKind::step_test) continue;
      steps.push_back({runs_[i].start_ns, runs_[i].end_ns});
      readings.insert(readings.end(), runs_[i].samples.begin(), runs_[i].samples.end());
    }
    return measure::analyse_steps(readings, steps);
  };
  WW_ASSIGN(response, analyse(0));
  if (!response.resolved) {
    const std::size_t first = runs_.size();
    for (const PlannedRun& planned : microbench::slow_step_runs(inputs_)) WW_TRY(perform(planned));
    WW_ASSIGN(slower, analyse(first));
    response = slower;
  }
  measure::SensorFacts facts;
  facts.name = "challenge";
  facts.power_resolution_w = meter_.power_step_w();
  facts.temperature_resolution_c = meter_.temperature_step_c();
  sensor_ = measure::combine(facts, response);
  if (!(sensor_.period_s > 0)) {
    return fail(ErrorCode::bad_data, "the reading did not move while the load changed");
  }
  const auto interval_s = microbench::energy_interval_s(runs_, sensor_.period_s);
  inputs_.plateau_s = microbench::plateau_seconds(
      inputs_.quick, inputs_.engines * inputs_.quadrants, sensor_.delay_s, sensor_.rise_s,
      interval_s.value_or(sensor_.period_s));
  inputs_.turn_s = microbench::lock_in_turn_seconds(sensor_.period_s, sensor_.delay_s,
                                                    sensor_.rise_s, interval_s);
  WW_TRY(store_.put(campaign_keys::sensor, measure::to_json(sensor_).dump()));
  return store_.put(campaign_keys::plan, microbench::to_json(inputs_).dump());
}

Status Recorder::set_up() {
  std::vector<PlannedRun> later;
  for (const PlannedRun& planned : microbench::setup_runs(inputs_)) {
    const bool first = planned.kind == RunKind::idle || planned.kind == RunKind::step_test;
    if (first) {
      WW_TRY(perform(planned));
    } else {
      later.push_back(planned);
    }
  }
  WW_TRY(find_response());
  for (const PlannedRun& planned : later) WW_TRY(perform(planned));
  for (const PlannedRun& planned : microbench::dvfs_runs(inputs_)) WW_TRY(perform(planned));
  return {};
}

Result<Recording> Recorder::run() {
  WW_TRY(draws_.status());
  WW_ASSIGN(session, store_.begin_session());
  session_ = session;
  WW_TRY(put_facts());
  WW_TRY(set_up());
  WW_TRY(latency_runs());
  WW_TRY(draws_.status());
  for (std::int64_t block = 1; block <= microbench::minimum_blocks(inputs_); ++block) {
    for (const PlannedRun& planned : microbench::block_runs(inputs_, block))
      WW_TRY(perform(planned));
  }
  WW_TRY(store_.put(campaign_keys::finished, "true"));
  const double settle_s = sensor_.delay_s + 2 * sensor_.rise_s + sensor_.period_s;
  return Recording{truth(), baselines(runs_, die_.published, settle_s)};
}

json Recorder::strata() const {
  const json& drawn = draws_.drawn();
  const auto number = [&](const char* key) { return drawn.at(key).get<double>(); };
  const double hot_ms = number("heat.hot_spot_ms");
  const auto yes = [](bool value, const char* one, const char* other) {
    return value ? one : other;
  };
  return {
      {"sensor", drawn.at("sensor.kind")},
      {"hot spot", hot_ms < 5    ? "below 5 ms"
                   : hot_ms < 50 ? "5 to 50 ms"
                                 : "above 50 ms"},
      {"position error", die_.declared_error_mm < 0.3   ? "0.1 to 0.3 mm"
                         : die_.declared_error_mm < 0.7 ? "0.3 to 0.7 mm"
                                                        : "0.7 to 1.5 mm"},
      {"names", yes(die_.swapped, "two engines swapped", "right")},
      {"voltage", yes(drawn.at("sensor.shows_voltage").get<bool>(), "shown", "not shown")},
      {"voltage step", number("sensor.voltage_step_mv") < 5 ? "1 mV" : "6.25 mV"},
      {"adaptive voltage", yes(drawn.at("clock.avfs").get<bool>(), "yes", "no")},
      {"clock", yes(drawn.at("clock.boosts").get<bool>(), "boosts", "locked")},
      {"regulator", yes(chip_.regulator().board, "before the sensor", "behind it")},
      {"stages", yes(wires_.has_stages(), "along the way", "none")},
      {"quadrant step", yes(drawn.at("stage.quadrant_step").get<bool>(), "yes", "no")},
      {"compute units", yes(die_.harvested, "harvested", "all")},
      {"1/f noise", number("sensor.flicker") < 0.0003 ? "below 0.03%" : "above"},
      {"power step", number("sensor.step_w") < 0.5 ? "below 0.5 W" : "whole watts"},
      {"background", number("power.background_per_minute") * number("power.background_w") < 1
                         ? "below 1 W a minute"
                         : "above"},
      {"latency", yes(latency_, "recorded", "none")},
  };
}

json Recorder::truth() const {
  const double voltage = chip_.states().front().voltage_v;
  const double wire_c = stream_s_ > 0 ? wire_c_s_ / stream_s_ : 60;
  const double die_c = stream_s_ > 0 ? die_c_s_ / stream_s_ : 60;
  const double core_w = stream_s_ > 0 ? core_j_ / stream_s_ : 1;
  const double warmth = wires_.at_temperature(wire_c);
  const auto energies = wires_.energies_fj(voltage);
  const Regulator& regulator = chip_.regulator();
  const double with_switches = warmth * crossed_slope(energies, Wires::distances_mm(die_.real));
  const double as_published = warmth * crossed_slope(energies, Wires::distances_mm(die_.published));
  return {
      {"format", "wirewatt-challenge-truth/1"},
      {"switches_included_fj_per_bit_mm", with_switches * regulator.mean_ratio(core_w)},
      {"saved_fj_per_bit_mm", with_switches * regulator.saved_ratio(core_w)},
      {"sensed_fj_per_bit_mm", as_published * regulator.marginal(core_w) * meter_.gain(die_c)},
      {"wires_fj_per_bit_mm", wires_.alone_fj_per_mm(voltage)},
      {"voltage_v", voltage},
      {"stream_core_w", core_w},
      {"stream_die_c", die_c},
      {"largest_position_error_mm", die_.most_error_mm},
      {"device_time_s", now_s_},
      {"strata", strata()},
      {"drawn", draws_.drawn()},
  };
}

}  // namespace

Result<Recording> record(Draws& draws, std::uint64_t seed, const std::filesystem::path& file) {
  WW_ASSIGN(store, CampaignStore::create(file));
  return Recorder(draws, seed, std::move(store)).run();
}

}  // namespace ww::challenge
