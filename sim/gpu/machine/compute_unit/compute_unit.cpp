#include "machine/compute_unit/compute_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fast/forms/issue_slots.hpp"
#include "fast/forms/lane_forms.hpp"
#include "fast/forms/load_addresses.hpp"
#include "fast/forms/straight_line.hpp"
#include "fast/host/host_cache.hpp"
#include "fast/translate/translations.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Words between two waves' first registers where each has room for all 256 vector registers, and on
// CDNA 2 and 3 as many accumulation registers. The odd distance keeps them apart in the host's
// caches.
constexpr std::size_t kApart = 5 * 16;
std::size_t widest_stride(const Architecture& architecture) {
  const std::string& target = architecture.gfx_target;
  const std::size_t registers = target == "gfx90a" || target == "gfx942" ? 512 : 256;
  return registers * kLanes + kApart;
}

// The value, chosen by a jump that the host predicts: a move on condition would wait for what the
// condition compares.
std::uint64_t predicted(std::uint64_t value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

// Returns the wave itself. The compiler keeps the address, which it would compute anew at each use.
Wave& addressed(Wave& wave) {
  Wave* address = &wave;
  __asm__("" : "+r"(address));
  return *address;
}

// Many programs use none: pages that nobody touches cost nothing.
std::span<std::byte> local_memory(const Architecture& architecture, HostArena& arena) {
  const std::size_t bytes = static_cast<std::size_t>(architecture.lds_bytes_per_cu) + 64;
  return {static_cast<std::byte*>(arena.allocate(bytes, HostArena::Pages::rare)), bytes};
}

}  // namespace

void Wave::expand_mask(std::uint64_t enabled) {
  lanes().expand_mask(lane_mask, enabled);
  lane_mask_of = enabled;
  lane_mask_known = true;
}

CuCounters& CuCounters::operator+=(const CuCounters& other) {
  waves += other.waves;
  valu += other.valu;
  salu += other.salu;
  smem += other.smem;
  vmem_read += other.vmem_read;
  vmem_write += other.vmem_write;
  flat += other.flat;
  lds += other.lds;
  l1_accesses += other.l1_accesses;
  l1_hits += other.l1_hits;
  read_requests += other.read_requests;
  wide_lines_written += other.wide_lines_written;
  write_requests += other.write_requests;
  atomic_requests += other.atomic_requests;
  atomic_returns += other.atomic_returns;
  approximated += other.approximated;
  return *this;
}

ComputeUnit::ComputeUnit(const Architecture& architecture, int engine, int index,
                         DeviceMemory& memory, HostArena& arena, const L1Policy& l1_policy)
    : l1(architecture.l1_bytes, architecture.l1_ways, architecture.line_bytes),
      lines_per_run(std::min<std::uint32_t>(
          Request::kMaxLines, static_cast<std::uint32_t>(architecture.channel_interleave_bytes /
                                                         architecture.line_bytes))),
      requests(ArenaAllocator<Request>(arena)),
      architecture_(architecture),
      engine_(engine),
      index_(index),
      memory_(memory),
      arena_(arena),
      lds_(local_memory(architecture, arena)),
      waves_(*arena.make<std::array<Wave, kSlots>>()),
      lds_blocks_(static_cast<std::size_t>(architecture.lds_bytes_per_cu) / kLdsBlock),
      l1_policy_(l1_policy),
      takes_rows_(l1.has_rows() && lines_per_run == L1Cache::kRow && l1_policy.takes_rows()) {
  key_.fill(kIdleKey);
}

void ComputeUnit::attach(CuObserver& observer) {
  observers_.push_back(&observer);
  const CuObserver::Watches watches = observer.watches();
  watched_.memory |= watches.memory;
  watched_.local_memory |= watches.local_memory;
}

void ComputeUnit::detach(const CuObserver& observer) {
  std::erase(observers_, &observer);
  watched_ = {};
  for (const auto& left : std::exchange(observers_, {})) attach(*left);
}

std::size_t ComputeUnit::waves_of_slot(const Architecture& architecture) {
  return static_cast<std::size_t>(architecture.cu_places()) | 1U;
}

std::size_t ComputeUnit::register_bytes(const Architecture& architecture) {
  return waves_of_slot(architecture) * kSlots * widest_stride(architecture) * sizeof(std::uint32_t);
}

// Waves lie as close as their launch allows, which saves pages. Registers that an index chooses are
// checked (LaunchState::ordinary). Those that an instruction names need no check: the room is for
// forty waves with all registers, and a number past a wave's own, which no compiler makes, finds
// its neighbours'.
std::size_t ComputeUnit::stride_for(const LaunchState& launch) const {
  const std::size_t end =
      launch.accumulators != 0 ? kAccumulators + launch.accumulators : launch.vgprs;
  return std::min(widest_stride(architecture_), end * kLanes + kApart);
}

// Issues one wave up to `end` or the next completion; returns when its next instruction can issue.
inline std::int64_t ComputeUnit::issue_ahead(Wave& wave, std::int64_t time, std::int64_t end) {
  end = std::min(end, wave.next_completion);
  const IssueSlot* const first = launch_->straight->issue.data() + wave.pc;
  const Issued issued =
      issue_slots({time, valu_free_[wave.simd], salu_free_[wave.simd], first, wave.ahead}, end);
  wave.pc += static_cast<std::uint32_t>(issued.slot - first);
  valu_free_[wave.simd] = issued.valu;
  salu_free_[wave.simd] = issued.salu;
  wave.ahead = issued.left;
  return issued.time;
}

// Runs the wave from `time` on, for one turn or to the quantum's end.
inline void ComputeUnit::turn(Wave& wave, std::int64_t time, std::int64_t end) {
  const std::int64_t horizon = std::min(end, time + kTurn);
  if (wave.ahead != 0 && time < wave.next_completion) {  // often there is no more to it
    time = issue_ahead(wave, time, horizon);
    wave.next = time;
    if (time >= horizon) return;
  }
  step(wave, time, horizon);
}

// Prefetches what a turn reads first, wherever its instructions lie.
inline void ComputeUnit::bring(const Wave& wave) {
  prefetch_to_write(&wave, 2);
  prefetch_to_write(&wave.vector_queue);
  prefetch_to_write(&wave.scalar_queue);
  prefetch_to_write(wave.load_address);
  prefetch(wave.sr + kExec);
}

// Prefetches the result of a local memory operation and the registers it goes to.
inline void ComputeUnit::prefetch_result(Wave& wave, const MemoryOperation& operation) {
  constexpr std::size_t kLinesOfRegister = kLanes * sizeof(std::uint32_t) / kHostLine;
  if (operation.scalar || operation.vector) return;
  prefetch(operation.elements, operation.words * kLinesOfRegister);
  prefetch_to_write(wave.vgpr(operation.destination), operation.words * kLinesOfRegister);
}

void ComputeUnit::run(std::int64_t end) {
  if (resident_ == 0) return;
  for (const Starting& starting : starting_) begin_waves(starting);
  starting_.clear();
  const LaneTable& table = lanes();
  std::uint64_t key = first_key_;
  // The last wave's new key waits here for a turn: a search that read a word just written would
  // wait for it. What the array says of that wave meanwhile lies before every key that is looked
  // for.
  if (key == kIdleKey) return;
  std::size_t slot = key & 63;
  std::uint64_t kept = key_[slot];
  while (!error_ && key != kIdleKey && static_cast<std::int64_t>(key >> 6) < end) {
    Wave& wave = addressed(waves_[key & 63]);
    // Finds the other waves' smallest key beside the step rather than after it.
    std::uint64_t other = table.smallest_above(key_.data(), key, key_rows_);
    if (kept > key && kept < other) other = predicted(kept);
    if (other != kIdleKey) bring(waves_[other & 63]);
    key_[slot] = kept;
    keys_changed_ = false;
    turn(wave, static_cast<std::int64_t>(key >> 6), end);
    slot = wave.slot;
    kept = wave.state == WaveState::running && wave.next != kNever
               ? static_cast<std::uint64_t>(wave.next) << 6 | wave.slot
               : kIdleKey;
    if (keys_changed_) {
      key_[slot] = kept;
      key = table.smallest_above(key_.data(), 0, key_rows_);
    } else {
      key = kept < other ? predicted(kept) : other;
    }
  }
  key_[slot] = kept;
  first_key_ = key;
}

inline void ComputeUnit::execute(Wave& wave, const MicroOp& op, std::int64_t time) {
  // A unit takes one instruction at a time; the wave reserves the unit's next free slot.
  switch (op.unit) {
    case Unit::valu: {
      std::int64_t& unit = valu_free_[wave.simd];
      time = std::max(time, unit);
      unit = time + op.cycles;
      wave.next = unit;
      ++counters.valu;
      counters.approximated += op.approximated ? 1 : 0;
      activity.vector_lane_operations += enabled_lanes(wave.exec());
      break;
    }
    case Unit::salu: {
      std::int64_t& unit = salu_free_[wave.simd];
      time = std::max(time, unit);
      unit = time + 4;
      wave.next = unit;
      ++counters.salu;
      break;
    }
    case Unit::branch: {
      std::int64_t& unit = branch_free_[wave.simd];
      time = std::max(time, unit);
      unit = time + 4;
      wave.next = time + op.cycles;
      ++activity.scalar_instructions;
      break;
    }
    default: wave.next = time + 4; break;
  }
  wave.now = time;
  wave.pc += op.dwords;
  use_lanes(wave, op, false);
  op.run(wave, op);
}

[[gnu::always_inline]] inline void ComputeUnit::execute_or_wait(Wave& wave, const MicroOp& op,
                                                                std::int64_t time) {
  if (op.opcode == Opcode::s_waitcnt) {  // most steps end with one: no call
    wave.now = time;
    wave.next = time + 4;
    wave.pc += op.dwords;
    wait_for_counters(wave, op);
  } else {
    execute(wave, op, time);
  }
}

void ComputeUnit::step(Wave& wave, std::int64_t time, std::int64_t horizon) {
  do {
    if (time >= wave.next_completion) drain(wave, time);
    if (wave.ahead == 0) {
      if (wave.pc >= launch_->code_dwords) {
        fault(wave, ErrorCode::device_error, "the program counter left the program");
        return;
      }
      const MicroOp& op = launch_->code[wave.pc];
      if (op.straight) run_ahead(wave);
      if (wave.ahead == 0) {
        execute_or_wait(wave, op, time);
        time = wave.next;
        continue;
      }
    }
    time = issue_ahead(wave, time, horizon);
    wave.next = time;
  } while (time < horizon && wave.state == WaveState::running && !error_);
}

// Executes the straight-line code at the program counter, unless what is on its way to registers
// could change it.
void ComputeUnit::run_ahead(Wave& wave) {
  if (launch_->straight == nullptr) return;
  const StraightRun& run = launch_->straight->run[wave.pc];
  if (wave.vector_queue.count + wave.scalar_queue.count != 0 && awaits(wave, run.registers)) return;
  const std::uint64_t lane_operations =
      launch_->translations != nullptr ? launch_->translations->execute(wave, wave.pc, run.count)
                                       : execute_straight(wave, launch_->code + wave.pc, run.count);
  activity.vector_lane_operations += lane_operations;
  counters.valu += run.vectors;
  counters.approximated += run.approximated;
  counters.salu += run.count - run.vectors;
  wave.ahead = run.count;
  if (run.load != 0) find_load_addresses(wave, run.load);
}

inline void ComputeUnit::drain(Wave& wave, std::int64_t time) {
  if (drain_only(wave, time)) return;
  CounterQueue& vector = wave.vector_queue;
  std::int64_t next_vector = vector.next();
  while (next_vector <= time) {
    MemoryOperation& operation = *vector.front();
    vector.pop(next_vector);
    bring_registers(wave, operation);
    if (--operation.references == 0) release(&operation);
    next_vector = vector.next();
  }
  CounterQueue& scalar = wave.scalar_queue;
  for (unsigned i = 1; i < scalar.count; ++i) prefetch(scalar.at(i));
  std::int64_t next_scalar = scalar.next();
  while (next_scalar <= time) {
    MemoryOperation& operation = *scalar.front();
    scalar.pop(next_scalar);
    if (scalar.count != 0) prefetch_result(wave, *scalar.front());
    if (!operation.vector) bring_registers(wave, operation);
    if (--operation.references == 0) release(&operation);
    next_scalar = scalar.next();
  }
  wave.next_completion = std::min(next_vector, next_scalar);
}

// Drains a wave that has one operation on its way, counted by vmcnt and perhaps lgkmcnt as well, as
// most often; false, having done nothing, if it has not or a counter counts it after `time`.
inline bool ComputeUnit::drain_only(Wave& wave, std::int64_t time) {
  CounterQueue& vector = wave.vector_queue;
  CounterQueue& scalar = wave.scalar_queue;
  if (vector.count != 1) return false;
  MemoryOperation& only = *vector.front();
  if (scalar.count + 1 != only.references) return false;
  const std::int64_t done = std::max(vector.chain, only.completion);
  const std::int64_t done_scalar = std::max(scalar.chain, only.completion);
  if (only.unresolved != 0 || std::max(done, done_scalar) > time) return false;
  if (only.references == 2) scalar.pop(done_scalar);
  vector.pop(done);
  bring_registers(wave, only);
  release(&only);
  wave.next_completion = kNever;
  return true;
}

// The operation is complete: its registers get what it brings, unless that is there.
inline void ComputeUnit::bring_registers(Wave& wave, MemoryOperation& operation) {
  if (operation.into_registers) {  // most often
    overwrite(wave, wave.formed & formable(operation.destination, 1), true);
    activity.register_bytes += kLanes * sizeof(std::uint32_t);
  } else if (operation.words != 0) {
    complete(wave, operation);
  }
}

void ComputeUnit::complete(Wave& wave, MemoryOperation& operation) {
  if (operation.scalar) {
    std::memcpy(wave.sr + operation.destination, operation.data(),
                operation.words * sizeof(std::uint32_t));
    return;
  }
  if (operation.traced != Traced::none) [[unlikely]] {
    for (CuObserver* const observer : observers_) observer->completed(wave, operation);
  }
  const bool all = operation.exec == ~std::uint64_t{0};
  if (const std::uint64_t result = formable(operation.destination, operation.words);
      (wave.formed & result) != 0) {
    overwrite(wave, result, all && operation.half == 0);
  }
  if (operation.image) [[unlikely]] {
    activity.register_bytes += enabled_lanes(operation.exec) * operation.words * 4U;
    complete_image(wave, operation);
    return;
  }
  const LaneTable& table = lanes();
  std::uint32_t* const target = wave.vgpr(operation.destination);
  const std::uint32_t* elements =
      operation.kind == MemoryKind::atomic_return ? operation.old() : operation.data();
  activity.register_bytes += enabled_lanes(operation.exec) * operation.words * 4U;
  if (operation.sign_extend) {
    const unsigned shift = 32 - operation.element_bytes * 8U;
    for (int lane = 0; lane < kLanes; ++lane) {
      std::uint32_t& word = operation.data()[lane];
      word = static_cast<std::uint32_t>(static_cast<std::int32_t>(word << shift) >>
                                        static_cast<int>(shift));
    }
  }
  if (operation.half != 0) {  // the registers' other halves stay
    const unsigned shift = operation.half == 2 ? 16 : 0;
    const std::uint32_t kept = operation.half == 2 ? 0xFFFFU : 0xFFFF0000U;
    for (std::uint64_t set = operation.exec; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      target[lane] = (target[lane] & kept) | (elements[lane] & 0xFFFFU) << shift;
    }
    return;
  }
  if (all) {
    table.unpack(target, elements, operation.words);
    return;
  }
  alignas(64) std::uint32_t unpacked[kLanes * 4];
  alignas(64) std::uint32_t mask[kLanes];
  table.unpack(unpacked, elements, operation.words);
  table.expand_mask(mask, operation.exec);
  table.blend(target, unpacked, mask, operation.words);
}

void ComputeUnit::add_operations() {
  pool_.push_back(arena_.make<OperationBlock>());
  OperationBlock& block = *pool_.back();
  auto* const bytes = static_cast<OperationBytes*>(
      arena_.allocate(block.size() * sizeof(OperationBytes), HostArena::Pages::rare));
  for (std::size_t i = block.size(); i-- != 0;) {
    block[i].bytes = bytes + i;
    free_operations_.push_back(&block[i]);
  }
}

[[gnu::always_inline]] inline void ComputeUnit::wait_for_counters(Wave& wave, const MicroOp& op) {
  const auto bits = static_cast<std::uint32_t>(op.immediate);
  unsigned vector = bits & 15U;
  const unsigned scalar = bits >> 8 & 15U;
  if (is_rdna(launch_->isa)) vector = wave.vector_queue.left_with(vector, false);
  if (wave.vector_queue.count > vector || wave.scalar_queue.count > scalar) {
    wait(wave, op, vector, scalar);
  }
}

void ComputeUnit::wait(Wave& wave, const MicroOp& op, unsigned vector_left, unsigned scalar_left) {
  wave.pc -= op.dwords;
  wave.wait_vector = static_cast<std::uint8_t>(vector_left);
  wave.wait_scalar = static_cast<std::uint8_t>(scalar_left);
  // The wave waits for the head of a queue, at least.
  wave.next = wave.next_completion == kNever
                  ? kNever
                  : end_of_wait(wave, wave.vector_queue.next(), wave.scalar_queue.next());
  if (wave.next == kNever) bypass(wave, vector_left);
}

// When the wave's counters have come down to what it waits for, and it can issue again; kNever
// while that is not known. `vector` and `scalar`: when the heads of its queues leave.
inline std::int64_t ComputeUnit::end_of_wait(const Wave& wave, std::int64_t vector,
                                             std::int64_t scalar) {
  const std::int64_t time = std::max(wave.vector_queue.time_until(wave.wait_vector, vector),
                                     wave.scalar_queue.time_until(wave.wait_scalar, scalar));
  if (time == kNever) return kNever;
  const std::int64_t aligned = ((time - wave.simd + 3) & ~std::int64_t{3}) + wave.simd;
  return std::max(aligned, wave.now + 4);
}

// While the wave waits nobody sees its registers: a load that must complete before it goes on, and
// whose lanes lie in memory as in a register, writes there as soon as its bytes come. Not where
// another load has the same register: they write in order.
void ComputeUnit::bypass(Wave& wave, unsigned vector_left) {
  const CounterQueue& queue = wave.vector_queue;
  if (watched_.memory) return;
  for (unsigned i = 0; i + vector_left < queue.count; ++i) {
    MemoryOperation& operation = *queue.at(i);
    if (operation.kind == MemoryKind::load && operation.contiguous &&
        operation.element_bytes == sizeof(std::uint32_t) && operation.exec == ~std::uint64_t{0} &&
        !operation.begun && !others_write(wave, operation)) {
      operation.into_registers = true;
    }
  }
}

// Whether other loads on their way have the register of one that has a single one.
inline bool ComputeUnit::others_write(const Wave& wave, const MemoryOperation& operation) {
  // Most often it is alone.
  if (wave.vector_queue.count == 1 && wave.scalar_queue.count < operation.references) return false;
  const auto has_it = [&operation](const MemoryOperation& other) {
    return static_cast<unsigned>(operation.destination - other.destination) < other.words &&
           &other != &operation;
  };
  for (unsigned i = 0; i < wave.vector_queue.count; ++i) {
    if (has_it(*wave.vector_queue.at(i))) return true;
  }
  for (unsigned i = 0; i < wave.scalar_queue.count; ++i) {
    const MemoryOperation& other = *wave.scalar_queue.at(i);
    if (!other.scalar && !other.vector && has_it(other)) return true;
  }
  return false;
}

void ComputeUnit::resolved(Wave& wave) {
  const std::int64_t vector = wave.vector_queue.next();
  const std::int64_t scalar = wave.scalar_queue.next();
  wave.next_completion = std::min(vector, scalar);
  if (wave.next_completion == kNever || wave.next != kNever || wave.state != WaveState::running)
    return;
  wave.next = end_of_wait(wave, vector, scalar);
  if (wave.next != kNever) set_key(wave);
}

std::uint32_t ComputeUnit::hardware_id(const Wave& wave) const {
  const auto cu = static_cast<std::uint32_t>(index_);
  return wave.wave_id | std::uint32_t{wave.simd} << 4 | (cu & 15U) << 8 | (cu >> 4 & 1U) << 12 |
         (static_cast<std::uint32_t>(engine_ % architecture_.shader_engines) &
          (architecture_.shader_engines > 4 ? 7U : 3U))
             << 13 |
         (wave.group->hardware_slot & 15U) << 16 | 1U << 30;
}

std::uint32_t ComputeUnit::hardware_id1(const Wave& wave) const {
  const auto cu = static_cast<std::uint32_t>(index_);
  const auto engine = static_cast<std::uint32_t>(engine_);
  const std::uint32_t place = wave.wave_id * 2U + wave.simd / 2U;
  const std::uint32_t simd = (cu & 1U) * 2U + (wave.simd & 1U);
  auto number = engine >> 1;
  if (static_cast<int>(number) >= architecture_.engine_off) ++number;
  return place | simd << 8 | (cu >> 1 & 15U) << 10 | (engine & 1U) << 16 | (number & 7U) << 18;
}

void ComputeUnit::fault(const Wave& wave, ErrorCode code, std::string message) {
  if (error_) return;
  error_cycle_ = wave.now;
  error_ =
      Error{code, std::move(message),
            fmt::format("kernel {}, work-group ({}, {}, {}), wave {}", launch_->kernel,
                        wave.group->id[0], wave.group->id[1], wave.group->id[2], wave.in_group)};
}

}  // namespace ww::sim::gpu::exec
