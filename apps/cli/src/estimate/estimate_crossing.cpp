// wirewatt estimate with a calibration of crossings: what crossing the L2 costs in an application.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "estimate/crossing_traffic.hpp"
#include "estimate/estimate_command.hpp"
#include "output.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::cli {
namespace {

struct CrossingEstimate : CrossingTraffic {
  model::CrossingModel model;

  [[nodiscard]] bool is_virtual() const { return model.is_virtual || traffic.is_virtual; }
};

Result<CrossingEstimate> crossings_of(const EstimateArguments& arguments) {
  const std::pair<bool, const char*> without_a_crossing[] = {
      {!arguments.floorplan.empty(), "--floorplan"},
      {!arguments.segments.empty(), "--segments"},
      {!arguments.toggles.empty(), "--toggles"},
      {!arguments.dumps.empty(), "--toggles-from"},
      {!arguments.report.empty(), "--report"},
      {arguments.voltage_v.has_value(), "--voltage"},
      {!arguments.command.empty(), "a program after --"}};
  for (const auto& [given, option] : without_a_crossing) {
    if (!given) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("does not go with {}: it has energy per bit and crossing, no "
                            "millimetre, voltage or segment; give it --counters FILE",
                            option),
                arguments.model);
  }
  if (arguments.counters.empty()) {
    return fail(ErrorCode::invalid_argument, "give counter files (--counters FILE...)");
  }
  CrossingEstimate done;
  WW_ASSIGN(model, model::load_crossing_model(arguments.model));
  done.model = std::move(model);
  WW_ASSIGN(crossings, crossing_traffic(done.model, arguments.counters, arguments.architecture,
                                        arguments.toggle_rate, arguments.anyway));
  static_cast<CrossingTraffic&>(done) = std::move(crossings);
  return done;
}

std::string crossing_interval(const std::optional<model::Interval>& interval, double scale) {
  if (!interval) return "-";
  return fmt::format("{:.4g} ({:.4g}..{:.4g})", interval->value * scale, interval->low * scale,
                     interval->high * scale);
}

nlohmann::json crossings_json(const CrossingEstimate& done) {
  const auto interval = [](const model::Interval& value) {
    return nlohmann::json{{"value", value.value}, {"low", value.low}, {"high", value.high}};
  };
  nlohmann::json json{{"kind", "crossing"},
                      {"device", done.model.device},
                      {"virtual", done.is_virtual()},
                      {"architecture", done.traffic.architecture},
                      {"dispatches", done.traffic.dispatches},
                      {"status", to_string(done.uses.back().status)},
                      {"reason", done.uses.back().reason},
                      {"kernels", nlohmann::json::array()}};
  json["constant"] = {{"source", done.model.source},
                      {"convention", "per_random_bit"},
                      {"pj_per_bit_crossing", interval(done.model.random_pj)},
                      {"pj_per_bit_crossing_of_data", interval(done.pj_per_bit)}};
  for (std::size_t i = 0; i + 1 < done.uses.size(); ++i) {
    json["kernels"].push_back(to_json(done.uses[i]));
  }
  json["total"] = to_json(done.uses.back());
  return json;
}

void print_crossings(const CrossingEstimate& done) {
  fmt::print("{}{}: {} of {}\n", done.traffic.architecture,
             done.is_virtual() ? " (virtual, not a measurement)" : "",
             counted(done.traffic.dispatches, "dispatch", "dispatches"),
             counted(done.uses.size() - 1, "kernel", "kernels"));
  fmt::print("energy per bit and crossing: {} pJ of random bits; {} pJ of this data; {}\n",
             crossing_interval(done.model.random_pj, 1), crossing_interval(done.pj_per_bit, 1),
             done.model.source);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "L1-L2 BYTES", "CROSSED BYTES (95%)", "mJ (95%)", "W (95%)", "STATUS"}};
  const auto labels = kernel_labels(done.uses, &model::CrossingUse::kernel);
  for (std::size_t i = 0; i < done.uses.size(); ++i) {
    const model::CrossingUse& use = done.uses[i];
    rows.push_back({labels[i], use.l1_l2_bytes ? fmt::format("{:.6g}", *use.l1_l2_bytes) : "-",
                    crossing_interval(use.crossed_bytes, 1), crossing_interval(use.energy_j, 1e3),
                    crossing_interval(use.power_w, 1), std::string(to_string(use.status))});
  }
  print_table(rows);
  if (!done.uses.back().reason.empty()) fmt::print("{}\n", done.uses.back().reason);
}

}  // namespace

int estimate_crossing(const EstimateArguments& arguments) {
  const auto done = crossings_of(arguments);
  if (!done) return report_error(done.error());
  if (arguments.json) {
    print_json(crossings_json(*done));
  } else {
    print_crossings(*done);
  }
  const bool any = std::ranges::any_of(
      done->uses, [](const model::CrossingUse& use) { return use.energy_j.has_value(); });
  if (any) return 0;
  return report_error({ErrorCode::bad_data,
                       "no kernel has bytes between L1 and L2 (" + done->uses.front().reason +
                           "); docs/nvidia.md lists the counters to ask the profiler for",
                       arguments.counters.front()});
}

}  // namespace ww::cli
