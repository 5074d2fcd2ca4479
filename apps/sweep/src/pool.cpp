#include "ww/sweep/pool.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <list>
#include <memory>
#include <thread>

#include "worker.hpp"
#include "ww/core/interrupt.hpp"

namespace ww::sweep {
namespace {

using Clock = Worker::Clock;

constexpr int kMaxAttempts = 3;
constexpr int kIdleMs = 1000;
constexpr int kSampleMs = 100;
constexpr double kLittleMib = 64;  // points that need less are not worth a look at the memory
constexpr double kSpare = 1.2;

double available_mib() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  double kib = 0;
  while (file >> key >> kib) {
    if (key == "MemAvailable:") return kib / 1024;
    file.ignore(64, '\n');
  }
  return INFINITY;
}

class Pool {
 public:
  Pool(const PoolOptions& options, const RunCommand& run,
       const std::function<std::optional<Job>()>& next,
       const std::function<Status(Finished&&)>& done)
      : options_(options), run_(run), next_(next), done_(done), workers_(options.slots) {
    for (auto& worker : workers_) worker = std::make_unique<Worker>();
    most_mib_ = options.memory_mib;
  }

  Status run() {
    for (;;) {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      WW_TRY(feed());
      if (busy() == 0) return {};
      WW_TRY(wait());
      enforce_limits();
    }
  }

 private:
  // Fresh processes take one point at first: the next is sent ahead once they have shown to live.
  [[nodiscard]] std::size_t depth(const Worker& worker) const {
    return options_.points_per_process > 1 && worker.completed() > 0 ? 2 : 1;
  }

  [[nodiscard]] std::size_t busy() const {
    return static_cast<std::size_t>(std::count_if(
        workers_.begin(), workers_.end(), [](const auto& worker) { return worker->queued() > 0; }));
  }

  [[nodiscard]] bool has_job() {
    if (!waiting_.empty()) return true;
    if (exhausted_) return false;
    auto job = next_();
    if (!job) {
      exhausted_ = true;
      return false;
    }
    waiting_.push_back({std::move(*job), 0});
    return true;
  }

  Status feed() {
    for (auto& worker : workers_) {
      while (worker->queued() < depth(*worker) && has_job()) {
        const bool again = waiting_.front().attempts > 0;
        const bool worn = worker->completed() + worker->queued() >= options_.points_per_process ||
                          (again && worker->completed() > 0);
        if (worker->running() && worn) {
          if (worker->queued() > 0) break;
          worker->retire();
        }
        if (worker->queued() == 0 && !memory_allows()) return {};
        if (!worker->running()) {
          const auto started = start(*worker);
          if (!started && busy() > 0) return {};  // try again when one ends
          WW_TRY(started);
        }
        auto job = std::move(waiting_.front());
        waiting_.pop_front();
        if (!worker->send(std::move(job))) break;  // its death is seen below
      }
      if (worker->running() && worker->queued() == 0 && exhausted_) worker->retire();
    }
    return {};
  }

  Status start(Worker& worker) {
    std::vector<int> others;
    for (const auto& other : workers_) {
      if (other->running() && other.get() != &worker) others.push_back(other->socket());
    }
    return worker.start(options_, run_, others);
  }

  bool memory_allows() {
    short_of_memory_ = most_mib_ > kLittleMib && busy() > 0 && available_mib() < kSpare * most_mib_;
    return !short_of_memory_;
  }

  Status wait() {
    std::vector<pollfd> watched;
    std::vector<Worker*> of;
    int timeout = short_of_memory_ || options_.memory_mib > 0 ? kSampleMs : kIdleMs;
    for (const auto& worker : workers_) {
      if (worker->queued() == 0) continue;
      watched.push_back({worker->socket(), POLLIN, 0});
      of.push_back(worker.get());
      const std::chrono::duration<double, std::milli> left =
          worker->started() + limit() - Clock::now();
      timeout = std::min(timeout, static_cast<int>(std::clamp(std::ceil(left.count()), 0.0, 1e6)));
    }
    if (::poll(watched.data(), watched.size(), timeout) <= 0) return {};
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      for (auto& one : of[i]->receive()) {
        most_mib_ = std::max(most_mib_, one.peak_mib);
        WW_TRY(done_(std::move(one)));
      }
      if (of[i]->died()) WW_TRY(bury(*of[i]));
    }
    return {};
  }

  [[nodiscard]] Clock::duration limit() const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.time_limit_s));
  }

  void enforce_limits() {
    for (auto& worker : workers_) {
      if (worker->queued() == 0 || worker->timed_out || worker->over_memory) continue;
      worker->timed_out = Clock::now() - worker->started() >= limit();
      worker->over_memory =
          options_.memory_mib > 0 && worker->look_at_memory() > options_.memory_mib;
      if (worker->timed_out || worker->over_memory) worker->end();
    }
  }

  Status bury(Worker& worker) {
    Finished one;
    one.wall_s = std::chrono::duration<double>(Clock::now() - worker.started()).count();
    one.started_ms = worker.started_ms();
    one.peak_mib = worker.seen_mib();
    const bool reused = worker.completed() > 0;
    one.ending = worker.bury();
    auto queue = worker.take_queue();
    if (queue.empty()) return {};
    auto first = std::move(queue.front());
    queue.pop_front();
    for (auto at = queue.rbegin(); at != queue.rend(); ++at) waiting_.push_front(std::move(*at));
    ++first.attempts;
    const bool ours = one.ending.timed_out || one.ending.over_memory;
    const bool innocent = !ours && (reused || one.ending.signal == SIGKILL);
    if (innocent && first.attempts < kMaxAttempts) {
      waiting_.push_back(std::move(first));
      return {};
    }
    one.id = first.job.id;
    one.attempts = first.attempts;
    return done_(std::move(one));
  }

  const PoolOptions& options_;
  const RunCommand& run_;
  const std::function<std::optional<Job>()>& next_;
  const std::function<Status(Finished&&)>& done_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::list<QueuedJob> waiting_;
  bool exhausted_{};
  bool short_of_memory_{};
  double most_mib_{};
};

}  // namespace

Status run_pool(const PoolOptions& options, const RunCommand& run,
                const std::function<std::optional<Job>()>& next,
                const std::function<Status(Finished&&)>& done) {
  return Pool(options, run, next, done).run();
}

unsigned slots_for(unsigned cpus_a_point, double memory_mib) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  unsigned cores = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                       ? static_cast<unsigned>(CPU_COUNT(&allowed))
                       : std::thread::hardware_concurrency();
  cores = std::max(1U, cores / std::max(1U, cpus_a_point));
  if (memory_mib <= 0) return cores;
  const double fit = std::min(available_mib() / (kSpare * memory_mib), 1e6);
  return std::clamp(static_cast<unsigned>(fit), 1U, cores);
}

}  // namespace ww::sweep
