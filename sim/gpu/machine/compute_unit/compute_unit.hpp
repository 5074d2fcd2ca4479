// A compute unit: four SIMDs of up to ten waves, an L1, LDS, and the instructions in flight.
//
// A CU advances on its own through one quantum of cycles; what leaves its L1 waits in a queue until
// the memory system commits it at the quantum's end. Within the quantum device memory is constant,
// so CUs may run on any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fast/host/host_arena.hpp"
#include "fast/host/host_cache.hpp"
#include "machine/compute_unit/cu_observer.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/compute_unit/l1_cache.hpp"
#include "machine/compute_unit/l1_data.hpp"
#include "machine/compute_unit/l1_policy.hpp"
#include "machine/image/image_access.hpp"
#include "machine/isa/launch_state.hpp"
#include "machine/isa/wave.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// A run of lines in a row on one channel, one a cycle, on its way from an L1 to the L2. Requests
// stand in the order in which they leave.
struct Request {
  // scalar: a read for the scalar cache; merges join what fills a slot already.
  // write_back: a line that a coherent L1 threw out, without an operation and without an answer.
  enum class Kind : std::uint8_t { read, merge, write, atomic, scalar, scalar_merge, write_back };
  static constexpr unsigned kMaxLines = L1Cache::kRow;
  std::int64_t departure{};  // of the first line
  MemoryOperation* operation{};
  std::uint64_t lanes{};  // of the operation that the line concerns; 0 where contiguous
  std::uint32_t line{};   // number of the first line from the start of device memory
  Kind kind{};
  std::uint8_t lines{1};  // more than one in contiguous reads, and in writes of whole lines
  bool fills_l1{};
  // Whether it brings the other line of its aligned pair, for l1_slot[1] (kNone: not kept).
  bool pair : 1 {};
  bool past_gl1 : 1 {};  // neither served by the cache of the shader array nor kept in it
  std::uint32_t l1_slot[kMaxLines]{};
};

// A wave's request to the global wave sync (machine/launch/global_wave_sync.hpp).
struct GwsRequest {
  MemoryOperation* operation{};  // completes when the wave may go on
  std::int64_t cycle{};
  std::uint32_t resource{};
  std::uint32_t value{};
  bool barrier{};  // false: the resource is set to the value
};

struct WorkGroup {
  std::array<std::uint32_t, 3> id{};
  const GroupShape* shape{};
  std::uint32_t waves{};
  std::uint32_t alive{};
  std::uint32_t at_barrier{};
  std::uint32_t lds_offset{};
  std::uint32_t lds_bytes{};
  std::uint32_t hardware_slot{};
  std::int64_t barrier_time{};
  std::uint64_t slots{};  // of its waves
};

// Counters that a CU keeps itself; summed over CUs into AMD's names.
struct CuCounters {
  std::uint64_t waves{}, valu{}, salu{}, smem{}, vmem_read{}, vmem_write{}, flat{}, lds{};
  std::uint64_t l1_accesses{}, l1_hits{}, read_requests{}, write_requests{}, atomic_requests{};
  // Lines that stores write to, where requests are for lines of 128 bytes.
  std::uint64_t wide_lines_written{};
  std::uint64_t atomic_returns{};  // of the atomic requests, those that bring the old values
  std::uint64_t approximated{};    // instructions whose last bits may be others on a card

  CuCounters& operator+=(const CuCounters& other);
  // Sum over all waves.
  [[nodiscard]] std::uint64_t instructions() const {
    return valu + salu + smem + vmem_read + vmem_write + lds;
  }
};

class ComputeUnit {
 public:
  static constexpr int kSlots = 40;
  static constexpr std::uint32_t kLdsBlock = 512;  // bytes in which local memory is handed out

  // `arena` keeps the state of its waves and of what they have in flight. `l1_policy` outlives it.
  ComputeUnit(const Architecture& architecture, int engine, int index, DeviceMemory& memory,
              HostArena& arena, const L1Policy& l1_policy);

  // Adds and removes observers, between launches.
  void attach(CuObserver& observer);
  void detach(const CuObserver& observer);

  // Bytes that hold the vector registers of all CUs' waves in any launch.
  [[nodiscard]] static std::size_t register_bytes(const Architecture& architecture);
  // `registers`: as many bytes as that, for all CUs together.
  void begin_launch(const LaunchState& launch, std::uint32_t* registers);
  // Whether a work-group of the launch fits now.
  [[nodiscard]] bool has_room() const;
  // Starts a group's waves, which issue from `cycle` on: takes their places. The next run() does
  // the rest, on its own thread.
  void start(std::array<std::uint32_t, 3> id, std::int64_t cycle);
  // Runs every wave up to the quantum's end.
  void run(std::int64_t end);
  // Registers and state of its waves.
  [[nodiscard]] std::size_t wave_bytes() const {
    return static_cast<std::size_t>(resident_) *
           (std::size_t{launch_->vgprs} * kLanes * sizeof(std::uint32_t) + sizeof(Wave));
  }
  // The memory system knows when an operation of the wave completes.
  void resolved(Wave& wave);
  // One of the operation's requests is answered, at this cycle.
  void answered(MemoryOperation& operation, std::int64_t completion) {
    operation.completion = std::max(operation.completion, completion);
    if (--operation.unresolved != 0) return;
    if (operation.wave != nullptr) {
      resolved(*operation.wave);
    } else {
      release(&operation);
    }
  }
  [[nodiscard]] bool idle() const { return resident_ == 0; }
  [[nodiscard]] int resident() const { return resident_; }
  // Earliest cycle at which a wave has a turn that is not taken yet; kNever when all wait for
  // memory (or none is there).
  [[nodiscard]] std::int64_t next_turn() const {
    return first_key_ == kIdleKey ? kNever : static_cast<std::int64_t>(first_key_ >> 6);
  }
  // Cycle at which the last wave ended.
  [[nodiscard]] std::int64_t last_end() const { return last_end_; }
  // Groups that ended since the last call, and forgets them.
  unsigned take_finished() { return std::exchange(finished_, 0U); }

  // --- for instruction semantics ---
  [[nodiscard]] DeviceMemory& memory() { return memory_; }
  [[nodiscard]] const LaunchState& launch() const { return *launch_; }
  [[nodiscard]] std::byte* lds(const WorkGroup& group) { return &lds_[group.lds_offset]; }
  [[nodiscard]] std::uint32_t hardware_id(const Wave& wave) const;
  // RDNA 2's register of places: its compute units are pairs, whose four SIMDs have sixteen places
  // each. Here a compute unit has four half as large.
  [[nodiscard]] std::uint32_t hardware_id1(const Wave& wave) const;
  // Number of the die within its device: what XCC_ID reads.
  [[nodiscard]] std::uint32_t die() const {
    return static_cast<std::uint32_t>(engine_ / architecture_.shader_engines %
                                      architecture_.dies_per_device());
  }
  // Records the launch's first error and stops this CU.
  void fault(const Wave& wave, ErrorCode code, std::string message);
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::int64_t error_cycle() const { return error_cycle_; }

  // `wide`: it has more than a word a lane, or is an atomic.
  [[gnu::always_inline]] MemoryOperation* new_operation(Wave& wave, bool wide) {
    if (free_operations_.empty()) [[unlikely]]
      add_operations();
    MemoryOperation* const operation = free_operations_.back();
    free_operations_.pop_back();
    static_cast<OperationState&>(*operation) = OperationState{};
    operation->wave = &wave;
    operation->elements = operation->lane_words;
    if (wide) {
      if (operation->wide == nullptr) operation->wide = arena_.make<WideElements>();
      operation->elements = operation->wide->data;
    }
    return operation;
  }
  void release(MemoryOperation* operation) { free_operations_.push_back(operation); }
  // Prefetches what other compute units' turns push out of the host's caches: the operation after
  // the next, and the elements of the next one.
  void prefetch_operations(bool wide) const {
    constexpr std::size_t kLinesOfTwoWords = 2 * kLanes * sizeof(std::uint32_t) / kHostLine;
    const std::size_t left = free_operations_.size();
    if (left < 2) return;
    const MemoryOperation* const after_next = free_operations_[left - 2];
    prefetch_to_write(after_next);
    prefetch_to_write(&after_next->bytes);
    const WideElements* const elements = free_operations_[left - 1]->wide;
    if (wide && elements != nullptr) prefetch_to_write(elements, kLinesOfTwoWords);
  }
  [[nodiscard]] ImageAccess* new_image_access() { return arena_.make<ImageAccess>(); }
  // Whether the wave may add to the queue; if not, it waits and issues the same instruction again.
  bool vector_slot_free(Wave& wave, const MicroOp& op) {
    if (wave.vector_queue.count < kCounterDepth) return true;
    wait(wave, op, kCounterDepth - 1, kCounterDepth + 1);
    return false;
  }
  bool scalar_slot_free(Wave& wave, const MicroOp& op) {
    if (wave.scalar_queue.count < kCounterDepth) return true;
    wait(wave, op, kCounterDepth + 1, kCounterDepth - 1);
    return false;
  }
  // Issues `op` again once the counters have come down to these.
  void wait(Wave& wave, const MicroOp& op, unsigned vector_left, unsigned scalar_left);
  void barrier(Wave& wave);
  void end_wave(Wave& wave);
  void read_clock() { clock_read_ = true; }
  [[nodiscard]] bool clock_read() const { return clock_read_; }
  // Asks for what the cache does not have of these bytes; without a cache they are there already.
  void scalar_lines(MemoryOperation& operation, std::uint64_t address, std::uint64_t bytes,
                    std::int64_t cycle);

  // Sends an operation to memory through the L1.
  void access_l1(Wave& wave, const MemoryFields& fields, MemoryOperation& operation) const {
    l1_policy_.access(wave, fields, operation);
  }
  void invalidate_l1() { l1_policy_.invalidate(l1); }

  // Who watches its waves, and what they watch.
  [[nodiscard]] std::span<CuObserver* const> observers() const { return observers_; }
  [[nodiscard]] CuObserver::Watches watched() const { return watched_; }
  void report(const MemoryFinding& finding) const {
    for (CuObserver* const observer : observers_) observer->found(finding);
  }

  L1Cache l1;
  std::uint64_t l1_stores{};             // of a launch, to lines that a coherent L1 owned
  static constexpr int kScalarWays = 4;  // AMD, GCN white paper (2012)
  // Null: scalar loads take a constant time. Of a cache that several CUs share, each has the tags
  // as it knows them: what the others bring comes to it when requests are committed.
  std::unique_ptr<L1Cache> scalar_cache;
  std::uint32_t lines_per_run{};  // lines in a row on one channel, as far as a request goes
  // Whether a row of the L1's lines goes as one request.
  [[nodiscard]] bool takes_rows() const { return takes_rows_; }
  // Whether such a row may also go without its lanes, which observers would look at.
  [[nodiscard]] bool takes_unwatched_rows() const { return takes_rows_ && !watched_.memory; }
  bool empties_gl1{};      // the cache of its shader array, before the next commit
  std::int64_t l1_free{};  // next cycle in which the L1 looks up a line
  std::int64_t lds_free{};
  ArenaVector<Request> requests;  // in issue order; departures nearly so
  std::size_t requests_done{};    // committed ones at the front
  // Forgets committed requests once that costs little.
  void drop_done_requests() {
    if (requests_done == requests.size()) {
      requests.clear();
      requests_done = 0;
    } else if (requests_done > 4096) {
      requests.erase(requests.begin(),
                     requests.begin() + static_cast<std::ptrdiff_t>(requests_done));
      requests_done = 0;
    }
  }
  std::unique_ptr<L1Data> l1_data;  // null: what the L1 holds is what memory holds
  CuActivity activity;
  CuCounters counters;
  std::vector<GwsRequest> gws_requests;  // of this quantum

 private:
  static constexpr std::uint64_t kIdleKey = ~std::uint64_t{0};

  static void bring(const Wave& wave);
  static void prefetch_result(Wave& wave, const MemoryOperation& operation);
  void turn(Wave& wave, std::int64_t time, std::int64_t end);
  void step(Wave& wave, std::int64_t time, std::int64_t horizon);
  // One instruction, which can issue at that time or later.
  void execute(Wave& wave, const MicroOp& op, std::int64_t time);
  // Executes the instruction, or waits if it is a wait.
  void execute_or_wait(Wave& wave, const MicroOp& op, std::int64_t time);
  // Sets the key of a wave whose `next` changed from outside.
  void set_key(const Wave& wave) {
    const std::uint64_t key = static_cast<std::uint64_t>(wave.next) << 6 | wave.slot;
    key_[wave.slot] = key;
    first_key_ = std::min(first_key_, key);
  }
  void add_operations();
  void run_ahead(Wave& wave);
  std::int64_t issue_ahead(Wave& wave, std::int64_t time, std::int64_t end);
  void drain(Wave& wave, std::int64_t time);
  bool drain_only(Wave& wave, std::int64_t time);
  void bring_registers(Wave& wave, MemoryOperation& operation);
  [[nodiscard]] static std::int64_t end_of_wait(const Wave& wave, std::int64_t vector,
                                                std::int64_t scalar);
  void wait_for_counters(Wave& wave, const MicroOp& op);
  void complete(Wave& wave, MemoryOperation& operation);
  void bypass(Wave& wave, unsigned vector_left);
  [[nodiscard]] static bool others_write(const Wave& wave, const MemoryOperation& operation);
  // A group that was started since the last run().
  struct Starting {
    WorkGroup* group{};
    std::int64_t cycle{};
    std::array<std::uint8_t, kSlots> slots{};  // of its waves
  };
  void choose_slots(WorkGroup& group, std::uint8_t* slots);
  void begin_waves(const Starting& starting);
  // Beginning of a slot's vector registers.
  [[nodiscard]] std::uint32_t* registers_of(std::size_t slot) const {
    return registers_ + slot * slot_stride_;
  }
  void init_registers(Wave& wave, const WorkGroup& group);
  [[nodiscard]] std::size_t stride_for(const LaunchState& launch) const;
  // The registers of all CUs' first slots lie in front, then those of the second ones and so on: a
  // launch with few waves touches few pages. An odd count keeps a CU's slots apart in the host's
  // caches.
  [[nodiscard]] static std::size_t waves_of_slot(const Architecture& architecture);

  const Architecture& architecture_;
  int engine_;  // of all dies, [die][engine]
  int index_;
  DeviceMemory& memory_;
  const LaunchState* launch_{};
  std::size_t slot_stride_{};  // words between two slots' first registers in this launch
  HostArena& arena_;
  std::span<std::byte> lds_;
  std::uint32_t* registers_{};  // of all slots
  std::array<Wave, kSlots>& waves_;
  alignas(64) std::array<std::uint64_t, kSlots> key_;  // next cycle << 6 | slot
  std::uint64_t first_key_{};                          // smallest; between runs
  int key_rows_{};                                     // of eight, that waves ever had
  bool keys_changed_{};                                // by the wave that runs, of other waves
  std::array<int, 4> simd_waves_{};
  std::array<std::int64_t, 4> valu_free_{};
  std::array<std::int64_t, 4> salu_free_{};
  std::array<std::int64_t, 4> branch_free_{};
  std::array<WorkGroup, kSlots> groups_;
  std::vector<Starting> starting_;
  static constexpr std::uint64_t kAllSlots = (std::uint64_t{1} << kSlots) - 1;
  static constexpr std::uint64_t kSlotsOfSimd0 = 0x1111111111 & kAllSlots;
  std::uint64_t free_slots_{kAllSlots};   // bits: waves
  std::uint64_t free_groups_{kAllSlots};  // bits: groups
  int resident_{};
  std::uint32_t lds_used_{};
  std::vector<bool> lds_blocks_;
  std::int64_t busy_since_{};
  std::int64_t last_end_{};
  std::int64_t scalar_asked_{};  // departure of the last request for the scalar cache
  unsigned finished_{};
  bool clock_read_{};
  const L1Policy& l1_policy_;
  bool takes_rows_;
  std::vector<CuObserver*> observers_;
  CuObserver::Watches watched_;
  std::optional<Error> error_;
  std::int64_t error_cycle_{};
  using OperationBlock = std::array<MemoryOperation, 32>;
  std::vector<OperationBlock*> pool_;
  std::vector<MemoryOperation*> free_operations_;
};

}  // namespace ww::sim::gpu::exec
