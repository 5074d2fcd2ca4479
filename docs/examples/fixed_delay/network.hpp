// A network of one's own, with a key of its own: docs/extend.md.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::examples {

extern const ww::sim::net::NetworkKind kFixedDelay;

}  // namespace ww::examples
