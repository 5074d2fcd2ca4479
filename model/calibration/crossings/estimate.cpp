// Prices an application's crossings of the L2.
#include <fmt/format.h>

#include <algorithm>

#include "crossings/crossings.hpp"
#include "requests.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

void mark_as_transferred(std::vector<CrossingUse>& uses, const std::string& target) {
  for (auto& use : uses) {
    if (use.status == RowStatus::ok) use.status = RowStatus::transferred;
    use.reason += fmt::format("; the energy of a crossing is that of another part, {}", target);
  }
}

constexpr const char* kCrossing = "crossing";

Priced priced(const CrossingUse& all) {
  const std::string status(to_string(all.status));
  PricedRow together = together_row("", all.energy_j, all.power_w);
  together.status = status;
  together.reason = all.reason;
  return {{{kCrossing, status, all.reason, all.energy_j, all.power_w}}, std::move(together)};
}

std::optional<Interval> scaled(const std::optional<Interval>& interval, double factor) {
  return interval ? std::optional(interval->times(factor)) : std::nullopt;
}

}  // namespace

std::vector<std::string> Crossings::priced_rows() const {
  return {kCrossing};
}

Result<Crossings::Application> Crossings::application(const Traffic& traffic,
                                                      const EstimateRequest& request) const {
  if (!model_) return tl::unexpected(model_.error());
  WW_TRY(check_toggle_rate(request));
  const bool transferred = of_another_part(request.part, traffic.architecture);
  if (!request.anyway) {
    WW_TRY(require_same_part(request.part, traffic.architecture, traffic.file, "a crossing",
                             "or give --anyway to use the figure with the status 'transferred'"));
  }
  const auto data =
      request.toggle_rate ? model::data_at_rate(*request.toggle_rate) : model::unknown_data();
  Application done;
  done.pj_per_bit = model_->of_data(data);
  WW_ASSIGN(uses, estimate_crossings(*model_, traffic.kernels, traffic.crossings, data));
  done.uses = std::move(uses);
  if (!traffic.crossings_unused.empty()) {
    for (auto& use : done.uses) {
      if (!use.counted) use.reason += "; not used: " + traffic.crossings_unused;
    }
  }
  if (transferred) mark_as_transferred(done.uses, request.part);
  return done;
}

Result<Answer> Crossings::estimate(const Traffic& traffic, const EstimateRequest& request) const {
  WW_ASSIGN(done, application(traffic, request));
  const bool is_virtual = provenance_.is_virtual || traffic.is_virtual;
  const CrossingUse& all = done.uses.back();
  Answer answer;
  answer.json = {{"kind", "crossing"},
                 {"device", provenance_.device},
                 {"virtual", is_virtual},
                 {"architecture", traffic.architecture},
                 {"dispatches", traffic.dispatches},
                 {"status", to_string(all.status)},
                 {"reason", all.reason},
                 {"kernels", json::array()}};
  answer.json["constant"] = {{"source", provenance_.source},
                             {"convention", "per_random_bit"},
                             {"pj_per_bit_crossing", interval_json(model_->random_pj)},
                             {"pj_per_bit_crossing_of_data", interval_json(done.pj_per_bit)}};
  for (std::size_t i = 0; i + 1 < done.uses.size(); ++i) {
    answer.json["kernels"].push_back(to_json(done.uses[i]));
  }
  answer.json["total"] = to_json(all);
  answer.priced = priced(all);

  answer.text.emplace_back(fmt::format("{}{}: {} of {}", traffic.architecture,
                                       is_virtual ? " (virtual, not a measurement)" : "",
                                       counted(traffic.dispatches, "dispatch", "dispatches"),
                                       counted(done.uses.size() - 1, "kernel", "kernels")));
  answer.text.emplace_back(fmt::format(
      "energy per bit and crossing: {} pJ of random bits; {} pJ of this data; {}",
      interval_text(model_->random_pj), interval_text(done.pj_per_bit), provenance_.source));
  Table table{
      "Energy of what crossed",
      {{"KERNEL"}, {"L1-L2 BYTES"}, {"CROSSED BYTES (95%)"}, {"mJ (95%)"}, {"W (95%)"}, {"STATUS"}},
      {}};
  const auto labels = kernel_labels(done.uses, &CrossingUse::kernel);
  for (std::size_t i = 0; i < done.uses.size(); ++i) {
    const CrossingUse& use = done.uses[i];
    table.rows.push_back(
        {labels[i], use.l1_l2_bytes ? fmt::format("{:.6g}", *use.l1_l2_bytes) : "-",
         use.crossed_bytes, scaled(use.energy_j, 1e3), use.power_w, to_string(use.status)});
  }
  answer.text.emplace_back(std::move(table));
  if (!all.reason.empty()) answer.text.emplace_back(all.reason);
  if (std::ranges::none_of(done.uses,
                           [](const CrossingUse& use) { return use.energy_j.has_value(); })) {
    answer.lacking = {ErrorCode::bad_data,
                      "no kernel has bytes between L1 and L2 (" + done.uses.front().reason +
                          "); docs/nvidia.md lists the counters to ask the profiler for",
                      traffic.file};
  }
  return answer;
}

}  // namespace ww::calibration
