// Computes the energy of a network: its events times the energy of each.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/power/chip_wires.hpp"
#include "ww/sim/power/crossing_energy.hpp"
#include "ww/sim/power/events.hpp"
#include "ww/sim/power/photonic_power.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::power {

struct EnergyConfig {
  Estimator estimator{Estimator::dsent};
  double node_nm{22};
  RouterSize router;
  Hertz clock{1e9};
  Millimetre link_length{1.0};
  // Bit transitions per link, bit and flit, used if they are not counted; 0.5 is random data.
  double toggle_rate{0.5};
  PhotonicPowerConfig photonic;  // used for networks with light
  // Energies and leakage of a bypass router over those of a router as wide (Dapper says "up to 50%
  // less power": 0.5). 0: those of the estimator's router of one VC and one flit.
  double bypass_power{};
  // A calibration's wires at `node_nm`, which replace the estimator's links. Their leakage is 0,
  // because a fit contains only energy that moves with data.
  std::optional<ChipWires> wire;
  // Prices links between the sides of an L2, instead of the link. Every bit of a flit is one.
  std::optional<CrossingEnergy> crossing;
  // Prices links to the next die of a package, instead of the topology's pJ per bit.
  std::optional<DieHopEnergy> die_hops;
  // Prices wires between pairs of nodes, instead of the link.
  std::optional<ChipWires> chip_wires;
};

// The routers' energy and its range in the literature: the least and the most that one of the
// published estimators with a row for the node reports for the same events. No chip's counters
// separate its routers, so this range, and no measurement, is what is known.
struct RouterCharge {
  Interval pj;  // by the estimator asked for; low and high by others
  Estimator least{};
  Estimator most{};
  int estimators{};
};

// Energy of the links to the next die of a package.
struct DieHopCharge {
  CrossingCharge row;
  CrossingCharge column;
};

// The energy of a network in few figures, each with its range: the least and the most of the
// published estimators with a row for the node, and the 95% intervals of what a calibration prices
// (the ends add). Light has no range. Unavailable where no cycle was measured or nothing arrived.
struct EnergyFigures {
  Figure energy;      // J, of the measured cycles
  Figure power;       // W, over these cycles
  Figure per_flit;    // J a flit that arrived
  Figure per_bit;     // J a bit that arrived
  Figure wire_share;  // %, EnergyReport::wires() of the total
};
void to_json(nlohmann::json& json, const EnergyFigures& figures);

// Energy by component. A bypass router is priced as a router of one VC with one flit, which is the
// estimator's nearest equivalent of a latch a port. Its crossbar is charged for each switch that a
// flit passes, and its buffer for each latch. Data energies of routers are for random data; the
// energy of a link follows its transitions.
struct EnergyReport {
  Picojoule buffer_write{}, buffer_read{}, crossbar{}, switch_allocator{}, vc_allocator{};
  // Links between dies and packages, at their own pJ per bit or a calibration's; those between the
  // sides of an L2 where a calibration says what they cost.
  Picojoule crossing{};
  Picojoule link{}, clock{}, router_leakage{}, link_leakage{};
  // Dapper's reply plane: switches and latches of its bypass routers, its links, and its control.
  Picojoule bypass_switch{}, bypass_latch{}, bypass_link{}, bypass_clock{};
  Picojoule bypass_router_leakage{}, bypass_link_leakage{};
  Picojoule approximator{};     // reads, products and comparisons of the data approximators
  Picojoule overlay_control{};  // windows computed, routers connected anew
  // Approx-NoC's network interfaces.
  Picojoule compressor{}, dictionary_leakage{};
  // Writing and reading the memory controllers' output buffers, if the network has them. Their
  // leakage is the same in every network and is left out.
  Picojoule reply_buffer{};
  RouterCharge router_charge;  // of routers()
  EnergyFigures figures;
  std::optional<CrossingCharge> l2_crossing;  // of `crossing`, with EnergyConfig::crossing
  std::optional<DieHopCharge> die_hops;       // of `crossing`, with EnergyConfig::die_hops
  std::optional<ChipWiresCharge> chip_wires;  // of `link`, with EnergyConfig::chip_wires
  std::optional<LinkWiresCharge> link_wires;  // of both links, with EnergyConfig::wire
  std::optional<PhotonicEnergy> photonic;     // of networks with light; the rest is electrical
  std::string router_source, wire_source;
  std::string bypass_source, overhead_source;  // empty if nothing was charged

  // The sum of what routers pay, those of an overlay not counted.
  [[nodiscard]] Picojoule routers() const;
  // The sum of what moving data on wires costs: links, bypass links and crossings, with leakage.
  [[nodiscard]] Picojoule wires() const;
  // The sum of all components, light included.
  [[nodiscard]] Picojoule total() const;
  // The sum of all components without light.
  [[nodiscard]] Picojoule electrical() const;
  // Names and values in the order above, for reports.
  [[nodiscard]] std::array<std::pair<const char*, Picojoule>, 21> components() const;
};
// Writes {buffer_write, ..., reply_buffer, total} in pJ, the sources, and `routers`: pj with low
// and high, the estimators that say the least and the most, how many there are, and label,
// "literature". A network with light also has laser, tuning, modulators, detectors, and
// `electrical`, the sum of the others. A charge of crossings adds `l2_crossing`: flits, pj_per_bit
// and pj with low and high, toggle_rate, source, and label, "measured" or "virtual". A charge of
// hops between dies adds `die_hops`, with the same of `row` and `column`. A charge of a chip's
// wires adds `chip_wires`: flits, bit_mm, mean_mm, toggle_rate, fj_per_bit_mm and pj of all,
// `requests` and `replies`, source and label. A calibration's wires in links add `link_wires`:
// bit_mm, toggle_rate, fj_per_bit_mm and pj with low and high, source and label.
void to_json(nlohmann::json& json, const EnergyReport& report);

// Errors, by key: out_of_range for toggle_rate outside 0 to 1, link_length below 0, clock not above
// 0; those of router_energy and photonic_energy.
[[nodiscard]] Result<EnergyReport> account(const NetworkEvents& events, const EnergyConfig& config);

// The results of all estimators, side by side. A failed one says why (ORION 2 has no 22 nm).
struct Comparison {
  Estimator estimator{};
  Result<EnergyReport> report;
};
[[nodiscard]] std::vector<Comparison> compare_estimators(const NetworkEvents& events,
                                                         const EnergyConfig& config);

}  // namespace ww::sim::power
