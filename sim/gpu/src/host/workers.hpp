// A few threads that share out the CUs of every quantum.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace ww::sim::gpu::exec {

class Workers {
 public:
  // `threads` in all, the caller's included.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Whether the caller does all the work, in order.
  [[nodiscard]] bool alone() const { return threads_.empty(); }

  // Calls task(i) for every i < count, on any thread, and returns when all are done. The caller
  // never waits for a thread that has not begun: where cores are short, it does the work itself.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void serve();
  void take();

  std::vector<std::thread> threads_;
  const std::function<void(std::size_t)>* task_{};
  std::atomic<std::uint64_t> next_{0};  // items of this round << 32 | next one
  std::atomic<std::uint32_t> done_{0};
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace ww::sim::gpu::exec
