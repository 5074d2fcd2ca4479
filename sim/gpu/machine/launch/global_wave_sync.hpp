// Global wave sync (GWS): barriers that waves of all compute units reach, on every die of a launch.
//
// A barrier counts down. A wave that finds the count above 0 takes one away and waits. The wave
// that finds 0 lets all go on, itself among them, and gives the count for the next time. So a
// barrier of n waves is set to n - 1 at first, and each wave brings n - 1, too.
// Source: AMD, "AMD Instinct MI200" Instruction Set Architecture, DS_GWS_INIT and DS_GWS_BARRIER.
//
// Requests of a quantum's waves are served at its end, in order of cycle and compute unit. Any
// number of threads therefore gives the same. No manual gives the time that an answer takes; here
// it is one quantum, which is the shortest L1 miss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/compute_unit/compute_unit.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

// Fills `op` with ds_gws_init or ds_gws_barrier; false for any other instruction, as for the
// semaphores of the GWS, which no compiler's library uses.
bool lower_global_wave_sync(const binpatch::isa::Instruction& instruction, MicroOp& op);

class GlobalWaveSync {
 public:
  // Sets barrier 0 for one wave of each work-group, as AMD's runtime does before a cooperative
  // launch (clr, rocclr/device/rocm/rocvirtual.cpp). All others are 0.
  void begin_launch(const LaunchState& launch);
  // Serves what the compute units' waves have asked for, and forgets it. An answer takes `latency`
  // cycles, which must not be less than the quantum.
  void serve(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t latency);
  // Who waits and who is missing, in words; empty where nobody waits.
  [[nodiscard]] std::string missing() const;

 private:
  static constexpr std::size_t kResources = 64;
  struct Asked {
    std::size_t cu{};
    GwsRequest request;
  };
  struct Resource {
    std::uint32_t count{};
    std::vector<Asked> waiting;
  };

  std::array<Resource, kResources> resources_;
  std::vector<Asked> asked_;  // in one quantum; kept for its room
};

}  // namespace ww::sim::gpu::exec
