// An application's joules by segment beside the sealed truth of the same run.
#include <fmt/format.h>

#include <array>

#include "score.hpp"
#include "wires/wires.hpp"

namespace ww::calibration {
namespace {

using nlohmann::json;

// Toggles per bit that IISWC'16, section VI, assumes for all applications.
constexpr double kAssumedByIiswc16 = 0.34;

// Columns in the order of model::wire_segments; then what else a launch switched.
constexpr std::array<const char*, 3> kSegmentColumns{"registers_l1_j", "l1_l2_j", "l2_memory_j"};
constexpr std::array<const char*, 4> kOtherColumns{"caches_j", "alu_j", "clocks_j", "arbiters_j"};

// Coupling as in ApplicationToggles, over all kernels; absent without monitors or toggles.
std::optional<double> coupling_per_toggle(const std::vector<KernelTraffic>& kernels,
                                          std::size_t segment) {
  model::WireActivity sum;
  for (const auto& kernel : kernels) {
    if (kernel.segments[segment].wires) sum += *kernel.segments[segment].wires;
  }
  return sum.toggles > 0 ? std::optional(sum.coupling() / sum.toggles) : std::nullopt;
}

}  // namespace

Result<Answer> Wires::score_application(const Traffic& traffic, const EstimateRequest& request,
                                        const std::map<std::string, double>& sealed_j) const {
  if (!model_) return tl::unexpected(model_.error());
  WW_ASSIGN(seen, model::estimate(*model_, traffic.kernels, request.options));
  if (request.dynamic_j) model::add_dynamic_energy(seen, *request.dynamic_j);
  // Estimates as for a real card, without monitors: with the prior of the data, and as if random
  // words at the paper's rate were certain.
  model::EstimateOptions assumed;
  assumed.use_monitors = false;
  WW_ASSIGN(by_prior, model::estimate(*model_, traffic.kernels, assumed));
  assumed.data = model::random_words_at_rate(kAssumedByIiswc16);
  WW_ASSIGN(as_certain, model::estimate(*model_, traffic.kernels, assumed));
  Table table{"The sealed truth beside the estimate",
              {{"SEGMENT"},
               {"TRUTH J"},
               {"ESTIMATE J"},
               {"LOW"},
               {"HIGH"},
               {"ERROR %"},
               {"COVERED"},
               {"TOGGLES"},
               {"WITHOUT MONITORS"}},
              {}};
  Answer answer;
  answer.json = {{"device", provenance_.device}, {"virtual", true}, {"segments", json::array()}};
  double of_wires = 0;
  for (std::size_t s = 0; s < kSegmentColumns.size(); ++s) {
    WW_ASSIGN(truth_j, sealed_joules(sealed_j, kSegmentColumns[s]));
    of_wires += truth_j;
    const auto& segment = seen.total.segments[s];
    const char* const toggles = segment.toggles_measured ? "measured" : "assumed";
    json row{{"segment", model::to_string(segment.segment)},
             {"status", to_string(segment.status)},
             {"truth_j", truth_j},
             {"toggle_rate", segment.toggle_rate},
             {"toggles", toggles}};
    if (const auto coupling = coupling_per_toggle(traffic.kernels, s)) {
      row["coupling_per_toggle"] = *coupling;
    }
    judge(row, segment.energy_j, truth_j);
    judge(row["without_monitors"], by_prior.total.segments[s].energy_j, truth_j);
    judge(row["without_monitors_as_certain"], as_certain.total.segments[s].energy_j, truth_j);
    std::vector<Cell> cells{model::to_string(segment.segment), number_text(row, "truth_j")};
    for (Cell& cell : judged_cells(row)) cells.push_back(std::move(cell));
    cells.emplace_back(number_text(row, "toggle_rate") + " " + toggles);
    cells.emplace_back(judged_text(row["without_monitors"]));
    table.rows.push_back(std::move(cells));
    answer.json["segments"].push_back(std::move(row));
  }
  answer.text.emplace_back(std::move(table));
  answer.text.emplace_back(
      "l1_l2 is what grows with the way, in truth and estimate; what all ways share whatever their "
      "length, such as ports, is none of it");
  if (seen.share_percent) {
    double all = of_wires;
    for (const char* column : kOtherColumns) {
      WW_ASSIGN(joules, sealed_joules(sealed_j, column));
      all += joules;
    }
    answer.json["share_percent"] = seen.share_percent->value;
    answer.json["truth_share_percent"] = 100 * of_wires / all;
    answer.text.emplace_back(fmt::format("share of the dynamic power: {}%, truth {}%",
                                         number_text(answer.json, "share_percent"),
                                         number_text(answer.json, "truth_share_percent")));
  }
  return answer;
}

}  // namespace ww::calibration
