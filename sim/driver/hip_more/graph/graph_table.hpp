// Graphs and executable graphs by their handles, and what the calls of this room share. Needs the
// lock.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hip/stream/work.hpp"
#include "hip_more/graph/graph.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver::hip {

// A node of an executable graph.
struct Step {
  NodeKind kind{};
  NodeWork what;
  std::vector<Step> child;         // in an order that they allow
  std::vector<std::size_t> after;  // steps, in their order
  int device{};
  bool enabled{true};
};

// hipGraphExec_t: work in an order that the graph allows, which is the order it runs in.
struct ExecutableGraph {
  std::vector<Step> steps;
  std::map<std::uint64_t, std::size_t> step_of;  // by the nodes' numbers
  std::uint64_t graph{};                         // number
  unsigned long long flags{};
  UserObjects user_objects;
};

// Null for what is not alive.
[[nodiscard]] GraphNode* find_node(const void* handle);
[[nodiscard]] ExecutableGraph* find_executable(const void* handle);
// The step that was made of a node, which is alive. Null: none.
[[nodiscard]] Step* find_step(const void* executable, const void* node);

// The graph's nodes as steps, each after those it depends on, else in the order in which they were
// added. Error kInvalidValue: they depend on one another in a circle.
[[nodiscard]] tl::expected<std::vector<Step>, int> steps_of(const Graph& graph);
[[nodiscard]] bool same_kinds(const std::vector<Step>& one, const std::vector<Step>& other);

// A copy of a graph and of its children's. Error kNotSupported: it allocates or frees memory, which
// one graph alone can do, as with AMD's runtime.
[[nodiscard]] tl::expected<std::unique_ptr<Graph>, int> clone_graph(const Graph& graph);
[[nodiscard]] bool has_memory_nodes(const Graph& graph);

// Copies handles into the program's array as far as it reaches; without one, counts them.
int list_nodes(const std::vector<GraphNode*>& nodes, void** list, std::size_t* count);

// A call that adds a node: its dependencies are checked before `make` gives its work.
template <class Make>
int add_node_to(void** node, const void* handle, const void* const* dependencies, std::size_t count,
                NodeKind kind, Make&& make) {
  return guarded_work([&]() -> int {
    Graph* graph = find_graph(handle);
    if (node == nullptr || graph == nullptr || (dependencies == nullptr && count != 0)) {
      return kInvalidValue;
    }
    std::vector<GraphNode*> after;
    for (const void* dependency : std::span(dependencies, count)) {
      after.push_back(find_node(*graph, dependency));
      if (after.back() == nullptr) return kInvalidValue;
    }
    tl::expected<NodeWork, int> work = make();
    if (!work) return work.error();
    *node = &add_node(*graph, kind, std::move(*work), std::move(after));
    return kSuccess;
  });
}

// A call that changes what a node does.
template <class Make>
int change_node(const void* handle, NodeKind kind, Make&& make) {
  return guarded_work([&]() -> int {
    GraphNode* node = find_node(handle);
    if (node == nullptr || node->kind != kind) return kInvalidValue;
    tl::expected<NodeWork, int> work = make();
    if (!work) return work.error();
    node->what = std::move(*work);
    return kSuccess;
  });
}

// Whether a step may do that instead: a copy keeps its direction, and rows stay as they are.
[[nodiscard]] bool may_replace(const NodeWork& now, const NodeWork& later);

// A call that changes what a step of an executable graph does.
template <class Make>
int change_step(const void* executable, const void* node, NodeKind kind, Make&& make) {
  return guarded_work([&]() -> int {
    Step* step = find_step(executable, node);
    if (step == nullptr || step->kind != kind) return kInvalidValue;
    tl::expected<NodeWork, int> work = make();
    if (!work) return work.error();
    if (!may_replace(step->what, *work)) return kInvalidValue;
    step->what = std::move(*work);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
