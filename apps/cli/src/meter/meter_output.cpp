#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "meter/meter_run.hpp"
#include "top/top_display.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFabricRail = "aid";

// Bounds the network's joules without any calibration or counter: they are at most those of
// the dies that it lies in.
ordered_json network_json(const session::MeterReading& reading) {
  for (const session::RailJoules& rail : reading.rails) {
    if (rail.rail != kFabricRail || !rail.joules.energy) continue;
    return {{"at_most_j", rail.joules.energy->high},
            {"rail", rail.rail},
            {"because", std::string(rail.says)}};
  }
  return nullptr;
}

// The joules of the node, which count once for all of its devices.
ordered_json node_of(const MeterResult& result) {
  for (const MeteredDevice& device : result.devices) {
    const json node = node_json(device.reading);
    if (!node.empty()) return ordered_json(node);
  }
  return ordered_json::array();
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

// Bytes that bound the joules of wires, or why there are none.
ordered_json traffic_json(const MeteredDevice& device) {
  if (!device.moved) return nullptr;
  ordered_json out{{"seconds", device.moved->seconds}};
  for (const measure::NamedTraffic& named : measure::kNamedTraffic) {
    const auto& bytes = device.moved->bytes.*named.rate;
    out[std::string(named.name) + "_bytes"] = bytes ? ordered_json(*bytes) : ordered_json();
  }
  out["l2_memory_at_most_j"] =
      device.l2_memory_at_most_j ? ordered_json(*device.l2_memory_at_most_j) : ordered_json();
  out["reason"] = device.moved->reason;
  return out;
}

ordered_json device_json(const MeteredDevice& device) {
  ordered_json out{
      {"device", device.device},         {"name", device.name},
      {"virtual", device.is_virtual},    {"scope", device.scope},
      {"scope_says", device.scope_says}, {"counted_at", text_or_null(device.counted_at)}};
  json joules;
  put_device_joules(joules, device.reading);
  out.update(ordered_json(joules));
  out["power_w"] = device.reading.power_w ? ordered_json(*device.reading.power_w) : nullptr;
  out["network"] = network_json(device.reading);
  out["traffic"] = traffic_json(device);
  out["polls"] = !device.cost ? ordered_json()
                              : ordered_json{{"count", device.cost->polls},
                                             {"period_s", device.cost->period_s},
                                             {"core_share", device.cost->core_share}};
  return out;
}

ordered_json row_json(const calibration::PricedRow& row) {
  return {{"name", row.name},
          {"status", row.status},
          {"reason", row.reason},
          {"energy_j", interval_json(row.energy_j)},
          {"power_w", interval_json(row.power_w)}};
}

void print_traffic(const MeteredDevice& device) {
  if (!device.moved) return;
  for (const measure::NamedTraffic& named : measure::kNamedTraffic) {
    const auto& bytes = device.moved->bytes.*named.rate;
    constexpr double kGiga = 1e9;
    if (bytes) fmt::print(stderr, "  {:<16} {:.4g} GB\n", named.words, *bytes / kGiga);
  }
  if (device.l2_memory_at_most_j) {
    fmt::print(stderr, "  wires from L2 to memory: at most {:.4g} J by these bytes\n",
               *device.l2_memory_at_most_j);
  }
}

void print_rail(const session::RailJoules& rail) {
  fmt::print(stderr, "  {:<8} {:<28} {}\n", rail.rail,
             rail.joules.energy ? interval_text(rail.joules.energy, {}, "J")
                                : "no joules: " + rail.joules.reason,
             rail.says);
}

void print_device(const MeteredDevice& device) {
  const session::MeterReading& reading = device.reading;
  const std::string title = device.name == device.device
                                ? device.device
                                : fmt::format("{} ({})", device.device, device.name);
  if (!reading.device.energy) {
    fmt::print(stderr, "{}: no joules: {}\n", title, reading.device.reason);
    print_traffic(device);
    return;
  }
  fmt::print(stderr, "{}: {} of the {} in {:.4g} s, {:.4g} W, by its {}{}{}{}\n", title,
             interval_text(reading.device.energy, {}, "J"), device.scope, reading.seconds,
             reading.power_w.value_or(0), reading.by_accumulator ? "accumulator" : "power readings",
             device.is_virtual ? " (virtual, not a measurement)" : "",
             reading.device.reason.empty() ? "" : "; ", reading.device.reason);
  if (!device.scope_says.empty()) fmt::print(stderr, "  {}\n", device.scope_says);
  if (!device.counted_at.empty()) {
    fmt::print(stderr, "  these joules are those of {}: do not add them up\n", device.counted_at);
  }
  for (const session::RailJoules& rail : reading.rails) {
    if (rail.of != session::RailOf::node) print_rail(rail);
  }
  print_traffic(device);
}

void print_node(const MeterResult& result) {
  for (const MeteredDevice& device : result.devices) {
    bool any = false;
    for (const session::RailJoules& rail : device.reading.rails) {
      if (rail.of != session::RailOf::node) continue;
      if (!any) fmt::print(stderr, "the node, once for all its devices:\n");
      any = true;
      print_rail(rail);
    }
    if (any) return;
  }
}

}  // namespace

ordered_json to_json(const MeterRequest& request, const MeterResult& result) {
  ordered_json out;
  bool any_virtual = result.wires_virtual;
  for (const MeteredDevice& device : result.devices) any_virtual = any_virtual || device.is_virtual;
  out["virtual"] = any_virtual;
  out["command"] = request.command;
  out["exit_code"] = result.exit_code;
  out["interrupted"] = result.interrupted;
  out["seconds"] = result.seconds;
  out["devices"] = ordered_json::array();
  for (const MeteredDevice& device : result.devices) out["devices"].push_back(device_json(device));
  out["node"] = node_of(result);
  out["energy_j"] = interval_json(result.together.energy);
  out["energy_status"] = to_string(result.together.status);
  out["energy_reason"] = result.together.reason;
  ordered_json wires{{"status", result.wires_status},
                     {"reason", result.wires_reason},
                     {"virtual", result.wires_virtual},
                     {"counted_by", result.wires_from},
                     {"rows", ordered_json::array()}};
  for (const calibration::PricedRow& row : result.wires.rows)
    wires["rows"].push_back(row_json(row));
  wires["together"] = row_json(result.wires.together);
  out["wires"] = std::move(wires);
  return out;
}

void print_metered(const MeterResult& result) {
  for (const MeteredDevice& device : result.devices) print_device(device);
  if (result.devices.size() > 1 && result.together.energy) {
    fmt::print(stderr, "together, each sensor once: {}\n",
               interval_text(result.together.energy, {}, "J"));
  }
  print_node(result);
  if (result.wires_from.empty()) {
    fmt::print(stderr, "wires: {}\n", result.wires_reason);
    return;
  }
  fmt::print(stderr, "wires, counted by {}{}:\n", result.wires_from,
             result.wires_virtual ? " (virtual, not a measurement)" : "");
  for (const calibration::PricedRow& row : result.wires.rows) {
    fmt::print(stderr, "  {:<22} {:<28} {}\n", row.name, interval_text(row.energy_j, {}, "J"),
               row.status);
  }
  fmt::print(stderr, "  {:<22} {}\n", result.wires.together.name,
             interval_text(result.wires.together.energy_j, {}, "J"));
}

}  // namespace ww::cli
