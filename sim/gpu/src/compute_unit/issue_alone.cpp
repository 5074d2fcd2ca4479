#include "compute_unit/compute_unit.hpp"
#include "compute_unit/simd_turns.hpp"

namespace ww::sim::gpu::exec {
namespace {

// A look that finds fewer turns is not worth it; some good looks make up for some bad ones, up to
// so many turns. Where they do not, the next one is so many cycles away.
constexpr int kWorthLooking = 5;
constexpr int kMostSpare = 64;
constexpr std::int64_t kLookAgain = 512;

}  // namespace

// Whether nothing from outside can meet the SIMD's waves while they only issue: none waits for
// another wave or for memory whose time is not known yet, and no wave will start beside them.
bool ComputeUnit::nothing_meets(std::size_t simd, bool more_groups) const {
  if (more_groups && simd_waves_[simd] < launch_->waves_per_simd) return false;
  const auto known = [](const CounterQueue& queue) {
    return queue.count == 0 || queue.next() != kNever;
  };
  for (std::size_t slot = simd; slot < static_cast<std::size_t>(key_rows_) * 8; slot += 4) {
    const Wave& wave = waves_[slot];
    if (wave.state == WaveState::empty || wave.state == WaveState::ended) continue;
    if (wave.state != WaveState::running || wave.next == kNever) return false;
    if (!known(wave.vector_queue) || !known(wave.scalar_queue)) return false;
  }
  return true;
}

// Turns of a SIMD's waves one after the other, as long as these only issue what is executed
// already: that concerns their own SIMD alone, so that no turn on another one could come between.
void ComputeUnit::issue_alone(std::size_t simd, Quantum quantum, bool more_groups) {
  const bool beyond = nothing_meets(simd, more_groups);
  SimdTurns turns(valu_free_[simd], salu_free_[simd], quantum, beyond);
  const IssueSlot* const issue = launch_->straight->issue.data();
  // In the order of the last look, which most often still is theirs.
  for (const std::uint8_t place : turn_order_[simd]) {
    const std::size_t slot = simd + std::size_t{4} * place;
    if (key_[slot] == kIdleKey) continue;
    if (!beyond && static_cast<std::int64_t>(key_[slot] >> 6) >= quantum.end) continue;
    const Wave& wave = waves_[slot];
    turns.add(key_[slot], {issue + wave.pc, wave.next_completion, wave.ahead});
  }
  TurnOrder order;
  const auto had_turn = [&](std::uint64_t key) {
    key_[key & 63] = key;
    if (!beyond && static_cast<std::int64_t>(key >> 6) >= quantum.end) order.add(key);
  };
  int found = 0;
  std::size_t turns_to_look = 0;  // until a look for rounds is worth it
  while (true) {
    if (turns_to_look-- == 0) {
      turns_to_look = turns.waiting();
      found += turns.take_rounds(had_turn);
    }
    if (!turns.take(had_turn)) break;
    ++found;
  }
  int& spare = spare_turns_[simd];
  spare = std::min(spare + found - kWorthLooking, kMostSpare);
  if (spare < 0) {
    spare = 0;
    alone_from_[simd] = quantum.end + kLookAgain;
  }
  if (beyond) issued_until_ = std::max(issued_until_, turns.last());
  turn_order_[simd] = order.next(turns.queue(), turn_order_[simd]);
  valu_free_[simd] = turns.valu();
  salu_free_[simd] = turns.salu();
  for (std::size_t slot = simd; slot < static_cast<std::size_t>(key_rows_) * 8; slot += 4) {
    const SimdTurns::Ahead& state = turns.ahead(slot / 4);
    if (state.slot == nullptr) continue;
    Wave& wave = waves_[slot];
    wave.pc = static_cast<std::uint32_t>(state.slot - issue);
    wave.ahead = state.left;
    wave.next = static_cast<std::int64_t>(key_[slot] >> 6);
  }
}

}  // namespace ww::sim::gpu::exec
