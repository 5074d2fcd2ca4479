#include "ww/sim/power/overhead_energy.hpp"

#include "ww/sim/power/router_energy.hpp"

namespace ww::sim::power {

Result<OverheadEnergy> overhead_energy(double node_nm) {
  constexpr RouterSize kDeep{};  // 128 bits, 5 ports, 20 flits a port
  constexpr RouterSize kShallow{.vcs = 1, .vc_buffer = 1};
  WW_ASSIGN(reference, router_energy(Estimator::dsent, 45, kDeep));
  WW_ASSIGN(deep, router_energy(Estimator::dsent, node_nm, kDeep));
  WW_ASSIGN(shallow, router_energy(Estimator::dsent, node_nm, kShallow));
  const double scale = deep.switch_grant_pj / reference.switch_grant_pj;
  OverheadEnergy energy;
  energy.add_pj = 0.1 * scale;
  energy.multiply_pj = 3.1 * scale;
  energy.memory_pj_per_64b = 10 * scale;
  energy.storage_write_pj_per_bit = deep.buffer_write_pj / kDeep.flit_bits;
  energy.storage_read_pj_per_bit = deep.buffer_read_pj / kDeep.flit_bits;
  const double bits =
      static_cast<double>((kDeep.vcs * kDeep.vc_buffer - 1) * kDeep.ports * kDeep.flit_bits);
  energy.storage_leakage_uw_per_bit = (deep.leakage_mw - shallow.leakage_mw) * 1e3 / bits;
  energy.source =
      "logic and memory: Horowitz, ISSCC 2014, 45 nm, scaled as DSENT's switch allocator; storage: "
      "DSENT's buffers";
  return energy;
}

}  // namespace ww::sim::power
