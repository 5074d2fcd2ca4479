// Generated graphs in compressed sparse rows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "random.hpp"

namespace ww::workloads {

struct Graph {
  std::vector<std::uint32_t> first;   // [vertices + 1] into `target`
  std::vector<std::uint32_t> target;  // neighbours
  [[nodiscard]] std::size_t vertices() const { return first.size() - 1; }
};

// Each vertex with `degree` uniformly drawn neighbours.
[[nodiscard]] Graph uniform_graph(Random& random, std::size_t vertices, std::size_t degree);
// Undirected R-MAT (Chakrabarti, Zhan, Faloutsos, 2004) with graph500's probabilities: a power law
// of degrees. Self loops dropped, duplicates kept.
[[nodiscard]] Graph rmat_graph(Random& random, unsigned scale, std::size_t edge_factor);
// Undirected from a list of edges.
[[nodiscard]] Graph undirected(std::size_t vertices,
                               const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges);

// A square grid of side^2 vertices, each with its two to four neighbours in ascending order.
[[nodiscard]] Graph grid_graph(std::size_t side);

// The round in which each vertex is coloured, where a round colours those whose value is the
// largest among their uncoloured neighbours; of equal values, the later vertex counts as larger.
[[nodiscard]] std::vector<int> colours_by_largest(const Graph& graph,
                                                  const std::vector<std::uint32_t>& value);

inline constexpr std::uint32_t kUnreached = 0xFFFFFFFF;
// Hops from `source`; `unreached` where there is no path.
[[nodiscard]] std::vector<std::uint32_t> levels_from(const Graph& graph, std::uint32_t source);

}  // namespace ww::workloads
