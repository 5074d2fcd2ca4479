// Events by the cycle in which they are due; those of one cycle in the order in which they came.
// Nearly all are due within some turns of light, so a ring of buckets keeps them, a bucket a cycle,
// and nothing is compared.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "bits.hpp"

namespace ww::sim::net::photonic {

template <class Event>
class EventWheel {
 public:
  // Precondition of push() and next(): no event was due before `now`. `at` >= `now`.
  void push(std::int64_t now, std::int64_t at, const Event& event) {
    ++count_;
    if (at - now >= kBuckets) {
      far_.emplace(at, event);
      return;
    }
    const std::size_t bucket = bucket_of(at);
    buckets_[bucket].push_back(event);
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  // The first cycle in which an event is due. Precondition: there is one.
  [[nodiscard]] std::int64_t next(std::int64_t now) const {
    const std::int64_t far =
        far_.empty() ? std::numeric_limits<std::int64_t>::max() : far_.begin()->first;
    const std::size_t start = bucket_of(now);
    std::uint64_t word = occupied_[start / 64] >> (start % 64) << (start % 64);
    for (std::size_t i = start / 64;; word = occupied_[++i % occupied_.size()]) {
      if (word != 0) {
        const std::size_t bucket =
            64 * (i % occupied_.size()) + static_cast<std::size_t>(lowest(word));
        return std::min(far, now + static_cast<std::int64_t>((bucket - start) % kBuckets));
      }
      if (i == start / 64 + occupied_.size()) return far;
    }
  }
  // Calls act(event) for each event that is due at `now`, those included that it pushes.
  template <class Act>
  void take(std::int64_t now, const Act& act) {
    for (auto first = far_.begin(); first != far_.end() && first->first <= now;
         first = far_.begin()) {
      const Event event = first->second;
      far_.erase(first);
      --count_;
      act(event);
    }
    const std::size_t bucket = bucket_of(now);
    if ((occupied_[bucket / 64] >> (bucket % 64) & 1) == 0) return;
    std::vector<Event>& due = buckets_[bucket];
    for (std::size_t i = 0; i < due.size(); ++i) {
      const Event event = due[i];  // act() may push into this bucket
      --count_;
      act(event);
    }
    due.clear();
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
  }
  // Calls act(event) for each, in no order.
  template <class Act>
  void for_each(const Act& act) const {
    for (const auto& bucket : buckets_) std::ranges::for_each(bucket, act);
    for (const auto& [at, event] : far_) act(event);
  }

 private:
  static constexpr std::int64_t kBuckets = 256;
  [[nodiscard]] static std::size_t bucket_of(std::int64_t at) {
    return static_cast<std::size_t>(at) % kBuckets;
  }

  std::array<std::vector<Event>, kBuckets> buckets_;
  std::array<std::uint64_t, kBuckets / 64> occupied_{};  // buckets, by bit
  std::multimap<std::int64_t, Event> far_;
  std::size_t count_{};
};

}  // namespace ww::sim::net::photonic
