// The memory side of a chip of several compute dies: for each its own crossbar and L2, and the I/O
// dies behind them.
//
// Memory itself changes in one order, as on a chip of one die: a program sees every write that was
// committed. A filter keeps the L2s coherent, as the Infinity Cache's snoop filter does: what a die
// writes leaves the other dies' L2s, dirty bytes by way of memory. A read of what is dirty
// elsewhere writes it back first, too. Programs that forget a release or an acquire at the scope of
// the device therefore work here, though they may fail on a card.
//
// Where the dies are several devices, a line of another device's memory stays in an L2 for one
// launch: the packet that begins the next one would make it invalid (LLVM, "Memory model gfx90a":
// an acquire at the scope of the system drops what is not local to the L2, and a release writes it
// back).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "machine/caches/line_holders.hpp"
#include "machine/memory/i_fabric.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "machine/memory/l1_policies.hpp"
#include "machine/memory/memory_system.hpp"

namespace ww::sim::gpu::exec {

class DieMemories final : public Hierarchy, public BehindL2 {
 public:
  DieMemories(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer, HostArena& arena);

  [[nodiscard]] const L1Policy& l1_policy() const override { return l1_of_chip(architecture_); }
  void begin_launch(const LaunchState& launch,
                    std::vector<std::unique_ptr<ComputeUnit>>& cus) override;
  // Dies in rotating order.
  void commit(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::span<const std::size_t> engaged,
              std::int64_t start, std::int64_t end, Workers& workers) override;
  std::int64_t finish(std::int64_t cycles) override;
  void end_launch(const std::vector<std::unique_ptr<ComputeUnit>>&, const LaunchState&,
                  std::int64_t, std::uint64_t) override {}
  [[nodiscard]] std::int64_t next_event() const override { return kNever; }
  [[nodiscard]] const std::optional<Error>& error() const override { return error_; }
  void set_private_memory(std::uint64_t begin, std::uint64_t end) override;
  [[nodiscard]] std::int64_t last_completion() const override;
  [[nodiscard]] std::int64_t smallest_latency() const override {
    return dies_.front()->smallest_latency();
  }
  // Returns the L2 of the first die.
  [[nodiscard]] L2Tags& l2() override { return dies_.front()->l2(); }
  // Returns the state of all L2s, and of the Infinity Cache where there is one.
  [[nodiscard]] std::shared_ptr<const L2Snapshot> state() override;
  [[nodiscard]] const std::vector<ChannelActivity>& channels() const override;
  [[nodiscard]] const MemoryCounters& counters() const override;
  [[nodiscard]] const IoDieActivity* io_dies() const override { return &fabric_->activity(); }

 private:
  std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) override;
  void write(int die, std::uint32_t line, std::int64_t cycle) override {
    fabric_->write(die, line, cycle);
  }
  void wrote(int die, std::uint32_t line, std::int64_t cycle) override;

  // Notes a line that the die has of another device's memory.
  void note_foreign(int die, std::uint32_t line);

  std::unique_ptr<Fabric> fabric_;
  LineHolders holders_;
  std::vector<std::unique_ptr<MemorySystem>> dies_;
  std::size_t cus_of_die_;
  std::size_t first_{};                              // die of the next commit
  std::vector<std::vector<std::uint32_t>> foreign_;  // by die, lines of other devices' memory
  const Architecture& architecture_;
  std::optional<Error> error_;                     // never
  mutable std::vector<ChannelActivity> channels_;  // of all dies together
  mutable MemoryCounters counters_;
};

}  // namespace ww::sim::gpu::exec
