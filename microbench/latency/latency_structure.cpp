#include "latency/latency_structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "latency/latency_table.hpp"
#include "ww/core/hash.hpp"
#include "ww/core/statistics.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kMinEnds = 6;  // places and lines: two at either end
constexpr double kOverNoise = 2.0;   // of the product's singular value
constexpr double kOverNext = 3.0;    // of its square, over the next product's
constexpr double kSafeMargin = 3.0;  // standard errors

// The places' offsets in steps of their root mean square, so that the clocks' ratio does not
// matter. The steps begin in the middle of the widest gap between the offsets' fractions, as far
// from all of them as can be.
void take_fingerprint(LatencyStructure& structure, double noise_ticks, std::size_t lines) {
  const std::vector<double>& offsets = structure.place_offset_ticks;
  double square = 0;
  for (const double offset : offsets) {
    square += offset * offset / static_cast<double>(offsets.size());
  }
  const double step = std::sqrt(square);
  if (!(step > 0) || offsets.size() < 2) return;
  std::vector<double> fractions;
  fractions.reserve(offsets.size() + 1);
  for (const double offset : offsets) {
    fractions.push_back(offset / step - std::floor(offset / step));
  }
  std::ranges::sort(fractions);
  fractions.push_back(fractions.front() + 1);
  std::vector<std::pair<double, double>> gaps;  // width, middle
  for (std::size_t i = 0; i + 1 < fractions.size(); ++i) {
    const double width = fractions[i + 1] - fractions[i];
    gaps.emplace_back(width, fractions[i] + width / 2);
  }
  std::ranges::partial_sort(gaps, gaps.begin() + 2, std::ranges::greater());
  std::string text;
  for (const double offset : offsets) {
    structure.place_steps.push_back(static_cast<int>(std::floor(offset / step - gaps[0].second)));
    text += fmt::format("{} ", structure.place_steps.back());
  }
  structure.fingerprint = hash_text(std::as_bytes(std::span(text))).substr(0, 16);
  // It changes where an offset passes a bound, or where another gap becomes the widest.
  const double error = noise_ticks / std::sqrt(static_cast<double>(lines)) / step;
  structure.fingerprint_stable = gaps[0].first / 2 > kSafeMargin * error &&
                                 gaps[0].first - gaps[1].first > kSafeMargin * std::sqrt(2) * error;
}

}  // namespace

LatencyStructure latency_structure(const LatencyMap& map) {
  LatencyStructure structure;
  if (map.ticks.empty() || map.ticks.front().empty()) {
    structure.reason = map.reason.empty() ? "no latencies" : map.reason;
    return structure;
  }
  const std::size_t places = map.ticks.size();
  const std::size_t lines = map.ticks.front().size();
  AdditiveFit fit = additive_fit(map.ticks);
  const double left = sum_of_squares(fit.left);
  double total = left;
  for (const double value : fit.row) total += value * value * static_cast<double>(lines);
  for (const double value : fit.column) total += value * value * static_cast<double>(places);
  LatencyProduct product = greatest_product(fit.left);
  LatencyTable rest = fit.left;
  for (std::size_t p = 0; p < places; ++p) {
    for (std::size_t l = 0; l < lines; ++l) rest[p][l] -= product.row[p] * product.column[l];
  }
  const double after = sum_of_squares(rest);
  const double next = greatest_product(rest).square;
  structure.additive_r2 = total > 0 ? 1 - left / total : 0;
  structure.with_product_r2 = total > 0 ? 1 - after / total : 0;
  structure.product_share = left > 0 ? product.square / left : 0;
  structure.next_share = left > 0 ? next / left : 0;
  structure.residual_ticks = std::sqrt(after / static_cast<double>(places * lines));
  structure.place_offset_ticks = std::move(fit.row);
  structure.line_offset_ticks = std::move(fit.column);
  structure.place_way = std::move(product.row);
  structure.line_way = std::move(product.column);
  take_fingerprint(structure, map.noise_ticks, lines);
  // The greatest singular value of noise alone.
  const double of_noise = map.noise_ticks * (std::sqrt(static_cast<double>(places)) +
                                             std::sqrt(static_cast<double>(lines)));
  if (places < kMinEnds || lines < kMinEnds) {
    structure.reason = fmt::format(
        "{} places and {} lines have no ends to compare; {} of each are "
        "the least",
        places, lines, kMinEnds);
  } else if (std::sqrt(product.square) < kOverNoise * of_noise) {
    structure.reason = fmt::format(
        "what depends on the pair of SM and line ({:.2f} ticks) is within the noise of {:.2f}",
        map.contrast_ticks, map.noise_ticks);
  } else if (product.square < kOverNext * next) {
    structure.reason = fmt::format(
        "no way through the chip stands out: the greatest product of SM and line explains {:.0f}% "
        "of what depends on the pair, the next one {:.0f}%",
        100 * structure.product_share, 100 * structure.next_share);
  } else {
    structure.found = true;
  }
  return structure;
}

namespace {

// 0 for the third with the least figures, 1 for the third with the greatest, else -1.
std::vector<int> outer_thirds(const std::vector<double>& figures) {
  std::vector<std::size_t> order(figures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return figures[i]; });
  std::vector<int> ends(figures.size(), -1);
  const std::size_t third = figures.size() / 3;
  for (std::size_t i = 0; i < third; ++i) {
    ends[order[i]] = 0;
    ends[order[figures.size() - 1 - i]] = 1;
  }
  return ends;
}

}  // namespace

Sides ends_of(const LatencyMap& map, const LatencyStructure& structure,
              std::vector<int>& side_of_line) {
  Sides ends;
  ends.side_of_place = outer_thirds(structure.place_way);
  side_of_line = outer_thirds(structure.line_way);
  // A product of unlike signs is below the mean: near.
  for (int& side : side_of_line) side = side < 0 ? side : 1 - side;
  double sum[2][2] = {};
  double count[2][2] = {};
  for (std::size_t p = 0; p < map.ticks.size(); ++p) {
    for (std::size_t l = 0; l < side_of_line.size(); ++l) {
      const int place = ends.side_of_place[p];
      const int line = side_of_line[l];
      if (place < 0 || line < 0) continue;
      sum[place][line] += map.ticks[p][l];
      count[place][line] += 1;
    }
  }
  ends.near_ticks = (sum[0][0] / count[0][0] + sum[1][1] / count[1][1]) / 2;
  ends.far_ticks = (sum[0][1] / count[0][1] + sum[1][0] / count[1][0]) / 2;
  ends.explained = structure.product_share;
  ends.found = true;
  return ends;
}

double difference_error_ticks(const LatencyStructure& structure, const Sides& ends,
                              const std::vector<int>& side_of_line) {
  const auto places = std::ranges::count(ends.side_of_place, 0);
  const auto lines = std::ranges::count(side_of_line, 0);
  // Half the difference of two sums of two means of as many pairs.
  return kNormal95 * structure.residual_ticks /
         std::sqrt(static_cast<double>(std::max<std::ptrdiff_t>(1, places * lines)));
}

}  // namespace ww::microbench
