// DXT1 texture compression. Rounding may choose between splits that are equally good, and takes an
// end point that lies half-way between two quantised values to either: the check decodes each block
// and compares its error with those of the best blocks that the CPU's search finds.
#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "picture.hpp"
#include "session.hpp"

namespace ww::workloads {
namespace {

using Colour = std::array<double, 3>;

Colour from565(std::uint32_t v) {
  return {(v >> 11) / 31.0, ((v >> 5) & 63) / 63.0, (v & 31) / 31.0};
}

// Squared errors of the best block, and of the worst that passes for it: where end points lie
// within float's rounding of a border between quantised values, one or the other.
struct Errors {
  double lowest{1e30}, highest{0};
  bool may_agree{false}, must_agree{true};  // the two quantised end points; then no block
};

// One channel of a block with this split, its end points solved for and quantised.
Errors channel_errors(double a, double b, double top, const std::array<double, 16>& weight,
                      const std::array<double, 16>& value) {
  constexpr double doubt = 1e-4;
  Errors errors;
  const auto quantised = [&](double v, double shift) {
    return std::floor(std::clamp(v, 0.0, 1.0) * top + 0.5 + shift) / top;
  };
  const std::array ends_a{quantised(a, -doubt), quantised(a, doubt)};
  const std::array ends_b{quantised(b, -doubt), quantised(b, doubt)};
  for (const double qa : std::span(ends_a).first(ends_a[0] == ends_a[1] ? 1 : 2)) {
    for (const double qb : std::span(ends_b).first(ends_b[0] == ends_b[1] ? 1 : 2)) {
      double sum = 0;
      for (std::size_t r = 0; r < 16; ++r) {
        const double d = qa * weight[r] + qb * (1 - weight[r]) - value[r];
        sum += d * d;
      }
      errors.lowest = std::min(errors.lowest, sum);
      errors.highest = std::max(errors.highest, sum);
      errors.may_agree |= qa == qb;
      errors.must_agree &= qa == qb;
    }
  }
  return errors;
}

double distance(const Colour& a, const Colour& b, double w, const Colour& to) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double d = a[i] * w + b[i] * (1 - w) - to[i];
    sum += d * d;
  }
  return sum;
}

double decoded_error(std::uint32_t ends, std::uint32_t bits, const std::array<Colour, 16>& block) {
  const Colour a = from565(ends & 0xFFFF);
  const Colour b = from565(ends >> 16);
  constexpr std::array weight{1.0, 0.0, 2.0 / 3, 1.0 / 3};
  double error = 0;
  for (std::size_t i = 0; i < 16; ++i)
    error += distance(a, b, weight[bits >> (2 * i) & 3], block[i]);
  return error;
}

Errors best_errors(const std::array<Colour, 16>& block) {
  Colour mean{};
  for (const auto& c : block) {
    for (std::size_t i = 0; i < 3; ++i) mean[i] += c[i] / 16;
  }
  std::array<std::array<double, 3>, 3> covariance{};
  for (const auto& c : block) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) covariance[i][j] += (c[i] - mean[i]) * (c[j] - mean[j]);
    }
  }
  Colour axis{1, 1, 1};
  for (int step = 0; step < 8; ++step) {
    Colour next{};
    double top = 1e-20;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) next[i] += covariance[i][j] * axis[j];
      top = std::max(top, std::abs(next[i]));
    }
    for (std::size_t i = 0; i < 3; ++i) axis[i] = next[i] / top;
  }
  std::array<std::size_t, 16> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto along = [&](std::size_t i) {
    return block[i][0] * axis[0] + block[i][1] * axis[1] + block[i][2] * axis[2];
  };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return along(a) < along(b); });
  Errors best{1e30, 1e30};
  for (std::size_t i = 0; i <= 16; ++i) {
    for (std::size_t j = i; j <= 16; ++j) {
      for (std::size_t k = j; k <= 16; ++k) {
        double aa = 0, bb = 0, ab = 0;
        Colour ax{}, bx{};
        std::array<double, 16> weight{};
        for (std::size_t r = 0; r < 16; ++r) {
          const double w = r < i ? 1.0 : r < j ? 2.0 / 3 : r < k ? 1.0 / 3 : 0.0;
          weight[r] = w;
          aa += w * w;
          bb += (1 - w) * (1 - w);
          ab += w * (1 - w);
          for (std::size_t c = 0; c < 3; ++c) {
            ax[c] += w * block[order[r]][c];
            bx[c] += (1 - w) * block[order[r]][c];
          }
        }
        const double det = aa * bb - ab * ab;
        if (std::abs(det) < 1e-6) continue;
        Errors split{0, 0, true, true};
        for (std::size_t c = 0; c < 3; ++c) {
          constexpr std::array top{31.0, 63.0, 31.0};
          std::array<double, 16> value{};
          for (std::size_t r = 0; r < 16; ++r) value[r] = block[order[r]][c];
          const Errors one = channel_errors((ax[c] * bb - bx[c] * ab) / det,
                                            (bx[c] * aa - ax[c] * ab) / det, top[c], weight, value);
          split.lowest += one.lowest;
          split.highest += one.highest;
          split.may_agree &= one.may_agree;
          split.must_agree &= one.must_agree;
        }
        if (!split.must_agree) best.lowest = std::min(best.lowest, split.lowest);
        if (!split.may_agree) best.highest = std::min(best.highest, split.highest);
      }
    }
  }
  return best;
}

}  // namespace

void run_dxtc(Session& s) {
  const auto blocks = s.pick<std::size_t>(256, 4096, 16384);
  std::vector<std::uint32_t> pixels(blocks * 16);
  // Blocks of a picture as wide as high: 64, 256 or 512 pixels.
  const std::size_t across = s.pick<std::size_t>(16, 64, 128);
  const auto image = picture(s.random, 4 * across, 4 * blocks / across);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::size_t x = i % (4 * across);
    const std::size_t y = i / (4 * across);
    const std::size_t at = (y / 4 * across + x / 4) * 16 + y % 4 * 4 + x % 4;
    for (std::size_t c = 0; c < 3; ++c) pixels[at] |= std::uint32_t{image[i][c]} << (8 * c);
  }
  s.build("dxtc.cl");
  const Buffer in = s.upload(pixels);
  const Buffer out = s.zeros<std::uint32_t>(blocks * 2);
  s.approximable(in, microbench::ApproximableType::uint8);
  std::vector<std::uint32_t> splits;
  for (std::uint32_t i = 0; i <= 16; ++i) {
    for (std::uint32_t j = i; j <= 16; ++j) {
      for (std::uint32_t k = j; k <= 16; ++k) splits.push_back(i | j << 8 | k << 16);
    }
  }
  s.launch("dxt1", {blocks * 64}, {64}, in, out, s.upload(splits), static_cast<int>(splits.size()));
  const auto compressed = s.download<std::uint32_t>(out);
  s.result("compressed blocks", compressed);
  std::vector<double> got(blocks);
  std::vector<double> want(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::array<Colour, 16> block{};
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t c = 0; c < 3; ++c)
        block[i][c] = (pixels[b * 16 + i] >> (8 * c) & 255) / 255.0;
    }
    got[b] = decoded_error(compressed[b * 2], compressed[b * 2 + 1], block);
    const Errors best = best_errors(block);
    want[b] = std::clamp(got[b], best.lowest, best.highest);
  }
  // Two colours that project equally go either way, too: some percent in one block of thousands.
  s.check("squared error of block", got, want, 0.1, 1e-5);
  s.check("squared error", std::accumulate(got.begin(), got.end(), 0.0),
          std::accumulate(want.begin(), want.end(), 0.0), 1e-3);
  // A block is one line of pixels, and 8 bytes of a line when written; the table of splits comes
  // from the L1 or not.
  const auto lines = 64.0 * static_cast<double>(blocks);
  s.reads(lines, lines + 4.1 * static_cast<double>(splits.size() * blocks));
  s.writes(lines, lines);
}

}  // namespace ww::workloads
