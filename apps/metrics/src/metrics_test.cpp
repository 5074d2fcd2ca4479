// Each form is read back: the same figures, and none that is missing.
#include "ww/metrics/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

namespace ww::metrics {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

MetricsState state() {
  MetricsState state;
  state.device = "gpu:0";
  state.card = "a \"card\"";
  state.job = "4711";
  state.device_w = 120.5;
  state.dispatches = 7;
  state.segments[0].status = "unavailable";
  state.segments[1] = {"L1-L2", model::Interval{2, 1, 3}, model::Interval{20, 10, 30}, "ok"};
  state.segments[2].status = "not_identified";
  return state;
}

json metric(const json& request, const std::string& name) {
  for (const json& one :
       request.at("resourceMetrics").at(0).at("scopeMetrics").at(0).at("metrics")) {
    if (one.at("name") == name) return one;
  }
  return nullptr;
}

TEST(OpenMetrics, NamesUnitsAndLabelsFollowFromOpenTelemetrys) {
  const auto text = metrics_text(state(), MetricsForm::open_metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE wirewatt_wire_energy_lower_joules counter\n"
                              "# UNIT wirewatt_wire_energy_lower_joules joules\n"));
  EXPECT_THAT(text, HasSubstr("wirewatt_wire_energy_lower_joules_total{hw_type=\"gpu\",hw_id="
                              "\"gpu:0\",hw_name=\"a \\\"card\\\"\",virtual=\"false\",job_id="
                              "\"4711\",segment=\"L1-L2\"} 10\n"));
  EXPECT_THAT(text, HasSubstr("\nwirewatt_dispatches_total{"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(OpenMetrics, HasNoSampleOfAMissingFigure) {
  const auto text = metrics_text(state(), MetricsForm::prometheus);
  EXPECT_THAT(text, Not(HasSubstr("segment=\"registers-L1\"} ")));
  EXPECT_THAT(text, HasSubstr("segment=\"registers-L1\",status=\"unavailable\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE wirewatt_wire_energy_joules_total counter\n"));
  EXPECT_THAT(text, Not(HasSubstr("hw_energy")));
}

// omnistat's external collector takes lines "name value" and "name{key="text",...} value" from a
// script, skips comments, and makes a gauge of each name and set of keys; one name with two sets of
// keys is an error of its client library (omnistat, collector_external.py).
TEST(OpenMetrics, IsReadByOmnistatsExternalCollector) {
  static const std::regex kLine(
      R"re(([A-Za-z_]\w*)(\{[^}]*\})?\s+[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*)re");
  static const std::regex kLabel(R"re(([A-Za-z_]\w*)="([^"]*)")re");
  auto published = state();
  published.card = "AMD Instinct MI300X";
  published.device_j = 1.5e9;
  std::map<std::string, std::set<std::string>> keys_of;
  std::size_t read = 0;
  std::istringstream lines(metrics_text(published, MetricsForm::open_metrics));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::smatch found;
    ASSERT_TRUE(std::regex_match(line, found, kLine)) << line;
    std::string keys;
    const std::string labels = found[2];
    for (std::sregex_iterator label(labels.begin(), labels.end(), kLabel), end; label != end;
         ++label) {
      keys += (*label)[1].str() + ",";
      if ((*label)[1] == "hw_name") {
        EXPECT_EQ((*label)[2], published.card);
      }
    }
    keys_of[found[1]].insert(keys);
    ++read;
  }
  EXPECT_GT(read, 8u);
  for (const auto& [name, keys] : keys_of) EXPECT_EQ(keys.size(), 1u) << name;
}

TEST(OpenMetrics, SaysWhatElseTheDevicesFiguresCover) {
  EXPECT_THAT(metrics_text(state(), MetricsForm::open_metrics), Not(HasSubstr("wirewatt_of")));
  auto shared = state();
  shared.device_j = 12;
  shared.device_of = "the whole GPU";
  const auto text = metrics_text(shared, MetricsForm::open_metrics);
  EXPECT_THAT(text, HasSubstr("job_id=\"4711\",wirewatt_of=\"the whole GPU\"} 120.5\n"));
  EXPECT_THAT(text, HasSubstr("job_id=\"4711\",wirewatt_of=\"the whole GPU\"} 12\n"));
}

// Both dies of a package report its joules: a sum over devices must have them once.
TEST(OpenMetrics, KeepsFiguresOfAnotherDevicesSensorOutOfSums) {
  auto deaf = state();
  deaf.device_j = 12;
  deaf.device_of = "both dies";
  deaf.sensor_of = "0000:03:00.0";
  for (const auto form : {MetricsForm::open_metrics, MetricsForm::prometheus}) {
    const auto text = metrics_text(deaf, form);
    EXPECT_THAT(text, Not(HasSubstr("hw_energy")));
    EXPECT_THAT(text, Not(HasSubstr("hw_power")));
    EXPECT_THAT(text,
                HasSubstr("wirewatt_of=\"both dies\",wirewatt_sensor_of=\"0000:03:00.0\"} 12\n"));
    EXPECT_THAT(text, HasSubstr("\nwirewatt_shared_energy_joules_total{"));
    EXPECT_THAT(text, HasSubstr("\nwirewatt_shared_power_watts{"));
  }
}

TEST(OpenMetrics, HasARailForEachAccumulatorOfAPackage) {
  EXPECT_THAT(metrics_text(state(), MetricsForm::prometheus), Not(HasSubstr("wirewatt_rail")));
  auto package = state();
  package.device_j = 40;
  package.rails = {{"aid", 12.5}, {"hbm", std::nullopt}};
  const auto text = metrics_text(package, MetricsForm::open_metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE wirewatt_rail_energy_joules counter\n"));
  EXPECT_THAT(text, HasSubstr("job_id=\"4711\",rail=\"aid\"} 12.5\n"));
  EXPECT_THAT(text, HasSubstr("hw_energy_joules_total{"));
  EXPECT_THAT(text, Not(HasSubstr("rail=\"hbm\"")));
}

// A sum over a node's devices must not have the node's own joules once for each of them.
TEST(OpenMetrics, HasTheJoulesOfTheNodeUnderANameOfTheirOwn) {
  auto device = state();
  device.rails = {{"cray_accel", 7.5}};
  device.node = {{"cray_node", 100.5}};
  const auto text = metrics_text(device, MetricsForm::open_metrics);
  EXPECT_THAT(text, HasSubstr("\nwirewatt_node_energy_joules_total{"));
  EXPECT_THAT(text, HasSubstr("rail=\"cray_node\"} 100.5\n"));
  EXPECT_THAT(text, HasSubstr("\nwirewatt_rail_energy_joules_total{"));
  EXPECT_THAT(text, HasSubstr("rail=\"cray_accel\"} 7.5\n"));
  // The other die of a package reads the same meter.
  device.sensor_of = "0000:03:00.0";
  EXPECT_THAT(metrics_text(device, MetricsForm::open_metrics),
              HasSubstr("\nwirewatt_shared_rail_energy_joules_total{"));
}

// Nobody counts the kernels of a real card: 0 would say that none ran.
TEST(OpenMetrics, HasNoCounterOfKernelsThatNobodyCounts) {
  auto of_a_card = state();
  of_a_card.dispatches.reset();
  const auto text = metrics_text(of_a_card, MetricsForm::prometheus);
  EXPECT_THAT(text, Not(HasSubstr("wirewatt_dispatches")));
  EXPECT_THAT(otlp_json(of_a_card, {1'000, 2'000}, "0.1.0"), Not(HasSubstr("dispatches")));
}

TEST(Otlp, CountersAreCumulativeSumsWithAStart) {
  const auto request = json::parse(otlp_json(state(), {1'000, 2'000}, "0.1.0"));
  const json energy = metric(request, "wirewatt.wire.energy");
  ASSERT_TRUE(energy.is_object());
  EXPECT_EQ(energy.at("unit"), "J");
  EXPECT_EQ(energy.at("sum").at("aggregationTemporality"), 2);
  EXPECT_EQ(energy.at("sum").at("isMonotonic"), true);
  ASSERT_EQ(energy.at("sum").at("dataPoints").size(), 1U);
  const json& point = energy.at("sum").at("dataPoints").at(0);
  EXPECT_EQ(point.at("asDouble"), 20);
  EXPECT_EQ(point.at("startTimeUnixNano"), "1000");
  EXPECT_EQ(point.at("timeUnixNano"), "2000");
  EXPECT_THAT(point.at("attributes"),
              ::testing::Contains(json({{"key", "hw.id"}, {"value", {{"stringValue", "gpu:0"}}}})));
}

TEST(Otlp, GaugesHaveNoStartAndMetricsWithoutAFigureAreLeftOut) {
  auto of_idle = state();
  of_idle.segments[1].power_w.reset();
  const auto request = json::parse(otlp_json(of_idle, {1'000, 2'000}, "0.1.0"));
  EXPECT_TRUE(metric(request, "wirewatt.wire.power").is_null());
  const json power = metric(request, "hw.power");
  ASSERT_TRUE(power.is_object());
  EXPECT_EQ(power.at("gauge").at("dataPoints").at(0).at("asDouble"), 120.5);
  EXPECT_FALSE(power.at("gauge").at("dataPoints").at(0).contains("startTimeUnixNano"));
}

}  // namespace
}  // namespace ww::metrics
