// Real AMD cards as devices of a campaign: which are known, and what must hold on one before its
// streams mean anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::microbench {

// A die whose layout is known, as far as it is public.
struct AmdCard {
  std::string_view name;       // "Hawaii (FirePro W9100, W8100, Radeon R9 290 and 390 series)"
  std::string_view floorplan;  // of model::known_floorplan
  std::string_view target;     // "gfx701"
  std::vector<unsigned> device_ids;  // of PCI
  int channels{};
  int interleave_bytes{};
  int bytes_per_clock_per_channel{};
  std::int64_t l1_bytes{};
  std::int64_t l2_bytes{};
  // The driver sends address channels to slices in an order of its own, so that neighbouring
  // channels are no quadrant.
  bool steered{};
};
// Finds a card by PCI's device id ("0x740f"); null where the die is not known.
[[nodiscard]] const AmdCard* find_amd_card(std::string_view device_id);

// Why no campaign can be run on a device of this target and PCI id, with what can be done instead;
// empty where one can, as far as can be seen without touching it.
[[nodiscard]] std::string campaign_obstacle(const std::string& target,
                                            const std::string& device_id);

// Why streams on the card cannot take the channel of an address for (address / interleave) %
// channels, and neighbouring channels for a quadrant: channels were not found, are not those of the
// card, are steered, or are hashed. Empty where they can.
[[nodiscard]] std::string address_obstacle(const AddressMap& map, const AmdCard& card);

// Which quadrant of the floorplan each group of channels is: the permutation under which latencies
// and distances go together best, both without engines' and quadrants' own offsets.
struct QuadrantOrder {
  std::vector<int> group_of;  // [quadrant of the floorplan] -> group of channels
  bool by_latency{};          // else as the floorplan numbers them
  double correlation{};       // of latency and distance under that order
  std::string reason;         // why the order is not known
};
[[nodiscard]] QuadrantOrder order_quadrants(const LatencyMap& latency,
                                            const model::Floorplan& plan);
// Orders groups by their latencies, [engine][group]; the floorplan has as many quadrants as groups.
[[nodiscard]] QuadrantOrder order_groups(const std::vector<std::vector<double>>& ticks,
                                         const model::Floorplan& plan);

// The campaign's device from an opened one. Errors: unsupported with the reason (no sensor, card
// not known, an L2 of unknown size, channels that cannot be found, engines that are not the
// floorplan's), those of host and sensor. RDNA, whatever the die, and a card that hashes its
// addresses or steers its channels have no quadrants yet and an interleave of 0: home_device.hpp
// finds their homes, and of RDNA the engines, too.
[[nodiscard]] Result<Device> open_amd_device(ComputeDevice opened, const std::string& name);

}  // namespace ww::microbench
