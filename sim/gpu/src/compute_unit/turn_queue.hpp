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
  static constexpr std::size_t kMost = 10;                   // waves

  // kNone where no wave is left.
  [[nodiscard]] std::uint64_t first() const { return first_ == end_ ? kNone : key_[first_]; }
  [[nodiscard]] std::size_t count() const { return end_ - first_; }
  // The key that comes `place`th, from 0 on.
  [[nodiscard]] std::uint64_t at(std::size_t place) const { return key_[first_ + place]; }
  void take_first() { ++first_; }
  void clear() { first_ = end_ = 0; }
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
  static constexpr std::uint32_t kRoom = 8 * kMost;  // so that it seldom begins anew
  std::array<std::uint64_t, kRoom> key_;
  std::uint32_t first_{};
  std::uint32_t end_{};
};

// The places of all waves of a SIMD in the order in which their next turns most likely come.
class TurnOrder {
 public:
  using Places = std::array<std::uint8_t, TurnQueue::kMost>;

  [[nodiscard]] static Places first() {
    Places places;
    std::iota(places.begin(), places.end(), std::uint8_t{0});
    return places;
  }
  // The wave had its last turn.
  void add(std::uint64_t key) { put(place_of(key)); }
  // Those that still wait in the queue come first, then those that had their last turn, then all
  // others as before.
  [[nodiscard]] Places next(const TurnQueue& waiting, const Places& before) {
    const Places done = places_;
    const std::size_t count = std::exchange(count_, 0);
    placed_ = 0;
    for (std::size_t i = 0; i < waiting.count(); ++i) put(place_of(waiting.at(i)));
    for (std::size_t i = 0; i < count; ++i) put(done[i]);
    for (const std::uint8_t place : before) put(place);
    return places_;
  }

 private:
  static std::uint8_t place_of(std::uint64_t key) {
    return static_cast<std::uint8_t>((key & 63) / 4);
  }
  void put(std::uint8_t place) {
    if ((placed_ >> place & 1U) != 0) return;
    placed_ |= 1U << place;
    places_[count_++] = place;
  }

  Places places_;
  std::size_t count_{};
  std::uint32_t placed_{};  // by bit
};

}  // namespace ww::sim::gpu::exec
