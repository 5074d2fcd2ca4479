// Packet traces of tokens in any order, of any packets in Netrace's format, and of any bytes: read
// or refused, and what is read is either replayed to its end or refused.
#include <cstdint>
#include <sstream>
#include <string>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/packet_trace.hpp"

namespace {

// A header of Netrace's for 16 nodes, then a packet and its dependents for each few bytes.
std::string netrace_of(const std::uint8_t* data, std::size_t size) {
  std::string bytes("\x55\x54\x4A\x48\0\0\x80\x3F", 8);  // magic, 1.0F
  bytes += std::string(30, 'n') + '\x10' + std::string(33, '\0');
  std::string id(4, '\0');
  for (std::size_t i = 1; i + 4 < size && i < 200; i += 4) {
    bytes += static_cast<char>(data[i]);
    bytes += std::string(7, '\0');
    id[0] = static_cast<char>(i / 4);
    bytes += id + std::string(4, '\0');
    bytes += static_cast<char>(data[i + 1] % 32);
    bytes += static_cast<char>(data[i + 2] % 17);
    bytes += static_cast<char>(data[i + 2] / 16);
    bytes += '\0';
    bytes += static_cast<char>(data[i + 3] % 3);
    for (unsigned dependent = 0; dependent < data[i + 3] % 3U; ++dependent) {
      id[0] = static_cast<char>(i / 4 + data[i + 3] / 64 + dependent);
      bytes += id;
    }
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace net = ww::sim::net;
  static constexpr const char* kTokens[] = {"0 ",
                                            "1 ",
                                            "3 ",
                                            "15 ",
                                            "16 ",
                                            "2,3 ",
                                            "- ",
                                            "exact ",
                                            "0.1 ",
                                            "read_reply ",
                                            "float32 ",
                                            "0aff ",
                                            "\n",
                                            "999999 ",
                                            "-1 ",
                                            "data ",
                                            "# ",
                                            "0 1 2 0 data 1 - 0 exact 0 0 -\n",
                                            "0 0 5 2\n",
                                            "9 5 0 4 0 6\n",
                                            "18446744073709551615 ",
                                            "wirewatt-packets 1 16 2 128\n"};
  std::string text;
  if (size > 0 && data[0] % 8 == 7) {
    text = netrace_of(data, size);
  } else if (size > 0 && data[0] % 2 == 0) {
    for (std::size_t i = 1; i < size && i < 200; ++i) {
      text += kTokens[data[i] % std::size(kTokens)];
    }
  } else {
    text.assign(reinterpret_cast<const char*>(data), size);
  }
  std::istringstream in(text);
  const auto trace = net::read_packets(in, "fuzz");
  if (!trace) return 0;
  std::uint64_t flits = 0;
  for (const auto& packet : trace->packets) {
    flits += (packet.flits + packet.bytes / 16U) * packet.destinations.size();
  }
  if (flits > 2000) return 0;  // long runs find nothing that short ones do not
  net::NetworkConfig config = net::dapper_baseline();
  config.classes = 2;
  if (auto network = net::make_network(config)) {
    if (net::replay_packets(**network, *trace, size > 0 && data[0] / 8 % 2 == 0)) {
      return (*network)->packets_inside() == 0 ? 0 : -1;
    }
  }
  return 0;
}
