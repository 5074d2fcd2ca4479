// The shape of graphs: their nodes and edges, clones, and graphs inside of graphs.
#include <algorithm>
#include <unordered_map>

#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipGraphNodeType, which HIP 6 numbers anew.
int type_of(NodeKind kind) {
  const bool old = hip_major() < 6;
  const auto either = [old](int five, int six) { return old ? five : six; };
  switch (kind) {
    case NodeKind::kernel: return either(1, 0);
    case NodeKind::copy_from_symbol:  // as with AMD's runtime
    case NodeKind::copy_to_symbol:
    case NodeKind::copy: return either(2, 1);
    case NodeKind::fill: return either(3, 2);
    case NodeKind::host: return either(4, 3);
    case NodeKind::child: return either(5, 4);
    case NodeKind::empty: return either(6, 5);
    case NodeKind::wait: return either(7, 6);
    case NodeKind::record: return either(8, 7);
    case NodeKind::allocate: return either(12, 10);  // HIP 5.2 has no name for these two
    case NodeKind::release: return either(13, 11);
  }
  return -1;
}

// A call about two lists of nodes, between which there are edges.
template <class Each>
int with_edges(const void* handle, const void* const* from, const void* const* to,
               std::size_t count, Each&& each) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) {
      return kInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      GraphNode* first = find_node(*graph, from[i]);
      GraphNode* second = find_node(*graph, to[i]);
      if (first == nullptr || second == nullptr || first == second) return kInvalidValue;
      if (const int bad = each(*first, *second); bad != kSuccess) return bad;
    }
    return kSuccess;
  });
}

std::vector<GraphNode*> dependents_of(const GraphNode& node) {
  std::vector<GraphNode*> found;
  for (const auto& other : node.graph->nodes) {
    if (std::ranges::find(other->after, &node) != other->after.end()) found.push_back(other.get());
  }
  return found;
}

int destroy_node(const void* handle) {
  GraphNode* node = find_node(handle);
  if (node == nullptr || !node->graph->published) return kInvalidValue;
  if (node->kind == NodeKind::allocate || node->kind == NodeKind::release) return kNotSupported;
  Graph& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->after, node);
  std::erase_if(graph.nodes, [node](const auto& each) { return each.get() == node; });
  return kSuccess;
}

int find_in_clone(void** found, const void* original, const void* clone) {
  const GraphNode* node = find_node(original);
  const Graph* graph = find_graph(clone);
  if (found == nullptr || node == nullptr || graph == nullptr) return kInvalidValue;
  for (const auto& each : graph->nodes) {
    if (each->original != node->number) continue;
    *found = each.get();
    return kSuccess;
  }
  return kInvalidValue;
}

bool can_be_disabled(const Step& step) {
  return step.kind == NodeKind::kernel || step.kind == NodeKind::copy ||
         step.kind == NodeKind::fill;
}

// Copies a child's graph, also that of the graph that gets it, as it is now.
tl::expected<std::unique_ptr<Graph>, int> child_of(const void* handle) {
  const Graph* found = find_graph(handle);
  if (found == nullptr) return tl::unexpected<int>(kInvalidValue);
  if (const auto steps = steps_of(*found); !steps) return tl::unexpected<int>(steps.error());
  return clone_graph(*found);
}

}  // namespace

bool has_memory_nodes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const auto& node) {
    return node->kind == NodeKind::allocate || node->kind == NodeKind::release;
  });
}

tl::expected<std::unique_ptr<Graph>, int> clone_graph(const Graph& graph) {
  if (has_memory_nodes(graph)) return tl::unexpected<int>(kNotSupported);
  auto clone = std::make_unique<Graph>();
  clone->published = true;
  clone->original = graph.number;
  std::unordered_map<const GraphNode*, GraphNode*> clone_of;
  for (const auto& node : graph.nodes) {
    GraphNode& made = add_node(*clone, node->kind, node->what, {});
    made.device = node->device;
    made.original = node->number;
    clone_of[node.get()] = &made;
    if (node->child == nullptr) continue;
    auto child = clone_graph(*node->child);
    if (!child) return child;
    made.child = std::move(*child);
  }
  for (const auto& node : graph.nodes) {
    for (const GraphNode* before : node->after) {
      clone_of[node.get()]->after.push_back(clone_of[before]);
    }
  }
  return clone;
}

int list_nodes(const std::vector<GraphNode*>& nodes, void** list, std::size_t* count) {
  if (count == nullptr) return kInvalidValue;
  if (list == nullptr) {
    *count = nodes.size();
    return kSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) list[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = std::min(*count, nodes.size());
  return kSuccess;
}

WW_HIP_EXPORT int hipGraphClone(void** clone, void* handle) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (clone == nullptr || graph == nullptr) return kInvalidValue;
    auto made = clone_graph(*graph);
    if (!made) return made.error();
    *clone = publish_graph(std::move(*made));
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphNodeFindInClone(void** node, void* original, void* clone) {
  return guarded([&] { return find_in_clone(node, original, clone); });
}
WW_HIP_EXPORT int hipGraphDestroyNode(void* node) {
  return guarded([&] { return destroy_node(node); });
}
WW_HIP_EXPORT int hipGraphNodeGetType(void* handle, int* type) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    if (node == nullptr || type == nullptr) return kInvalidValue;
    *type = type_of(node->kind);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphAddDependencies(void* graph, const void* const* from,
                                          const void* const* to, std::size_t count) {
  return with_edges(graph, from, to, count, [](GraphNode& first, GraphNode& second) -> int {
    if (std::ranges::find(second.after, &first) != second.after.end()) return kInvalidValue;
    second.after.push_back(&first);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphRemoveDependencies(void* graph, const void* const* from,
                                             const void* const* to, std::size_t count) {
  return with_edges(graph, from, to, count, [](GraphNode& first, GraphNode& second) -> int {
    return std::erase(second.after, &first) != 0 ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipGraphGetEdges(void* handle, void** from, void** to, std::size_t* count) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) {
      return kInvalidValue;
    }
    std::vector<GraphNode*> firsts;
    std::vector<GraphNode*> seconds;
    for (const auto& node : graph->nodes) {
      for (GraphNode* before : node->after) {
        firsts.push_back(before);
        seconds.push_back(node.get());
      }
    }
    std::size_t room = *count;
    const int code = list_nodes(firsts, from, &room);
    return code == kSuccess ? list_nodes(seconds, to, count) : code;
  });
}
WW_HIP_EXPORT int hipGraphNodeGetDependencies(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    return node == nullptr ? kInvalidValue : list_nodes(node->after, nodes, count);
  });
}
WW_HIP_EXPORT int hipGraphNodeGetDependentNodes(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    return node == nullptr ? kInvalidValue : list_nodes(dependents_of(*node), nodes, count);
  });
}
WW_HIP_EXPORT int hipGraphGetNodes(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr) return kInvalidValue;
    std::vector<GraphNode*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return list_nodes(all, nodes, count);
  });
}
WW_HIP_EXPORT int hipGraphGetRootNodes(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr) return kInvalidValue;
    std::vector<GraphNode*> roots;
    for (const auto& node : graph->nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    return list_nodes(roots, nodes, count);
  });
}
WW_HIP_EXPORT int hipGraphNodeSetEnabled(void* executable, void* node, unsigned enabled) {
  return guarded([&]() -> int {
    Step* step = find_step(executable, node);
    if (step == nullptr || !can_be_disabled(*step)) return kInvalidValue;
    step->enabled = enabled != 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphNodeGetEnabled(void* executable, void* node, unsigned* enabled) {
  return guarded([&]() -> int {
    const Step* step = find_step(executable, node);
    if (step == nullptr || enabled == nullptr || !can_be_disabled(*step)) return kInvalidValue;
    *enabled = step->enabled ? 1 : 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphAddChildGraphNode(void** node, void* graph,
                                            const void* const* dependencies, std::size_t count,
                                            void* child) {
  std::unique_ptr<Graph> made;
  const int code = add_node_to(node, graph, dependencies, count, NodeKind::child,
                               [&]() -> tl::expected<NodeWork, int> {
                                 auto clone = child_of(child);
                                 if (!clone) return tl::unexpected<int>(clone.error());
                                 made = std::move(*clone);
                                 return NodeWork();
                               });
  if (code != kSuccess) return code;
  return guarded([&]() -> int {
    static_cast<GraphNode*>(*node)->child = std::move(made);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphChildGraphNodeGetGraph(void* handle, void** graph) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    if (node == nullptr || graph == nullptr || node->child == nullptr) return kInvalidValue;
    *graph = node->child.get();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphExecChildGraphNodeSetParams(void* executable, void* handle, void* child) {
  return guarded([&]() -> int {
    Step* step = find_step(executable, handle);
    const Graph* graph = find_graph(child);
    if (step == nullptr || step->kind != NodeKind::child || graph == nullptr) return kInvalidValue;
    if (has_memory_nodes(*graph)) return kNotSupported;
    auto steps = steps_of(*graph);
    if (!steps) return steps.error();
    if (graph == find_node(handle)->graph || !same_kinds(step->child, *steps)) return kUnknown;
    step->child = std::move(*steps);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
