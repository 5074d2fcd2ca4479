// Fits the energy of single segments of the way to memory, each by its own contrast of distance:
//
//   legs       the way within an engine: four CUs at a time stream one quadrant of the L2, near
//              fours against far ones, at two rates (IISWC'16, section IV: variants of 4 CUs)
//   l2_memory  the way behind the L2: one channel at a time streams a working set that the L2
//              holds, at two rates, and one that it does not; channels lie near their memory
//              controllers or far from them
//
// Between registers and L1 every CU is built equally: there is no distance to compare. What a bit
// costs there, over whatever distance it is, shows in a contrast of its own:
//
//   registers_l1  all CUs take the same lines, at the same times, by the same instructions, into
//                 16, 32 or 64 lanes' registers; random data against ones, whose difference is
//                 what follows the data
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

// One condition of a run; runs name it by its place in the plan.
struct SegmentPoint {
  std::string segment;  // "legs", "l2_memory" or "registers_l1"
  int engine{};
  int group{-1};  // legs: which four CUs; -1: the whole engine
  std::vector<int> channels{};
  bool from_memory{};
  bool slow{};  // wait between loads: about half the rate (legs), a third (l2_memory)
  double mm{};  // published: mean CU to channel, channel to memory controller, registers to L1
  int lanes{};  // registers_l1: how many share a load's 256 B, 16 B each
  bool ones{};  // registers_l1: the data are ones, not random
  bool operator==(const SegmentPoint&) const = default;
};

// The points of a published floorplan. Errors of parse_floorplan.
[[nodiscard]] Result<std::vector<SegmentPoint>> segment_points(const std::string& floorplan_toml);

// Whether the runs could separate the bits on the way to registers from all else.
struct RegistersDiagnostics {
  int readings{};
  double inflation{};  // variance inflation of the sought column; above 10 it is not identified
  double condition{};  // of all columns, scaled
  double r_squared{};
  // Energy of bytes whatever the data are, fJ a bit: lanes' arithmetic and strobes, which no run
  // separates.
  double any_data_fj_per_bit{};
  double toggle_rate{};  // of random data; the difference is scaled from it to 0.5
};

struct SegmentsFit {
  std::string device;
  bool is_virtual{};
  // fJ per payload bit and mm, random data, 95% interval of the recording's own noise and of what
  // the runs' heat may add. not_identified, with the reason, where the data do not decide. No row's
  // interval contains the tolerances below, which shift all runs together.
  Figure legs;
  Figure l2_memory;
  Figure registers_l1;
  // fJ per payload bit that reaches a register, random data against ones: the way from the L1 and
  // the write at its end.
  Figure registers_l1_per_bit;
  RegistersDiagnostics registers;
  // Tolerances of the power sensor, relative 95% half-widths about 1.
  double gain_tolerance_95{kBoardGainTolerance95};
  double regulator_slope_tolerance_95{kRegulatorSlopeTolerance95};
  // Why no reading shows the die's voltage, so that a load line is assumed; empty where some do.
  std::string no_voltage_reason;
  int runs{};
  int rejected{};
};
[[nodiscard]] nlohmann::json to_json(const SegmentsFit& fit);
// registers_l1_per_bit with its absolute 95% interval: that of the recording and the sensor's
// tolerances in quadrature. It has no distance, so that no floorplan's error is in it. Nothing
// where the row has no figure.
[[nodiscard]] std::optional<Interval> registers_l1_absolute(const SegmentsFit& fit);

// One run's figures, for fits of made-up data.
struct SegmentReading {
  std::size_t point{};
  std::int64_t block{};
  double power_w{};
  double crossbar_bits_per_s{};
  double memory_bits_per_s{};
  std::optional<double> voltage_v{};    // mean, after the load line
  std::optional<double> toggle_rate{};  // on the legs, where monitors count it
  // Scatter of single readings of the register; absent where an accumulator gave the power.
  std::optional<double> power_spread_w{};
};
// Facts that the recording has beside its runs.
struct SegmentSurroundings {
  double nominal_v{};            // where all readings have a voltage, power is brought to this one
                                 // (0: to their mean)
  std::optional<double> idle_w;  // without it, power follows rate as throttling shows
  std::optional<double> idle_voltage_v{};
  // Smallest difference of two voltage readings, 0 where none differ. Where it is known, a voltage
  // that does not fall by a step from idle to load counts as none (fit/solver/core_voltage.hpp).
  std::optional<double> voltage_step_v{};
  double power_step_w{};  // of the register's readings; 0: not known
};
[[nodiscard]] SegmentsFit fit_segments(const std::vector<SegmentPoint>& points,
                                       std::vector<SegmentReading> readings,
                                       const SegmentSurroundings& surroundings = {});

}  // namespace ww::model
