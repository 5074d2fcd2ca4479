// The AMD APP SDK's NBody: step and softening, ranges of places and masses are the sample's.
#include <array>

#include "session.hpp"

namespace ww::workloads {

void run_sdk_nbody(Session& s) {
  const auto n = s.extent(256);
  const int steps = 2;
  const float dt = 0.005F;
  const float softening = 500;
  std::vector<float> position(4 * n), velocity(4 * n);
  for (std::size_t i = 0; i < 4 * n; ++i) {
    position[i] = i % 4 == 3 ? s.random.uniform(1, 1000) : s.random.uniform(3, 50);
  }
  auto want = position;
  auto speed = velocity;
  for (int step = 0; step < steps; ++step) {
    auto next = want;
    for (std::size_t i = 0; i < n; ++i) {
      std::array<double, 3> pull{};
      for (std::size_t j = 0; j < n; ++j) {
        std::array<double, 3> d{};
        double square = softening;
        for (std::size_t k = 0; k < 3; ++k) {
          d[k] = double{want[4 * j + k]} - want[4 * i + k];
          square += d[k] * d[k];
        }
        const double strength = want[4 * j + 3] / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k) pull[k] += d[k] * strength;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        const double before = speed[4 * i + k];
        next[4 * i + k] += static_cast<float>(before * dt + 0.5 * dt * dt * pull[k]);
        speed[4 * i + k] = static_cast<float>(before + dt * pull[k]);
      }
    }
    want = next;
  }
  s.build("sdk_nbody.cl");
  Buffer from = s.upload(position);
  Buffer to = s.zeros<float>(4 * n);
  Buffer old_velocity = s.upload(velocity);
  Buffer new_velocity = s.zeros<float>(4 * n);
  for (int step = 0; step < steps; ++step) {
    s.launch("step", {n}, {64}, from, old_velocity, static_cast<std::uint32_t>(n), dt, softening,
             to, new_velocity);
    std::swap(from, to);
    std::swap(old_velocity, new_velocity);
  }
  // Pulls from all sides cancel to a hundredth of their sum and less.
  s.check("position", s.download<float>(from), want, 1e-5, 1e-4);
  s.check("velocity", s.download<float>(old_velocity), speed, 1e-3, 1e-2);
  // Other bodies come by scalar loads, which these counters do not see.
  const double bytes = 2 * steps * static_cast<double>(from.bytes);
  s.reads(bytes, 1.5 * bytes);
  s.writes(bytes, bytes);
}

}  // namespace ww::workloads
