// Two parts that read their own memory and each other's.
#include <array>
#include <cmath>
#include <set>

#include "fit/chiplet/rail_fit.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

struct PairColumn {
  enum : Eigen::Index {
    first_awake,
    second_awake,
    first_rate,
    second_rate,
    seconds_memory,
    xgmi,
    serial,
    slow,
    heat,
    of_model,
    // Column of the control alone: extra energy of a bit over the links at half the rate.
    slow_xgmi = of_model,
    all
  };
};

void fill_pair(const ChipletRun& run, std::span<double> row) {
  const ChipletPoint& point = *run.point;
  const bool second = point.dies == ChipletDies::odd;
  const bool far = point.way == ChipletWay::xgmi;
  row[second ? PairColumn::second_awake : PairColumn::first_awake] = 1;
  if (!point.traffic) return;
  row[second ? PairColumn::second_rate : PairColumn::first_rate] = run.bits_per_s;
  if (second != far) row[PairColumn::seconds_memory] = run.bits_per_s;
  if (far) row[PairColumn::xgmi] = run.bits_per_s;
  if (point.serial) row[PairColumn::serial] = run.bits_per_s;
  if (point.slow) row[PairColumn::slow] = run.bits_per_s;
  if (point.slow && far) row[PairColumn::slow_xgmi] = run.bits_per_s;
}

constexpr RailEquation kPairEquation{PairColumn::all, PairColumn::heat, fill_pair};

}  // namespace

std::span<const ChipletPoint> pair_points() {
  using enum ChipletDies;
  using enum ChipletWay;
  static constexpr std::array<ChipletPoint, 12> kPoints{{
      {.name = "first part, own memory", .way = own, .memory = true, .dies = even},
      {.name = "first part, other's memory", .way = xgmi, .memory = true, .dies = even},
      {.name = "second part, own memory", .way = own, .memory = true, .dies = odd},
      {.name = "second part, other's memory", .way = xgmi, .memory = true, .dies = odd},
      {.name = "first part, own memory, slow",
       .way = own,
       .memory = true,
       .slow = true,
       .dies = even},
      {.name = "first part, other's memory, slow",
       .way = xgmi,
       .memory = true,
       .slow = true,
       .dies = even},
      {.name = "second part, own memory, slow",
       .way = own,
       .memory = true,
       .slow = true,
       .dies = odd},
      {.name = "second part, other's memory, slow",
       .way = xgmi,
       .memory = true,
       .slow = true,
       .dies = odd},
      {.name = "first part, own memory, one by one",
       .way = own,
       .memory = true,
       .serial = true,
       .dies = even},
      {.name = "second part, own memory, one by one",
       .way = own,
       .memory = true,
       .serial = true,
       .dies = odd},
      {.name = "first part waits", .traffic = false, .dies = even},
      {.name = "second part waits", .traffic = false, .dies = odd},
  }};
  return kPoints;
}

ChipletAnswer fit_pair_runs(std::span<const ChipletRun> runs, double gain_tolerance_95) {
  ChipletAnswer answer;
  std::set<std::int64_t> blocks;
  for (const ChipletRun& run : runs) blocks.insert(run.block);
  answer.blocks = static_cast<int>(blocks.size());
  const RailFit socket = fit_rail(runs, ChipletRail::socket, kPairEquation, PairColumn::of_model);
  ChipletRows rows(answer, gain_tolerance_95);
  // Far reads come in another rhythm than near ones, and their waves wait longer for memory and
  // shorter by instruction. Reads one by one do so more than far ones: what they take more at one
  // rate bounds what the links' figure has of it.
  const double rhythm = socket.why_not.empty()
                            ? std::abs(socket.value(PairColumn::serial)) +
                                  t_quantile_95(socket.freedom) * socket.error(PairColumn::serial)
                            : 0;
  rows.add("xgmi", "J/bit/crossing", socket, PairColumn::xgmi, rhythm);
  if (!socket.why_not.empty()) return answer;
  // Lanes that wake for traffic take more for a bit, the fewer bits there are.
  const auto slow = fit_rail(runs, ChipletRail::socket, kPairEquation, PairColumn::all);
  static constexpr const char* kName = "a bit over links at half the rate";
  answer.controls.push_back(slow.why_not.empty()
                                ? zero_control(kName, slow, PairColumn::slow_xgmi,
                                               socket.value(PairColumn::xgmi),
                                               "from the other part's memory, it takes more:")
                                : ChipletControl{kName, false, slow.why_not});
  static constexpr std::string_view kOfLinks[] = {"xgmi"};
  rows.reject(kOfLinks, answer.controls.back());
  return answer;
}

}  // namespace ww::model
