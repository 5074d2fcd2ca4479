#include "launch/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "memory/die_memories.hpp"
#include "memory/memory_system.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr const char* kWhyEndless =
    "a loop without end, or a wait for what the program does only after the launch?";
constexpr std::uint64_t kQuantaBetweenLooks = 1024;  // of the watchdog at the counters
constexpr std::uint64_t kQuantaBetweenClocks = 16;   // of who tells how far a launch is
// Other threads come some 50 us after they are woken. It is worth it for a launch that already took
// as long, and for one with so many waves, each of which takes a microsecond or more.
constexpr auto kWorthWaking = std::chrono::microseconds(50);
constexpr std::uint64_t kWavesWorthWaking = 256;
}  // namespace

// Hands out work-groups to the device's dies. Group i goes to die i modulo the dies, whether or not
// there is room on another (round robin, as ROCm's notes on the placement of work have it); within
// a die engines in turn, within an engine the next CU that has room.
struct Engine::Dispatcher {
  Dispatcher(const LaunchState& launch_state, const Architecture& architecture_of_chip,
             std::size_t cus_used)
      : launch(launch_state),
        architecture(architecture_of_chip),
        engines_of_die(static_cast<std::size_t>(architecture.shader_engines)),
        cus_per_engine(static_cast<std::size_t>(architecture.cus_per_engine)),
        first_die(static_cast<std::size_t>(launch.device * architecture.dies_per_device())),
        dies(static_cast<std::size_t>(architecture.dies_per_device())),
        total(std::uint64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2]) {
    for (int engine = 0; engine < architecture.engines_of_all_dies(); ++engine) {
      const auto working = static_cast<std::size_t>(architecture.cus_of_engine(engine));
      engines.push_back({.cus_in_use = std::min(cus_used, working)});
    }
    for (std::size_t die = 0; die < dies.size(); ++die) dies[die].next_group = die;
  }

  void fill(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t cycle) {
    for (std::size_t die = 0; die < dies.size(); ++die) {
      while (dies[die].next_group < total && place(cus, die, cycle)) {
      }
    }
  }

  // The die's next group; false where there is no room.
  bool place(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t die, std::int64_t cycle) {
    for (std::size_t tried = 0; tried < engines_of_die; ++tried) {
      const std::size_t engine = (dies[die].next_engine + tried) % engines_of_die;
      const std::size_t number = (first_die + die) * engines_of_die + engine;
      if (!place_on(cus, number, dies[die].next_group, cycle)) continue;
      dies[die].next_engine = (engine + 1) % engines_of_die;
      dies[die].next_group += dies.size();
      ++started;
      return true;
    }
    return false;
  }

  bool place_on(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t number,
                std::uint64_t group, std::int64_t cycle) {
    EngineState& engine = engines[number];
    for (std::size_t tried = 0; tried < engine.cus_in_use; ++tried) {
      const std::size_t index = (engine.next_cu + tried) % engine.cus_in_use;
      const std::size_t place = number * cus_per_engine + index;
      if (!launch.cus.empty() && !launch.cus[place]) continue;
      ComputeUnit& cu = *cus[place];
      if (!cu.has_room()) continue;
      // An engine's dispatcher starts a wave a cycle.
      const std::int64_t start = std::max(cycle, engine.free_at);
      engine.free_at = start + launch.waves_per_group;
      const std::uint64_t x = group % launch.groups[0];
      const std::uint64_t y = group / launch.groups[0] % launch.groups[1];
      const std::uint64_t z = group / launch.groups[0] / launch.groups[1];
      cu.start({static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                static_cast<std::uint32_t>(z)},
               start);
      engage(place);
      engine.next_cu = (index + 1) % engine.cus_in_use;
      return true;
    }
    return false;
  }

  void engage(std::size_t place) {
    const auto at = std::ranges::lower_bound(engaged, place);
    if (at == engaged.end() || *at != place) engaged.insert(at, place);
  }

  struct EngineState {
    std::size_t cus_in_use{};
    std::size_t next_cu{};
    std::int64_t free_at{};
  };
  struct DieState {
    std::size_t next_engine{};
    std::uint64_t next_group{};
  };
  const LaunchState& launch;
  const Architecture& architecture;
  std::size_t engines_of_die;
  std::size_t cus_per_engine;
  std::vector<EngineState> engines;  // of all dies
  std::size_t first_die;             // of the launch's device
  std::vector<DieState> dies;        // of that device
  std::vector<std::size_t> engaged;  // compute units that have or had a group, ascending
  std::uint64_t started{};
  std::uint64_t total;
};

// Tells how far a launch is.
class Engine::Teller {
 public:
  Teller(const Engine& engine, const LaunchState& launch, std::uint64_t groups)
      : engine_(engine),
        launch_(launch),
        groups_(groups),
        tells_(engine.tell_ != nullptr),
        next_(tells_ ? Clock::now() + engine.between_ : Clock::time_point::max()) {}
  ~Teller() {
    if (told_) tell(true);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  // So many work-groups ended since the last call.
  void look(unsigned ended) {
    if (!tells_) return;
    ended_ += ended;
    if (++looks_ % kQuantaBetweenClocks != 0) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + engine_.between_;
    told_ = true;
    tell(false);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void tell(bool ended) const {
    engine_.tell_({launch_.kernel, ended_, groups_, engine_.instructions(), ended});
  }

  const Engine& engine_;
  const LaunchState& launch_;
  std::uint64_t groups_;
  std::uint64_t ended_{};
  std::uint64_t looks_{};
  bool tells_;
  bool told_{};
  Clock::time_point next_;
};

namespace {

std::unique_ptr<Hierarchy> ideal_hierarchy(const Chip& chip, DeviceMemory& memory,
                                           DeferredObserver& observer, HostArena& arena,
                                           std::uint32_t share_from) {
  if (chip.architecture().dies > 1)
    return std::make_unique<DieMemories>(chip, memory, observer, arena);
  auto system = std::make_unique<MemorySystem>(chip, memory, observer, arena);
  system->share_from(share_from);
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
                     : ideal_hierarchy(chip, memory, observer_, arena_, settings.share_from)),
      registers_(
          static_cast<std::uint32_t*>(arena_.allocate(ComputeUnit::register_bytes(architecture_)))),
      workers_(settings.threads, [this] { return observer_.help(); }),
      shares_all_(settings.share_from == 0),
      recorder_(static_cast<std::size_t>(architecture_.cu_places())),
      trace_(settings.trace) {
  for (int engine = 0; engine < architecture_.engines_of_all_dies(); ++engine) {
    for (int cu = 0; cu < architecture_.cus_per_engine; ++cu) {
      cus_.push_back(std::make_unique<ComputeUnit>(architecture_, engine, cu, memory, arena_));
      if (trace_ != nullptr) cus_.back()->trace = std::make_unique<AccessLog>();
    }
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
  for (const auto& cu : cus_) {
    if (!cu->findings.findings().empty()) logs.push_back(&cu->findings);
  }
  return merge(logs);
}

std::uint64_t Engine::instructions() const {
  std::uint64_t sum = 0;
  for (const auto& cu : cus_) {
    const CuCounters& c = cu->counters;
    sum += c.valu + c.salu + c.smem + c.vmem_read + c.vmem_write + c.lds;
  }
  return sum;
}

void Engine::begin_cus(const LaunchState& launch) {
  workers_.run(
      cus_.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) cus_[i]->begin_launch(launch, registers_);
      },
      false);
}

Result<ExecutedLaunch> Engine::run(const LaunchState& launch, const Watchdog& watchdog,
                                   bool record_stores) {
  begin_cus(launch);
  hierarchy_->begin_launch(launch, cus_);
  gws_.begin_launch(launch);
  observer_.begin_launch();
  recorder_.begin(record_stores);
  if (trace_ != nullptr) {
    trace_->launch({launch.dispatch_id, launch.kernel, launch.groups, launch.local});
    traced_instructions_.reset(launch.code_dwords);
  }
  Dispatcher dispatcher(launch, architecture_, cus_in_use_);
  std::vector<std::size_t>& engaged = dispatcher.engaged;  // those that are done are taken out
  Teller teller(*this, launch, dispatcher.total);
  const std::int64_t quantum = hierarchy_->smallest_latency();
  std::int64_t time = 0;
  std::vector<std::size_t> active;
  const bool has_others = workers_.threads() > 1;
  bool shares = false;  // the commit of a quantum, too
  const Workers::Task run_some = [&](std::size_t begin, std::size_t end) {
    const bool more = dispatcher.started < dispatcher.total;
    for (std::size_t i = begin; i < end; ++i) {
      ComputeUnit& cu = *cus_[active[i]];
      cu.run({time + quantum, quantum}, more);
      if (shares) hierarchy_->gather(cu, active[i], time, time + quantum);
    }
  };
  bool woken = false;
  const auto wake_at = dispatcher.total * launch.waves_per_group >= kWavesWorthWaking
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
      shares = hierarchy_->shares_commits() && !workers_.alone();
    }
    if (groups_ended) dispatcher.fill(cus_, time);
    active.clear();
    for (const std::size_t place : engaged) {
      if (!cus_[place]->idle()) active.push_back(place);
    }
    if (!workers_.alone()) {
      if (!workers_.awake() && (woken || std::chrono::steady_clock::now() >= wake_at)) {
        workers_.wake();
        woken = true;
      }
    }
    observer_.defer(!workers_.alone() && workers_.awake() && !shares);
    workers_.run(active.size(), run_some, woken);
    if (const ComputeUnit* failed = first_error(engaged); failed != nullptr) {
      error = failed->error();
      break;
    }
    recorder_.sent(time, engaged, cus_);
    hierarchy_->commit(cus_, engaged, time, time + quantum, workers_);
    recorder_.committed(engaged, cus_);
    if (hierarchy_->error()) {
      error = hierarchy_->error();
      break;
    }
    if (launch.cooperative) gws_.serve(cus_, quantum);
    observer_.pass_on();
    if (host_service_) host_service_();
    if (trace_ != nullptr) {
      for (const std::size_t place : engaged) {
        cus_[place]->trace->drain(*trace_, launch, traced_instructions_);
      }
    }
    if (has_others) {
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - quantum_began;
      sharing_.took(took.count());
    }
    unsigned ended = 0;
    std::int64_t next = hierarchy_->next_event();
    bool busy = next != kNever;
    std::int64_t issued_until = -1;
    std::erase_if(engaged, [&](std::size_t place) {
      ComputeUnit& cu = *cus_[place];
      ended += cu.take_finished();
      if (!cu.idle()) {
        busy = true;
        next = std::min(next, cu.next_turn());
        issued_until = std::max(issued_until, cu.issued_until());
      }
      const bool sends = cu.requests_done < cu.requests.size();
      if (sends) {
        busy = true;
        next = std::min(next, cu.requests[cu.requests_done].departure);
      }
      return cu.idle() && !sends && !cu.error();
    });
    groups_ended = ended != 0;
    teller.look(ended);
    if (!busy && dispatcher.started == dispatcher.total) break;
    const bool more = groups_ended && dispatcher.started < dispatcher.total;
    time += quantum;
    if (!more && issued_until < time) {
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
                    fmt::format("the watchdog ended the launch after {} cycles: {} If neither, "
                                "WIREWATT_WATCHDOG_MCYCLES allows more (in millions)",
                                time, kWhyEndless),
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
                                  time, issued - issued_at_progress, kWhyEndless),
                      "kernel " + launch.kernel};
        break;
      }
    }
    // In quanta whose turns are all taken nothing happens. The watchdog sees what it would see.
    if (!more && issued_until >= time) {
      const std::int64_t end =
          std::min({next / quantum, issued_until / quantum + 1, watchdog.cycles / quantum}) *
          quantum;
      const auto to_look =
          static_cast<std::int64_t>(kQuantaBetweenLooks - 1 - quanta % kQuantaBetweenLooks);
      const std::int64_t passed = std::min((end - time) / quantum, to_look);
      if (passed > 0 && hierarchy_->pass_quanta(static_cast<std::uint64_t>(passed), cus_.size())) {
        recorder_.passed(static_cast<std::uint64_t>(passed));
        quanta += static_cast<std::uint64_t>(passed);
        time += passed * quantum;
      }
    }
  }
  const WorkOfCus work = work_of_cus();
  if (error) {
    static_cast<void>(observer_.end_launch(time, work.activities, hierarchy_->channels()));
    return tl::unexpected<Error>(*std::move(error));
  }
  ExecutedLaunch result = end_launch(launch, work);
  result.stores = recorder_.end(cus_, launch, work);
  return result;
}

ExecutedLaunch Engine::store_again(const LaunchState& launch, const StoreTape& tape) {
  workers_.rest(true);
  begin_cus(launch);
  hierarchy_->begin_launch(launch, cus_);
  observer_.begin_launch();
  observer_.defer(false);
  std::vector<std::size_t> all(cus_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::int64_t length = hierarchy_->smallest_latency();
  auto store = tape.stores.begin();
  for (const StoreTape::Quantum& quantum : tape.quanta) {
    if (!hierarchy_->pass_quanta(quantum.passed, cus_.size())) {
      for (std::uint64_t i = 0; i < quantum.passed; ++i) {
        hierarchy_->commit(cus_, {}, quantum.begin, quantum.begin + length, workers_);
      }
    }
    for (std::uint32_t i = 0; i < quantum.stores; ++i, ++store) {
      cus_[store->cu]->store_again(store->line, store->lines, quantum.begin + store->departure,
                                   store->past_gl1);
    }
    hierarchy_->commit(cus_, all, quantum.begin, quantum.begin + length, workers_);
  }
  ExecutedLaunch result = end_launch(launch, tape.work);
  result.waves_known = true;
  return result;
}

WorkOfCus Engine::work_of_cus() const {
  WorkOfCus work;
  work.instructions = instructions();
  for (const auto& cu : cus_) {
    work.last_end = std::max(work.last_end, cu->last_end());
    work.clock_read |= cu->clock_read();
    work.counters += cu->counters;
    CuActivity& activity = work.activities.emplace_back(cu->activity);
    activity.vector_instructions = cu->counters.valu;
    activity.scalar_instructions += cu->counters.salu + cu->counters.smem;
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
