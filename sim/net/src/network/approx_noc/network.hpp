#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kApproxNoc;

}  // namespace ww::sim::net
