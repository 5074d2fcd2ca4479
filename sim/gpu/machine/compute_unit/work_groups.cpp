// Work-groups and waves of a compute unit: how they begin and end, and what holds them together.
#include <algorithm>
#include <bit>
#include <cstddef>

#include "fast/forms/lane_forms.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::exec {

void ComputeUnit::begin_launch(const LaunchState& launch, std::uint32_t* registers) {
  launch_ = &launch;
  const std::size_t stride = stride_for(launch);
  const auto cu = static_cast<std::size_t>(engine_ * architecture_.cus_per_engine + index_);
  registers_ = registers + cu * stride;
  slot_stride_ = waves_of_slot(architecture_) * stride;
  l1_policy_.begin_launch(l1);
  if (scalar_cache) scalar_cache->invalidate_all();
  l1_stores = 0;
  empties_gl1 = false;
  l1_free = 0;
  lds_free = 0;
  requests.clear();
  requests_done = 0;
  gws_requests.clear();
  activity = {};
  counters = {};
  for (CuObserver* const observer : observers_) observer->begin_launch(launch);
  key_.fill(kIdleKey);
  key_rows_ = 0;
  first_key_ = kIdleKey;
  simd_waves_ = {};
  valu_free_ = {};
  salu_free_ = {};
  branch_free_ = {};
  for (std::uint64_t set = kAllSlots & ~free_slots_; set != 0; set &= set - 1) {  // after an error
    waves_[static_cast<std::size_t>(std::countr_zero(set))].state = WaveState::empty;
  }
  free_slots_ = kAllSlots;
  free_groups_ = kAllSlots;
  starting_.clear();
  resident_ = 0;
  lds_used_ = 0;
  std::fill(lds_blocks_.begin(), lds_blocks_.end(), false);
  finished_ = 0;
  clock_read_ = false;
  error_.reset();
  free_operations_.clear();
  for (const auto& block : pool_) {
    for (MemoryOperation& operation : *block) free_operations_.push_back(&operation);
  }
  last_end_ = 0;
  scalar_asked_ = 0;
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
  const auto place = static_cast<std::uint32_t>(std::countr_zero(free_groups_));
  free_groups_ &= free_groups_ - 1;
  WorkGroup& group = groups_[place];
  group = WorkGroup{};
  group.id = id;
  group.hardware_slot = place;
  group.shape = &launch_->shape_of(id);
  group.waves = group.alive = group.shape->waves;
  const std::uint32_t blocks = launch_->lds_allocated / kLdsBlock;
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; run < blocks; ++i) {
    run = lds_blocks_[i] ? 0 : run + 1;
    group.lds_offset = (i + 1 - run) * kLdsBlock;
  }
  for (std::uint32_t i = 0; i < blocks; ++i) lds_blocks_[group.lds_offset / kLdsBlock + i] = true;
  // The chip limits a group to the blocks it got; checks of memory know the bytes asked for.
  group.lds_bytes = launch_->lds_allocated;
  for (CuObserver* const observer : observers_) observer->items_in_step(group);

  if (resident_ == 0) busy_since_ = cycle;
  Starting& starting = starting_.emplace_back();
  starting.group = &group;
  starting.cycle = cycle;
  choose_slots(group, starting.slots.data());
}

void ComputeUnit::begin_waves(const Starting& starting) {
  WorkGroup& group = *starting.group;
  for (std::uint32_t n = 0; n < group.waves; ++n) {
    const std::size_t slot = starting.slots[n];
    const std::size_t simd = slot % 4;
    Wave& wave = waves_[slot];
    wave.v = registers_of(slot);
    wave.code = launch_->code;
    wave.code_dwords = launch_->code_dwords;
    wave.pc = launch_->entry;
    wave.ahead = 0;
    wave.cu = this;
    wave.group = &group;
    wave.state = WaveState::running;
    wave.slot = static_cast<std::uint8_t>(slot);
    wave.simd = static_cast<std::uint8_t>(simd);
    wave.wave_id = static_cast<std::uint8_t>(slot / 4);
    wave.in_group = static_cast<std::uint16_t>(n);
    wave.scc = false;
    wave.known_loads = 0;
    wave.next_completion = kNever;
    wave.vector_queue.reset();
    wave.scalar_queue.reset();
    wave.started = starting.cycle;
    wave.next = (starting.cycle + 3) / 4 * 4 + static_cast<std::int64_t>(simd);
    wave.now = wave.next;
    init_registers(wave, group);
    key_rows_ = std::max(key_rows_, static_cast<int>(slot / 8 + 1));
    set_key(wave);
    ++counters.waves;
  }
}

// Each wave goes to the SIMD that has the fewest.
void ComputeUnit::choose_slots(WorkGroup& group, std::uint8_t* slots) {
  for (std::uint32_t n = 0; n < group.waves; ++n) {
    const auto simd = static_cast<std::size_t>(
        std::min_element(simd_waves_.begin(), simd_waves_.end()) - simd_waves_.begin());
    const auto slot =
        static_cast<std::size_t>(std::countr_zero(free_slots_ & kSlotsOfSimd0 << simd));
    free_slots_ &= ~(std::uint64_t{1} << slot);
    group.slots |= std::uint64_t{1} << slot;
    ++simd_waves_[simd];
    ++resident_;
    slots[n] = static_cast<std::uint8_t>(slot);
  }
}

// Initial registers: LLVM "User Guide for AMDGPU Backend", initial kernel execution state.
void ComputeUnit::init_registers(Wave& wave, const WorkGroup& group) {
  std::memset(wave.sr, 0, launch_->scalar_end * sizeof wave.sr[0]);
  std::memset(wave.sr + kSpecialScalars, 0, sizeof wave.sr - kSpecialScalars * sizeof wave.sr[0]);
  const LaunchState& launch = *launch_;
  constexpr std::size_t kRegister = kLanes * sizeof(std::uint32_t);
  const std::uint32_t first = wave.in_group * launch.wave_lanes;
  const GroupShape& shape = *group.shape;
  const std::uint32_t lanes = std::min(launch.wave_lanes, shape.size - first);
  wave.lane_bits = ~std::uint64_t{0} >> (kLanes - launch.wave_lanes);
  wave.formed = wave.unwritten = 0;
  const bool forms = lanes == kLanes && launch.straight != nullptr;
  if (lanes == launch.wave_lanes) {
    for (const RegisterSpan& span : launch.cleared) {
      const std::size_t end = std::size_t{span.first} + span.count;
      std::size_t index = span.first;
      for (; forms && index < std::min(end, kForms); ++index) set_form(wave, index, {});
      if (index < end) std::memset(wave.vgpr(index), 0, (end - index) * kRegister);
    }
  } else {
    std::memset(wave.v, 0, launch.ordinary * kRegister);
  }
  if (launch.accumulators != 0) {
    std::memset(wave.vgpr(kAccumulators), 0, launch.accumulators * kRegister);
  }
  const int engine =
      engine_ - launch.device * architecture_.dies_per_device() * architecture_.shader_engines;
  const auto place = static_cast<std::uint64_t>(engine * architecture_.cus_per_engine + index_);
  wave.scratch_bytes = std::uint64_t{launch.scratch_per_lane} * launch.wave_lanes;
  const std::uint64_t scratch_offset =
      (place * launch.scratch_slots + wave.slot) * wave.scratch_bytes;
  wave.scratch_base = launch.scratch + scratch_offset;

  std::size_t s = 0;
  if ((launch.code_properties & 1U) != 0) {  // private segment buffer
    // Swizzled by dword over the lanes: element size 4, index stride 64 or 32, add lane id.
    wave.sr[0] = static_cast<std::uint32_t>(launch.scratch);
    wave.sr[1] = static_cast<std::uint32_t>(launch.scratch >> 32) | 1U << 31;
    wave.sr[2] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(launch.scratch_bytes, ~std::uint32_t{0}));
    wave.sr[3] = 1U << 19 | (launch.wave_lanes == 32 ? 2U : 3U) << 21 | 1U << 23;
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
    wave.sr[s++] = group.waves | std::uint32_t{wave.in_group} << 6 | (first ? 1U << 26 : 0U);
  }
  if (launch.isa == Isa::gfx942) {
    wave.set_pair(kFlatScratch, wave.scratch_base);
  } else if (!has_architected_scratch(launch.isa) && (launch.rsrc2 & 1U) != 0) {
    wave.sr[s++] = static_cast<std::uint32_t>(scratch_offset);
  }

  wave.set_pair(kExec, lanes == kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1);
  wave.lane_mask_known = false;  // the slot's last wave left its own behind
  wave.mode = (launch.rsrc1 >> 12 & 0xFFU) | (launch.rsrc1 >> 21 & 1U) << 8 |
              (launch.rsrc1 >> 23 & 1U) << 9;
  wave.sr[kM0] = ~std::uint32_t{0};
  const std::size_t ids = wave.in_group * std::size_t{launch.id_axes};
  for (std::size_t axis = 0; axis < launch.id_axes; ++axis) {
    if (forms && shape.id_forms[ids + axis]) {
      set_form(wave, axis, *shape.id_forms[ids + axis]);
    } else {
      overwrite(wave, formable(axis, 1), true);
      std::memcpy(wave.vgpr(axis), shape.work_item_ids.data() + (ids + axis) * kLanes, kRegister);
    }
  }
}

void ComputeUnit::barrier(Wave& wave) {
  WorkGroup& group = *wave.group;
  ++group.at_barrier;
  wave.state = WaveState::barrier;
  group.barrier_time = std::max(group.barrier_time, wave.now);
  if (group.at_barrier < group.alive) return;
  group.at_barrier = 0;
  for (CuObserver* const observer : observers_) observer->items_in_step(group);
  for (std::uint64_t set = group.slots; set != 0; set &= set - 1) {
    Wave& other = waves_[static_cast<std::size_t>(std::countr_zero(set))];
    if (other.state != WaveState::barrier) continue;
    other.state = WaveState::running;
    other.next = (group.barrier_time - other.simd + 3) / 4 * 4 + other.simd + 4;
    set_key(other);
    keys_changed_ = true;
  }
  group.barrier_time = 0;
}

void ComputeUnit::end_wave(Wave& wave) {
  const auto abandon = [this, &wave](CounterQueue& queue) {
    for (; queue.count != 0; queue.pop()) {
      MemoryOperation* operation = queue.front();
      if (operation->traced != Traced::none) [[unlikely]] {
        for (CuObserver* const observer : observers_) observer->abandoned(wave, *operation);
      }
      operation->wave = nullptr;
      if (--operation->references == 0 && operation->unresolved == 0) release(operation);
    }
  };
  abandon(wave.vector_queue);
  abandon(wave.scalar_queue);
  wave.state = WaveState::empty;
  --simd_waves_[wave.simd];
  --resident_;
  free_slots_ |= std::uint64_t{1} << wave.slot;
  activity.resident_wave_cycles += static_cast<std::uint64_t>(wave.now + 4 - wave.started);
  last_end_ = std::max(last_end_, wave.now + 4);
  if (resident_ == 0) activity.busy_cycles += static_cast<std::uint64_t>(last_end_ - busy_since_);
  WorkGroup& group = *wave.group;
  group.slots &= ~(std::uint64_t{1} << wave.slot);
  if (--group.alive != 0) {
    if (group.at_barrier == group.alive) {  // the others wait for nobody now
      --group.at_barrier;
      for (std::uint64_t set = group.slots; set != 0; set &= set - 1) {
        Wave& other = waves_[static_cast<std::size_t>(std::countr_zero(set))];
        if (other.state == WaveState::barrier) {
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
  free_groups_ |= std::uint64_t{1} << group.hardware_slot;
  ++finished_;
}

}  // namespace ww::sim::gpu::exec
