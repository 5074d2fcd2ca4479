// Declares VirtualGpu's members, shared by the files that implement it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fast/replay/replay.hpp"
#include "fast/tricks.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/launch/engine.hpp"
#include "machine/launch/program.hpp"
#include "machine/timing/timed_memory.hpp"
#include "ww/sim/gpu/power_timeline.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu {

inline constexpr std::uint64_t kKernargBytes = 64 * 1024;

struct DispatchRecord {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t kernel;  // in kernel_names
  std::uint32_t shape;   // in shapes
  bool replayed;
  std::shared_ptr<const exec::CounterValues> counters;
  std::shared_ptr<const LaunchActivity> activity;  // null where energies are not kept
};

// A profiler's fields of a dispatch beside its counters; most dispatches share one.
struct DispatchShape {
  std::uint64_t grid_size{};
  std::uint32_t workgroup_size{};
  std::uint32_t lds_bytes{};
  std::uint32_t scratch_bytes{};
  std::uint32_t vgprs{};
  std::uint32_t sgprs{};
  // NOLINTNEXTLINE(modernize-use-nullptr): the comparison that is generated has no pointer.
  auto operator<=>(const DispatchShape&) const = default;
};

// Vector registers of a wave come in fours, on CDNA 2 and 3 in eights.
[[nodiscard]] std::uint32_t allocated_vgprs(const binpatch::KernelDescriptor& kernel,
                                            exec::Isa isa);

// Errors: out_of_range for grids that OpenCL does not allow.
Status check_grid(const Grid& grid);

struct VirtualGpu::Impl {
  Impl(Chip chip_in, Options options_in, std::unique_ptr<exec::DeviceMemory> memory_in,
       std::unique_ptr<ActivityObserver> observer_in, const exec::Tricks& tricks_in,
       std::optional<timing::System> system);

  // Null without a system: the engine's own.
  exec::Engine::MakeHierarchy hierarchy_for(std::optional<timing::System> system);
  // Error not_found.
  [[nodiscard]] Result<const exec::Program*> find_program(ProgramId program) const;
  Result<exec::LaunchState> prepare(const exec::Program& program, std::size_t kernel_index,
                                    const Grid& grid, std::span<const std::byte> kernarg,
                                    std::uint32_t dynamic_lds_bytes);
  [[nodiscard]] Status limit_waves(exec::LaunchState& state) const;
  Status provide_scratch(exec::LaunchState& state);
  Status provide_scratch(std::uint64_t need, const exec::LaunchState& state);
  // Private memory of a work-item: what the kernel declares, and at least the stack limit where its
  // compiler cannot know how deep it calls.
  [[nodiscard]] std::uint32_t private_bytes(const binpatch::Kernel& kernel) const;
  // The parts of a launch. The key says what determines it, besides memory and the L2.
  void write_key(ProgramId program, std::size_t kernel, const Grid& grid,
                 std::span<const std::byte> kernarg, std::uint32_t dynamic_lds_bytes);
  // True where a launch of this key is recorded: `activity`, the L2's state and the dispatch's
  // counters are then those of the record.
  bool find_replay(DispatchRecord& dispatch);
  // Whether all that the recorded launch used is as it was when it began.
  [[nodiscard]] bool finds_its_contents(const exec::LaunchRecord& record) const;
  // Contents that the ended launch used, when it began; null where the host wrote some meanwhile.
  [[nodiscard]] std::shared_ptr<const exec::UsedContents> used_contents(
      std::uint64_t version_before) const;
  // Runs it on the engine, and records it where it can be replayed.
  Status execute(const exec::Program& program, std::size_t kernel, const Grid& grid,
                 std::span<const std::byte> kernarg, std::uint32_t dynamic_lds_bytes,
                 DispatchRecord& dispatch);
  // The engine's part of it.
  Result<exec::ExecutedLaunch> execute(const exec::LaunchState& state);
  // Gives it its place in chip time, and remembers it.
  LaunchResult schedule(DispatchRecord dispatch);
  std::uint32_t kernel_number(const std::string& name);
  std::uint32_t shape_number(const DispatchShape& shape);
  void remember(DispatchRecord dispatch);
  // Error out_of_range where there is none, or none any more.
  [[nodiscard]] Result<const DispatchRecord*> find_dispatch(std::uint64_t id) const;
  // Finds counters also of dispatches that are forgotten otherwise.
  [[nodiscard]] Result<const exec::CounterValues*> find_counters(std::uint64_t id) const;
  // Domain that the device's memory is in.
  [[nodiscard]] int domain() const {
    const Architecture& architecture = chip.architecture();
    return architecture.memory_domains > 1 ? architecture.domain_of_device(device)
                                           : exec::DeviceMemory::kNowhere;
  }
  [[nodiscard]] std::uint64_t dispatch_count() const { return forgotten + dispatches.size(); }
  void write_packet(const exec::LaunchState& state, const Grid& grid,
                    const binpatch::Kernel& kernel, const exec::Program& program);

  Chip chip;
  Options options;
  exec::Tricks tricks;
  bool replaying;  // a trace shows every launch
  int device{};    // of the calls that follow
  bool host_may_write{};
  std::uint32_t stack_limit{};
  std::unique_ptr<exec::DeviceMemory> memory;
  std::unique_ptr<ActivityObserver> observer;
  timing::Annotations annotations;
  timing::TimedMemory* timed{};  // in timing mode; the engine's
  exec::Engine engine;
  std::unique_ptr<PowerTimeline> timeline;

  std::map<ProgramId, std::unique_ptr<exec::Program>> programs;
  ProgramId next_program{1};
  std::uint64_t kernarg_address{};
  std::uint64_t packet_address{};
  std::uint64_t queue_address{};
  std::uint64_t scratch_address{};
  std::uint64_t scratch_bytes{};

  exec::ReplayBook replays;
  // The L2 as of now. Null: as the engine has it. A snapshot takes as long as a small launch, and
  // only launches that are recorded or replayed need one.
  std::shared_ptr<const exec::L2Snapshot> l2_state;
  bool l2_behind{};  // the engine's L2 has to be brought to l2_state before it runs

  std::deque<DispatchRecord> dispatches;  // the latest Options::most_dispatches
  std::uint64_t forgotten{};              // before them
  // Counters of what is forgotten, ascending: those of dispatch `first` and of all up to the next
  // entry. Replays of one launch share theirs.
  struct PastCounters {
    std::uint64_t first{};
    std::shared_ptr<const exec::CounterValues> counters;
  };
  std::vector<PastCounters> past_counters;
  std::vector<std::string> kernel_names;
  std::vector<DispatchShape> shapes;
  std::map<DispatchShape, std::uint32_t> shape_index;
  std::shared_ptr<const LaunchActivity> activity{std::make_shared<LaunchActivity>()};
  std::string key;                      // of the present launch; kept for its memory
  std::vector<MemoryFinding> findings;  // of the last launch
};

}  // namespace ww::sim::gpu
