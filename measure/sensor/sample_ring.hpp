// A queue between one writer and one reader that neither waits for.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace ww::measure {

template <class T>
class SampleRing {
 public:
  // Room for `capacity` elements, which is a power of two.
  explicit SampleRing(std::size_t capacity) : slots_(capacity), mask_(capacity - 1) {}

  // Writer. False when the reader is a whole ring behind; the element is lost.
  bool push(const T& value) {
    const auto head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) return false;
    slots_[head & mask_] = value;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }
  // Reader. False when there is nothing.
  bool pop(T& value) {
    const auto tail = tail_.load(std::memory_order_relaxed);
    if (tail == head_.load(std::memory_order_acquire)) return false;
    value = slots_[tail & mask_];
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::size_t cache_line = 64;
  std::vector<T> slots_;
  std::size_t mask_;
  alignas(cache_line) std::atomic<std::size_t> head_{0};
  alignas(cache_line) std::atomic<std::size_t> tail_{0};
};

}  // namespace ww::measure
