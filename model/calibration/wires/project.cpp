// Projects the wires' energy to another node, another voltage, or another layout of the die.
#include <fmt/format.h>

#include <string_view>

#include "node_scaling.hpp"
#include "requests.hpp"
#include "wires/wires.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/model/layout.hpp"
#include "ww/model/supply_limits.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

// The shares of the wires that IISWC'16 states at 28 nm [%]: color, the mean.
constexpr double kPaperShares[] = {14.3, 5.6};

// The die for which a layout is searched: compute units, channels and side of the W9100.
constexpr int kPlanComputeUnits = 44;
constexpr int kPlanChannels = 16;
constexpr double kPlanSideMm = 20.9;

std::string text_of(double value) {
  return fmt::format("{:.4g}", value);
}

// Volts that are millivolts, and hertz that are megahertz, would scale by powers of a thousand.
Status check_within(const std::optional<double>& value, double low, double high,
                    std::string_view unit, std::string_view option) {
  if (!value || (*value >= low && *value <= high)) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("{:g} {}; {:g} to {:g} make sense", *value, unit, low, high),
              std::string(option));
}

Status check(const ProjectRequest& request) {
  if (request.wire_to_logic && !(*request.wire_to_logic > 0)) {
    return fail(ErrorCode::invalid_argument, "must be above 0", "--wire-to-logic");
  }
  for (const double share : request.shares_percent) {
    if (!(share >= 0 && share <= 100)) {
      return fail(ErrorCode::invalid_argument, "a share lies between 0 and 100", "--share");
    }
  }
  WW_TRY(check_within(request.voltage_v, model::kMinCoreVoltage, model::kMaxCoreVoltage, "V",
                      "--voltage"));
  return check_within(request.clock_hz, model::kMinCoreClock, model::kMaxCoreClock, "Hz",
                      "--clock");
}

Table nodes(const model::WireModel& model, const ProjectRequest& request) {
  Table table{"Energy at another node",
              {{"SCALING", false, "scaling"},
               {"WIRE/LOGIC", true, "wire_to_logic"},
               {"FJ/BIT/MM (95%)", true, "energy_interval_fj_per_bit_mm"},
               {"SHARE OF DYNAMIC POWER", true, "shares"},
               {"STATUS", false, "status"},
               {"", false, "energy_fj_per_bit_mm"},
               {"", false, "source"},
               {"", false, "reason"}},
              {}};
  const auto add = [&](std::string_view name, double wire_to_logic,
                       const std::optional<double>& factor, std::string_view source,
                       std::string_view status, Cell reason) {
    auto shares = json::array();
    std::string shown;
    const auto wanted = request.shares_percent.empty()
                            ? std::vector<double>(std::begin(kPaperShares), std::end(kPaperShares))
                            : request.shares_percent;
    for (const double share : wanted) {
      const double projected = 100 * model::projected_share(share / 100, wire_to_logic);
      shares.push_back({{"share_28nm_percent", share}, {"share_percent", projected}});
      shown +=
          fmt::format("{}{}% -> {:.3g}%", shown.empty() ? "" : ", ", text_of(share), projected);
    }
    const auto energy = factor ? std::optional(model.random.times(*factor)) : std::nullopt;
    table.rows.push_back(
        {name, Cell(fmt::format("{:.3g}", wire_to_logic), wire_to_logic), energy,
         Cell(shown, std::move(shares)), energy && !model.misfit.empty() ? "misfit" : status,
         Cell("", energy ? json(energy->value) : json()), source, std::move(reason)});
  };
  if (request.wire_to_logic) {
    add("given", *request.wire_to_logic, std::nullopt, "--wire-to-logic", "assumed", Cell());
  }
  for (const auto& scaling : model::node_scalings()) {
    const bool ratio_alone = scaling.logic == 1.0;
    const auto factor = ratio_alone ? std::nullopt : wire_factor(scaling, request);
    add(scaling.name, model::relative_to_28nm(scaling.wire_to_logic(), request.node_nm), factor,
        scaling.source,
        ratio_alone ? "by_construction"
        : factor    ? "published"
                    : "unavailable",
        ratio_alone || factor ? Cell() : Cell(kUnknownCardNode));
  }
  return table;
}

void add_voltage(Answer& answer, const model::WireModel& model, const ProjectRequest& request,
                 const char* mark) {
  const double volt = request.voltage_v.value_or(model.reference_voltage_v);
  const double clock = request.clock_hz.value_or(model.reference_clock_hz);
  const Interval energy = model.energy_factor(volt);
  const Interval power = model.power_factor(volt, clock);
  answer.json["dvfs"] = {
      {"voltage_v", volt},
      {"clock_hz", clock},
      {"energy_factor", energy.value},
      {"energy_factor_interval", interval_json(energy)},
      {"power_factor", power.value},
      {"power_factor_interval", interval_json(power)},
      {"energy_fj_per_bit_mm", model.random.value * energy.value},
      {"energy_interval_fj_per_bit_mm", interval_json(product(model.random, energy))},
      {"status", model.misfit.empty() ? "ok" : "misfit"},
      {"exponents", model.exponent_note}};
  answer.text.emplace_back(fmt::format("at {} V, {} Hz: energy x {}, power x {}{} ({})",
                                       text_of(volt), text_of(clock), interval_text(energy),
                                       interval_text(power), mark, model.exponent_note));
}

Result<model::LayoutTraffic> layout_traffic(const Traffic& traffic) {
  model::LayoutTraffic bits;
  for (const auto& kernel : traffic.kernels) {
    for (const model::WireSegment which :
         {model::WireSegment::l1_l2, model::WireSegment::l2_memory}) {
      const auto& segment = kernel.segments[static_cast<std::size_t>(which)];
      if (!segment.bytes) {
        return fail(ErrorCode::bad_data,
                    fmt::format("no bytes of {}: {}", model::to_string(which), segment.reason),
                    kernel.kernel);
      }
      (which == model::WireSegment::l1_l2 ? bits.l1_l2_bits : bits.l2_memory_bits) +=
          8 * *segment.bytes;
    }
  }
  return bits;
}

json plan_json(const model::BlockPlan& plan) {
  return {{"l1_l2_mm", plan.l1_l2_mm()},
          {"l2_memory_mm", plan.l2_memory_mm()},
          {"picture", plan.picture()}};
}

Status add_layouts(Answer& answer, const Traffic& traffic, const ProjectRequest& request) {
  WW_ASSIGN(bits, layout_traffic(traffic));
  const auto layouts = model::paper_layouts();
  const double base = model::layout_cost(layouts[0], bits);
  if (!(base > 0)) return fail(ErrorCode::bad_data, "nothing crossed L1-L2 or L2-memory");
  json result{{"l1_l2_bits", bits.l1_l2_bits}, {"l2_memory_bits", bits.l2_memory_bits}};
  answer.text.emplace_back(fmt::format("layouts for the traffic of the counters{}",
                                       traffic.is_virtual ? " (virtual)" : ""));
  for (const auto& layout : layouts) {
    const double relative = model::layout_cost(layout, bits) / base;
    result["paper_layouts"].push_back({{"name", layout.name},
                                       {"l1_l2_units", layout.l1_l2},
                                       {"l2_memory_units", layout.l2_memory},
                                       {"relative_energy", relative}});
    answer.text.emplace_back(
        fmt::format("{}: {} of the first layout's energy", layout.name, text_of(relative)));
  }
  if (request.optimise) {
    WW_ASSIGN(start, model::central_plan(kPlanComputeUnits, kPlanChannels, kPlanSideMm));
    WW_ASSIGN(best, model::optimise_plan(start, bits, request.seed));
    const auto energy = [&](const model::BlockPlan& plan) {
      return plan.l1_l2_mm() * bits.l1_l2_bits + plan.l2_memory_mm() * bits.l2_memory_bits;
    };
    const double relative = energy(best) / energy(start);
    result["optimised"] = {{"from", plan_json(start)},
                           {"to", plan_json(best)},
                           {"relative_energy", relative},
                           {"seed", request.seed}};
    std::string picture = best.picture();
    if (picture.ends_with('\n')) picture.pop_back();
    answer.text.emplace_back(fmt::format(
        "optimised tiles: L1-L2 {} -> {} mm, L2-memory {} -> {} mm, energy x {}\n{}",
        text_of(start.l1_l2_mm()), text_of(best.l1_l2_mm()), text_of(start.l2_memory_mm()),
        text_of(best.l2_memory_mm()), text_of(relative), picture));
  }
  answer.json["layout"] = std::move(result);
  answer.json["counters_virtual"] = traffic.is_virtual;
  if (traffic.is_virtual) answer.json["virtual"] = true;
  return {};
}

}  // namespace

Result<Answer> Wires::project(const ProjectRequest& request) const {
  if (!model_) return tl::unexpected(model_.error());
  WW_TRY(check(request));
  const model::WireModel& model = *model_;
  WW_TRY(model::require_millimetres(model, "project"));
  const char* const mark = model.misfit.empty() ? "" : " (misfit)";
  const Table at_nodes = nodes(model, request);
  Answer answer;
  answer.json = {{"device", model.device},
                 {"virtual", model.is_virtual},
                 {"calibration_virtual", model.is_virtual},
                 {"energy_fj_per_bit_mm", model.random.value},
                 {"energy_interval_fj_per_bit_mm", interval_json(model.random)},
                 {"status", model.misfit.empty() ? "ok" : "misfit"},
                 {"reason", model.misfit},
                 {"node_nm", request.node_nm},
                 {"card_node_nm", or_null(request.card_node_nm)},
                 {"node", table_json(at_nodes)}};
  if (!model.misfit.empty()) answer.text.emplace_back(misfit_line(model.misfit));
  answer.text.emplace_back(fmt::format("{}{}: {} fJ/bit/mm{} as fitted; projected to {} nm",
                                       model.device, model.is_virtual ? " (virtual)" : "",
                                       interval_text(model.random), mark,
                                       text_of(request.node_nm)));
  answer.text.emplace_back(at_nodes);
  if (!request.card_node_nm) answer.text.emplace_back(kUnknownCardNode);
  if (request.voltage_v || request.clock_hz) add_voltage(answer, model, request, mark);
  if (request.traffic) {
    WW_TRY(require_same_part(request.estimate.part, request.traffic->architecture,
                             request.traffic->file, "a bit",
                             "or give counters of the calibrated one"));
    WW_TRY(add_layouts(answer, *request.traffic, request));
  }
  return answer;
}

}  // namespace ww::calibration
