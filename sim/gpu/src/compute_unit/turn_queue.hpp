// The waves of a SIMD that can issue, in the order of their turns. They are few, and one that had
// its turn most often comes after all others: an order that is kept costs a comparison then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ww::sim::gpu::exec {

class TurnQueue {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // after the key of every turn
  static constexpr std::size_t kMost = 10;                   // waves

  TurnQueue() { key_[0] = kNone; }
  // kNone where no wave is left.
  [[nodiscard]] std::uint64_t first() const { return key_[first_]; }
  void take_first() {
    first_ = (first_ + 1) % kRoom;
    --count_;
  }
  void add(std::uint64_t key) {
    std::size_t at = first_ + count_++;
    key_[(at + 1) % kRoom] = kNone;
    for (; at != first_ && key_[(at - 1) % kRoom] > key; --at) {
      key_[at % kRoom] = key_[(at - 1) % kRoom];
    }
    key_[at % kRoom] = key;
  }

 private:
  static constexpr std::size_t kRoom = 16;
  static_assert(kMost < kRoom);  // kNone follows the last one
  std::array<std::uint64_t, kRoom> key_;
  std::size_t first_{};
  std::size_t count_{};
};

}  // namespace ww::sim::gpu::exec
