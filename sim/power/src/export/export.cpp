#include "ww/sim/power/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "export/targets.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/sim/power/wire_energy.hpp"

namespace ww::sim::power {
namespace {

struct TargetName {
  ExportTarget target;
  std::string_view text;
};
constexpr std::array kTargetNames{TargetName{ExportTarget::accelwattch, "accelwattch"},
                                  TargetName{ExportTarget::gem5, "gem5"},
                                  TargetName{ExportTarget::mcpat, "mcpat"},
                                  TargetName{ExportTarget::noxim, "noxim"},
                                  TargetName{ExportTarget::booksim, "booksim"},
                                  TargetName{ExportTarget::rapidchiplet, "rapidchiplet"}};

constexpr double kRandomToggleRate = 0.5;

// Engines to parts of the L2, on the floorplan of the calibration.
std::optional<double> mean_reach_mm(const nlohmann::json& model) {
  const auto distances = model.find("distances");
  if (distances == model.end() || !distances->is_object()) {
    return std::nullopt;
  }
  std::vector<std::vector<double>> rows;
  const JsonReader reader(*distances, "distances");
  reader.read("engine_to_quadrant_mm", rows);
  if (!reader.status()) {
    return std::nullopt;
  }
  double sum = 0;
  std::size_t count = 0;
  for (const auto& row : rows) {
    for (const double mm : row) {
      sum += mm;
      ++count;
    }
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

Status above_zero(double value, std::string_view key) {
  if (!(value > 0)) {
    return fail(ErrorCode::out_of_range, fmt::format("{} = {} must be above 0", key, value),
                std::string(key));
  }
  return {};
}

std::string interval_text(const ExportedConstant& constant) {
  if (!constant.low || !constant.high) {
    return "no interval published";
  }
  return fmt::format("{:.6g}..{:.6g}", *constant.low, *constant.high);
}

}  // namespace

std::string_view to_string(ExportTarget target) {
  return std::ranges::find(kTargetNames, target, &TargetName::target)->text;
}

Result<ExportTarget> export_target_from_string(std::string_view text) {
  const auto* found = std::ranges::find(kTargetNames, text, &TargetName::text);
  if (found == kTargetNames.end()) {
    std::vector<std::string_view> names;
    names.reserve(kTargetNames.size());
    for (const TargetName& name : kTargetNames) {
      names.push_back(name.text);
    }
    return fail(ErrorCode::invalid_argument,
                fmt::format("no export to '{}'; it can be one of {}", text, fmt::join(names, ", ")),
                "to");
  }
  return found->target;
}

Result<LinkConstant> link_constant(const nlohmann::json& model, std::optional<double> card_node_nm,
                                   std::optional<double> node_nm) {
  WW_ASSIGN(wire, wire_from_model(model, card_node_nm, node_nm));
  const nlohmann::json& constant = model["energy_fj_per_bit_mm"];
  LinkConstant link;
  link.value = wire.per_toggle.to<double>() * kRandomToggleRate;
  // The interval goes with its figure: both are scaled to the node and to random bits.
  const double scale = link.value / constant["value"].get<double>();
  const auto end = [&](const char* key) {
    const auto found = constant.find(key);
    return found != constant.end() && found->is_number() ? found->get<double>() * scale
                                                         : link.value;
  };
  link.low = end("low");
  link.high = end("high");
  link.convention = "per_random_bit";
  link.source = wire.source;
  const auto is_virtual = model.find("virtual");
  link.is_virtual =
      is_virtual != model.end() && is_virtual->is_boolean() && is_virtual->get<bool>();
  link.node_nm = node_nm.value_or(card_node_nm.value_or(0));
  link.reach_mm = mean_reach_mm(model);
  return link;
}

LinkConstant link_constant(const CrossingEnergy& crossing) {
  constexpr double kFemtojoules = 1e3;  // of a picojoule
  LinkConstant link;
  link.value = crossing.random_pj.value * kFemtojoules;
  link.low = crossing.random_pj.low * kFemtojoules;
  link.high = crossing.random_pj.high * kFemtojoules;
  link.per_mm = false;
  link.convention = "per_random_bit";
  link.source = crossing.source;
  link.is_virtual = crossing.is_virtual;
  return link;
}

void to_json(nlohmann::json& json, const ExportedConstant& constant) {
  const auto end = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  json = {{"name", constant.name},    {"value", constant.value},
          {"low", end(constant.low)}, {"high", end(constant.high)},
          {"unit", constant.unit},    {"convention", constant.convention},
          {"label", constant.label},  {"source", constant.source}};
}

std::vector<ExportedConstant> link_constants(const ExportInput& input) {
  const LinkConstant& link = input.config.link;
  const std::string label = link.is_virtual ? "virtual" : "measured";
  std::vector<ExportedConstant> constants;
  constants.push_back({link.per_mm ? "energy of a wire" : "energy of a crossing", link.value,
                       link.low, link.high, link.per_mm ? "fJ/bit/mm" : "fJ/bit", link.convention,
                       label, link.source});
  if (link.per_mm) {
    const LinkConstant& whole = input.per_link;
    constants.push_back(
        {fmt::format("energy of a link of {:g} mm", input.config.link_length.to<double>()),
         whole.value, whole.low, whole.high, "fJ/bit", link.convention, label,
         "the wire's energy times its length"});
  }
  return constants;
}

ExportedConstant router_constant(const ExportInput& input, std::string name, double value,
                                 std::string unit) {
  return {std::move(name), value,         std::nullopt, std::nullopt,
          std::move(unit), "random data", "literature", input.router.source};
}

std::vector<std::string> comment_lines(const ExportInput& input, std::string_view reader,
                                       const std::vector<ExportedConstant>& constants) {
  std::vector<std::string> lines{fmt::format("Written by wirewatt export for {}.", reader)};
  if (!input.config.misfit.empty()) {
    lines.push_back("MISFIT, rely on no figure of the calibration: " + input.config.misfit);
  }
  if (input.config.link.is_virtual) {
    lines.emplace_back("The calibration is of a virtual GPU: nothing in it was measured.");
  }
  for (const ExportedConstant& constant : constants) {
    lines.push_back(fmt::format("{}: {:.6g} {} ({}), {}, {}; {}", constant.name, constant.value,
                                constant.unit, interval_text(constant), constant.convention,
                                constant.label, constant.source));
  }
  for (std::string& line : lines) {
    std::ranges::replace(line, '\n', ' ');
  }
  return lines;
}

std::string commented(const std::vector<std::string>& lines, std::string_view prefix) {
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("{}{}\n", prefix, line);
  }
  return text;
}

Result<ExportedFile> export_file(const ExportConfig& config) {
  WW_TRY(above_zero(config.link_length.to<double>(), "link_length"));
  WW_TRY(above_zero(config.clock.to<double>(), "clock"));
  WW_TRY(above_zero(config.load, "load"));
  WW_TRY(above_zero(config.link.value, "energy of a link"));
  const bool has_routers =
      config.target != ExportTarget::booksim && config.target != ExportTarget::rapidchiplet;
  RouterEnergy router;
  if (has_routers) {
    WW_ASSIGN(estimated, router_energy(config.estimator, config.node_nm, config.router));
    router = std::move(estimated);
  }
  LinkConstant per_link = config.link;
  if (config.link.per_mm) {
    const double mm = config.link_length.to<double>();
    for (double* value : {&per_link.value, &per_link.low, &per_link.high}) {
      *value *= mm;
    }
    per_link.per_mm = false;
  }
  const ExportInput input{config, std::move(per_link), std::move(router)};
  switch (config.target) {
    case ExportTarget::accelwattch: return export_accelwattch(input);
    case ExportTarget::gem5: return export_gem5(input);
    case ExportTarget::mcpat: return export_mcpat(input);
    case ExportTarget::noxim: return export_noxim(input);
    case ExportTarget::booksim: return export_booksim(input);
    case ExportTarget::rapidchiplet: return export_rapidchiplet(input);
  }
  return fail(ErrorCode::invalid_argument, "no such target of an export", "to");
}

}  // namespace ww::sim::power
