// The ladder from its recorded runs, as `ladder` and `fit` print it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kinds/kinds.hpp"
#include "ladder/ladder.hpp"
#include "requests.hpp"
#include "ww/calibration/ladder_fit.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/mean.hpp"
#include "ww/energy/run_power.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

// Windows of a cool-down, each at one temperature. The first seconds are left out, while the die
// is warmer than its sensor.
constexpr std::int64_t kWindowNs = 1'000'000'000;
constexpr std::int64_t kAfterHeatNs = 2'000'000'000;

std::optional<double> clock_of(const StoredRun& run, double settle_s) {
  Mean clock_hz;
  const auto begin = run.start_ns + std::llround(settle_s * 1e9);
  for (const SensorReading& sample : run.samples) {
    if (sample.time_ns < begin || sample.time_ns > run.end_ns || !sample.clock_khz) continue;
    clock_hz.add(*sample.clock_khz * 1e3);
  }
  return clock_hz.count > 0 ? std::optional(clock_hz.value()) : std::nullopt;
}

void add_idle(std::vector<LadderIdle>& idle, const StoredRun& run, double settle_s) {
  const auto power = energy::power_of(run, settle_s);
  if (!power) return;
  idle.push_back({*power, energy::temperature_of(run, settle_s), energy::voltage_of(run, settle_s),
                  energy::voltage_spread_of(run, settle_s).value_or(0)});
}

// A window has its own readings, and those next to it on either side.
void add_cooldown(std::vector<LadderIdle>& idle, const StoredRun& run) {
  for (std::int64_t at = run.start_ns + kAfterHeatNs; at + kWindowNs <= run.end_ns;
       at += kWindowNs) {
    StoredRun window;
    window.kind = RunKind::idle;
    window.start_ns = at;
    window.end_ns = at + kWindowNs;
    for (const SensorReading& sample : run.samples) {
      if (sample.time_ns < at - kWindowNs || sample.time_ns > at + 2 * kWindowNs) continue;
      window.samples.push_back(sample);
    }
    add_idle(idle, window, 0);
  }
}

Result<std::size_t> stream_of(LadderInput& input, const json& toggle_rates, const StoredRun& run) {
  const auto stream = LadderStream::parse(run.pattern);
  if (!stream) return fail(ErrorCode::bad_data, "a run of no known stream", run.pattern);
  const auto found = std::ranges::find(input.streams, *stream);
  if (found != input.streams.end()) return static_cast<std::size_t>(found - input.streams.begin());
  const auto rate = toggle_rates.find(stream->data);
  if (rate == toggle_rates.end() || !rate->is_number()) {
    return fail(ErrorCode::bad_data, "the plan has no toggle rate of its data", run.pattern);
  }
  input.streams.push_back(*stream);
  input.toggle_rate.push_back(rate->get<double>());
  return input.streams.size() - 1;
}

std::optional<double> reference_voltage(const CampaignStore& campaign, int state) {
  const auto states = json::parse(fact(campaign, campaign_keys::dvfs), nullptr, false);
  const auto at = static_cast<std::size_t>(state);
  if (!states.is_array() || at >= states.size() || !states[at].is_object()) return std::nullopt;
  const auto voltage = states[at].find("voltage_v");
  if (voltage == states[at].end() || !voltage->is_number()) return std::nullopt;
  return voltage->get<double>();
}

struct Recorded {
  LadderInput input;
  json setup;
  int runs{}, rejected{};
};

Result<Recorded> read_recording(const CampaignStore& campaign) {
  const auto plan = json::parse(fact(campaign, campaign_keys::plan), nullptr, false);
  if (!plan.is_object() || plan.value("method", "") != "ladder") {
    return fail(ErrorCode::bad_data, "not a recording of a ladder", campaign.file().string());
  }
  if (!plan.contains("settle_s")) {
    return fail(ErrorCode::bad_data,
                "the recording ended before its sensor was measured; go on with it by 'wirewatt "
                "ladder --resume'",
                campaign.file().string());
  }
  Recorded recorded;
  double settle_s = 0;
  const JsonReader reader(plan, "plan of the recording");
  reader.read("settle_s", settle_s);
  reader.read("gain_tolerance_95", recorded.input.gain_tolerance_95);
  reader.read("regulator_tolerance_95", recorded.input.regulator_tolerance_95);
  WW_TRY(reader.status());
  recorded.setup = plan.value("setup", json::object());
  recorded.input.wave_size = recorded.setup.value("wave_size", recorded.input.wave_size);
  const json toggle_rates = recorded.setup.value("toggle_rates", json::object());
  WW_ASSIGN(stored, campaign.runs());
  std::optional<int> state;
  for (const StoredRun& run : stored) {
    const bool rejected = run.status != RunStatus::ok;
    if (run.block > 0) {
      ++recorded.runs;
      if (rejected) ++recorded.rejected;
    }
    if (rejected) continue;
    if (run.kind == RunKind::cooldown) add_cooldown(recorded.input.idle, run);
    if (run.kind == RunKind::idle && run.block > 0) add_idle(recorded.input.idle, run, settle_s);
    if (run.kind != RunKind::stream || run.block == 0) continue;
    const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    const auto power = energy::power_of(run, settle_s);
    if (!power || !(seconds > 0) || !(run.payload_bits > 0)) continue;
    WW_ASSIGN(stream, stream_of(recorded.input, toggle_rates, run));
    state = run.dvfs_state;
    const auto busy = run.counters.find(run_keys::busy_share);
    recorded.input.runs.push_back({run.block, stream, run.payload_bits / seconds, *power,
                                   energy::temperature_of(run, settle_s),
                                   energy::voltage_of(run, settle_s), clock_of(run, settle_s),
                                   busy == run.counters.end() ? 1.0 : busy->second,
                                   energy::power_spread_of(run, settle_s),
                                   energy::voltage_spread_of(run, settle_s).value_or(0)});
  }
  if (state) recorded.input.nominal_v = reference_voltage(campaign, *state);
  recorded.input.voltage_step_v = energy::voltage_step_of(stored);
  recorded.input.power_step_w = energy::power_step_of(stored);
  return recorded;
}

json rows_json(const LadderAnswer& answer) {
  json rows = json::array();
  for (const LadderRow& row : answer.rows) {
    json one = in_picojoules(row.figure);
    if (row.sensed && row.figure.value) {
      one["sensed_low"] = 1e12 * row.sensed->low;
      one["sensed_high"] = 1e12 * row.sensed->high;
    }
    rows.push_back(std::move(one));
  }
  return rows;
}

json document_of(const Recorded& recorded, const LadderAnswer& answer) {
  json controls = json::array();
  for (const LadderControl& control : answer.controls) {
    controls.push_back(
        {{"name", control.name}, {"passed", control.passed}, {"detail", control.detail}});
  }
  json covariance = json::array();
  for (const auto& line : answer.covariance) {
    json& row = covariance.emplace_back(json::array());
    for (const double value : line) row.push_back(1e24 * value);
  }
  json document{
      {"method", "ladder"},
      {"convention",
       "marginal energy at the power sensor, of a bit that a wavefront "
       "moves, with the instructions that move it and all levels before"},
      {"ladder_pj_per_bit", rows_json(answer)},
      {"levels", recorded.setup.value("levels", json::array())},
      {"not_reported", recorded.setup.value("missing", json::array())},
      {"staircase", recorded.setup.value("staircase", json::array())},
      {"controls", std::move(controls)},
      {"covariance_pj2_per_bit2", {{"names", answer.names}, {"matrix", std::move(covariance)}}},
      {"rates_bits_per_s", {answer.low_bits_per_s, answer.high_bits_per_s}},
      {"gain_tolerance_95", recorded.input.gain_tolerance_95},
      {"regulator_tolerance_95", recorded.input.regulator_tolerance_95},
      {"residual_w", answer.residual_w},
      {"wave_size", recorded.input.wave_size},
      {"idle_w", answer.idle_w},
      {"idle_w_per_k", answer.idle_w_per_k},
      {"toggle_rates", recorded.setup.value("toggle_rates", json::object())},
      {"reference_voltage_v", answer.reference_v > 0 ? json(answer.reference_v) : json()},
      {"voltage",
       {{"measured", answer.no_voltage_reason.empty()}, {"reason", answer.no_voltage_reason}}},
      {"blocks", answer.blocks},
      {"runs", recorded.runs},
      {"rejected", recorded.rejected}};
  document["published"] = table_json(published_table());
  return document;
}

}  // namespace

Table ladder_table(const json& document) {
  Table table{
      "Marginal energy of a bit by level", {{"FIGURE"}, {"VALUE (95%)"}, {"UNIT"}, {"STATUS"}}, {}};
  for (const json& row : document.at("ladder_pj_per_bit")) {
    const Figure figure = figure_of(row);
    const auto number = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.3f}", *value) : std::string("-");
    };
    table.rows.push_back({figure.name,
                          figure.value ? fmt::format("{} ({}..{})", number(figure.value),
                                                     number(figure.low), number(figure.high))
                                       : std::string("-"),
                          figure.unit, to_string(figure.status)});
  }
  return table;
}

Table levels_table(const json& document) {
  Table table{"Levels as their latencies show them",
              {{"LEVEL"}, {"LATENCY", true}, {"SETS SEEN"}, {"SET OF THE STREAMS", true}},
              {}};
  const auto size = [](const json& bytes) {
    const double kib = bytes.get<double>() / 1024;
    return kib < 1024 ? fmt::format("{:.0f} KiB", kib) : fmt::format("{:.0f} MiB", kib / 1024);
  };
  for (const json& level : document.at("levels")) {
    table.rows.push_back(
        {level.at("name").get<std::string>(),
         fmt::format("{:.0f} cycles", level.at("latency_cycles").get<double>()),
         fmt::format("{} to {}", size(level.at("from_bytes")), size(level.at("to_bytes"))),
         size(level.at("set_bytes"))});
  }
  return table;
}

Result<Fitted> fit_ladder(const CampaignStore& campaign, const FitRequest& /*request*/) {
  WW_ASSIGN(recorded, read_recording(campaign));
  const LadderAnswer answer = fit_ladder_runs(recorded.input);
  Fitted fitted;
  fitted.file = "ladder.json";
  fitted.identified = std::ranges::any_of(
      answer.rows, [](const LadderRow& row) { return row.figure.value.has_value(); });
  json& document = fitted.answer.json;
  document = document_of(recorded, answer);
  const std::string device = fact(campaign, campaign_keys::device);
  const bool is_virtual = fact(campaign, campaign_keys::is_virtual) == "true";
  document["device"] = device;
  document["virtual"] = is_virtual;
  const auto chip = json::parse(fact(campaign, campaign_keys::chip), nullptr, false);
  if (chip.is_object()) {
    document["chip"] = {{"name", chip.value("name", "")}, {"target", chip.value("target", "")}};
  }
  fitted.contents = document.dump(2) + "\n";

  auto& text = fitted.answer.text;
  text.emplace_back(device_line(device, is_virtual));
  text.emplace_back(levels_table(document));
  text.emplace_back(ladder_table(document));
  for (const LadderRow& row : answer.rows) {
    if (!row.figure.reason.empty()) {
      text.emplace_back(fmt::format("{}: {}", row.figure.name, row.figure.reason));
    }
  }
  for (const json& missing : document["not_reported"]) {
    text.emplace_back(fmt::format("not reported: {}: {}", missing.value("name", ""),
                                  missing.value("reason", "")));
  }
  for (const LadderControl& control : answer.controls) {
    text.emplace_back(fmt::format("control      {} {}: {}", control.name,
                                  control.passed ? "passed" : "FAILED", control.detail));
  }
  text.emplace_back(
      fmt::format("rates        {:.3g} to {:.3g} bit/s\nruns         {} ({} rejected) in {} blocks",
                  answer.low_bits_per_s, answer.high_bits_per_s, recorded.runs, recorded.rejected,
                  answer.blocks));
  text.emplace_back(published_table());
  return fitted;
}

}  // namespace ww::calibration
