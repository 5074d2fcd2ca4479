// Whether the voltages that a driver shows are those of the die. A die's voltage falls with its
// current along the regulator's load line; the voltage that firmware requests (VID) does not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ww::model {

// A shown voltage that falls by less than this many of its steps between idle and the strongest
// load is the one that firmware requests.
inline constexpr double kMinFallSteps = 1;

// Whether Linux's amdgpu shows the requested voltage of this architecture ("gfx701") as in0_input
// (vddgfx): Hawaii, Tonga, Fiji, Polaris and their kin (smu7_hwmgr.c reads
// PWR_SVI2_STATUS.PLANEx_VID) and Vega 10 (vega10_hwmgr.c reads SMUSVI0_PLANE0_CURRENTVID). From
// Vega 20 on it shows the regulator's telemetry (SMUSVI0_TEL_PLANE0.VDDCOR) or the firmware's
// tables.
[[nodiscard]] bool amdgpu_shows_requested_voltage(std::string_view target);

// A load line that no reading shows [ohm].
struct AssumedLoadLine {
  double ohm{};           // expectation
  double sigma_ohm{};     // standard deviation
  double flattest_ohm{};  // 2.5% of load lines lie below it
  double steepest_ohm{};  // 97.5% of load lines lie below it
};
// Those of the lognormal prior, without the load lines on which the strongest current of a campaign
// would make the voltage fall further than a supply may. An energy grows about linearly with the
// load line, so that its expectation is its value at the mean: the best estimate in the sense of
// JCGM 100:2008, 4.1.6, where the median or the middle of a range is none. The distribution is
// skew, and so are intervals: up by what the energy moves by to the steepest load line, down by
// what it moves by to the flattest.
[[nodiscard]] AssumedLoadLine assumed_load_line(double most_amps, double nominal_v);

// The die's voltage at this power, where the regulator gives `nominal_v` without a load.
[[nodiscard]] double voltage_on_load_line(double nominal_v, double ohm, double power_w);

// Mean of the readings of one stretch at steady power.
struct LoadedVoltage {
  double power_w{};
  double voltage_v{};
  double readings{1};
  double spread_v{};  // standard deviation of the readings
};

// Sums over them, each weighing as many as its readings.
struct LoadSums {
  std::size_t points{};
  double n{}, x{}, y{}, xx{}, xy{};  // x: A, y: V
  double least_amps{}, most_amps{};
};
[[nodiscard]] LoadSums sum_loads(std::span<const LoadedVoltage> at_one_state);

// The regulator's load line, V = start_v + slope_ohm I.
struct LoadLine {
  double start_v{}, slope_ohm{};
  double readings{};  // voltage readings behind it
};
// Least squares; nothing where they do not differ in current.
[[nodiscard]] std::optional<LoadLine> line_of(const LoadSums& sums);
// Fits a load line to kLoadLinePoints voltages at least. Absent where they lie on no line within
// the steps in which they are shown.
[[nodiscard]] std::optional<LoadLine> fit_load_line(std::span<const LoadedVoltage> at_one_state,
                                                    double step_v);
// Variance of that line's slope [ohm^2]: by the scatter of the voltages, and by their steps where
// no noise dithers them (reading_steps.hpp).
[[nodiscard]] double slope_variance(std::span<const LoadedVoltage> at_one_state,
                                    const LoadLine& line, double step_v);

// Why the voltages of one voltage state, idle and loaded, are not the die's: between least and most
// current they fall by less than the step in which they are shown (0: no two readings differ).
// Empty where they fall.
[[nodiscard]] std::string why_not_measured(std::span<const LoadedVoltage> at_one_state,
                                           double step_v);

}  // namespace ww::model
