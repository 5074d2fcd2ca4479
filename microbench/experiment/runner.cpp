#include "experiment/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "caches/array_caches.hpp"
#include "host/pinning.hpp"

namespace ww::microbench {
namespace {

constexpr double kTrafficTolerance = 0.005;
constexpr double kMinBandwidthShare = 0.9;
constexpr double kMinL2Hits = 0.999;
constexpr double kMaxL1Hits = 0.01;
constexpr std::uint32_t kTimedLoops =
    16;  // times the loops that a simulated chip needs for a slope
// Bytes that a launch of a simulated chip with homes may move, and its least length: ten times the
// gap between two launches. Every stream is executed once line by line, and a line of a list costs
// the emulator four times as much as one in address order.
constexpr double kMaxLaunchBytes = 24e6;
constexpr double kShortestLaunchNs = 40'000;
constexpr int kTimedLaunches = 4;  // the least of all but the first

// The first of the names that is there; counters come with and without "_sum".
std::optional<double> counter(const std::map<std::string, double>& counters,
                              const std::string& name) {
  for (const auto& spelling : {name + "_sum", name}) {
    if (const auto found = counters.find(spelling); found != counters.end()) return found->second;
  }
  return std::nullopt;
}

// Whether the caches of shader arrays may have served a stream, whose bits ask to pass them by.
std::string judge_counted_array_caches(const StreamFacts& facts) {
  if (!has_array_caches(facts.target) || facts.counters.empty()) return {};
  constexpr double kLineBytes = 128;
  const auto requests = counter(facts.counters, "GL1C_REQ");
  const auto misses = counter(facts.counters, "GL1C_REQ_MISS");
  if (!requests || !misses) {
    return "no counters (GL1C_REQ, GL1C_REQ_MISS) say whether loads pass by the cache of a shader "
           "array";
  }
  const double served = (*requests - *misses) * kLineBytes / facts.expected_bytes;
  if (served <= kMaxArrayCacheHits) return {};
  return fmt::format("the cache of a shader array (GL1) served {:.2f}% of the loads", 100 * served);
}

}  // namespace

std::string judge_stream(const StreamFacts& facts) {
  if (facts.working_cus != facts.engine_cus) {
    return fmt::format("only {} of the engine's {} CUs worked", facts.working_cus,
                       facts.engine_cus);
  }
  const double deviation = facts.counted_bytes / facts.expected_bytes - 1.0;
  if (!(std::abs(deviation) <= kTrafficTolerance)) {
    return fmt::format("counted traffic is {:+.2f}% off the launches' arithmetic", 100 * deviation);
  }
  const bool rdna = is_rdna(facts.target);
  const auto hits = counter(facts.counters, rdna ? "GL2C_HIT" : "TCC_HIT");
  const auto misses = counter(facts.counters, rdna ? "GL2C_MISS" : "TCC_MISS");
  if (hits && misses && *hits < kMinL2Hits * (*hits + *misses)) {
    return fmt::format("L2 hit rate {:.2f}%", 100 * *hits / (*hits + *misses));
  }
  const auto l1_hits = counter(facts.counters, "TCP_CACHE_HIT");
  if (l1_hits && *l1_hits * 64 > kMaxL1Hits * facts.expected_bytes) {
    return fmt::format("L1 hit rate {:.2f}%", 100 * *l1_hits * 64 / facts.expected_bytes);
  }
  if (auto reason = judge_counted_array_caches(facts); !reason.empty()) return reason;
  if (facts.saturated && facts.counted_bytes < kMinBandwidthShare * facts.peak_bytes) {
    return fmt::format(
        "{:.1f}% of {}, not saturated", 100 * facts.counted_bytes / facts.peak_bytes,
        facts.peak_is_tuned ? "the rate found when tuning" : "the channels' peak bandwidth");
  }
  return {};
}

Result<double> Runner::ns_per_loop(std::uint32_t few, std::uint32_t many,
                                   const std::function<Status(std::uint32_t)>& launch,
                                   const std::function<Result<double>(std::uint32_t)>& time) {
  const auto length = [&](std::uint32_t loops) -> Result<double> {
    // The second launch counts: the first one fills the caches.
    WW_TRY(bench_.launch_count(1, [&] { return launch(loops); }));
    WW_ASSIGN(second, bench_.launch_count(1, [&] { return launch(loops); }));
    return static_cast<double>(second.end_ns - second.start_ns);
  };
  // A host's clock would see its own way to the device; the device's events do not.
  const auto timed = [&](std::uint32_t loops) -> Result<double> {
    double least_ns = 0;
    for (int i = 0; i < kTimedLaunches; ++i) {
      WW_ASSIGN(seconds, time(loops));
      if (i == 0) continue;
      least_ns = i == 1 ? seconds * 1e9 : std::min(least_ns, seconds * 1e9);
    }
    return least_ns;
  };
  const bool by_events = device_.traffic != Traffic::counters;
  if (by_events) {
    few *= kTimedLoops;
    many *= kTimedLoops;
  }
  WW_ASSIGN(shorter, by_events ? timed(few) : length(few));
  WW_ASSIGN(longer, by_events ? timed(many) : length(many));
  const double slope = (longer - shorter) / static_cast<double>(many - few);
  if (!(slope > 0)) {
    return fail(ErrorCode::device_error,
                "the kernel does not take longer with more loops, so it does no work",
                device_.name);
  }
  return slope;
}

Result<Runner::Throttled> Runner::find_throttle(Rate rate, double low_share, double high_share,
                                                double saturated_ns) {
  const Stream stream{0, 0, kernels::Pattern::random, rate};
  double last_ns = 0;
  const auto share_of = [&](std::uint32_t throttle) -> Result<double> {
    const auto launch = [&](std::uint32_t loops) -> Status {
      WW_TRY(kernels_.select(stream, loops, throttle));
      return kernels_.launch_stream();
    };
    const auto time = [&](std::uint32_t loops) -> Result<double> {
      WW_TRY(kernels_.select(stream, loops, throttle));
      return kernels_.time_stream();
    };
    WW_ASSIGN(throttled_ns, ns_per_loop(4, 8, launch, time));
    last_ns = throttled_ns;
    return saturated_ns / throttled_ns;
  };
  WW_ASSIGN(found, bench_.find_throttle(low_share, high_share, share_of));
  return Throttled{found.throttle, found.share, last_ns};
}

std::pair<std::uint32_t, std::uint32_t> Runner::setting(Rate rate) const {
  switch (rate) {
    case Rate::saturated: return {tuning_.saturated_loops, 0};
    case Rate::throttled: return {tuning_.throttled_loops, tuning_.throttle};
    case Rate::three_quarters:
      return {tuning_.three_quarters_loops, tuning_.three_quarters_throttle};
    case Rate::quarter: return {tuning_.quarter_loops, tuning_.quarter_throttle};
  }
  return {tuning_.saturated_loops, 0};
}

Result<PlanInputs::Tuning> Runner::tune(std::int64_t launch_ns, bool ladder) {
  const auto loops_for = [&](double per_loop, double share) {
    const double loops = share * static_cast<double>(launch_ns) / per_loop;
    return static_cast<std::uint32_t>(std::clamp(loops, 4.0, 1e6));
  };
  PlanInputs::Tuning tuning;
  const auto stream = [this](std::uint32_t loops) -> Status {
    WW_TRY(kernels_.select({0, 0, kernels::Pattern::random, Rate::saturated}, loops, 0));
    return kernels_.launch_stream();
  };
  const auto time_stream = [this](std::uint32_t loops) -> Result<double> {
    WW_TRY(kernels_.select({0, 0, kernels::Pattern::random, Rate::saturated}, loops, 0));
    return kernels_.time_stream();
  };
  WW_ASSIGN(saturated, ns_per_loop(8, 24, stream, time_stream));
  tuning.saturated_loops = loops_for(saturated, 1.0);
  // A simulated chip executes a launch line by line: those of great rates are kept short.
  if (device_.homes && device_.traffic == Traffic::counters) {
    const Stream first{0, 0, kernels::Pattern::random, Rate::saturated};
    WW_TRY(kernels_.select(first, 8, 0));
    WW_TRY(kernels_.launch_stream());
    WW_TRY(device_.host->finish());
    WW_ASSIGN(report, kernels_.read_log(first));
    const double loop_bytes =
        static_cast<double>(report.working_waves) * StreamKernels::bytes_per_wave(1);
    const double most_ns = std::max(kShortestLaunchNs, kMaxLaunchBytes / loop_bytes * saturated);
    launch_ns = std::min(launch_ns, static_cast<std::int64_t>(most_ns));
    tuning.saturated_loops = loops_for(saturated, 1.0);
    // Launches of that length in a row, so that what passes between two of them is no lack of rate.
    constexpr int kLaunches = 4;
    WW_ASSIGN(row, bench_.launch_count(kLaunches, [&] { return stream(tuning.saturated_loops); }));
    tuning.saturated_bytes_per_clock = kLaunches * tuning.saturated_loops * loop_bytes /
                                       (static_cast<double>(row.end_ns - row.start_ns) * 1e-9) /
                                       clock_hz(device_.sensor->dvfs_current());
  } else if (peak_is_tuned()) {
    WW_TRY(kernels_.select({0, 0, kernels::Pattern::random, Rate::saturated}, 8, 0));
    WW_ASSIGN(waves, count_one_launch());
    tuning.saturated_bytes_per_clock = waves * StreamKernels::bytes_per_wave(1) /
                                       (saturated * 1e-9) /
                                       clock_hz(device_.sensor->dvfs_current());
  }
  WW_ASSIGN(half, find_throttle(Rate::throttled, 0.50, 0.60, saturated));
  tuning.throttle = half.throttle;
  tuning.throttled_share = half.share;
  tuning.throttled_loops = loops_for(half.ns_per_loop, 1.0);
  if (ladder) {
    WW_ASSIGN(three, find_throttle(Rate::three_quarters, 0.70, 0.80, saturated));
    tuning.three_quarters_throttle = three.throttle;
    tuning.three_quarters_loops = loops_for(three.ns_per_loop, 1.0);
    WW_ASSIGN(quarter, find_throttle(Rate::quarter, 0.22, 0.30, saturated));
    tuning.quarter_throttle = quarter.throttle;
    tuning.quarter_loops = loops_for(quarter.ns_per_loop, 1.0);
  }

  const auto furnace = [this](std::uint32_t loops) { return kernels_.launch_furnace(loops); };
  const auto time_furnace = [this](std::uint32_t loops) { return kernels_.time_furnace(loops); };
  WW_ASSIGN(furnace_loop, ns_per_loop(8, 24, furnace, time_furnace));
  // Shorter: it keeps every lane of the chip busy, which a simulated chip executes slowly.
  tuning.furnace_loops = loops_for(furnace_loop, 0.5);
  tuning_ = tuning;
  return tuning;
}

Status Runner::check_pinned() {
  const Stream stream{0, 0, kernels::Pattern::random, Rate::saturated};
  WW_TRY(kernels_.select(stream, 4, 0));
  WW_TRY(bench_.launch_count(1, [this] { return kernels_.launch_stream(); }));
  WW_ASSIGN(report, kernels_.read_log(stream));
  if (report.working_waves == 0) {
    return fail(ErrorCode::bad_data,
                "no wavefront found itself on the engine that it was pinned to", device_.name);
  }
  return {};
}

Status Runner::warm_up(double settle_s) {
  const auto engines = device_.chip.engines;
  const auto quadrants = static_cast<int>(device_.quadrants.size());
  // Every stream logs once in a short launch. Later launches then find their log as they will leave
  // it and change nothing in memory, whichever runs the plan holds.
  for (const kernels::Pattern pattern : kernels::all_patterns) {
    for (const Rate rate :
         {Rate::saturated, Rate::throttled, Rate::three_quarters, Rate::quarter}) {
      if (rate != Rate::saturated && pattern != kernels::Pattern::random) continue;
      if (setting(rate).first == 0) continue;  // not tuned, so not in the plan
      for (int pair = 0; pair < engines * quadrants; ++pair) {
        WW_TRY(kernels_.select({pair / quadrants, pair % quadrants, pattern, rate}, 1, 0));
        WW_TRY(kernels_.launch_stream());
      }
    }
  }
  for (int pair = 0; pair < engines * quadrants; ++pair) {
    const Stream stream{pair / quadrants, pair % quadrants, kernels::Pattern::random,
                        Rate::saturated};
    WW_TRY(kernels_.select(stream, tuning_.saturated_loops, 0));
    WW_TRY(kernels_.launch_sweep());
    WW_TRY(bench_.launch_for(1.0 / (engines * quadrants),
                             [this] { return kernels_.launch_stream(); }));
  }
  if (settle_s > 0) bench_.sleep(settle_s);
  return {};
}

Bench::Launch Runner::furnace() {
  return [this] { return kernels_.launch_furnace(tuning_.furnace_loops); };
}

Result<Bench::Launch> Runner::step_load(const PlannedRun& run, StoredRun& stored) {
  const Stream stream{run.engine, run.quadrant, kernels::Pattern::random, Rate::saturated};
  stored.engine = run.engine;
  stored.quadrant = run.quadrant;
  stored.pattern = kernels::to_string(stream.pattern);
  stored.kernel_hash = kernels_.stream_hash();
  WW_TRY(kernels_.select(stream, tuning_.saturated_loops, 0));
  WW_TRY(kernels_.launch_sweep());
  return Bench::Launch([this] { return kernels_.launch_stream(); });
}

Status Runner::perform_known_bytes(StoredRun& stored) {
  const std::uint64_t first = device_.counters->dispatch_count();
  stored.start_ns = device_.sensor->now_ns();
  const auto expected = kernels_.run_known_bytes();
  stored.end_ns = device_.sensor->now_ns();
  if (!expected) {
    if (expected.error().code != ErrorCode::bad_data) return tl::unexpected(expected.error());
    reject(stored, expected.error().text());
    return {};
  }
  const std::uint64_t end = device_.counters->dispatch_count();
  stored.launches = static_cast<std::int64_t>(end - first);
  if (device_.traffic != Traffic::counters) return {};  // the copy was right; nobody counted
  WW_ASSIGN(counters, device_.counters->sum(first, end));
  stored.counters = std::move(counters);
  const auto counted = measure::l1_l2_bytes(device_.chip.target, stored.counters);
  if (!counted) {
    reject(stored, counted.error().text());
    return {};
  }
  stored.payload_bits = 8 * *counted;
  const double deviation = *counted / *expected - 1.0;
  if (std::abs(deviation) > kTrafficTolerance) {
    reject(stored, fmt::format("counters are {:+.2f}% off the known bytes", 100 * deviation));
  }
  return {};
}

}  // namespace ww::microbench
