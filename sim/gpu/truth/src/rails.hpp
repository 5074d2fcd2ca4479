// The energy accumulators of a package's parts: compute dies, I/O dies and memory stacks, each with
// a gain of its own, beside the socket's, which is the sensor's. Losses of regulators are in the
// socket's alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>

#include "draw.hpp"
#include "truth.hpp"
#include "ww/core/vgpu_abi.h"

namespace ww::sim::gpu {

class Rails {
 public:
  // Refreshed at ticks of the sensor. `seed` draws noise and wander.
  Rails(const Truth& truth, std::uint64_t seed);

  [[nodiscard]] std::span<const char* const> names() const;
  // Energy [J] that left the rails.
  struct Energies {
    double xcd_j{}, aid_j{}, hbm_j{};
  };
  void add(const Energies& energies);
  // A tick of the sensor, whose accumulator the socket's rail repeats.
  void tick(std::int64_t time_ns, std::int64_t socket_ticks);
  [[nodiscard]] const std::deque<ww_vgpu_rail_sample>& samples() const { return samples_; }

 private:
  RailsTruth truth_;
  Draw draw_;
  std::int64_t ticks_to_refresh_{};
  std::int64_t ticks_{};
  double wander_pull_{}, wander_kick_{};
  std::array<double, 3> gain_{}, wander_{}, fresh_j_{}, sum_j_{};
  std::deque<ww_vgpu_rail_sample> samples_;
};

}  // namespace ww::sim::gpu
