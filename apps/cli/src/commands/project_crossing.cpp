// wirewatt project with a calibration of crossings: what an application's crossings cost, what it
// saves to move some of them to the near side, and what they would cost at another node.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "card_node.hpp"
#include "commands/project.hpp"
#include "estimate/crossing_traffic.hpp"
#include "output.hpp"
#include "ww/model/technology.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

Status check_crossing_options(const ProjectArguments& arguments) {
  for (const CLI::Option* option : arguments.of_wires) {
    if (option->count() == 0) continue;
    return fail(
        ErrorCode::unsupported,
        fmt::format("does not go with {}: a calibration of crossings has energy per bit and "
                    "crossing, no millimetre and no voltage",
                    option->get_name()),
        arguments.model);
  }
  for (const double moved : arguments.moved_percent) {
    if (!(moved > 0 && moved <= 100)) {
      return fail(ErrorCode::out_of_range, "a share lies above 0 and up to 100", "--moved");
    }
  }
  if (arguments.counters.empty() && (arguments.toggle_rate || !arguments.architecture.empty())) {
    return fail(ErrorCode::invalid_argument, "needs --counters, whose data it is of",
                arguments.toggle_rate ? "--toggle-rate" : "--arch");
  }
  if (arguments.crossing_mm && !(*arguments.crossing_mm > 0)) {
    return fail(ErrorCode::out_of_range, "must be above 0", "--crossing-mm");
  }
  if (arguments.crossing_mm.has_value() == arguments.crossing_mm_source.empty()) {
    return fail(ErrorCode::invalid_argument,
                "a distance needs its source, and a source its distance: give both --crossing-mm "
                "and --crossing-mm-source",
                "--crossing-mm");
  }
  return {};
}

json crossing_nodes(const model::CrossingModel& model, std::optional<double> from_nm,
                    double to_nm) {
  auto rows = json::array();
  for (const auto& scaling : model::node_scalings()) {
    if (scaling.logic == 1.0) continue;  // its ratio of wire to logic alone is known
    json row{{"scaling", scaling.name}, {"source", scaling.source}, {"status", "published"}};
    row["energy_pj_per_bit_crossing"] = nullptr;
    if (from_nm) {
      const double factor =
          relative_to_28nm(scaling.wire, to_nm) / relative_to_28nm(scaling.wire, *from_nm);
      row["energy_pj_per_bit_crossing"] = interval_json(model.random_pj.times(factor));
    } else {
      row["status"] = "unavailable";
      row["reason"] = kUnknownCardNode;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What it saves when this share of the crossings goes to the near side instead.
json moved_rows(const ProjectArguments& arguments, const model::Interval& pj_per_bit,
                const model::CrossingUse* all) {
  std::vector<double> shares = arguments.moved_percent;
  if (shares.empty()) shares = {10, 25, 50};
  auto rows = json::array();
  for (const double percent : shares) {
    const double share = percent / 100;
    json row{{"moved_percent", percent},
             {"saved_pj_per_bit_that_crosses", interval_json(pj_per_bit.times(share))}};
    if (all != nullptr) {
      const auto part = [&](const std::optional<model::Interval>& figure) {
        return figure ? interval_json(figure->times(share)) : json();
      };
      row["saved_j"] = part(all->energy_j);
      row["saved_w"] = part(all->power_w);
      row["status"] = to_string(all->status);
      row["reason"] = all->reason;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<json> projected_crossings(const ProjectArguments& arguments) {
  WW_ASSIGN(to_nm, node_of(arguments.node, "--node"));
  WW_TRY(check_crossing_options(arguments));
  WW_ASSIGN(model, model::load_crossing_model(arguments.model));
  WW_ASSIGN(from_nm, node_of_card(arguments.card_node, model.device, model.target));
  json result{{"kind", "crossing"},
              {"device", model.device},
              {"virtual", model.is_virtual},
              {"label", model.is_virtual ? "virtual" : "measured"},
              {"source", model.source},
              {"convention", "per_random_bit"},
              {"energy_pj_per_bit_crossing", interval_json(model.random_pj)},
              {"card_node_nm", from_nm ? json(*from_nm) : json()},
              {"node_nm", to_nm},
              {"node", crossing_nodes(model, from_nm, to_nm)}};
  result["energy_fj_per_bit_mm"] = nullptr;
  if (arguments.crossing_mm) {
    result["energy_fj_per_bit_mm"] =
        interval_json(model.random_pj.times(1e3 / *arguments.crossing_mm));
    result["distance"] = {{"value_mm", *arguments.crossing_mm},
                          {"source", arguments.crossing_mm_source},
                          {"status", "assumed"}};
  }
  model::Interval pj_per_bit = model.random_pj;
  const model::CrossingUse* all = nullptr;
  std::optional<CrossingTraffic> application;
  if (!arguments.counters.empty()) {
    WW_ASSIGN(counted, crossing_traffic(model, arguments.counters, arguments.architecture,
                                        arguments.toggle_rate, arguments.anyway));
    application.emplace(std::move(counted));
    all = &application->uses.back();
    pj_per_bit = application->pj_per_bit;
    result["application"] = model::to_json(*all);
  }
  result["moved"] = moved_rows(arguments, pj_per_bit, all);
  return result;
}

std::string shown(const json& figure) {
  if (!figure.is_object()) return "-";
  return fmt::format("{:.4g} ({:.4g}..{:.4g})", figure["value"].get<double>(),
                     figure["low"].get<double>(), figure["high"].get<double>());
}

void print_crossing_projection(const json& result) {
  fmt::print("{}: {} pJ per random bit and crossing, {}\n", result["device"].get<std::string>(),
             shown(result["energy_pj_per_bit_crossing"]), result["label"].get<std::string>());
  if (result.contains("distance")) {
    fmt::print("over {:.4g} mm ({}): {} fJ/bit/mm\n", result["distance"]["value_mm"].get<double>(),
               result["distance"]["source"].get<std::string>(),
               shown(result["energy_fj_per_bit_mm"]));
  }
  std::vector<std::vector<std::string>> rows{
      {"SCALING", fmt::format("PJ/BIT/CROSSING AT {:.4g} NM", result["node_nm"].get<double>()),
       "STATUS"}};
  std::string why;
  for (const auto& row : result["node"]) {
    rows.push_back({row["scaling"], shown(row["energy_pj_per_bit_crossing"]), row["status"]});
    why = row.value("reason", "");
  }
  print_table(rows);
  if (!why.empty()) fmt::print("{}\n", why);
  rows = {{"CROSSINGS MOVED", "PJ PER BIT THAT CROSSES", "mJ SAVED", "W SAVED"}};
  for (const auto& row : result["moved"]) {
    const auto scaled = [&row](const char* key, double scale) {
      json figure = row.value(key, json());
      if (figure.is_object()) {
        for (auto& part : figure) part = part.get<double>() * scale;
      }
      return shown(figure);
    };
    rows.push_back({fmt::format("{:.4g}%", row["moved_percent"].get<double>()),
                    shown(row["saved_pj_per_bit_that_crosses"]), scaled("saved_j", 1e3),
                    scaled("saved_w", 1)});
  }
  print_table(rows);
  if (result.contains("application") &&
      !result["application"]["reason"].get<std::string>().empty()) {
    fmt::print("{}\n", result["application"]["reason"].get<std::string>());
  }
}

}  // namespace

int project_crossing(const ProjectArguments& arguments) {
  const auto result = projected_crossings(arguments);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
  } else {
    print_crossing_projection(*result);
  }
  return 0;
}

}  // namespace ww::cli
