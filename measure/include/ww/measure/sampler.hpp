// A thread that polls a source at fixed times and passes the readings on without waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

struct SamplerOptions {
  std::int64_t period_ns{1'000'000};
  std::int64_t slow_period_ns{100'000'000};  // of temperatures, clocks and the like
  bool real_time{true};                      // SCHED_FIFO where this user may
  // A source whose reads take long is polled less often. A read costs at most `core_share` of a
  // core (up to 5 periods, or up to `longest_ns` where that is set). It also lasts at most
  // `wall_share` of the time (up to 100 ms, or `longest_ns`, and at least for twice the read),
  // because a driver that lets its caller sleep may hold a lock that the measured program wants.
  bool stretch{true};
  double core_share{0.015};
  double wall_share{0.05};
  std::int64_t longest_ns{};  // 0: as above
  // Polls an accumulator that is refreshed every 20 ms or more right before and right behind its
  // refreshes, in place of polls at equal distances.
  bool follow{};
  std::size_t capacity{1U << 16};  // readings that wait for the consumer; a power of two
};

// For watching a program that must not notice. A power register is polled every 20 ms, because what
// it shows between two polls is lost. An accumulator loses nothing, so it is polled ten times in
// `interval_ns`. Reads take less than 0.1% of a core, the slow ones among them, and no real-time
// priority.
[[nodiscard]] SamplerOptions beside_a_program(std::int64_t interval_ns, bool has_accumulator);

struct Sample {
  std::int64_t time_ns{};  // the middle of the poll, steady clock
  RawReading reading;
};

// Figures of the sampler itself. Jitter is the delay between the due time and the wake-up.
struct SamplerStats {
  std::int64_t period_ns{};
  std::int64_t slow_period_ns{};
  std::uint64_t ticks{};
  std::uint64_t missed{};   // due while an earlier read still ran
  std::uint64_t dropped{};  // read, but nobody took them in time
  double jitter_p50_us{}, jitter_p99_us{}, jitter_max_us{};
  double read_p50_us{}, read_p99_us{};  // how long a poll took
  double cpu_share{};                   // of one core, by this thread
  double elapsed_s{};
  bool real_time{};
  std::string real_time_reason;  // why not
};

// Threading: one consumer. The source belongs to the sampler until the sampler is destroyed.
class Sampler {
 public:
  static Result<std::unique_ptr<Sampler>> start(PowerSource& source,
                                                const SamplerOptions& options = {});
  virtual ~Sampler() = default;
  // Polls once more now, fast and slow, in the caller's thread: for the ends of a stretch, which
  // would otherwise lie between two polls. Any thread may call it.
  virtual void poll_now() = 0;
  // Appends the readings since the last call, oldest first.
  virtual void drain(std::vector<Sample>& samples) = 0;
  // Statistics since the start.
  [[nodiscard]] virtual SamplerStats stats() const = 0;
};

// The steady clock in nanoseconds, as samples are stamped.
[[nodiscard]] std::int64_t steady_now_ns();

}  // namespace ww::measure
