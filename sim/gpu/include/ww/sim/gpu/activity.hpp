// Describes a launch as the energy accounting sees it: the seam between the emulator, which knows
// events, and the truth, which knows what they cost.
//
// The emulator calls the observer for every crossbar transfer in the order in which it crosses, and
// hands over the remaining activity in bulk. The observer turns that into a LaunchActivity:
// switched capacitance by place, which the power timeline replays at whatever voltage and
// temperature the chip then has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ww::sim::gpu {

enum class TransferKind : std::uint8_t { read, write, atomic };

// One line (or part of one) between an L1 and an L2 channel: the request, and the reply.
struct CrossbarTransfer {
  std::int64_t cycle{};     // when the payload crosses, in core cycles since the launch began
  std::uint64_t address{};  // of the line
  std::uint16_t engine{};
  std::uint16_t cu{};  // within the engine
  std::uint16_t channel{};
  TransferKind kind{};
  std::uint8_t bytes{};        // payload: 1 to 64
  const std::byte* payload{};  // `bytes` bytes: towards the L1 for reads, towards the L2 for writes
  const std::byte* reply{};    // atomics that return: the old value, else nullptr
  bool from_gl1{};  // a read that the cache of the shader array answers: it crosses a leg alone
};

// One fill or write-back between an L2 channel and its memory controller.
struct MemoryTransfer {
  std::int64_t cycle{};
  std::uint16_t channel{};
  bool write{};
  const std::byte* payload{};  // 64 bytes
};

// Per CU and launch; filled by the emulator.
struct CuActivity {
  std::uint64_t busy_cycles{};           // at least one wavefront resident
  std::uint64_t resident_wave_cycles{};  // wavefronts x cycles: occupancy, which grows with latency
  std::uint64_t scalar_instructions{};
  std::uint64_t vector_instructions{};     // VALU wave instructions
  std::uint64_t vector_lane_operations{};  // lanes enabled in them
  std::uint64_t memory_instructions{};
  std::uint64_t lds_accesses{};
  std::uint64_t l1_accesses{};
  std::uint64_t l1_hits{};
  std::uint64_t gl1_hits{};        // lines of 64 bytes that the cache of the shader array had
  std::uint64_t register_bytes{};  // between L1/LDS and registers
};

struct ChannelActivity {
  std::uint64_t accesses{};
  std::uint64_t hits{};
  std::uint64_t misses{};
  std::uint64_t writebacks{};
};

// Lines of 64 bytes behind the L2s of several compute dies (up to eight, on four I/O dies). On a
// chip of one die with an Infinity Cache all are die 0's and home 0's.
struct IoDieActivity {
  using ByHome = std::array<std::uint64_t, 4>;  // [I/O die of the home]
  std::array<ByHome, 8> reads{};                // [compute die][home]
  std::array<ByHome, 8> writes{};
  ByHome memory_reads{};  // lines of reads that the Infinity Cache did not have
  ByHome memory_writes{};
  // Lines that crossed each link between two dies without I/O dies, as the die that runs reads and
  // writes the other one's memory.
  using ByLink = std::array<std::uint64_t, 4>;
  ByLink xgmi_reads{}, xgmi_writes{};
};

// Counts that toggle monitors on the wires would report: events, and nothing about their cost. No
// card has them. Millimetres are those of the published floorplan; an engine's trunks end at the
// compute unit nearest to the L2, its legs lead on from there.
struct WireMonitors {
  struct Bundle {
    std::uint64_t toggles{};   // wires that changed
    std::uint64_t adjacent{};  // neighbouring pairs that both changed
    std::uint64_t opposite{};  // those of them that went opposite ways
    // Sums of these events, each times the length of its wires (crossbar bundles alone).
    double toggle_mm{}, adjacent_mm{}, opposite_mm{};
  };
  std::uint64_t crossbar_slot_bits{};  // wires times beats: 512 a beat, however full
  double crossbar_bit_mm{};            // slot bits times the distance from L1 to L2
  double leg_bit_mm{};                 // the part of it within the engine
  Bundle trunks, legs, memory;
  Bundle control;  // of requests and tags beside the trunks' payload
  std::uint64_t memory_slot_bits{};
  std::uint64_t register_bytes{};
};

// Switched capacitance of a launch [F], by place: energy at voltage V is capacitance * V^2.
// Places are thermal zones: engines first, then L2 quadrants, then the crossbar's middle.
struct LaunchActivity {
  std::int64_t cycles{};
  std::vector<double> capacitance_f;  // one entry a zone
  // Parts of the energy, for reports and score alone; the sum equals the sum over zones.
  struct Parts {
    double crossbar_wires{}, crossbar_control{}, registers_l1{}, l2_memory{}, caches{}, alu{},
        clock{};
    double crossbar_arbiters{};  // the crossbar's share that does not grow with distance
  } parts_f;
  // Energy of I/O dies and memory stacks, whose voltages follow no state of the core [J].
  struct Rails {
    double aid_j{};  // fabric, Infinity Cache, PHYs
    double hbm_j{};
  } rails;
  // Ways of that energy, for score alone [J]. A crossing belongs to the way that its line took.
  struct Ways {
    double compute_die_and_cache{}, row_hop{}, column_hop{}, across{}, memory_phy{}, memory{};
    double die_link{}, infinity_cache{};  // of a chip of one die
    double xgmi{};                        // of two dies without I/O dies
  } ways_j;
  std::uint64_t payload_bits{};  // crossed L1-L2, both directions
  WireMonitors monitors;
};

// Between begin_launch() and end_launch() several threads may call an observer: crossbar() and
// crossbar_lines() for engines of their own, memory() and memory_transfers() for channels of their
// own.
class ActivityObserver {
 public:
  virtual ~ActivityObserver() = default;
  virtual void begin_launch() = 0;
  // Receives transfers in an engine's commit order: cycles never decrease for an (engine, channel).
  virtual void crossbar(const CrossbarTransfer& transfer) = 0;
  // `lines` whole lines that lie in a row, `cycles` apart; the same as one call for each.
  virtual void crossbar_lines(const CrossbarTransfer& first, unsigned lines, std::int64_t cycles) {
    CrossbarTransfer next = first;
    for (; lines != 0; --lines) {
      crossbar(next);
      next.cycle += cycles;
      next.address += next.bytes;
      next.payload += next.bytes;
    }
  }
  virtual void memory(const MemoryTransfer& transfer) = 0;
  // Transfers of one channel; the same as one call for each.
  virtual void memory_transfers(std::span<const MemoryTransfer> transfers) {
    for (const MemoryTransfer& transfer : transfers) memory(transfer);
  }
  // Receives what the I/O dies or the Infinity Cache did in the launch that now ends, if any.
  virtual void io_dies(const IoDieActivity&) {}
  // Ends the launch. Spans: compute units in order engine-major, channels in order.
  virtual LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                                    std::span<const ChannelActivity> channels) = 0;
};

}  // namespace ww::sim::gpu
