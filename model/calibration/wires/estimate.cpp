#include "wires/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "requests.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/model/chip_power.hpp"
#include "ww/model/technology.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

constexpr const char* kLiteratureNotice =
    "from literature, not this device: published energies of wires, scaled to the part";

std::string bytes_text(const model::SegmentEstimate& segment) {
  if (!segment.bytes) return "-";
  return fmt::format("{}{:.6g}",
                     segment.bytes_at_least ? ">= "
                     : segment.bytes_scaled ? "~ "
                                            : "",
                     *segment.bytes);
}

void add_rows(Table& table, const model::KernelEstimate& kernel, std::string name) {
  for (const auto& segment : kernel.segments) {
    table.rows.push_back({name, model::to_string(segment.segment), bytes_text(segment),
                          fmt::format("{:.2f} {}", segment.toggle_rate,
                                      segment.toggles_measured ? "measured" : "assumed"),
                          interval_text(segment.energy_j, segment.upper_j, "J"),
                          interval_text(segment.power_w, segment.upper_w, "W"),
                          to_string(segment.status)});
    name.clear();
  }
}

bool has_figure(const model::Estimate& estimate) {
  return std::ranges::any_of(estimate.kernels, [](const model::KernelEstimate& kernel) {
    return std::ranges::any_of(kernel.segments, [](const model::SegmentEstimate& segment) {
      return segment.energy_j || segment.upper_j;
    });
  });
}

Error nothing_estimated(const model::Estimate& estimate, const std::string& architecture) {
  std::string why;
  for (const auto& segment : estimate.total.segments) {
    why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", model::to_string(segment.segment),
                       segment.reason);
  }
  const char* advice = architecture.empty()
                           ? "name the device's architecture with --arch"
                           : "docs/estimate.md lists the counters to ask the profiler for";
  return {ErrorCode::bad_data,
          fmt::format("no segment of any kernel has a figure ({}); {}", why, advice), ""};
}

json constant_json(const model::WireModel& model) {
  json constant{{"source", model.source},
                {"status", model.misfit.empty() ? "ok" : "misfit"},
                {"literature", model.literature},
                {fmt::format("fj_per_bit_{}", model.unit()), model.random.value},
                {"low", model.random.low},
                {"high", model.random.high},
                {"convention", "per_random_bit"},
                {"voltage_v", model.reference_voltage_v},
                {"exponents", model.exponent_note}};
  if (!model.literature) return constant;
  for (const auto& source : model::wire_sources()) {
    constant["sources"].push_back({{"name", source.name},
                                   {"node_nm", source.node_nm},
                                   {"voltage_v", source.voltage_v},
                                   {"fj_per_bit_mm", source.energy_fj_per_bit_mm},
                                   {"convention", to_string(source.convention)},
                                   {"source", source.source}});
  }
  return constant;
}

// The kernels that a table shows, by energy where it cannot show all.
std::vector<std::size_t> shown_kernels(const model::Estimate& estimate, std::size_t most) {
  std::vector<std::size_t> kernels(estimate.kernels.size());
  std::iota(kernels.begin(), kernels.end(), 0);
  if (kernels.size() <= most) return kernels;
  std::ranges::stable_sort(kernels, std::greater<>(), [&](std::size_t k) {
    const auto& energy = estimate.kernels[k].energy_j;
    return energy ? energy->value : -1.0;
  });
  kernels.resize(most);
  return kernels;
}

Table segments_table(const model::Estimate& estimate, std::size_t most) {
  Table table{"Energy by segment",
              {{"KERNEL"},
               {"SEGMENT"},
               {"BYTES"},
               {"TOGGLES"},
               {"ENERGY (95%)"},
               {"POWER (95%)"},
               {"STATUS"}},
              {}};
  const auto labels = kernel_labels(estimate.kernels, &model::KernelEstimate::kernel);
  for (const std::size_t k : shown_kernels(estimate, most)) {
    add_rows(table, estimate.kernels[k], labels[k]);
  }
  add_rows(table, estimate.total, estimate.total.kernel);
  return table;
}

// Adds the remarks below the table.
void add_remarks(std::vector<Block>& text, const model::Estimate& estimate, const char* mark) {
  const model::KernelEstimate& total = estimate.total;
  if (std::ranges::any_of(total.segments, [](const model::SegmentEstimate& segment) {
        return segment.energy_j && !segment.toggles_measured;
      })) {
    const Interval& rate = estimate.assumed_rate;
    text.emplace_back(fmt::format(
        "no monitor counts toggles: the data are assumed to cost what random words with {:.2f} "
        "toggles a bit ({:.2f}..{:.2f}) do; that range is in the intervals",
        rate.value, rate.low, rate.high));
  }
  for (const auto& segment : total.segments) {
    if (segment.reason.empty()) continue;
    text.emplace_back(fmt::format("{}: {}", model::to_string(segment.segment), segment.reason));
  }
  text.emplace_back(fmt::format("together: {}, {}{}{}",
                                interval_text(total.energy_j, std::nullopt, "J"),
                                interval_text(total.power_w, std::nullopt, "W"), mark,
                                total.left_out.empty() ? "" : ", without " + total.left_out));
  if (!total.time_reason.empty()) {
    text.emplace_back(
        fmt::format("{}: {}", total.power_w ? "watts" : "no watts", total.time_reason));
  }
  if (estimate.share_percent) {
    text.emplace_back(
        fmt::format("share of the dynamic power ({:.3g} W): {:.3g}% ({:.3g}..{:.3g}){}",
                    estimate.dynamic_w.value_or(0), estimate.share_percent->value,
                    estimate.share_percent->low, estimate.share_percent->high, mark));
  } else {
    text.emplace_back(fmt::format("no share of the dynamic power: {}", estimate.share_reason));
  }
}

// Adds the share's bounds from public figures of the chip. A card's own sensor says more than they.
void add_share_bounds(Answer& answer, const model::Estimate& estimate, const Traffic& traffic,
                      double voltage_v, bool is_virtual) {
  const model::ChipPower* chip = model::chip_power(traffic.architecture);
  if (chip == nullptr || (estimate.share_percent && !is_virtual)) return;
  if (!estimate.total.energy_j || !estimate.total.time_s) return;
  if (std::abs(voltage_v / chip->voltage_v - 1) > 0.01) return;
  const auto bounds = model::share_bounds(*chip, *estimate.total.energy_j, traffic.counters,
                                          *estimate.total.time_s);
  if (!bounds) return;  // counters of another kind of profiler: nothing to add
  answer.json["share_over_chip_power"] = model::to_json(*bounds);
  const model::KnownRange& most = bounds->known.front();
  answer.text.emplace_back(fmt::format(
      "share with the rest of the chip anywhere in its public ranges ({:.3g}..{:.3g} W): "
      "{:.3g}..{:.3g}%; {} would narrow it most if known ({:.0f}%)",
      bounds->rest_w.low, bounds->rest_w.high, bounds->share_percent.low,
      bounds->share_percent.high, most.name, 100 * most.narrower));
}

}  // namespace

void add_more_kernels(std::vector<Block>& text, std::size_t kernels, std::size_t shown) {
  if (kernels <= shown) return;
  text.emplace_back(fmt::format("({} more kernels: --top {} or --json)", kernels - shown, kernels));
}

Result<Answer> estimate_wires(const model::WireModel& model, const Traffic& traffic,
                              const EstimateRequest& request) {
  WW_ASSIGN(estimate, model::estimate(model, traffic.kernels, request.options));
  if (request.dynamic_j) {
    model::add_dynamic_energy(estimate, *request.dynamic_j);
  } else if (!request.no_dynamic_reason.empty()) {
    estimate.share_reason = request.no_dynamic_reason;
  }
  const bool is_virtual = model.is_virtual || traffic.is_virtual;
  Answer answer;
  answer.json = model::to_json(estimate);
  answer.json["device"] = model.device;
  answer.json["virtual"] = is_virtual;
  answer.json["architecture"] = traffic.architecture;
  answer.json["dispatches"] = traffic.dispatches;
  answer.json["status"] = to_string(estimate.total.status);
  answer.json["reason"] = model.misfit;
  if (model.literature)
    answer.json["notice"] = fmt::format("The figures are {}.", kLiteratureNotice);
  answer.json["constant"] = constant_json(model);
  answer.json["distances"] = model.distance_source;

  const char* const mark = model.misfit.empty() ? "" : " (misfit)";
  if (!model.misfit.empty()) answer.text.emplace_back(misfit_line(model.misfit));
  if (model.literature) answer.text.emplace_back(fmt::format("LITERATURE: {}", kLiteratureNotice));
  answer.text.emplace_back(fmt::format("{}{}: {} of {}", traffic.architecture,
                                       is_virtual ? " (virtual, not a measurement)" : "",
                                       counted(traffic.dispatches, "dispatch", "dispatches"),
                                       counted(estimate.kernels.size(), "kernel", "kernels")));
  answer.text.emplace_back(fmt::format(
      "energy per bit and {}: {:.4g} fJ ({:.4g}..{:.4g}){} at {:.4g} V, per random bit; {}",
      model.unit(), model.random.value, model.random.low, model.random.high, mark,
      model.reference_voltage_v, model.source));
  answer.text.emplace_back(fmt::format("distances: {}", model.distance_source));
  answer.text.emplace_back(segments_table(estimate, request.shown_kernels));
  add_more_kernels(answer.text, estimate.kernels.size(), request.shown_kernels);
  add_remarks(answer.text, estimate, mark);
  add_share_bounds(answer, estimate, traffic,
                   request.options.voltage_v.value_or(model.reference_voltage_v), is_virtual);
  answer.priced = priced(estimate.total);
  if (!has_figure(estimate)) answer.lacking = nothing_estimated(estimate, traffic.architecture);
  return answer;
}

}  // namespace ww::calibration
