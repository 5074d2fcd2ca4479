// Graphs: work that is noted once, by calls or by a capturing stream, and then launched often.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hip/session.hpp"
#include "tl/expected.hpp"

namespace ww::sim::icd::hip {

// What one node does when its graph runs: HIP's code. Needs the lock.
using Work = std::function<int()>;

enum class NodeKind { kernel, copy, fill, host, child, empty, record };

struct GraphNode {
  NodeKind kind{};
  Work work;
  std::vector<GraphNode*> after;
  std::vector<GraphNode> child;  // its nodes in an order that they allow
  int device{};                  // that runs it, whichever stream the graph is launched in
};

// hipGraph_t.
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};

// Adds a node that runs after the others named, on the device that the thread has chosen.
GraphNode& add_node(Graph& graph, NodeKind kind, Work work, std::vector<GraphNode*> after);

// Makes the graph known by its address, as hipGraph_t.
void* publish_graph(std::unique_ptr<Graph> graph);

// What a capturing stream has noted. The capture fails as a whole when the program does what a
// capture cannot contain.
struct Capture {
  std::unique_ptr<Graph> graph{std::make_unique<Graph>()};
  bool failed{};
};

}  // namespace ww::sim::icd::hip
