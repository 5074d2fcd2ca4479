#include "fast/host/workers.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

#include <algorithm>
#include <chrono>
#include <utility>

namespace ww::sim::gpu::exec {
namespace {
using Clock = std::chrono::steady_clock;

// Between two quanta lies a commit of 10 to 100 us. Waking a thread that sleeps takes as long, and
// on a virtual machine longer, so a thread waits some commits before it sleeps.
constexpr auto kLongestWait = std::chrono::microseconds(300);
constexpr int kSpinsBetweenLooks = 32;  // at the clock
constexpr int kCallerSpins = 500;       // before it lets others have its core
constexpr int kQuestions = 8;           // of which the one that was answered first counts
constexpr auto kLongestAnswer = std::chrono::microseconds(20);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

std::uint64_t packed(std::size_t begin, std::size_t end) {
  return std::uint64_t{end} << 32 | begin;
}
}  // namespace

#if defined(__linux__)
// Cores that the thread which made the workers may use.
struct Workers::Cores {
  Cores() {
    CPU_ZERO(&usable);
    sched_getaffinity(0, sizeof usable, &usable);
  }
  // A thread that wakes up is often put on the core of the one that woke it, which goes on, and so
  // waits behind it for milliseconds.
  void take_off_this_core(std::thread& thread) const {
    cpu_set_t others = usable;
    const int core = sched_getcpu();
    if (core < 0 || CPU_COUNT(&others) < 2) return;
    CPU_CLR(static_cast<unsigned>(core), &others);
    pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  }
  // The calling thread.
  void return_to_all() const {
    if (CPU_COUNT(&usable) >= 2) sched_setaffinity(0, sizeof usable, &usable);
  }
  cpu_set_t usable;
};
#else
struct Workers::Cores {
  void take_off_this_core(std::thread&) const {}
  void return_to_all() const {}
};
#endif

Workers::Workers(unsigned threads, std::function<bool()> between)
    : shares_(std::max(1U, threads)),
      between_(std::move(between)),
      cores_(std::make_unique<const Cores>()) {
  for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
}

Workers::~Workers() {
  stop_ = true;
  wake();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::wake() {
  for (std::thread& thread : threads_) cores_->take_off_this_core(thread);
  tries_left_ = kTries;
  round_.fetch_add(1);
  round_.notify_all();
}

std::int64_t Workers::round_trip_ns() {
  if (tries_left_ == 0 || threads_.empty() || !awake()) return round_trip_ns_;
  --tries_left_;
  std::optional<std::int64_t> shortest;
  for (int i = 0; i < kQuestions; ++i) {
    const auto time = ask();
    if (!time) return round_trip_ns_;
    shortest = std::min(shortest.value_or(*time), *time);
  }
  tries_left_ = 0;
  return round_trip_ns_ = *shortest;
}

std::optional<std::int64_t> Workers::ask() {
  const auto begin = Clock::now();
  const std::uint32_t question = asked_.fetch_add(1) + 1;
  while (answered_.load(std::memory_order_acquire) != question) {
    if (Clock::now() - begin > kLongestAnswer) return std::nullopt;
  }
  return std::chrono::nanoseconds(Clock::now() - begin).count();
}

void Workers::answer() {
  const std::uint32_t question = asked_.load(std::memory_order_acquire);
  if (question != answered_.load(std::memory_order_relaxed)) {
    answered_.store(question, std::memory_order_release);
  }
}

void Workers::run(std::size_t count, const Task& task, bool awaited) {
  if (alone() || count < 2 || !(awaited || awake())) {
    task(0, count);
    return;
  }
  task_ = &task;
  done_.store(0, std::memory_order_relaxed);
  const std::size_t threads = shares_.size();
  for (std::size_t i = 0; i < threads; ++i) {
    shares_[i].left.store(packed(count * i / threads, count * (i + 1) / threads),
                          std::memory_order_release);
  }
  round_.fetch_add(1);
  take(0);
  for (int spins = 0; done_.load(std::memory_order_acquire) != count; ++spins) {
    if (spins < kCallerSpins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

std::size_t Workers::take_chunk(Share& share, bool from_front) {
  std::uint64_t left = share.left.load(std::memory_order_relaxed);
  while (true) {
    const std::size_t begin = left & 0xFFFFFFFFU;
    const std::size_t end = left >> 32;
    if (begin >= end) return 0;
    const std::size_t chunk = (end - begin + 1) / 2;
    const std::uint64_t rest = from_front ? packed(begin + chunk, end) : packed(begin, end - chunk);
    if (!share.left.compare_exchange_weak(left, rest, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
      continue;
    }
    const std::size_t first = from_front ? begin : end - chunk;
    (*task_)(first, first + chunk);
    return chunk;
  }
}

void Workers::take(std::size_t self) {
  std::size_t taken = 0;
  while (const std::size_t chunk = take_chunk(shares_[self], true)) taken += chunk;
  for (std::size_t other = 1; other < shares_.size(); ++other) {
    Share& share = shares_[(self + other) % shares_.size()];
    while (const std::size_t chunk = take_chunk(share, false)) taken += chunk;
  }
  if (taken != 0) done_.fetch_add(static_cast<std::uint32_t>(taken), std::memory_order_release);
}

void Workers::serve(std::size_t self) {
  std::uint32_t seen = 0;
  while (true) {
    auto sleep_at = Clock::now() + kLongestWait;
    for (int spins = 1; round_.load() == seen; ++spins) {
      if (self == 1) answer();
      if (between_()) {
        sleep_at = Clock::now() + kLongestWait;
      } else if (spins % kSpinsBetweenLooks == 0 && Clock::now() > sleep_at) {
        break;
      }
      pause();
    }
    if (round_.load() == seen) {
      asleep_.fetch_add(1);
      round_.wait(seen);
      asleep_.fetch_sub(1);
      cores_->return_to_all();
    }
    seen = round_.load();
    if (stop_) return;
    take(self);
  }
}

}  // namespace ww::sim::gpu::exec
