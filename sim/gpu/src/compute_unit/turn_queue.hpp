// The waves of a SIMD that can issue, in the order of their turns. They are few, and one that had
// its turn most often comes after all others: an order that is kept costs a comparison then.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace ww::sim::gpu::exec {

class TurnQueue {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // after the key of every turn
  static constexpr std::size_t kMax = 10;                    // waves

  // kNone where no wave is left.
  [[nodiscard]] std::uint64_t first() const { return first_ == end_ ? kNone : key_[first_]; }
  [[nodiscard]] std::size_t count() const { return end_ - first_; }
  // The key that comes `place`th, from 0 on.
  [[nodiscard]] std::uint64_t at(std::size_t place) const { return key_[first_ + place]; }
  void take_first() { ++first_; }
  void add(std::uint64_t key) {
    if (end_ == kRoom) {
      std::copy(key_.begin() + first_, key_.end(), key_.begin());
      end_ -= first_;
      first_ = 0;
    }
    std::size_t at = end_++;
    for (; at != first_ && key_[at - 1] > key; --at) key_[at] = key_[at - 1];
    key_[at] = key;
  }

 private:
  static constexpr std::uint32_t kRoom = 8 * kMax;  // so that it seldom begins anew
  std::array<std::uint64_t, kRoom> key_;
  std::uint32_t first_{};
  std::uint32_t end_{};
};

// The places of all waves of a SIMD in the order in which their next turns most likely come.
class TurnOrder {
 public:
  TurnOrder() { std::iota(places_.begin(), places_.end(), std::uint8_t{0}); }
  [[nodiscard]] auto begin() const { return places_.begin(); }
  [[nodiscard]] auto end() const { return places_.end(); }

  // Puts the places of the queue first, then all others as before.
  void put_first(const TurnQueue& queue) {
    const std::array<std::uint8_t, TurnQueue::kMax> before = places_;
    std::uint32_t placed = 0;  // by bit
    std::size_t count = 0;
    for (; count < queue.count(); ++count) {
      const auto place = static_cast<std::uint8_t>((queue.at(count) & 63) / 4);
      placed |= 1U << place;
      places_[count] = place;
    }
    for (const std::uint8_t place : before) {
      if ((placed >> place & 1U) == 0) places_[count++] = place;
    }
  }

 private:
  std::array<std::uint8_t, TurnQueue::kMax> places_;
};

}  // namespace ww::sim::gpu::exec
