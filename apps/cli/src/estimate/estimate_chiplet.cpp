// wirewatt estimate with a calibration of a package's dies: joules by the ways between them, and by
// the wires of the compute dies as far as the literature gives them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "device_options.hpp"
#include "estimate/estimate_command.hpp"
#include "output.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/report/pages.hpp"

namespace ww::cli {
namespace {

Status refuse_options(const EstimateArguments& arguments) {
  const std::pair<bool, const char*> without_a_way[] = {
      {!arguments.floorplan.empty(), "--floorplan"},
      {!arguments.segments.empty(), "--segments"},
      {arguments.timeline.wanted(), "--timeline or --rocpd"},
      {arguments.voltage_v.has_value(), "--voltage"}};
  for (const auto& [given, option] : without_a_way) {
    if (!given) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("does not go with {}: it has energy per bit and way between dies, and "
                            "no millimetre, voltage or segment",
                            option),
                arguments.model);
  }
  return {};
}

std::string bytes_text(const std::optional<model::Interval>& bytes) {
  if (!bytes) return "-";
  if (bytes->low == bytes->high) return fmt::format("{:.6g}", bytes->value);
  return fmt::format("{:.4g}..{:.4g}", bytes->low, bytes->high);
}

void add_rows(std::vector<std::vector<std::string>>& rows, const model::ChipletUse& use,
              std::string name) {
  const auto add = [&](std::string_view which, const model::HopClassUse& one) {
    rows.push_back({name, std::string(which), bytes_text(one.bytes),
                    interval_text(one.energy_j, one.upper_j, "J"),
                    interval_text(one.power_w, std::nullopt, "W"),
                    std::string(to_string(one.status))});
    name.clear();
  };
  for (std::size_t i = 0; i < use.classes.size(); ++i) add(model::kHopClasses[i], use.classes[i]);
  add("together", use.together);
}

void print_ways(const ChipletEstimated& done) {
  fmt::print("ways between dies: energy of random bits{}; {}\n",
             done.is_virtual() ? " (virtual, not a measurement)" : "", done.model.source);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "HOP CLASS", "BYTES", "ENERGY (95%)", "POWER (95%)", "STATUS"}};
  constexpr std::size_t most = 20;
  const std::size_t kernels = done.uses.size() - 1;
  const auto labels = kernel_labels(done.uses, &model::ChipletUse::kernel);
  for (std::size_t i = 0; i < std::min(most, kernels); ++i) add_rows(rows, done.uses[i], labels[i]);
  add_rows(rows, done.uses.back(), labels.back());
  print_table(rows);
  if (kernels > most) fmt::print("({} more kernels: --json)\n", kernels - most);
  std::string last;
  for (const auto& one : done.uses.back().classes) {
    if (!one.reason.empty() && one.reason != last) fmt::print("{}\n", one.reason);
    last = one.reason;
  }
  fmt::print("\nwires of the compute dies, which this calibration does not have:\n");
}

nlohmann::json ways_json(const ChipletEstimated& done) {
  nlohmann::json json = estimate_json(done.dies);
  json["kind"] = "chiplet";
  json["notice"] =
      "The wires within the compute dies are from literature, not this device; the ways between "
      "dies are of the calibration.";
  json["device"] = done.model.device;
  json["virtual"] = done.is_virtual();
  nlohmann::json ways{{"source", done.model.source}, {"kernels", nlohmann::json::array()}};
  for (std::size_t i = 0; i < done.model.classes.size(); ++i) {
    const auto& energy = done.model.classes[i];
    ways["pj_per_bit"][std::string(model::kHopClasses[i])] =
        energy.pj ? nlohmann::json{{"value", energy.pj->value},
                                   {"low", energy.pj->low},
                                   {"high", energy.pj->high}}
                  : nlohmann::json(energy.why_not);
  }
  for (std::size_t i = 0; i + 1 < done.uses.size(); ++i) {
    ways["kernels"].push_back(to_json(done.uses[i]));
  }
  ways["total"] = to_json(done.uses.back());
  json["ways"] = std::move(ways);
  return json;
}

}  // namespace

Result<ChipletEstimated> run_chiplet_estimate(const EstimateArguments& arguments) {
  WW_TRY(refuse_options(arguments));
  ChipletEstimated done;
  WW_ASSIGN(model, model::load_chiplet_model(arguments.model));
  done.model = std::move(model);
  EstimateArguments of_dies = arguments;
  of_dies.model.clear();
  of_dies.device = device_beside_model(arguments.device, done.model.device);
  of_dies.constant = "literature";
  if (of_dies.architecture.empty()) of_dies.architecture = done.model.target;
  WW_ASSIGN(dies, run_estimate(of_dies));
  done.dies = std::move(dies);
  WW_ASSIGN(uses, model::estimate_chiplet(done.model, done.dies.traffic.kernels, done.dies.io_dies,
                                          done.dies.options));
  done.uses = std::move(uses);
  return done;
}

int estimate_chiplet(const EstimateArguments& arguments) {
  const auto done = run_chiplet_estimate(arguments);
  if (!done) return report_error(done.error());
  if (!arguments.report.empty()) {
    if (const auto saved = report::write_estimate_page(ways_json(*done), arguments.report);
        !saved) {
      return report_error(saved.error());
    }
  }
  if (arguments.json) {
    print_json(ways_json(*done));
  } else {
    print_ways(*done);
    print_estimate(done->dies);
  }
  if (done->dies.program_exit_code != 0) return done->dies.program_exit_code;
  const auto& of_all = done->uses.back().classes.front();
  if (of_all.energy_j) return 0;
  return report_error({ErrorCode::bad_data,
                       fmt::format("no bytes behind the L2s ({}); docs/estimate.md lists the "
                                   "counters to ask the profiler for",
                                   of_all.reason),
                       arguments.counters.empty() ? "" : arguments.counters.front()});
}

}  // namespace ww::cli
