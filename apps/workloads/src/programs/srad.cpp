// SRAD (Yu, Acton, 2002) on an ultrasound-like image.
#include <algorithm>
#include <array>

#include "session.hpp"

namespace ww::workloads {
namespace {

float speckle(double sum, double squares, double count) {
  const double mean = sum / count;
  return static_cast<float>((squares / count - mean * mean) / (mean * mean));
}

void reference_step(std::vector<float>& image, std::size_t n, float lambda) {
  double sum = 0;
  double squares = 0;
  for (const float v : image) {
    sum += v;
    squares += double{v} * v;
  }
  const float q0 = speckle(sum, squares, static_cast<double>(image.size()));
  std::vector<float> c(image.size());
  std::vector<std::array<float, 4>> d(image.size());
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::size_t x = i % n;
    const std::size_t y = i / n;
    const float jc = image[i];
    d[i] = {image[y > 0 ? i - n : i] - jc, image[y < n - 1 ? i + n : i] - jc,
            image[x > 0 ? i - 1 : i] - jc, image[x < n - 1 ? i + 1 : i] - jc};
    float g2 = 0;
    float l = 0;
    for (const float v : d[i]) {
      g2 += v * v;
      l += v;
    }
    g2 /= jc * jc;
    l /= jc;
    const float den = 1 + 0.25F * l;
    const float q = (0.5F * g2 - 0.0625F * l * l) / (den * den);
    c[i] = std::clamp(1 / (1 + (q - q0) / (q0 * (1 + q0))), 0.0F, 1.0F);
  }
  for (std::size_t i = 0; i < image.size(); ++i) {
    const float south = c[i / n < n - 1 ? i + n : i];
    const float east = c[i % n < n - 1 ? i + 1 : i];
    image[i] +=
        0.25F * lambda * (c[i] * d[i][0] + south * d[i][1] + c[i] * d[i][2] + east * d[i][3]);
  }
}

}  // namespace

void run_srad(Session& s) {
  const auto n = s.extent(64);
  const int steps = s.pick(3, 10, 3, 50);
  const float lambda = 0.5F;
  std::vector<float> image(n * n);
  for (auto& v : image) v = std::exp(s.random.uniform(0, 1));
  auto want = image;
  for (int step = 0; step < steps; ++step) reference_step(want, n, lambda);

  s.build("srad.cl");
  const Buffer j = s.upload(image);
  const Buffer gradient = s.zeros<float>(4 * n * n);
  const Buffer c = s.zeros<float>(n * n);
  const Buffer sums = s.zeros<float>(2 * n * n / 256);
  const int width = static_cast<int>(n);
  for (int step = 0; step < steps; ++step) {
    s.launch("statistics", {n * n}, {256}, j, sums);
    double sum = 0;
    double squares = 0;
    const auto parts = s.download<float>(sums);
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      sum += parts[i];
      squares += parts[i + 1];
    }
    s.launch("coefficient", {n, n}, {64, 4}, j, gradient, c, width,
             speckle(sum, squares, static_cast<double>(n * n)));
    s.launch("diffuse", {n, n}, {64, 4}, j, gradient, c, width, lambda);
  }
  s.check("pixel", s.download<float>(j), want, 1e-4);
  const double bytes = steps * static_cast<double>(j.bytes);
  // Image in each of three kernels, gradient (four floats) and coefficient once; neighbours often
  // hit the L1.
  s.reads((1 + 1 + 1 + 4 + 1) * bytes, (1 + 5.5 + 1 + 4 + 3.5) * bytes);
  s.writes((4 + 1 + 1) * bytes, (4 + 1 + 1 + 0.0625) * bytes);
}

}  // namespace ww::workloads
