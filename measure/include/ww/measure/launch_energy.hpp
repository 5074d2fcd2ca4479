// Energy of kernels that are shorter than the sensor's window.
//
// A reading is a mean over the sensor's window, or follows with a lag, so that one launch of 1 ms
// moves it by little, and what it shows at the launch is mostly other times. Launch the kernel many
// times, in blocks of different density, and let the readings be explained by all launches at once:
//
//   reading_k = rest + drift(t_k) + awake * a_k + sum over m, b of P_mb * w_kmb + noise_k
//
// w_kmb is the share of reading k, by the sensor's response (`fit_response`, doctor), that falls
// into bin b of the time since a launch of kernel m; a_k the same for the stretches in which the
// chip is awake (blocks with their gaps, where clocks stay up). P_mb is then the power above rest
// and awake in that bin, and its sum over the bins times their lengths is a launch's energy. Bins
// are the alignment of FinGraV (Singhania et al., 2024), which sorts readings by time since launch
// and demands a window shorter than the kernel; the response takes that demand away.
//
// *Intervals* (95%) have these parts, each reported: the noise (residuals with their
// autocorrelation, Newey and West 1987, with what the fit has taken out of them, and with Student's
// t for the readings that see the kernel); the response's own interval (the fit is repeated at its
// ends); whole watts (the bias that is left after the noise has dithered the steps, at most
// q / pi * exp(-2 pi^2 s^2 / q^2) on a plateau, Widrow and Kollar 2008); and the gain's tolerance.
//
// *What the sensor cannot resolve* is not_identified, with the number of launches that would
// resolve it. The number is absent if the parts that do not average out are too wide already.
//
// Threading: the functions have no state.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/sensor_recording.hpp"
#include "ww/measure/sensor_response.hpp"

namespace ww::measure {

struct SensorCheck;

struct TimeSpan {
  double from_s{};
  double to_s{};
};

struct KernelLaunch {
  std::size_t kernel{};  // index of the kernel
  TimeSpan time;
};

// Response of a reading to the power before it.
struct LaunchSensor {
  ResponseKind kind{ResponseKind::window};
  double time_s{};           // window, or time constant of the lag
  double low_s{}, high_s{};  // 95% interval of it
  double delay_s{};
  double delay_error_s{};  // 95% half-width
  // An energy accumulator: a reading's power is the energy since the reading before it over the
  // time since then. `time_s` is not used.
  bool accumulator{};
  double quantum_w{};           // step of the readings; 0 if they are fine
  double gain_tolerance_95{};   // relative half-width
  double offset_tolerance_w{};  // half-width; moves rest and totals only
};
// The sensor as doctor found it. The delay is good to 2 ms (the clocks' alignment).
[[nodiscard]] LaunchSensor launch_sensor(const SensorResponse& response);
// Makes the sensor from a step test. An interval that the test did not find is taken to be 10%. The
// step of the readings is the finest that the test saw.
[[nodiscard]] LaunchSensor launch_sensor(const SensorCheck& check);

// One whose window or time constant is known to `relative_error` (95%). The clocks agree to 5 ms,
// and the gain is known to 5%, unless the caller knows better.
[[nodiscard]] LaunchSensor register_response(ResponseKind kind, double time_s,
                                             double relative_error);

struct LaunchOptions {
  std::vector<double>
      bins_s;            // ends of bins of the time since launch; empty: the launch is one bin
  int drift_order{2};    // of the polynomial in time that rest follows
  double resolved{0.5};  // largest relative half-width of an energy that is called resolved
  double wanted{0.05};   // relative half-width for which the number of launches is given
};

struct LaunchEnergy {
  // `ok` or not_identified.
  RowStatus status{RowStatus::not_identified};
  std::string reason;
  std::size_t launches{};
  double duration_s{};  // mean
  double energy_j{};    // of one launch, above rest and awake
  // 95% interval: it divides by the gain (through_scale()) and reaches further up than down.
  Interval interval_j;
  double half_j{};  // its wider side
  // Parts of the interval, as half-widths [J].
  double noise_j{}, response_j{}, quantum_j{}, gain_j{};
  double total_j{};                 // with rest and awake power over its duration
  double total_half_j{};            // wider side of its interval
  std::vector<double> bin_power_w;  // above rest and awake
  // Launches that bring the half-width to LaunchOptions::wanted; absent if none would.
  std::optional<double> launches_wanted;
};

struct LaunchEnergies {
  std::vector<LaunchEnergy> kernels;
  // Covariance of the kernels' energies by noise [J^2], row by row: launches that always follow one
  // another share theirs.
  std::vector<double> covariance;
  double rest_w{};   // mean
  double awake_w{};  // above rest; 0 without awake stretches
  double noise_w{};  // standard deviation of the residuals
};

// Finds the energy of each kernel. `readings` are refreshes in order of time (of an accumulator:
// power since the reading before). `launches` are in order of time and do not overlap. `awake` are
// stretches in order of time; give them only if launches have two densities at least. Errors:
// bad_data (no launches, launches that overlap, fewer than three readings more than unknowns, or
// unknowns that the readings cannot separate: the message names the remedy), invalid_argument (a
// sensor without window, bins that do not rise).
[[nodiscard]] Result<LaunchEnergies> launch_energies(std::span<const PowerPoint> readings,
                                                     std::span<const KernelLaunch> launches,
                                                     std::span<const TimeSpan> awake,
                                                     const LaunchSensor& sensor,
                                                     const LaunchOptions& options = {});

// A launch's effect on the power at rest, as integrals over one launch. They come from the same
// regression as the energy, with the telemetry's voltage or temperature in place of the power.
struct RestShift {
  double voltage_fall_s{};       // of the fall of the voltage over the voltage at rest
  double temperature_rise_ks{};  // of the rise of the temperature [K s]
};

// Energy of one launch that switching took: what doing the work costs at the launch's own voltage.
struct SwitchedEnergy {
  double energy_j{};
  double half_j{};  // 95% half-width
};

// Takes from the energy above rest what the launch did to rest itself. The load line lowers the
// voltage while a launch runs, and with it the chip's other power, by V^n with n = 3 +- 1 (V^2 for
// clocks, V^2 to V^4 for leakage). Heat raises leakage: by 1.2 +- 1.2% of the power at rest a
// kelvin (leakage grows e-fold in 36 to 80 K, and is between nothing and all of rest). The rise is
// that of the telemetry, and 0.025 +- 0.025 K for each watt of the kernel that the telemetry does
// not see: from transistors to spreader heat passes 0.75 mm of silicon (120 W/(m K)) and 50 um of
// paste (4 to 8 W/(m K)), 12 to 19 K mm^2/W or 0.02 to 0.05 K/W on a die of 350 to 600 mm^2, and
// follows within milliseconds; a sensor on the die sees between nothing and all of it. The ranges
// are 95%, and enter the half-width.
[[nodiscard]] SwitchedEnergy switched_energy(const LaunchEnergy& kernel, double rest_w,
                                             const RestShift& shift);

// Returns the energy as tools without a response take it: mean of the readings that were taken
// during launches of the kernel times its duration. Absent without such readings.
[[nodiscard]] std::optional<double> naive_launch_energy(std::span<const PowerPoint> readings,
                                                        std::span<const KernelLaunch> launches,
                                                        std::size_t kernel);

}  // namespace ww::measure
