#include "ww/measure/sampler.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>

#include "refresh_follower.hpp"
#include "sample_ring.hpp"
#include "sensor/sysfs/no_reading.hpp"

namespace ww::measure {
namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_until_ns(std::int64_t time_ns) {
  const timespec until{time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// Counts of durations: by microsecond up to 4 ms, then by millisecond. One writer; a reader may see
// counts of slightly different moments.
class Histogram {
 public:
  void add(std::int64_t ns) {
    const auto us = static_cast<std::size_t>(std::max<std::int64_t>(ns, 0) / 1000);
    const std::size_t bin = us < fine ? us : std::min(fine + us / 1000, bins - 1);
    counts_[bin].fetch_add(1, std::memory_order_relaxed);
    if (ns > most_ns_.load(std::memory_order_relaxed)) most_ns_.store(ns);
  }
  // Upper edge of the bin that holds the quantile [us].
  [[nodiscard]] double quantile(double q) const {
    std::uint64_t total = 0;
    for (const auto& count : counts_) total += count.load(std::memory_order_relaxed);
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(total));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      below += counts_[i].load(std::memory_order_relaxed);
      if (below > rank) {
        return i < fine ? static_cast<double>(i + 1) : static_cast<double>(i + 1 - fine) * 1000;
      }
    }
    return 0;
  }
  [[nodiscard]] double most_us() const { return static_cast<double>(most_ns_.load()) * 1e-3; }

 private:
  static constexpr std::size_t fine = 4096;
  static constexpr std::size_t bins = fine + 1024;
  std::array<std::atomic<std::uint32_t>, bins> counts_{};
  std::atomic<std::int64_t> most_ns_{0};
};

class SamplerThread final : public Sampler {
 public:
  SamplerThread(PowerSource& source, const SamplerOptions& options)
      : source_(source), options_(options), ring_(options.capacity) {}
  ~SamplerThread() override {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
  }

  Status launch() {
    period_ns_ = options_.period_ns;
    slow_period_ns_ = options_.slow_period_ns;
    if (options_.stretch) stretch();
    if (options_.follow) find_refreshes();
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      return fail(ErrorCode::io_error, fmt::format("cannot start a thread: {}", error.what()));
    }
    if (options_.real_time) {
      // Above ordinary work, below the kernel's own threads.
      sched_param priority{};
      priority.sched_priority = 10;
      const int code = pthread_setschedparam(thread_.native_handle(), SCHED_FIFO, &priority);
      real_time_ = code == 0;
      if (code != 0) {
        real_time_reason_ = fmt::format(
            "real-time priority is not allowed ({}); allow it with 'ulimit -r 10' or run as root",
            std::strerror(code));
      }
    } else {
      real_time_reason_ = "not asked for";
    }
    return {};
  }

  void poll_now() override {
    const std::lock_guard lock(polling_);
    poll(clock_ns(CLOCK_MONOTONIC), true);
  }

  void drain(std::vector<Sample>& samples) override {
    Sample sample;
    while (ring_.pop(sample)) samples.push_back(sample);
  }

  SamplerStats stats() const override {
    SamplerStats stats;
    stats.period_ns = period_ns_;
    stats.slow_period_ns = slow_period_ns_;
    stats.ticks = ticks_.load();
    stats.missed = missed_.load();
    stats.dropped = dropped_.load();
    stats.jitter_p50_us = jitter_.quantile(0.50);
    stats.jitter_p99_us = jitter_.quantile(0.99);
    stats.jitter_max_us = jitter_.most_us();
    stats.read_p50_us = reads_.quantile(0.50);
    stats.read_p99_us = reads_.quantile(0.99);
    const std::int64_t began = began_ns_.load(), last = last_ns_.load();
    stats.elapsed_s = static_cast<double>(last - began) * 1e-9;
    // By the thread's own clock, so that a short run's share is that of all of it.
    clockid_t clock{};
    const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 && now > began) {
      stats.cpu_share = static_cast<double>(clock_ns(clock)) / static_cast<double>(now - began);
    }
    stats.real_time = real_time_;
    stats.real_time_reason = real_time_reason_;
    return stats;
  }

 private:
  // Costs of a read, medians over some [ns]. After a nap a read also costs the way to this thread,
  // as it does between two polls that are far apart.
  struct Cost {
    std::int64_t core{}, wall{};
  };
  template <std::size_t kReads, class Read>
  static Cost cost_of(std::int64_t nap_ns, const Read& read) {
    std::array<std::int64_t, kReads> core{}, wall{};
    for (std::size_t i = 0; i < kReads; ++i) {
      RawReading reading;
      const auto core_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      if (nap_ns > 0) sleep_until_ns(clock_ns(CLOCK_MONOTONIC) + nap_ns);
      const auto wall_before = clock_ns(CLOCK_MONOTONIC);
      read(reading);
      core[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - core_before;
      wall[i] = clock_ns(CLOCK_MONOTONIC) - wall_before;
    }
    const auto median_of = [](auto& costs) {
      std::ranges::nth_element(costs, costs.begin() + kReads / 2);
      return costs[kReads / 2];
    };
    return {median_of(core), median_of(wall)};
  }

  // A whole number of periods in which a cost is at most a share, up to a longest time.
  [[nodiscard]] std::int64_t periods_for(std::int64_t cost_ns, double share,
                                         std::int64_t longest_ns) const {
    const std::int64_t period_ns = options_.period_ns;
    const double periods =
        std::ceil(static_cast<double>(cost_ns) / share / static_cast<double>(period_ns));
    const std::int64_t most = std::max<std::int64_t>(1, longest_ns / period_ns);
    return period_ns * std::clamp<std::int64_t>(std::llround(periods), 1, most);
  }

  void stretch() {
    constexpr std::int64_t kLongestByWallNs = 100'000'000;
    constexpr std::int64_t kMaxPeriods = 5;
    const std::int64_t given_ns = options_.longest_ns;
    constexpr std::int64_t kNapNs = 3'000'000;
    const std::int64_t nap_ns = given_ns > 0 ? kNapNs : 0;
    const auto fast =
        cost_of<9>(nap_ns, [this](RawReading& reading) { source_.read_fast(reading); });
    const std::int64_t by_core = periods_for(
        fast.core, options_.core_share, given_ns > 0 ? given_ns : kMaxPeriods * options_.period_ns);
    const std::int64_t by_wall =
        periods_for(fast.wall, options_.wall_share,
                    std::max(given_ns > 0 ? given_ns : kLongestByWallNs, 2 * fast.wall));
    period_ns_ = std::max(by_core, by_wall);
    if (given_ns <= 0) return;
    const auto slow =
        cost_of<3>(nap_ns, [this](RawReading& reading) { source_.read_slow(reading); });
    const double needed_ns = std::max(static_cast<double>(slow.core) / options_.core_share,
                                      static_cast<double>(slow.wall) / options_.wall_share);
    // A short program's rails need some readings even where a busy machine makes them slow.
    constexpr double kLongestSlowNs = 1e9;
    slow_period_ns_ =
        std::max<std::int64_t>(slow_period_ns_, std::llround(std::min(needed_ns, kLongestSlowNs)));
  }

  // Polls close together until two refreshes are seen, or until an accumulator that moves so seldom
  // would be one that rests. On a busy machine polls come too late for a refresh now and then: the
  // ends of a run would be uncertain by its whole period, so more are waited for.
  void find_refreshes() {
    constexpr std::int64_t kEveryNs = 1'000'000;
    constexpr std::int64_t kLongestNs = 300'000'000, kLongestBusyNs = 2'000'000'000;
    std::int64_t due = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t begin_ns = due;
    const auto longest_ns = [&] { return follower_.was_late() ? kLongestBusyNs : kLongestNs; };
    while (!follower_.settled() && due - begin_ns < longest_ns()) {
      sleep_until_ns(due);
      RawReading reading;
      const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
      source_.read_fast(reading);
      const std::int64_t after = clock_ns(CLOCK_MONOTONIC);
      follower_.saw(before + (after - before) / 2, reading.energy_ticks);
      if (!reading.energy_ticks) return;
      // A read that takes long comes as seldom as it may.
      due = std::max(due + kEveryNs, after + 2 * (after - before));
    }
  }

  // Beside a program, where a machine that is busy makes every poll several times dearer than the
  // trial before: polls of either kind come half as often while they take more than their share.
  void keep_share(std::int64_t cpu_ns, std::int64_t now_ns) {
    constexpr std::int64_t kWindowNs = 2'000'000'000;
    constexpr std::int64_t kLongestSlowNs = 2'000'000'000;
    if (options_.longest_ns <= 0 || now_ns - window_ns_ < kWindowNs) return;
    const double share =
        static_cast<double>(cpu_ns - window_cpu_ns_) / static_cast<double>(now_ns - window_ns_);
    window_ns_ = now_ns;
    window_cpu_ns_ = cpu_ns;
    // An accumulator loses nothing, and the ends of a stretch are read when they come: the longer
    // it lasts, the fewer polls between them do.
    if (options_.follow) {
      constexpr std::int64_t kPollsOfARun = 40;
      const std::int64_t long_ns =
          std::min((now_ns - began_ns_.load()) / kPollsOfARun, options_.longest_ns / 2);
      period_ns_ = std::max(period_ns_.load(), long_ns);
    }
    if (share <= 2 * options_.core_share) return;
    period_ns_ = std::max(period_ns_.load(), std::min(2 * period_ns_, options_.longest_ns));
    slow_period_ns_ =
        std::max(slow_period_ns_.load(), std::min(2 * slow_period_ns_, kLongestSlowNs));
  }

  void run() {
    prctl(PR_SET_NAME, "wirewatt-sample");
    prctl(PR_SET_TIMERSLACK, 1);  // ns; matters without real-time priority
    const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::int64_t due = clock_ns(CLOCK_MONOTONIC) + period_ns_;
    std::int64_t slow_due = due;
    began_ns_.store(due);
    last_ns_.store(due);
    window_ns_ = due;
    while (!stop_.load(std::memory_order_relaxed)) {
      sleep_until_ns(due);
      const std::lock_guard lock(polling_);
      const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
      jitter_.add(before - due);
      const bool is_slow = due >= slow_due;
      const std::int64_t now = poll(before, is_slow);
      if (is_slow) {
        slow_due = due + slow_period_ns_;
        // Asking for it costs a call of its own: now and then is enough.
        const std::int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
        last_ns_.store(now, std::memory_order_relaxed);
        keep_share(cpu_ns, now);
      }
      if (options_.follow && follower_.follows()) {
        due = std::max(follower_.next_due(now, period_ns_), now);
        continue;
      }
      due += period_ns_;
      if (now >= due) {
        const std::int64_t late = (now - due) / period_ns_ + 1;
        missed_.fetch_add(static_cast<std::uint64_t>(late), std::memory_order_relaxed);
        due += late * period_ns_;
      }
    }
  }

  // Reads the source and passes the reading on; returns when it was done. `polling_` is locked.
  std::int64_t poll(std::int64_t before, bool is_slow) {
    Sample sample;
    source_.read_fast(sample.reading);
    const std::int64_t after = clock_ns(CLOCK_MONOTONIC);
    sample.time_ns = before + (after - before) / 2;
    reads_.add(after - before);
    if (options_.follow) follower_.saw(sample.time_ns, sample.reading.energy_ticks);
    if (is_slow) source_.read_slow(sample.reading);
    drop_empty(sample.reading);
    if (!ring_.push(sample)) dropped_.fetch_add(1, std::memory_order_relaxed);
    ticks_.fetch_add(1, std::memory_order_relaxed);
    return is_slow ? clock_ns(CLOCK_MONOTONIC) : after;
  }

  PowerSource& source_;
  SamplerOptions options_;
  SampleRing<Sample> ring_;
  RefreshFollower follower_;  // used by whoever polls
  std::atomic<std::int64_t> period_ns_{}, slow_period_ns_{};
  std::int64_t window_ns_{}, window_cpu_ns_{};  // where keep_share() looked last
  Histogram jitter_, reads_;
  std::atomic<std::uint64_t> ticks_{0}, missed_{0}, dropped_{0};
  std::atomic<std::int64_t> began_ns_{0}, last_ns_{0};
  std::mutex polling_;  // the source and the ring have one writer at a time
  std::atomic<bool> stop_{false};
  bool real_time_{};
  std::string real_time_reason_;
  mutable std::thread thread_;  // last: it uses all of the above
};

}  // namespace

SamplerOptions beside_a_program(std::int64_t interval_ns, bool has_accumulator) {
  constexpr std::int64_t kRegisterPeriodNs = 20'000'000;
  constexpr std::int64_t kShortestNs = 5'000'000;
  SamplerOptions options;
  // Whoever watches takes the readings each interval, a program's meter every two seconds.
  options.capacity = 1U << 12;
  const std::int64_t period_ns = std::max(interval_ns / 10, kShortestNs);
  options.period_ns = has_accumulator ? period_ns : std::min(period_ns, kRegisterPeriodNs);
  options.slow_period_ns = std::max(interval_ns, options.period_ns);
  options.real_time = false;
  // Half of the 0.1% for either kind of read.
  options.follow = has_accumulator;
  options.core_share = 0.0005;
  options.wall_share = 0.01;
  options.longest_ns = std::max(interval_ns, options.period_ns);
  return options;
}

std::int64_t steady_now_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

Result<std::unique_ptr<Sampler>> Sampler::start(PowerSource& source,
                                                const SamplerOptions& options) {
  if (options.period_ns <= 0 || options.slow_period_ns <= 0 ||
      !std::has_single_bit(options.capacity)) {
    return fail(ErrorCode::invalid_argument,
                "a sampler needs periods above 0 and room for a power of two of readings");
  }
  auto sampler = std::make_unique<SamplerThread>(source, options);
  WW_TRY(sampler->launch());
  return sampler;
}

}  // namespace ww::measure
