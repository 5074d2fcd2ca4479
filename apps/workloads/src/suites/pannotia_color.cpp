// Pannotia's graph colouring of its grid graph: ecology1 of the SuiteSparse collection is 1000 x
// 1000 vertices, each with its four neighbours.
#include <utility>

#include "graph.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_pannotia_color(Session& s) {
  const Graph graph = grid_graph(s.extent());
  const std::size_t n = graph.vertices();
  // The values are a random order of the vertices: two of equal value would wait for each other.
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t v = 0; v < n; ++v) order[v] = v;
  for (std::uint32_t v = 1; v < n; ++v) std::swap(order[v], order[s.random.below(v + 1)]);
  const auto want = colours_by_largest(graph, order);

  std::vector<float> value(order.begin(), order.end());
  s.build("pannotia_color.cl");
  const Buffer first = s.upload(std::vector<int>(graph.first.begin(), graph.first.end()));
  const Buffer target = s.upload(std::vector<int>(graph.target.begin(), graph.target.end()));
  const Buffer values = s.upload(value);
  const Buffer colour = s.upload(std::vector<int>(n, -1));
  const Buffer largest = s.zeros<float>(n);
  const Buffer again = s.zeros<int>(1);
  const std::size_t items = (n + 255) / 256 * 256;
  const auto vertices = static_cast<int>(n);
  double rounds = 0;
  for (int round = 0; round < 256; ++round) {
    s.update(again, std::vector<int>(1));
    s.launch("largest_neighbour", {items}, {256}, first, target, values, colour, again, largest,
             vertices);
    s.launch("paint", {items}, {256}, values, colour, largest, round, vertices);
    ++rounds;
    if (s.download<int>(again)[0] == 0) break;
  }
  s.check("colour", s.download<int>(colour), want);
  // At least the graph once, and all colours twice a round. At most a line an access.
  const auto count = static_cast<double>(n);
  const auto edges = static_cast<double>(graph.target.size());
  s.reads(4 * (edges + 2 * count * rounds), 64 * rounds * (4 * edges + 6 * count));
  s.writes(8 * count, 64 * rounds * (edges + 2 * count));
}

}  // namespace ww::workloads
