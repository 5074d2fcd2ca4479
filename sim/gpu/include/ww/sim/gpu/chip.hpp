// The public architecture of a virtual chip: what emulator and driver need, and what a data sheet
// would say. What the wires, the leakage and the sensor really do is the sealed truth, a library of
// its own (sim/gpu/truth) that only the driver and, after a fit, `wirewatt score` link.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/dvfs_state.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/channel_map.hpp"

namespace ww::sim::gpu {

struct Architecture {
  std::string name;                  // "w9100"
  std::string gfx_target{"gfx701"};  // what the compiler is asked for
  // Compute dies (XCDs of MI300X). Engines, L2 channels and the L2's bytes are those of one die.
  int dies{1};
  int cus_off_per_die{};  // of as many engines from the last on, the last CU is switched off
  // Devices that the package is to a program, each of as many dies in a row, and domains of its
  // memory, each at home with as many dies in a row. A device's own buffers lie in its domain.
  int devices{1};
  int memory_domains{1};
  int shader_engines{4};
  int cus_per_engine{11};
  int simds_per_cu{4};
  int waves_per_simd{10};
  int l2_channels{16};                // of a die
  int channel_interleave_bytes{256};  // channel = (address / interleave) % channels, or channel_map
  ChannelMap channel_map;             // sealed: no part of the data sheet
  int line_bytes{64};
  int l2_fetch_bytes{64};    // 128: a miss brings the aligned pair of lines (functional mode)
  int l2_line_bytes{64};     // 128: one tag of the L2 stands for an aligned pair of lines
  int l1_line_bytes{64};     // 128: the L1's lines are aligned pairs, and so is what it asks for
  int writes_back_at_end{};  // 1: no line stays dirty in the L2 behind a launch
  std::int64_t l1_bytes{16 * 1024};
  int l1_ways{4};
  // RDNA: the read-only cache between the L1s of a shader array and the L2 (GL1), in lines of
  // 128 bytes. Source: AMD RDNA white paper, "graphics L1 cache".
  std::int64_t gl1_bytes{};  // of an array; 0: none
  int gl1_ways{16};
  int gl1_hit_cycles{};                // from the compute unit and back
  int gl1_bytes_per_clock{256};        // of all hits of an array
  int engine_off{8};                   // RDNA: the number of one that is fused off; 8: none is
  int gl1_ignores_bits{};              // 1: also loads that ask to pass it by
  std::int64_t l2_bytes{1024 * 1024};  // all channels of a die together
  int l2_ways{16};
  int l2_set_hash_bits{};  // of the set's number, which are XORed with bits above it; 0: none
  std::int64_t lds_bytes_per_cu{64 * 1024};
  std::int64_t memory_bytes{std::int64_t{16} << 30};
  int bytes_per_clock_per_channel{64};  // L2 channel towards the crossbar
  int l1_hit_cycles{110};
  int scalar_load_cycles{64};  // of a hit in the scalar cache; of any scalar load without one
  std::int64_t scalar_cache_bytes{};  // 0: whatever is read is there
  int scalar_cache_cus{1};            // neighbours in an engine that share one
  int scalar_miss_cycles{150};        // to the L2 at zero distance and back, of a hit there
  int local_memory_cycles{64};        // without bank conflicts
  int f64_rate_divisor{4};            // how many times as long a double takes as a float
  int l2_hit_cycles{150};             // at zero distance; the crossbar's flight time is added
  int memory_cycles{350};  // beyond an L2 miss; of several dies: at home on the die's own I/O die
  // Reads of memory that come late, as where a bank of HBM is refreshed: share, and by how much.
  double late_reads{};
  int late_read_cycles{};
  double memory_bytes_per_clock_per_channel{20.0};  // 16 ch x 20 B x 930 MHz ~ 300 GB/s
  int write_back_lines{};  // that may wait for a memory channel; 0: any number
  // The cache on the memory's side: a slice before each memory channel of four I/O dies, on which
  // several dies stand in a ring (memory_home.hpp), or on the way of each L2 channel of one die.
  std::int64_t infinity_cache_bytes{};  // 0: none, on a chip of one die
  int infinity_cache_ways{16};
  int infinity_cache_cycles{};  // of a hit beyond an L2 miss, at home on the die's own I/O die
  double infinity_cache_bytes_per_clock_per_slice{64.0};
  int io_die_hop_cycles{};                   // from an I/O die to its neighbour and back
  double io_die_link_bytes_per_clock{64.0};  // to a neighbour, each way
  // In-package links between two dies that have memory of their own and no I/O dies (MI250X).
  int xgmi_links{};                          // 0: none
  int xgmi_cycles{};                         // what a read over them takes longer, there and back
  double xgmi_bytes_per_clock_per_link{32};  // each way
  int launch_overhead_ns{4000};              // between two dispatches of one queue
  std::vector<DvfsState> dvfs;               // ascending; reference_state indexes it
  int reference_state{};

  // RDNA: an engine here is a shader array, two of which make a shader engine to programs.
  [[nodiscard]] int arrays_per_engine() const { return gfx_target.starts_with("gfx1") ? 2 : 1; }
  [[nodiscard]] int engines_of_all_dies() const { return dies * shader_engines; }
  // Places of compute units, also of those that are off: [die][engine][CU].
  [[nodiscard]] int cu_places() const { return engines_of_all_dies() * cus_per_engine; }
  [[nodiscard]] int dies_per_device() const { return dies / devices; }
  [[nodiscard]] int domain_of_die(int die) const { return die * memory_domains / dies; }
  [[nodiscard]] int domain_of_device(int device) const {
    return domain_of_die(device * dies_per_device());
  }
  [[nodiscard]] std::int64_t memory_bytes_of_device() const { return memory_bytes / devices; }
  [[nodiscard]] int compute_units_of_device() const { return compute_units() / devices; }
  // The I/O die that a compute die stands on: two of them share one.
  [[nodiscard]] int io_die_of(int die) const { return die / 2; }
  // Working compute units of an engine of any die.
  [[nodiscard]] int cus_of_engine(int engine) const {
    const int from_last = shader_engines - 1 - engine % shader_engines;
    return cus_per_engine - (from_last < cus_off_per_die ? 1 : 0);
  }
  // Working compute units on all dies.
  [[nodiscard]] int compute_units() const {
    return dies * (shader_engines * cus_per_engine - cus_off_per_die);
  }
};

enum class ChipClass {
  nested,
  mild,
  strong
};  // does the fit's form hold on it? docs/virtual-gpu.md
[[nodiscard]] constexpr std::string_view to_string(ChipClass chip_class) {
  switch (chip_class) {
    case ChipClass::nested: return "nested";
    case ChipClass::mild: return "mild";
    case ChipClass::strong: return "strong";
  }
  return "unknown";
}
// Error invalid_argument for any other text.
[[nodiscard]] inline Result<ChipClass> chip_class_from_string(std::string_view text) {
  for (const ChipClass chip_class : {ChipClass::nested, ChipClass::mild, ChipClass::strong}) {
    if (text == to_string(chip_class)) {
      return chip_class;
    }
  }
  return fail(ErrorCode::invalid_argument,
              "unknown chip class \"" + std::string(text) + "\"; one of nested, mild, strong");
}

// Names a chip: a built-in name, a file, or a draw.
struct ChipRequest {
  std::string chip{"w9100"};  // built-in name, "random", "random_rdna", or a path ending in .toml
  std::uint64_t seed{};
  ChipClass chip_class{ChipClass::mild};

  [[nodiscard]] bool is_rdna_drawn() const { return chip == "random_rdna"; }
  [[nodiscard]] bool is_drawn() const { return chip == "random" || is_rdna_drawn(); }
};

class ActivityObserver;
class Chip;
class PowerTimeline;
struct Truth;  // sealed: sim/gpu/truth/src/truth.hpp

// Declares all that the emulator needs from a chip's sealed side: an account of events, and power
// over time. The truth implements it, so that the emulator links nothing of the truth.
class PowerSide {
 public:
  virtual ~PowerSide() = default;
  // Makes the accounting that follows the chip's sealed truth. One copy of `chip` must outlive it.
  [[nodiscard]] virtual std::unique_ptr<ActivityObserver> make_ledger(const Chip& chip) const = 0;
  // `seed` draws sensor noise and drift; the same seed and calls give the same samples. The chip
  // outlives the timeline.
  [[nodiscard]] virtual std::unique_ptr<PowerTimeline> make_timeline(const Chip& chip,
                                                                     std::uint64_t seed) const = 0;
};

// An immutable chip. Copies share the sealed part.
class Chip {
 public:
  // Defined by the truth, as a chip file holds both. Errors: not_found (name or file), parse_error
  // and out_of_range with file, line and key.
  static Result<Chip> load(const ChipRequest& request);

  [[nodiscard]] const Architecture& architecture() const { return architecture_; }
  [[nodiscard]] const ChipRequest& request() const { return request_; }
  [[nodiscard]] const std::string& public_floorplan_toml() const { return public_floorplan_; }
  // Flight time of a request and its reply between a CU's L1 and an L2 channel of the same die
  // [core cycles]. All dies are equal.
  [[nodiscard]] int crossbar_cycles(int engine, int cu, int channel) const {
    return crossbar_cycles_[static_cast<std::size_t>(
        (engine * architecture_.cus_per_engine + cu) * architecture_.l2_channels + channel)];
  }
  [[nodiscard]] const Truth& truth() const { return *truth_; }
  [[nodiscard]] const PowerSide& power_side() const { return *power_side_; }

 private:
  friend class ChipBuilder;
  Chip() = default;
  Architecture architecture_;
  ChipRequest request_;
  std::string public_floorplan_;
  std::vector<int> crossbar_cycles_;
  std::shared_ptr<const Truth> truth_;
  std::shared_ptr<const PowerSide> power_side_;
};

}  // namespace ww::sim::gpu
