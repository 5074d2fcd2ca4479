// smallpt (Beason): global illumination. A path that grazes an edge may take another turn in
// another rounding, so a part of the pixels may differ; the mean brightness may not.
#include <algorithm>
#include <array>

#include "session.hpp"

namespace ww::workloads {
namespace {

using FloatVector = std::array<float, 3>;

float dot(const FloatVector& a, const FloatVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
FloatVector along(const FloatVector& from, const FloatVector& direction, float t) {
  return {from[0] + direction[0] * t, from[1] + direction[1] * t, from[2] + direction[2] * t};
}
FloatVector normalize(const FloatVector& v) {
  return along({0, 0, 0}, v, 1 / std::sqrt(dot(v, v)));
}
FloatVector cross(const FloatVector& a, const FloatVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

float draw(std::uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return static_cast<float>(state >> 8) * 0x1p-24F;
}

// Centre, radius, colour, emission, mirror.
constexpr std::array<std::array<float, 12>, 9> scene{{
    {-1001, 0, 0, 1000, 0.75F, 0.25F, 0.25F, 0, 0},
    {1001, 0, 0, 1000, 0.25F, 0.25F, 0.75F, 0, 0},
    {0, -1001, 0, 1000, 0.75F, 0.75F, 0.75F, 0, 0},
    {0, 1001, 0, 1000, 0.75F, 0.75F, 0.75F, 0, 0},
    {0, 0, -1001.5F, 1000, 0.75F, 0.75F, 0.75F, 0, 0},
    {0, 0, 1004, 1000, 0.5F, 0.5F, 0.5F, 0, 0},
    {-0.45F, -0.6F, -0.7F, 0.4F, 0.95F, 0.95F, 0.95F, 0, 1},
    {0.5F, -0.65F, 0, 0.35F, 0.9F, 0.9F, 0.6F, 0, 0},
    {0, 1.9F, -0.3F, 1, 0.5F, 0.5F, 0.5F, 8, 0},
}};

FloatVector shade(std::uint32_t x, std::uint32_t y, std::uint32_t n, int samples) {
  std::uint32_t state = (y * n + x) * 2654435761U + 12345U;
  FloatVector total{};
  const auto size = static_cast<float>(n);
  for (int sample = 0; sample < samples; ++sample) {
    const float u = (static_cast<float>(x) + draw(state)) / size - 0.5F;
    const float v = (static_cast<float>(y) + draw(state)) / size - 0.5F;
    FloatVector origin{0, 0, 3.5F};
    FloatVector ray = normalize({u, v, -1});
    FloatVector weight{1, 1, 1};
    for (int depth = 0; depth < 12; ++depth) {
      float nearest = 1e20F;
      const std::array<float, 12>* hit = nullptr;
      for (const auto& s : scene) {
        const FloatVector op = along({s[0], s[1], s[2]}, origin, -1);
        const float b = dot(op, ray);
        const float det = b * b - dot(op, op) + s[3] * s[3];
        if (det < 0) continue;
        const float root = std::sqrt(det);
        const float t = b - root > 1e-2F ? b - root : b + root;
        if (t > 1e-2F && t < nearest) {
          nearest = t;
          hit = &s;
        }
      }
      if (hit == nullptr) break;
      const auto& s = *hit;
      origin = along(origin, ray, nearest);
      FloatVector normal = normalize(along(origin, {s[0], s[1], s[2]}, -1));
      if (dot(normal, ray) > 0) normal = {-normal[0], -normal[1], -normal[2]};
      for (std::size_t k = 0; k < 3; ++k) {
        total[k] += weight[k] * s[7];
        weight[k] *= s[4 + k];
      }
      if (depth > 3) {
        const float keep = std::max({weight[0], weight[1], weight[2]});
        if (draw(state) >= keep) break;
        for (float& w : weight) w /= keep;
      }
      if (s[8] > 0.5F) {
        ray = along(ray, normal, -2 * dot(normal, ray));
        continue;
      }
      const float angle = 6.2831853F * draw(state);
      const float r2 = draw(state);
      const float r = std::sqrt(r2);
      const FloatVector axis =
          std::abs(normal[0]) > 0.1F ? FloatVector{0, 1, 0} : FloatVector{1, 0, 0};
      const FloatVector tangent = normalize(cross(axis, normal));
      const FloatVector other = cross(normal, tangent);
      FloatVector next = along({0, 0, 0}, tangent, std::cos(angle) * r);
      next = along(next, other, std::sin(angle) * r);
      ray = normalize(along(next, normal, std::sqrt(1 - r2)));
    }
  }
  for (float& t : total) t /= static_cast<float>(samples);
  return total;
}

}  // namespace

void run_smallpt(Session& s) {
  const auto n = static_cast<std::uint32_t>(s.extent(64));
  const int samples = s.pick(4, 16, 16, 64);
  std::vector<float> spheres;
  for (const auto& sphere : scene) spheres.insert(spheres.end(), sphere.begin(), sphere.end());
  s.build("smallpt.cl");
  const Buffer in = s.upload(spheres);
  const Buffer out = s.zeros<float>(3 * n * n);
  s.launch("trace", {n, n}, {64, 1}, in, out, static_cast<int>(n), static_cast<int>(n), samples);
  const auto image = s.download<float>(out);
  std::size_t differ = 0;
  double got = 0;
  double want = 0;
  for (std::uint32_t y = 0; y < n; ++y) {
    for (std::uint32_t x = 0; x < n; ++x) {
      const FloatVector reference = shade(x, y, n, samples);
      bool same = true;
      for (std::size_t k = 0; k < 3; ++k) {
        const float value = image[(y * n + x) * 3 + k];
        got += value;
        want += reference[k];
        same = same && std::abs(value - reference[k]) <= 1e-3F * (1 + reference[k]);
      }
      differ += same ? 0 : 1;
    }
  }
  s.check("brightness", got, want, 0.02);
  s.require(want > 0, "the reference image is black");
  s.require(differ <= std::size_t{n} * n / 50, "over a fiftieth of the pixels differ");
  // Spheres are scalar loads but for the one that was hit: nine values in two lines or so. A pixel
  // is 12 bytes in three stores, each over twelve lines a wave.
  const double pixels = static_cast<double>(n) * n;
  s.reads(64, pixels / 64 * samples * 12 * 9 * 64);
  s.writes(12 * pixels, 3 * 12 * pixels);
}

}  // namespace ww::workloads
