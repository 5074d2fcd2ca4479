// Projects an application's crossings: their energy, the savings when some of them move to the near
// side, and their energy at another node.
#include <fmt/format.h>

#include "crossings/crossings.hpp"
#include "node_scaling.hpp"
#include "requests.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

Status check(const ProjectRequest& request) {
  WW_TRY(check_moved(request));
  if (request.crossing_mm && !(*request.crossing_mm > 0)) {
    return fail(ErrorCode::out_of_range, "must be above 0", "--crossing-mm");
  }
  if (request.crossing_mm.has_value() == request.crossing_mm_source.empty()) {
    return fail(ErrorCode::invalid_argument,
                "a distance needs its source, and a source its distance: give both --crossing-mm "
                "and --crossing-mm-source",
                "--crossing-mm");
  }
  return {};
}

Table nodes(const Interval& random_pj, const ProjectRequest& request) {
  Table table{"Energy at another node",
              {{"SCALING", false, "scaling"},
               {fmt::format("PJ/BIT/CROSSING AT {:.4g} NM", request.node_nm), true,
                "energy_pj_per_bit_crossing"},
               {"STATUS", false, "status"},
               {"", false, "source"},
               {"", false, "reason"}},
              {}};
  for (const auto& scaling : model::node_scalings()) {
    if (scaling.logic == 1.0) continue;  // its ratio of wire to logic alone is known
    const auto factor = wire_factor(scaling, request);
    table.rows.push_back({scaling.name,
                          factor ? Cell(random_pj.times(*factor)) : Cell(std::optional<Interval>()),
                          factor ? "published" : "unavailable", scaling.source,
                          factor ? Cell() : Cell(kUnknownCardNode)});
  }
  return table;
}

// Savings when a share of the crossings goes to the near side instead. `all`: of the application;
// null without one.
Table moved(const ProjectRequest& request, const Interval& pj_per_bit, const CrossingUse* all) {
  Table table{"What fewer crossings save",
              {{"CROSSINGS MOVED", true, "moved_percent"},
               {"PJ PER BIT THAT CROSSES", true, "saved_pj_per_bit_that_crosses"},
               {"mJ SAVED", true, "saved_j"},
               {"W SAVED", true, "saved_w"},
               {"", false, "status"},
               {"", false, "reason"}},
              {}};
  for (const double percent : moved_percent(request)) {
    const double share = percent / 100;
    std::vector<Cell> row{{fmt::format("{:.4g}%", percent), percent}, pj_per_bit.times(share)};
    if (all != nullptr) {
      const auto part = [&](const std::optional<Interval>& figure, double shown) {
        const auto own = figure ? std::optional(figure->times(share)) : std::nullopt;
        return Cell(interval_text(own ? std::optional(own->times(shown)) : std::nullopt),
                    interval_json(own));
      };
      row.insert(row.end(), {part(all->energy_j, 1e3), part(all->power_w, 1),
                             to_string(all->status), all->reason});
    } else {
      row.insert(row.end(), {Cell::shown("-"), Cell::shown("-")});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Result<Answer> Crossings::project(const ProjectRequest& request) const {
  if (!model_) return tl::unexpected(model_.error());
  WW_TRY(check(request));
  const Interval& random_pj = model_->random_pj;
  const char* const label = provenance_.is_virtual ? "virtual" : "measured";
  const Table at_nodes = nodes(random_pj, request);
  Answer answer;
  answer.json = {{"kind", "crossing"},
                 {"device", provenance_.device},
                 {"virtual", provenance_.is_virtual},
                 {"label", label},
                 {"source", provenance_.source},
                 {"convention", "per_random_bit"},
                 {"energy_pj_per_bit_crossing", interval_json(random_pj)},
                 {"card_node_nm", or_null(request.card_node_nm)},
                 {"node_nm", request.node_nm},
                 {"node", table_json(at_nodes)},
                 {"energy_fj_per_bit_mm", nullptr}};
  answer.text.emplace_back(fmt::format("{}: {} pJ per random bit and crossing, {}",
                                       provenance_.device, interval_text(random_pj), label));
  if (request.crossing_mm) {
    const Interval fj_per_mm = random_pj.times(1e3 / *request.crossing_mm);
    answer.json["energy_fj_per_bit_mm"] = interval_json(fj_per_mm);
    answer.json["distance"] = {{"value_mm", *request.crossing_mm},
                               {"source", request.crossing_mm_source},
                               {"status", "assumed"}};
    answer.text.emplace_back(fmt::format("over {:.4g} mm ({}): {} fJ/bit/mm", *request.crossing_mm,
                                         request.crossing_mm_source, interval_text(fj_per_mm)));
  }
  answer.text.emplace_back(at_nodes);
  if (!request.card_node_nm) answer.text.emplace_back(kUnknownCardNode);
  std::optional<Application> of_it;
  if (request.traffic) {
    WW_ASSIGN(done, application(*request.traffic, request.estimate));
    of_it.emplace(std::move(done));
    answer.json["application"] = to_json(of_it->uses.back());
  }
  const CrossingUse* const all = of_it ? &of_it->uses.back() : nullptr;
  const Table saved = moved(request, of_it ? of_it->pj_per_bit : random_pj, all);
  answer.json["moved"] = table_json(saved);
  answer.text.emplace_back(saved);
  if (all != nullptr && !all->reason.empty()) answer.text.emplace_back(all->reason);
  return answer;
}

}  // namespace ww::calibration
