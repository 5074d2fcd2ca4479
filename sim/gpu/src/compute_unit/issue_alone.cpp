#include "compute_unit/compute_unit.hpp"
#include "compute_unit/simd_turns.hpp"

namespace ww::sim::gpu::exec {
namespace {

// A look that finds fewer turns is not worth it; some good looks make up for some bad ones, up to
// kMaxSpare turns. Where they do not, the next one is kLookAgain cycles away.
constexpr int kWorthLooking = 5;
constexpr int kMaxSpare = 64;
constexpr std::int64_t kLookAgain = 512;
constexpr int kWorthRounds = 10;      // turns
constexpr int kMaxBetweenLooks = 64;  // turns
// A wave may never end: what watches over the launch looks at it between two calls.
constexpr int kMaxTurns = 1 << 14;

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

// Turns of a SIMD's waves one after the other, as long as these execute and issue straight-line
// code and jump: that concerns their own SIMD alone, so that no turn on another one could come
// between.
void ComputeUnit::issue_alone(std::size_t simd, Quantum quantum, bool more_groups) {
  SimdTurns turns(valu_free_[simd], salu_free_[simd], quantum);
  const IssueSlot* const issue = launch_->straight->issue.data();
  // Takes the order of the last look, which most often still is theirs.
  for (const std::uint8_t place : turn_order_[simd]) {
    const std::size_t slot = simd + std::size_t{4} * place;
    if (key_[slot] == kIdleKey) continue;
    const Wave& wave = waves_[slot];
    const bool begun = (begun_turns_ >> slot & 1U) != 0;  // it goes on in run()
    turns.add(key_[slot], {issue + wave.pc, begun ? 0 : wave.next_completion, wave.ahead});
  }
  const auto do_more = [&](std::uint64_t slot, std::int64_t time, const IssueSlot* at) {
    return step_alone(waves_[slot], time, static_cast<std::uint32_t>(at - issue));
  };
  int found = 0;
  // A look for rounds costs as much as some turns: where one finds few, the next one comes later.
  int between_looks = 1;
  int turns_to_look = 0;
  while (found < kMaxTurns) {
    if (turns_to_look-- == 0) {
      const int taken = turns.take_rounds(do_more, kMaxTurns - found);
      found += taken;
      between_looks = taken >= kWorthRounds ? 1 : std::min(2 * between_looks, kMaxBetweenLooks);
      turns_to_look = between_looks;
    }
    if (turns.take(do_more)) {
      ++found;
    } else if (turns.is_at_end() && nothing_meets(simd, more_groups)) {
      turns.go_beyond();
    } else {
      break;
    }
  }
  int& spare = spare_turns_[simd];
  spare = std::min(spare + found - kWorthLooking, kMaxSpare);
  if (spare < 0) {
    spare = 0;
    alone_from_[simd] = quantum.end + kLookAgain;
  }
  if (turns.is_beyond()) issued_until_ = std::max(issued_until_, turns.last());
  turn_order_[simd].put_first(turns.queue());
  valu_free_[simd] = turns.valu();
  salu_free_[simd] = turns.salu();
  for (std::size_t i = 0; i < turns.queue().count(); ++i) {
    const std::uint64_t key = turns.queue().at(i);
    const SimdTurns::Ahead& state = turns.ahead(key);
    Wave& wave = waves_[key & 63];
    key_[key & 63] = key;
    wave.pc = static_cast<std::uint32_t>(state.slot - issue);
    wave.ahead = state.left;
    wave.next = static_cast<std::int64_t>(key >> 6);
  }
  if (const auto& begun = turns.goes_on(); begun.has_value()) {
    begun_turns_ |= std::uint64_t{1} << begun->slot;
    turn_goes_on_[begun->slot] = begun->time;
  }
}

}  // namespace ww::sim::gpu::exec
