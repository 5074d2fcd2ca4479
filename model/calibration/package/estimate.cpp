// Joules by the ways between a package's dies, and by the wires of the compute dies as far as the
// literature gives them.
#include <fmt/format.h>

#include <algorithm>

#include "package/package.hpp"
#include "requests.hpp"
#include "wires/estimate.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/model/technology.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

std::string bytes_text(const std::optional<Interval>& bytes) {
  if (!bytes) return "-";
  if (bytes->low == bytes->high) return fmt::format("{:.6g}", bytes->value);
  return fmt::format("{:.4g}..{:.4g}", bytes->low, bytes->high);
}

void add_rows(Table& table, const ChipletUse& use, std::string name) {
  const auto add = [&](std::string_view which, const HopClassUse& one) {
    table.rows.push_back({name, which, bytes_text(one.bytes),
                          interval_text(one.energy_j, one.upper_j, "J"),
                          interval_text(one.power_w, std::nullopt, "W"), to_string(one.status)});
    name.clear();
  };
  for (std::size_t i = 0; i < use.classes.size(); ++i) add(kHopClasses[i], use.classes[i]);
  add("together", use.together);
}

Priced priced(const ChipletUse& all) {
  const auto row = [](std::string_view name, const HopClassUse& use) {
    return PricedRow{std::string(name), std::string(to_string(use.status)), use.reason,
                     use.energy_j, use.power_w};
  };
  Priced priced;
  for (std::size_t i = 0; i < all.classes.size(); ++i) {
    priced.rows.push_back(row(kHopClasses[i], all.classes[i]));
  }
  priced.together = row(together_row("", {}, {}).name, all.together);
  return priced;
}

json ways_json(const ChipletModel& model, const std::vector<ChipletUse>& uses) {
  json ways{{"source", model.source}, {"kernels", json::array()}, {"total", to_json(uses.back())}};
  for (std::size_t i = 0; i < model.classes.size(); ++i) {
    const auto& energy = model.classes[i];
    ways["pj_per_bit"][std::string(kHopClasses[i])] =
        energy.pj ? interval_json(energy.pj) : json(energy.why_not);
  }
  for (std::size_t i = 0; i + 1 < uses.size(); ++i) ways["kernels"].push_back(to_json(uses[i]));
  return ways;
}

}  // namespace

std::vector<std::string> Package::priced_rows() const {
  return {kHopClasses.begin(), kHopClasses.end()};
}

Result<std::vector<ChipletUse>> Package::uses(const Traffic& traffic,
                                              const EstimateRequest& request) const {
  WW_TRY(check_toggle_rate(request));
  WW_TRY(require_same_part(model_.target, traffic.architecture, traffic.file, "a bit between dies",
                           "or use --constant literature"));
  return estimate_chiplet(model_, traffic.kernels, traffic.io_dies, request.options);
}

Result<Answer> Package::estimate(const Traffic& traffic, const EstimateRequest& request) const {
  WW_ASSIGN(used, uses(traffic, request));
  WW_ASSIGN(literature,
            model::literature_model({traffic.architecture, request.literature_node_nm, {}}));
  WW_ASSIGN(dies, estimate_wires(literature, traffic, request));
  const bool is_virtual = provenance_.is_virtual || traffic.is_virtual;
  Answer answer;
  answer.json = std::move(dies.json);
  answer.json["kind"] = "chiplet";
  answer.json["notice"] =
      "The wires within the compute dies are from literature, not this device; the ways between "
      "dies are of the calibration.";
  answer.json["device"] = provenance_.device;
  answer.json["virtual"] = is_virtual;
  answer.json["ways"] = ways_json(model_, used);
  answer.priced = priced(used.back());

  answer.text.emplace_back(fmt::format("ways between dies: energy of random bits{}; {}",
                                       is_virtual ? " (virtual, not a measurement)" : "",
                                       provenance_.source));
  Table table{"Energy by way between dies",
              {{"KERNEL"}, {"HOP CLASS"}, {"BYTES"}, {"ENERGY (95%)"}, {"POWER (95%)"}, {"STATUS"}},
              {}};
  const std::size_t kernels = used.size() - 1;
  const auto labels = kernel_labels(used, &ChipletUse::kernel);
  for (std::size_t i = 0; i < std::min(request.shown_kernels, kernels); ++i) {
    add_rows(table, used[i], labels[i]);
  }
  add_rows(table, used.back(), labels.back());
  answer.text.emplace_back(std::move(table));
  add_more_kernels(answer.text, kernels, request.shown_kernels);
  std::string last;
  for (const auto& one : used.back().classes) {
    if (!one.reason.empty() && one.reason != last) answer.text.emplace_back(one.reason);
    last = one.reason;
  }
  answer.text.emplace_back("\nwires of the compute dies, which this calibration does not have:");
  std::ranges::move(dies.text, std::back_inserter(answer.text));
  const auto& of_all = used.back().classes.front();
  if (!of_all.energy_j) {
    answer.lacking = {ErrorCode::bad_data,
                      fmt::format("no bytes behind the L2s ({}); docs/estimate.md lists the "
                                  "counters to ask the profiler for",
                                  of_all.reason),
                      traffic.file};
  }
  return answer;
}

}  // namespace ww::calibration
