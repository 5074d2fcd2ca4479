#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kIdeal;

}  // namespace ww::sim::net
