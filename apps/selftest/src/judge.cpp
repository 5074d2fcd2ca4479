// Judges an archive. Nothing here asks the machine.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

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
  std::vector<RailReading> all = archive.step_test.rails;
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

}  // namespace

std::vector<Finding> judge(const Archive& archive) {
  std::vector<Finding> findings = archive.libraries;
  findings.push_back(judge_pinning(archive));
  findings.push_back(judge_latency(archive));
  std::ranges::move(judge_sensor(archive), std::back_inserter(findings));
  findings.push_back(judge_stream(archive));
  std::ranges::move(judge_rails(archive), std::back_inserter(findings));
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
          {"findings", std::move(findings)}};
}

}  // namespace ww::selftest
