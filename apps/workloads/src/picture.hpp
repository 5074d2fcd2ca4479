// Generated pictures with the statistics of photographs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.hpp"

namespace ww::workloads {

// Dead leaves: discs that hide one another, of random place and colour, their radii distributed as
// 1 / r^3 (Lee, Mumford and Huang, "Occlusion models for natural images", IJCV 2001); radii from 2
// pixels to a quarter of the shorter side, colours from 16 to 239. Each pixel has noise of its own,
// the sum of four uniform draws with a standard deviation of 2 grey levels, as a camera's sensor
// has. Rows from the top; red, green, blue.
using Pixel = std::array<std::uint8_t, 3>;
[[nodiscard]] std::vector<Pixel> picture(Random& random, std::size_t width, std::size_t height);

// The green channel of such a picture.
[[nodiscard]] std::vector<std::uint8_t> grey_picture(Random& random, std::size_t width,
                                                     std::size_t height);

}  // namespace ww::workloads
