#include "machine/launch/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "machine/memory/die_memories.hpp"
#include "machine/memory/memory_system.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::uint64_t kQuantaBetweenLooks = 1024;  // of the watchdog at the counters
// Other threads come some 50 us after they are woken. It is worth it for a launch that already took
// as long, and for one with kWavesWorthWaking waves, each of which takes a microsecond or more.
constexpr auto kWorthWaking = std::chrono::microseconds(50);
constexpr std::uint64_t kWavesWorthWaking = 256;

std::string why_endless(const Watchdog& watchdog) {
  constexpr std::int64_t kMega = 1'000'000;
  return fmt::format(
      "a loop without end, or a wait for what the program does only after the launch? If neither, "
      "WIREWATT_WATCHDOG_MCYCLES={} allows ten times as much",
      std::max<std::int64_t>(1, watchdog.cycles / kMega) * 10);
}

std::unique_ptr<Hierarchy> ideal_hierarchy(const Chip& chip, DeviceMemory& memory,
                                           DeferredObserver& observer, HostArena& arena,
                                           const Tricks& tricks) {
  if (chip.architecture().dies > 1)
    return std::make_unique<DieMemories>(chip, memory, observer, arena);
  auto system = std::make_unique<MemorySystem>(chip, memory, observer, arena);
  constexpr auto kNever = std::numeric_limits<std::size_t>::max();
  system->parallel_commit_min_requests(tricks.share_commits ? tricks.parallel_commit_min_requests
                                                            : kNever);
  return system;
}

}  // namespace

Engine::Engine(const Chip& chip, DeviceMemory& memory, ActivityObserver& observer,
               const Settings& settings, const MakeHierarchy& make_hierarchy)
    : architecture_(chip.architecture()),
      cus_in_use_(static_cast<std::size_t>(settings.cus_in_use > 0 ? settings.cus_in_use
                                                                   : architecture_.cus_per_engine)),
      observer_(observer),
      hierarchy_(make_hierarchy
                     ? make_hierarchy(observer_, arena_)
                     : ideal_hierarchy(chip, memory, observer_, arena_, settings.tricks)),
      registers_(
          static_cast<std::uint32_t*>(arena_.allocate(ComputeUnit::register_bytes(architecture_)))),
      workers_(settings.threads, [this] { return observer_.help(); }),
      shares_all_(settings.tricks.share_commits &&
                  settings.tricks.parallel_commit_min_requests == 0),
      may_share_(settings.tricks.share_commits),
      trace_(settings.trace) {
  for (int engine = 0; engine < architecture_.engines_of_all_dies(); ++engine) {
    for (int cu = 0; cu < architecture_.cus_per_engine; ++cu) {
      cus_.push_back(std::make_unique<ComputeUnit>(architecture_, engine, cu, memory, arena_,
                                                   hierarchy_->l1_policy()));
    }
  }
  watches_.resize(cus_.size());
  for (std::size_t i = 0; i < cus_.size(); ++i) {
    cus_[i]->attach(watches_[i].findings);
    if (trace_ == nullptr) continue;
    watches_[i].trace = std::make_unique<AccessLog>();
    cus_[i]->attach(*watches_[i].trace);
  }
}

const ComputeUnit* Engine::first_error(std::span<const std::size_t> engaged) const {
  const ComputeUnit* first = nullptr;
  for (const std::size_t place : engaged) {
    const ComputeUnit& cu = *cus_[place];
    if (cu.error() && (first == nullptr || cu.error_cycle() < first->error_cycle())) first = &cu;
  }
  return first;
}

std::vector<MemoryFinding> Engine::findings() const {
  std::vector<const FindingLog*> logs;
  for (const Watch& watch : watches_) {
    if (!watch.findings.findings().empty()) logs.push_back(&watch.findings);
  }
  return merge(logs);
}

std::uint64_t Engine::instructions() const {
  std::uint64_t sum = 0;
  for (const auto& cu : cus_) sum += cu->counters.instructions();
  return sum;
}

void Engine::look_for_races(std::size_t place, bool wanted) {
  std::unique_ptr<LocalShadow>& shadow = watches_[place].shadow;
  if (wanted == (shadow != nullptr)) return;
  if (wanted) {
    shadow =
        std::make_unique<LocalShadow>(static_cast<std::size_t>(architecture_.lds_bytes_per_cu));
    cus_[place]->attach(*shadow);
  } else {
    cus_[place]->detach(*shadow);
    shadow.reset();
  }
}

void Engine::begin_cus(const LaunchState& launch) {
  workers_.run(
      cus_.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          look_for_races(i, launch.checks.races);
          cus_[i]->begin_launch(launch, registers_);
        }
      },
      false);
}

Result<ExecutedLaunch> Engine::run(const LaunchState& launch, const Watchdog& watchdog) {
  begin_cus(launch);
  hierarchy_->begin_launch(launch, cus_);
  gws_.begin_launch(launch);
  observer_.begin_launch();
  if (trace_ != nullptr) {
    trace_->launch({launch.dispatch_id, launch.kernel, launch.groups, launch.local});
    traced_instructions_.reset(launch.code_dwords);
  }
  Dispatcher dispatcher(launch, architecture_, cus_in_use_);
  ProgressReporter reporter(report_, between_, launch.kernel, dispatcher.groups(),
                            [this] { return instructions(); });
  Ended ended = run_quanta(launch, watchdog, dispatcher, reporter);
  const WorkOfCus work = work_of_cus();
  if (ended.error) {
    static_cast<void>(observer_.end_launch(ended.time, work.activities, hierarchy_->channels()));
    return tl::unexpected<Error>(*std::move(ended.error));
  }
  return end_launch(launch, work);
}

Engine::Ended Engine::run_quanta(const LaunchState& launch, const Watchdog& watchdog,
                                 Dispatcher& dispatcher, ProgressReporter& reporter) {
  Hierarchy& behind = *hierarchy_;
  std::vector<std::size_t>& engaged = dispatcher.engaged();
  const std::int64_t quantum = behind.smallest_latency();
  std::int64_t time = 0;
  std::vector<std::size_t> active;
  const bool has_others = workers_.threads() > 1;
  bool shares = false;  // the commit of a quantum, too
  const Workers::Task run_some = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ComputeUnit& cu = *cus_[active[i]];
      cu.run(time + quantum);
      if (shares) behind.gather(cu, active[i], time, time + quantum);
    }
  };
  bool woken = false;
  const auto wake_at = dispatcher.groups() * launch.waves_per_group >= kWavesWorthWaking
                           ? std::chrono::steady_clock::time_point::min()
                           : std::chrono::steady_clock::now() + kWorthWaking;
  bool groups_ended = true;
  std::optional<Error> error;
  std::uint64_t quanta = 0;
  std::uint64_t issued_at_progress = 0;
  bool progress = false;
  std::chrono::steady_clock::time_point quantum_began;
  while (true) {
    if (has_others) {
      quantum_began = std::chrono::steady_clock::now();
      workers_.rest(!shares_all_ && !sharing_.worth_it(workers_.round_trip_ns()));
      shares = may_share_ && behind.shares_commits() && !workers_.alone();
    }
    if (groups_ended) dispatcher.fill(cus_, time);
    active.clear();
    for (const std::size_t place : engaged) {
      if (!cus_[place]->idle()) active.push_back(place);
    }
    if (has_others) {
      const bool alone = workers_.alone();
      if (!alone && !workers_.awake() && (woken || std::chrono::steady_clock::now() >= wake_at)) {
        workers_.wake();
        woken = true;
      }
      observer_.defer(may_share_ && !alone && workers_.awake() && !shares);
      workers_.run(active.size(), run_some, woken);
    } else {
      run_some(0, active.size());
    }
    if (const ComputeUnit* failed = first_error(engaged); failed != nullptr) {
      error = failed->error();
      break;
    }
    behind.commit(cus_, engaged, time, time + quantum, workers_);
    if (behind.error()) {
      error = behind.error();
      break;
    }
    if (launch.cooperative) gws_.serve(cus_, quantum);
    observer_.pass_on();
    if (host_service_) host_service_();
    if (trace_ != nullptr) {
      for (const std::size_t place : engaged) {
        watches_[place].trace->drain(*trace_, launch, traced_instructions_);
      }
    }
    if (has_others) {
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - quantum_began;
      sharing_.took(took.count());
    }
    unsigned ended = 0;
    std::int64_t next = behind.next_event();
    bool busy = next != kNever;
    std::erase_if(engaged, [&](std::size_t place) {
      ComputeUnit& cu = *cus_[place];
      ended += cu.take_finished();
      if (!cu.idle()) {
        busy = true;
        next = std::min(next, cu.next_turn());
      }
      const bool sends = cu.requests_done < cu.requests.size();
      if (sends) {
        busy = true;
        next = std::min(next, cu.requests[cu.requests_done].departure);
      }
      return cu.idle() && !sends && !cu.error();
    });
    groups_ended = ended != 0;
    reporter.count(ended);
    if (!busy && dispatcher.is_done()) break;
    const bool more = groups_ended && !dispatcher.is_done();
    time += quantum;
    if (!more) {
      if (next == kNever) {
        const std::string missing = gws_.missing();
        error = Error{
            ErrorCode::device_error,
            fmt::format("every wave waits for something that never comes ({})",
                        missing.empty() ? "a barrier that not all waves reach?" : missing.c_str()),
            "kernel " + launch.kernel};
        break;
      }
      time = std::max(time, next / quantum * quantum);  // quanta keep their grid
    }
    if (time > watchdog.cycles) {
      error = Error{ErrorCode::device_error,
                    fmt::format("the watchdog ended the launch after {} cycles: {}", time,
                                why_endless(watchdog)),
                    "kernel " + launch.kernel};
      break;
    }
    progress |= groups_ended;
    if (++quanta % kQuantaBetweenLooks == 0) {
      const std::uint64_t issued = instructions();
      if (progress) issued_at_progress = issued;
      progress = false;
      if (issued - issued_at_progress > watchdog.instructions) {
        error = Error{ErrorCode::device_error,
                      fmt::format("the watchdog ended the launch after {} cycles: {} wave "
                                  "instructions since a work-group ended; {}",
                                  time, issued - issued_at_progress, why_endless(watchdog)),
                      "kernel " + launch.kernel};
        break;
      }
    }
  }
  return {time, std::move(error)};
}

WorkOfCus Engine::work_of_cus() const {
  WorkOfCus work;
  work.instructions = instructions();
  work.activities.resize(cus_.size());
  for (std::size_t i = 0; i < cus_.size(); ++i) {
    const ComputeUnit& cu = *cus_[i];
    work.last_end = std::max(work.last_end, cu.last_end());
    work.clock_read |= cu.clock_read();
    work.counters += cu.counters;
    CuActivity& activity = work.activities[i];
    activity = cu.activity;
    activity.vector_instructions = cu.counters.valu;
    activity.scalar_instructions += cu.counters.salu + cu.counters.smem;
  }
  return work;
}

ExecutedLaunch Engine::end_launch(const LaunchState& launch, const WorkOfCus& work) {
  const std::int64_t cycles =
      hierarchy_->finish(std::max<std::int64_t>({1, hierarchy_->last_completion(), work.last_end}));
  hierarchy_->end_launch(cus_, launch, cycles, work.instructions);
  const IoDieActivity* io_dies = hierarchy_->io_dies();
  if (io_dies != nullptr) observer_.io_dies(*io_dies);
  ExecutedLaunch result;
  result.instructions = work.instructions;
  result.clock_read = work.clock_read;
  result.memory = hierarchy_->counters();
  result.activity = observer_.end_launch(cycles, work.activities, hierarchy_->channels());
  result.counters = counter_values(architecture_, cycles, work.counters, work.activities,
                                   result.memory, result.activity, io_dies);
  return result;
}

}  // namespace ww::sim::gpu::exec
