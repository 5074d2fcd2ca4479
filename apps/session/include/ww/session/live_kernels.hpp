// Launches and readings of a program on the virtual GPU, collected from its feed until they give
// the joules of each kernel.
#pragma once

#include <cstddef>
#include <string>

#include "ww/energy/energy.hpp"
#include "ww/session/kernel_energy.hpp"
#include "ww/session/live.hpp"

namespace ww::session {

// Several processes use the chip in an order that the feed does not show, so that their kernels
// have no joules of their own. A program that runs for days must not fill the memory, so the record
// ends with the refresh in which it passes `max_launches`.
class LiveKernels {
 public:
  static constexpr std::size_t kMaxLaunches = 1'000'000;

  explicit LiveKernels(std::size_t max_launches = kMaxLaunches) : max_launches_(max_launches) {}

  // Adds one refresh; nothing once the record has ended.
  void take(const LiveNews& news);
  // Empty if several processes used the chip.
  [[nodiscard]] KernelEnergies energies(const KernelSensor& sensor) const;
  // Why launches are missing; empty if none are.
  [[nodiscard]] std::string note() const;

 private:
  std::size_t max_launches_;
  LaunchLog log_;
  energy::EnergySeries series_{{}, true};
  std::string process_;
  bool several_{}, full_{};
};

}  // namespace ww::session
