// Keys of the photonic networks prior-opt, gpuopt and ps-gpuopt. Numbers from GPUOPT (Bashir and
// Sarangi) say their section; the others are ours and say why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ww::sim::net {

// A station is a router of the mesh that it replaces: width x height of them, each with its
// `concentration` nodes. They lie on a serpentine, row by row, back and forth.
struct PhotonicConfig {
  // Stations whose nodes are LLC banks and memory controllers; the others' are SMs. Empty: those of
  // NetworkConfig::memory_nodes, else every other one along the serpentine (8 of 16: section 5.2).
  std::vector<std::uint32_t> llc_stations;
  int station_queue{16};  // messages (table 2)
  // Core cycles from a node to its station and back: clusters are electrical (section 5.2). A node
  // moves one packet a cycle.
  int cluster_delay{1};

  int core_mhz{1400};     // the network's cycle (table 2)
  int optical_mhz{5000};  // section 5.3.1
  bool double_data_rate{true};

  // Links
  int nc_wavelengths{128};  // of an MWSR link of the NC_network (section 5.3.1)
  int c_wavelengths{64};    // of an SWMR link of the C_network
  // Wavelengths of each link of prior-opt, which the paper leaves open: one waveguide, as its SWMR
  // links have. 128 is the other reading, as wide as GPUOPT's MWSR links.
  int prior_wavelengths{64};
  int waveguide_wavelengths{64};  // that a waveguide carries (section 3.1)
  int comb_wavelengths{64};       // that a comb splitter makes (section 5.3.3)
  int reservation_cycles{1};      // optical: SWMR notifies its readers first (section 3.3)

  // Layout: a square die (table 2), a grid of clusters; the token waveguide closes to a ring.
  double die_mm2{600};
  double waveguide_ps_per_mm{11};  // table 3
  int bends_per_pitch{2};          // quarter turns from a station to the next

  // Arbitration (section 5.3.2)
  int power_units{16};  // power waveguides, power tokens, lasers for data
  int max_grab{16};     // power tokens that a station may hold
  // Sent at most before a data token is given back. "The station grabs this token and then sends
  // the message" (section 5.3.2): one.
  int hold_messages{1};
  int grab_cycles{1};        // optical, from a token to the first bit
  int backoff_loops{1};      // the first pause, in turns of the token waveguide; it doubles
  int backoff_doublings{4};  // attempts that fail before a station listens until it has its token
  // The first token that a station takes: power (fig. 11), or the link's data token, so that none
  // keeps power that it cannot use yet.
  std::string token_order{"power"};

  // Laser power (section 6); ps-gpuopt alone
  int overhead_units{2};   // token and prediction waveguides: lit always (section 5.3.4)
  int epoch{1000};         // core cycles
  int prediction_lead{8};  // core cycles before an epoch's end in which predictions are made
  int halt_before{1};      // core cycles without traffic: recommendations (table 1)
  int halt_after{2};       // laser and splitters are tuned (table 1)
  int unit_cap{7};         // v and w fit into 3 bits
  int floor_units{0};      // data units lit however little is predicted
  // Entries of the power table begin so, at most at unit_cap. The paper does not say it: 0 is a
  // table that has learnt nothing yet.
  int table_start{0};
  // P of equation (3), "the optical power used": the units that the LLC stations `held`, over time
  // and rounded up. The other reading is what was `lit` for them.
  std::string table_counts{"held"};
  // W, "the waiting time of a station": of the `station`, while any message waits, counted on while
  // it does. The other reading sums the waits of its `messages`.
  std::string wait_counts{"station"};
  std::string predictor{"hybrid"};  // hybrid (section 6.2), flex, restr, or perfect (a bound)
  double alpha{0.5};                // section 8.2
  double beta{0.25};
  int rt{128};
  int wt{1000};
  // Flex_Pred as printed says yes where nothing happened at all: G3 reads 0 >= beta x 0. false asks
  // for pending events there too; the paper's table 4 (1.17 tokens for HYS) needs that.
  bool flex_literal{false};
};

}  // namespace ww::sim::net
