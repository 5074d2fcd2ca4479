// The lines on their way from memory to an L2 slice. A slice may wait for hundreds, and every miss
// asks for one, so they are found by their number or by their line without a search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/timing/flight.hpp"

namespace ww::sim::gpu::timing {

// Who waits for a line: twice the flight, and which of its lines.
struct Fill {
  std::uint32_t line{kNone};
  std::uint32_t first{kNone};
  std::uint32_t last{kNone};
  std::uint32_t next{kNone};  // fill in the same bucket
};

class FillTable {
 public:
  FillTable() { buckets_.fill(kNone); }

  // The fill of a line, or null.
  [[nodiscard]] Fill* find(std::uint32_t line) {
    std::uint32_t at = buckets_[bucket_of(line)];
    while (at != kNone && fills_[at].line != line) at = fills_[at].next;
    return at == kNone ? nullptr : &fills_[at];
  }
  // Precondition: the line has no fill. Returns its number, which stays until erase().
  std::uint32_t add(std::uint32_t line, std::uint32_t waiter) {
    const std::uint32_t number = fills_.take();
    std::uint32_t& head = buckets_[bucket_of(line)];
    fills_[number] = {line, waiter, waiter, head};
    head = number;
    return number;
  }
  // Precondition: added and not erased.
  [[nodiscard]] const Fill& operator[](std::uint32_t number) const { return fills_[number]; }
  void erase(std::uint32_t number) {
    std::uint32_t* link = &buckets_[bucket_of(fills_[number].line)];
    while (*link != number) link = &fills_[*link].next;
    *link = fills_[number].next;
    fills_.give_back(number);
  }
  void clear() {
    fills_.clear();
    buckets_.fill(kNone);
  }

 private:
  static constexpr std::size_t kBuckets = 256;
  // The lines of a slice come in blocks: the higher bits count as well.
  [[nodiscard]] static std::size_t bucket_of(std::uint32_t line) {
    return (line ^ line >> 5 ^ line >> 10) % kBuckets;
  }

  Pool<Fill> fills_;
  std::array<std::uint32_t, kBuckets> buckets_{};  // first fill
};

}  // namespace ww::sim::gpu::timing
