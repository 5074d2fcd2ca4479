// wirewatt project with a calibration of a package's dies: what an application's ways between dies
// cost, and what it saves to keep pages on the reader's own I/O die or lines in the Infinity Cache.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "card_node.hpp"
#include "commands/project.hpp"
#include "estimate/estimate_command.hpp"
#include "output.hpp"
#include "ww/model/chiplet_use.hpp"

namespace ww::cli {
namespace {

using model::HopClass;
using nlohmann::json;

// Between I/O dies: what a page on the reader's own I/O die does not take.
constexpr std::array kLinks{HopClass::row_hop, HopClass::column_hop, HopClass::across};
// Behind the Infinity Cache: what a hit does not take.
constexpr std::array kBehindCache{HopClass::memory_phy, HopClass::memory};
// Between two parts, of which each has memory of its own.
constexpr std::array kOfParts{HopClass::xgmi};

std::size_t index_of(HopClass which) {
  return static_cast<std::size_t>(which);
}

// Whether the calibration is of two parts.
bool is_pair(const model::ChipletModel& model) {
  return model.classes[index_of(HopClass::xgmi)].pj &&
         !model.classes[index_of(HopClass::row_hop)].pj;
}
std::span<const HopClass> links_of(const model::ChipletModel& model) {
  return is_pair(model) ? std::span<const HopClass>(kOfParts) : kLinks;
}

Status check_chiplet_options(const ProjectArguments& arguments) {
  const auto refuse = [&](const CLI::Option* option) {
    return fail(ErrorCode::unsupported,
                fmt::format("does not go with {}: a calibration of a package's dies has energy per "
                            "bit and way between dies, no millimetre and no voltage",
                            option->get_name()),
                arguments.model);
  };
  for (const CLI::Option* option : arguments.of_wires) {
    if (option->count() > 0) return refuse(option);
  }
  for (const CLI::Option* option : arguments.of_distances) {
    if (option->count() > 0) return refuse(option);
  }
  for (const double moved : arguments.moved_percent) {
    if (!(moved > 0 && moved <= 100)) {
      return fail(ErrorCode::out_of_range, "a share lies above 0 and up to 100", "--moved");
    }
  }
  if (arguments.toggle_rate && !(*arguments.toggle_rate >= 0 && *arguments.toggle_rate <= 1)) {
    return fail(ErrorCode::out_of_range, "a toggle rate lies between 0 and 1", "--toggle-rate");
  }
  return {};
}

json ways_json(const model::ChipletModel& model) {
  auto rows = json::array();
  for (std::size_t i = 0; i < model.classes.size(); ++i) {
    const auto& energy = model.classes[i];
    rows.push_back({{"class", model::kHopClasses[i]},
                    {"energy_pj_per_bit", interval_json(energy.pj)},
                    {"status", energy.pj ? "ok" : "not_identified"},
                    {"reason", energy.why_not}});
  }
  return rows;
}

// What this calibration says nothing about, and why.
json refusals(double node_nm) {
  const char* one_die =
      "joins the compute units and the memory channels of one die, and the calibration has no "
      "energy of a compute die's wires";
  return {{{"what", fmt::format("{:.4g} nm", node_nm)},
           {"status", "unsupported"},
           {"reason",
            "bonds, links between dies and memory stacks are no wires of a die's metal: no "
            "published table scales them with the node"}},
          {{"what", "Dapper"}, {"status", "unsupported"}, {"reason", one_die}},
          {{"what", "GPUOPT"}, {"status", "unsupported"}, {"reason", one_die}}};
}

// What it saves when a share of the traffic on these ways takes none of them.
json saved_row(double percent, std::span<const HopClass> ways, const model::ChipletUse& all) {
  const double share = percent / 100;
  json row{{"moved_percent", percent}, {"status", "ok"}, {"reason", ""}};
  std::optional<model::Interval> joules = model::Interval{};
  double upper = 0;
  for (const HopClass way : ways) {
    const model::HopClassUse& use = all.classes[index_of(way)];
    if (use.status != RowStatus::ok) {
      row["status"] = to_string(use.status);
      row["reason"] = use.reason;
    }
    joules =
        joules && use.energy_j ? std::optional(together(*joules, *use.energy_j)) : std::nullopt;
    upper += use.energy_j ? use.energy_j->high : use.upper_j.value_or(0);
  }
  const bool bounded = std::ranges::all_of(ways, [&all](HopClass way) {
    const model::HopClassUse& use = all.classes[index_of(way)];
    return use.energy_j || use.upper_j;
  });
  row["saved_j"] = joules ? interval_json(joules->times(share)) : json();
  row["saved_w"] = joules && all.time_s && *all.time_s > 0
                       ? interval_json(joules->times(share / *all.time_s))
                       : json();
  row["upper_j"] = !joules && bounded ? json(share * upper) : json();
  return row;
}

// The same for each bit behind the L2s, without an application: pages are spread evenly.
json saved_of_a_bit(double percent, const model::ChipletModel& model) {
  json row{
      {"moved_percent", percent},
      {"status", "assumed"},
      {"reason", is_pair(model)
                     ? "pages and readers spread evenly: half of the traffic to the other part"
                     : "pages and readers spread evenly: a quarter of the traffic on each way"}};
  const double share = is_pair(model) ? 0.5 : 0.25;
  model::Interval pj{};
  for (const HopClass way : links_of(model)) {
    const auto& energy = model.classes[index_of(way)];
    if (!energy.pj) {
      row["status"] = "not_identified";
      row["reason"] = energy.why_not;
      row["saved_pj_per_bit"] = nullptr;
      return row;
    }
    pj = together(pj, *energy.pj);
  }
  row["saved_pj_per_bit"] = interval_json(pj.times(share * percent / 100));
  return row;
}

Result<json> projected_chiplet(const ProjectArguments& arguments) {
  WW_ASSIGN(node_nm, node_of(arguments.node, "--node"));
  WW_TRY(check_chiplet_options(arguments));
  WW_ASSIGN(model, model::load_chiplet_model(arguments.model));
  json result{{"kind", "chiplet"},           {"device", model.device},
              {"virtual", model.is_virtual}, {"label", model.is_virtual ? "virtual" : "measured"},
              {"source", model.source},      {"convention", "per_random_bit"},
              {"ways", ways_json(model)},    {"not_projected", refusals(node_nm)}};
  std::optional<ChipletEstimated> application;
  if (!arguments.counters.empty()) {
    EstimateArguments of_counters;
    of_counters.model = arguments.model;
    of_counters.counters = arguments.counters;
    of_counters.architecture = arguments.architecture;
    of_counters.toggle_rate = arguments.toggle_rate;
    WW_ASSIGN(done, run_chiplet_estimate(of_counters));
    application.emplace(std::move(done));
    result["application"] = model::to_json(application->uses.back());
  }
  std::vector<double> shares = arguments.moved_percent;
  if (shares.empty()) shares = {10, 25, 50};
  for (const double percent : shares) {
    if (!application) {
      result["near_pages"].push_back(saved_of_a_bit(percent, model));
      continue;
    }
    const model::ChipletUse& all = application->uses.back();
    result["near_pages"].push_back(saved_row(percent, links_of(model), all));
    if (!is_pair(model)) {
      result["cache_hits"].push_back(saved_row(percent, kBehindCache, all));
    }
  }
  return result;
}

std::optional<model::Interval> interval_of(const json& figure) {
  if (!figure.is_object()) return std::nullopt;
  return model::Interval{figure["value"].get<double>(), figure["low"].get<double>(),
                         figure["high"].get<double>()};
}

std::string pj_text(const json& figure) {
  const auto interval = interval_of(figure);
  if (!interval) return "-";
  return fmt::format("{:.4g} ({:.4g}..{:.4g})", interval->value, interval->low, interval->high);
}

void print_saved(const char* what, const json& rows) {
  std::vector<std::vector<std::string>> table{{what, "SAVES", "POWER", "STATUS"}};
  for (const auto& row : rows) {
    const json upper = row.value("upper_j", json());
    table.push_back(
        {fmt::format("{:.4g}%", row["moved_percent"].get<double>()),
         row.contains("saved_pj_per_bit")
             ? pj_text(row["saved_pj_per_bit"]) + " pJ/bit"
             : interval_text(interval_of(row["saved_j"]),
                             upper.is_number() ? std::optional(upper.get<double>()) : std::nullopt,
                             "J"),
         interval_text(interval_of(row.value("saved_w", json())), std::nullopt, "W"),
         row["status"]});
  }
  print_table(table);
  const auto reason = rows.back()["reason"].get<std::string>();
  if (!reason.empty()) fmt::print("{}\n", reason);
}

void print_chiplet_projection(const json& result) {
  fmt::print("{}: energy of random bits by way between dies, {}\n",
             result["device"].get<std::string>(), result["label"].get<std::string>());
  std::vector<std::vector<std::string>> rows{{"HOP CLASS", "PJ/BIT (95%)", "STATUS"}};
  if (result.contains("application")) rows.front().insert(rows.front().begin() + 2, "APPLICATION");
  for (std::size_t i = 0; i < result["ways"].size(); ++i) {
    const json& way = result["ways"][i];
    rows.push_back({way["class"], pj_text(way["energy_pj_per_bit"])});
    if (result.contains("application")) {
      const json& use = result["application"]["hop_classes"][i];
      rows.back().push_back(interval_text(
          interval_of(use["energy_j"]),
          use["upper_j"].is_number() ? std::optional(use["upper_j"].get<double>()) : std::nullopt,
          "J"));
      rows.back().push_back(use["status"]);
    } else {
      rows.back().push_back(way["status"]);
    }
  }
  print_table(rows);
  print_saved("PAGES MOVED TO THE READER'S OWN", result["near_pages"]);
  if (result.contains("cache_hits")) {
    print_saved("MEMORY'S LINES FROM THE CACHE", result["cache_hits"]);
  }
  for (const auto& row : result["not_projected"]) {
    fmt::print("{}: {}: {}\n", row["what"].get<std::string>(), row["status"].get<std::string>(),
               row["reason"].get<std::string>());
  }
}

}  // namespace

int project_chiplet(const ProjectArguments& arguments) {
  const auto result = projected_chiplet(arguments);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_json(*result);
  } else {
    print_chiplet_projection(*result);
  }
  return 0;
}

}  // namespace ww::cli
