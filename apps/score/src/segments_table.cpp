#include "segments_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::score {
namespace {

Cell number(const std::optional<double>& value) {
  return {value ? fmt::format("{:.4g}", *value) : "-", or_null(value)};
}

}  // namespace

Table segments_table(const model::SegmentsFit& fit, const calibration::Revealed& truth) {
  Table table{"The sealed truth beside the segments",
              {{"SEGMENT", false, "segment"},
               {"UNIT", false, "unit"},
               {"TRUTH", true, "truth"},
               {"SENSED", true, "sensed_truth"},
               {"FIT", true, "fit"},
               {"LOW", true, "low"},
               {"HIGH", true, "high"},
               {"COVERED", false, "covered_sensed"},
               {"", false, "status"},
               {"", false, "reason"}},
              {}};
  struct Judged {
    const Figure* fit;
    const char* constant;
  };
  for (const auto& [row, name] :
       {Judged{&fit.legs, "legs_energy_fj_per_bit_mm"},
        Judged{&fit.l2_memory, "l2_memory_energy_fj_per_bit_mm"},
        Judged{&fit.registers_l1, "registers_l1_energy_fj_per_bit_mm"},
        Judged{&fit.registers_l1_per_bit, "registers_l1_energy_fj_per_bit"}}) {
    const auto found = std::ranges::find(truth.figures, name, &calibration::RevealedFigure::name);
    const bool known = found != truth.figures.end();
    const auto sensed = known ? std::optional(found->sensed) : std::nullopt;
    Cell covered{std::string(to_string(row->status)), nullptr};
    if (known && row->low && row->high) {
      const bool within = *row->low <= *sensed && *sensed <= *row->high;
      covered = {within ? "yes" : "no", within};
    }
    table.rows.push_back({row->name, row->unit,
                          number(known ? std::optional(found->truth) : std::nullopt),
                          number(sensed), number(row->value), number(row->low), number(row->high),
                          std::move(covered), to_string(row->status), row->reason});
  }
  return table;
}

}  // namespace ww::score
