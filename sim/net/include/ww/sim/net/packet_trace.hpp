// Packets with their times, in files: what a network was given, cycle by cycle, and what each
// packet waited for. A file that was recorded on one network can be replayed on another, either at
// the recorded times (open loop, as trace-driven studies do) or with each packet as long after the
// one that it waited for as it was when recorded.
//
// A file is text. Its first line is `wirewatt-packets 1 NODES CLASSES FLIT_BITS PRODUCER`. PRODUCER
// is the device that recorded it ("virtual:dapper"); older files, which only virtual GPUs wrote,
// have none. Each further line is a packet, in order of time:
//   CYCLE SOURCE DESTINATIONS CLASS KIND FLITS AFTER GAP TYPE THRESHOLD FIRST_BYTE PAYLOAD
// DESTINATIONS are separated by commas. AFTER is the number of an earlier packet (from 0), whose
// arrival at SOURCE the packet followed after GAP cycles, or '-'. TYPE, THRESHOLD and FIRST_BYTE
// are those of Approximable. PAYLOAD is in hexadecimal, or '-'.
//
// Two foreign formats are read, too. A table of text has lines of
// `CYCLE SOURCE DESTINATION FLITS [AFTER GAP]`; '#' begins a comment. Netrace's binary format
// (Hestness, Grot, Keckler, NoCArc 2010; version 1.0) lists for each packet those that wait for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/i_network.hpp"
#include "ww/sim/net/run.hpp"

namespace ww::sim::net {

struct TracedPacket {
  std::uint64_t cycle{};
  NodeId source{};
  std::vector<NodeId> destinations;
  std::uint8_t message_class{};
  PacketKind kind{PacketKind::data};
  std::uint16_t flits{1};
  std::uint16_t bytes{};  // where they are known without a payload: flits follow from them
  std::vector<std::uint64_t> after;  // numbers of the packets that it waited for
  std::uint64_t gap{};               // cycles from the arrival of the last of them
  Approximable approximable;
  std::vector<std::byte> payload;
};

// Rule by which a packet that waited for others enters the network again, if the loop is closed.
enum class WaitRule : std::uint8_t {
  gap,    // as long after their arrival at its source as when it was recorded
  cycle,  // when all have arrived, wherever they went, but not before its own cycle (Netrace)
};

struct PacketTrace {
  std::uint32_t nodes{};  // 0: a table, which does not say
  WaitRule rule{WaitRule::gap};
  int classes{1};
  int flit_bits{};       // of the network that it was recorded on; 0: unknown
  std::string producer;  // the device that recorded it; empty in other formats, which do not say

  // Whether a virtual GPU recorded it.
  [[nodiscard]] bool is_virtual() const;
  std::vector<TracedPacket> packets;
};

// Errors: io_error; parse_error, out_of_range and unsupported, with the number of the line or, in
// Netrace's format, of the packet.
[[nodiscard]] Result<PacketTrace> read_packets(const std::filesystem::path& file);
[[nodiscard]] Result<PacketTrace> read_packets(std::istream& in, const std::string& origin);

// The network itself, which writes every packet that it is given to a file. `producer`: the device
// that gives them, without spaces. Error: io_error, here and from inject().
[[nodiscard]] Result<std::unique_ptr<Network>> record_packets(std::unique_ptr<Network> network,
                                                              const std::filesystem::path& file,
                                                              const std::string& producer);

// Runs a trace to its end: all cycles count. A packet with payload has as many flits as it needs on
// this network. `open_loop`: every packet is created at its own cycle; otherwise those that waited
// for others follow the trace's rule. Errors: invalid_argument (nodes or classes that
// the network does not have), bad_data (a network that is stuck), cancelled (Ctrl-C).
[[nodiscard]] Result<RunResult> replay_packets(Network& network, const PacketTrace& trace,
                                               bool open_loop);

}  // namespace ww::sim::net
