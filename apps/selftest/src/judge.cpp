// Judges an archive. Nothing here asks the machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "ww/core/statistics.hpp"
#include "ww/energy/energy.hpp"
#include "ww/measure/health.hpp"
#include "ww/measure/reading_status.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::selftest {
namespace {

using measure::Finding;
using measure::Verdict;

// The marker of kernels/ for the work-group id, which no patch has replaced.
constexpr std::uint32_t kMarker = 0x5EC0DE01;

Finding judge_pinning(const Archive& archive) {
  if (archive.waves.empty()) return {"pinning", Verdict::unavailable, archive.no_waves, ""};
  std::set<int> engines;
  std::set<std::pair<int, int>> units;  // engine and CU; of NVIDIA the SM alone
  std::size_t unpatched = 0;
  for (const microbench::WavePlace& wave : archive.waves) {
    engines.insert(wave.engine);
    units.insert({wave.engine, wave.cu});
    unpatched += (wave.unpatched ^ kMarker) == wave.group ? 1 : 0;
  }
  const std::size_t waves = archive.waves.size();
  const std::string places = fmt::format("{} wavefronts ran on {} units of {} engines", waves,
                                         units.size(), engines.size());
  if (unpatched != waves) {
    return {"pinning", Verdict::bad,
            fmt::format("{}; without the patch only {} of {} reported their group", places,
                        unpatched, waves),
            ""};
  }
  if (units.size() < 2) {
    return {"pinning", Verdict::bad, places + ": the register does not tell places apart", ""};
  }
  return {"pinning", Verdict::good, places + "; without the patch each reported its group", ""};
}

Finding judge_latency(const Archive& archive) {
  if (!archive.topology) return {"latency", Verdict::unavailable, archive.no_topology, ""};
  const microbench::LatencyMap& map = archive.topology->latency;
  if (map.ticks.empty()) return {"latency", Verdict::unavailable, map.reason, ""};
  const std::string table =
      fmt::format("{} places by {} homes, contrast {:.1f} ticks, noise {:.1f}", map.ticks.size(),
                  map.ticks.front().size(), map.contrast_ticks, map.noise_ticks);
  if (map.found) return {"latency", Verdict::good, table, ""};
  return {"latency", Verdict::limited, table + ": " + map.reason, ""};
}

std::vector<Finding> judge_sensor(const Archive& archive) {
  std::vector<Finding> findings;
  const Recording& test = archive.step_test;
  if (test.readings.empty()) {
    findings.push_back({"sensor", Verdict::unavailable, test.absent, ""});
    return findings;
  }
  if (const std::string besides = measure::measured_besides(archive.fields); !besides.empty()) {
    findings.push_back({"what is measured", Verdict::limited, besides, ""});
  }
  auto rows = measure::reading_statuses(test.readings, !test.steps.empty());
  measure::explain_missing(rows, archive.fields);
  for (const measure::StatusRow& row : rows) {
    using enum measure::ReadingStatus;
    const bool good = row.status == healthy;
    const bool absent = row.status == missing || row.status == denied || row.status == no_answer;
    findings.push_back({"sensor " + row.field,
                        good ? Verdict::good : (absent ? Verdict::unavailable : Verdict::bad),
                        good ? std::string("its readings can be believed")
                             : fmt::format("{}: {}", measure::to_string(row.status), row.reason),
                        ""});
  }
  if (test.steps.empty()) {
    findings.push_back({"step test", Verdict::unavailable, test.absent, ""});
    return findings;
  }
  const auto response = measure::analyse_steps(test.readings, test.steps);
  if (!response) {
    findings.push_back({"step test", Verdict::bad, response.error().text(), ""});
  } else if (!response->resolved) {
    findings.push_back({"step test", Verdict::limited, response->reason, ""});
  } else {
    findings.push_back(
        {"step test", Verdict::good,
         fmt::format("{} steps of {:.1f} W; a new value every {:.1f} ms, {:.0f} ms late, whole "
                     "after {:.0f} ms more, noise {:.2f} W",
                     test.steps.size(), response->step_w, response->period_s * 1e3,
                     response->delay_s * 1e3, response->rise_s * 1e3, response->noise_w),
         ""});
  }
  return findings;
}

Finding judge_stream(const Archive& archive) {
  const Recording& stream = archive.stream;
  if (stream.steps.empty()) return {"stream", Verdict::unavailable, stream.absent, ""};
  const measure::LoadStep& step = stream.steps.front();
  const double seconds = static_cast<double>(step.off_ns - step.on_ns) * 1e-9;
  if (!(seconds > 0)) return {"stream", Verdict::bad, "it took no time", ""};
  std::string text = fmt::format("{:.1f} MB were copied and were right, in {:.2f} ms",
                                 stream.bytes * 1e-6, seconds * 1e3);
  const auto energy =
      energy::energy_between(energy::energy_series(stream.readings), step.on_ns, step.off_ns);
  if (!energy.ok()) return {"stream", Verdict::limited, text + "; no energy: " + energy.reason, ""};
  text += fmt::format("; {:.2f} J [{:.2f}, {:.2f}], {:.1f} W", energy.energy_j, energy.low_j,
                      energy.high_j, energy.power_w);
  if (const std::string besides = measure::measured_besides(archive.fields); !besides.empty()) {
    text += "; " + besides;
  }
  return {"stream", Verdict::good, text, ""};
}

// How much each accumulator of the package counted from the first reading to the last.
std::vector<Finding> judge_rails(const Archive& archive) {
  std::vector<Finding> findings;
  std::vector<RailReading> all = archive.idle.rails;
  all.insert(all.end(), archive.step_test.rails.begin(), archive.step_test.rails.end());
  all.insert(all.end(), archive.stream.rails.begin(), archive.stream.rails.end());
  std::set<std::string> names;
  for (const RailReading& rail : all) names.insert(rail.rail);
  for (const std::string& name : names) {
    std::optional<std::int64_t> first, last;
    std::string unit;
    bool backward = false;
    for (const RailReading& rail : all) {
      if (rail.rail != name) continue;
      backward = backward || (last && rail.value < *last);
      if (!first) first = rail.value;
      last = rail.value;
      unit = rail.unit;
    }
    const auto grown = *last - *first;
    findings.push_back({"rail " + name, backward ? Verdict::bad : Verdict::good,
                        backward ? "it ran backward" : fmt::format("grew by {} ({})", grown, unit),
                        ""});
  }
  return findings;
}

// Lists the parts that were not done, without those whose own lines say so.
std::vector<Finding> judge_parts(const Archive& archive) {
  std::vector<Finding> findings;
  for (const PartState& part : archive.parts) {
    const std::string row = "part " + part.name;
    if (part.state == "failed") {
      findings.push_back({row, Verdict::bad, part.reason, ""});
    } else if (part.state != "done" && part.state != "left out") {
      findings.push_back({row, Verdict::unavailable,
                          part.state + (part.reason.empty() ? "" : ": " + part.reason), ""});
    }
  }
  return findings;
}

Finding judge_launches(const Archive& archive) {
  const LaunchCosts& costs = archive.launches;
  if (costs.waited_s.empty()) return {"launches", Verdict::unavailable, costs.absent, ""};
  constexpr double kMicro = 1e6;
  std::string text = fmt::format("the smallest takes {:.1f} us until its end is seen",
                                 median(costs.waited_s) * kMicro);
  if (!costs.by_events_s.empty()) {
    text += fmt::format(", {:.1f} us by the device's events", median(costs.by_events_s) * kMicro);
  }
  return {"launches", Verdict::good, text + " (median)", ""};
}

Finding judge_sleeps(const Archive& archive) {
  if (!archive.sleeps || archive.sleeps->ticks.empty()) {
    return {"sleeps", Verdict::unavailable, archive.no_sleeps, ""};
  }
  const microbench::SleepCurve& curve = *archive.sleeps;
  std::string text = fmt::format("{} (argument: median ticks)", curve.instruction);
  for (std::size_t i = 0; i < curve.ticks.size(); ++i) {
    text +=
        fmt::format("{} {}: {:.0f}", i == 0 ? "" : ",", curve.arguments[i], median(curve.ticks[i]));
  }
  return {"sleeps", Verdict::good, text, ""};
}

// Stale lines past the caches mean that something before the L2 answered the streams' loads.
std::vector<Finding> judge_visibility(const Archive& archive) {
  if (!archive.visibility) {
    if (archive.no_visibility.empty()) return {};  // a part without caches of that kind
    return {{"loads pass the caches", Verdict::unavailable, archive.no_visibility, ""}};
  }
  const microbench::Visibility& seen = *archive.visibility;
  const std::int64_t lines = std::int64_t{seen.lines} * seen.rounds;
  const std::string text = fmt::format(
      "{} of {} lines that another shader array had stored were stale for loads past "
      "the caches, and {} for plain loads",
      seen.stale, lines, seen.stale_plain);
  if (seen.stale > 0) return {{"loads pass the caches", Verdict::bad, text, ""}};
  if (seen.stale_plain > 0) return {{"loads pass the caches", Verdict::good, text, ""}};
  return {{"loads pass the caches", Verdict::limited,
           text + ": no cache held the lines, so that nothing is shown", ""}};
}

// Mean power and its standard deviation where there is a register of power.
std::optional<std::pair<double, double>> power_at_rest(const Recording& idle) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const SensorReading& reading : idle.readings) {
    if (!reading.power_uw || !reading.changed) continue;
    const double watts = static_cast<double>(*reading.power_uw) * 1e-6;
    sum += watts;
    squares += watts * watts;
    ++count;
  }
  if (count < 2) return {};
  const double mean = sum / count;
  return std::pair(mean, std::sqrt(std::max(0.0, squares / count - mean * mean)));
}

std::string time_text(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", 1e3 * seconds) : fmt::format("{:.3g} s", seconds);
}

void add_sensor_sentence(std::vector<std::string>& sentences, const Archive& archive) {
  const auto response = measure::analyse_steps(archive.step_test.readings, archive.step_test.steps);
  if (!response || !response->resolved) return;
  std::string text =
      fmt::format("Its power sensor has a new value every {}", time_text(response->period_s));
  if (response->lag) {
    text += fmt::format(" and follows a change with a time constant of {}.",
                        time_text(response->time_s));
  } else if (response->time_s > 0) {
    text += fmt::format(", which is the mean over {}", time_text(response->time_s));
    text += response->time_s < response->period_s
                ? fmt::format(": it sees {:.0f}% of the time.",
                              100 * response->time_s / response->period_s)
                : std::string(".");
  } else {
    text += " and follows a change within three of them.";
  }
  sentences.push_back(std::move(text));
}

void add_latency_sentence(std::vector<std::string>& sentences, const Archive& archive) {
  if (!archive.topology || archive.topology->latency.ticks.empty()) return;
  std::vector<double> all;
  for (const auto& row : archive.topology->latency.ticks) {
    all.insert(all.end(), row.begin(), row.end());
  }
  if (all.empty()) return;
  const auto [least, most] = std::ranges::minmax(all);
  sentences.push_back(
      fmt::format("A load that its L2 answers takes {:.0f} ticks from the nearest place and {:.0f} "
                  "from the farthest, {:.0f} in the middle.",
                  least, most, median(all)));
}

void add_copy_sentence(std::vector<std::string>& sentences, const Archive& archive) {
  const Recording& stream = archive.stream;
  if (stream.steps.empty() || !(stream.bytes > 0)) return;
  const measure::LoadStep& step = stream.steps.front();
  const double seconds = static_cast<double>(step.off_ns - step.on_ns) * 1e-9;
  const auto energy =
      energy::energy_between(energy::energy_series(stream.readings), step.on_ns, step.off_ns);
  if (!energy.ok() || !(seconds > 0)) return;
  const double gigabytes = stream.bytes * 1e-9;
  std::string text =
      fmt::format("Copying moves {:.4g} GB/s each way and costs {:.3g} J for each GB",
                  gigabytes / seconds, energy.energy_j / gigabytes);
  if (const auto rest = power_at_rest(archive.idle)) {
    text += fmt::format(", of which {:.3g} J are above rest ({:.3g} W)",
                        (energy.energy_j - rest->first * seconds) / gigabytes, rest->first);
  }
  sentences.push_back(text + ".");
}

}  // namespace

std::vector<std::string> about_the_card(const Archive& archive) {
  std::vector<std::string> sentences;
  add_sensor_sentence(sentences, archive);
  add_latency_sentence(sentences, archive);
  add_copy_sentence(sentences, archive);
  if (!archive.launches.waited_s.empty()) {
    sentences.push_back(fmt::format("A launch takes at least {} until its end is seen.",
                                    time_text(median(archive.launches.waited_s))));
  }
  return sentences;
}

std::vector<Finding> judge(const Archive& archive) {
  std::vector<Finding> findings = judge_parts(archive);
  std::ranges::copy(archive.libraries, std::back_inserter(findings));
  findings.push_back(judge_pinning(archive));
  findings.push_back(judge_latency(archive));
  std::ranges::move(judge_sensor(archive), std::back_inserter(findings));
  findings.push_back(judge_stream(archive));
  std::ranges::move(judge_rails(archive), std::back_inserter(findings));
  if (const auto rest = power_at_rest(archive.idle)) {
    findings.push_back(
        {"rest", Verdict::good,
         fmt::format("{:.2f} W, standard deviation {:.3f} W", rest->first, rest->second), ""});
  }
  if (archive.polls) {
    findings.push_back({"polls", Verdict::good,
                        fmt::format("a poll of the sensor takes {:.0f} us (median), 99% less than "
                                    "{:.0f} us",
                                    archive.polls->read_p50_us, archive.polls->read_p99_us),
                        ""});
  }
  if (!archive.parts.empty()) {
    findings.push_back(judge_launches(archive));
    findings.push_back(judge_sleeps(archive));
  }
  std::ranges::move(judge_visibility(archive), std::back_inserter(findings));
  std::ranges::copy(archive.counters, std::back_inserter(findings));
  return findings;
}

nlohmann::json report(const Archive& archive) {
  auto findings = nlohmann::json::array();
  for (const Finding& finding : judge(archive)) {
    findings.push_back({{"capability", finding.capability},
                        {"verdict", measure::to_string(finding.verdict)},
                        {"detail", finding.detail},
                        {"remedy", finding.remedy}});
  }
  return {{"version", archive.version},     {"system", archive.system},
          {"device", archive.device},       {"api", archive.api},
          {"name", archive.name},           {"driver", archive.driver},
          {"target", archive.target},       {"virtual", archive.is_virtual},
          {"sensor", archive.sensor},       {"elapsed_s", archive.elapsed_s},
          {"chosen", archive.chosen},       {"about", about_the_card(archive)},
          {"findings", std::move(findings)}};
}

}  // namespace ww::selftest
