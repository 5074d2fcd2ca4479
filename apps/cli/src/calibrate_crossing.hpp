// Calibration of parts without a public floorplan: energy per bit and crossing of the L2's sides.
#pragma once

#include "ww/microbench/crossing.hpp"

namespace ww::cli {

struct CrossingArguments {
  microbench::CrossingRequest request;
  bool quick{};
  bool json{};
};
// The exit code.
int calibrate_crossing(CrossingArguments arguments);

}  // namespace ww::cli
