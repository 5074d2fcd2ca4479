// Counts of a network's events: the input of energy accounting.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {

// Reply circuits over bypass routers, and the memory controllers that feed them (Dapper).
struct OverlayEvents {
  std::uint64_t routers{};         // bypass routers
  std::uint64_t links{};           // directed links between them
  std::uint64_t packets{};         // packets sent, each to one destination or more
  std::uint64_t coalesced{};       // packets that travelled with another one
  std::uint64_t flits{};           // flits sent
  std::uint64_t crossbar_flits{};  // flits through a bypass router's switch, summed over routers
  std::uint64_t latch_flits{};     // flits kept in a bypass router's latch, summed over routers
  std::uint64_t link_flits{};
  std::uint64_t link_toggles{};    // as NetworkEvents::link_toggles
  std::uint64_t setups{};          // routers connected anew at the start of a window
  std::uint64_t leader_words{};    // data approximator: words whose error range was computed
  std::uint64_t words_compared{};  // data approximator: words compared with a leader's
  std::uint64_t windows{};         // windows computed by the global overlay controller
};

// Compressors and decompressors of network interfaces (Approx-NoC).
struct CompressionEvents {
  std::uint64_t dictionary_bits{};  // bits stored in encoders and decoders together
  std::uint64_t blocks{};           // blocks that passed a compressor
  std::uint64_t words{};            // words of these blocks
  std::uint64_t compressed_words{};
  std::uint64_t changed_words{};  // words that arrive with another value
  std::uint64_t pattern_words{};  // words compared with the frequent patterns
  std::uint64_t searches{};       // searches of an encoder's dictionary
  std::uint64_t search_bits{};    // bits of the entries searched
  std::uint64_t lookups{};        // words read from a decoder's dictionary
  std::uint64_t updates{};        // words written into a dictionary
  std::uint64_t flits_before{};   // flits of the blocks before compression
  std::uint64_t flits_after{};
};

// Wires whose lengths are other multiples of EnergyConfig::link_length than 1, in thousandths of
// it.
struct PitchedWireEvents {
  std::uint64_t wire_milli_pitches{};    // of all wires together, one for each bit of a link
  std::uint64_t flit_milli_pitches{};    // flits times the length of the link that they crossed
  std::uint64_t toggle_milli_pitches{};  // real bit transitions likewise
};

// Links of which the topology says more than EnergyConfig::link_length does.
struct SizedLinkEvents {
  std::uint64_t length_um{};  // of all links together; one narrower than a flit counts as less
  // Wires by which the links in NetworkEvents::links fall short of a flit's bits, summed.
  std::uint64_t missing_wires{};
  std::uint64_t flit_um{};         // flits times the length of the wire that they crossed
  std::uint64_t toggle_um{};       // real bit transitions likewise
  std::uint64_t crossing_flits{};  // over links between dies and packages
  std::uint64_t crossing_fj{};     // their energy, at their pJ per bit
  // Links between the sides of a partitioned L2.
  std::uint64_t l2_crossings{};
  std::uint64_t l2_crossing_flits{};
  std::uint64_t l2_crossing_toggles{};
};

// Links to the next die of a package, of one direction. They also count among SizedLinkEvents'
// crossings, at the pJ per bit that the topology says, unless EnergyConfig::die_hops says what they
// cost.
struct DieHopEvents {
  std::uint64_t links{};  // directed links
  std::uint64_t flits{};
  std::uint64_t toggles{};  // real bit transitions; meaningful with NetworkEvents::toggles_counted
  std::uint64_t fj{};       // their part of SizedLinkEvents::crossing_fj
};

// Wires between pairs of nodes, each pair's way of a length of its own.
struct PairWireEvents {
  std::uint64_t flits{};
  std::uint64_t flit_um{};    // flits times the length of their way
  std::uint64_t toggle_um{};  // real bit transitions likewise
};

// All counts are since the network was built. A flit that passes a router writes a buffer, reads
// it, wins the switch and crosses it once. Bufferless routers write and read no buffer.
struct NetworkEvents {
  std::uint64_t cycles{};
  std::uint64_t routers{};
  std::uint64_t links{};  // directed router-to-router links as long as EnergyConfig::link_length
  // Part of cycles * routers in which a router of a slower clock has no edge.
  std::uint64_t router_cycles_without_edge{};
  std::uint64_t injected_flits{};
  std::uint64_t ejected_flits{};
  std::uint64_t resent_flits{};  // bufferless: dropped for want of a reassembly buffer, sent again
  std::uint64_t buffer_writes{};
  std::uint64_t buffer_reads{};
  std::uint64_t crossbar_flits{};  // flit-hops: every router counts but bypass routers
  std::uint64_t switch_grants{};
  std::uint64_t vc_grants{};
  std::uint64_t link_flits{};    // over `links`
  std::uint64_t link_toggles{};  // real bit transitions; meaningful when toggles_counted
  bool toggles_counted{};
  // Flits of packets put into memory controllers' output buffers.
  std::uint64_t reply_buffer_flits{};
  SizedLinkEvents sized_links;
  // Links longer or shorter than `links`, and wires to nodes where they are the network's.
  PitchedWireEvents pitched_wires;
  // The links of sized_links.l2_crossings as wires, which they are unless EnergyConfig::crossing
  // says what crossing costs.
  PitchedWireEvents l2_crossing_wires;
  // Hops of a package whose dies lie in rows and columns.
  DieHopEvents row_hops, column_hops;
  // Wires of a crossbar of known lengths, to the readers of replies and for all other packets.
  PairWireEvents reply_wires, request_wires;
  OverlayEvents overlay;
  CompressionEvents compression;
  PhotonicEvents photonic;
};

// Routers that flits passed, summed over flits: those of the network and bypass routers.
[[nodiscard]] std::uint64_t flit_hops(const NetworkEvents& events);

// Adds the events that only some networks have: `reply_plane` of dapper, `compression` of
// approx-noc, `light` of photonic ones.
void add_json(nlohmann::json& json, const NetworkEvents& events);

// Sum over networks that run side by side in the same cycles: routers and links add up.
NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other);

// Sum over stretches of time of one network: its cycles add up, and its parts stay the same.
void append(NetworkEvents& sum, const NetworkEvents& later);

// Difference of two snapshots of one network (later - earlier).
[[nodiscard]] NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier);

}  // namespace ww::sim::power
