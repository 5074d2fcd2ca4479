// The interval of a figure, by its name in this namespace.
#pragma once

#include "ww/core/figure.hpp"

namespace ww::model {

using ww::Interval;
using ww::product;
using ww::together;

}  // namespace ww::model
