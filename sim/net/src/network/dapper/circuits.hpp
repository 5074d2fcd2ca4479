// The wires of Dapper's reply plane: what every flit of a packet drives, counted.
//
// The circuits are static within a window: a flit on the x stage reaches every router of the
// controller's row; on the y stage every router between the row and the rim, in the columns and
// directions in which a destination lies (the Y-compare unit opens the latch there). Nothing gates
// a wire behind the last destination: the paper has nothing that would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/dapper/selection.hpp"
#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

class Circuits {
 public:
  Circuits(const NetworkConfig& config, std::span<const NodeId> mcs);

  // A packet of controller `mc` goes out: counts of the switches, latches and links that its flits
  // pass. Destinations may repeat. The links then are those that count_word() drives.
  void send(std::uint32_t mc, std::span<const NodeId> destinations, std::uint64_t flits);
  // One flit of that packet, as bits: transitions on its links.
  void count_word(std::span<const std::byte> word);
  // Routers are connected anew.
  void set_up() { events_.setups += events_.routers; }
  // The end of an epoch: a flit with its report from each controller to the global overlay
  // controller, which sits at the first one's node, and the windows in one flit from there to every
  // router. `toggles`: count their bits too.
  void exchange_statistics(std::span<const std::uint64_t> reports, std::uint64_t windows,
                           bool toggles);

  [[nodiscard]] const power::OverlayEvents& events() const { return events_; }
  [[nodiscard]] power::OverlayEvents& events() { return events_; }
  // Adds what this plane's links carried.
  void add_use(std::vector<LinkUse>& links) const;

 private:
  struct Link {
    std::uint32_t from{}, to{};
    std::uint64_t flits{}, toggles{};
  };
  // Links that a controller's window connects, as indices of links_.
  struct Circuit {
    std::vector<std::uint32_t> row;
    std::vector<std::vector<std::uint32_t>> column;  // [2 x + (south: 1)]
  };

  void count_value(std::uint64_t value);
  [[nodiscard]] std::vector<std::uint32_t> follow(std::uint32_t mc, std::uint32_t router,
                                                  Port output) const;
  [[nodiscard]] Coordinates where(std::uint32_t node) const;

  const int width_;
  const int height_;
  const std::vector<NodeId> mcs_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> link_at_;  // [router * 4 + port]: its index, or none
  std::vector<Circuit> circuits_;       // [mc]
  std::vector<char> open_;              // [2 x + south]: of the packet being sent
  std::vector<std::uint32_t> driven_;   // links of the packet being sent
  std::vector<char> reached_;           // [node]
  std::size_t word_bytes_;
  std::vector<std::byte> word_;
  std::vector<std::byte> last_word_;  // [link]
  power::OverlayEvents events_;
};

}  // namespace ww::sim::net
