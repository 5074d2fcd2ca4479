// One worker process of the pool, seen from both sides.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/process.hpp"
#include "ww/sweep/pool.hpp"

namespace ww::sweep {

struct QueuedJob {
  Job job;
  int attempts{};  // before this one
};

// The parent's side. Owns the process: destroying it kills the process and its children.
class Worker {
 public:
  using Clock = std::chrono::steady_clock;

  Worker() = default;
  ~Worker() { kill(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Forks. `others` are closed in the child. Error io_error.
  Status start(const PoolOptions& options, const RunCommand& run, const std::vector<int>& others);
  // Queues a job; the first one of the queue runs. Error io_error: the process has died.
  Status send(QueuedJob job);
  // Reads what has come; gives the endings in order and sets died() at the end of the stream.
  std::vector<Finished> receive();
  // Lets an idle process end by itself.
  void retire();
  // Kills the process and its children; its death is then seen by receive().
  void end() const;
  // end(), and waits for it.
  void kill();

  [[nodiscard]] bool running() const { return process_.has_value(); }
  [[nodiscard]] bool died() const { return died_; }
  [[nodiscard]] int socket() const { return socket_.number(); }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  [[nodiscard]] unsigned completed() const { return completed_; }
  [[nodiscard]] Clock::time_point started() const { return started_; }
  [[nodiscard]] std::int64_t started_ms() const { return started_ms_; }
  // Memory of it and its children now [MiB].
  double look_at_memory();
  [[nodiscard]] double seen_mib() const { return seen_mib_; }  // most of the looks at this point

  // After died(): the cause of its end, with what it printed; reaps it. The caller takes the queue.
  Ending bury();
  std::deque<QueuedJob> take_queue() { return std::exchange(queue_, {}); }

  bool timed_out{};
  bool over_memory{};

 private:
  void close_all();

  std::optional<Process> process_;
  Descriptor socket_;
  Descriptor out_;  // the child's stdout and stderr, in memory
  Descriptor err_;
  bool died_{};
  unsigned completed_{};
  double seen_mib_{};
  std::deque<QueuedJob> queue_;
  std::string inbox_;
  Clock::time_point started_{};  // of the first job of the queue
  std::int64_t started_ms_{};
};

// The child's side: runs jobs from the socket until it is closed, and gives the exit code. `out`
// and `err` are the files behind stdout and stderr.
int serve_jobs(int socket, int out, int err, const RunCommand& run);

}  // namespace ww::sweep
