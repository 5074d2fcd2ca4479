// A place on a die.
#pragma once

namespace ww::sim::gpu {

struct Point {
  double x_mm{};
  double y_mm{};
};

}  // namespace ww::sim::gpu
