// Places stations and gives the times that light takes between them.
#pragma once

#include <cstdint>
#include <vector>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net::photonic {

// Stations are numbered by their position on the serpentine; light goes towards higher positions,
// and the ring closes from the last to the first. Times in optical cycles. Precondition:
// validate(config) has succeeded.
class Layout {
 public:
  explicit Layout(const NetworkConfig& config);

  [[nodiscard]] int stations() const { return static_cast<int>(router_of_.size()); }
  [[nodiscard]] int position_of_router(int router) const {
    return position_of_[static_cast<std::size_t>(router)];
  }
  [[nodiscard]] int router_at(int position) const {
    return router_of_[static_cast<std::size_t>(position)];
  }
  [[nodiscard]] bool is_llc(int position) const { return (llc_mask_ >> position & 1) != 0; }
  [[nodiscard]] std::uint64_t llc_mask() const { return llc_mask_; }

  [[nodiscard]] double pitch_mm() const { return pitch_mm_; }
  [[nodiscard]] double pass_mm() const { return pitch_mm_ * (stations() - 1); }

  // Cycles of a whole turn, rounded up: a token is seen once a turn.
  [[nodiscard]] int loop_cycles() const { return loop_cycles_; }
  // The cycle of a turn in which a token that starts at position 0 passes a position.
  [[nodiscard]] int slot(int position) const { return slot_[static_cast<std::size_t>(position)]; }
  [[nodiscard]] std::uint64_t slot_mask(int slot) const {
    return slot_mask_[static_cast<std::size_t>(slot)];
  }
  // Cycles from a writer to a reader along the ring, rounded up.
  [[nodiscard]] int flight(int from, int to) const;

 private:
  std::vector<int> position_of_;
  std::vector<int> router_of_;
  std::vector<int> slot_;
  std::vector<std::uint64_t> slot_mask_;
  std::vector<double> at_cycles_;  // from position 0, exact
  double pitch_mm_{};
  double loop_exact_{};
  int loop_cycles_{};
  std::uint64_t llc_mask_{};
};

// Routers of the LLC stations that were named, by llc_stations or by memory_nodes; empty: every
// other one along the serpentine.
[[nodiscard]] std::vector<std::uint32_t> llc_routers(const NetworkConfig& config);

// Nodes of the LLC stations, or of the others, ascending.
[[nodiscard]] std::vector<std::uint32_t> nodes_of(const NetworkConfig& config, bool llc);

}  // namespace ww::sim::net::photonic
