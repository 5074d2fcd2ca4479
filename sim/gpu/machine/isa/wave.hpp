// The state of a wavefront, and of vector memory instructions on their way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

class ComputeUnit;
struct ImageAccess;
struct WorkGroup;

inline constexpr std::size_t kScalarsOfLine = 64 / sizeof(std::uint32_t);
// First scalar register of the lines that have vcc, m0 and exec.
inline constexpr std::size_t kSpecialScalars = kXnackMask / kScalarsOfLine * kScalarsOfLine;
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
inline constexpr unsigned kCounterDepth = 15;        // vmcnt and lgkmcnt are 4 bits on gfx7
inline constexpr std::uint16_t kAccumulators = 256;  // where a wave's accumulation registers begin

// The elements of a wide memory instruction in flight.
struct alignas(64) WideElements {
  std::uint32_t data[kLanes * 4];             // lane-major elements
  alignas(64) std::uint32_t old[kLanes * 2];  // atomics: what was there
};

// Holds what a memory instruction in flight uses only where its lanes do not lie in a row, or its
// elements are wide. Launches without such instructions never touch its pages.
struct alignas(64) OperationBytes {
  std::uint64_t address[kLanes];           // where the lanes are not contiguous
  alignas(64) std::uint64_t traced_lanes;  // a load's that the trace waits for: Traced::some
  // The rows of a spread operation's elements, as in its wave's private memory. The wave may end
  // before a store is done.
  std::uint64_t rows_begin;
  std::uint64_t rows_bytes;   // 0: nowhere
  std::uint64_t row_pitch;    // bytes from a piece of a lane's element to its next one
  std::uint64_t piece_bytes;  // of a lane in a row
  ImageAccess* image;         // of an image instruction; kept for the next one
  std::uint8_t kept[kLanes];  // of a clipped operation: bytes of each lane's element
};

// Lanes of an operation that the trace waits for.
enum class Traced : std::uint8_t { none, enabled, some };

// State of one memory instruction in flight, besides its bytes.
struct OperationState {
  std::int64_t completion{};    // latest part so far
  std::uint64_t exec{};         // lanes
  std::uint64_t base{};         // of a contiguous one
  std::uint32_t unresolved{};   // parts whose time is not known yet
  std::uint32_t instruction{};  // its dword in the program
  std::uint16_t destination{};
  std::uint16_t words{};  // destination registers
  MemoryKind kind{};
  AtomicOp atomic{};
  std::uint8_t references{};  // counters that still count it
  std::uint8_t element_bytes{};
  std::uint8_t half{};  // 1: the low halves of the registers, 2: the high ones
  bool begun{};         // some of a load's bytes are in `data`
  bool contiguous{};    // lane i at base + i * element_bytes
  bool scalar{};        // destination is `words` SGPRs
  bool vector{};        // counted by vmcnt, which then writes the registers
  bool sign_extend : 1 {};
  // Private memory and swizzled buffers: an element is not within one row (private_memory.hpp).
  // Images: a sample is made of several texels.
  bool spread : 1 {};
  bool
      clipped : 1 {};  // and spread: elements of some lanes end with their buffer, before their end
  bool image : 1 {};   // elements are texels; what becomes of them is in OperationBytes::image
  bool into_registers{};  // a load's bytes go straight to its registers: its wave waits for them
  Traced traced{};        // whether the trace waits for it
};
// Without gaps: a new state is written in a few moves.
static_assert(sizeof(OperationState) == 48);

// One memory instruction in flight, side by side with others of its CU: what is looked at most is
// one line of the host's caches, with a word for each lane behind it.
struct alignas(64) MemoryOperation : OperationState {
  Wave* wave{};
  std::uint32_t* elements{};  // lane-major: its own words, or those of `wide`
  alignas(64) std::uint32_t lane_words[kLanes];
  OperationBytes* bytes{};
  WideElements* wide{};  // made when first needed, and kept for the next operation

  [[nodiscard]] std::uint32_t* data() const { return elements; }
  [[nodiscard]] std::uint64_t* address() const { return bytes->address; }
  [[nodiscard]] std::uint32_t* old() const { return wide->old; }
  // Lanes that the trace waits for, once the operation is complete.
  [[nodiscard]] std::uint64_t traced_lanes() const {
    return traced == Traced::enabled ? exec : bytes->traced_lanes;
  }
};
static_assert(sizeof(MemoryOperation) == 64 + kLanes * sizeof(std::uint32_t) + 64);

// In-order counter of operations (vmcnt, lgkmcnt). What is most often looked at is in front, in one
// line of the host's caches with the first entries.
struct alignas(64) CounterQueue {
  std::int64_t chain{};  // completion of the last one that left: the next may not be earlier
  unsigned head{};
  unsigned count{};
  MemoryOperation* entry[16]{};

  void reset() {
    chain = 0;
    head = count = 0;
  }
  void push(MemoryOperation* operation) {
    if (count == 0) head = 0;
    entry[(head + count++) & 15] = operation;
  }
  [[nodiscard]] MemoryOperation* front() const { return entry[head & 15]; }
  [[nodiscard]] MemoryOperation* at(unsigned i) const { return entry[(head + i) & 15]; }
  void pop() {
    ++head;
    --count;
  }
  // The first one leaves, complete at that time.
  void pop(std::int64_t completion) {
    chain = completion;
    pop();
  }
  // Time at which at most `left` remain; kNever while that is not known. `next` is when the first
  // one leaves.
  [[nodiscard]] std::int64_t time_until(unsigned left, std::int64_t next) const {
    if (count <= left) return chain;
    if (count == left + 1) return next;
    std::int64_t time = chain;
    for (unsigned i = 0; i + left < count; ++i) {
      const MemoryOperation* operation = entry[(head + i) & 15];
      if (operation->unresolved != 0) return kNever;
      time = operation->completion > time ? operation->completion : time;
    }
    return time;
  }
  // How many may be left for at most `left` loads to be among them, or stores: gfx10 counts the two
  // apart (what brings nothing back is a store).
  [[nodiscard]] unsigned left_with(unsigned left, bool stores) const {
    unsigned seen = 0;
    for (unsigned i = count; i-- != 0;) {
      const MemoryKind kind = entry[(head + i) & 15]->kind;
      const bool store = kind == MemoryKind::store || kind == MemoryKind::atomic;
      if (store == stores && ++seen > left) return count - 1 - i;
    }
    return count;
  }
  // Time at which the first one leaves; kNever while there is none or its time is not known.
  [[nodiscard]] std::int64_t next() const {
    if (count == 0) return kNever;
    const MemoryOperation& first = *entry[head & 15];
    return first.unresolved != 0 ? kNever : std::max(chain, first.completion);
  }
};

// Loads behind straight-line code whose addresses are found with it (load_addresses.hpp).
inline constexpr std::uint32_t kLoadsAhead = 8;

// Lane i holds first + i * step (lane_forms.hpp).
struct LaneForm {
  std::uint32_t first{};
  std::uint32_t step{};
};
inline constexpr std::size_t kForms = 64;  // registers of a wave that may be kept so

enum class WaveState : std::uint8_t { empty, running, barrier, ended };

// Most often all of them, which is worth a jump: not every host that may run this counts bits
// without a call.
[[nodiscard]] inline std::uint64_t enabled_lanes(std::uint64_t exec) {
  return exec == ~std::uint64_t{0} ? kLanes : static_cast<unsigned>(std::popcount(exec));
}

struct Wave {
  // The members that every turn looks at are one line of the host's caches.
  alignas(64) std::uint32_t* v{};  // vector registers [register][lane]
  ComputeUnit* cu{};
  std::int64_t now{};   // cycle at which the present instruction issues
  std::int64_t next{};  // earliest cycle of the next one; kNever: waits for something
  std::int64_t next_completion{kNever};
  std::uint32_t pc{};     // dwords from the start of code
  std::uint32_t ahead{};  // instructions from pc on that are executed, but not yet issued
  std::uint32_t mode{};
  WaveState state{WaveState::empty};
  std::uint8_t slot{};  // in the CU: simd + 4 * wave
  std::uint8_t simd{};
  std::uint8_t wave_id{};                       // in the SIMD, as HW_ID reports
  std::uint8_t wait_vector{kCounterDepth + 1};  // why it waits, while next == kNever
  std::uint8_t wait_scalar{kCounterDepth + 1};
  bool scc{};
  bool lane_mask_known{};
  std::uint16_t in_group{};
  std::uint16_t known_loads{};  // bit i: load_address[i - 1] is that of the load of place i

  alignas(64) const MicroOp* code{};
  std::uint32_t code_dwords{};
  WorkGroup* group{};
  std::uint64_t lane_mask_of{};
  std::uint64_t formed{};  // registers by bit: those whose form is known
  std::int64_t started{};
  std::uint64_t unwritten{};  // among those formed, the ones whose lanes are not written
  CounterQueue vector_queue;
  CounterQueue scalar_queue;                              // lgkmcnt
  alignas(64) std::uint64_t load_address[kLoadsAhead]{};  // of lane 0; the others follow it

  LaneForm form[kForms];                           // where `formed`
  alignas(64) std::uint32_t sr[kScalarFile + 16];  // scalar registers by hardware number
  std::uint64_t lane_bits{~std::uint64_t{0}};      // those that it has, by bit: 64, or the lower 32
  std::uint64_t scratch_base{};                    // device address of the wave's private memory
  std::uint64_t scratch_bytes{};                   // of all its lanes
  alignas(64) std::uint32_t lane_mask[kLanes];

  // Two scalar registers, the lower half first (hosts are little-endian here as elsewhere).
  [[nodiscard]] std::uint64_t pair(std::size_t index) const {
    std::uint64_t value = 0;
    std::memcpy(&value, sr + index, sizeof value);
    return value;
  }
  void set_pair(std::size_t index, std::uint64_t value) {
    std::memcpy(sr + index, &value, sizeof value);
  }
  [[nodiscard]] std::uint64_t exec() const { return pair(kExec); }
  // In a wave of 32 the upper half of vcc is a register as any other.
  [[nodiscard]] std::uint64_t vcc() const { return pair(kVcc) & lane_bits; }
  [[nodiscard]] unsigned last_lane() const { return (lane_bits >> 32) == 0 ? 31U : 63U; }
  [[nodiscard]] std::uint32_t* vgpr(std::size_t index) { return v + index * kLanes; }
  [[nodiscard]] bool flush_f32() const { return (mode >> 4 & 3) == 0; }
  // MODE.IEEE and MODE.DX10_CLAMP.
  [[nodiscard]] bool ieee() const { return (mode >> 9 & 1) != 0; }
  [[nodiscard]] bool clamps_nan() const { return (mode >> 8 & 1) != 0; }
  [[nodiscard]] FloatMode float_mode() const { return {flush_f32(), ieee()}; }
  // Change of a result of 16, 32 or 64 bits. "RDNA 3 ISA", "AMD Instinct MI300 ISA", modifiers:
  // omod is ignored where output denormals are enabled for the type, and in IEEE mode.
  [[nodiscard]] ResultChange result_change(const VectorFields& f, int bits) const {
    const bool denormals = (mode >> (bits == 32 ? 5 : 7) & 1) != 0;
    const bool ignored = denormals || ieee();
    return {ignored ? std::uint8_t{0} : f.omod, f.clamp, !clamps_nan()};
  }

  // Enabled lanes as words of ones and zeros.
  const std::uint32_t* mask() {
    const std::uint64_t enabled = exec();
    if (!lane_mask_known || lane_mask_of != enabled) expand_mask(enabled);
    return lane_mask;
  }
  void expand_mask(std::uint64_t enabled);
};
static_assert(offsetof(Wave, code) == 64);

}  // namespace ww::sim::gpu::exec
