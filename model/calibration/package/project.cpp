// Projects the energy of an application's ways between dies, and the savings when pages stay on the
// reader's own I/O die or lines in the Infinity Cache.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "package/package.hpp"
#include "requests.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

// Between I/O dies: what a page on the reader's own I/O die does not take.
constexpr std::array kLinks{HopClass::row_hop, HopClass::column_hop, HopClass::across};
// Classes behind the Infinity Cache: what a hit does not take.
constexpr std::array kBehindCache{HopClass::memory_phy, HopClass::memory};
// Between two parts, of which each has memory of its own.
constexpr std::array kOfParts{HopClass::xgmi};

std::span<const HopClass> links_of(const ChipletModel& model) {
  return model.is_pair() ? std::span<const HopClass>(kOfParts) : kLinks;
}

Table saved_table(const char* heading, const char* title) {
  return {heading,
          {{title, true, "moved_percent"},
           {"SAVES", true},
           {"POWER", true, "saved_w"},
           {"STATUS", false, "status"},
           {"", false, "reason"},
           {"", false, "saved_j"},
           {"", false, "upper_j"},
           {"", false, "saved_pj_per_bit"}},
          {}};
}

Cell percent_cell(double percent) {
  return {fmt::format("{:.4g}%", percent), percent};
}

// Savings when a share of the traffic on these ways takes none of them.
std::vector<Cell> saved_row(double percent, std::span<const HopClass> ways, const ChipletUse& all) {
  const double share = percent / 100;
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::optional<Interval> joules = Interval{};
  double upper = 0;
  bool bounded = true;
  for (const HopClass way : ways) {
    const HopClassUse& use = all.classes[static_cast<std::size_t>(way)];
    if (use.status != RowStatus::ok) {
      status = use.status;
      reason = use.reason;
    }
    joules =
        joules && use.energy_j ? std::optional(together(*joules, *use.energy_j)) : std::nullopt;
    upper += use.energy_j ? use.energy_j->high : use.upper_j.value_or(0);
    bounded = bounded && (use.energy_j || use.upper_j);
  }
  const auto saved_j = joules ? std::optional(joules->times(share)) : std::nullopt;
  const auto saved_w = joules && all.time_s && *all.time_s > 0
                           ? std::optional(joules->times(share / *all.time_s))
                           : std::nullopt;
  const auto upper_j = !joules && bounded ? std::optional(share * upper) : std::nullopt;
  return {percent_cell(percent),
          interval_text(saved_j, upper_j, "J"),
          Cell(interval_text(saved_w, std::nullopt, "W"), interval_json(saved_w)),
          to_string(status),
          reason,
          Cell("", interval_json(saved_j)),
          Cell("", or_null(upper_j)),
          Cell()};
}

// Savings for each bit behind the L2s, without an application: pages are spread evenly.
std::vector<Cell> saved_of_a_bit(double percent, const ChipletModel& model) {
  const double share = model.is_pair() ? 0.5 : 0.25;
  std::string status = "assumed";
  std::string reason =
      model.is_pair() ? "pages and readers spread evenly: half of the traffic to the other part"
                      : "pages and readers spread evenly: a quarter of the traffic on each way";
  std::optional<Interval> pj = Interval{};
  for (const HopClass way : links_of(model)) {
    const auto& energy = model.of(way);
    if (!energy.pj) {
      status = to_string(RowStatus::not_identified);
      reason = energy.why_not;
      pj.reset();
      break;
    }
    pj = together(*pj, *energy.pj);
  }
  const auto saved = pj ? std::optional(pj->times(share * percent / 100)) : std::nullopt;
  return {percent_cell(percent),
          interval_text(saved) + " pJ/bit",
          Cell::shown("-"),
          status,
          reason,
          Cell(),
          Cell(),
          Cell("", interval_json(saved))};
}

// Lists the quantities that this calibration cannot give, and why.
Table refusals(double node_nm) {
  const char* one_die =
      "joins the compute units and the memory channels of one die, and the calibration has no "
      "energy of a compute die's wires";
  Table table{"Not projected",
              {{"WHAT", false, "what"}, {"STATUS", false, "status"}, {"REASON", false, "reason"}},
              {{fmt::format("{:.4g} nm", node_nm), "unsupported",
                "bonds, links between dies and memory stacks are no wires of a die's metal: no "
                "published table scales them with the node"},
               {"Dapper", "unsupported", one_die},
               {"GPUOPT", "unsupported", one_die}}};
  return table;
}

void put(Answer& answer, const char* key, Table table) {
  answer.json[key] = table_json(table);
  const std::string reason = table.rows.back()[4].text;
  answer.text.emplace_back(std::move(table));
  if (!reason.empty()) answer.text.emplace_back(reason);
}

}  // namespace

Result<Answer> Package::project(const ProjectRequest& request) const {
  WW_TRY(check_moved(request));
  WW_TRY(check_toggle_rate(request.estimate));
  std::optional<ChipletUse> all;
  if (request.traffic) {
    WW_ASSIGN(used, uses(*request.traffic, request.estimate));
    all = std::move(used.back());
  }
  const char* const label = provenance_.is_virtual ? "virtual" : "measured";
  Table ways{"Energy of random bits by way between dies",
             {{"HOP CLASS", false, "class"},
              {"PJ/BIT (95%)", true, "energy_pj_per_bit"},
              {all ? "APPLICATION" : "", true},
              {"STATUS", false},
              {"", false, "status"},
              {"", false, "reason"}},
             {}};
  for (std::size_t i = 0; i < model_.classes.size(); ++i) {
    const auto& energy = model_.classes[i];
    const RowStatus status = energy.pj ? RowStatus::ok : RowStatus::not_identified;
    const HopClassUse* use = all ? &all->classes[i] : nullptr;
    ways.rows.push_back({kHopClasses[i], energy.pj,
                         use != nullptr ? interval_text(use->energy_j, use->upper_j, "J") : "",
                         to_string(use != nullptr ? use->status : status), to_string(status),
                         energy.why_not});
  }
  const Table refused = refusals(request.node_nm);
  Answer answer;
  answer.json = {{"kind", "chiplet"},
                 {"device", provenance_.device},
                 {"virtual", provenance_.is_virtual},
                 {"label", label},
                 {"source", provenance_.source},
                 {"convention", "per_random_bit"},
                 {"ways", table_json(ways)},
                 {"not_projected", table_json(refused)}};
  answer.text.emplace_back(
      fmt::format("{}: energy of random bits by way between dies, {}", provenance_.device, label));
  answer.text.emplace_back(std::move(ways));
  if (all) answer.json["application"] = to_json(*all);
  Table pages = saved_table("What pages near their reader save", "PAGES MOVED TO THE READER'S OWN");
  Table hits = saved_table("What hits of the cache save", "MEMORY'S LINES FROM THE CACHE");
  for (const double percent : moved_percent(request)) {
    if (!all) {
      pages.rows.push_back(saved_of_a_bit(percent, model_));
      continue;
    }
    pages.rows.push_back(saved_row(percent, links_of(model_), *all));
    if (!model_.is_pair()) hits.rows.push_back(saved_row(percent, kBehindCache, *all));
  }
  put(answer, "near_pages", std::move(pages));
  if (!hits.rows.empty()) put(answer, "cache_hits", std::move(hits));
  for (const auto& row : refused.rows) {
    answer.text.emplace_back(fmt::format("{}: {}: {}", row[0].text, row[1].text, row[2].text));
  }
  return answer;
}

}  // namespace ww::calibration
