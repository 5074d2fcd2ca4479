// What the next quantum will touch, brought to the host's caches before it begins: the waves of a
// whole chip have more state than the caches keep from one quantum to the next.
#include <bit>

#include "compute_unit/compute_unit.hpp"
#include "host/host_cache.hpp"

namespace ww::sim::gpu::exec {
namespace {

// That a wave starts in one turn, most often.
constexpr int kNewOperations = 4;

void bring_operations(const CounterQueue& queue) {
  for (unsigned i = 0; i < queue.count; ++i) prefetch_to_write(queue.at(i));
}

}  // namespace

void ComputeUnit::look_for_waves(std::int64_t end) {
  coming_ = 0;
  for (std::size_t slot = 0; slot < static_cast<std::size_t>(key_rows_) * 8; ++slot) {
    if (static_cast<std::int64_t>(key_[slot] >> 6) >= end) continue;
    coming_ |= std::uint64_t{1} << slot;
    const Wave& wave = waves_[slot];
    prefetch_to_write(&wave, 2);
    prefetch_to_write(&wave.vector_queue);
    prefetch_to_write(&wave.scalar_queue);
    prefetch_to_write(wave.sr);
    prefetch_to_write(wave.sr + kVcc / 16 * 16, 2);
  }
  if (coming_ != 0) l1.look_ahead();
}

void ComputeUnit::look_at_waves() const {
  std::size_t operations = free_operations_.size();
  for (std::uint64_t set = coming_; set != 0; set &= set - 1) {
    const Wave& wave = waves_[static_cast<std::size_t>(std::countr_zero(set))];
    bring_operations(wave.vector_queue);
    bring_operations(wave.scalar_queue);
    for (int i = 0; i < kNewOperations && operations != 0; ++i) {
      prefetch_to_write(free_operations_[--operations]);
    }
    if (wave.ahead != 0 || launch_->straight == nullptr || wave.pc >= launch_->code_dwords)
      continue;
    const ComingRegisters& coming = launch_->straight->coming[wave.pc];
    for (std::size_t i = 0; i < coming.count; ++i) {
      const std::uint16_t index = coming.vector[i];
      if (index < kForms && (wave.unwritten >> index & 1U) != 0) continue;
      prefetch_to_write(wave.v + std::size_t{index} * kLanes, kRegisterLines);
    }
  }
}

void ComputeUnit::look_at_operations() const {
  for (std::uint64_t set = coming_; set != 0; set &= set - 1) {
    const CounterQueue& queue =
        waves_[static_cast<std::size_t>(std::countr_zero(set))].vector_queue;
    for (unsigned i = 0; i < queue.count; ++i) {
      const MemoryOperation& operation = *queue.at(i);
      if (!operation.begun || operation.into_registers) continue;
      prefetch_to_write(operation.data(), operation.words * kRegisterLines);
    }
  }
}

}  // namespace ww::sim::gpu::exec
