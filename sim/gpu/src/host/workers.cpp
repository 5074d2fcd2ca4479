#include "host/workers.hpp"

namespace ww::sim::gpu::exec {
namespace {
// A quantum takes some microseconds: worth a short spin before a thread sleeps.
constexpr int kWorkerSpins = 500;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

Workers::Workers(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

Workers::~Workers() {
  stop_ = true;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (threads_.empty() || count < 2) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  task_ = &task;
  done_.store(0, std::memory_order_relaxed);
  next_.store(std::uint64_t{count} << 32, std::memory_order_release);
  round_.fetch_add(1);
  if (asleep_.load() != 0) round_.notify_all();
  take();
  for (int spins = 0; done_.load(std::memory_order_acquire) != count; ++spins) {
    if (spins < kWorkerSpins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void Workers::take() {
  while (true) {
    const std::uint64_t claim = next_.fetch_add(1, std::memory_order_acq_rel);
    const std::uint64_t item = claim & 0xFFFFFFFFU;
    if (item >= claim >> 32) return;
    (*task_)(item);
    done_.fetch_add(1, std::memory_order_release);
  }
}

void Workers::serve() {
  std::uint32_t seen = 0;
  while (true) {
    for (int spins = 0; spins < kWorkerSpins && round_.load() == seen; ++spins) pause();
    if (round_.load() == seen) {
      asleep_.fetch_add(1);
      round_.wait(seen);
      asleep_.fetch_sub(1);
    }
    seen = round_.load();
    if (stop_) return;
    take();
  }
}

}  // namespace ww::sim::gpu::exec
