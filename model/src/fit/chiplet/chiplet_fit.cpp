#include "ww/model/chiplet_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fit/chiplet/rail_fit.hpp"

namespace ww::model {
namespace {

enum Column : Eigen::Index {
  kAwake,
  kRate,
  kRow,
  kColumn,
  kAcross,
  kMemory,
  kOdd,
  kHeat,
  kModelColumns,
  // Columns of the controls alone: extra energy of a bit at half the rate, and over links.
  kSlow = kModelColumns,
  kSlowAcross,
  kColumns
};

void fill_columns(const ChipletRun& run, std::span<double> row) {
  const ChipletPoint& point = *run.point;
  // Half of the dies keep half of the wavefronts awake.
  row[kAwake] = point.dies == ChipletDies::all ? 1 : 0.5;
  if (!point.traffic) return;
  row[kRate] = run.bits_per_s;
  if (point.way == ChipletWay::row) row[kRow] = run.bits_per_s;
  if (point.way == ChipletWay::column) row[kColumn] = run.bits_per_s;
  if (point.way == ChipletWay::across) row[kAcross] = run.bits_per_s;
  if (point.memory) row[kMemory] = run.bits_per_s;
  if (point.dies == ChipletDies::odd) row[kOdd] = run.bits_per_s;
  if (point.slow) row[kSlow] = run.bits_per_s;
  if (point.slow && point.way == ChipletWay::across) row[kSlowAcross] = run.bits_per_s;
}

constexpr RailEquation kEquation{kColumns, kHeat, fill_columns};

// The socket's power over the sum of its parts, runs about their blocks' means.
void close_on_socket(std::span<const ChipletRun> runs, ChipletAnswer& answer) {
  struct Pair {
    std::int64_t block;
    double parts, socket;
  };
  std::vector<Pair> pairs;
  for (const ChipletRun& run : runs) {
    const auto& power = run.power_w;
    if (!power[0] || !power[1] || !power[2] || !power[3]) continue;
    pairs.push_back({run.block, *power[1] + *power[2] + *power[3], *power[0]});
  }
  if (pairs.size() < 8) return;
  double parts = 0;
  double socket = 0;
  for (const Pair& pair : pairs) parts += pair.parts, socket += pair.socket;
  const auto n = static_cast<double>(pairs.size());
  parts /= n;
  socket /= n;
  double product = 0;
  double square = 0;
  double least = pairs.front().socket;
  double most = least;
  for (const Pair& pair : pairs) {
    product += (pair.parts - parts) * (pair.socket - socket);
    square += (pair.parts - parts) * (pair.parts - parts);
    least = std::min(least, pair.socket);
    most = std::max(most, pair.socket);
  }
  if (!(square > 0) || !(most > least)) return;
  const double slope = product / square;
  double left = 0;
  for (const Pair& pair : pairs) {
    left += std::pow(pair.socket - socket - slope * (pair.parts - parts), 2);
  }
  answer.closure_slope = slope;
  answer.closure_residual = std::sqrt(left / n) / (most - least);
}

}  // namespace

std::span<const ChipletPoint> chiplet_points() {
  using enum ChipletWay;
  static constexpr std::array<ChipletPoint, 11> kPoints{{
      {.name = "own, cache", .way = own},
      {.name = "row, cache", .way = row},
      {.name = "column, cache", .way = column},
      {.name = "across, cache", .way = across},
      {.name = "own, cache, slow", .way = own, .slow = true},
      {.name = "across, cache, slow", .way = across, .slow = true},
      {.name = "own, memory", .way = own, .memory = true},
      {.name = "across, memory", .way = across, .memory = true},
      {.name = "own, cache, even dies", .way = own, .dies = ChipletDies::even},
      {.name = "own, cache, odd dies", .way = own, .dies = ChipletDies::odd},
      {.name = "waits", .traffic = false},
  }};
  return kPoints;
}

ChipletAnswer fit_chiplet_runs(std::span<const ChipletRun> runs, double gain_tolerance_95) {
  ChipletAnswer answer;
  std::set<std::int64_t> blocks;
  for (const ChipletRun& run : runs) blocks.insert(run.block);
  answer.blocks = static_cast<int>(blocks.size());
  const RailFit aid = fit_rail(runs, ChipletRail::aid, kEquation, kModelColumns);
  const RailFit hbm = fit_rail(runs, ChipletRail::hbm, kEquation, kModelColumns);
  ChipletRows rows(answer, gain_tolerance_95);
  rows.add("row_hop", "J/bit/crossing", aid, kRow);
  rows.add("column_hop", "J/bit/crossing", aid, kColumn);
  rows.add("across", "J/bit/crossing", aid, kAcross);
  rows.add("memory_phy", "J/bit", aid, kMemory);
  rows.add("memory", "J/bit", hbm, kMemory);
  rows.add("compute_die_and_cache", "J/bit", aid, kRate);
  const Figure& sum = answer.rows.back();
  const std::string bound =
      sum.high ? fmt::format(
                     "every read both crosses to a compute die and asks the Infinity Cache, "
                     "and one rail meters both: at most {:.3f} pJ/bit",
                     1e12 * *sum.high)
               : sum.reason;
  for (const char* part : {"compute_die", "infinity_cache"}) {
    Figure row;
    row.name = part;
    row.unit = part == std::string_view("compute_die") ? "J/bit/crossing" : "J/bit";
    rows.missing(std::move(row), bound);
  }
  Figure xgmi;
  xgmi.name = "xgmi";
  xgmi.unit = "J/bit/crossing";
  rows.missing(std::move(xgmi),
               "no second part was in reach, whose memory lies behind such a link");
  close_on_socket(runs, answer);
  static constexpr std::string_view kOfIoDies[] = {"row_hop", "column_hop", "across", "memory_phy",
                                                   "compute_die_and_cache"};
  if (aid.why_not.empty()) {
    answer.controls.push_back(zero_control("two dies of one I/O die", aid, kOdd, aid.value(kRate),
                                           "odd dies less even ones:"));
    rows.reject(kOfIoDies, answer.controls.back());
  }
  // A link whose lanes wake for traffic takes more for a bit, the fewer bits there are. The slow
  // conditions then tilt every column of the rail.
  const RailFit with_slow = fit_rail(runs, ChipletRail::aid, kEquation, kColumns);
  if (with_slow.why_not.empty()) {
    answer.controls.push_back(zero_control("a bit at half the rate", with_slow, kSlow,
                                           aid.value(kRate), "on one I/O die, it takes more:"));
    rows.reject(kOfIoDies, answer.controls.back());
    answer.controls.push_back(zero_control("a bit over links at half the rate", with_slow,
                                           kSlowAcross, aid.value(kAcross),
                                           "to the die across, it takes more:"));
    rows.reject(kOfIoDies, answer.controls.back());
  }
  if (hbm.why_not.empty()) {
    answer.controls.push_back(zero_control("stacks at rest in the cache's runs", hbm, kRate,
                                           hbm.value(kMemory),
                                           "the stacks' rail by bit that hits the cache:"));
    static constexpr std::string_view kOfMemory[] = {"memory", "memory_phy"};
    rows.reject(kOfMemory, answer.controls.back());
  }
  return answer;
}

}  // namespace ww::model
