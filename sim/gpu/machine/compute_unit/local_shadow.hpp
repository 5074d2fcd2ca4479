// Looks for work-items that access the same byte of local memory without a barrier between them:
// records who touched each byte of a compute unit's local memory last, and in which step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/cu_observer.hpp"

namespace ww::sim::gpu::exec {

class LocalShadow final : public CuObserver {
 public:
  // `bytes`: of the compute unit's local memory.
  explicit LocalShadow(std::size_t bytes) : bytes_(bytes) {}

  [[nodiscard]] Watches watches() const override { return {.local_memory = true}; }
  void begin_launch(const LaunchState& launch) override;
  void items_in_step(const WorkGroup& group) override { step_[group.hardware_slot] = ++steps_; }
  // Notes one lane's access; a conflict with another item's in the same step is found.
  void accessed(Wave& wave, const LaneAccess& access) override;

 private:
  struct Byte {
    std::uint32_t write_step{}, read_step{};
    std::uint32_t write_instruction{};
    std::uint16_t writer{}, reader{};
    bool atomic{}, many_readers{};
  };

  std::vector<Byte> bytes_;
  std::uint32_t steps_{};                                  // of all groups
  std::array<std::uint32_t, ComputeUnit::kSlots> step_{};  // of each group, by its slot
};

}  // namespace ww::sim::gpu::exec
