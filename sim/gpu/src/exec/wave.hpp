// The state of a wavefront, and of vector memory instructions on their way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "exec/micro_op.hpp"

namespace ww::sim::gpu::exec {

class ComputeUnit;
struct WorkGroup;

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
inline constexpr unsigned kCounterDepth = 15;        // vmcnt and lgkmcnt are 4 bits on gfx7
inline constexpr std::uint16_t kAccumulators = 256;  // where a wave's accumulation registers begin

// One memory instruction in flight: what it still waits for, and what its registers will get.
struct MemoryOperation {
  Wave* wave{};
  std::int64_t completion{};   // latest part so far
  std::uint32_t unresolved{};  // parts whose time is not known yet
  std::uint8_t references{};   // counters that still count it
  MemoryKind kind{};
  AtomicOp atomic{};
  std::uint8_t element_bytes{};
  bool sign_extend{};
  std::uint8_t half{};   // 1: the low halves of the registers, 2: the high ones
  bool contiguous{};     // lane i at base + i * element_bytes
  bool scalar{};         // destination is `words` SGPRs
  bool vector{};         // counted by vmcnt, which then writes the registers
  std::uint8_t words{};  // destination registers
  std::uint16_t destination{};
  std::uint32_t instruction{};  // its dword in the program
  std::uint64_t exec{};
  std::uint64_t traced_lanes{};  // a load's that the trace still waits for
  std::uint64_t base{};
  bool begun{};           // some of a load's bytes are in `data`
  bool into_registers{};  // a load's bytes go straight to its registers: its wave waits for them
  alignas(64) std::uint32_t data[kLanes * 4];  // lane-major elements
  alignas(64) std::uint64_t address[kLanes];
  alignas(64) std::uint32_t old[kLanes * 2];  // atomics: what was there
};

// In-order counter of operations (vmcnt, lgkmcnt).
struct CounterQueue {
  MemoryOperation* entry[16]{};
  unsigned head{};
  unsigned count{};
  std::int64_t chain{};  // completion of the last one that left: the next may not be earlier

  void push(MemoryOperation* operation) { entry[(head + count++) & 15] = operation; }
  [[nodiscard]] MemoryOperation* front() const { return entry[head & 15]; }
  [[nodiscard]] MemoryOperation* at(unsigned i) const { return entry[(head + i) & 15]; }
  void pop() {
    ++head;
    --count;
  }
  // When at most `left` remain; kNever while that is not known.
  [[nodiscard]] std::int64_t time_until(unsigned left) const {
    std::int64_t time = chain;
    for (unsigned i = 0; i + left < count; ++i) {
      const MemoryOperation* operation = entry[(head + i) & 15];
      if (operation->unresolved != 0) return kNever;
      time = operation->completion > time ? operation->completion : time;
    }
    return time;
  }
  // When the first one leaves; kNever while there is none or its time is not known.
  [[nodiscard]] std::int64_t next() const {
    if (count == 0) return kNever;
    const MemoryOperation& first = *entry[head & 15];
    return first.unresolved != 0 ? kNever : std::max(chain, first.completion);
  }
};

enum class WaveState : std::uint8_t { empty, running, barrier, ended };

struct Wave {
  // What every turn looks at comes first.
  alignas(64) std::uint32_t* v{};  // vector registers [register][lane]
  const MicroOp* code{};
  std::uint32_t pc{};     // dwords from the start of code
  std::uint32_t ahead{};  // instructions from pc on that are executed, but not yet issued
  bool scc{};
  std::uint32_t mode{};
  std::uint32_t code_dwords{};
  std::uint32_t vgprs{};
  ComputeUnit* cu{};
  WorkGroup* group{};
  WaveState state{WaveState::empty};
  std::uint8_t slot{};  // in the CU: simd + 4 * wave
  std::uint8_t simd{};
  std::uint8_t wave_id{};  // in the SIMD, as HW_ID tells
  std::uint16_t in_group{};

  std::int64_t now{};   // cycle at which the present instruction issues
  std::int64_t next{};  // earliest cycle of the next one; kNever: waits for something
  std::int64_t next_completion{kNever};
  unsigned wait_vector{kCounterDepth + 1};  // why it waits, while next == kNever
  unsigned wait_scalar{kCounterDepth + 1};
  CounterQueue vector_queue;
  CounterQueue scalar_queue;  // lgkmcnt
  std::int64_t started{};
  std::uint64_t scratch_base{};  // device address of the wave's private memory

  alignas(64) std::uint32_t sr[kScalarFile + 16];  // scalar registers by hardware number
  bool lane_mask_known{};
  std::uint64_t lane_mask_of{};
  alignas(64) std::uint32_t lane_mask[kLanes];

  [[nodiscard]] std::uint64_t pair(std::size_t index) const {
    return std::uint64_t{sr[index]} | std::uint64_t{sr[index + 1]} << 32;
  }
  void set_pair(std::size_t index, std::uint64_t value) {
    sr[index] = static_cast<std::uint32_t>(value);
    sr[index + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  [[nodiscard]] std::uint64_t exec() const { return pair(kExec); }
  [[nodiscard]] std::uint32_t* vgpr(std::size_t index) { return v + index * kLanes; }
  [[nodiscard]] bool flush_f32() const { return (mode >> 4 & 3) == 0; }

  // Enabled lanes as words of ones and zeros.
  const std::uint32_t* mask() {
    const std::uint64_t enabled = exec();
    if (!lane_mask_known || lane_mask_of != enabled) expand_mask(enabled);
    return lane_mask;
  }
  void expand_mask(std::uint64_t enabled);
};

}  // namespace ww::sim::gpu::exec
