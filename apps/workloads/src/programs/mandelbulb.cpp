// The Mandelbulb (White, Nylander, 2009). A step count flips where a ray just grazes the surface,
// so a hundredth of the pixels may differ.
#include <array>

#include "session.hpp"

namespace ww::workloads {
namespace {

using Vector = std::array<double, 3>;

double length(const Vector& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double estimate(const Vector& p) {
  Vector z = p;
  double dr = 1;
  double r = 0;
  for (int i = 0; i < 6; ++i) {
    r = length(z);
    if (r > 2) break;
    const double theta = std::acos(z[2] / r) * 8;
    const double phi = std::atan2(z[1], z[0]) * 8;
    const double r8 = std::pow(r, 8);
    dr = std::pow(r, 7) * 8 * dr + 1;
    z = {r8 * std::sin(theta) * std::cos(phi) + p[0], r8 * std::sin(phi) * std::sin(theta) + p[1],
         r8 * std::cos(theta) + p[2]};
  }
  return 0.5 * std::log(r) * r / dr;
}

}  // namespace

void run_mandelbulb(Session& s) {
  const auto n = s.extent(64);
  s.build("mandelbulb.cl");
  const Buffer image = s.zeros<float>(n * n);
  s.launch("render", {n, n}, {8, 8}, image, static_cast<int>(n), static_cast<int>(n));
  const auto got = s.download<float>(image);
  s.result("the image", got);
  std::size_t differ = 0;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto size = static_cast<double>(n);
    const auto row = i / n;
    Vector ray{(2 * static_cast<double>(i % n) - size) / size,
               (2 * static_cast<double>(row) - size) / size, 1.6};
    const double norm = length(ray);
    double t = 0;
    double shade = 0;
    for (int step = 0; step < 64; ++step) {
      Vector at{0, 0, -2.6};
      for (std::size_t k = 0; k < 3; ++k) at[k] += ray[k] / norm * t;
      const double d = estimate(at);
      if (d < 0.002) {
        shade = 1 - step / 64.0;
        break;
      }
      t += d;
      if (t > 5) break;
    }
    hits += shade > 0 ? 1 : 0;
    differ += std::abs(shade - got[i]) <= 1e-6 ? 0 : 1;
  }
  s.require(hits > got.size() / 8, "the reference image is empty");
  s.require(differ <= got.size() / 100, "over a hundredth of the pixels differ");
  // Eight rows of 32 bytes a wave: half lines.
  const double pixels = 2.0 * static_cast<double>(image.bytes);
  s.reads(0, 0);
  s.writes(pixels, pixels);
}

}  // namespace ww::workloads
