// The text of a scrape under the rules of its two forms: OpenMetrics 1.0 (the specification's
// sections "Text Format" and "Overall Structure"), and Prometheus's text format 0.0.4 with what
// `promtool check metrics` finds fault with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "ww/metrics/metrics.hpp"

namespace ww::metrics {
namespace {

bool is_name(const std::string& text, bool colons) {
  if (text.empty() || (std::isdigit(static_cast<unsigned char>(text[0])) != 0)) return false;
  return std::ranges::all_of(text, [colons](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || (colons && c == ':');
  });
}

struct Line {
  std::string name;
  std::map<std::string, std::string> labels;
  double value{};
};

// A sample's line, or what is wrong with it.
std::string read_sample(const std::string& line, Line& into) {
  std::size_t at = line.find_first_of("{ ");
  if (at == std::string::npos) return "no value";
  into.name = line.substr(0, at);
  if (!is_name(into.name, true)) return "not a metric's name: " + into.name;
  if (line[at] == '{') {
    ++at;
    while (at < line.size() && line[at] != '}') {
      const auto equals = line.find('=', at);
      if (equals == std::string::npos || line.substr(equals + 1, 1) != "\"") return "no label";
      const std::string label = line.substr(at, equals - at);
      if (!is_name(label, false) || label.starts_with("__")) return "not a label's name: " + label;
      std::string value;
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\') {
          ++at;
          if (at == line.size() || (line[at] != '\\' && line[at] != '"' && line[at] != 'n')) {
            return "an escape that there is not";
          }
        }
        value += line[at];
      }
      if (at == line.size()) return "a label's value does not end";
      if (!into.labels.emplace(label, value).second) return "the label " + label + " comes twice";
      ++at;
      if (line.substr(at, 1) == "," && line.substr(at + 1, 1) != "}") ++at;
    }
    if (at == line.size()) return "labels do not end";
    ++at;
  }
  if (line.substr(at, 1) != " ") return "no blank before the value";
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data() + at + 1, end, into.value);
  return error == std::errc() && rest == end ? "" : "not a number: " + line.substr(at + 1);
}

struct FamilyRead {
  std::string type, unit, help;
  bool has_samples{};
};

// Returns the first fault of the text; empty where it has none.
std::string fault_of(const std::string& text, MetricsForm form) {
  const bool open = form == MetricsForm::open_metrics;
  if (text.empty() || text.back() != '\n') return "the last line does not end";
  std::istringstream lines(text);
  std::map<std::string, FamilyRead> families;
  std::set<std::string> series;
  std::string current;
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    if (ended) return "a line after the end";
    if (open && line == "# EOF") {
      ended = true;
      continue;
    }
    if (line.starts_with("# ")) {
      std::istringstream words(line.substr(2));
      std::string kind, name, rest;
      words >> kind >> name;
      std::getline(words >> std::ws, rest);
      if (name != current && families.contains(name)) return name + " is not in one place";
      current = name;
      FamilyRead& family = families[name];
      if (family.has_samples) return name + ": a head after samples";
      std::string& field = kind == "TYPE"   ? family.type
                           : kind == "UNIT" ? family.unit
                                            : family.help;
      if (kind != "TYPE" && kind != "HELP" && !(open && kind == "UNIT")) return "head " + kind;
      if (!field.empty()) return name + ": " + kind + " comes twice";
      if (rest.empty()) return name + ": empty " + kind;
      field = rest;
      continue;
    }
    Line sample;
    if (auto fault = read_sample(line, sample); !fault.empty()) return line + ": " + fault;
    if (!families.contains(current)) return line + ": no head";
    FamilyRead& family = families[current];
    family.has_samples = true;
    const bool counter = family.type == "counter";
    if (!counter && family.type != "gauge") return current + ": type " + family.type;
    // In the older form a counter's head has its samples' name.
    const std::string expected = open && counter ? current + "_total" : current;
    if (sample.name != expected) return line + ": of another family than " + current;
    if (counter != sample.name.ends_with("_total")) return line + ": _total is for counters";
    if (family.help.empty()) return current + ": no help";
    if (!family.unit.empty() && !current.ends_with("_" + family.unit)) return current + ": unit";
    if (counter && !(sample.value >= 0)) return line + ": a counter below 0";
    std::string key = sample.name;
    for (const auto& [label, value] : sample.labels) key += "|" + label + "=" + value;
    if (!series.insert(key).second) return line + ": comes twice";
  }
  return ended == open ? "" : "no end";
}

MetricsState full_state() {
  MetricsState state;
  state.device = "gpu:0";
  state.card = "a \"card\" \\ of\ntwo lines, {a=\"b\"} \xC3\xA9";
  state.job = "4711_3";
  state.device_w = 120.5;
  state.device_j = 1e-9;
  state.device_of = "both dies, read at 0000:03:00.0";
  state.rails = {{"aid", 12.5}, {"hbm", std::nullopt}, {"xcd", 1e12}};
  state.dispatches = 7;
  state.segments[0].status = "unavailable";
  state.segments[1] = {"L1-L2", model::Interval{2, 1, 3}, model::Interval{20, 10, 30}, "ok"};
  state.segments[2].status = "not_identified";
  return state;
}

constexpr MetricsForm kForms[] = {MetricsForm::open_metrics, MetricsForm::prometheus};

TEST(Exposition, FollowsTheRulesOfItsForm) {
  for (const MetricsForm form : kForms) {
    EXPECT_EQ(fault_of(metrics_text(full_state(), form), form), "");
    EXPECT_EQ(fault_of(metrics_text(MetricsState{}, form), form), "");
    auto shared = full_state();
    shared.sensor_of = "0000:03:00.0";
    shared.job.clear();
    shared.is_virtual = true;
    shared.dispatches.reset();
    EXPECT_EQ(fault_of(metrics_text(shared, form), form), "");
  }
}

TEST(Exposition, ComesBackAsItWasWritten) {
  std::istringstream lines(metrics_text(full_state(), MetricsForm::open_metrics));
  std::map<std::string, Line> samples;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    Line sample;
    ASSERT_EQ(read_sample(line, sample), "") << line;
    samples[sample.name + sample.labels["segment"] + sample.labels["rail"]] = sample;
  }
  EXPECT_EQ(samples.at("hw_energy_joules_total").value, 1e-9);
  EXPECT_EQ(samples.at("hw_power_watts").labels.at("hw_id"), "gpu:0");
  EXPECT_EQ(samples.at("wirewatt_wire_energy_upper_joules_totalL1-L2").value, 30);
  EXPECT_EQ(samples.at("wirewatt_rail_energy_joules_totalxcd").value, 1e12);
  EXPECT_FALSE(samples.contains("wirewatt_rail_energy_joules_totalhbm"));
}

// A reader that lets everything pass would prove nothing.
TEST(Exposition, IsReadStrictly) {
  const auto fault = [](const std::string& text) {
    return fault_of(text, MetricsForm::open_metrics);
  };
  const std::string head = "# TYPE a_joules counter\n# UNIT a_joules joules\n# HELP a_joules A.\n";
  EXPECT_EQ(fault(head + "a_joules_total{b=\"c\"} 1\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total{b=\"c\"} 1\n"), "");
  EXPECT_NE(fault(head + "a_joules{b=\"c\"} 1\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total{b=\"c} 1\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total{b=\"c\",b=\"d\"} 1\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total{b.c=\"d\"} 1\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total one\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total 1\na_joules_total 2\n# EOF\n"), "");
  EXPECT_NE(fault(head + "a_joules_total -1\n# EOF\n"), "");
  EXPECT_NE(fault("a_joules_total 1\n# EOF\n"), "");
  EXPECT_NE(fault("# TYPE a counter\n# UNIT a joules\n# HELP a A.\na_total 1\n# EOF\n"), "");
}

}  // namespace
}  // namespace ww::metrics
