// Energies of a router and of a millimetre of link, from four published estimators, with their
// sources. They disagree by factors, so all of them can be chosen; see README.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::sim::power {

enum class Estimator {
  dsent,       // DSENT (Sun et al., NOCS 2012), Graphite's copy: leakage at the node's own voltage
  dsent_gem5,  // gem5's copy: same dynamic energy, leakage without the voltage correction
  orion2,      // ORION 2.0 (Kahng et al., DATE 2009), register buffers
  mcpat,       // McPAT's router class (Li et al., MICRO 2009), VCs counted once
  mcpat_noc,   // McPAT's router class as its own NoC code calls it: VCs counted twice
};
[[nodiscard]] std::string_view to_string(Estimator estimator);
// Error invalid_argument, key estimator.
[[nodiscard]] Result<Estimator> estimator_from_string(std::string_view text);

// Energies for random data. Rows of the table are 5-port routers with 5 VCs of 4 flits.
struct RouterEnergy {
  Estimator estimator{};
  double node_nm{};
  double vdd_v{};
  int flit_bits{};
  double buffer_write_pj{};  // per flit
  double buffer_read_pj{};   // per flit
  double crossbar_pj{};      // per flit
  double switch_grant_pj{};  // per flit
  double vc_grant_pj{};      // per packet and router; 0 where the estimator has no VC allocator
  double clock_pj{};         // per cycle, whether or not a flit moves; 0 where not modelled
  double leakage_mw{};
  double link_fj_per_toggle_mm{};  // one bit changing, one mm of global wire; random data: 0.5/bit
  double link_leakage_uw_per_bit_mm{};
  std::string source;
};

// The rows as published: 45, 32, 22 and 11 nm (DSENT), 45 and 32 nm (ORION 2), 45, 32 and 22 nm
// (McPAT); 64, 128 and 256 bits.
[[nodiscard]] std::span<const RouterEnergy> router_table();

struct RouterSize {
  int flit_bits{128};
  int ports{5};
  int vcs{5};
  int vc_buffer{4};  // flits per VC; 0: no buffers
};

// Returns the row that fits, or one derived from rows. `source` then says so:
// - another node: geometric interpolation between its neighbours in log(node);
// - another flit width: linear interpolation in bits. Beyond 64 and 256 bits the same line, or for
//   figures that grow faster than the width (McPAT's) the power that goes through the two nearest
//   rows;
// - other buffers: write, read and leakage follow DSENT's rows for 20, 4 and 1 flits a port
//   (22 nm, 128 bits), piecewise linear;
// - other ports: crossbar, switch allocator, clock and leakage in proportion.
// Errors, by key: out_of_range for a node outside the estimator's rows (no extrapolation there), or
// sizes below 1.
[[nodiscard]] Result<RouterEnergy> router_energy(Estimator estimator, double node_nm,
                                                 const RouterSize& size);

}  // namespace ww::sim::power
