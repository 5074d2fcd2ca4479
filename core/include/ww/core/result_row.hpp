// The earlier name of a figure, for code that is on its way here.
#pragma once

#include "ww/core/figure.hpp"

namespace ww {

using ResultRow = Figure;

}  // namespace ww
