#include "ww/study/power_regression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "ww/core/atomic_file.hpp"
#include "ww/core/statistics.hpp"
#include "ww/measure/csv.hpp"
#include "ww/model/regression.hpp"

namespace ww::study {
namespace {

using measure::CsvColumns;
using measure::CsvRow;

constexpr std::string_view kMeasured = "volta_gv100_measured_w";
constexpr std::array<std::string_view, 14> kCounters{
    "Elapsed_Cycles", "Pipeline_Duty", "Num_Idle_SMs", "L1_RH", "L1_RM",   "L1_WH",   "L1_WM",
    "L2_RH",          "L2_RM",         "L2_WH",        "L2_WM", "DRAM_Rd", "DRAM_Wr", "NOC"};

// Absent if the field is not a number, as in rows of other cards.
std::optional<double> number(const CsvColumns& columns, const CsvRow& row,
                             std::string_view column) {
  const auto value = columns.number(row, column);
  return value ? std::optional(*value) : std::nullopt;
}

// A table of another layout is refused: a column that is absent is no counter of 0.
Status require(const CsvColumns& columns, const CsvRow& header,
               std::span<const std::string_view> needed, const std::filesystem::path& file) {
  for (const auto column : needed) {
    if (columns.has(column)) continue;
    return fail(
        ErrorCode::bad_data,
        fmt::format("has no column '{}', as AccelWattch's table has it; its columns are: {}",
                    column, fmt::join(header.fields, ", ")),
        file.string());
  }
  return {};
}

// The names of one table in the words of the other: kernels of a benchmark are numbered from 1.
std::string power_name(std::string_view benchmark, int kernel) {
  const auto numbered = benchmark.find("_perf_test_k");
  if (numbered != std::string_view::npos) {
    return std::string(benchmark.substr(0, numbered)) + "_k" +
           std::string(benchmark.substr(numbered + 12));
  }
  if (benchmark == "cudaTensorCoreGemm") benchmark = "cudaTensor";
  return fmt::format("{}_k{}", benchmark, kernel);
}

// Rates and watts of the kernels that both tables have.
struct Kernels {
  std::vector<std::string> names;
  std::vector<double> watts;
  std::vector<model::Regressor> rates;  // L1, L2, DRAM, interconnect, instructions
  std::vector<std::string> unmatched;
};
constexpr std::size_t kL2 = 1, kDram = 2, kInterconnect = 3;

// Energy of a sector of 32 bytes: watts over sectors a cycle are joules over the clock. The
// interconnect goes with the L2, which alone can be told. AccelWattch's tables do not say the
// clock.
constexpr double kBaseClockHz = 1132e6, kBoostClockHz = 1627e6;  // NVIDIA, Quadro GV100
constexpr double kPicojoule = 1e-12;

// Watts over sectors a cycle that AccelWattch's own model gives a level: the middle of its kernels,
// from the table of its components. Absent without that table.
std::optional<double> of_their_model(const std::filesystem::path& folder,
                                     std::string_view component, const Kernels& kernels,
                                     std::size_t level) {
  const auto file = folder / "volta_hw_component_power_model.csv";
  const auto text = read_file(file);
  if (!text) return {};
  const auto rows = measure::parse_csv(*text, file.string());
  if (!rows || rows->size() < 2) return {};
  const CsvColumns columns((*rows)[0], file.string());
  if (!columns.has(component)) return {};
  std::vector<double> ratios;
  for (const CsvRow& row : *rows) {
    const auto kernel = std::ranges::find(kernels.names, row.fields[0]);
    const auto watts = number(columns, row, component);
    if (kernel == kernels.names.end() || !watts) continue;
    const auto index = static_cast<std::size_t>(kernel - kernels.names.begin());
    const double rate = kernels.rates[level].values[index];
    if (rate > 0) ratios.push_back(*watts / rate);
  }
  if (ratios.empty()) return {};
  return median(std::move(ratios));
}

Result<nlohmann::json> sector_energies(const std::filesystem::path& folder,
                                       const Kernels& kernels) {
  std::vector<model::Regressor> columns = kernels.rates;
  columns.erase(columns.begin() + kInterconnect);
  WW_ASSIGN(fit, model::regress(kernels.watts, columns));
  nlohmann::json levels = nlohmann::json::array();
  const auto picojoules = [](double watts, double clock_hz) {
    return watts / clock_hz / kPicojoule;
  };
  for (const auto& [index, component] : {std::pair{kL2, "L2CP_w"}, std::pair{kDram, "DRAMP_w"}}) {
    const auto& row = fit.coefficients.at(index + 1);
    const auto theirs = of_their_model(folder, component, kernels, index);
    // The slower the clock, the more joules; an end below 0 is farthest from 0 there.
    nlohmann::json level{
        {"name", index == kL2 ? "L2 with its network" : row.name},
        {"pj_per_sector_at_base", picojoules(row.value, kBaseClockHz)},
        {"pj_per_sector_at_boost", picojoules(row.value, kBoostClockHz)},
        {"low", picojoules(row.low, row.low < 0 ? kBaseClockHz : kBoostClockHz)},
        {"high", picojoules(row.high, row.high < 0 ? kBoostClockHz : kBaseClockHz)},
        {"inflation", row.inflation},
        {"status", to_string(row.status)},
        {"reason", row.reason},
        {"accelwattch_pj_at_base", nlohmann::json()},
        {"accelwattch_pj_at_boost", nlohmann::json()}};
    if (theirs) {
      level["accelwattch_pj_at_base"] = picojoules(*theirs, kBaseClockHz);
      level["accelwattch_pj_at_boost"] = picojoules(*theirs, kBoostClockHz);
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

Result<Kernels> read_kernels(const std::filesystem::path& folder) {
  const auto power_file = folder / "measured_power_volta_pascal_turing.csv";
  const auto counter_file = folder / "hw_perf.csv";
  WW_ASSIGN(power_text, read_file(power_file));
  WW_ASSIGN(counter_text, read_file(counter_file));
  WW_ASSIGN(powers, measure::parse_csv(power_text, power_file.string()));
  WW_ASSIGN(counts, measure::parse_csv(counter_text, counter_file.string()));
  if (powers.size() < 2 || counts.size() < 2) {
    return fail(ErrorCode::bad_data, "the tables have no rows", folder.string());
  }
  const CsvColumns power_columns(powers[0], power_file.string());
  const CsvColumns counter_columns(counts[0], counter_file.string());
  WW_TRY(require(power_columns, powers[0], std::array{kMeasured}, power_file));
  WW_TRY(require(counter_columns, counts[0], kCounters, counter_file));
  std::map<std::string, double> watts;
  for (std::size_t i = 1; i < powers.size(); ++i) {
    if (const auto value = number(power_columns, powers[i], kMeasured)) {
      if (*value <= 0) {
        return fail(ErrorCode::bad_data, fmt::format("a power of {} W", *value),
                    powers[i].fields[0]);
      }
      watts[powers[i].fields[0]] = *value;
    }
  }
  const std::vector<std::pair<std::string, std::vector<std::string_view>>> sums = {
      {"L1", {"L1_RH", "L1_RM", "L1_WH", "L1_WM"}},
      {"L2", {"L2_RH", "L2_RM", "L2_WH", "L2_WM"}},
      {"DRAM", {"DRAM_Rd", "DRAM_Wr"}},
      {"interconnect", {"NOC"}},  // at kInterconnect
  };
  Kernels kernels;
  std::vector<model::Regressor>& columns = kernels.rates;
  columns.reserve(sums.size() + 1);
  for (const auto& [name, parts] : sums) columns.push_back({name, {}});
  columns.push_back({"instructions", {}});
  std::map<std::string_view, int> seen;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const auto name = power_name(counts[i].fields[0], ++seen[counts[i].fields[0]]);
    const auto power = watts.find(name);
    const auto cycles = number(counter_columns, counts[i], "Elapsed_Cycles");
    const auto duty = number(counter_columns, counts[i], "Pipeline_Duty");
    const auto idle = number(counter_columns, counts[i], "Num_Idle_SMs");
    const bool has_counters = std::ranges::all_of(kCounters, [&](std::string_view column) {
      return number(counter_columns, counts[i], column).has_value();
    });
    if (power == watts.end() || !has_counters || !(*cycles > 0)) {
      kernels.unmatched.push_back(name);
      continue;
    }
    for (std::size_t c = 0; c < sums.size(); ++c) {
      double sum = 0;
      for (const auto part : sums[c].second)
        sum += number(counter_columns, counts[i], part).value();
      // NOC counts two flits a sector.
      columns[c].values.push_back(sum / *cycles / (sums[c].first == "interconnect" ? 2 : 1));
    }
    columns.back().values.push_back(*duty * (80 - *idle) / 80);
    kernels.names.push_back(name);
    kernels.watts.push_back(power->second);
  }
  return kernels;
}

}  // namespace

Result<nlohmann::json> regress_accelwattch(const std::filesystem::path& folder) {
  WW_ASSIGN(kernels, read_kernels(folder));
  WW_ASSIGN(fit, model::regress(kernels.watts, kernels.rates));
  WW_ASSIGN(sectors, sector_energies(folder, kernels));
  nlohmann::json result{{"device", "NVIDIA GV100 (AccelWattch validation kernels, measured)"},
                        {"kernels", fit.rows},
                        {"r_squared", fit.r_squared},
                        {"residual_w", fit.residual},
                        {"condition", fit.condition},
                        {"unmatched", kernels.unmatched},
                        {"sectors", sectors}};
  for (const auto& row : fit.coefficients) {
    result["coefficients"].push_back({{"name", row.name},
                                      {"value", row.value},
                                      {"low", row.low},
                                      {"high", row.high},
                                      {"inflation", row.inflation},
                                      {"status", to_string(row.status)},
                                      {"reason", row.reason}});
    if (row.name != "interconnect") continue;
    // Even a term that stands out would be access and movement in one: no distance changes here.
    std::string reason = row.reason;
    if (!reason.empty()) reason += "; ";
    reason +=
        "every sector between L1 and L2 also accesses the L2 and no kernel changes the distance, "
        "so "
        "the cost of moving cannot be told from that of accessing";
    result["interconnect"] = {{"status", to_string(RowStatus::not_identified)}, {"reason", reason}};
  }
  return result;
}

}  // namespace ww::study
