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
  // A source whose reads take long is polled less often (up to 5 periods), so that a tick costs at
  // most 1.5% of a core.
  bool stretch{true};
  std::size_t capacity{1U << 16};  // readings that wait for the consumer; a power of two
};

struct Sample {
  std::int64_t time_ns{};  // the middle of the poll, steady clock
  RawReading reading;
};

// Figures of the sampler itself. Jitter is the delay between the due time and the wake-up.
struct SamplerStats {
  std::int64_t period_ns{};
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
  // Appends the readings since the last call, oldest first.
  virtual void drain(std::vector<Sample>& samples) = 0;
  // Statistics since the start.
  [[nodiscard]] virtual SamplerStats stats() const = 0;
};

// The steady clock in nanoseconds, as samples are stamped.
[[nodiscard]] std::int64_t steady_now_ns();

}  // namespace ww::measure
