#include "graph.hpp"

namespace ww::workloads {

Graph uniform_graph(Random& random, std::size_t vertices, std::size_t degree) {
  Graph graph;
  for (std::size_t v = 0; v <= vertices; ++v) {
    graph.first.push_back(static_cast<std::uint32_t>(v * degree));
  }
  for (std::size_t e = 0; e < vertices * degree; ++e) {
    graph.target.push_back(random.below(static_cast<std::uint32_t>(vertices)));
  }
  return graph;
}

Graph undirected(std::size_t vertices,
                 const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  Graph graph;
  graph.first.resize(vertices + 1);
  for (const auto& [a, b] : edges) {
    ++graph.first[a + 1];
    ++graph.first[b + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) graph.first[v + 1] += graph.first[v];
  graph.target.resize(2 * edges.size());
  auto next = graph.first;
  for (const auto& [a, b] : edges) {
    graph.target[next[a]++] = b;
    graph.target[next[b]++] = a;
  }
  return graph;
}

Graph rmat_graph(Random& random, unsigned scale, std::size_t edge_factor) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::size_t e = 0; e < edge_factor << scale; ++e) {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
    for (unsigned bit = 0; bit < scale; ++bit) {
      const float draw = random.uniform(0, 1);  // A 0.57, B 0.19, C 0.19, D 0.05
      row = row << 1 | (draw >= 0.76F ? 1U : 0U);
      column = column << 1 | ((draw >= 0.57F && draw < 0.76F) || draw >= 0.95F ? 1U : 0U);
    }
    if (row != column) edges.emplace_back(row, column);
  }
  return undirected(std::size_t{1} << scale, edges);
}

Graph grid_graph(std::size_t side) {
  Graph graph;
  graph.first.push_back(0);
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const auto v = static_cast<std::uint32_t>(y * side + x);
      const auto row = static_cast<std::uint32_t>(side);
      if (y > 0) graph.target.push_back(v - row);
      if (x > 0) graph.target.push_back(v - 1);
      if (x + 1 < side) graph.target.push_back(v + 1);
      if (y + 1 < side) graph.target.push_back(v + row);
      graph.first.push_back(static_cast<std::uint32_t>(graph.target.size()));
    }
  }
  return graph;
}

std::vector<int> colours_by_largest(const Graph& graph, const std::vector<std::uint32_t>& value) {
  const std::size_t n = graph.vertices();
  std::vector<int> colour(n, -1);
  std::size_t coloured = 0;
  for (int round = 0; coloured < n; ++round) {
    std::vector<std::size_t> chosen;
    for (std::uint32_t v = 0; v < n; ++v) {
      if (colour[v] >= 0) continue;
      bool best = true;
      for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1] && best; ++e) {
        const std::uint32_t t = graph.target[e];
        if (t == v || colour[t] >= 0) continue;
        best = value[t] < value[v] || (value[t] == value[v] && t < v);
      }
      if (best) chosen.push_back(v);
    }
    for (const std::size_t v : chosen) colour[v] = round;
    coloured += chosen.size();
  }
  return colour;
}

std::vector<std::uint32_t> levels_from(const Graph& graph, std::uint32_t source) {
  std::vector<std::uint32_t> level(graph.vertices(), kUnreached);
  level[source] = 0;
  std::vector<std::uint32_t> queue{source};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t v = queue[at];
    for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
      const std::uint32_t t = graph.target[e];
      if (level[t] != kUnreached) continue;
      level[t] = level[v] + 1;
      queue.push_back(t);
    }
  }
  return level;
}

}  // namespace ww::workloads
