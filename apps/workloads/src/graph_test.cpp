#include "graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::workloads {
namespace {

std::vector<std::uint32_t> neighbours(const Graph& graph, std::uint32_t v) {
  return {graph.target.begin() + graph.first[v], graph.target.begin() + graph.first[v + 1]};
}

// The SuiteSparse collection states 1,000,000 rows and 4,996,000 entries for ecology1, of which a
// million are the diagonal.
TEST(GridGraph, OfAThousandHasTheSizeOfEcology1) {
  const Graph graph = grid_graph(1000);
  EXPECT_EQ(graph.vertices(), 1'000'000);
  EXPECT_EQ(graph.target.size(), 4'996'000 - 1'000'000);
}

TEST(GridGraph, LinksEachVertexWithThoseBesideItInBothDirections) {
  const Graph graph = grid_graph(4);
  EXPECT_EQ(neighbours(graph, 0), (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(neighbours(graph, 7), (std::vector<std::uint32_t>{3, 6, 11}));
  EXPECT_EQ(neighbours(graph, 10), (std::vector<std::uint32_t>{6, 9, 11, 14}));
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (const std::uint32_t t : neighbours(graph, v)) {
      EXPECT_TRUE(std::ranges::count(neighbours(graph, t), v) == 1) << v << ' ' << t;
    }
  }
}

TEST(Colours, GoToTheLargestFirstAndNeighboursDiffer) {
  // 9 is the largest of all; then 5 and 2 have no larger neighbour left; then 1.
  const Graph path = undirected(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(colours_by_largest(path, {1, 2, 9, 5}), (std::vector<int>{2, 1, 0, 1}));
  // Where values are equal, the later vertex goes first.
  EXPECT_EQ(colours_by_largest(path, {7, 7, 7, 7}), (std::vector<int>{3, 2, 1, 0}));
}

}  // namespace
}  // namespace ww::workloads
