// The findings of one CU during a launch: one entry for each instruction and kind of mistake.
#pragma once

#include <vector>

#include "ww/sim/gpu/memory_check.hpp"

namespace ww::sim::gpu::exec {

class FindingLog {
 public:
  // More instructions than this with mistakes are only counted.
  static constexpr std::size_t kMax = 64;

  void clear() { findings_.clear(); }
  void add(const MemoryFinding& finding);
  [[nodiscard]] const std::vector<MemoryFinding>& findings() const { return findings_; }

 private:
  std::vector<MemoryFinding> findings_;
};

// Brings the logs of all CUs together: the earliest of each instruction and kind, counts added,
// in order of cycle. The logs come in CU order, so the result does not depend on threads.
[[nodiscard]] std::vector<MemoryFinding> merge(const std::vector<const FindingLog*>& logs);

}  // namespace ww::sim::gpu::exec
