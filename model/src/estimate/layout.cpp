#include "ww/model/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace ww::model {
namespace {

using Tile = BlockPlan::Tile;

constexpr std::array kLayouts = {Layout{"L2-MC optimised (IISWC'16 Fig. 11, left)", 17.0, 7.6},
                                 Layout{"L1-L2 optimised (IISWC'16 Fig. 11, right)", 3.5, 12.0}};

int distance(int a, int b, int side) {
  return std::abs(a % side - b % side) + std::abs(a / side - b / side);
}

bool at_edge(int tile, int side) {
  const int x = tile % side;
  const int y = tile / side;
  return x == 0 || y == 0 || x == side - 1 || y == side - 1;
}

double cost(const BlockPlan& plan, const LayoutTraffic& traffic) {
  return traffic.l1_l2_bits * plan.l1_l2_mm() + traffic.l2_memory_bits * plan.l2_memory_mm();
}

// Exchanges what two tiles hold.
void swap_tiles(BlockPlan& plan, int a, int b) {
  std::swap(plan.tiles[static_cast<std::size_t>(a)], plan.tiles[static_cast<std::size_t>(b)]);
  for (auto* owners : {&plan.l2, &plan.controller}) {
    for (int& tile : *owners) {
      if (tile == a) {
        tile = b;
      } else if (tile == b) {
        tile = a;
      }
    }
  }
}

}  // namespace

std::span<const Layout> paper_layouts() {
  return kLayouts;
}

double layout_cost(const Layout& layout, const LayoutTraffic& traffic) {
  return layout.l1_l2 * traffic.l1_l2_bits + layout.l2_memory * traffic.l2_memory_bits;
}

double BlockPlan::l1_l2_mm() const {
  double sum = 0;
  std::size_t pairs = 0;
  for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
    if (tiles[tile] != Tile::compute) continue;
    for (const int channel : l2) sum += distance(static_cast<int>(tile), channel, side);
    pairs += l2.size();
  }
  return pairs > 0 ? sum / static_cast<double>(pairs) * tile_mm : 0;
}

double BlockPlan::l2_memory_mm() const {
  double sum = 0;
  for (std::size_t i = 0; i < l2.size(); ++i) sum += distance(l2[i], controller[i], side);
  return l2.empty() ? 0 : sum / static_cast<double>(l2.size()) * tile_mm;
}

std::string BlockPlan::picture() const {
  std::string text;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    text += ".CLM"[static_cast<std::size_t>(tiles[i])];
    if ((i + 1) % static_cast<std::size_t>(side) == 0) text += '\n';
  }
  return text;
}

Result<BlockPlan> central_plan(int compute_units, int channels, double die_side_mm) {
  BlockPlan plan;
  while (compute_units + 2 * channels > plan.side * plan.side && plan.side < 40) ++plan.side;
  const int side = plan.side;
  if (compute_units < 1 || channels < 1 || !(die_side_mm > 0) ||
      compute_units + 2 * channels > side * side || channels > 4 * (side - 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} compute units and {} channels on a die of {} mm a side do not fit",
                            compute_units, channels, die_side_mm));
  }
  plan.tile_mm = die_side_mm / side;
  const auto count = static_cast<std::size_t>(side * side);
  plan.tiles.assign(count, Tile::other);
  std::vector<int> edge;
  std::vector<int> inside;
  for (int tile = 0; tile < side * side; ++tile) {
    (at_edge(tile, side) ? edge : inside).push_back(tile);
  }
  const auto from_middle = [&](int tile) {
    return std::abs(2 * (tile % side) - side + 1) + std::abs(2 * (tile / side) - side + 1);
  };
  std::ranges::stable_sort(inside, {}, from_middle);
  inside.insert(inside.end(), edge.begin(), edge.end());
  std::size_t next = 0;
  for (int i = 0; i < channels; ++i, ++next) {
    plan.l2.push_back(inside[next]);
    plan.tiles[static_cast<std::size_t>(inside[next])] = Tile::l2;
  }
  for (int i = 0; i < channels; ++i) {
    // Spread along the edge, each channel's at the free place nearest to its L2.
    int best = -1;
    for (const int tile : edge) {
      if (plan.tiles[static_cast<std::size_t>(tile)] != Tile::other) continue;
      const int here = distance(tile, plan.l2[static_cast<std::size_t>(i)], side);
      if (best < 0 || here < distance(best, plan.l2[static_cast<std::size_t>(i)], side)) {
        best = tile;
      }
    }
    plan.controller.push_back(best);
    plan.tiles[static_cast<std::size_t>(best)] = Tile::memory;
  }
  for (int placed = 0; placed < compute_units; ++next) {
    auto& tile = plan.tiles[static_cast<std::size_t>(inside[next])];
    if (tile != Tile::other) continue;
    tile = Tile::compute;
    ++placed;
  }
  return plan;
}

Result<BlockPlan> optimise_plan(const BlockPlan& from, const LayoutTraffic& traffic,
                                std::uint64_t seed) {
  if (!(traffic.l1_l2_bits >= 0) || !(traffic.l2_memory_bits >= 0) ||
      !(traffic.l1_l2_bits + traffic.l2_memory_bits > 0)) {
    return fail(ErrorCode::out_of_range,
                "a layout can be compared only for a given traffic; give counters");
  }
  constexpr int steps = 60'000;
  std::mt19937_64 random(seed);
  const auto tiles = static_cast<std::uint64_t>(from.tiles.size());
  BlockPlan plan = from;
  BlockPlan best = from;
  double now = cost(plan, traffic);
  double lowest = now;
  const double hot = 0.02 * now;  // an unlucky step of 2% is taken at first, none at the end
  for (int step = 0; step < steps; ++step) {
    const int a = static_cast<int>(random() % tiles);
    const int b = static_cast<int>(random() % tiles);
    const Tile of_a = plan.tiles[static_cast<std::size_t>(a)];
    const Tile of_b = plan.tiles[static_cast<std::size_t>(b)];
    if (of_a == of_b && of_a != Tile::l2 && of_a != Tile::memory) continue;
    if ((of_a == Tile::memory && !at_edge(b, plan.side)) ||
        (of_b == Tile::memory && !at_edge(a, plan.side))) {
      continue;
    }
    swap_tiles(plan, a, b);
    const double then = cost(plan, traffic);
    const double temperature = hot * (1.0 - static_cast<double>(step) / steps) + 1e-30;
    const double chance = static_cast<double>(random() >> 11) * 0x1.0p-53;
    if (then <= now || chance < std::exp((now - then) / temperature)) {
      now = then;
      if (now < lowest) {
        lowest = now;
        best = plan;
      }
    } else {
      swap_tiles(plan, a, b);
    }
  }
  return best;
}

}  // namespace ww::model
