// Gravitating bodies, all pairs (Nyland, Harris, Prins, GPU Gems 3).
#include <array>

#include "session.hpp"

namespace ww::workloads {

void run_nbody(Session& s) {
  const auto n = s.pick<std::size_t>(1024, 4096, 16384);
  const int steps = s.pick(2, 2, 10);
  const float dt = 0.01F;
  std::vector<float> position(4 * n), velocity(4 * n);
  for (std::size_t i = 0; i < 4 * n; ++i) {
    position[i] = i % 4 == 3 ? s.random.uniform(0.5F, 1.5F) : s.random.uniform(-10, 10);
    velocity[i] = i % 4 == 3 ? 0 : s.random.uniform(-1, 1);
  }
  auto want = position;
  auto speed = velocity;
  for (int step = 0; step < steps; ++step) {
    auto next = want;
    for (std::size_t i = 0; i < n; ++i) {
      std::array<double, 3> a{};
      for (std::size_t j = 0; j < n; ++j) {
        std::array<double, 3> d{};
        double square = 0.01;
        for (std::size_t k = 0; k < 3; ++k) {
          d[k] = double{want[4 * j + k]} - want[4 * i + k];
          square += d[k] * d[k];
        }
        const double pull = want[4 * j + 3] / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k) a[k] += d[k] * pull;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        speed[4 * i + k] += static_cast<float>(a[k] * dt);
        next[4 * i + k] += speed[4 * i + k] * dt;
      }
    }
    want = next;
  }
  s.build("nbody.cl");
  Buffer from = s.upload(position);
  Buffer to = s.zeros<float>(4 * n);
  const Buffer v = s.upload(velocity);
  for (int step = 0; step < steps; ++step) {
    s.launch("step", {n}, {256}, from, to, v, static_cast<std::uint32_t>(n), dt);
    std::swap(from, to);
  }
  s.check("position", s.download<float>(from), want, 1e-5, 1e-5);
  s.check("velocity", s.download<float>(v), speed, 1e-4, 1e-4);
  // Positions once for each group at most, and each work-item's own; velocities once.
  const double bytes = steps * static_cast<double>(from.bytes);
  const auto groups = n / 256;
  s.reads(2 * bytes, bytes * (static_cast<double>(groups) + 2));
  s.writes(2 * bytes, 2 * bytes);
}

}  // namespace ww::workloads
