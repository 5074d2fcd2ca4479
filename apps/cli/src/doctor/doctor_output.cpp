#include "doctor/doctor_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "output.hpp"

namespace ww::cli {
namespace {

using measure::SensorCheck;
using measure::Verdict;
using nlohmann::json;

json to_json(const measure::Finding& finding) {
  return {{"capability", finding.capability},
          {"verdict", to_string(finding.verdict)},
          {"detail", finding.detail},
          {"remedy", finding.remedy}};
}

json to_json(const measure::SamplerStats& stats) {
  return {{"period_s", static_cast<double>(stats.period_ns) * 1e-9},
          {"ticks", stats.ticks},
          {"missed", stats.missed},
          {"dropped", stats.dropped},
          {"jitter_p50_us", stats.jitter_p50_us},
          {"jitter_p99_us", stats.jitter_p99_us},
          {"jitter_max_us", stats.jitter_max_us},
          {"read_p50_us", stats.read_p50_us},
          {"cpu_percent", 100 * stats.cpu_share},
          {"real_time", stats.real_time},
          {"real_time_reason", stats.real_time_reason}};
}

using Rows = std::vector<std::vector<std::string>>;

void add(Rows& rows, const measure::Finding& finding) {
  auto detail = finding.detail;
  if (!finding.remedy.empty()) detail += "; try: " + finding.remedy;
  rows.push_back({finding.capability, std::string(to_string(finding.verdict)), detail});
}

}  // namespace

json to_json(const DoctorReport& report) {
  json out{{"device", report.device},
           {"virtual", report.is_virtual},
           {"sensor", report.sensor_name},
           {"no_sensor", report.no_sensor},
           {"no_step_test", report.no_step_test},
           {"no_amd", report.no_amd},
           {"no_nvidia", report.no_nvidia},
           {"findings", json::array()},
           {"libraries", json::array()},
           {"fields", json::array()},
           {"columns", json::array()},
           {"statuses", json::array()},
           {"sampler", report.sampler ? to_json(*report.sampler) : json()}};
  for (const auto& finding : report.findings) out["findings"].push_back(to_json(finding));
  for (const auto& finding : report.libraries) out["libraries"].push_back(to_json(finding));
  for (const auto& field : report.fields) {
    out["fields"].push_back(
        {{"name", field.name}, {"status", to_string(field.status)}, {"reason", field.reason}});
  }
  if (report.sensor) {
    for (const SensorCheck& column : report.sensor->columns) {
      out["columns"].push_back(measure::to_json(column));
    }
    for (const auto& row : report.sensor->statuses) {
      out["statuses"].push_back(
          {{"field", row.field}, {"status", to_string(row.status)}, {"reason", row.reason}});
    }
    out["load"] = report.sensor->load;
    out["step_test_s"] = report.sensor->seconds;
  }
  return out;
}

void print_report(const DoctorReport& report) {
  fmt::print("device  {}{}\n\n", report.device, report.is_virtual ? " (virtual)" : "");
  Rows rows{{"CAPABILITY", "VERDICT", "WHAT"}};
  for (const auto& finding : report.findings) add(rows, finding);
  if (report.sensor_name.empty()) {
    rows.push_back({"sensor", "unavailable", report.no_sensor});
  }
  if (const auto besides = measure::measured_besides(report.fields); !besides.empty()) {
    rows.push_back({"what is measured", "limited", besides});
  }
  for (const auto& field : report.fields) {
    if (field.status == measure::FieldStatus::ok) continue;
    rows.push_back({"field " + field.name, std::string(to_string(field.status)), field.reason});
  }
  if (report.sensor) {
    for (const SensorCheck& column : report.sensor->columns) {
      rows.push_back({column.name, std::string(to_string(column.verdict)), column.detail});
      if (column.step_w <= 0) continue;
      rows.push_back({"", "",
                      fmt::format("step {:.1f} W, noise {:.2g} W, resolution {:.2g} W",
                                  column.step_w, column.noise_w, column.resolution_w)});
    }
    for (const auto& row : report.sensor->statuses) {
      if (row.field == "power" || row.field == "energy") continue;  // in the columns above
      const bool healthy = row.status == measure::ReadingStatus::healthy;
      rows.push_back(
          {row.field, healthy ? "good" : std::string(to_string(row.status)), row.reason});
    }
  } else if (!report.sensor_name.empty()) {
    rows.push_back({"step test", "not done", report.no_step_test});
  }
  if (report.sampler) {
    const auto& stats = *report.sampler;
    rows.push_back(
        {"sampler", stats.real_time ? "good" : "limited",
         fmt::format("every {:.0f} ms, {} of {} ticks missed, jitter p50 {:.0f} us p99 {:.0f} us, "
                     "{:.1f}% of a core{}",
                     static_cast<double>(stats.period_ns) * 1e-6, stats.missed,
                     stats.ticks + stats.missed, stats.jitter_p50_us, stats.jitter_p99_us,
                     100 * stats.cpu_share, stats.real_time ? "" : "; " + stats.real_time_reason)});
  }
  print_table(rows);
  fmt::print("\n");
  Rows machine{{"THIS MACHINE", "", ""}};
  for (const auto& finding : report.libraries) add(machine, finding);
  if (!report.no_amd.empty()) machine.push_back({"AMD GPUs", "none", report.no_amd});
  if (!report.no_nvidia.empty()) machine.push_back({"NVIDIA GPUs", "none", report.no_nvidia});
  print_table(machine);
}

int exit_code_of(const DoctorReport& report) {
  if (report.sensor_name.empty()) return 3;
  if (!report.sensor) return 0;
  const auto bad = [](const SensorCheck& column) { return column.verdict == Verdict::bad; };
  return std::ranges::any_of(report.sensor->columns, bad) ? 1 : 0;
}

}  // namespace ww::cli
