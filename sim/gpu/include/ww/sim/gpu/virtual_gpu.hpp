// The virtual GPU: memory, programs, launches, chip time and counters. It executes real AMD machine
// code, 64 lanes at a time. Every output of it is virtual, never a measurement.
//
// Threading: one caller at a time (the driver holds a lock); launches use worker threads inside
// and give the same bytes, counters and energies for any number of them.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/core/result.hpp"
#include "ww/core/vgpu_abi.h"
#include "ww/sim/gpu/activity.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/memory_check.hpp"
#include "ww/sim/gpu/speed.hpp"

namespace ww::sim::trace {
class Writer;
}
namespace ww::sim::net {
enum class WordType : std::uint8_t;
}
namespace ww::sim::gpu::exec {
struct Tricks;
}

namespace ww::sim::gpu {

struct TimingConfig;
struct TimingReport;

struct Options {
  unsigned threads{};       // 0: as many as there are cores, at most 2
  Speed speed{Speed::all};  // shortcuts that are taken; changes nothing but the speed
  std::uint64_t noise_seed{1};
  std::int64_t watchdog_cycles{std::int64_t{4} << 30};  // per launch; then device_error
  // Wave instructions without the end of a work-group; then device_error.
  std::uint64_t watchdog_instructions{std::uint64_t{4} << 30};
  OnFault on_fault{OnFault::stop};
  MemoryChecks checks{};
  // Dispatches that dispatch() still knows, the latest ones; 0: all. counters() knows all.
  std::uint64_t most_dispatches{};
  // Whether each of them keeps its activity, for sealed_energy_j() and repeat_launches().
  bool keep_energies{true};
  // Gets every vector memory instruction of every launch; nothing is replayed then. Outlives the
  // virtual GPU.
  trace::Writer* trace{};
  // Whether the host sees device memory at its device addresses, where these are free in this
  // process: what programs expect of pinned and managed memory.
  bool host_at_device_addresses{};
  // Timing mode on this system; null: functional mode. Nothing is replayed in timing mode.
  std::shared_ptr<const TimingConfig> timing{};
};

using ProgramId = std::uint32_t;

// Flat addresses whose upper 32 bits equal these lie in LDS or in private memory: what a driver
// fills into the hidden arguments hidden_shared_base and hidden_private_base (code object v5).
inline constexpr std::uint32_t kFlatLdsApertureHigh = 0x0001'0000;
inline constexpr std::uint32_t kFlatPrivateApertureHigh = 0x0002'0000;

struct Grid {
  unsigned dimensions{1};
  // Work-items, in all and of a group. Where they do not divide, the last group along that axis has
  // as many as are left.
  std::array<std::uint32_t, 3> global{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};
  // Whether work-groups may wait for each other at barriers of the whole grid. The caller sees to
  // it that all of them fit on the device at once (groups_per_cu()).
  bool cooperative{};
  // Which compute units of the device get its work-groups: the bits of a queue's mask, as AMD's
  // driver takes them (Linux, amdkfd, mqd_symmetrically_map_cu_mask(): bit 0 is the first unit of
  // the first shader engine, bit 1 that of the second). Empty: all.
  std::vector<std::uint32_t> cu_mask{};
};

struct LaunchResult {
  std::uint64_t dispatch{};  // index for counters()
  std::int64_t start_ns{};
  std::int64_t end_ns{};
  bool replayed{};
};

// How far a launch is that is being executed.
struct LaunchProgress {
  const std::string& kernel;
  std::uint64_t groups_ended{};
  std::uint64_t groups{};
  std::uint64_t instructions{};  // of all waves so far
  bool ended{};                  // the launch, whether well or not
};

class VirtualGpu {
 public:
  // Errors: device_error when the host has no room; those of timing::make_system, by key.
  static Result<std::unique_ptr<VirtualGpu>> create(Chip chip, Options options);
  // Makes a GPU with the caller's accounting (tests, benchmarks) in place of the energy ledger.
  static Result<std::unique_ptr<VirtualGpu>> create(Chip chip, Options options,
                                                    std::unique_ptr<ActivityObserver> observer);
  // Makes a GPU whose shortcuts are chosen one by one, for tests (fast/tricks.hpp). `observer`:
  // null: the energy ledger.
  static Result<std::unique_ptr<VirtualGpu>> create(Chip chip, Options options,
                                                    const exec::Tricks& tricks,
                                                    std::unique_ptr<ActivityObserver> observer);
  ~VirtualGpu();

  [[nodiscard]] const Chip& chip() const;

  // Which of the package's devices (Architecture::devices) the following calls of allocate(),
  // move() and launch() mean; 0 at first.
  void select_device(int device);
  [[nodiscard]] int selected_device() const;
  // Device memory; addresses are those of all devices. Addresses are device virtual addresses,
  // aligned to `alignment`, a power of 2 from 4096 on; address 0 is never valid. Errors:
  // out_of_range (no room, or not inside one allocation).
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment = 4096);
  Status release(std::uint64_t address);
  // Makes the device's memory an allocation's home; its address stays.
  Status move(std::uint64_t address);
  // Memory at addresses of the program's choice, in whole pages. reserve() gives addresses that
  // nothing may use yet, at `wanted` where these are free. map() puts the first bytes of a file of
  // the host there, as memory of the selected device; the same file may be at several addresses.
  // permit() says whether kernels and the calls here may use it; at first they may not. The caller
  // keeps to what was reserved and mapped. Errors: out_of_range (no room; nothing is reserved
  // there), device_error (the host refuses).
  Result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted);
  Status release_reserved(std::uint64_t address);
  Status map(std::uint64_t address, std::uint64_t bytes, int file);
  Status unmap(std::uint64_t address, std::uint64_t bytes);
  void permit(std::uint64_t address, std::uint64_t bytes, bool permitted);
  Status write(std::uint64_t address, std::span<const std::byte> data);
  Status read(std::uint64_t address, std::span<std::byte> data) const;
  Status fill(std::uint64_t address, std::uint64_t bytes, std::span<const std::byte> pattern);
  // Host view of an allocation, for mapping. Writing through it needs host_wrote() afterwards.
  Result<std::byte*> host_pointer(std::uint64_t address, std::uint64_t bytes);
  void host_wrote();
  // Lets the host from now on write device memory at any time between launches and not say so (HIP,
  // where it sees device memory at device addresses). A launch is then replayed only after a
  // comparison of all pages that it used with what they had.
  void host_may_write();
  // Whether the address is one of device memory, allocated or not.
  [[nodiscard]] bool is_device_address(std::uint64_t address) const;
  // Whether every device address is also the host's address of the same byte.
  [[nodiscard]] bool host_at_device_addresses() const;

  // Declares that the words of an allocation, or of a part of one, may change on their way to a
  // core by so large a fraction of their value (below 0: the run's own choice; type exact takes it
  // back). Only timing mode over an approximating network makes use of it. Errors: out_of_range.
  Status annotate(std::uint64_t address, std::uint64_t bytes, net::WordType type, float threshold);
  // Returns the counts of timing mode so far; null in functional mode.
  [[nodiscard]] const TimingReport* timing_report() const;

  // Private memory [bytes] of a work-item that kernels with a dynamic call stack (function
  // pointers, recursion) get at least; 0 at first: what they declare.
  void set_stack_limit(std::uint32_t bytes);

  // Loads a code object into device memory (segments, relocations, decoded kernels).
  Result<ProgramId> load(const binpatch::CodeObject& object);
  void unload(ProgramId program);
  // Where in device memory the program has what its code object calls `address`. Error not_found.
  [[nodiscard]] Result<std::uint64_t> device_address(ProgramId program,
                                                     std::uint64_t address) const;
  // How many work-groups of this size a CU runs at once. Errors: as launch().
  [[nodiscard]] Result<std::uint32_t> groups_per_cu(ProgramId program, const std::string& kernel,
                                                    const std::array<std::uint32_t, 3>& local,
                                                    std::uint32_t dynamic_lds_bytes);

  // Runs a kernel to its end and advances chip time. `kernarg` is the finished kernarg segment,
  // hidden arguments included; `dynamic_lds_bytes` is added to the kernel's own. Errors:
  // out_of_range (group too large for registers or LDS; a mask that leaves a die without compute
  // units), unsupported (unknown instruction: name or
  // encoding, address), device_error (memory fault with kernel, lane and address; watchdog; a
  // barrier that not all waves reach; a barrier of the grid in a launch that is not cooperative).
  Result<LaunchResult> launch(ProgramId program, const std::string& kernel, const Grid& grid,
                              std::span<const std::byte> kernarg, std::uint32_t dynamic_lds_bytes);

  // Gets its turn at steps of every launch from now on, with all that waves have stored by then:
  // for kernels that call the host and wait for its answer in memory. It may write device memory;
  // null takes it back. Results do not depend on the number of threads.
  void set_host_service(std::function<void()> service);

  // `tell` is called with the progress of a launch each time that `between` has passed on the host,
  // and at the launch's end if it was called before. Null removes it.
  void set_progress(std::function<void(const LaunchProgress&)> tell,
                    std::chrono::milliseconds between);

  // Lists the memory errors of the last launch, whether it ended well or not, in order of cycle.
  [[nodiscard]] const std::vector<MemoryFinding>& findings() const;

  [[nodiscard]] std::int64_t now_ns() const;
  void idle_until(std::int64_t time_ns);
  void select_dvfs(int state);
  [[nodiscard]] int dvfs_state() const;
  std::uint64_t samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const;
  [[nodiscard]] ww_vgpu_sensor_info sensor_info() const;
  // The package's rails that are metered apart (PowerTimeline).
  [[nodiscard]] std::span<const char* const> rail_names() const;
  std::uint64_t rails_since(std::uint64_t first, std::span<ww_vgpu_rail_sample> out) const;

  // AMD's names for the chip's generation.
  [[nodiscard]] const std::vector<std::string>& counter_names() const;
  [[nodiscard]] std::uint64_t dispatch_count() const;
  struct Dispatch {
    std::string kernel;
    std::int64_t start_ns{};
    std::int64_t end_ns{};
    bool replayed{};
    std::uint64_t grid_size{};  // work-items
    std::uint32_t workgroup_size{};
    std::uint32_t lds_bytes{};      // of a work-group
    std::uint32_t scratch_bytes{};  // of a work-item
    std::uint32_t vgprs{};          // of a wave, as allocated
    std::uint32_t sgprs{};
  };
  [[nodiscard]] Result<Dispatch> dispatch(std::uint64_t id) const;
  // Counters in the order of counter_names(). Error out_of_range: never made, or forgotten.
  Status counters(std::uint64_t id, std::span<double> values) const;
  [[nodiscard]] const LaunchActivity& last_activity() const;
  // Chip time goes on as if all launches so far had been made again, in order, `times` times: what
  // a measurement of short kernels does; needs Options::keep_energies. Dispatches and counters stay
  // as they are.
  void repeat_launches(std::int64_t times);
  // Opens the seal on a dispatch: where its energy went, as joules at the reference voltage. For
  // `wirewatt score` alone. Errors: out_of_range; not_found without Options::keep_energies.
  [[nodiscard]] Result<LaunchActivity::Parts> sealed_energy_j(std::uint64_t id) const;
  // Returns the energy of I/O dies and memory stacks, whose voltages are their own; zeros where the
  // chip has none.
  [[nodiscard]] Result<LaunchActivity::Ways> sealed_ways_j(std::uint64_t id) const;

 private:
  VirtualGpu();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::gpu
