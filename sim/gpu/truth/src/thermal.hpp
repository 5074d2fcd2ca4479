// Heat flow in a chip: zones -> spreader -> heatsink -> ambient, linear, stepped exactly.
#pragma once

#include <span>
#include <vector>

#include "truth.hpp"

namespace ww::sim::gpu {

// dT/dt = A T + B u with u = zone powers [W] and the ambient temperature [C], held over a step:
//   T(t + h) = Phi T(t) + Gamma u,   exp(h [[A, B], [0, 0]]) = [[Phi, Gamma], [0, I]].
class ThermalNetwork {
 public:
  ThermalNetwork(const ThermalTruth& truth, int zones, double step_s);

  // Settles at constant zone powers.
  void settle(std::span<const double> zone_power_w, double ambient_c);
  void step(std::span<const double> zone_power_w, double ambient_c);
  [[nodiscard]] std::span<const double> zones_c() const { return {temperature_c_.data(), zones_}; }
  [[nodiscard]] double spreader_c() const { return temperature_c_[zones_]; }
  [[nodiscard]] double sink_c() const { return temperature_c_[zones_ + 1]; }

 private:
  ThermalTruth truth_;
  std::size_t zones_;
  std::size_t rows_;                   // nodes, padded to a multiple of four
  std::vector<double> matrix_;         // [Phi Gamma], column-major
  std::vector<double> temperature_c_;  // zones, spreader, sink, padding
  std::vector<double> input_;          // temperatures, powers, ambient
};

}  // namespace ww::sim::gpu
