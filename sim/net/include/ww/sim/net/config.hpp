// What a network is built from: one typed, validated description for every kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/photonic_config.hpp"

namespace ww::sim::net {

enum class Allocator {
  islip,                  // one iteration (McKeown 1999), pointers move on accepted grants only
  separable_input_first,  // round-robin arbiters, inputs first; pointers move on matches only
};
[[nodiscard]] std::string_view to_string(Allocator allocator);
// Error invalid_argument for an unknown name.
[[nodiscard]] Result<Allocator> allocator_from_string(std::string_view text);

// Dapper (Raparti and Pasricha, NOCS 2018): reply packets take overlay circuits, which the memory
// controllers (MCs) own in turn, and similar data waiting at an MC leaves as one packet. Defaults
// are the paper's (sections IV and V); keys that it does not have say so.
struct OverlayConfig {
  int check_depth{6};         // entries of an output buffer that one packet may take along, itself
                              // included; 1: none
  double alpha{0.6};          // of the reply arrival rate, equation (1)
  double gamma{0.4};          // of the mean buffer occupancy, equation (1)
  int period{1000};           // K: cycles in which every MC has its window once
  int epoch{10000};           // cycles between computations of the windows; a multiple of K
  int setup{2};               // cycles to connect a circuit at the start of a window
  int approximator_delay{1};  // cycles a packet spends in the buffer at least (ours)
  int min_window{16};         // cycles that an MC gets at least: without it an MC that was idle for
                              // an epoch would be shut out of the next (ours); 0: as printed
  bool literal_approximator{};  // algorithm 1 as printed: no absolute value, entries skipped
  bool literal_selection{};     // algorithm 3 as printed: its counter is never reset
};

// Approx-NoC (Boyapati et al., ISCA 2017): data packets are compressed at their source and
// decompressed where they arrive; words of approximable blocks may change to compress better.
struct CompressionConfig {
  std::string scheme{"di"};   // "di": dictionaries (DI-VAXX); "fp": frequent patterns (FP-VAXX)
  int compress_delay{3};      // cycles
  int decompress_delay{2};    // cycles
  int dictionary_entries{8};  // for each pair of source and destination
  bool exact_range{};         // the error range by a product, not by the paper's right shift
  bool bytes_as_words{};      // pixels as 32-bit integers (the paper knows integers and floats)
};

// Immutable once a network is built. Delays in cycles, named and defined as in BookSim 2 (Jiang et
// al., ISPASS 2013). A hop of the virtual-channel router without routing delay takes vc_alloc +
// sw_alloc + st (+ link): 4 cycles by default; routing_delay 0 means lookahead routing.
struct NetworkConfig {
  std::string network{"mesh"};  // a name of network_names()
  int width{4};                 // routers along x
  int height{4};                // routers along y
  int concentration{1};         // nodes per router
  int classes{1};               // message classes (2: request, reply), each with its own VCs
  bool planes{false};           // or each with a network of its own; flit_bits is one plane's width
  int flit_bits{128};

  // virtual-channel routers
  int vcs{4};        // per port, divided evenly among the classes
  int vc_buffer{8};  // flits per virtual channel
  int routing_delay{0};
  int vc_alloc_delay{1};
  int sw_alloc_delay{1};
  int st_delay{1};
  int credit_delay{1};
  int link_delay{1};
  bool speculative{false};           // head flits bid for the switch while they bid for a VC
  bool wait_for_tail_credit{false};  // a VC is reused only once its last flit has left downstream
  Allocator vc_allocator{Allocator::islip};
  Allocator sw_allocator{Allocator::islip};

  std::string adaptive{"dyxy"};  // mesh-adaptive chooses by: "dyxy" (local) or "rca" (regional)

  // bufferless and ideal networks
  int router_delay{2};                // cycles in a router, before the link
  std::string deflection{"chipper"};  // or "bless"
  int reassembly_buffers{16};         // bufferless: packets of several flits a node takes at a time

  // Networks that know where memory is (dapper: one node in each row; empty: its own choice).
  std::vector<std::uint32_t> memory_nodes;
  // Replaces the threshold of every approximable packet, as a fraction: 0 changes nothing.
  std::optional<double> error_threshold;
  OverlayConfig overlay;          // of dapper
  CompressionConfig compression;  // of approx-noc
  PhotonicConfig photonic;        // prior-opt, gpuopt, ps-gpuopt

  bool count_events{true};    // per-port use, for energy and heat maps
  bool count_toggles{false};  // real bit transitions per link; needs packets with payload
};

// Error invalid_argument or out_of_range: the message names the key and the reason.
[[nodiscard]] Status validate(const NetworkConfig& config);

// Cycles from sending a flit until its credit can be used again, when the flit leaves the next
// buffer at once.
[[nodiscard]] int credit_loop(const NetworkConfig& config);

// Nodes (terminals) of the network.
[[nodiscard]] inline int node_count(const NetworkConfig& config) {
  return config.width * config.height * config.concentration;
}

// The configurations of the papers.
// Dapper (Raparti and Pasricha, NOCS 2018), section V: 4-stage routers, 5 VCs of 4 flits a port.
[[nodiscard]] NetworkConfig dapper_baseline();
// The same routers with 64-bit planes for requests (class 0) and replies (class 1, overlay).
[[nodiscard]] NetworkConfig dapper_network();
// The baseline with Approx-NoC's compressors in its network interfaces.
[[nodiscard]] NetworkConfig approx_noc_network();
// One memory node a row and, while the mesh is wide enough, no two in a column: 1, 3, 0, 2 of four
// columns. What dapper takes when memory_nodes is empty.
[[nodiscard]] std::vector<std::uint32_t> memory_node_in_each_row(int width, int height);
// GPUOPT (Bashir et al.), the electrical mesh EMESH: 256-bit flits, 2-cycle routers, 1-cycle links.
[[nodiscard]] NetworkConfig gpuopt_emesh();

}  // namespace ww::sim::net
