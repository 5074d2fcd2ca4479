// Energies of logic and small memories beside routers, which approximating networks add.
#pragma once

#include <string>

#include "ww/core/result.hpp"

namespace ww::sim::power {

// Energies at a node. Arithmetic and memory are Horowitz's figures for 45 nm (ISSCC 2014, fig.
// 1.1.9: 32-bit integer addition 0.1 pJ, multiplication 3.1 pJ, 64 bits of an 8 KiB memory 10 pJ),
// scaled as DSENT's switch allocator, which is logic, scales from 45 nm. Storage leaks per bit as
// DSENT's buffers do, which are flip-flops (the difference of 20 and 1 flits a port).
struct OverheadEnergy {
  double add_pj{};                    // 32 bits; also a comparison
  double multiply_pj{};               // 32 bits; also a division, which no source prices here
  double memory_pj_per_64b{};         // a read or a write
  double storage_write_pj_per_bit{};  // of flip-flops: DSENT's buffers of 20 flits
  double storage_read_pj_per_bit{};
  double storage_leakage_uw_per_bit{};
  std::string source;
};

// Error out_of_range, key node, outside DSENT's rows (11 to 45 nm).
[[nodiscard]] Result<OverheadEnergy> overhead_energy(double node_nm);

}  // namespace ww::sim::power
