// The findings of one CU during a launch: one entry for each instruction and kind of mistake.
#pragma once

#include <vector>

#include "machine/compute_unit/cu_observer.hpp"
#include "ww/sim/gpu/memory_check.hpp"

namespace ww::sim::gpu::exec {

class FindingLog final : public CuObserver {
 public:
  // More instructions than this with mistakes are only counted.
  static constexpr std::size_t kMax = 64;

  void begin_launch(const LaunchState&) override { findings_.clear(); }
  void found(const MemoryFinding& finding) override;
  [[nodiscard]] const std::vector<MemoryFinding>& findings() const { return findings_; }

 private:
  std::vector<MemoryFinding> findings_;
};

// Brings the logs of all CUs together: the earliest of each instruction and kind, counts added,
// in order of cycle. The logs come in CU order, so the result does not depend on threads.
[[nodiscard]] std::vector<MemoryFinding> merge(const std::vector<const FindingLog*>& logs);

}  // namespace ww::sim::gpu::exec
