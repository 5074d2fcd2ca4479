// What a network did, counted: the input of energy accounting.
#pragma once

#include <cstdint>

#include "ww/sim/power/photonic_events.hpp"

namespace ww::sim::power {

// Reply circuits over bypass routers, and the memory controllers that feed them (Dapper).
struct OverlayEvents {
  std::uint64_t routers{};         // bypass routers
  std::uint64_t links{};           // directed links between them
  std::uint64_t packets{};         // sent, each to one destination or more
  std::uint64_t coalesced{};       // packets that went along with another
  std::uint64_t flits{};           // sent
  std::uint64_t crossbar_flits{};  // a flit through one bypass router's switch
  std::uint64_t latch_flits{};     // a flit kept in one bypass router's latch
  std::uint64_t link_flits{};
  std::uint64_t link_toggles{};    // as NetworkEvents::link_toggles
  std::uint64_t setups{};          // routers connected anew at the start of a window
  std::uint64_t leader_words{};    // data approximator: words whose error range was computed
  std::uint64_t words_compared{};  // data approximator: words compared with a leader's
  std::uint64_t windows{};         // computed by the global overlay controller
};

// Compressors and decompressors of network interfaces (Approx-NoC).
struct CompressionEvents {
  std::uint64_t dictionary_bits{};  // stored, encoders and decoders together
  std::uint64_t blocks{};           // that passed a compressor
  std::uint64_t words{};            // of them
  std::uint64_t compressed_words{};
  std::uint64_t changed_words{};  // approximated: they arrive with another value
  std::uint64_t pattern_words{};  // matched against the frequent patterns
  std::uint64_t searches{};       // of an encoder's dictionary
  std::uint64_t search_bits{};    // bits of the entries searched
  std::uint64_t lookups{};        // words read from a decoder's dictionary
  std::uint64_t updates{};        // words written into a dictionary
  std::uint64_t flits_before{};   // of the blocks
  std::uint64_t flits_after{};
};

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
  // Flits of packets put into memory controllers' output buffers; where memory nodes are known.
  std::uint64_t reply_buffer_flits{};
  OverlayEvents overlay;
  CompressionEvents compression;
  PhotonicEvents photonic;
};

// Sum over networks that run side by side in the same cycles: routers and links add up.
NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other);

// Difference of two snapshots of one network (later - earlier).
[[nodiscard]] NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier);

}  // namespace ww::sim::power
