// HotSpot 3D: the stencil through the layers of a stacked chip.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_hs3(Session& s) {
  const auto n = s.pick<std::size_t>(128, 256, 512);
  const std::size_t layers = 8;
  const int steps = s.pick(4, 10, 50);
  const std::size_t cells = n * n * layers;
  std::vector<float> power(cells), heat(cells);
  for (auto& v : power) v = s.random.uniform(0, 0.05F);
  for (auto& v : heat) v = s.random.uniform(320, 340);
  const float cew = 0.11F, cns = 0.13F, ctb = 0.05F, amb = 0.4F;
  const float cc = 0.995F - 2 * (cew + cns + ctb);
  std::vector<float> now = heat, next(cells);
  for (int step = 0; step < steps; ++step) {
    for (std::size_t z = 0; z < layers; ++z) {
      for (std::size_t y = 0; y < n; ++y) {
        for (std::size_t x = 0; x < n; ++x) {
          const auto at = [&](std::size_t px, std::size_t py, std::size_t pz) {
            return now[(pz * n + py) * n + px];
          };
          const float w = at(x > 0 ? x - 1 : x, y, z), e = at(std::min(x + 1, n - 1), y, z);
          const float u = at(x, y > 0 ? y - 1 : y, z), d = at(x, std::min(y + 1, n - 1), z);
          const float b = at(x, y, z > 0 ? z - 1 : z), a = at(x, y, std::min(z + 1, layers - 1));
          const std::size_t i = (z * n + y) * n + x;
          next[i] = cc * now[i] + cew * (w + e) + cns * (u + d) + ctb * (b + a) + power[i] + amb;
        }
      }
    }
    now.swap(next);
  }
  s.build("hs3.cl");
  const Buffer p = s.upload(power);
  Buffer from = s.upload(heat);
  Buffer to = s.zeros<float>(cells);
  for (int step = 0; step < steps; ++step) {
    s.launch("step3d", {n, n}, {64, 4}, p, from, to, static_cast<int>(n), static_cast<int>(layers),
             cc, cew, cns, ctb, amb);
    std::swap(from, to);
  }
  s.check("temperature", s.download<float>(from), now, 1e-5);
  const double bytes = steps * static_cast<double>(from.bytes);
  s.reads(2 * bytes, 6.5 * bytes);
  s.writes(bytes, bytes);
}

}  // namespace ww::workloads
