#include "machine/counters/counters.hpp"

#include <algorithm>
#include <cmath>

#include "ww/sim/gpu/io_die_way.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr const char* kCommonNames[] = {"GRBM_GUI_ACTIVE",       "SQ_WAVES",
                                        "SQ_INSTS_VALU",         "SQ_INSTS_SALU",
                                        "SQ_INSTS_SMEM",         "SQ_INSTS_VMEM_RD",
                                        "SQ_INSTS_VMEM_WR",      "SQ_INSTS_FLAT",
                                        "SQ_INSTS_LDS",          "TCP_TOTAL_CACHE_ACCESSES_sum",
                                        "TCP_CACHE_HIT_sum",     "TCP_TCC_READ_REQ_sum",
                                        "TCP_TCC_WRITE_REQ_sum", "SQ_BUSY_CU_CYCLES",
                                        "SQ_WAVE_CYCLES",        "SQ_THREAD_CYCLES_VALU"};
constexpr const char* kL2Names[] = {"TCC_REQ_sum",    "TCC_READ_sum", "TCC_WRITE_sum",
                                    "TCC_ATOMIC_sum", "TCC_HIT_sum",  "TCC_MISS_sum"};

// Waves are counted in quad-cycles, in which a SIMD issues one instruction of a wave. So are the
// lanes that a vector instruction enables; those that take several quad-cycles count once here.
constexpr std::uint64_t kQuad = 4;

// Monitors, which no card has: of toggles (WireMonitors), of the lanes that access local memory,
// and of instructions whose last bits may be others on a card.
constexpr const char* kMonitorNames[] = {
    "WW_XBAR_BITS_sum",         "WW_XBAR_SLOT_BITS_sum",      "WW_XBAR_BIT_MM_sum",
    "WW_LEG_BIT_MM_sum",        "WW_TRUNK_TOGGLES_sum",       "WW_TRUNK_ADJACENT_sum",
    "WW_TRUNK_OPPOSITE_sum",    "WW_LEG_TOGGLES_sum",         "WW_LEG_ADJACENT_sum",
    "WW_LEG_OPPOSITE_sum",      "WW_MEMORY_SLOT_BITS_sum",    "WW_MEMORY_TOGGLES_sum",
    "WW_MEMORY_ADJACENT_sum",   "WW_MEMORY_OPPOSITE_sum",     "WW_REGISTER_BYTES_sum",
    "WW_CONTROL_TOGGLES_sum",   "WW_CONTROL_ADJACENT_sum",    "WW_CONTROL_OPPOSITE_sum",
    "WW_TRUNK_TOGGLE_MM_sum",   "WW_TRUNK_ADJACENT_MM_sum",   "WW_TRUNK_OPPOSITE_MM_sum",
    "WW_LEG_TOGGLE_MM_sum",     "WW_LEG_ADJACENT_MM_sum",     "WW_LEG_OPPOSITE_MM_sum",
    "WW_CONTROL_TOGGLE_MM_sum", "WW_CONTROL_ADJACENT_MM_sum", "WW_CONTROL_OPPOSITE_MM_sum",
    "WW_LDS_LANES_sum",         "WW_INSTS_APPROXIMATED_sum"};

// Counters of a chip of several dies: bytes behind the L2s by the links that they took, and bytes
// between the Infinity Cache and memory. No card counts these either.
constexpr const char* kIoDieNames[] = {"WW_IO_DIE_OWN_BYTES_sum", "WW_IO_DIE_ROW_BYTES_sum",
                                       "WW_IO_DIE_COLUMN_BYTES_sum", "WW_IO_DIE_ACROSS_BYTES_sum",
                                       "WW_MEMORY_STACK_BYTES_sum"};

// Counters of two dies without I/O dies: bytes over each link between them, as the die that runs
// reads and writes the other one's memory. The firmware of newer packages counts them in KB since
// power-on (xgmi_read_data_acc and xgmi_write_data_acc of gpu_metrics).
constexpr const char* kLinkNames[] = {
    "WW_XGMI_LINK0_READ_BYTES_sum",  "WW_XGMI_LINK1_READ_BYTES_sum",
    "WW_XGMI_LINK2_READ_BYTES_sum",  "WW_XGMI_LINK3_READ_BYTES_sum",
    "WW_XGMI_LINK0_WRITE_BYTES_sum", "WW_XGMI_LINK1_WRITE_BYTES_sum",
    "WW_XGMI_LINK2_WRITE_BYTES_sum", "WW_XGMI_LINK3_WRITE_BYTES_sum"};

// Counters of a die with an Infinity Cache: bytes between L2 and that cache, and behind it.
constexpr const char* kCacheNames[] = {"WW_INFINITY_CACHE_BYTES_sum", "WW_MEMORY_BYTES_sum"};

// Families whose counters differ. gfx11 is assumed to have gfx10's.
enum class Family : std::uint8_t { gfx7, gfx9, gfx94, gfx10 };

Family family_of(const Architecture& architecture) {
  const std::string& target = architecture.gfx_target;
  return target.starts_with("gfx94")   ? Family::gfx94
         : target.starts_with("gfx10") ? Family::gfx10
         : target.starts_with("gfx11") ? Family::gfx10
         : target.starts_with("gfx9")  ? Family::gfx9
                                       : Family::gfx7;
}

// The memory side is MC on gfx7, EA from gfx9 on, where atomics are counted by what they return. On
// gfx94 it is EA0, whose reads of 128 bytes are counted once more as "bubbles".
std::vector<std::string> counter_names_of(Family family) {
  const bool is_gfx9 = family == Family::gfx9 || family == Family::gfx94;
  std::vector<std::string> names(std::begin(kCommonNames), std::end(kCommonNames));
  const auto add = [&names](std::initializer_list<const char*> more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (family == Family::gfx10) {
    // Requests are counted where they come in, at GL1 and at the L2. GL1 has all requests of its
    // shader array, and those that pass it by are misses; the names are rocprofiler-compute's. The
    // names of requests by size are assumed: no profiler's list of gfx10 was at hand that has them.
    std::ranges::replace(names, "TCP_TCC_READ_REQ_sum", "GL2C_READ_128_REQ_sum");
    std::ranges::replace(names, "TCP_TCC_WRITE_REQ_sum", "GL2C_WRITE_64_REQ_sum");
    add({"GL1C_REQ_sum", "GL1C_REQ_MISS_sum", "GL2C_REQ_sum", "GL2C_ATOMIC_sum", "GL2C_HIT_sum",
         "GL2C_MISS_sum", "GL2C_EA_RDREQ_32B_sum", "GL2C_EA_RDREQ_64B_sum", "GL2C_EA_RDREQ_96B_sum",
         "GL2C_EA_RDREQ_128B_sum", "GL2C_MC_WRREQ_sum", "GL2C_EA_WRREQ_64B_sum"});
    names.insert(names.end(), std::begin(kMonitorNames), std::end(kMonitorNames));
    return names;
  }
  if (is_gfx9) {
    add({"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"});
  } else {
    add({"TCP_TCC_ATOMIC_REQ_sum"});
  }
  names.insert(names.end(), std::begin(kL2Names), std::end(kL2Names));
  if (family == Family::gfx94) {
    add({"TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum",
         "TCC_BUBBLE_sum"});
  } else if (is_gfx9) {
    add({"TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum", "TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"});
  } else {
    add({"TCC_MC_RDREQ_sum", "TCC_MC_WRREQ_sum"});
  }
  names.insert(names.end(), std::begin(kMonitorNames), std::end(kMonitorNames));
  return names;
}

std::vector<std::string> with(std::vector<std::string> names, std::span<const char* const> more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

}  // namespace

const std::vector<std::string>& counter_names(const Architecture& architecture) {
  // Never destroyed: a program that keeps its context has its counters written as it exits.
  static const auto& gfx7 = *new std::vector<std::string>(counter_names_of(Family::gfx7));
  static const auto& gfx9 = *new std::vector<std::string>(counter_names_of(Family::gfx9));
  static const auto& gfx94 = *new std::vector<std::string>(counter_names_of(Family::gfx94));
  static const auto& gfx10 = *new std::vector<std::string>(counter_names_of(Family::gfx10));
  static const auto& package =
      *new std::vector<std::string>(with(counter_names_of(Family::gfx94), kIoDieNames));
  static const auto& cached =
      *new std::vector<std::string>(with(counter_names_of(Family::gfx10), kCacheNames));
  static const auto& linked =
      *new std::vector<std::string>(with(counter_names_of(Family::gfx9), kLinkNames));
  if (architecture.xgmi_links != 0) return linked;
  if (architecture.dies > 1) return package;
  switch (family_of(architecture)) {
    case Family::gfx7: return gfx7;
    case Family::gfx94: return gfx94;
    case Family::gfx10: return architecture.infinity_cache_bytes != 0 ? cached : gfx10;
    default: return gfx9;
  }
}

CounterValues counter_values(const Architecture& architecture, std::int64_t cycles,
                             const CuCounters& cus, std::span<const CuActivity> busy,
                             const MemoryCounters& memory, const LaunchActivity& activity,
                             const IoDieActivity* io_dies) {
  CuActivity together;
  for (const CuActivity& cu : busy) {
    together.busy_cycles += cu.busy_cycles;
    together.resident_wave_cycles += cu.resident_wave_cycles;
    together.vector_lane_operations += cu.vector_lane_operations;
    together.lds_accesses += cu.lds_accesses;
  }
  // The compute units count lines of 64 bytes.
  const auto lines_of_request =
      static_cast<std::uint64_t>(architecture.l1_line_bytes / architecture.line_bytes);
  std::vector<std::uint64_t> values{static_cast<std::uint64_t>(cycles),
                                    cus.waves,
                                    cus.valu,
                                    cus.salu,
                                    cus.smem,
                                    cus.vmem_read,
                                    cus.vmem_write,
                                    cus.flat,
                                    cus.lds,
                                    cus.l1_accesses,
                                    cus.l1_hits,
                                    cus.read_requests / lines_of_request - memory.gl1_hits,
                                    cus.write_requests,
                                    together.busy_cycles,
                                    together.resident_wave_cycles / kQuad,
                                    together.vector_lane_operations};
  const auto add = [&values](std::initializer_list<std::uint64_t> more) {
    values.insert(values.end(), more.begin(), more.end());
  };
  const Family family = family_of(architecture);
  const bool newer = family == Family::gfx9 || family == Family::gfx94;
  if (family == Family::gfx10) {
    // GL2 looks up lines of 128 bytes. A line that misses does so once: whoever brings one half
    // brings both.
    const std::uint64_t behind_l1 =
        cus.read_requests / lines_of_request + cus.wide_lines_written + cus.atomic_requests;
    const std::uint64_t lookups = behind_l1 - memory.gl1_hits;
    const std::uint64_t misses = std::min(memory.misses, lookups);
    const std::uint64_t pairs = memory.memory_read_pairs;
    add({behind_l1, lookups, lookups, cus.atomic_requests, lookups - misses, misses, 0,
         memory.memory_read_halves / 2 - 2 * pairs, 0, pairs, memory.memory_writes,
         memory.memory_write_halves - memory.memory_writes});
  } else if (newer) {
    add({cus.atomic_returns, cus.atomic_requests - cus.atomic_returns});
  } else {
    add({cus.atomic_requests});
  }
  if (family != Family::gfx10) {
    add({memory.reads + memory.writes + memory.atomics, memory.reads, memory.writes, memory.atomics,
         memory.hits, memory.misses});
  }
  if (newer) {  // reads fetch whole lines; a line that is half dirty is written as 32 bytes
    const std::uint64_t pairs = family == Family::gfx94 ? memory.memory_read_pairs : 0;
    add({memory.memory_read_halves / 2 - pairs, 0, memory.memory_writes,
         memory.memory_write_halves - memory.memory_writes});
    if (family == Family::gfx94) add({pairs});
  } else if (family == Family::gfx7) {
    add({memory.memory_read_halves, memory.memory_write_halves});
  }
  const WireMonitors& w = activity.monitors;
  const auto whole = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  add({activity.payload_bits, w.crossbar_slot_bits, whole(w.crossbar_bit_mm), whole(w.leg_bit_mm),
       w.trunks.toggles, w.trunks.adjacent, w.trunks.opposite, w.legs.toggles, w.legs.adjacent,
       w.legs.opposite, w.memory_slot_bits, w.memory.toggles, w.memory.adjacent, w.memory.opposite,
       w.register_bytes, w.control.toggles, w.control.adjacent, w.control.opposite});
  for (const auto* bundle : {&w.trunks, &w.legs, &w.control}) {
    add({whole(bundle->toggle_mm), whole(bundle->adjacent_mm), whole(bundle->opposite_mm)});
  }
  add({together.lds_accesses, cus.approximated});
  const auto line_bytes = static_cast<std::uint64_t>(architecture.line_bytes);
  if (io_dies != nullptr && architecture.xgmi_links != 0) {
    for (const auto* lines : {&io_dies->xgmi_reads, &io_dies->xgmi_writes}) {
      for (const std::uint64_t count : *lines) add({line_bytes * count});
    }
  } else if (io_dies != nullptr) {
    const auto by_way = lines_by_way(*io_dies, architecture);
    // One die is always at home.
    const std::size_t ways = architecture.dies > 1 ? by_way.size() : 1;
    for (std::size_t way = 0; way < ways; ++way) add({line_bytes * by_way[way]});
    add({line_bytes * memory_lines(*io_dies)});
  }
  CounterValues result{};
  std::transform(values.begin(), values.end(), result.begin(),
                 [](std::uint64_t value) { return static_cast<double>(value); });
  return result;
}

}  // namespace ww::sim::gpu::exec
