// A few threads that share out the CUs of every quantum.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace ww::sim::gpu::exec {

class Workers {
 public:
  // Items [begin, end), in order.
  using Task = std::function<void(std::size_t begin, std::size_t end)>;

  // `threads` in all, the caller's included. `between` is called by threads that wait for a round,
  // again and again; it returns soon and says whether it had anything to do.
  Workers(unsigned threads, std::function<bool()> between);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Whether the caller does all the work: it is the only thread, or the others rest.
  [[nodiscard]] bool alone() const { return resting_ || threads_.empty(); }
  // While they rest, nothing is shared.
  void rest(bool resting) { resting_ = resting; }
  [[nodiscard]] std::size_t threads() const { return shares_.size(); }
  // Whether a thread looks for work now. One that found none for a while sleeps.
  [[nodiscard]] bool awake() const { return asleep_.load(std::memory_order_relaxed) == 0; }
  // How long a message takes to another thread's core and back, tried anew after each wake() [ns];
  // 0: none was awake yet.
  [[nodiscard]] std::int64_t round_trip_ns();
  // Waking takes longer than many launches: worth it only where much work follows.
  void wake();

  // Calls the task for every item below `count`, in chunks, on any thread, and returns when all are
  // done. A thread gets mostly the same items as in the last round, whose data are in its core's
  // cache. The caller never waits for a thread that has not begun: where cores are short, it does
  // the work itself.
  // `awaited`: shares also with threads that were woken and are not there yet.
  void run(std::size_t count, const Task& task, bool awaited);

 private:
  static constexpr int kTries = 4;  // one fails where the thread is not on its core
  // Remaining items of a thread: end << 32 | begin.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> left{0};
  };
  void serve(std::size_t self);
  // One of the threads answers each question, as soon as it sees it.
  void answer();
  // Nanoseconds until the answer came; nothing where it did not come soon.
  [[nodiscard]] std::optional<std::int64_t> ask();
  // Takes its own items first, from the front; then the others', from the back.
  void take(std::size_t self);
  // Half of what is left; returns how many.
  std::size_t take_chunk(Share& share, bool from_front);

  std::vector<Share> shares_;
  std::vector<std::thread> threads_;
  std::function<bool()> between_;
  struct Cores;
  std::unique_ptr<const Cores> cores_;
  const Task* task_{};
  bool resting_{};
  std::int64_t round_trip_ns_{};
  int tries_left_{kTries};  // to measure it; none once that is done
  alignas(64) std::atomic<std::uint32_t> asked_{0};
  alignas(64) std::atomic<std::uint32_t> answered_{0};
  alignas(64) std::atomic<std::uint32_t> done_{0};
  alignas(64) std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace ww::sim::gpu::exec
