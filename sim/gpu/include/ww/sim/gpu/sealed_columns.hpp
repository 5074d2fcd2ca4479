// Columns of the file of sealed energies (DriverSettings::sealed_energy), a row for each launch.
#pragma once

#include <array>
#include <string_view>

namespace ww::sim::gpu {

// Joules from the core's rail, at the voltage of the reference state.
inline constexpr std::array<std::string_view, 7> kCoreColumns{
    "l1_l2_j", "registers_l1_j", "l2_memory_j", "caches_j", "alu_j", "clocks_j", "arbiters_j"};

// Joules from other rails, which do not follow the core's voltage.
inline constexpr std::array<std::string_view, 8> kOtherRailsColumns{"compute_die_and_cache_j",
                                                                    "row_hop_j",
                                                                    "column_hop_j",
                                                                    "across_j",
                                                                    "memory_phy_j",
                                                                    "memory_j",
                                                                    "die_link_j",
                                                                    "infinity_cache_j"};

// Joules of the links to another part. Chips without such links have no such column.
inline constexpr std::string_view kLinkColumn = "xgmi_j";

}  // namespace ww::sim::gpu
