// Interface of the part behind the L2s of a package's dies that joins them: I/O dies, or links
// between two dies that have memory of their own.
#pragma once

#include <cstdint>

#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

class Fabric {
 public:
  virtual ~Fabric() = default;
  virtual void begin_launch() = 0;
  // A die's L2 asks for a line at `cycle`, or writes it; returns when its data is there.
  virtual std::int64_t read(int die, std::uint32_t line, std::int64_t cycle) = 0;
  virtual void write(int die, std::uint32_t line, std::int64_t cycle) = 0;
  // When all that was written so far is in its memory, `cycle` or later.
  [[nodiscard]] virtual std::int64_t drained(std::int64_t cycle) const = 0;
  // The domain that the line is at home in, as the die sees it.
  [[nodiscard]] virtual int domain(int die, std::uint32_t line) const = 0;
  // Hash of the state that outlives a launch; 0: there is none.
  [[nodiscard]] virtual std::uint64_t cache_hash() = 0;
  // Since begin_launch().
  [[nodiscard]] virtual const IoDieActivity& activity() const = 0;
};

}  // namespace ww::sim::gpu::exec
