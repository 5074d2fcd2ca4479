#include "latency/home_clusters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ww::microbench {
namespace {

constexpr int kWantedHomes = 4;
constexpr double kMinMargin = 0.02;  // of the sum of squares within homes, for the next grouping
constexpr double kApartOverNoise = 3.0;

using Distances = std::vector<std::vector<double>>;  // [channel][channel], squared

Distances profile_distances(const LatencyTable& ticks) {
  const LatencyTable left = additive_fit(ticks).left;
  const std::size_t channels = left.front().size();
  Distances squared(channels, std::vector<double>(channels));
  for (const auto& row : left) {
    for (std::size_t a = 0; a < channels; ++a) {
      for (std::size_t b = 0; b < channels; ++b) squared[a][b] += std::pow(row[a] - row[b], 2);
    }
  }
  for (auto& row : squared) {
    for (double& entry : row) entry /= static_cast<double>(left.size());
  }
  return squared;
}

struct Grouping {
  std::vector<int> home;  // [channel]
  double cost{std::numeric_limits<double>::infinity()};
};

double cost_of(const Distances& squared, const std::vector<int>& home) {
  double cost = 0;
  for (std::size_t a = 0; a < home.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (home[a] == home[b]) cost += squared[a][b];
    }
  }
  return cost;
}

// Change of the cost by exchanging channels a and b, of different homes.
double exchange(const Distances& squared, const std::vector<int>& home, std::size_t a,
                std::size_t b) {
  double change = 0;
  for (std::size_t c = 0; c < home.size(); ++c) {
    if (c == a || c == b) continue;
    const double nearer = squared[b][c] - squared[a][c];
    if (home[c] == home[a]) change += nearer;
    if (home[c] == home[b]) change -= nearer;
  }
  return change;
}

// Homes grow around channels that are far from each other, the first one given; exchanges improve
// them until none does.
Grouping group_from(const Distances& squared, std::size_t first, std::size_t homes) {
  const std::size_t channels = squared.size();
  std::vector<std::size_t> seeds{first};
  while (seeds.size() < homes) {
    std::size_t farthest = 0;
    double most = -1;
    for (std::size_t c = 0; c < channels; ++c) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const std::size_t seed : seeds) nearest = std::min(nearest, squared[c][seed]);
      if (nearest > most) {
        most = nearest;
        farthest = c;
      }
    }
    seeds.push_back(farthest);
  }
  struct Claim {
    double distance;
    std::size_t channel, home;
  };
  std::vector<Claim> claims;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t h = 0; h < homes; ++h) claims.push_back({squared[c][seeds[h]], c, h});
  }
  std::ranges::sort(claims, {}, &Claim::distance);
  Grouping grouping;
  grouping.home.assign(channels, -1);
  std::vector<std::size_t> room(homes, channels / homes);
  for (const Claim& claim : claims) {
    if (grouping.home[claim.channel] >= 0 || room[claim.home] == 0) continue;
    grouping.home[claim.channel] = static_cast<int>(claim.home);
    --room[claim.home];
  }
  for (bool better = true; better;) {
    better = false;
    for (std::size_t a = 0; a < channels; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (grouping.home[a] == grouping.home[b]) continue;
        if (exchange(squared, grouping.home, a, b) < -1e-9) {
          std::swap(grouping.home[a], grouping.home[b]);
          better = true;
        }
      }
    }
  }
  grouping.cost = cost_of(squared, grouping.home);
  return grouping;
}

Grouping best_grouping(const Distances& squared, std::size_t homes) {
  Grouping best;
  for (std::size_t first = 0; first < squared.size(); ++first) {
    Grouping next = group_from(squared, first, homes);
    if (next.cost < best.cost) best = std::move(next);
  }
  return best;
}

// Sum of squared differences from the homes' means.
double left_within(const Distances& squared, std::size_t homes) {
  const std::size_t members = squared.size() / homes;
  return best_grouping(squared, homes).cost / static_cast<double>(members);
}

// Returns the first wanted one of the numbers that divide the channels below which no smaller one
// leaves less within homes. More homes of places that lie apart always leave less, unless they cut
// such places up: four homes of three places have lines of two of them together.
std::size_t number_of_homes(const Distances& squared) {
  const std::size_t channels = squared.size();
  const auto cuts_places = [&](std::size_t count) {
    const double left = left_within(squared, count);
    for (std::size_t fewer = 2; fewer < count; ++fewer) {
      if (channels % fewer == 0 && left_within(squared, fewer) < left) return true;
    }
    return false;
  };
  for (const std::size_t count : {std::size_t{kWantedHomes}, std::size_t{3}, std::size_t{2},
                                  std::size_t{5}, std::size_t{7}}) {
    if (channels % count == 0 && !cuts_places(count)) return count;
  }
  return channels;
}

}  // namespace

HomeClusters cluster_channels(const LatencyTable& ticks, double noise_ticks) {
  HomeClusters clusters;
  if (ticks.size() < 2 || ticks.front().size() < 2) {
    clusters.reason = "two places and two channels are the least";
    return clusters;
  }
  const std::size_t channels = ticks.front().size();
  const Distances squared = profile_distances(ticks);
  const std::size_t homes = number_of_homes(squared);
  const Grouping best = best_grouping(squared, homes);
  double within = 0;
  double between = std::numeric_limits<double>::infinity();
  double next = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < channels; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (best.home[a] == best.home[b]) {
        within = std::max(within, squared[a][b]);
        continue;
      }
      between = std::min(between, squared[a][b]);
      next = std::min(next, exchange(squared, best.home, a, b));
    }
  }
  // Two profiles differ by their noise alone by so much.
  const double of_noise = 2 * noise_ticks * noise_ticks;
  clusters.separation =
      within > 0 ? std::sqrt(between / within) : std::numeric_limits<double>::max();
  clusters.margin = next / std::max(best.cost, 1e-12);
  clusters.members.resize(homes);
  std::vector<int> name(homes, -1);  // in the order of their first channels
  int named = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    int& mine = name[static_cast<std::size_t>(best.home[c])];
    if (mine < 0) mine = named++;
    clusters.members[static_cast<std::size_t>(mine)].push_back(static_cast<int>(c));
  }
  if (!(between > kApartOverNoise * kApartOverNoise * of_noise) || !(between > 0)) {
    clusters.reason = fmt::format(
        "channels of different homes differ by {:.2f} ticks, within three times the noise of "
        "{:.2f}",
        std::sqrt(between), std::sqrt(of_noise));
  } else if (!(next > kMinMargin * best.cost)) {
    clusters.reason = fmt::format(
        "channels do not fall into {} homes: another grouping leaves only {:.1f}% more within them",
        homes, 100 * clusters.margin);
  } else {
    clusters.found = true;
  }
  return clusters;
}

}  // namespace ww::microbench
