// The networks of light.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kPriorOpt;  // MWSR links between SMs and LLC slices
extern const NetworkKind kGpuopt;    // GPUOPT
extern const NetworkKind kPsGpuopt;  // GPUOPT with predicted laser power

}  // namespace ww::sim::net
