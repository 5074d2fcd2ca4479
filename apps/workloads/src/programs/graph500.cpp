// Graph500's kernel 2. Any breadth-first tree is right, so the check is graph500's own validation.
#include <algorithm>
#include <bit>

#include "graph.hpp"
#include "session.hpp"

namespace ww::workloads {
namespace {

bool adjacent(const Graph& graph, std::uint32_t a, std::uint32_t b) {
  const auto begin = graph.target.begin() + graph.first[a];
  return std::find(begin, graph.target.begin() + graph.first[a + 1], b) !=
         graph.target.begin() + graph.first[a + 1];
}

}  // namespace

void run_graph500(Session& s) {
  const auto scale = static_cast<unsigned>(std::bit_width(s.extent() - 1));
  const Graph graph = rmat_graph(s.random, scale, 16);
  const auto n = static_cast<std::uint32_t>(graph.vertices());
  std::uint32_t root = 0;
  while (graph.first[root] == graph.first[root + 1]) ++root;
  const auto level = levels_from(graph, root);

  s.build("graph500.cl");
  std::vector<std::uint32_t> parents(n, kUnreached), queue(n);
  parents[root] = root;
  queue[0] = root;
  const Buffer first = s.upload(graph.first);
  const Buffer target = s.upload(graph.target);
  const Buffer parent = s.upload(parents);
  const Buffer size = s.zeros<std::uint32_t>(1);
  Buffer from = s.upload(queue);
  Buffer to = s.zeros<std::uint32_t>(n);
  for (std::uint32_t waiting = 1; waiting > 0;) {
    s.launch("expand_queue", {(waiting + 63) / 64 * 64}, {64}, first, target, from, waiting, parent,
             to, size);
    waiting = s.download<std::uint32_t>(size)[0];
    s.update(size, std::vector<std::uint32_t>(1));
    std::swap(from, to);
  }
  const auto found = s.download<std::uint32_t>(parent);
  // Which of a vertex's possible parents it has depends on who came first; what is reached does
  // not.
  std::vector<std::uint8_t> is_reached(n);
  std::ranges::transform(found, is_reached.begin(),
                         [](std::uint32_t v) -> std::uint8_t { return v == kUnreached ? 0 : 1; });
  s.result("reached", is_reached);
  double reached = 0;
  double edges = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    s.require((found[v] == kUnreached) == (level[v] == kUnreached), "another set is reached");
    if (level[v] == kUnreached) continue;
    ++reached;
    edges += graph.first[v + 1] - graph.first[v];
    if (v == root) continue;
    s.require(found[v] < n && level[found[v]] + 1 == level[v], "a parent is not one level above");
    s.require(found[v] < n && adjacent(graph, v, found[v]), "a tree edge is no edge");
  }
  // Each edge of what is reached reads its target and the target's parent: two lines at most; a
  // vertex costs its queue entry and two bounds, re-read for each edge at worst.
  s.reads(4 * edges, 64 * (4 * edges + 4 * reached));
  s.writes(64, 64 * reached);
  s.atomics(2 * 4 * reached, 64 * 2 * (edges + reached));
}

}  // namespace ww::workloads
