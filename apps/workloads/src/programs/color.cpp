// Pannotia's graph colouring (Che et al., 2013) of a power-law graph.
#include "graph.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_color(Session& s) {
  const auto scale = s.pick(12U, 15U, 19U);
  const Graph graph = rmat_graph(s.random, scale, 4);
  const std::size_t n = graph.vertices();
  std::vector<std::uint32_t> value(n);
  for (auto& v : value) v = s.random.bits();
  const auto want = colours_by_largest(graph, value);
  s.build("color.cl");
  const Buffer first = s.upload(graph.first);
  const Buffer target = s.upload(graph.target);
  const Buffer values = s.upload(value);
  const Buffer colour = s.upload(std::vector<int>(n, -1));
  const Buffer chosen = s.zeros<int>(n);
  const Buffer left = s.zeros<std::uint32_t>(1);
  double rounds = 0;
  for (int round = 0; round < 4096; ++round, ++rounds) {
    s.launch("find_maxima", {n}, {256}, first, target, values, colour, chosen, left);
    if (s.download<std::uint32_t>(left)[0] == 0) break;
    s.update(left, std::vector<std::uint32_t>(1));
    s.launch("paint", {n}, {256}, chosen, colour, round);
  }
  const auto got = s.download<int>(colour);
  s.check("colour", got, want);
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t e = graph.first[v]; e < graph.first[v + 1]; ++e) {
      const std::uint32_t t = graph.target[e];
      if (t != v) s.require(got[t] != got[v], "neighbours share a colour");
    }
  }
  const auto vertices = static_cast<double>(n);
  const auto edges = static_cast<double>(graph.target.size());
  s.reads(4 * vertices * (2 * rounds + 1), 64 * (rounds + 1) * (4 * edges + 6 * vertices));
  s.writes(4 * vertices, 64 * (rounds + 1) * 3 * vertices);
}

}  // namespace ww::workloads
