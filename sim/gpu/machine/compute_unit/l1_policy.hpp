// Interface of what an L1 does with the lines of a memory instruction. It is chosen once, when the
// machine is made: by the chip, or by the settings of timing mode.
#pragma once

#include <cstdint>

namespace ww::sim::gpu::exec {

class ComputeUnit;
class L1Cache;
struct MemoryFields;
struct MemoryOperation;
struct Wave;

class L1Policy {
 public:
  virtual ~L1Policy() = default;
  // Looks up the operation's lines, keeps or drops them, and queues requests for the rest.
  virtual void access(Wave& wave, const MemoryFields& fields, MemoryOperation& operation) const = 0;
  // Sets the L1's contents for the beginning of a launch.
  virtual void begin_launch(L1Cache& l1) const = 0;
  // Executes an instruction that asks for an empty L1.
  virtual void invalidate(L1Cache& l1) const = 0;
  // Whether a row of lines (L1Cache::kRow) may go as one request.
  [[nodiscard]] virtual bool takes_rows() const = 0;
};

}  // namespace ww::sim::gpu::exec
