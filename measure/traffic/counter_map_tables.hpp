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
inline constexpr std::string_view kRocmMetrics =
    "AMD rocprofiler metrics.xml (FETCH_SIZE, WRITE_SIZE of the architecture)";
inline constexpr std::string_view kDirtyNote =
    "lines that stay dirty in the L2 are written later, outside this dispatch";
inline constexpr std::string_view kAccessesNote =
    "the bytes of an access depend on the load's width: 64 B for 4 B a lane, 32 B for 8 B and 2 B";

// Accesses of the vector L1, all GCN and CDNA: at most one line of 64 B an access.
inline constexpr std::array kTcpAccesses = {CounterTerm{"TCP_TOTAL_CACHE_ACCESSES", 64}};
inline constexpr SegmentRule kGcnRegisters = {registers_l1, kTcpAccesses, upper_bound,
                                              kAccessesNote, vcopy};

// gfx7, gfx8: no counters between TCP and TCC; every lookup moves a 64 B line one way.
inline constexpr std::array kTccLookups64 = {CounterTerm{"TCC_HIT", 64},
                                             CounterTerm{"TCC_MISS", 64}};
inline constexpr std::array kMcRead32 = {CounterTerm{"TCC_MC_RDREQ", 32}};
inline constexpr std::array kMcWrite32 = {CounterTerm{"TCC_MC_WRREQ", 32}};
inline constexpr std::array kMiss64 = {CounterTerm{"TCC_MISS", 64}};
inline constexpr std::array kGfx7Rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of L1 accesses is known", kRocmMetrics},
    SegmentRule{
        l1_l2_read, {}, unchecked, "TCC_HIT and TCC_MISS count both ways together", kRocmMetrics},
    SegmentRule{
        l1_l2_write, {}, unchecked, "TCC_HIT and TCC_MISS count both ways together", kRocmMetrics},
    SegmentRule{l1_l2, kTccLookups64, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_read, kMcRead32, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_write, kMcWrite32, unchecked, kDirtyNote, kRocmMetrics},
    SegmentRule{l2_fill, kMiss64, unchecked, "", kRocmMetrics},
};

// 64 B a request between vector L1 and L2, both ways (gfx908, gfx90a); atomics carry at most that.
inline constexpr double kTcpRequestBytes = 64;
inline constexpr std::array kTcpRead64 = {
    CounterTerm{"TCP_TCC_READ_REQ", kTcpRequestBytes},
    CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", kTcpRequestBytes, true}};
inline constexpr std::array kTcpWrite64 = {CounterTerm{"TCP_TCC_WRITE_REQ", 64},
                                           CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 64, true},
                                           CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
inline constexpr std::array kTcpBoth64 = {CounterTerm{"TCP_TCC_READ_REQ", 64},
                                          CounterTerm{"TCP_TCC_WRITE_REQ", 64},
                                          CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 128, true},
                                          CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
// 64 RDREQ - 32 RDREQ_32B: requests of 64 B, some of 32 B.
inline constexpr std::array kEaRead = {CounterTerm{"TCC_EA_RDREQ", 64},
                                       CounterTerm{"TCC_EA_RDREQ_32B", -32}};
inline constexpr std::array kEaWrite = {CounterTerm{"TCC_EA_WRREQ", 32},
                                        CounterTerm{"TCC_EA_WRREQ_64B", 32}};
inline constexpr std::array kMiss128 = {CounterTerm{"TCC_MISS", 128}};

inline constexpr std::array kGfx900Rules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead64, unchecked, "", kRocmMetrics},
    SegmentRule{l1_l2_write, kTcpWrite64, unchecked, "", kRocmMetrics},
    SegmentRule{l1_l2, kTcpBoth64, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_read, kEaRead, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_write, kEaWrite, unchecked, kDirtyNote, kRocmMetrics},
    SegmentRule{l2_fill, kMiss64, unchecked, "", kRocmMetrics},
};

// gfx906 has a second port to memory, EA1.
inline constexpr std::array kEa01Read = {
    CounterTerm{"TCC_EA_RDREQ", 64}, CounterTerm{"TCC_EA_RDREQ_32B", -32},
    CounterTerm{"TCC_EA1_RDREQ", 64}, CounterTerm{"TCC_EA1_RDREQ_32B", -32}};
inline constexpr std::array kEa01Write = {
    CounterTerm{"TCC_EA_WRREQ", 32}, CounterTerm{"TCC_EA_WRREQ_64B", 32},
    CounterTerm{"TCC_EA1_WRREQ", 32}, CounterTerm{"TCC_EA1_WRREQ_64B", 32}};
inline constexpr std::array kGfx906Rules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead64, unchecked, "", kRocmMetrics},
    SegmentRule{l1_l2_write, kTcpWrite64, unchecked, "", kRocmMetrics},
    SegmentRule{l1_l2, kTcpBoth64, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_read, kEa01Read, unchecked, "", kRocmMetrics},
    SegmentRule{l2_memory_write, kEa01Write, unchecked, kDirtyNote, kRocmMetrics},
    SegmentRule{l2_fill, kMiss64, unchecked, "", kRocmMetrics},
};

inline constexpr std::string_view kHalfFilled =
    "true for full lines; a fill kernel was counted twice too high (half-filled requests)";
inline constexpr std::array kGfx908Rules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead64, exact, "", vcopy},
    SegmentRule{l1_l2_write, kTcpWrite64, upper_bound, kHalfFilled, vcopy},
    SegmentRule{l1_l2, kTcpBoth64, upper_bound, kHalfFilled, vcopy},
    SegmentRule{l2_memory_read, kEaRead, exact, "fabric bytes, instruction fetches included",
                vcopy},
    SegmentRule{l2_memory_write, kEaWrite, lower_bound, kDirtyNote, vcopy},
    SegmentRule{l2_fill, kMiss64, exact, "", vcopy},
};

inline constexpr std::array kGfx90aRules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead64, exact, "", vcopy},
    SegmentRule{l1_l2_write, kTcpWrite64, exact, "", vcopy},
    SegmentRule{l1_l2, kTcpBoth64, exact,
                "TCC_REQ has no fixed size: adjacent reads merge to 128 B", vcopy},
    SegmentRule{l2_memory_read, kEaRead, exact, "fabric bytes, instruction fetches included",
                vcopy},
    SegmentRule{l2_memory_write, kEaWrite, lower_bound, kDirtyNote, vcopy},
    SegmentRule{l2_fill, kMiss128, exact, "", vcopy},
};

// gfx94x: the vector L1 reads lines of 128 B and writes 64 B. Of EA0's reads, BUBBLE are 128 B.
inline constexpr std::array kTcpRead128 = {CounterTerm{"TCP_TCC_READ_REQ", 128},
                                           CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 64, true}};
inline constexpr std::array kTcpBoth12864 = {
    CounterTerm{"TCP_TCC_READ_REQ", 128}, CounterTerm{"TCP_TCC_WRITE_REQ", 64},
    CounterTerm{"TCP_TCC_ATOMIC_WITH_RET_REQ", 128, true},
    CounterTerm{"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, true}};
inline constexpr std::array kEa0Read = {CounterTerm{"TCC_EA0_RDREQ", 64},
                                        CounterTerm{"TCC_BUBBLE", 64},
                                        CounterTerm{"TCC_EA0_RDREQ_32B", -32}};
inline constexpr std::array kEa0Write = {CounterTerm{"TCC_EA0_WRREQ", 32},
                                         CounterTerm{"TCC_EA0_WRREQ_64B", 32}};
inline constexpr std::string_view kFabricNote =
    "Infinity Fabric bytes, not HBM bytes: the Infinity Cache lies behind";
inline constexpr std::array kGfx94Rules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead128, exact, "", vcopy},
    SegmentRule{l1_l2_write, kTcpWrite64, exact, "", vcopy},
    SegmentRule{l1_l2, kTcpBoth12864, exact, "", vcopy},
    SegmentRule{l2_memory_read, kEa0Read, exact, kFabricNote, vcopy},
    SegmentRule{l2_memory_write, kEa0Write, exact, kFabricNote, vcopy},
    SegmentRule{l2_fill, kMiss128, exact, "", vcopy},
};

// gfx950 counts the requests of 128 B by their own name; BUBBLE, which counted them before, stays
// 0.
inline constexpr std::array kEa0Read950 = {CounterTerm{"TCC_EA0_RDREQ", 64},
                                           CounterTerm{"TCC_EA0_RDREQ_128B", 64},
                                           CounterTerm{"TCC_EA0_RDREQ_32B", -32}};
inline constexpr std::string_view kSdkMetrics =
    "AMD rocprofiler-sdk counter definitions, after the correction of FETCH_SIZE in January 2026";
inline constexpr std::array kGfx950Rules = {
    kGcnRegisters,
    SegmentRule{l1_l2_read, kTcpRead128, unchecked, "", kSdkMetrics},
    SegmentRule{l1_l2_write, kTcpWrite64, unchecked, "", kSdkMetrics},
    SegmentRule{l1_l2, kTcpBoth12864, unchecked, "", kSdkMetrics},
    SegmentRule{l2_memory_read, kEa0Read950, unchecked, kFabricNote, kSdkMetrics},
    SegmentRule{l2_memory_write, kEa0Write, unchecked, kFabricNote, kSdkMetrics},
    SegmentRule{l2_fill, kMiss128, unchecked, "", kSdkMetrics},
};

// Bounds of files that have requests without their sizes.
inline constexpr std::string_view kUnsizedNote = "requests without their sizes";
inline constexpr std::array kEaReadMost = {CounterTerm{"TCC_EA_RDREQ", 64}};
inline constexpr std::array kEaWriteMost = {CounterTerm{"TCC_EA_WRREQ", 64}};
inline constexpr std::array kEaBounds = {
    BoundRule{l2_memory_read, kEaReadMost, false, kUnsizedNote},
    BoundRule{l2_memory_write, kEaWriteMost, false, kUnsizedNote}};
// Without the second port's requests there is no bound: half of them may be missing.
inline constexpr std::array kEa01ReadMost = {CounterTerm{"TCC_EA_RDREQ", 64},
                                             CounterTerm{"TCC_EA1_RDREQ", 64}};
inline constexpr std::array kEa01WriteMost = {CounterTerm{"TCC_EA_WRREQ", 64},
                                              CounterTerm{"TCC_EA1_WRREQ", 64}};
inline constexpr std::array kEa01Bounds = {
    BoundRule{l2_memory_read, kEa01ReadMost, false, kUnsizedNote},
    BoundRule{l2_memory_write, kEa01WriteMost, false, kUnsizedNote}};
inline constexpr std::array kEa0ReadMost = {CounterTerm{"TCC_EA0_RDREQ", 128}};
inline constexpr std::array kEa0WriteMost = {CounterTerm{"TCC_EA0_WRREQ", 64}};
inline constexpr std::array kEa0Bounds = {
    BoundRule{l2_memory_read, kEa0ReadMost, false, kUnsizedNote},
    BoundRule{l2_memory_write, kEa0WriteMost, false, kUnsizedNote}};

// RDNA: GL2C looks up lines of 128 B.
inline constexpr std::string_view kRdnaMetrics =
    "AMD rocprofiler-sdk counter definitions, gfx10 and gfx11 (GL2C)";
inline constexpr std::array kGl2Lookups = {CounterTerm{"GL2C_HIT", 128},
                                           CounterTerm{"GL2C_MISS", 128}};
inline constexpr std::array kGl2Read = {
    CounterTerm{"GL2C_EA_RDREQ_32B", 32}, CounterTerm{"GL2C_EA_RDREQ_64B", 64},
    CounterTerm{"GL2C_EA_RDREQ_96B", 96}, CounterTerm{"GL2C_EA_RDREQ_128B", 128}};
inline constexpr std::array kGl2Write = {CounterTerm{"GL2C_MC_WRREQ", 32},
                                         CounterTerm{"GL2C_EA_WRREQ_64B", 32}};
inline constexpr std::string_view kGl2Both = "GL2C_HIT and GL2C_MISS count both ways together";
inline constexpr std::array kRdnaRules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of bytes is known", kRdnaMetrics},
    SegmentRule{l1_l2_read, {}, unchecked, kGl2Both, kRdnaMetrics},
    SegmentRule{l1_l2_write, {}, unchecked, kGl2Both, kRdnaMetrics},
    SegmentRule{l1_l2, kGl2Lookups, unchecked, "", kRdnaMetrics},
    SegmentRule{l2_memory_read, kGl2Read, unchecked, "", kRdnaMetrics},
    SegmentRule{l2_memory_write, kGl2Write, unchecked, kDirtyNote, kRdnaMetrics},
};

// RDNA 4 reads up to 256 B at once. Profilers before July 2026 lack that counter.
inline constexpr std::array kGl2Read12 = {
    CounterTerm{"GL2C_EA_RDREQ_32B", 32}, CounterTerm{"GL2C_EA_RDREQ_64B", 64},
    CounterTerm{"GL2C_EA_RDREQ_128B", 128}, CounterTerm{"GL2C_EA_RDREQ_256B", 256}};
inline constexpr std::array kGl2Write12 = {CounterTerm{"GL2C_EA_WRREQ", 32},
                                           CounterTerm{"GL2C_EA_WRREQ_64B", 32}};
inline constexpr std::array kRdna4Rules = {
    SegmentRule{registers_l1, {}, unchecked, "no counter of bytes is known", kRdnaMetrics},
    SegmentRule{l1_l2_read, {}, unchecked, kGl2Both, kRdnaMetrics},
    SegmentRule{l1_l2_write, {}, unchecked, kGl2Both, kRdnaMetrics},
    SegmentRule{l1_l2, kGl2Lookups, unchecked, "", kRdnaMetrics},
    SegmentRule{l2_memory_read, kGl2Read12, unchecked, "", kRdnaMetrics},
    SegmentRule{l2_memory_write, kGl2Write12, unchecked, kDirtyNote, kRdnaMetrics},
};
inline constexpr std::array kGl2ReadMost = {CounterTerm{"GL2C_EA_RDREQ", 256}};
inline constexpr std::array kRdna4Bounds = {
    BoundRule{l2_memory_read, kGl2ReadMost, false, kUnsizedNote}};

// NVIDIA, compute capability 7.0 and later. Sectors of 32 B by operation: hits and misses of the
// L2 count replays as well and are no bytes (AccelWattch's GV100 counters: 6% to 32% apart).
inline constexpr std::string_view kNcuMetrics =
    "Nsight Compute profiling guide, metrics l1tex__, lts__ and dram__; a sector is 32 B";
inline constexpr std::array kNvRegisters = {
    CounterTerm{"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", 1},
    CounterTerm{"l1tex__t_bytes_pipe_lsu_mem_global_op_st.sum", 1}};
// An atomic's data move to the L2 and its old value moves back; a reduction returns nothing
// (NVIDIA's table from nvprof to Nsight Compute: l2_read_transactions and l2_write_transactions).
// Profilers that refuse the roll-up op_atom have its two parts.
inline constexpr std::string_view kNvAtom = "lts__t_sectors_srcunit_tex_op_atom.sum";
inline constexpr std::string_view kNvAtomAlu = "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum";
inline constexpr std::string_view kNvAtomCas = "lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum";
inline constexpr std::array kNvRead = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_read.sum", 32}, CounterTerm{kNvAtom, 32, true},
    CounterTerm{kNvAtomAlu, 32, true, kNvAtom}, CounterTerm{kNvAtomCas, 32, true, kNvAtom}};
inline constexpr std::array kNvWrite = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_write.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_red.sum", 32, true}, CounterTerm{kNvAtom, 32, true},
    CounterTerm{kNvAtomAlu, 32, true, kNvAtom}, CounterTerm{kNvAtomCas, 32, true, kNvAtom}};
inline constexpr std::array kNvBoth = {
    CounterTerm{"lts__t_sectors_srcunit_tex_op_read.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_write.sum", 32},
    CounterTerm{"lts__t_sectors_srcunit_tex_op_red.sum", 32, true},
    CounterTerm{kNvAtom, 64, true},
    CounterTerm{kNvAtomAlu, 64, true, kNvAtom},
    CounterTerm{kNvAtomCas, 64, true, kNvAtom}};
inline constexpr std::array kNvDramRead = {CounterTerm{"dram__bytes_read.sum", 1}};
inline constexpr std::array kNvDramWrite = {CounterTerm{"dram__bytes_write.sum", 1}};
inline constexpr std::array kNvidiaRules = {
    SegmentRule{registers_l1, kNvRegisters, unchecked, "global loads and stores, whole sectors",
                kNcuMetrics},
    SegmentRule{l1_l2_read, kNvRead, unchecked, "", kNcuMetrics},
    SegmentRule{l1_l2_write, kNvWrite, unchecked, "", kNcuMetrics},
    SegmentRule{l1_l2, kNvBoth, unchecked, "", kNcuMetrics},
    SegmentRule{l2_memory_read, kNvDramRead, unchecked, "", kNcuMetrics},
    SegmentRule{l2_memory_write, kNvDramWrite, unchecked, kDirtyNote, kNcuMetrics},
};

// One counter of both ways: either is at most the total.
inline constexpr std::array kNvDram = {CounterTerm{"dram__bytes.sum", 1}};
inline constexpr std::array kNvidiaBounds = {
    BoundRule{l2_memory_read, kNvDram, true, "reads and writes together"},
    BoundRule{l2_memory_write, kNvDram, true, "reads and writes together"}};

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
    ArchitectureMap{gfx7_names, kGfx7Rules},
    ArchitectureMap{gfx900_names, kGfx900Rules, kEaBounds},
    ArchitectureMap{gfx906_names, kGfx906Rules, kEa01Bounds},
    ArchitectureMap{gfx908_names, kGfx908Rules, kEaBounds},
    ArchitectureMap{gfx90a_names, kGfx90aRules, kEaBounds},
    ArchitectureMap{gfx94_names, kGfx94Rules, kEa0Bounds},
    ArchitectureMap{gfx950_names, kGfx950Rules, kEa0Bounds},
    ArchitectureMap{rdna_names, kRdnaRules},
    ArchitectureMap{rdna4_names, kRdna4Rules, kRdna4Bounds},
    ArchitectureMap{nvidia_names, kNvidiaRules, kNvidiaBounds},
};

}  // namespace ww::measure::tables
