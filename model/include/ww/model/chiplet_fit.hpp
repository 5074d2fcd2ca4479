// Energy of the ways between the dies of a package, from powers of its rails.
//
// Every compute die reads pages of one I/O die: of its own, of its neighbour
// over a row's link, over a column's link, or of the one across. The pages
// hit the Infinity Cache or miss it. All dies work at once, each I/O die's
// pages are read by as many, so what compute dies and homes have of their own
// is equal in every condition. Power of a rail in a run: P = P0(block) + w *
// awake + (e + r * row + c * column + x * across + m * memory + o * odd) *
// rate + k_T * (T - mean) P0 is the rail at idle, w what resident wavefronts
// add, e a bit that stays on its I/O die and hits the cache, r, c and x the
// links on the way, m what a miss adds. o must be zero: it compares the odd
// dies with the even ones, which stand on the same I/O dies. k_T has a prior
// from physics: leakage doubles every 25 K or more. A bit must take as much
// at half the rate: two more columns, for the slow conditions, must be zero.
// The noise is the scatter over blocks (jackknife, Student's t).
//
// Each rail sees a part: the I/O dies' (aid) the links, the Infinity Cache, the way to the compute
// dies and memory's PHYs; the stacks' (hbm) the memory itself. Links and memory are differences
// between conditions on one rail. The way to the compute die and the Infinity Cache are in every
// condition: their sum is identified, each of them only bounded. The socket identifies no way: what
// compute dies draw changes by more than a link's watts with how they share their time between
// reading and waiting.
//
// Two parts that are devices of their own, with links between them (MI250X), have the socket's
// accumulator alone. Each reads its own memory or the other's, one at a time and at one rate:
//   P = P0(block) + w_p * awake + (e_p + h * second's + x * other's + u * one by one + s * slow) *
//   rate + k_T * (T - mean)
// for part p. x is the link's energy, from the interaction of part and memory: what parts and
// memories have of their own is in e_p and h. Far reads come in another rhythm, and their waves
// wait longer for memory and shorter by instruction. Near reads one by one do so even more, at the
// same rate: |u| is in the interval. A bit over the links must take as much at half the rate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/sensor_tolerances.hpp"

namespace ww::model {

// Way to the I/O die as seen from the reader's; or to the other part's memory.
enum class ChipletWay { own, row, column, across, xgmi };
// Which dies read; the first of two parts is even.
enum class ChipletDies { all, even, odd };

// A condition of the campaign. A point without traffic waits as long as the others read.
struct ChipletPoint {
  std::string_view name;  // as runs are recorded
  ChipletWay way{ChipletWay::own};
  bool memory{};  // misses the Infinity Cache
  bool slow{};    // at half the rate
  bool serial{};  // loads one by one, so that waves wait longer for memory
  bool traffic{true};
  ChipletDies dies{ChipletDies::all};
};
[[nodiscard]] std::span<const ChipletPoint> chiplet_points();
// The conditions of two parts with links.
[[nodiscard]] std::span<const ChipletPoint> pair_points();

enum class ChipletRail { socket, xcd, aid, hbm };
inline constexpr std::array<std::string_view, 4> kChipletRailNames{"socket_energy", "xcd_energy",
                                                                   "aid_energy", "hbm_energy"};

// One steady run; no point: idle.
struct ChipletRun {
  std::int64_t block{};
  const ChipletPoint* point{};
  double bits_per_s{};  // behind the L2s
  std::optional<double> temperature_c;
  std::array<std::optional<double>, 4> power_w;  // by rail; absent: no reading, or none to trust
  std::array<bool, 4> read{};                    // by rail: whether there are readings
};

struct ChipletControl {
  std::string name;
  bool passed{};
  std::string detail;
};

struct ChipletAnswer {
  // J/bit/crossing, or J/bit where nothing is crossed. `low` and `high` include the rail's gain;
  // of it, the sensed interval, by row, has only a drift that outlasts the campaign. Without a
  // value: not_identified or rejected, and why.
  std::vector<Figure> rows;
  struct Sensed {
    double low{}, high{};
  };
  std::vector<std::optional<Sensed>> sensed;  // beside `rows`
  std::vector<ChipletControl> controls;
  // Socket against the sum of its parts: slope, and what is left, as a share of the largest load.
  std::optional<double> closure_slope, closure_residual;
  int blocks{};
};

// `gain_tolerance_95`: of each rail, relative 95% half-width about 1.
[[nodiscard]] ChipletAnswer fit_chiplet_runs(std::span<const ChipletRun> runs,
                                             double gain_tolerance_95 = kBoardGainTolerance95);

// Fits two parts with links: the row "xgmi", from the socket.
[[nodiscard]] ChipletAnswer fit_pair_runs(std::span<const ChipletRun> runs,
                                          double gain_tolerance_95 = kBoardGainTolerance95);

}  // namespace ww::model
