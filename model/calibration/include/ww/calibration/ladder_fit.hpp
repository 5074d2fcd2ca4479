// The ladder: what a bit costs that is moved from, or to, each level of the memory's hierarchy. One
// kernel streams through working sets that end in the L1, in the L2, in a cache behind it and in
// memory, at rates that all levels share. Power over idle grows with the rate, and its slope is the
// marginal energy of a bit at the power sensor:
//
//   P - P_idle(T, V) = (V / V_mean)^2 (P0(stream) + d(block) + e(stream) * rate)
//
// P0 is what the stream draws without moving anything: awake compute units and waiting wavefronts.
// A bit of a deeper level passes the levels before it, so e counts the whole way, with the
// instructions that move it. Differences between levels have the same instructions on both sides.
// Voltage and temperature enter where the card shows them. Voltages are shown in steps that are
// large beside what a run's noise averages out, so that V is taken from the load line through all
// runs, where they lie on one. Levels behind the L2 may lie above it in proportion to their rate:
// other rails give a part of their power. Where the card shows no voltage, or the one that firmware
// requests, the load line is assumed, and the intervals have its range. A card that names no
// voltage at all, as NVIDIA's, has a load line that begins at an assumed one. The figures are of
// the runs' mean voltage, from which single runs depart by a percent: caches behind the L2 and
// memory have rails of their own, and what passes them does not follow the core's voltage to
// another one. The slopes are means over the rates of the campaign.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"

namespace ww::calibration {

// Names of levels, nearest first.
namespace ladder_levels {
inline constexpr const char* l1 = "l1";
inline constexpr const char* l2 = "l2";
inline constexpr const char* kL2Again = "l2_again";  // another set of the L2: the null pair
inline constexpr const char* cache = "cache";        // behind the L2
inline constexpr const char* memory = "memory";
// Loads of 4 B a work-item from the L1's set: from all lines that loads of 16 B take, and from a
// quarter of them; and the loop without loads. Their bits are those of the lines.
inline constexpr const char* kL1Quarter = "l1_quarter";
inline constexpr const char* kL1Narrow = "l1_narrow";
inline constexpr const char* kL1None = "l1_none";
// Parts that they tell apart: a bit of the lines that loads take, a bit that they bring into
// registers, and a load of a wavefront.
inline constexpr const char* kLine = "l1_line";
inline constexpr const char* kRegister = "l1_register";
inline constexpr const char* kInstruction = "l1_instruction";
}  // namespace ladder_levels

// The traffic of a run, besides its rate. StoredRun::pattern has its name.
struct LadderStream {
  std::string level;
  bool writes{};
  std::string data;  // of kernels::Pattern: "random", "zeros", ...

  [[nodiscard]] std::string name() const;  // "read l2 random"
  // "l2_read" for random bits, "l2_read_zeros" else: the figure's name.
  [[nodiscard]] std::string figure() const;
  [[nodiscard]] static std::optional<LadderStream> parse(std::string_view name);
  friend bool operator==(const LadderStream&, const LadderStream&) = default;
};

// A steady run. Absent covariates: the card does not show them.
struct LadderRun {
  std::int64_t block{};
  std::size_t stream{};  // place in LadderInput::streams
  double bits_per_s{};
  double power_w{};
  std::optional<double> temperature_c, voltage_v, clock_hz;
  // Share of the time in which launches ran. Power over idle and rate are then those within them.
  double busy_share{1};
  // Scatter of single readings of the register; absent where an accumulator gave the power.
  std::optional<double> power_spread_w{};
  double voltage_spread_v{};  // of single readings; 0 where none is shown
};

// Power without a launch, at one temperature.
struct LadderIdle {
  double power_w{};
  std::optional<double> temperature_c, voltage_v;
  double voltage_spread_v{};
};

struct LadderInput {
  std::vector<LadderStream> streams;
  std::vector<double> toggle_rate;  // of each stream's data, toggles a bit
  std::vector<LadderRun> runs;
  std::vector<LadderIdle> idle;
  // Voltage of the clock state, where a load line begins. Absent: the card does not name it.
  std::optional<double> nominal_v;
  // Smallest difference of two voltage readings, 0 where none differ. With it, a voltage that does
  // not fall by a step from idle to load counts as none, and where there is none a load line is
  // assumed. Absent: voltages are taken as they are, run by run.
  std::optional<double> voltage_step_v;
  double power_step_w{};            // of the register's readings; 0: not known
  double wave_size{64};             // work-items of a wavefront
  double gain_tolerance_95{};       // relative, of the sensor
  double regulator_tolerance_95{};  // relative, of its marginal efficiency
};

// A figure with two intervals: `figure` has the sensor's gain and the regulator in it, `sensed`
// only what these runs leave open. Values are in J/bit.
struct LadderRow {
  Figure figure;
  std::optional<Interval> sensed;
};

struct LadderControl {
  std::string name;
  bool passed{};
  std::string detail;
};

struct LadderAnswer {
  std::vector<LadderRow> rows;  // streams, slopes with the toggle rate, differences between levels
  std::vector<LadderControl> controls;
  // Covariance of the slopes of streams with a figure, in the order of `names` [J^2/bit^2]: noise.
  std::vector<std::string> names;
  std::vector<std::vector<double>> covariance;
  double residual_w{};    // standard deviation of the runs about the fit
  double idle_w{};        // mean of the idle runs
  double idle_w_per_k{};  // growth of idle power with temperature; 0: not seen
  double reference_v{};   // of the figures; 0: the card shows no voltage
  // Why a load line is assumed; empty where the voltages are the die's.
  std::string no_voltage_reason;
  double low_bits_per_s{}, high_bits_per_s{};  // common rates
  int blocks{};
};

// Errors are statuses of the rows: two blocks or three runs at each of three rates are the least
// that gives a value.
[[nodiscard]] LadderAnswer fit_ladder_runs(const LadderInput& input);

// A launch of the ladder whose traffic and power are exact, as those of a virtual chip are.
struct ExactLaunch {
  LadderStream stream;
  double bits_per_s{};
  double power_w{};  // over idle
};

// Returns the fit's figures of such launches by name [pJ/bit]. `toggle_rates`: of each stream's
// data; those that are absent count as 0.
[[nodiscard]] std::map<std::string, double> fit_exact_launches(
    std::span<const ExactLaunch> launches, const std::map<std::string, double>& toggle_rates,
    double wave_size);

}  // namespace ww::calibration
