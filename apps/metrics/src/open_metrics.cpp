#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "families.hpp"

namespace ww::metrics {
namespace {

// Names have no dots here, and end with the unit (OpenTelemetry's rules for Prometheus).
std::string underscored(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

const char* unit_suffix(Unit unit) {
  switch (unit) {
    case Unit::watt: return "watts";
    case Unit::joule: return "joules";
    case Unit::none:
    case Unit::kernel: break;
  }
  return "";
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string label_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", underscored(name), escaped(value));
  }
  return text;
}

}  // namespace

std::string metrics_text(const MetricsState& state, MetricsForm form) {
  const bool open = form == MetricsForm::open_metrics;
  const std::string common = label_text(device_labels(state));
  std::string text;
  const auto out = std::back_inserter(text);
  for (const Family& family : families(state)) {
    const std::string unit = unit_suffix(family.unit);
    const std::string name = underscored(family.name) + (unit.empty() ? std::string() : "_" + unit);
    const std::string sample_name = family.counts ? name + "_total" : name;
    // In the older form a counter's family has its samples' name.
    const std::string& head = open ? name : sample_name;
    fmt::format_to(out, "# TYPE {} {}\n", head, family.counts ? "counter" : "gauge");
    if (open && !unit.empty()) fmt::format_to(out, "# UNIT {} {}\n", head, unit);
    fmt::format_to(out, "# HELP {} {}\n", head, family.help);
    for (const Sample& sample : family.samples) {
      const std::string labels = label_text(sample.labels);
      fmt::format_to(out, "{}{{{}{}{}}} {}\n", sample_name, common, labels.empty() ? "" : ",",
                     labels, sample.value);
    }
  }
  return open ? text + "# EOF\n" : text;
}

}  // namespace ww::metrics
