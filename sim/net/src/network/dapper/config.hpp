// Dapper (Raparti and Pasricha, NOCS 2018): reply packets take overlay circuits, which the memory
// controllers (MCs) own in turn, and similar data waiting at an MC leaves as one packet. Defaults
// are the paper's (sections IV and V); keys that it does not have say so.
#pragma once

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

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

void overlay_keys(NetworkConfig& config, BoundKeys& keys);
// Checks rules that concern several keys. Errors name the key.
[[nodiscard]] Status validate_overlay(const NetworkConfig& config);

}  // namespace ww::sim::net
