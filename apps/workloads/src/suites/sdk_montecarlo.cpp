// The AMD APP SDK's MonteCarloAsian: one launch for each volatility.
#include <array>
#include <numbers>

#include "session.hpp"

namespace ww::workloads {
namespace {

constexpr float kStrike = 55;
constexpr float kStart = 50;
constexpr float kInterest = 0.06F;
constexpr float kYears = 1;
constexpr int kPoints = 12;

using Words = std::array<std::uint32_t, 4>;  // of four neighbours: a word of 128 bits

// A shift by 24 bits, to the left or to the right.
Words shifted(const Words& words, bool left) {
  Words out{};
  for (std::size_t k = 0; k < 4; ++k) {
    out[k] = left ? words[k] << 24 : words[k] >> 24;
    if (left && k > 0) out[k] |= words[k - 1] >> 8;
    if (!left && k < 3) out[k] |= words[k + 1] << 8;
  }
  return out;
}

// Two draws for each of four neighbours, and their next seeds.
void draw(Words& seed, Words& first, Words& second) {
  const Words masks{0xfdff37ff, 0xef7f3f7d, 0xff777b7d, 0x7ff7fb2f};
  std::array<Words, 8> state{};  // five from the seed, then three new ones
  state[0] = seed;
  for (std::uint32_t k = 1; k < 5; ++k) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::uint32_t s = state[k - 1][lane];
      state[k][lane] = 1812433253U * (s ^ (s >> 30)) + k;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const Words up = shifted(state[k], true);
    const Words down = shifted(state[k + 3], false);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      state[k + 5][lane] = state[k][lane] ^ up[lane] ^ ((state[k + 2][lane] >> 13) & masks[lane]) ^
                           down[lane] ^ (state[k + 4][lane] << 15);
    }
  }
  first = state[5];
  second = state[6];
  seed = state[7];
}

struct Path {
  double price{kStart};
  double total{kStart};
  double slope{};
  double logarithm{};
};

// Adds what four neighbours gain to `prices` and `slopes`.
void price_on_host(Words seed, double sigma, float* prices, float* slopes) {
  const double step = double{kYears} / (kPoints - 1);
  std::array<std::array<Path, 2>, 4> paths;
  for (int point = 1; point < kPoints; ++point) {
    Words first{};
    Words second{};
    draw(seed, first, second);
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const double radius = std::sqrt(-2 * std::log(first[lane] * 0x1p-32));
      const double angle = 2 * std::numbers::pi * second[lane] * 0x1p-32;
      for (std::size_t k = 0; k < 2; ++k) {
        const double normal = radius * (k == 0 ? std::cos(angle) : std::sin(angle));
        const double growth =
            (kInterest - 0.5 * sigma * sigma) * step + sigma * std::sqrt(step) * normal;
        Path& path = paths[lane][k];
        path.logarithm += growth;
        path.price *= std::exp(growth);
        path.total += path.price;
        path.slope += path.price *
                      (path.logarithm - (kInterest + 0.5 * sigma * sigma) * step * point) / sigma;
      }
    }
  }
  for (std::size_t lane = 0; lane < 4; ++lane) {
    for (const Path& path : paths[lane]) {
      const double gain = path.total / kPoints - kStrike;
      if (!(gain > 0)) continue;
      prices[lane] += static_cast<float>(gain);
      slopes[lane] += static_cast<float>(path.slope / kPoints);
    }
  }
}

}  // namespace

void run_sdk_montecarlo(Session& s) {
  const auto width = s.extent(64);  // 1024 x 512 and ten steps are the sample's
  const std::size_t height = width / 2;
  const int volatilities = s.pick(2, 4, 2, 10);
  const std::size_t group_size = 64;
  const std::size_t sums = width * height / group_size * 4;
  s.build("sdk_montecarlo.cl");
  const Buffer seed_buffer = s.zeros<std::uint32_t>(width * height);
  const Buffer price_buffer = s.zeros<float>(sums);
  const Buffer slope_buffer = s.zeros<float>(sums);
  std::size_t other_slopes = 0;
  for (int k = 0; k < volatilities; ++k) {
    const float sigma = 0.01F + 0.08F * static_cast<float>(k + 1);
    std::vector<std::uint32_t> seeds(width * height);
    for (auto& seed : seeds) seed = s.random.bits();
    std::vector<float> prices(sums), slopes(sums);
    for (std::size_t i = 0; i < seeds.size(); i += 4) {
      const std::size_t at = i / group_size * 4;
      price_on_host({seeds[i], seeds[i + 1], seeds[i + 2], seeds[i + 3]}, sigma, &prices[at],
                    &slopes[at]);
    }
    const float step = kYears / (kPoints - 1);
    s.update(seed_buffer, seeds);
    s.launch("price_paths", {width, height}, {group_size, 1}, seed_buffer, price_buffer,
             slope_buffer, kStrike, kStart, (kInterest - 0.5F * sigma * sigma) * step,
             sigma * std::sqrt(step), kInterest + 0.5F * sigma * sigma, sigma, step, kPoints);
    s.check("price", s.download<float>(price_buffer), prices, 1e-3, 1e-2);
    // A path that ends at the strike may or may not count, with its whole slope.
    const auto got = s.download<float>(slope_buffer);
    for (std::size_t i = 0; i < sums; ++i) {
      if (!(std::abs(got[i] - slopes[i]) <= 1e-3 * std::abs(slopes[i]) + 0.05)) ++other_slopes;
    }
  }
  s.require(other_slopes <= sums / 1000, "one sum of slopes in a thousand, at most, may differ");
  // Seeds once, and at most once a group the masks; a line of each result a group, or a quarter of
  // one.
  const double seeds = volatilities * static_cast<double>(seed_buffer.bytes);
  const double groups = volatilities * static_cast<double>(sums) / 4;
  s.reads(seeds, seeds + 64 * groups);
  s.writes(2 * 16 * groups, 2 * 64 * groups);
}

}  // namespace ww::workloads
