// How far a program's output is from that of an exact run: the Dapper paper's measure, and
// pictures'.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::study::dapper {

// Raparti and Pasricha, NOCS 2018, equations (3) and (4): e = (V - V') / V, error = mean |e|.
// Equation (3) knows nothing of V = 0: such a point counts as 0 where it is still 0; where it is
// not, it is left out of the mean and counted in zeros_changed. Points where either is not finite
// count as left out too, unless both are the same.
struct OutputError {
  std::size_t points{};
  std::size_t changed{};        // points that differ at all
  std::size_t zeros_changed{};  // left out of the mean
  double mean{};                // equation (4), a fraction
  double normalised{};          // mean |V - V'| over mean |V|: small values do not weigh more
};
// Error invalid_argument when the sizes differ or there is nothing.
[[nodiscard]] Result<OutputError> output_error(std::span<const double> exact,
                                               std::span<const double> inexact);

// The colours, red, green, blue from 0 to 255, of the 16 pixels of each DXT1 block: two words, the
// end points in 5:6:5 bits and two bits a pixel.
[[nodiscard]] std::vector<double> dxt1_colours(std::span<const double> words);

// A grey picture, rows from the top.
struct Picture {
  std::size_t width{};
  std::size_t height{};
  std::vector<double> grey;  // 0 to 255; more and less are cut when it is written
};

// The pictures of 8x8 blocks of DCT coefficients, by the inverse transform (JPEG's convention).
[[nodiscard]] Picture inverse_dct8(std::span<const double> coefficients, std::size_t width);

// Peak signal to noise in dB, for a peak of 255; infinite where nothing differs. Sizes must agree.
[[nodiscard]] double psnr_db(const Picture& a, const Picture& b);
// Structural similarity (Wang et al., 2004): the mean over 8x8 windows, every fourth pixel, K1
// 0.01, K2 0.03, a range of 255.
[[nodiscard]] double ssim(const Picture& a, const Picture& b);

// A PNG file's bytes, 8-bit grey, not compressed.
[[nodiscard]] std::vector<std::byte> png(const Picture& picture);

}  // namespace ww::study::dapper
