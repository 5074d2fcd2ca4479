// Runs one launch at a time on all CUs: dispatch, quanta, commits, counters.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute_unit/compute_unit.hpp"
#include "host/sharing_rule.hpp"
#include "host/workers.hpp"
#include "launch/counters.hpp"
#include "launch/global_wave_sync.hpp"
#include "launch/store_tape.hpp"
#include "memory/deferred_observer.hpp"
#include "memory/i_hierarchy.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

struct ExecutedLaunch {
  std::uint64_t instructions{};  // of all waves
  bool clock_read{};
  bool waves_known{};  // store_again() did it
  MemoryCounters memory;
  CounterValues counters{};
  LaunchActivity activity;
  std::shared_ptr<const StoreTape> stores;  // null: no tape was wanted, or could be
};

// When a launch is taken for one that never ends.
struct Watchdog {
  std::int64_t cycles{};         // of chip time
  std::uint64_t instructions{};  // of all waves since a work-group ended last
};

class Engine {
 public:
  // What lies behind the L1s, given who counts what crosses.
  using MakeHierarchy =
      std::function<std::unique_ptr<Hierarchy>(DeferredObserver& observer, HostArena& arena)>;
  struct Settings {
    unsigned threads{1};
    std::uint32_t share_from{};  // as Options have it
    trace::Writer* trace{};      // null: none
    int cus_in_use{};            // of each shader engine, that get work-groups; 0: all
  };
  // `make_hierarchy`: null: an ideal network.
  Engine(const Chip& chip, DeviceMemory& memory, ActivityObserver& observer,
         const Settings& settings, const MakeHierarchy& make_hierarchy);

  // `record_stores`: asks for a tape of them. Errors: as VirtualGpu::launch.
  Result<ExecutedLaunch> run(const LaunchState& launch, const Watchdog& watchdog,
                             bool record_stores);
  // The same for a launch whose waves do what they did when the tape was written. Memory holds what
  // they stored.
  ExecutedLaunch store_again(const LaunchState& launch, const StoreTape& tape);
  // Of the last launch, also of one that failed.
  [[nodiscard]] std::vector<MemoryFinding> findings() const;
  // Called after each quantum's commit; may be empty.
  void set_host_service(std::function<void()> service) { host_service_ = std::move(service); }
  // As VirtualGpu has it.
  void set_progress(std::function<void(const LaunchProgress&)> tell,
                    std::chrono::milliseconds between) {
    tell_ = std::move(tell);
    between_ = between;
  }
  [[nodiscard]] L2Tags& l2() { return hierarchy_->l2(); }
  [[nodiscard]] std::shared_ptr<const L2Snapshot> state() { return hierarchy_->state(); }
  [[nodiscard]] std::uint64_t behind_hash() { return hierarchy_->behind_hash(); }
  void set_private_memory(std::uint64_t begin, std::uint64_t end) {
    hierarchy_->set_private_memory(begin, end);
  }

 private:
  struct Dispatcher;
  class Teller;
  [[nodiscard]] const ComputeUnit* first_error(std::span<const std::size_t> engaged) const;
  [[nodiscard]] std::uint64_t instructions() const;
  // By those who will run them: what this writes lies in their cores' caches.
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
  Workers workers_;
  bool shares_all_;  // quanta, whether or not it is worth it
  SharingRule sharing_;
  GlobalWaveSync gws_;
  StoreRecorder recorder_;
  std::function<void()> host_service_;
  std::function<void(const LaunchProgress&)> tell_;
  std::chrono::milliseconds between_{};
  trace::Writer* trace_;
  TraceIndex traced_instructions_;
};

}  // namespace ww::sim::gpu::exec
