// Small-sample statistics: the tail of Fisher's F, robust scale.
#pragma once

#include <span>

namespace ww::model {

// Scale from the median absolute deviation, times 1.4826 (consistent for a normal distribution).
[[nodiscard]] double robust_scale(std::span<const double> values);

// Sum of squares of residuals about zero, those beyond three robust scales counted as three: twice
// as efficient as the robust scale, and outliers still do not carry it away.
[[nodiscard]] double clipped_square_sum(std::span<const double> residuals);

// P(F >= f) for Fisher's F with d1 and d2 degrees of freedom.
[[nodiscard]] double f_tail(double f, double d1, double d2);

struct MeanAndError {
  double mean{};
  double error{};  // standard error of the mean, autocorrelation included
};
// Mean of a series whose neighbours are correlated (a sensor's averaging window, slow drift). The
// error comes from batch means: correlation within a batch is then allowed for (Flyvbjerg and
// Petersen 1989, J. Chem. Phys. 91:461: batches grow until the error stops growing).
// A linear trend is taken out first: a plateau that warms up is not noise.
[[nodiscard]] MeanAndError correlated_mean(std::span<const double> values);

}  // namespace ww::model
