// An application's joules by way between dies beside the sealed truth of the same run: with the
// bytes that monitors counted and, as on a real card, without.
#include <fmt/format.h>

#include "package/package.hpp"
#include "score.hpp"

namespace ww::calibration {

using nlohmann::json;

Result<Answer> Package::score_application(const Traffic& traffic, const EstimateRequest& request,
                                          const std::map<std::string, double>& sealed_j) const {
  WW_ASSIGN(seen, uses(traffic, request));
  model::EstimateOptions unseen;
  unseen.use_monitors = false;
  WW_ASSIGN(uncounted, estimate_chiplet(model_, traffic.kernels, {}, unseen));
  Table table{"The sealed truth beside the estimate",
              {{"HOP CLASS"},
               {"TRUTH J"},
               {"ESTIMATE J"},
               {"LOW"},
               {"HIGH"},
               {"ERROR %"},
               {"COVERED"},
               {"NOT COUNTED"}},
              {}};
  Answer answer;
  answer.json = {{"device", provenance_.device}, {"virtual", true}, {"hop_classes", json::array()}};
  for (std::size_t i = 0; i < kHopClasses.size(); ++i) {
    const std::string name(kHopClasses[i]);
    // A way that the chip does not have is no column of its table.
    const auto truth = sealed_j.find(name + "_j");
    const double truth_j = truth != sealed_j.end() ? truth->second : 0;
    const HopClassUse& use = seen.back().classes[i];
    const HopClassUse& other = uncounted.back().classes[i];
    json row{{"class", name}, {"status", to_string(use.status)}, {"truth_j", truth_j}};
    judge(row, use.energy_j, truth_j);
    json& without = row["without_monitors"];
    judge(without, other.energy_j, truth_j);
    if (other.upper_j) {
      without = {{"upper_j", *other.upper_j}, {"covered", truth_j <= *other.upper_j}};
    }
    std::vector<Cell> cells{name, number_text(row, "truth_j")};
    for (Cell& cell : judged_cells(row)) cells.push_back(std::move(cell));
    cells.emplace_back(other.upper_j
                           ? fmt::format("at most {}, covered {}", number_text(without, "upper_j"),
                                         truth_j <= *other.upper_j ? "yes" : "no")
                           : judged_text(without));
    table.rows.push_back(std::move(cells));
    answer.json["hop_classes"].push_back(std::move(row));
  }
  answer.text.emplace_back(std::move(table));
  return answer;
}

}  // namespace ww::calibration
