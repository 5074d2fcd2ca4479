#include "exec/image_sample.hpp"

#include <algorithm>
#include <cmath>

#include "exec/image_fields.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::int64_t kUnit = 256;

std::int64_t modulo(std::int64_t value, std::int64_t by) {
  const std::int64_t rest = value % by;
  return rest < 0 ? rest + by : rest;
}

}  // namespace

AxisTaps axis_taps(float position, std::uint32_t size, std::uint32_t clamp, bool unnormalized,
                   bool linear) {
  constexpr double kFarthest = 1e12;
  const double texels = static_cast<double>(position) * (unnormalized ? 1.0 : size) * kUnit;
  const double bounded = std::isnan(texels) ? 0.0 : std::clamp(texels, -kFarthest, kFarthest);
  const auto fixed = static_cast<std::int64_t>(std::nearbyint(bounded)) - (linear ? kUnit / 2 : 0);
  AxisTaps taps;
  const std::int64_t first = (fixed - modulo(fixed, kUnit)) / kUnit;
  taps.fraction = static_cast<std::uint32_t>(linear ? modulo(fixed, kUnit) : 0);
  for (std::size_t i = 0; i < 2; ++i) {
    std::int64_t texel = first + static_cast<std::int64_t>(i);
    switch (clamp) {
      case kWrap: texel = modulo(texel, size); break;
      case kMirror: {
        texel = modulo(texel, std::int64_t{2} * size);
        texel = std::min(texel, std::int64_t{2} * size - 1 - texel);
        break;
      }
      case kClampLastTexel: texel = std::clamp<std::int64_t>(texel, 0, size - 1); break;
      default: break;
    }
    taps.inside[i] = texel >= 0 && texel < size;
    taps.texel[i] = taps.inside[i] ? static_cast<std::uint32_t>(texel) : 0U;
  }
  return taps;
}

std::uint32_t nearest_layer(float coordinate, std::uint32_t layers) {
  // The comparison's order makes 0 of what is no number.
  if (!(coordinate > 0.0F)) return 0;
  return static_cast<std::uint32_t>(
      std::nearbyint(std::min(coordinate, static_cast<float>(layers - 1))));
}

}  // namespace ww::sim::gpu::exec
