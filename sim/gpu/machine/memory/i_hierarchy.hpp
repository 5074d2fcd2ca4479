// Interface of all that lies behind the L1s: the way to the L2, the L2, memory. The engine lets all
// CUs run through a quantum and then hands over what left their L1s.
//
// Contract: device memory changes in commit() alone, in an order that does not depend on how many
// threads ran the CUs. Every request's operation is resolved in a commit(), at a cycle that is not
// before the quantum's end unless the request itself departed within it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fast/host/workers.hpp"
#include "machine/caches/l2_tags.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "ww/core/result.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

struct MemoryCounters {
  std::uint64_t reads{}, writes{}, atomics{}, hits{}, misses{};
  std::uint64_t memory_read_halves{}, memory_write_halves{}, memory_writes{};  // units of 32 bytes
  std::uint64_t gl1_hits{};           // lines of 128 bytes that caches of shader arrays had
  std::uint64_t memory_read_pairs{};  // reads of 128 bytes, which the halves are of as well

  MemoryCounters& operator+=(const MemoryCounters& other) {
    reads += other.reads;
    writes += other.writes;
    atomics += other.atomics;
    hits += other.hits;
    misses += other.misses;
    memory_read_halves += other.memory_read_halves;
    memory_write_halves += other.memory_write_halves;
    memory_writes += other.memory_writes;
    gl1_hits += other.gl1_hits;
    memory_read_pairs += other.memory_read_pairs;
    return *this;
  }
};

class Hierarchy {
 public:
  virtual ~Hierarchy() = default;

  // How the L1s in front of it treat lines.
  [[nodiscard]] virtual const L1Policy& l1_policy() const = 0;
  virtual void begin_launch(const LaunchState& launch,
                            std::vector<std::unique_ptr<ComputeUnit>>& cus) = 0;
  // Takes what left the L1s before `end`; everything in it departs in or after `start`, or late.
  // `engaged`: places in `cus`, ascending; no other compute unit has sent anything. Threads of
  // `workers` may share the work.
  virtual void commit(std::vector<std::unique_ptr<ComputeUnit>>& cus,
                      std::span<const std::size_t> engaged, std::int64_t start, std::int64_t end,
                      Workers& workers) = 0;
  // Whether threads share commits. If so, several call the observer, each for engines or channels
  // of its own, and who runs a compute unit may call gather() for it before the quantum's commit.
  [[nodiscard]] virtual bool shares_commits() const { return false; }
  // Takes what left the L1 of one compute unit, while others still run.
  virtual void gather(ComputeUnit&, std::size_t, std::int64_t, std::int64_t) {}
  // The last wave ended and the last answer came at `cycles`: what must not stay is written to
  // memory. Returns when that is done.
  virtual std::int64_t finish(std::int64_t cycles) { return cycles; }
  // Ends a launch that took these cycles and wave instructions.
  virtual void end_launch(const std::vector<std::unique_ptr<ComputeUnit>>& cus,
                          const LaunchState& launch, std::int64_t cycles,
                          std::uint64_t instructions) = 0;
  // Earliest cycle at which something happens in here without the CUs; kNever when nothing is under
  // way.
  [[nodiscard]] virtual std::int64_t next_event() const = 0;
  // Error in here, if there was one; the launch then ends.
  [[nodiscard]] virtual const std::optional<Error>& error() const = 0;
  // Writes to this range leave the memory's version as it is: private memory of waves that end with
  // the launch.
  virtual void set_private_memory(std::uint64_t begin, std::uint64_t end) = 0;

  // Cycle at which the last answer is there.
  [[nodiscard]] virtual std::int64_t last_completion() const = 0;
  // Cycles after which an L1 miss is answered at the earliest: no quantum may be longer.
  [[nodiscard]] virtual std::int64_t smallest_latency() const = 0;
  [[nodiscard]] virtual L2Tags& l2() = 0;
  // Returns the caches' state that outlives a launch. A state of several dies is a hash alone: it
  // can be compared with another one and not be restored.
  [[nodiscard]] virtual std::shared_ptr<const L2Snapshot> state() { return l2().snapshot(); }
  [[nodiscard]] virtual const std::vector<ChannelActivity>& channels() const = 0;
  [[nodiscard]] virtual const MemoryCounters& counters() const = 0;
  // Hash of what outlives a launch behind the L2 and is not in state(); 0 where there is nothing.
  [[nodiscard]] virtual std::uint64_t behind_hash() { return 0; }
  // Activity of the I/O dies in this launch, or of the Infinity Cache of a chip of one die; null on
  // a chip that has neither.
  [[nodiscard]] virtual const IoDieActivity* io_dies() const { return nullptr; }
};

}  // namespace ww::sim::gpu::exec
