// Hands out the work-groups of a launch to compute units.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/isa/launch_state.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

// Group i goes to die i modulo the dies of the launch's device, whether or not there is room on
// another (round robin, as ROCm's notes on the placement of work have it); within a die engines in
// turn, within an engine the next CU that has room.
class Dispatcher {
 public:
  // `cus_used`: of each shader engine.
  Dispatcher(const LaunchState& launch, const Architecture& architecture, std::size_t cus_used);

  // Starts as many groups as there is room for now.
  void fill(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t cycle);
  [[nodiscard]] bool is_done() const { return started_ == groups_; }
  // Groups in all.
  [[nodiscard]] std::uint64_t groups() const { return groups_; }
  // Compute units that have or had a group, by place, ascending. Those that are done are taken out
  // by whoever sees it.
  [[nodiscard]] std::vector<std::size_t>& engaged() { return engaged_; }

 private:
  struct EngineState {
    std::size_t cus_in_use{};
    std::size_t next_cu{};
    std::int64_t free_at{};
  };
  struct DieState {
    std::size_t next_engine{};
    std::uint64_t next_group{};
  };

  // The die's next group; false where there is no room.
  bool place(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t die, std::int64_t cycle);
  bool place_on(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t number,
                std::uint64_t group, std::int64_t cycle);
  void engage(std::size_t place);
  // The three numbers of a group.
  [[nodiscard]] std::array<std::uint32_t, 3> id(std::uint64_t group) const;

  const LaunchState& launch_;
  std::size_t engines_of_die_;
  std::size_t cus_per_engine_;
  std::vector<EngineState> engines_;  // of all dies
  std::size_t first_die_;             // of the launch's device
  std::vector<DieState> dies_;        // of that device
  std::vector<std::size_t> engaged_;
  std::uint64_t started_{};
  std::uint64_t groups_;
};

}  // namespace ww::sim::gpu::exec
