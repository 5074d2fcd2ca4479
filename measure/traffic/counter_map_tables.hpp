// The tables behind counter_map(). To add an architecture: its terms, its rules with their source,
// one line in `maps`; a recording that checks it raises the quality from unchecked.
#pragma once

#include <array>

#include "ww/measure/counter_map.hpp"

namespace ww::measure::tables {

using enum Segment;
using enum MapQuality;

inline constexpr std::string_view vcopy =
    "vcopy and mixbench recordings of rocprofiler-compute (known bytes)";
inline constexpr std::string_view rocm_metrics =
    "AMD rocprofiler metrics.xml (FETCH_SIZE, WRITE_SIZE of the architecture)";
inline constexpr std::string_view dirty_note =
    "lines that stay dirty in the L2 are written later, outside this dispatch";
inline constexpr std::string_view accesses_note =
    "the bytes of an access depend on the load's width: 64 B for 4 B a lane, 32 B for 8 B and 2 B";

// Of the vector L1, all GCN and CDNA: at most one line of 64 B an access.
inline constexpr std::array tcp_accesses = {CounterTerm{"TCP_TOTAL_CACHE_ACCESSES", 64}};
inline constexpr SegmentRule gcn_registers = {registers_l1, tcp_accesses, upper_bound,
                                              accesses_note, vcopy};

// gfx7, gfx8: no counters between TCP and TCC; every lookup moves a 64 B line one way.
inline constexpr std::array tcc_lookups_64 = {CounterTerm{"TCC_HIT", 64},
                                              CounterTerm{"TCC_MISS", 64}};
inline constexpr std::array mc_read_32 = {CounterTerm{"TCC_MC_RDREQ", 32}};
inline constexpr std::array mc_write_32 = {CounterTerm{"TCC_MC_WRREQ", 32}};
inline constexpr std::array gfx7_rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of L1 accesses is known", rocm_metrics},
    SegmentRule{
        l1_l2_read, {}, unchecked, "TCC_HIT and TCC_MISS count both ways together", rocm_metrics},
    SegmentRule{
        l1_l2_write, {}, unchecked, "TCC_HIT and TCC_MISS count both ways together", rocm_metrics},
    SegmentRule{l1_l2, tcc_lookups_64, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_read, mc_read_32, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_write, mc_write_32, unchecked, dirty_note, rocm_metrics},
};

// 64 B a request between vector L1 and L2, both ways (gfx908, gfx90a); atomics carry at most that.
inline constexpr double tcp_request_bytes = 64;
inline constexpr std::array tcp_read_64 = {
    CounterTerm{"TCP_TCC_READ_REQ", tcp_request_bytes},
    CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", tcp_request_bytes, true}};
inline constexpr std::array tcp_write_64 = {
    CounterTerm{"TCP_TCC_WRITE_REQ", 64}, CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 64, true},
    CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
inline constexpr std::array tcp_both_64 = {CounterTerm{"TCP_TCC_READ_REQ", 64},
                                           CounterTerm{"TCP_TCC_WRITE_REQ", 64},
                                           CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 128, true},
                                           CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
// 64 RDREQ - 32 RDREQ_32B: requests of 64 B, some of 32 B.
inline constexpr std::array ea_read = {CounterTerm{"TCC_EA_RDREQ", 64},
                                       CounterTerm{"TCC_EA_RDREQ_32B", -32}};
inline constexpr std::array ea_write = {CounterTerm{"TCC_EA_WRREQ", 32},
                                        CounterTerm{"TCC_EA_WRREQ_64B", 32}};
inline constexpr std::array miss_64 = {CounterTerm{"TCC_MISS", 64}};
inline constexpr std::array miss_128 = {CounterTerm{"TCC_MISS", 128}};

inline constexpr std::array gfx900_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_64, unchecked, "", rocm_metrics},
    SegmentRule{l1_l2_write, tcp_write_64, unchecked, "", rocm_metrics},
    SegmentRule{l1_l2, tcp_both_64, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_read, ea_read, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_write, ea_write, unchecked, dirty_note, rocm_metrics},
    SegmentRule{l2_fill, miss_64, unchecked, "", rocm_metrics},
};

// gfx906 has a second port to memory, EA1.
inline constexpr std::array ea01_read = {
    CounterTerm{"TCC_EA_RDREQ", 64}, CounterTerm{"TCC_EA_RDREQ_32B", -32},
    CounterTerm{"TCC_EA1_RDREQ", 64}, CounterTerm{"TCC_EA1_RDREQ_32B", -32}};
inline constexpr std::array ea01_write = {
    CounterTerm{"TCC_EA_WRREQ", 32}, CounterTerm{"TCC_EA_WRREQ_64B", 32},
    CounterTerm{"TCC_EA1_WRREQ", 32}, CounterTerm{"TCC_EA1_WRREQ_64B", 32}};
inline constexpr std::array gfx906_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_64, unchecked, "", rocm_metrics},
    SegmentRule{l1_l2_write, tcp_write_64, unchecked, "", rocm_metrics},
    SegmentRule{l1_l2, tcp_both_64, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_read, ea01_read, unchecked, "", rocm_metrics},
    SegmentRule{l2_memory_write, ea01_write, unchecked, dirty_note, rocm_metrics},
    SegmentRule{l2_fill, miss_64, unchecked, "", rocm_metrics},
};

inline constexpr std::string_view half_filled =
    "true for full lines; a fill kernel was counted twice too high (half-filled requests)";
inline constexpr std::array gfx908_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_64, exact, "", vcopy},
    SegmentRule{l1_l2_write, tcp_write_64, upper_bound, half_filled, vcopy},
    SegmentRule{l1_l2, tcp_both_64, upper_bound, half_filled, vcopy},
    SegmentRule{l2_memory_read, ea_read, exact, "fabric bytes, instruction fetches included",
                vcopy},
    SegmentRule{l2_memory_write, ea_write, lower_bound, dirty_note, vcopy},
    SegmentRule{l2_fill, miss_64, exact, "", vcopy},
};

inline constexpr std::array gfx90a_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_64, exact, "", vcopy},
    SegmentRule{l1_l2_write, tcp_write_64, exact, "", vcopy},
    SegmentRule{l1_l2, tcp_both_64, exact,
                "TCC_REQ has no fixed size: adjacent reads merge to 128 B", vcopy},
    SegmentRule{l2_memory_read, ea_read, exact, "fabric bytes, instruction fetches included",
                vcopy},
    SegmentRule{l2_memory_write, ea_write, lower_bound, dirty_note, vcopy},
    SegmentRule{l2_fill, miss_128, exact, "", vcopy},
};

// gfx94x: the vector L1 reads lines of 128 B and writes 64 B. Of EA0's reads, BUBBLE are 128 B.
inline constexpr std::array tcp_read_128 = {CounterTerm{"TCP_TCC_READ_REQ", 128},
                                            CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 64, true}};
inline constexpr std::array tcp_both_128_64 = {
    CounterTerm{"TCP_TCC_READ_REQ", 128}, CounterTerm{"TCP_TCC_WRITE_REQ", 64},
    CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 128, true},
    CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
inline constexpr std::array ea0_read = {CounterTerm{"TCC_EA0_RDREQ", 64},
                                        CounterTerm{"TCC_BUBBLE", 64},
                                        CounterTerm{"TCC_EA0_RDREQ_32B", -32}};
inline constexpr std::array ea0_write = {CounterTerm{"TCC_EA0_WRREQ", 32},
                                         CounterTerm{"TCC_EA0_WRREQ_64B", 32}};
inline constexpr std::string_view fabric_note =
    "Infinity Fabric bytes, not HBM bytes: the Infinity Cache lies behind";
inline constexpr std::array gfx94_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_128, exact, "", vcopy},
    SegmentRule{l1_l2_write, tcp_write_64, exact, "", vcopy},
    SegmentRule{l1_l2, tcp_both_128_64, exact, "", vcopy},
    SegmentRule{l2_memory_read, ea0_read, exact, fabric_note, vcopy},
    SegmentRule{l2_memory_write, ea0_write, exact, fabric_note, vcopy},
    SegmentRule{l2_fill, miss_128, exact, "", vcopy},
};

// gfx950 counts the requests of 128 B by their own name; BUBBLE, which counted them before, stays
// 0.
inline constexpr std::array ea0_read_950 = {CounterTerm{"TCC_EA0_RDREQ", 64},
                                            CounterTerm{"TCC_EA0_RDREQ_128B", 64},
                                            CounterTerm{"TCC_EA0_RDREQ_32B", -32}};
inline constexpr std::string_view sdk_metrics =
    "AMD rocprofiler-sdk counter definitions, after the correction of FETCH_SIZE in January 2026";
inline constexpr std::array gfx950_rules = {
    gcn_registers,
    SegmentRule{l1_l2_read, tcp_read_128, unchecked, "", sdk_metrics},
    SegmentRule{l1_l2_write, tcp_write_64, unchecked, "", sdk_metrics},
    SegmentRule{l1_l2, tcp_both_128_64, unchecked, "", sdk_metrics},
    SegmentRule{l2_memory_read, ea0_read_950, unchecked, fabric_note, sdk_metrics},
    SegmentRule{l2_memory_write, ea0_write, unchecked, fabric_note, sdk_metrics},
    SegmentRule{l2_fill, miss_128, unchecked, "", sdk_metrics},
};

// Bounds of files that have requests without their sizes.
inline constexpr std::string_view unsized_note = "requests without their sizes";
inline constexpr std::array ea_read_most = {CounterTerm{"TCC_EA_RDREQ", 64}};
inline constexpr std::array ea_write_most = {CounterTerm{"TCC_EA_WRREQ", 64}};
inline constexpr std::array ea_bounds = {
    BoundRule{l2_memory_read, ea_read_most, false, unsized_note},
    BoundRule{l2_memory_write, ea_write_most, false, unsized_note}};
// Without the second port's requests there is no bound: half of them may be missing.
inline constexpr std::array ea01_read_most = {CounterTerm{"TCC_EA_RDREQ", 64},
                                              CounterTerm{"TCC_EA1_RDREQ", 64}};
inline constexpr std::array ea01_write_most = {CounterTerm{"TCC_EA_WRREQ", 64},
                                               CounterTerm{"TCC_EA1_WRREQ", 64}};
inline constexpr std::array ea01_bounds = {
    BoundRule{l2_memory_read, ea01_read_most, false, unsized_note},
    BoundRule{l2_memory_write, ea01_write_most, false, unsized_note}};
inline constexpr std::array ea0_read_most = {CounterTerm{"TCC_EA0_RDREQ", 128}};
inline constexpr std::array ea0_write_most = {CounterTerm{"TCC_EA0_WRREQ", 64}};
inline constexpr std::array ea0_bounds = {
    BoundRule{l2_memory_read, ea0_read_most, false, unsized_note},
    BoundRule{l2_memory_write, ea0_write_most, false, unsized_note}};

// RDNA: GL2C looks up lines of 128 B.
inline constexpr std::string_view rdna_metrics =
    "AMD rocprofiler-sdk counter definitions, gfx10 and gfx11 (GL2C)";
inline constexpr std::array gl2_lookups = {CounterTerm{"GL2C_HIT", 128},
                                           CounterTerm{"GL2C_MISS", 128}};
inline constexpr std::array gl2_read = {
    CounterTerm{"GL2C_EA_RDREQ_32B", 32}, CounterTerm{"GL2C_EA_RDREQ_64B", 64},
    CounterTerm{"GL2C_EA_RDREQ_96B", 96}, CounterTerm{"GL2C_EA_RDREQ_128B", 128}};
inline constexpr std::array gl2_write = {CounterTerm{"GL2C_MC_WRREQ", 32},
                                         CounterTerm{"GL2C_EA_WRREQ_64B", 32}};
inline constexpr std::string_view gl2_both = "GL2C_HIT and GL2C_MISS count both ways together";
inline constexpr std::array rdna_rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of bytes is known", rdna_metrics},
    SegmentRule{l1_l2_read, {}, unchecked, gl2_both, rdna_metrics},
    SegmentRule{l1_l2_write, {}, unchecked, gl2_both, rdna_metrics},
    SegmentRule{l1_l2, gl2_lookups, unchecked, "", rdna_metrics},
    SegmentRule{l2_memory_read, gl2_read, unchecked, "", rdna_metrics},
    SegmentRule{l2_memory_write, gl2_write, unchecked, dirty_note, rdna_metrics},
};

// RDNA 4 reads up to 256 B at once. Profilers before July 2026 lack that counter.
inline constexpr std::array gl2_read_12 = {
    CounterTerm{"GL2C_EA_RDREQ_32B", 32}, CounterTerm{"GL2C_EA_RDREQ_64B", 64},
    CounterTerm{"GL2C_EA_RDREQ_128B", 128}, CounterTerm{"GL2C_EA_RDREQ_256B", 256}};
inline constexpr std::array gl2_write_12 = {CounterTerm{"GL2C_EA_WRREQ", 32},
                                            CounterTerm{"GL2C_EA_WRREQ_64B", 32}};
inline constexpr std::array rdna4_rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of bytes is known", rdna_metrics},
    SegmentRule{l1_l2_read, {}, unchecked, gl2_both, rdna_metrics},
    SegmentRule{l1_l2_write, {}, unchecked, gl2_both, rdna_metrics},
    SegmentRule{l1_l2, gl2_lookups, unchecked, "", rdna_metrics},
    SegmentRule{l2_memory_read, gl2_read_12, unchecked, "", rdna_metrics},
    SegmentRule{l2_memory_write, gl2_write_12, unchecked, dirty_note, rdna_metrics},
};
inline constexpr std::array gl2_read_most = {CounterTerm{"GL2C_EA_RDREQ", 256}};
inline constexpr std::array rdna4_bounds = {
    BoundRule{l2_memory_read, gl2_read_most, false, unsized_note}};

// NVIDIA, compute capability 7.0 and later. Sectors of 32 B by operation: hits and misses of the
// L2 count replays as well and are no bytes (AccelWattch's GV100 counters: 6% to 32% apart).
inline constexpr std::string_view ncu_metrics =
    "Nsight Compute profiling guide, metrics l1tex__, lts__ and dram__; a sector is 32 B";
inline constexpr std::array nv_registers = {
    CounterTerm{"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", 1},
    CounterTerm{"l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum", 1}};
// An atomic's data move to the L2 and its old value moves back; a reduction returns nothing
// (NVIDIA's table from nvprof to Nsight Compute: l2_read_transactions and l2_write_transactions).
// Profilers that refuse the roll-up op_atom have its two parts.
inline constexpr std::string_view nv_atom = "lts__t_sectors_srcunit_tex_op_atom.sum";
inline constexpr std::string_view nv_atom_alu = "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum";
inline constexpr std::string_view nv_atom_cas = "lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum";
inline constexpr std::array nv_read = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_read.sum", 32}, CounterTerm{nv_atom, 32, true},
    CounterTerm{nv_atom_alu, 32, true, nv_atom}, CounterTerm{nv_atom_cas, 32, true, nv_atom}};
inline constexpr std::array nv_write = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_write.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_red.sum", 32, true}, CounterTerm{nv_atom, 32, true},
    CounterTerm{nv_atom_alu, 32, true, nv_atom}, CounterTerm{nv_atom_cas, 32, true, nv_atom}};
inline constexpr std::array nv_both = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_read.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_write.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_red.sum", 32, true},
    CounterTerm{nv_atom, 64, true},
    CounterTerm{nv_atom_alu, 64, true, nv_atom},
    CounterTerm{nv_atom_cas, 64, true, nv_atom}};
inline constexpr std::array nv_dram_read = {CounterTerm{"dram__bytes_read.sum", 1}};
inline constexpr std::array nv_dram_write = {CounterTerm{"dram__bytes_write.sum", 1}};
inline constexpr std::array nvidia_rules = {
    SegmentRule{registers_l1, nv_registers, unchecked, "global loads and stores, whole sectors",
                ncu_metrics},
    SegmentRule{l1_l2_read, nv_read, unchecked, "", ncu_metrics},
    SegmentRule{l1_l2_write, nv_write, unchecked, "", ncu_metrics},
    SegmentRule{l1_l2, nv_both, unchecked, "", ncu_metrics},
    SegmentRule{l2_memory_read, nv_dram_read, unchecked, "", ncu_metrics},
    SegmentRule{l2_memory_write, nv_dram_write, unchecked, dirty_note, ncu_metrics},
};

// One counter of both ways: either is at most the total.
inline constexpr std::array nv_dram = {CounterTerm{"dram__bytes.sum", 1}};
inline constexpr std::array nvidia_bounds = {
    BoundRule{l2_memory_read, nv_dram, true, "reads and writes together"},
    BoundRule{l2_memory_write, nv_dram, true, "reads and writes together"}};

inline constexpr std::array<std::string_view, 2> gfx7_names = {"gfx7", "gfx8"};
inline constexpr std::array<std::string_view, 2> gfx900_names = {"gfx900", "gfx902"};
inline constexpr std::array<std::string_view, 1> gfx906_names = {"gfx906"};
inline constexpr std::array<std::string_view, 1> gfx908_names = {"gfx908"};
inline constexpr std::array<std::string_view, 1> gfx90a_names = {"gfx90a"};
inline constexpr std::array<std::string_view, 1> gfx94_names = {"gfx94"};
inline constexpr std::array<std::string_view, 1> gfx950_names = {"gfx950"};
inline constexpr std::array<std::string_view, 2> rdna_names = {"gfx10", "gfx11"};
inline constexpr std::array<std::string_view, 1> rdna4_names = {"gfx12"};
inline constexpr std::array<std::string_view, 5> nvidia_names = {"sm_7", "sm_8", "sm_9", "sm_10",
                                                                 "sm_12"};

inline constexpr std::array maps = {
    ArchitectureMap{gfx7_names, gfx7_rules},
    ArchitectureMap{gfx900_names, gfx900_rules, ea_bounds},
    ArchitectureMap{gfx906_names, gfx906_rules, ea01_bounds},
    ArchitectureMap{gfx908_names, gfx908_rules, ea_bounds},
    ArchitectureMap{gfx90a_names, gfx90a_rules, ea_bounds},
    ArchitectureMap{gfx94_names, gfx94_rules, ea0_bounds},
    ArchitectureMap{gfx950_names, gfx950_rules, ea0_bounds},
    ArchitectureMap{rdna_names, rdna_rules},
    ArchitectureMap{rdna4_names, rdna4_rules, rdna4_bounds},
    ArchitectureMap{nvidia_names, nvidia_rules, nvidia_bounds},
};

}  // namespace ww::measure::tables
