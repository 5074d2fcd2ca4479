// Dapper's selection unit (algorithm 3): how a bypass router connects its ports while a memory
// controller (MC) owns the reply plane. The network's cycles and wires follow from these maps;
// the tests walk them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ww::sim::net {

enum class Port : std::uint8_t { east, west, south, north, local };  // +x, -x, +y, -y
inline constexpr std::size_t kPorts = 5;
inline constexpr std::uint8_t kUnconnected = 0xFF;

// One router's connections. A flit comes in at `from_input` ports within the cycle in which it was
// sent; the latch of an input port keeps it for the next cycle, in which the asynchronous switch
// may send it on.
struct PortMap {
  int scenario{};  // 1 to 4, as in the paper
  // [output]: the input port that drives it directly, or kUnconnected.
  std::array<std::uint8_t, kPorts> from_input{kUnconnected, kUnconnected, kUnconnected,
                                              kUnconnected, kUnconnected};
  std::array<bool, kPorts> latched{};  // [input]: its latch takes what comes
  // [input]: outputs that its latch may be switched to, as bits.
  std::array<std::uint8_t, kPorts> latch_to{};
};

struct Coordinates {
  int x{};
  int y{};
};

// 1: the MC is here: local input to the x outputs and the local latch, which goes to the y outputs.
// 2: in the MC's row: x inputs straight through and into their latches, which go to y and local.
// 3: below the MC (y greater): north input straight to the south output and into its latch, which
//    goes to the local output.
// 4: above it: south input to the north output likewise.
[[nodiscard]] PortMap select_ports(Coordinates router, Coordinates mc);

}  // namespace ww::sim::net
