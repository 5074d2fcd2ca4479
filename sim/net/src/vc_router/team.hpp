// Threads that share the cycles of one network, a band of routers each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace ww::sim::net {

// run() calls work(0) on the caller's thread and work(1) ... work(size - 1) on threads of its own,
// and returns when all of them have returned; what they wrote is then visible to the caller. A
// cycle is a few microseconds of work, so both sides wait by looking, for a while, and only then by
// sleeping.
class Team {
 public:
  // Precondition: size >= 1; `work` does not throw.
  Team(std::size_t size, std::function<void(std::size_t)> work) : work_(std::move(work)) {
    for (std::size_t member = 1; member < size; ++member) {
      threads_.emplace_back([this, member] { serve(member); });
    }
  }
  ~Team() {
    ends_ = true;
    begin_round();
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run() {
    left_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    begin_round();
    work_(0);
    wait_while(left_, [](std::uint32_t left) { return left != 0; });
  }

 private:
  static constexpr int kLooks = 4000;  // some ten microseconds

  void begin_round() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  void serve(std::size_t member) {
    for (std::uint32_t done = 0;;) {
      wait_while(round_, [done](std::uint32_t round) { return round == done; });
      ++done;
      if (ends_) {
        return;
      }
      work_(member);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        left_.notify_one();
      }
    }
  }
  template <class Waits>
  static void wait_while(const std::atomic<std::uint32_t>& word, const Waits& waits) {
    for (int look = 0; look < kLooks; ++look) {
      if (!waits(word.load(std::memory_order_acquire))) {
        return;
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    for (std::uint32_t seen = word.load(std::memory_order_acquire); waits(seen);
         seen = word.load(std::memory_order_acquire)) {
      word.wait(seen, std::memory_order_acquire);
    }
  }

  const std::function<void(std::size_t)> work_;
  alignas(64) std::atomic<std::uint32_t> round_{0};  // counts the calls of run()
  alignas(64) std::atomic<std::uint32_t> left_{0};   // threads that still work
  bool ends_{false};                                 // written before a round begins
  std::vector<std::thread> threads_;
};

}  // namespace ww::sim::net
