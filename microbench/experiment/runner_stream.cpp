// Streaming runs: what they moved, and whether they can be used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/runner.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/mean.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::microbench {

Status Runner::perform_stream(const PlannedRun& run, StoredRun& stored) {
  const Stream stream{run.engine, run.quadrant, run.pattern, run.rate};
  const bool saturated = run.rate == Rate::saturated;
  const auto [loops, throttle] = setting(run.rate);
  stored.engine = run.engine;
  stored.quadrant = run.quadrant;
  stored.pattern = kernels::to_string(run.pattern);
  stored.throttle = static_cast<std::int32_t>(throttle);
  stored.kernel_hash = kernels_.stream_hash();

  WW_TRY(kernels_.launch_sweep());
  WW_TRY(bring_lines(stream));
  WW_TRY(kernels_.select(stream, loops, throttle));
  WW_ASSIGN(before, begin_counting());
  WW_ASSIGN(done,
            bench_.launch_for(
                run.seconds, [this] { return kernels_.launch_stream(); }, 1, run.pause_share));
  stored.start_ns = done.start_ns;
  stored.end_ns = done.end_ns;
  stored.launches = static_cast<std::int64_t>(done.end - done.first);
  WW_ASSIGN(counters, device_.counters->sum(done.first, done.end));
  stored.counters = std::move(counters);
  WW_ASSIGN(busy, bench_.busy_share(done));
  if (busy) stored.counters[run_keys::busy_share] = *busy;

  WW_ASSIGN(report, kernels_.read_log(stream));
  stored.waves = report.working;
  StreamFacts facts;
  facts.target = device_.chip.target;
  facts.expected_bytes = static_cast<double>(stored.launches) *
                         static_cast<double>(report.working_waves) *
                         StreamKernels::bytes_per_wave(loops);
  const double launched = static_cast<double>(stored.launches);
  const auto counted =
      device_.traffic == Traffic::counters
          ? payload_by_counters(stored, launched * static_cast<double>(report.working_waves))
          : counted_bytes(before * launched, loops);
  if (!counted) {
    if (counted.error().code == ErrorCode::device_error) return tl::unexpected(counted.error());
    reject(stored, counted.error().text());
    return {};
  }
  facts.counted_bytes = *counted;
  // Where a chip places wavefronts anew in every launch, the last launch's log shows nothing of the
  // others; wavefronts that were counted need no such check.
  if (device_.traffic == Traffic::every_launch) facts.expected_bytes = *counted;
  stored.payload_bits = 8 * *counted;
  facts.peak_bytes =
      (1 - run.pause_share) * peak_bytes(run.quadrant, run.dvfs_state, done.end_ns - done.start_ns);
  facts.peak_is_tuned = peak_is_tuned();
  facts.saturated = saturated;
  facts.working_cus = report.working_cus;
  facts.engine_cus = device_.cus_of(run.engine);
  facts.counters = stored.counters;
  if (auto reason = judge_stream(facts); !reason.empty()) reject(stored, std::move(reason));
  return {};
}

Result<double> Runner::count_one_launch() {
  WW_TRY(device_.host->finish());
  WW_TRY(kernels_.counted_waves());
  WW_TRY(kernels_.count_waves(true));
  WW_TRY(kernels_.launch_stream());
  auto waves = kernels_.counted_waves();
  WW_TRY(kernels_.count_waves(false));
  return waves;
}

// Wavefronts of one launch where one launch is counted, and 0 where all will be.
// A stream by list has few lines: one loop of it brings them all. The run's first launch then finds
// them, as every other does, and a simulated chip executes one launch of full length, not two.
Status Runner::bring_lines(const Stream& stream) {
  if (!device_.homes || device_.traffic != Traffic::counters) return {};
  WW_TRY(kernels_.select(stream, 1, 0));
  return kernels_.launch_stream();
}

Result<double> Runner::begin_counting() {
  switch (device_.traffic) {
    case Traffic::counters: return 0.0;
    case Traffic::one_launch: {
      WW_ASSIGN(waves, count_one_launch());
      // Launches once before the run, so that what differs from a counted launch is over.
      WW_TRY(kernels_.launch_stream());
      WW_TRY(device_.host->finish());
      return waves;
    }
    case Traffic::every_launch: break;
  }
  WW_TRY(kernels_.launch_stream());
  WW_TRY(device_.host->finish());
  WW_TRY(kernels_.counted_waves());
  WW_TRY(kernels_.count_waves(true));
  return 0.0;
}

Result<double> Runner::payload_by_counters(const StoredRun& stored, double waves) const {
  WW_ASSIGN(all, measure::l1_l2_bytes(device_.chip.target, stored.counters));
  return all - kernels_.list_bytes(waves) -
         static_cast<double>(stored.launches) * kernels_.log_bytes();
}

Result<double> Runner::counted_bytes(double waves, std::uint32_t loops) {
  if (device_.traffic == Traffic::every_launch) {
    WW_ASSIGN(all, kernels_.counted_waves());
    WW_TRY(kernels_.count_waves(false));
    waves = all;
  }
  return waves * StreamKernels::bytes_per_wave(loops);
}

double Runner::clock_hz(int dvfs_state) const {
  const auto states = device_.sensor->dvfs_states();
  const auto state = static_cast<std::size_t>(dvfs_state);
  return state < states.size() ? states[state].clock_hz : 0.0;
}

double Runner::peak_bytes(int quadrant, int dvfs_state, std::int64_t length_ns) const {
  const double seconds = static_cast<double>(length_ns) * 1e-9;
  if (!peak_is_tuned()) {
    return kernels_.peak_bytes_per_second(quadrant, clock_hz(dvfs_state)) * seconds;
  }
  // The rate that a real card can send is not published reliably; the rate that the first engine
  // got from the first quadrant is known.
  return tuning_.saturated_bytes_per_clock * clock_hz(dvfs_state) * seconds;
}

// All pairs take turns, in whole cycles, until the time is over. Bits of a turn follow from
// its launches, and the run's counters must agree with their sum.
Status Runner::perform_lock_in(const PlannedRun& run, StoredRun& stored) {
  const int quadrants = static_cast<int>(device_.quadrants.size());
  const auto [loops, throttle] = setting(run.rate);
  stored.pattern = kernels::to_string(run.pattern);
  stored.throttle = static_cast<std::int32_t>(throttle);
  stored.kernel_hash = kernels_.stream_hash();
  const std::vector<int> order = cycle_of_turns(run, quadrants);
  const auto stream_of = [&](int pair) {
    return Stream{pair / quadrants, pair % quadrants, run.pattern, run.rate};
  };

  // Wavefronts of a launch, by pair, where the kernel counts them.
  std::map<int, double> counted_of;
  if (device_.traffic != Traffic::counters) {
    for (const int pair : run.order) {
      WW_TRY(kernels_.select(stream_of(pair), loops, throttle));
      WW_ASSIGN(one, count_one_launch());
      WW_TRY(kernels_.launch_stream());
      counted_of[pair] = one;
    }
    WW_TRY(device_.host->finish());
    WW_TRY(kernels_.counted_waves());
    if (device_.traffic == Traffic::every_launch) WW_TRY(kernels_.count_waves(true));
  }

  std::vector<std::int64_t> launches;
  std::map<int, Mean> busy_of;  // by pair; a pair's turns are of equal length
  const double turn_ns = run.turn_s * 1e9;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  const auto length_ns = std::llround(run.seconds * 1e9);
  WW_TRY(kernels_.launch_sweep());
  for (const int pair : run.order) WW_TRY(bring_lines(stream_of(pair)));
  while (stored.slots.empty() || stored.end_ns - stored.start_ns < length_ns) {
    for (const int pair : order) {
      WW_TRY(kernels_.select(stream_of(pair), loops, throttle));
      const auto count = std::max<std::int64_t>(1, std::llround(turn_ns / bench_.launch_ns()));
      WW_ASSIGN(done, bench_.launch_count(count, [this] { return kernels_.launch_stream(); }));
      bench_.note_length(done);
      WW_ASSIGN(busy, bench_.busy_share(done));
      if (busy) busy_of[pair].add(*busy);
      if (stored.slots.empty()) {
        first = done.first;
        stored.start_ns = done.start_ns;
      }
      end = done.end;
      stored.end_ns = done.end_ns;
      stored.launches += count;
      stored.slots.push_back({pair / quadrants, pair % quadrants, done.start_ns, done.end_ns, 0});
      launches.push_back(count);
    }
    if (interrupted()) break;
  }
  WW_ASSIGN(counters, device_.counters->sum(first, end));
  stored.counters = std::move(counters);
  for (const auto& [pair, busy] : busy_of) {
    stored.counters[run_keys::busy_share_of_turns(pair / quadrants, pair % quadrants)] =
        busy.value();
  }

  StreamFacts facts;
  facts.target = device_.chip.target;
  facts.saturated = run.rate == Rate::saturated;
  facts.engine_cus = facts.working_cus = device_.chip.cus_per_engine;
  facts.peak_is_tuned = peak_is_tuned();
  std::map<int, double> waves;
  for (const int pair : run.order) {
    WW_ASSIGN(report, kernels_.read_log(stream_of(pair)));
    waves[pair] = counted_of.empty() ? static_cast<double>(report.working_waves) : counted_of[pair];
    if (report.working_cus != device_.cus_of(pair / quadrants)) {
      facts.working_cus = report.working_cus;
      facts.engine_cus = device_.cus_of(pair / quadrants);
    }
    stored.waves.insert(stored.waves.end(), report.working.begin(), report.working.end());
  }
  std::ranges::sort(stored.waves, {}, &StoredWaves::hw_id);
  // An engine's wavefronts stand in the log of each of its streams.
  const auto same = [](const StoredWaves& a, const StoredWaves& b) { return a.hw_id == b.hw_id; };
  stored.waves.erase(std::unique(stored.waves.begin(), stored.waves.end(), same),
                     stored.waves.end());

  double all_waves = 0;
  for (std::size_t i = 0; i < stored.slots.size(); ++i) {
    StoredSlot& slot = stored.slots[i];
    const double of_turn =
        static_cast<double>(launches[i]) * waves[slot.engine * quadrants + slot.quadrant];
    const double bytes = of_turn * StreamKernels::bytes_per_wave(loops);
    all_waves += of_turn;
    slot.payload_bits = 8 * bytes;
    facts.expected_bytes += bytes;
    facts.peak_bytes += peak_bytes(slot.quadrant, run.dvfs_state, slot.end_ns - slot.start_ns);
  }
  const auto counted = device_.traffic == Traffic::counters ? payload_by_counters(stored, all_waves)
                                                            : counted_bytes(all_waves, loops);
  if (!counted) {
    if (counted.error().code == ErrorCode::device_error) return tl::unexpected(counted.error());
    reject(stored, counted.error().text());
    return {};
  }
  facts.counted_bytes = *counted;
  facts.counters = stored.counters;
  stored.payload_bits = 8 * *counted;
  // Within the tolerance that is judged below, counters know better than arithmetic.
  for (StoredSlot& slot : stored.slots) slot.payload_bits *= *counted / facts.expected_bytes;
  if (auto reason = judge_stream(facts); !reason.empty()) reject(stored, std::move(reason));
  return {};
}

}  // namespace ww::microbench
