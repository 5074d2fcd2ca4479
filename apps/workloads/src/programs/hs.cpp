// HotSpot's thermal stencil (Huang et al., 2006), tiled as Rodinia's program is: blocks of 16 x 16
// in local memory, two steps a launch.
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
  constexpr std::size_t kSide = 16;
  constexpr int kStepsAtOnce = 2;
  constexpr std::size_t kOwn = kSide - 2 * kStepsAtOnce;  // cells a side that a group writes
  const std::size_t groups = (n + kOwn - 1) / kOwn;
  for (int step = 0; step < steps; step += kStepsAtOnce) {
    s.launch("steps2d", {groups * kSide, groups * kSide}, {kSide, kSide}, p, from, to,
             static_cast<int>(n), kStepsAtOnce, cap, rx, ry, rz);
    std::swap(from, to);
  }
  s.check("temperature", s.download<float>(from), now, 1e-5);
  // Power and temperature once a launch at least. At most each row of a tile, 64 bytes that may lie
  // in two lines of up to 128 bytes, for every 12 x 12 cells; written are 48 bytes, which may lie
  // in two lines of 64.
  const int launches = steps / kStepsAtOnce;
  const double bytes = launches * static_cast<double>(from.bytes);
  const double tiles = launches * static_cast<double>(groups * groups);
  s.reads(2 * bytes, 2 * tiles * kSide * 256);
  s.writes(bytes, tiles * kOwn * 128);
}

}  // namespace ww::workloads
