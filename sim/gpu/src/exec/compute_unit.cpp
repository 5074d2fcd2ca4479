#include "exec/compute_unit.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "exec/lane_table.hpp"
#include "exec/memory_operation.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::uint64_t kIdleKey = ~std::uint64_t{0};
constexpr std::uint32_t kLdsBlock = 512;
// A wave keeps its turn for this many cycles before the next one is looked for: oldest first, and
// the host keeps its registers at hand.
constexpr std::int64_t kTurn = 32;
// Every wave has room for all 256 vector registers, and on gfx90a as many accumulation registers,
// so that no register number needs a check; the odd distance keeps the waves' first registers apart
// in the host's caches.
std::size_t register_stride(const Architecture& architecture) {
  const std::size_t registers = architecture.gfx_target == "gfx90a" ? 512 : 256;
  return registers * kLanes + 5 * 16;
}
// Most often all of them.
std::uint64_t enabled_lanes(std::uint64_t exec) {
  return exec == ~std::uint64_t{0} ? 64 : static_cast<unsigned>(std::popcount(exec));
}

}  // namespace

void Wave::expand_mask(std::uint64_t enabled) {
  lanes().expand_mask(lane_mask, enabled);
  lane_mask_of = enabled;
  lane_mask_known = true;
}

ComputeUnit::ComputeUnit(const Architecture& architecture, int engine, int index,
                         DeviceMemory& memory)
    : l1(architecture.l1_bytes, architecture.l1_ways, architecture.line_bytes),
      lines_per_run(std::min<std::uint32_t>(
          Request::kMostLines, static_cast<std::uint32_t>(architecture.channel_interleave_bytes /
                                                          architecture.line_bytes))),
      architecture_(architecture),
      engine_(engine),
      index_(index),
      memory_(memory),
      register_stride_(register_stride(architecture)),
      lds_(static_cast<std::size_t>(architecture.lds_bytes_per_cu) + 64),
      lds_blocks_(static_cast<std::size_t>(architecture.lds_bytes_per_cu) / kLdsBlock) {
  key_.fill(kIdleKey);
  const std::size_t bytes = kSlots * register_stride_ * sizeof(std::uint32_t);
  void* words = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (words == MAP_FAILED) throw std::bad_alloc();
  registers_ = {static_cast<std::uint32_t*>(words), Free{bytes}};
}

void ComputeUnit::Free::operator()(std::uint32_t* words) const {
  munmap(words, bytes);
}

void ComputeUnit::begin_launch(const LaunchState& launch) {
  launch_ = &launch;
  l1.invalidate_all();
  l1_free = 0;
  lds_free = 0;
  requests.clear();
  requests_done = 0;
  activity = {};
  counters = {};
  if (trace) trace->clear();
  findings.clear();
  if (launch.checks.races) {
    if (!shadow) shadow = std::make_unique<LocalShadow>(lds_.size());
    shadow->begin_launch();
  } else {
    shadow.reset();
  }
  key_.fill(kIdleKey);
  key_rows_ = 0;
  first_key_ = kIdleKey;
  simd_waves_ = {};
  valu_free_ = {};
  salu_free_ = {};
  branch_free_ = {};
  groups_ = {};
  for (Wave& wave : waves_) wave.state = WaveState::empty;
  resident_ = 0;
  lds_used_ = 0;
  std::fill(lds_blocks_.begin(), lds_blocks_.end(), false);
  finished_ = 0;
  clock_read_ = false;
  error_.reset();
  free_operations_.clear();
  for (auto& operation : pool_) free_operations_.push_back(operation.get());
  last_end_ = 0;
}

bool ComputeUnit::has_room() const {
  int free_slots = 0;
  for (const int waves : simd_waves_) free_slots += std::max(0, launch_->waves_per_simd - waves);
  if (free_slots < static_cast<int>(launch_->waves_per_group)) return false;
  const std::uint32_t blocks = launch_->lds_allocated / kLdsBlock;
  std::uint32_t run = 0;
  for (std::size_t i = 0; run < blocks && i < lds_blocks_.size(); ++i) {
    run = lds_blocks_[i] ? 0 : run + 1;
  }
  return run >= blocks;
}

void ComputeUnit::start(std::array<std::uint32_t, 3> id, std::int64_t cycle) {
  const auto place = std::find_if(groups_.begin(), groups_.end(),
                                  [](const WorkGroup& group) { return !group.used; });
  WorkGroup& group = *place;
  group = WorkGroup{};
  group.used = true;
  group.id = id;
  group.hardware_slot = static_cast<std::uint32_t>(place - groups_.begin());
  group.waves = group.alive = launch_->waves_per_group;
  const std::uint32_t blocks = launch_->lds_allocated / kLdsBlock;
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; run < blocks; ++i) {
    run = lds_blocks_[i] ? 0 : run + 1;
    group.lds_offset = (i + 1 - run) * kLdsBlock;
  }
  for (std::uint32_t i = 0; i < blocks; ++i) lds_blocks_[group.lds_offset / kLdsBlock + i] = true;
  group.lds_bytes = launch_->lds_bytes;
  if (shadow) group.epoch = shadow->new_epoch();

  if (resident_ == 0) busy_since_ = cycle;
  for (std::uint32_t n = 0; n < group.waves; ++n) {
    const auto simd = static_cast<std::size_t>(
        std::min_element(simd_waves_.begin(), simd_waves_.end()) - simd_waves_.begin());
    std::size_t slot = simd;
    while (waves_[slot].state != WaveState::empty) slot += 4;
    ++simd_waves_[simd];
    ++resident_;
    Wave& wave = waves_[slot];
    wave.v = registers_.get() + slot * register_stride_;
    wave.code = launch_->code;
    wave.code_dwords = launch_->code_dwords;
    wave.pc = launch_->entry;
    wave.ahead = 0;
    wave.vgprs = launch_->vgprs;
    wave.cu = this;
    wave.group = &group;
    wave.state = WaveState::running;
    wave.slot = static_cast<std::uint8_t>(slot);
    wave.simd = static_cast<std::uint8_t>(simd);
    wave.wave_id = static_cast<std::uint8_t>(slot / 4);
    wave.in_group = static_cast<std::uint16_t>(n);
    wave.scc = false;
    wave.next_completion = kNever;
    wave.vector_queue = {};
    wave.scalar_queue = {};
    wave.started = cycle;
    wave.next = (cycle + 3) / 4 * 4 + static_cast<std::int64_t>(simd);
    wave.now = wave.next;
    init_registers(wave, group);
    key_rows_ = std::max(key_rows_, static_cast<int>(slot / 8 + 1));
    set_key(wave);
    ++counters.waves;
  }
}

// Initial registers: LLVM "User Guide for AMDGPU Backend", initial kernel execution state.
void ComputeUnit::init_registers(Wave& wave, const WorkGroup& group) {
  std::memset(wave.sr, 0, sizeof wave.sr);
  const LaunchState& launch = *launch_;
  constexpr std::size_t kRegister = kLanes * sizeof(std::uint32_t);
  const std::uint32_t ordinary = std::min<std::uint32_t>(launch.vgprs - launch.accumulators, 256);
  std::memset(wave.v, 0, ordinary * kRegister);
  if (launch.accumulators != 0) {
    std::memset(wave.vgpr(kAccumulators), 0, launch.accumulators * kRegister);
  }
  const std::uint64_t slot_scratch = std::uint64_t{launch.scratch_per_lane} * kLanes;
  const std::uint64_t wave_index =
      (static_cast<std::uint64_t>(engine_ * architecture_.cus_per_engine + index_) * kSlots) +
      wave.slot;
  const std::uint64_t scratch_offset = wave_index * slot_scratch;
  wave.scratch_base = launch.scratch + scratch_offset;

  std::size_t s = 0;
  if ((launch.code_properties & 1U) != 0) {  // private segment buffer
    // Swizzled by dword over the 64 lanes: element size 4, index stride 64, add lane id.
    wave.sr[0] = static_cast<std::uint32_t>(launch.scratch);
    wave.sr[1] = static_cast<std::uint32_t>(launch.scratch >> 32) | 1U << 31;
    wave.sr[2] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(launch.scratch_bytes, ~std::uint32_t{0}));
    wave.sr[3] = 1U << 19 | 3U << 21 | 1U << 23;
    s += 4;
  }
  const auto put = [&](unsigned bit, std::uint64_t value, std::size_t words) {
    if ((launch.code_properties >> bit & 1U) == 0) return;
    wave.sr[s] = static_cast<std::uint32_t>(value);
    if (words == 2) wave.sr[s + 1] = static_cast<std::uint32_t>(value >> 32);
    s += words;
  };
  put(1, launch.dispatch_packet, 2);
  put(2, launch.queue, 2);
  put(3, launch.kernarg, 2);
  put(4, launch.dispatch_id, 2);
  // Flat scratch: offset of the arena from the hidden base, and bytes of one lane; on gfx9 the
  // arena's address, to which the kernel adds the wave's offset.
  put(5, launch.isa == Isa::gfx7 ? std::uint64_t{launch.scratch_per_lane} << 32 : launch.scratch,
      2);
  put(6, launch.scratch_per_lane, 1);
  s = launch.rsrc2 >> 1 & 31U;  // user registers; the rest follows them
  for (unsigned axis = 0; axis < 3; ++axis) {
    if ((launch.rsrc2 >> (7 + axis) & 1U) != 0) wave.sr[s++] = group.id[axis];
  }
  if ((launch.rsrc2 >> 10 & 1U) != 0) {
    const bool first = wave.in_group == 0;
    wave.sr[s++] =
        launch.waves_per_group | std::uint32_t{wave.in_group} << 6 | (first ? 1U << 26 : 0U);
  }
  if ((launch.rsrc2 & 1U) != 0) wave.sr[s++] = static_cast<std::uint32_t>(scratch_offset);

  const std::uint32_t first = wave.in_group * std::uint32_t{kLanes};
  const std::uint32_t count = std::min<std::uint32_t>(kLanes, launch.group_size - first);
  wave.set_pair(kExec, count == kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  wave.lane_mask_known = false;  // the slot's last wave left its own behind
  wave.mode = (launch.rsrc1 >> 12 & 0xFFU) | (launch.rsrc1 >> 21 & 1U) << 8 |
              (launch.rsrc1 >> 23 & 1U) << 9;
  wave.sr[kM0] = ~std::uint32_t{0};
  const std::size_t id_words = std::size_t{launch.id_axes} * kLanes;
  std::memcpy(wave.v, launch.work_item_ids.data() + wave.in_group * id_words,
              id_words * sizeof(std::uint32_t));
}

void ComputeUnit::set_key(const Wave& wave) {
  const std::uint64_t key = static_cast<std::uint64_t>(wave.next) << 6 | wave.slot;
  key_[wave.slot] = key;
  first_key_ = std::min(first_key_, key);
}

std::int64_t ComputeUnit::next_event() const {
  return first_key_ == kIdleKey ? kNever : static_cast<std::int64_t>(first_key_ >> 6);
}

void ComputeUnit::run(std::int64_t end) {
  if (resident_ == 0) return;
  const LaneTable& table = lanes();
  std::uint64_t key = first_key_;
  while (!error_ && key != kIdleKey && static_cast<std::int64_t>(key >> 6) < end) {
    Wave& wave = waves_[key & 63];
    // Of the other waves, looked for beside the step rather than after it.
    const std::uint64_t other = table.smallest_above(key_.data(), key, key_rows_);
    keys_changed_ = false;
    step(wave, static_cast<std::int64_t>(key >> 6), end);
    key = wave.state == WaveState::running && wave.next != kNever
              ? static_cast<std::uint64_t>(wave.next) << 6 | wave.slot
              : kIdleKey;
    key_[wave.slot] = key;
    key = keys_changed_ ? table.smallest_above(key_.data(), 0, key_rows_) : std::min(key, other);
  }
  first_key_ = key;
}

void ComputeUnit::step(Wave& wave, std::int64_t start, std::int64_t end) {
  const std::int64_t horizon = std::min(end, start + kTurn);
  std::int64_t time = start;
  do {
    if (time >= wave.next_completion) drain(wave, time);
    if (wave.ahead == 0) {
      if (wave.pc >= wave.code_dwords) {
        fault(wave, ErrorCode::device_error, "the program counter left the program");
        return;
      }
      if (wave.code[wave.pc].straight) run_ahead(wave);
    }
    if (wave.ahead != 0) {
      time = issue_ahead(wave, time, horizon);
      wave.next = time;
      continue;
    }
    const MicroOp& op = wave.code[wave.pc];
    // A unit takes one instruction at a time; the wave reserves the unit's next free slot.
    switch (op.unit) {
      case Unit::valu: {
        std::int64_t& unit = valu_free_[wave.simd];
        time = std::max(time, unit);
        unit = time + op.cycles;
        wave.next = unit;
        ++counters.valu;
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
    op.run(wave, op);
    time = wave.next;
  } while (time < horizon && wave.state == WaveState::running && !error_);
}

// Executes the straight-line code at the program counter, unless what is on its way to registers
// could tell.
void ComputeUnit::run_ahead(Wave& wave) {
  if (launch_->straight == nullptr) return;
  const StraightRun& run = launch_->straight->run[wave.pc];
  if (wave.vector_queue.count + wave.scalar_queue.count != 0 && awaits(wave, run.registers)) return;
  activity.vector_lane_operations += execute_straight(wave, wave.code + wave.pc, run.count);
  counters.valu += run.vectors;
  counters.salu += run.count - run.vectors;
  wave.ahead = run.count;
}

// Issues what is executed already, up to `end` or the next completion; returns when the next
// instruction can issue.
std::int64_t ComputeUnit::issue_ahead(Wave& wave, std::int64_t time, std::int64_t end) {
  end = std::min(end, wave.next_completion);
  const IssueSlot* slot = launch_->straight->issue.data() + wave.pc;
  std::int64_t valu = valu_free_[wave.simd];
  std::int64_t salu = salu_free_[wave.simd];
  std::uint32_t left = wave.ahead;
  do {
    if (slot->unit == Unit::valu) {
      time = std::max(time, valu) + slot->cycles;
      valu = time;
    } else {
      time = std::max(time, salu) + slot->cycles;
      salu = time;
    }
    wave.pc += slot->dwords;
    slot += slot->dwords;
  } while (--left != 0 && time < end);
  valu_free_[wave.simd] = valu;
  salu_free_[wave.simd] = salu;
  wave.ahead = left;
  return time;
}

void ComputeUnit::drain(Wave& wave, std::int64_t time) {
  CounterQueue& vector = wave.vector_queue;
  while (vector.count != 0) {
    const std::int64_t done = vector.next();
    if (done > time) break;
    MemoryOperation* operation = vector.front();
    vector.chain = done;
    vector.pop();
    complete(wave, *operation);
    if (--operation->references == 0) release(operation);
  }
  CounterQueue& scalar = wave.scalar_queue;
  while (scalar.count != 0) {
    const std::int64_t done = scalar.next();
    if (done > time) break;
    MemoryOperation* operation = scalar.front();
    scalar.chain = done;
    scalar.pop();
    if (!operation->vector) complete(wave, *operation);
    if (--operation->references == 0) release(operation);
  }
  wave.next_completion = std::min(vector.next(), scalar.next());
}

void ComputeUnit::complete(Wave& wave, MemoryOperation& operation) {
  if (operation.words == 0) return;
  if (operation.scalar) {
    std::memcpy(wave.sr + operation.destination, operation.data,
                operation.words * sizeof(std::uint32_t));
    return;
  }
  if (operation.traced_lanes != 0) [[unlikely]]
    trace->completed(wave, operation);
  if (operation.into_registers) {
    activity.register_bytes += kLanes * sizeof(std::uint32_t);
    return;
  }
  const LaneTable& table = lanes();
  std::uint32_t* const target = wave.vgpr(operation.destination);
  const std::uint32_t* elements =
      operation.kind == MemoryKind::atomic_return ? operation.old : operation.data;
  activity.register_bytes += enabled_lanes(operation.exec) * operation.words * 4U;
  if (operation.sign_extend) {
    const unsigned shift = 32 - operation.element_bytes * 8U;
    for (std::uint32_t& word : operation.data) {
      if (&word >= operation.data + kLanes) break;
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
  const bool all = operation.exec == ~std::uint64_t{0};
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

MemoryOperation* ComputeUnit::new_operation(Wave& wave) {
  if (free_operations_.empty()) {
    pool_.push_back(std::make_unique<MemoryOperation>());
    free_operations_.push_back(pool_.back().get());
  }
  MemoryOperation* operation = free_operations_.back();
  free_operations_.pop_back();
  operation->wave = &wave;
  operation->completion = 0;
  operation->unresolved = 0;
  operation->references = 0;
  operation->sign_extend = false;
  operation->half = 0;
  operation->contiguous = false;
  operation->traced_lanes = 0;
  operation->scalar = false;
  operation->vector = false;
  operation->words = 0;
  operation->begun = false;
  operation->into_registers = false;
  return operation;
}

void ComputeUnit::release(MemoryOperation* operation) {
  free_operations_.push_back(operation);
}

bool ComputeUnit::vector_slot_free(Wave& wave, const MicroOp& op) {
  if (wave.vector_queue.count < kCounterDepth) return true;
  wait(wave, op, kCounterDepth - 1, kCounterDepth + 1);
  return false;
}

bool ComputeUnit::scalar_slot_free(Wave& wave, const MicroOp& op) {
  if (wave.scalar_queue.count < kCounterDepth) return true;
  wait(wave, op, kCounterDepth + 1, kCounterDepth - 1);
  return false;
}

void ComputeUnit::wait(Wave& wave, const MicroOp& op, unsigned vector_left, unsigned scalar_left) {
  wave.pc -= op.dwords;
  wave.wait_vector = vector_left;
  wave.wait_scalar = scalar_left;
  const std::int64_t time = std::max(wave.vector_queue.time_until(vector_left),
                                     wave.scalar_queue.time_until(scalar_left));
  if (time == kNever) {
    wave.next = kNever;
    bypass(wave, vector_left);
    return;
  }
  const std::int64_t aligned = (time - wave.simd + 3) / 4 * 4 + wave.simd;
  wave.next = std::max(aligned, wave.now + 4);
}

// While the wave waits nobody sees its registers: a load that must complete before it goes on, and
// whose lanes lie in memory as in a register, writes there as soon as its bytes come. Not where
// another load has the same register: they write in order.
void ComputeUnit::bypass(Wave& wave, unsigned vector_left) {
  const CounterQueue& queue = wave.vector_queue;
  if (trace || queue.count <= vector_left) return;
  const auto fits = [](const MemoryOperation& operation) {
    return operation.kind == MemoryKind::load && operation.contiguous &&
           operation.element_bytes == sizeof(std::uint32_t) &&
           operation.exec == ~std::uint64_t{0} && !operation.begun;
  };
  if (queue.count == 1 && wave.scalar_queue.count <= 1) {
    MemoryOperation& only = *queue.front();
    if (wave.scalar_queue.count == 0 || wave.scalar_queue.front() == &only) {
      if (fits(only)) only.into_registers = true;
      return;
    }
  }
  RegisterSet once;
  RegisterSet twice;
  for (const CounterQueue* each : {&wave.vector_queue, &wave.scalar_queue}) {
    for (unsigned i = 0; i < each->count; ++i) {
      const MemoryOperation& operation = *each->at(i);
      if (operation.scalar || (each != &queue && operation.vector)) continue;
      if (once.has_vector(operation.destination, operation.words)) {
        twice.add_vector(operation.destination, operation.words);
      }
      once.add_vector(operation.destination, operation.words);
    }
  }
  for (unsigned i = 0; i + vector_left < queue.count; ++i) {
    MemoryOperation& operation = *queue.at(i);
    if (fits(operation) && !twice.has_vector(operation.destination, 1)) {
      operation.into_registers = true;
    }
  }
}

void ComputeUnit::resolved(Wave& wave) {
  wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
  if (wave.state != WaveState::running || wave.next != kNever) return;
  const std::int64_t time = std::max(wave.vector_queue.time_until(wave.wait_vector),
                                     wave.scalar_queue.time_until(wave.wait_scalar));
  if (time == kNever) return;
  wave.next = std::max((time - wave.simd + 3) / 4 * 4 + wave.simd, wave.now + 4);
  set_key(wave);
}

void ComputeUnit::barrier(Wave& wave) {
  WorkGroup& group = *wave.group;
  ++group.at_barrier;
  wave.state = WaveState::barrier;
  group.barrier_time = std::max(group.barrier_time, wave.now);
  if (group.at_barrier < group.alive) return;
  group.at_barrier = 0;
  if (shadow) group.epoch = shadow->new_epoch();
  for (Wave& other : waves_) {
    if (other.state != WaveState::barrier || other.group != &group) continue;
    other.state = WaveState::running;
    other.next = (group.barrier_time - other.simd + 3) / 4 * 4 + other.simd + 4;
    set_key(other);
    keys_changed_ = true;
  }
  group.barrier_time = 0;
}

// A load that nobody waited for: what it will bring is what memory holds now.
void ComputeUnit::trace_abandoned(const Wave& wave, MemoryOperation& operation) {
  if (operation.unresolved != 0) {
    const std::size_t words = element_words(operation);
    for (std::uint64_t set = operation.traced_lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      const std::uint64_t address = operation.contiguous
                                        ? operation.base + lane * operation.element_bytes
                                        : operation.address[lane];
      std::memcpy(operation.data + lane * words, memory_.host(address), operation.element_bytes);
    }
  }
  trace->completed(wave, operation);
}

void ComputeUnit::end_wave(Wave& wave) {
  const auto abandon = [this, &wave](CounterQueue& queue) {
    for (; queue.count != 0; queue.pop()) {
      MemoryOperation* operation = queue.front();
      if (operation->traced_lanes != 0) [[unlikely]]
        trace_abandoned(wave, *operation);
      operation->wave = nullptr;
      if (--operation->references == 0 && operation->unresolved == 0) release(operation);
    }
  };
  abandon(wave.vector_queue);
  abandon(wave.scalar_queue);
  wave.state = WaveState::empty;
  --simd_waves_[wave.simd];
  --resident_;
  activity.resident_wave_cycles += static_cast<std::uint64_t>(wave.now + 4 - wave.started);
  last_end_ = std::max(last_end_, wave.now + 4);
  if (resident_ == 0) activity.busy_cycles += static_cast<std::uint64_t>(last_end_ - busy_since_);
  WorkGroup& group = *wave.group;
  if (--group.alive != 0) {
    if (group.at_barrier == group.alive) {  // the others wait for nobody now
      --group.at_barrier;
      for (Wave& other : waves_) {
        if (other.state == WaveState::barrier && other.group == &group) {
          other.now = std::max(other.now, wave.now);
          other.state = WaveState::running;
          barrier(other);
          break;
        }
      }
    }
    return;
  }
  const std::uint32_t blocks = launch_->lds_allocated / kLdsBlock;
  for (std::uint32_t i = 0; i < blocks; ++i) lds_blocks_[group.lds_offset / kLdsBlock + i] = false;
  group.used = false;
  ++finished_;
}

std::uint32_t ComputeUnit::hardware_id(const Wave& wave) const {
  const auto cu = static_cast<std::uint32_t>(index_);
  return wave.wave_id | std::uint32_t{wave.simd} << 4 | (cu & 15U) << 8 | (cu >> 4 & 1U) << 12 |
         (static_cast<std::uint32_t>(engine_) & (launch_->isa == Isa::gfx90a ? 7U : 3U)) << 13 |
         (wave.group->hardware_slot & 15U) << 16 | 1U << 30;
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
