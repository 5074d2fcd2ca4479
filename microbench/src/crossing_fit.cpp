// The crossing's energy from recorded runs.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "mean.hpp"
#include "run_power.hpp"
#include "ww/microbench/crossing.hpp"

namespace ww::microbench {
namespace {

// Two-sided 95% quantile of Student's t, by degrees of freedom.
double t_quantile(int degrees) {
  constexpr std::array<double, 11> table{0,     12.706, 4.303, 3.182, 2.776, 2.571,
                                         2.447, 2.365,  2.306, 2.262, 2.228};
  if (degrees < 1) return 0;
  if (degrees < static_cast<int>(table.size())) return table[static_cast<std::size_t>(degrees)];
  return 1.96 + 2.4 / degrees + 3.0 / (static_cast<double>(degrees) * degrees);
}

ResultRow row_of(const std::string& name, const std::vector<double>& blocks) {
  ResultRow row;
  row.name = name;
  row.unit = "J/bit/crossing";
  if (blocks.size() < 2) {
    row.status = RowStatus::not_identified;
    row.reason = fmt::format("{} complete blocks; two are the least", blocks.size());
    return row;
  }
  double mean = 0;
  for (const double value : blocks) mean += value / static_cast<double>(blocks.size());
  double square = 0;
  for (const double value : blocks) square += (value - mean) * (value - mean);
  const double error = std::sqrt(square / static_cast<double>(blocks.size() - 1) /
                                 static_cast<double>(blocks.size()));
  const double half = t_quantile(static_cast<int>(blocks.size()) - 1) * error;
  row.low = mean - half;
  row.high = mean + half;
  if (*row.low <= 0 && *row.high >= 0) {
    row.status = RowStatus::not_identified;
    row.reason = fmt::format("the interval [{:.3g}, {:.3g}] pJ holds zero", 1e12 * *row.low,
                             1e12 * *row.high);
    row.low.reset();
    row.high.reset();
    return row;
  }
  row.value = mean;
  return row;
}

struct Cell {
  Mean power_w;
  Mean bits_per_s;
};

}  // namespace

CrossingFit fit_crossing(const std::vector<StoredRun>& runs, double settle_s) {
  CrossingFit fit;
  // [block][pattern][side of places][side of lines]
  std::map<std::int64_t, std::map<std::string, std::array<std::array<Cell, 2>, 2>>> blocks;
  std::map<std::int64_t, Mean> idle_w;
  for (const StoredRun& run : runs) {
    std::optional<double> power;
    if (run.status == RunStatus::ok) power = power_of(run, settle_s);
    if (run.kind == RunKind::idle) {
      if (power) idle_w[run.block].add(*power);
      continue;
    }
    if (run.kind != RunKind::stream || !run.engine || !run.quadrant) continue;
    ++fit.runs;
    const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    if (!power || !(run.payload_bits > 0) || !(seconds > 0)) {
      ++fit.rejected;
      continue;
    }
    Cell& cell = blocks[run.block][run.pattern][static_cast<std::size_t>(*run.engine & 1)]
                       [static_cast<std::size_t>(*run.quadrant & 1)];
    cell.power_w.add(*power);
    cell.bits_per_s.add(run.payload_bits / seconds);
  }
  std::map<std::string, std::vector<double>> per_block;
  std::vector<double> differences;
  Mean near_rate, far_rate, near_w, far_w;
  for (const auto& [block, patterns] : blocks) {
    const auto idle = idle_w.find(block);
    if (idle == idle_w.end()) continue;
    std::map<std::string, double> of_block;
    for (const auto& [pattern, cells] : patterns) {
      bool complete = true;
      double joules_per_bit[2] = {0, 0};  // near, far
      for (std::size_t place = 0; place < 2; ++place) {
        for (std::size_t line = 0; line < 2; ++line) {
          const Cell& cell = cells[place][line];
          if (cell.power_w.count == 0) {
            complete = false;
            continue;
          }
          const double over_w = cell.power_w.value() - idle->second.value();
          const bool far = place != line;
          joules_per_bit[far ? 1 : 0] += 0.5 * over_w / cell.bits_per_s.value();
          (far ? far_rate : near_rate).add(cell.bits_per_s.value());
          (far ? far_w : near_w).add(over_w);
        }
      }
      if (!complete) continue;
      of_block[pattern] = joules_per_bit[1] - joules_per_bit[0];
      per_block[pattern].push_back(of_block[pattern]);
    }
    if (of_block.contains("random") && of_block.contains("zeros")) {
      differences.push_back(of_block["random"] - of_block["zeros"]);
    }
  }
  fit.blocks = static_cast<int>(per_block["random"].size());
  fit.random_bit = row_of("crossing_per_random_bit", per_block["random"]);
  fit.zero_bit = row_of("crossing_per_zero_bit", per_block["zeros"]);
  fit.difference = row_of("crossing_data_part", differences);
  if (near_rate.count > 0 && far_rate.count > 0) {
    fit.near_bits_per_s = near_rate.value();
    fit.far_bits_per_s = far_rate.value();
    fit.near_w = near_w.value();
    fit.far_w = far_w.value();
    const double ratio = fit.near_bits_per_s / fit.far_bits_per_s;
    if (std::abs(ratio - 1) > 0.02) {
      fit.note = fmt::format(
          "near ran at {:.3f} times the rate of far: power that does not grow with the rate is not "
          "fully cancelled",
          ratio);
    }
  }
  return fit;
}

Result<CrossingFit> fit_crossing(const CampaignStore& store) {
  WW_ASSIGN(plan, store.get(campaign_keys::plan));
  const auto parsed =
      plan ? nlohmann::json::parse(*plan, nullptr, false) : nlohmann::json::object();
  if (!parsed.is_object() || parsed.value("method", "") != "crossing") {
    return fail(ErrorCode::bad_data, "not a campaign of crossings between L2 sides");
  }
  WW_ASSIGN(runs, store.runs());
  CrossingFit fit = fit_crossing(runs, parsed.value("settle_s", 1.2));
  if (fit.blocks == 0) return fail(ErrorCode::bad_data, "no complete block of runs");
  return fit;
}

nlohmann::json to_json(const CrossingFit& fit) {
  // Per bit in pJ: what people compare.
  const auto in_pj = [](ResultRow row) {
    const auto scale = [](std::optional<double>& value) {
      if (value) *value *= 1e12;
    };
    scale(row.value);
    scale(row.low);
    scale(row.high);
    row.unit = "pJ/bit/crossing";
    nlohmann::json json = row;
    return json;
  };
  return {{"energy_pj_per_bit_crossing", in_pj(fit.random_bit)},
          {"zero_data_pj_per_bit_crossing", in_pj(fit.zero_bit)},
          {"data_part_pj_per_bit_crossing", in_pj(fit.difference)},
          {"convention", "per_random_bit"},
          {"energy_fj_per_bit_mm", nullptr},
          {"distance",
           {{"value_mm", nullptr},
            {"estimated", true},
            {"reason", "no floorplan of this part is public"}}},
          {"near_bits_per_s", fit.near_bits_per_s},
          {"far_bits_per_s", fit.far_bits_per_s},
          {"near_w", fit.near_w},
          {"far_w", fit.far_w},
          {"blocks", fit.blocks},
          {"runs", fit.runs},
          {"rejected", fit.rejected},
          {"note", fit.note}};
}

}  // namespace ww::microbench
