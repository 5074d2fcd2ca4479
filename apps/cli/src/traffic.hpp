// The counted traffic as commands name it.
#pragma once

#include "ww/session/traffic.hpp"

namespace ww::cli {
using session::CountedTraffic;
using session::read_traffic;
}  // namespace ww::cli
