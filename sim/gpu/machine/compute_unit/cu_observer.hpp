// Interface of what watches the waves of one compute unit: the trace, the log of findings, the
// check for races. The engine attaches them; a compute unit does not know which there are.
//
// Contract:
// - Calls come on the thread that runs the compute unit, in the order of its turns.
// - An observer may note in an operation which lanes it waits for (OperationState::traced). It
//   changes nothing else, so that a launch's results are the same with and without it.
#pragma once

#include <cstdint>

#include "ww/sim/gpu/memory_check.hpp"

namespace ww::sim::gpu::exec {

struct LaunchState;
struct MemoryOperation;
struct Wave;
struct WorkGroup;

// One lane's access to its group's local memory.
struct LaneAccess {
  AccessKind kind{};
  std::uint32_t lane{};
  std::uint64_t address{};  // within the group
  unsigned bytes{};
  const std::byte* value{};  // of a store
};

class CuObserver {
 public:
  // Instructions that it watches. Those that nobody watches may take shortcuts which leave no
  // addresses or data to look at.
  struct Watches {
    bool memory{};
    bool local_memory{};
  };

  virtual ~CuObserver() = default;
  [[nodiscard]] virtual Watches watches() const { return {}; }

  virtual void begin_launch(const LaunchState&) {}
  // The group begins, or all its waves have reached a barrier: what its items do from now on is
  // ordered behind what they did before.
  virtual void items_in_step(const WorkGroup&) {}
  // A vector memory instruction goes to memory.
  virtual void issued(const Wave&, MemoryOperation&) {}
  // A load's data are in the operation, and go to the registers.
  virtual void completed(const Wave&, MemoryOperation&) {}
  // The wave ends while the load is on its way.
  virtual void abandoned(const Wave&, MemoryOperation&) {}
  virtual void accessed(Wave&, const LaneAccess&) {}
  virtual void found(const MemoryFinding&) {}
};

}  // namespace ww::sim::gpu::exec
