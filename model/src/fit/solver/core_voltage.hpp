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

// The greatest load line that a card's regulator may have [ohm]: as steep as controllers can be set
// to, and without falling further than a supply may at the strongest current of a campaign.
[[nodiscard]] double most_load_line_ohm(double most_amps, double nominal_v);

// The die's voltage at this power, where the regulator gives `nominal_v` without a load.
[[nodiscard]] double voltage_on_load_line(double nominal_v, double ohm, double power_w);

// Mean of the readings of one stretch at steady power.
struct LoadedVoltage {
  double power_w{};
  double voltage_v{};
  double readings{1};
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

// Why the voltages of one voltage state, idle and loaded, are not the die's: between least and most
// current they fall by less than the step in which they are shown (0: no two readings differ).
// Empty where they fall.
[[nodiscard]] std::string why_not_measured(std::span<const LoadedVoltage> at_one_state,
                                           double step_v);

}  // namespace ww::model
