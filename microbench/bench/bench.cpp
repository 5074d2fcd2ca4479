#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "ww/core/interrupt.hpp"
#include "ww/core/mean.hpp"

namespace ww::microbench {
namespace {

constexpr std::int64_t kBatchLaunches = 100;  // launches between two waits: the queue stays short
constexpr double kBetweenPausesNs = 10e6;

}  // namespace

void reject(StoredRun& run, std::string reason) {
  if (run.status != RunStatus::ok) return;
  run.status = RunStatus::rejected;
  run.reason = std::move(reason);
}

void Bench::sleep(double seconds) {
  device_.sensor->sleep_until(device_.sensor->now_ns() + std::llround(seconds * 1e9));
}

Status Bench::select_state(int dvfs_state) {
  if (device_.sensor->dvfs_current() == dvfs_state) return {};
  return device_.sensor->select_dvfs(dvfs_state);
}

void Bench::note_length(const Launched& done) {
  launch_ns_ = std::max(1000.0, static_cast<double>(done.end_ns - done.start_ns) /
                                    static_cast<double>(done.launches));
}

Result<Bench::Launched> Bench::launch_count(std::int64_t count, const Launch& launch,
                                            int dispatches) {
  Launched done;
  WW_TRY(device_.host->finish());  // other work may be queued; it is not counted here
  done.first = device_.counters->dispatch_count();
  for (std::int64_t i = 0; i < count; ++i) WW_TRY(launch());
  WW_TRY(device_.host->finish());
  done.end = device_.counters->dispatch_count();
  done.launches = count;
  if (done.end != done.first + static_cast<std::uint64_t>(count * dispatches)) {
    return fail(ErrorCode::device_error,
                fmt::format("{} launches gave {} dispatches", count, done.end - done.first),
                device_.name);
  }
  WW_ASSIGN(head, device_.counters->dispatch(done.first));
  WW_ASSIGN(tail, device_.counters->dispatch(done.end - 1));
  done.start_ns = head.start_ns;
  done.end_ns = tail.end_ns;
  device_.sensor->sleep_until(done.end_ns);  // has passed: a polled sensor takes what it has read
  return done;
}

Result<Bench::Launched> Bench::launch_for(double seconds, const Launch& launch, int dispatches,
                                          double pause_share) {
  const auto length_ns = std::llround(seconds * 1e9);
  Launched all;
  for (std::int64_t left_ns = length_ns; left_ns > 0 || all.launches == 0;) {
    const auto wanted = std::llround(std::ceil(static_cast<double>(left_ns) / launch_ns_));
    // The first batch is short: the length of a launch may have changed.
    const auto between_pauses =
        std::max<std::int64_t>(1, std::llround(kBetweenPausesNs / launch_ns_));
    const std::int64_t batch =
        pause_share > 0 ? std::min(between_pauses, kBatchLaunches) : kBatchLaunches;
    const std::int64_t most = all.launches == 0 ? 2 : batch;
    WW_ASSIGN(done, launch_count(std::clamp<std::int64_t>(wanted, 1, most), launch, dispatches));
    note_length(done);
    if (all.launches == 0) {
      all = done;
    } else {
      all.end = done.end;
      all.end_ns = done.end_ns;
      all.launches += done.launches;
    }
    left_ns = length_ns - (all.end_ns - all.start_ns);
    if (pause_share > 0 && left_ns > 0) {
      sleep(pause_share / (1 - pause_share) * static_cast<double>(done.end_ns - done.start_ns) *
            1e-9);
    }
  }
  return all;
}

Result<std::optional<double>> Bench::busy_share(const Launched& done) const {
  constexpr std::uint64_t kMaxSampled = 32;  // evenly among all: launches of a run are alike
  const std::uint64_t all = done.end - done.first;
  if (device_.traffic != Traffic::counters || all == 0 || done.end_ns <= done.start_ns) {
    return std::nullopt;
  }
  const std::uint64_t sampled = std::min(kMaxSampled, all);
  Mean length_ns;
  for (std::uint64_t i = 0; i < sampled; ++i) {
    WW_ASSIGN(one, device_.counters->dispatch(done.first + all * i / sampled));
    length_ns.add(static_cast<double>(one.end_ns - one.start_ns));
  }
  return std::min(1.0, length_ns.value() * static_cast<double>(all) /
                           static_cast<double>(done.end_ns - done.start_ns));
}

Result<Bench::Throttled> Bench::find_throttle(
    double low_share, double high_share,
    const std::function<Result<double>(std::uint32_t)>& share_of) {
  constexpr std::uint32_t kMaxThrottle = 100'000;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  for (Throttled found{8, 0};;) {
    WW_ASSIGN(share, share_of(found.throttle));
    found.share = share;
    if (share >= low_share && share <= high_share) return found;
    (share > high_share ? low : high) = found.throttle;
    if (high != 0 && high - low <= 1) return found;
    if (found.throttle > kMaxThrottle) {
      return fail(ErrorCode::bad_data, "no throttle lowers the rate of the stream", device_.name);
    }
    found.throttle = high == 0 ? 2 * found.throttle : (low + high) / 2;
  }
}

Status Bench::read_sensor(StoredRun& run) {
  WW_ASSIGN(readings, recorder_.take());
  run.samples.insert(run.samples.end(), readings.begin(), readings.end());
  std::ranges::move(device_.sensor->new_rails(), std::back_inserter(run.rails));
  return {};
}

Status Bench::heat(double seconds, const Launch& launch, StoredRun& run) {
  constexpr double kLookSeconds = 2.0;   // between looks at the temperature
  constexpr double kStillSeconds = 8.0;  // unchanged for so long: saturated
  constexpr double kShortestSeconds = 15.0;
  std::optional<std::int32_t> shown;
  double spent = 0;
  double still = 0;
  while (spent < seconds && !(spent >= kShortestSeconds && still >= kStillSeconds) &&
         !interrupted()) {
    WW_ASSIGN(done, launch_for(kLookSeconds, launch));
    if (spent == 0) run.start_ns = done.start_ns;
    run.end_ns = done.end_ns;
    run.launches += static_cast<std::int64_t>(done.end - done.first);
    spent = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    WW_TRY(read_sensor(run));
    const auto last =
        std::find_if(run.samples.rbegin(), run.samples.rend(),
                     [](const SensorReading& s) { return s.temperature_mc.has_value(); });
    if (last == run.samples.rend()) continue;
    still = shown == last->temperature_mc ? still + kLookSeconds : 0.0;
    shown = last->temperature_mc;
  }
  return {};
}

}  // namespace ww::microbench
