// HotSpot's thermal stencil (Huang et al., 2006).
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_hs(Session& s) {
  const auto n = s.pick<std::size_t>(256, 512, 1024);
  const int steps = s.pick(8, 20, 60);
  std::vector<float> power(n * n), heat(n * n);
  for (auto& v : power) v = s.random.uniform(0, 0.1F);
  for (auto& v : heat) v = s.random.uniform(320, 340);
  const float cap = 0.5F, rx = 0.1F, ry = 0.15F, rz = 0.002F;
  std::vector<float> now = heat, next(n * n);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t y = 0; y < n; ++y) {
      for (std::size_t x = 0; x < n; ++x) {
        const auto at = [&](std::size_t px, std::size_t py) { return now[py * n + px]; };
        const float t = at(x, y);
        const float w = at(x > 0 ? x - 1 : x, y), e = at(std::min(x + 1, n - 1), y);
        const float u = at(x, y > 0 ? y - 1 : y), d = at(x, std::min(y + 1, n - 1));
        next[y * n + x] = t + cap * (power[y * n + x] + (u + d - 2 * t) * ry +
                                     (e + w - 2 * t) * rx + (80 - t) * rz);
      }
    }
    now.swap(next);
  }
  s.build("hs.cl");
  const Buffer p = s.upload(power);
  Buffer from = s.upload(heat);
  Buffer to = s.zeros<float>(n * n);
  for (int step = 0; step < steps; ++step) {
    s.launch("step2d", {n, n}, {64, 4}, p, from, to, static_cast<int>(n), cap, rx, ry, rz);
    std::swap(from, to);
  }
  s.check("temperature", s.download<float>(from), now, 1e-5);
  // Power and temperature once a step at least; at most all five neighbours, two of them with a
  // fifth line for four.
  const double bytes = steps * static_cast<double>(from.bytes);
  s.reads(2 * bytes, 6.5 * bytes);
  s.writes(bytes, bytes);
}

}  // namespace ww::workloads
