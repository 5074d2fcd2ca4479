// Separable image convolution through a texture-like clamped fetch.
#include <algorithm>

#include "picture.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_convtex(Session& s) {
  const auto n = s.pick<std::size_t>(256, 1024, 3072);
  const auto grey = grey_picture(s.random, n, n);
  const std::vector<float> image(grey.begin(), grey.end());
  std::vector<float> taps(17);
  for (auto& tap : taps) tap = s.random.uniform(0, 0.1F);
  const auto pass = [&](const std::vector<float>& in, bool along_x) {
    std::vector<float> out(in.size());
    const auto last = static_cast<std::ptrdiff_t>(n) - 1;
    for (std::ptrdiff_t y = 0; y <= last; ++y) {
      for (std::ptrdiff_t x = 0; x <= last; ++x) {
        double sum = 0;
        for (std::ptrdiff_t k = -8; k <= 8; ++k) {
          const auto sx = along_x ? std::clamp<std::ptrdiff_t>(x + k, 0, last) : x;
          const auto sy = along_x ? y : std::clamp<std::ptrdiff_t>(y + k, 0, last);
          sum += taps[static_cast<std::size_t>(k + 8)] *
                 in[static_cast<std::size_t>(sy * (last + 1) + sx)];
        }
        out[static_cast<std::size_t>(y * (last + 1) + x)] = static_cast<float>(sum);
      }
    }
    return out;
  };
  const auto want = pass(pass(image, true), false);

  s.build("convtex.cl");
  const Buffer in = s.upload(image);
  const Buffer middle = s.zeros<float>(image.size());
  const Buffer out = s.zeros<float>(image.size());
  s.approximable(in, microbench::ApproximableType::float32);
  s.approximable(middle, microbench::ApproximableType::float32);
  const Buffer filter = s.upload(taps);
  const int width = static_cast<int>(n);
  s.launch("rows", {n, n}, {64, 4}, in, middle, filter, width);
  s.launch("columns", {n, n}, {64, 4}, middle, out, filter, width, width);
  s.check("pixel", s.download<float>(out), want, 1e-4);
  // Each pass reads all of the image, and at most every tap's lines: 17 of 4 or 5 lines a wave.
  const auto bytes = static_cast<double>(in.bytes);
  s.reads(2 * bytes, 2 * 17 * 1.25 * bytes);
  s.writes(2 * bytes, 2 * bytes);
}

}  // namespace ww::workloads
