#include "refreshes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ww::energy {
namespace {

constexpr std::size_t kFewestEdges = 5;
// Refreshes that polls find at once need no search.
constexpr double kShortestPeriodNs = 20e6;

// A refresh lies in (low, high], from the first reading on [ns].
struct Edge {
  double low{}, high{};
  [[nodiscard]] double width() const { return high - low; }
};

// Bounds of the moment of one refresh and of the period.
struct Box {
  double edge_low{}, edge_high{};
  double period_low{}, period_high{};

  // Adds a statement; false if it contradicts the others. One that may be of several refreshes says
  // nothing.
  bool add(const Edge& edge) {
    const bool later = edge.low >= edge_low;
    const double far_ns = later ? edge.high - edge_low : edge_high - edge.low;
    const double near_ns = later ? edge.low - edge_high : edge_low - edge.high;
    const double least = std::ceil(near_ns / period_high);
    const double most = std::floor(far_ns / period_low);
    if (most < std::max(least, 0.0)) return false;
    if (most != std::max(least, 0.0)) return true;
    const double steps = later ? most : -most;
    if (steps != 0) {
      const double one = (edge.low - edge_high) / steps;
      const double other = (edge.high - edge_low) / steps;
      period_low = std::max(period_low, std::min(one, other));
      period_high = std::min(period_high, std::max(one, other));
    }
    const auto [less, more] = std::minmax({steps * period_low, steps * period_high});
    edge_low = std::max(edge_low, edge.low - more);
    edge_high = std::min(edge_high, edge.high - less);
    return period_low <= period_high && edge_low <= edge_high;
  }
};

std::vector<Edge> edges_of(std::span<const EnergyReading> readings, const Moves& moves) {
  std::vector<Edge> edges;
  const std::int64_t origin_ns = readings.front().time_ns;
  for (const std::size_t at : moves.at) {
    if (at == 0) continue;
    edges.push_back({static_cast<double>(readings[at - 1].time_ns - origin_ns),
                     static_cast<double>(readings[at].time_ns - origin_ns)});
  }
  return edges;
}

// The shortest distance of two refreshes that follow one another, of those that are known well.
std::optional<Box> first_box(const std::vector<Edge>& edges) {
  std::optional<Box> box;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const Edge &before = edges[i - 1], &after = edges[i];
    const Box found{before.low, before.high, after.low - before.high, after.high - before.low};
    const double error = before.width() + after.width();
    // Between polls further apart than half of that, every second refresh could be hidden.
    if (found.period_low < kShortestPeriodNs ||
        found.period_low < 2 * std::max(before.width(), after.width())) {
      continue;
    }
    if (!box || found.period_high < box->period_low) box = found;
    // If two agree, the narrower one replaces the other.
    const double width = box->period_high - box->period_low;
    if (found.period_low <= box->period_high && error < width) box = found;
  }
  return box;
}

}  // namespace

std::optional<double> Refreshes::of_move(std::span<const EnergyReading> readings,
                                         std::size_t at) const {
  if (at == 0) return std::nullopt;
  const auto low = static_cast<double>(readings[at - 1].time_ns);
  const auto high = static_cast<double>(readings[at].time_ns);
  const double periods = std::floor((high - edge_ns) / period_ns);
  const double found = edge_ns + periods * period_ns;
  const bool clear = high - found > error_ns && found + period_ns - high > error_ns;
  // The poll's own moment is no better known than the edge: a refresh that must be before it is.
  const bool alone = found > low && found - period_ns < low - error_ns;
  return clear || alone ? std::optional(found) : std::nullopt;
}

std::optional<Refreshes> find_refreshes(std::span<const EnergyReading> readings,
                                        const Moves& moves) {
  if (moves.exact || moves.at.size() < kFewestEdges) return std::nullopt;
  std::vector<Edge> edges = edges_of(readings, moves);
  auto box = first_box(edges);
  if (!box) return std::nullopt;
  const double middle = (box->edge_low + box->edge_high) / 2;
  std::ranges::sort(edges, {}, [middle](const Edge& edge) { return std::abs(edge.low - middle); });
  constexpr int kSweeps = 3;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const Edge& edge : edges) {
      if (!box->add(edge)) return std::nullopt;
    }
  }
  Refreshes found;
  const auto origin = static_cast<double>(readings.front().time_ns);
  found.period_ns = (box->period_low + box->period_high) / 2;
  found.edge_ns = origin + (box->edge_low + box->edge_high) / 2;
  const double span_ns = static_cast<double>(readings.back().time_ns) - origin;
  const double periods =
      std::max(found.edge_ns - origin, span_ns - (found.edge_ns - origin)) / found.period_ns;
  found.error_ns =
      (box->edge_high - box->edge_low) / 2 + periods * (box->period_high - box->period_low) / 2;
  constexpr double kKnownWell = 0.25;  // of a period
  if (found.error_ns > kKnownWell * found.period_ns) return std::nullopt;
  return found;
}

}  // namespace ww::energy
