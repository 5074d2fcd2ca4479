// Replays memory traces (.wwt) on a network. Accesses pass a coalescer and an L1 per core. Misses
// cross the network to a memory node, which replies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/i_network.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/trace/reader.hpp"

namespace ww::sim::net {

// Defaults: the L1 of the virtual w9100 (16 KB, 64 B lines, 4 ways, GCN's policy).
struct ReplayConfig {
  // Lanes whose addresses are coalesced together: 64 is a GCN wave, 32 a warp, 16 a quarter wave.
  int coalesce_lanes{64};
  int line_bytes{64};
  int l1_sets{64};
  int l1_ways{4};
  int interleave_bytes{256};         // consecutive bytes at one memory node, before the next node
  std::vector<NodeId> core_nodes;    // compute units; empty: every node without memory
  std::vector<NodeId> memory_nodes;  // L2 slice and controller; empty: a quarter, top and bottom
  int max_outstanding{32};           // requests that a core may have under way
  int memory_delay{100};             // cycles from a request's arrival to its reply's creation
  int header_bytes{8};               // of every packet: address, operation
  std::uint64_t seed{1};             // of bytes whose value the trace does not have
  // How approximating networks may change the lines of read replies. It holds for all lines,
  // because a trace does not say which buffer is which. first_byte is always the header's length.
  Approximable approximable;
};

// Errors, by key: out_of_range and invalid_argument (sizes that are not powers of two, lines that
// the interleave cuts, nodes that do not exist, one message class on a network with channels).
[[nodiscard]] Status validate(const ReplayConfig& config, const NetworkConfig& network);

struct ReplayStats {
  std::string producer;  // of the trace
  std::uint64_t launches{};
  std::uint64_t wave_accesses{};
  std::uint64_t lane_accesses{};
  std::uint64_t l1_accesses{};  // lines that the coalescer asked for
  std::uint64_t l1_loads{};     // of these, loads: stores and atomics do not look for data
  std::uint64_t l1_hits{};      // loads that found their line, on its way or there
  std::uint64_t l1_joined{};    // of these, loads whose line was on its way
  std::uint64_t read_requests{}, write_requests{}, atomic_requests{};
  double avg_round_trip{};       // cycles from a request's creation to its reply's arrival
  std::uint64_t known_bytes{};   // of all packets: headers, and data that the trace holds
  std::uint64_t random_bytes{};  // data that it does not hold, sent as random bits
  bool has_values{};             // the trace knows data

  [[nodiscard]] std::uint64_t requests() const {
    return read_requests + write_requests + atomic_requests;
  }
  [[nodiscard]] double l1_hit_rate() const {
    return l1_loads == 0 ? 0 : static_cast<double>(l1_hits) / static_cast<double>(l1_loads);
  }
};

struct ReplayResult {
  RunResult run;  // all cycles count, from the first access to the last reply
  ReplayStats stats;
};

// Runs a trace to its end. Work-groups go to cores in turn; a core handles its accesses in the
// trace's order, one line a cycle, and waits when its requests under way reach the bound; a launch
// begins when everything before it has come back, with empty L1s. L1: write-through, no allocation
// on writes, a store or atomic throws the line out; atomics pass by. A memory node takes one
// request a cycle. A read request and the acknowledgement of a store are a header; a store carries
// the bytes written, an atomic its operands; a reply carries the line or the atomic's result.
//
// The trace is streamed: memory does not grow with its length. Packets carry payload, so a network
// that counts transitions counts real ones: data comes from the trace's values and from what they
// showed earlier of the same lines (4 MB of recent lines); what it does not know is random.
//
// Errors: those of validate, of the reader (a truncated trace), bad_data when the network is stuck,
// cancelled (Ctrl-C).
[[nodiscard]] Result<ReplayResult> replay(Network& network, trace::Reader& reader,
                                          const ReplayConfig& config);

}  // namespace ww::sim::net
