// Models the energy of a bit on its way from an L2 quadrant to an engine: wires, switches along the
// way, requests. All energies grow with the square of the voltage.
#pragma once

#include <string_view>
#include <vector>

#include "die.hpp"

namespace ww::challenge {

// Activity of a bus with a payload, per bit and wire.
struct Activity {
  double toggles{};  // transitions
  // Half of the mean square of the difference of two neighbours' transitions: 0.5 for independent
  // random bits, 0 where all wires change together.
  double coupling{};
};
// Activity by the pattern's name in the campaign; constant payloads toggle as often as a bus parks.
[[nodiscard]] Activity activity_of(std::string_view pattern, double parking);

class Wires {
 public:
  Wires(const Die& die, Draws& draws);

  // Energy per payload bit [fJ] at `voltage_v`, at 60 C.
  [[nodiscard]] double energy_fj(int engine, int quadrant, const Activity& activity,
                                 double voltage_v) const;
  // Growth of the energy with the die's temperature.
  [[nodiscard]] double at_temperature(double celsius) const;
  // Energy of a random bit on a millimetre of wire alone: C V^2 / 4 [fJ].
  [[nodiscard]] double alone_fj_per_mm(double voltage_v) const;
  [[nodiscard]] double parking() const { return parking_; }
  [[nodiscard]] bool has_stages() const { return stage_fj_ > 0; }

  // Random bits: [engine][quadrant], and the distances behind them.
  [[nodiscard]] std::vector<std::vector<double>> energies_fj(double voltage_v) const;
  [[nodiscard]] static std::vector<std::vector<double>> distances_mm(const Blocks& blocks);
  // Switches on the way, which latency sees as well.
  [[nodiscard]] double stages(int engine, int quadrant) const;

 private:
  double capacitance_pf_{}, coupling_share_{}, overhead_{}, request_share_{}, parking_{};
  double stage_fj_{}, clocked_share_{}, step_mm_{}, warming_{};
  std::vector<std::vector<double>> length_mm_;  // as energy sees it
  std::vector<std::vector<double>> stages_;
  std::vector<std::vector<double>> step_;  // 1 where the route leaves the engine's own quadrant
};

}  // namespace ww::challenge
