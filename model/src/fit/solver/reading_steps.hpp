// Errors of steady powers by the steps of a sensor's readings, where no noise dithers them.
//
// A sensor that shows multiples of q shows a steady power x with the error
//
//     r(x) = (q / pi) sum_n (-1)^n / n  exp(-2 (pi n sigma / q)^2)  sin(2 pi n x / q)
//
// on the average of many readings: a saw-tooth, smoothed by noise of standard deviation sigma
// before the rounding (Widrow and Kollar, "Quantization Noise", 2008: moments of a quantised
// Gaussian). From sigma = q / 2 on it is below 0.3% of a step. Without noise it is up to half a
// step, and one power errs equally in every block, so that neither scatter nor a bootstrap shows
// it.
//
// Where x lies within its step, no reading says where noise is small: the readings are whole steps,
// wherever x was. The errors of two payloads are therefore independent, even if both show the same
// power, while runs of one payload err together as long as its power stays where it is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ww::model {

// Variance of r over all positions x within a step, q^2 / 12 without noise:
//     sum_n (q / (pi n))^2 / 2  exp(-4 (pi n sigma / q)^2)
[[nodiscard]] double rounding_variance(double step_w, double sigma_w);

// The noise sigma before the rounding, from the mean square by which readings of steady powers
// scatter [W^2]. All readings together scatter by sigma^2 + q^2 / 12 (Sheppard) about the powers;
// the part r of it is the same in all readings of a power, and not in their scatter.
[[nodiscard]] double noise_before_rounding(double step_w, double mean_square_w2);

// A steady power of one payload.
struct SteadyPower {
  std::size_t payload{};
  double power_w{};
  double spread_w{};  // standard deviation of its readings
};
// Indices of the powers that err together: of one payload, and so near that their errors are
// correlated.
[[nodiscard]] std::vector<std::vector<std::size_t>> round_alike(std::span<const SteadyPower> powers,
                                                                double step_w);
// Variance of r, with the noise that all these powers show together.
[[nodiscard]] double rounding_variance(std::span<const SteadyPower> powers, double step_w);

// Variance by r of a value to which a watt of powers[i] adds per_watt[i]. 0 where the step is not
// known.
[[nodiscard]] double rounding_of(std::span<const SteadyPower> powers,
                                 std::span<const double> per_watt, double step_w);

}  // namespace ww::model
