#include <nlohmann/json.hpp>
#include <utility>

#include "families.hpp"

namespace ww::metrics {
namespace {

using nlohmann::json;

// The protocol's AggregationTemporality: counted from the start, not from the last export.
constexpr int kCumulative = 2;

// Units by the Unified Code for Units of Measure, as OpenTelemetry has them.
const char* unit_code(Unit unit) {
  switch (unit) {
    case Unit::watt: return "W";
    case Unit::joule: return "J";
    case Unit::kernel: return "{kernel}";
    case Unit::none: break;
  }
  return "1";
}

json attributes(const Labels& labels) {
  json list = json::array();
  for (const auto& [name, value] : labels) {
    list.push_back({{"key", name}, {"value", {{"stringValue", value}}}});
  }
  return list;
}

json metric(const Family& family, const Labels& device, const MetricsTimes& times) {
  json points = json::array();
  for (const Sample& sample : family.samples) {
    Labels labels = device;
    labels.insert(labels.end(), sample.labels.begin(), sample.labels.end());
    // In JSON the protocol has its 64-bit integers as strings.
    json point = {{"attributes", attributes(labels)},
                  {"timeUnixNano", std::to_string(times.now_ns)},
                  {"asDouble", sample.value}};
    if (family.counts) point["startTimeUnixNano"] = std::to_string(times.start_ns);
    points.push_back(std::move(point));
  }
  json one = {
      {"name", family.name}, {"description", family.help}, {"unit", unit_code(family.unit)}};
  json data = {{"dataPoints", std::move(points)}};
  if (family.counts) {
    data["aggregationTemporality"] = kCumulative;
    data["isMonotonic"] = true;
  }
  one[family.counts ? "sum" : "gauge"] = std::move(data);
  return one;
}

}  // namespace

std::string otlp_json(const MetricsState& state, const MetricsTimes& times,
                      const std::string& version) {
  const Labels device = device_labels(state);
  json metrics = json::array();
  for (const Family& family : families(state)) {
    if (!family.samples.empty()) metrics.push_back(metric(family, device, times));
  }
  const json of_scope = {{"scope", {{"name", "wirewatt"}, {"version", version}}},
                         {"metrics", std::move(metrics)}};
  const json of_resource = {
      {"resource", {{"attributes", attributes({{"service.name", "wirewatt"}})}}},
      {"scopeMetrics", json::array({of_scope})}};
  const json request = {{"resourceMetrics", json::array({of_resource})}};
  return request.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace ww::metrics
