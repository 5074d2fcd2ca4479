// What a network did, counted: the input of energy accounting.
#pragma once

#include <cstdint>

#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {

// All counts since the network was built. A flit that passes a router writes a buffer, reads it,
// wins the switch and crosses it once; bufferless routers write and read none.
struct NetworkEvents {
  std::uint64_t cycles{};
  std::uint64_t routers{};
  std::uint64_t links{};  // directed router-to-router links
  std::uint64_t injected_flits{};
  std::uint64_t ejected_flits{};
  std::uint64_t resent_flits{};  // bufferless: dropped for want of a reassembly buffer, sent again
  std::uint64_t buffer_writes{};
  std::uint64_t buffer_reads{};
  std::uint64_t crossbar_flits{};  // flit-hops: every router counts
  std::uint64_t switch_grants{};
  std::uint64_t vc_grants{};
  std::uint64_t link_flits{};
  std::uint64_t link_toggles{};  // real bit transitions; meaningful when toggles_counted
  bool toggles_counted{};
  PhotonicEvents photonic;
};

// Sum over networks that run side by side in the same cycles: routers and links add up.
NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other);

// Difference of two snapshots of one network (later - earlier).
[[nodiscard]] NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier);

}  // namespace ww::sim::power
