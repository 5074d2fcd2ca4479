#include "machine/image/image_sample.hpp"

#include <algorithm>
#include <cmath>

#include "machine/image/image_fields.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr int kUnitBits = 8;
constexpr std::int64_t kUnit = std::int64_t{1} << kUnitBits;

std::int64_t modulo(std::int64_t value, std::int64_t by) {
  const std::int64_t rest = value % by;
  return rest < 0 ? rest + by : rest;
}

// A texel outside stays there where the border's colour is wanted.
std::int64_t moved_inside(std::int64_t texel, std::int64_t size, std::uint32_t clamp) {
  if (texel >= 0 && texel < size) return texel;
  switch (clamp) {
    case kWrap: return modulo(texel, size);
    case kMirror: {
      const std::int64_t at = modulo(texel, 2 * size);
      return std::min(at, 2 * size - 1 - at);
    }
    case kClampLastTexel: return std::clamp<std::int64_t>(texel, 0, size - 1);
    default: return texel;
  }
}

}  // namespace

AxisTaps axis_taps(float position, std::uint32_t size, std::uint32_t clamp, bool unnormalized,
                   bool linear) {
  constexpr double kFarthest = 1e12;
  const double texels = static_cast<double>(position) * (unnormalized ? 1.0 : size) * kUnit;
  const double bounded = std::isnan(texels) ? 0.0 : std::clamp(texels, -kFarthest, kFarthest);
  const auto fixed = static_cast<std::int64_t>(std::nearbyint(bounded)) - (linear ? kUnit / 2 : 0);
  AxisTaps taps;
  const std::int64_t first = fixed >> kUnitBits;
  taps.fraction = linear ? static_cast<std::uint32_t>(fixed & (kUnit - 1)) : 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t texel = moved_inside(first + static_cast<std::int64_t>(i), size, clamp);
    taps.inside[i] = texel >= 0 && texel < size;
    taps.texel[i] = taps.inside[i] ? static_cast<std::uint32_t>(texel) : 0U;
  }
  return taps;
}

std::uint32_t nearest_layer(float coordinate, std::uint32_t layers) {
  // The comparison's order makes 0 of what is not a number.
  if (!(coordinate > 0.0F)) return 0;
  return static_cast<std::uint32_t>(
      std::nearbyint(std::min(coordinate, static_cast<float>(layers - 1))));
}

}  // namespace ww::sim::gpu::exec
