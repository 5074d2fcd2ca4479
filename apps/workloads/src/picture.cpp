#include "picture.hpp"

#include <algorithm>
#include <cmath>

namespace ww::workloads {

std::vector<Pixel> picture(Random& random, std::size_t width, std::size_t height) {
  constexpr float kMin = 2;
  const auto most = static_cast<float>(std::min(width, height)) / 4;
  const auto area = static_cast<float>(width * height);
  std::vector<Pixel> pixels(width * height);
  const auto colour = [&random] {
    Pixel one{};
    for (auto& channel : one) channel = static_cast<std::uint8_t>(16 + random.below(224));
    return one;
  };
  std::fill(pixels.begin(), pixels.end(), colour());
  // Paints from the back to the front, until discs of six times the picture's area lie on it.
  for (float painted = 0; painted < 6 * area;) {
    // The inverse of the distribution 1 - (least / r)^2, cut at the largest radius.
    const float cut = 1 - (kMin / most) * (kMin / most);
    const float radius = kMin / std::sqrt(1 - cut * random.uniform(0, 1));
    const float x = random.uniform(0, static_cast<float>(width));
    const float y = random.uniform(0, static_cast<float>(height));
    const Pixel disc = colour();
    const auto first = [](float at) { return static_cast<std::size_t>(std::max(at, 0.0F)); };
    for (std::size_t row = first(y - radius);
         row < std::min(height, static_cast<std::size_t>(y + radius + 1)); ++row) {
      const float dy = static_cast<float>(row) - y;
      const float half = std::sqrt(std::max(radius * radius - dy * dy, 0.0F));
      const std::size_t end = std::min(width, static_cast<std::size_t>(x + half + 1));
      for (std::size_t column = first(x - half); column < end; ++column) {
        pixels[row * width + column] = disc;
      }
    }
    painted += 3.14159F * radius * radius;
  }
  // The sum of four uniform draws of width w has a variance of w * w / 3.
  constexpr float kWidth = 2 * 1.7320508F;
  for (Pixel& pixel : pixels) {
    for (auto& channel : pixel) {
      float noise = 0;
      for (int draw = 0; draw < 4; ++draw) noise += random.uniform(-kWidth / 2, kWidth / 2);
      channel = static_cast<std::uint8_t>(
          std::clamp(std::lround(static_cast<float>(channel) + noise), 0L, 255L));
    }
  }
  return pixels;
}

std::vector<std::uint8_t> grey_picture(Random& random, std::size_t width, std::size_t height) {
  std::vector<std::uint8_t> grey;
  for (const Pixel& pixel : picture(random, width, height)) grey.push_back(pixel[1]);
  return grey;
}

}  // namespace ww::workloads
