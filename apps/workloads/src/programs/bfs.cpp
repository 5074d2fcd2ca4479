// Breadth-first search over a uniformly random graph (Harish, Narayanan, HiPC 2007).
#include "graph.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_bfs(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 14, 1 << 17, 1 << 20);
  const Graph graph = uniform_graph(s.random, n, 6);
  const auto want = levels_from(graph, 0);

  s.build("bfs.cl");
  std::vector<std::uint32_t> level(n, kUnreached);
  std::vector<std::uint32_t> start(n);
  level[0] = 0;
  start[0] = 1;
  const Buffer first = s.upload(graph.first);
  const Buffer target = s.upload(graph.target);
  const Buffer frontier = s.upload(start);
  const Buffer next = s.zeros<std::uint32_t>(n);
  const Buffer found = s.upload(level);
  const Buffer more = s.zeros<std::uint32_t>(1);
  double depths = 0;
  for (std::uint32_t depth = 0; depth < 64; ++depth, ++depths) {
    s.launch("expand", {n}, {256}, first, target, frontier, next, found, depth);
    s.launch("advance", {n}, {256}, frontier, next, more);
    if (s.download<std::uint32_t>(more)[0] == 0) break;
    s.update(more, std::vector<std::uint32_t>(1));
  }
  s.check("level", s.download<std::uint32_t>(found), want);
  // Two masks a level; the graph once; for every edge at most a line of level and one of target,
  // and two bounds for each vertex and edge.
  const auto vertices = static_cast<double>(n);
  const double edges = 6 * vertices;
  const double masks = (depths + 1) * 2 * 4 * vertices;
  s.reads(masks + 4 * edges, masks + 64 * (3 * edges + 2 * vertices));
  s.writes((depths + 1) * 2 * 4 * vertices, (depths + 1) * (2 * 4 + 4) * vertices + 64 * 2 * edges);
}

}  // namespace ww::workloads
