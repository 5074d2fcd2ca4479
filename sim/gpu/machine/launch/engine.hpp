// Runs one launch at a time on all CUs: dispatch, quanta, commits, counters.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fast/commit_sharing/deferred_observer.hpp"
#include "fast/host/sharing_rule.hpp"
#include "fast/host/workers.hpp"
#include "fast/tricks.hpp"
#include "machine/compute_unit/access_log.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/finding_log.hpp"
#include "machine/compute_unit/local_shadow.hpp"
#include "machine/counters/counters.hpp"
#include "machine/dispatch/dispatcher.hpp"
#include "machine/launch/global_wave_sync.hpp"
#include "machine/launch/progress_reporter.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

struct ExecutedLaunch {
  std::uint64_t instructions{};  // of all waves
  bool clock_read{};
  MemoryCounters memory;
  CounterValues counters{};
  LaunchActivity activity;
};

// Describes what the compute units did in a launch, without the hierarchy behind their L1s.
struct WorkOfCus {
  std::int64_t last_end{};       // cycle at which the last wave ended
  std::uint64_t instructions{};  // of all waves
  bool clock_read{};
  CuCounters counters;  // of all
  std::vector<CuActivity> activities;
};

// Limits beyond which a launch is taken for one that never ends.
struct Watchdog {
  std::int64_t cycles{};         // of chip time
  std::uint64_t instructions{};  // of all waves since a work-group ended last
};

class Engine {
 public:
  // Makes the hierarchy behind the L1s, given the observer that counts what crosses.
  using MakeHierarchy =
      std::function<std::unique_ptr<Hierarchy>(DeferredObserver& observer, HostArena& arena)>;
  struct Settings {
    unsigned threads{1};
    Tricks tricks;
    trace::Writer* trace{};  // null: none
    int cus_in_use{};        // of each shader engine, that get work-groups; 0: all
  };
  // `make_hierarchy`: null: an ideal network.
  Engine(const Chip& chip, DeviceMemory& memory, ActivityObserver& observer,
         const Settings& settings, const MakeHierarchy& make_hierarchy);

  // Errors: as VirtualGpu::launch.
  Result<ExecutedLaunch> run(const LaunchState& launch, const Watchdog& watchdog);
  // Findings of the last launch, also of one that failed.
  [[nodiscard]] std::vector<MemoryFinding> findings() const;
  // Called after each quantum's commit; may be empty.
  void set_host_service(std::function<void()> service) { host_service_ = std::move(service); }
  // Sets the progress function, as VirtualGpu::set_progress() does.
  void set_progress(ProgressReporter::Report report, std::chrono::milliseconds between) {
    report_ = std::move(report);
    between_ = between;
  }
  [[nodiscard]] L2Tags& l2() { return hierarchy_->l2(); }
  [[nodiscard]] std::shared_ptr<const L2Snapshot> state() { return hierarchy_->state(); }
  [[nodiscard]] std::uint64_t behind_hash() { return hierarchy_->behind_hash(); }
  void set_private_memory(std::uint64_t begin, std::uint64_t end) {
    hierarchy_->set_private_memory(begin, end);
  }

 private:
  // How the quanta of a launch ended.
  struct Ended {
    std::int64_t time{};
    std::optional<Error> error;
  };
  Ended run_quanta(const LaunchState& launch, const Watchdog& watchdog, Dispatcher& dispatcher,
                   ProgressReporter& reporter);
  [[nodiscard]] const ComputeUnit* first_error(std::span<const std::size_t> engaged) const;
  // Instructions of all waves so far.
  [[nodiscard]] std::uint64_t instructions() const;
  // The observers of one compute unit.
  struct Watch {
    FindingLog findings;
    std::unique_ptr<AccessLog> trace;     // null: not traced
    std::unique_ptr<LocalShadow> shadow;  // null: races are not looked for
  };
  void look_for_races(std::size_t place, bool wanted);
  // Begins CUs on the threads that will run them: what this writes lies in their cores' caches.
  void begin_cus(const LaunchState& launch);
  [[nodiscard]] WorkOfCus work_of_cus() const;
  // The last wave ended and the last answer came.
  ExecutedLaunch end_launch(const LaunchState& launch, const WorkOfCus& work);

  const Architecture& architecture_;
  std::size_t cus_in_use_;  // of each shader engine
  DeferredObserver observer_;
  HostArena arena_;
  std::unique_ptr<Hierarchy> hierarchy_;
  std::uint32_t* registers_;  // of all CUs' waves, as far as a launch has them
  std::vector<std::unique_ptr<ComputeUnit>> cus_;
  std::vector<Watch> watches_;  // of each compute unit
  Workers workers_;
  bool shares_all_;  // quanta, whether or not it is worth it
  bool may_share_;   // commits; else one thread alone does what is behind the L1s
  SharingRule sharing_;
  GlobalWaveSync gws_;
  std::function<void()> host_service_;
  ProgressReporter::Report report_;
  std::chrono::milliseconds between_{};
  trace::Writer* trace_;
  TraceIndex traced_instructions_;
};

}  // namespace ww::sim::gpu::exec
