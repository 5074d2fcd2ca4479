// Area and longest path of routers and links, as DSENT's standard-cell models have them.
//
// DSENT (Sun et al., NOCS 2012) builds its router of flip-flop buffers, a multiplexer crossbar, a
// matrix arbiter and a clock tree. It sums the area of the cells, which is a lower bound of the
// router's: placement leaves cells between a half and nine tenths of the space. Its timing
// optimiser sizes them up until a path is as fast as it gets, and reports the delay of the slowest;
// these are the figures here. Cell areas are those of cells sized for 1 GHz.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ww/core/result.hpp"
#include "ww/core/units.hpp"
#include "ww/sim/power/accounting.hpp"
#include "ww/sim/power/events.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::power {

struct RouterArea {
  double buffers_mm2{};  // of all ports, with the registers of the pipeline
  double crossbar_mm2{};
  double switch_allocator_mm2{};
  double clock_mm2{};
  double longest_path_ps{};  // between registers
  std::string source;

  [[nodiscard]] double total_mm2() const {
    return buffers_mm2 + crossbar_mm2 + switch_allocator_mm2 + clock_mm2;
  }
};

// A row of DSENT, or derived from rows, as `source` then says: other nodes, widths and ports
// geometrically between the nearest rows; buffers linearly between rows by flits a port. Errors, by
// key: out_of_range for a node outside 11 to 45 nm, or sizes below 1.
[[nodiscard]] Result<RouterArea> router_area(double node_nm, const RouterSize& size);

struct WireArea {
  double repeaters_um2_per_bit_mm{};  // of wires that take at most 1 ns a millimetre
  double wiring_um2_per_bit_mm{};     // footprint on the global layer: width and spacing
  double ps_per_mm{};                 // with as many and as large repeaters as help
  std::string source;
};
// Error out_of_range, key node, outside 11 to 45 nm.
[[nodiscard]] Result<WireArea> wire_area(double node_nm);

struct NetworkArea {
  std::uint64_t routers{};
  RouterArea router;  // each of them: the mean router, where they differ
  std::uint64_t bypass_routers{};
  RouterArea bypass_router;  // of Dapper's reply plane: one VC of one flit
  double link_mm{};          // of all links on the die
  double repeaters_mm2{};
  double wiring_mm2{};  // above the cells, not beside them
  double link_ps{};     // over the common length of links
  double clock_ps{};    // of the network, for comparison
  WireArea wire;

  [[nodiscard]] double cells_mm2() const {
    return static_cast<double>(routers) * router.total_mm2() +
           static_cast<double>(bypass_routers) * bypass_router.total_mm2() + repeaters_mm2;
  }
};
// Returns the area of the electrical routers and the links on the die that `events` counts. Light,
// compressors and all between dies are left out. Errors: those of router_area().
[[nodiscard]] Result<NetworkArea> network_area(const NetworkEvents& events,
                                               const EnergyConfig& config);
// {cells_mm2, routers, router_mm2 {buffers, crossbar, switch_allocator, clock, total},
// bypass_routers, bypass_router_mm2, repeaters_mm2, wiring_mm2, router_path_ps, link_ps,
// link_ps_per_mm, clock_ps, source}
void to_json(nlohmann::json& json, const NetworkArea& area);

}  // namespace ww::sim::power
