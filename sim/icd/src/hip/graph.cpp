#include "hip/graph.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "hip/stream.hpp"
#include "hip/work.hpp"

namespace ww::sim::icd::hip {
namespace {

// hipGraphExec_t: work in an order that the graph allows, which is the order it runs in.
struct ExecutableGraph {
  std::vector<GraphNode> steps;
  std::map<const GraphNode*, std::size_t> step_of;  // by the graph's nodes
};

std::unordered_map<const void*, std::unique_ptr<Graph>>& graphs() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Graph>>;
  return all;
}

// Shared: a launch goes on while another thread destroys it.
std::unordered_map<const void*, std::shared_ptr<ExecutableGraph>>& executable_graphs() {
  static auto& all = *new std::unordered_map<const void*, std::shared_ptr<ExecutableGraph>>;
  return all;
}

Graph* graph_of(const void* handle) {
  const auto found = graphs().find(handle);
  return found == graphs().end() ? nullptr : found->second.get();
}

GraphNode* node_of(const Graph& graph, const void* handle) {
  const auto found = std::ranges::find(graph.nodes, handle,
                                       [](const auto& node) -> const void* { return node.get(); });
  return found == graph.nodes.end() ? nullptr : found->get();
}

// The graph's nodes, each after those it depends on, else in the order in which they were added.
// Error kInvalidValue: they depend on one another in a circle.
tl::expected<std::vector<const GraphNode*>, int> order_of(const Graph& graph) {
  std::vector<const GraphNode*> order;
  std::unordered_map<const GraphNode*, bool> placed;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      if (placed[node.get()]) continue;
      if (!std::ranges::all_of(node->after, [&](const auto* other) { return placed[other]; })) {
        continue;
      }
      placed[node.get()] = true;
      order.push_back(node.get());
    }
    if (order.size() == before) return tl::unexpected<int>(kInvalidValue);
  }
  return order;
}

tl::expected<std::shared_ptr<ExecutableGraph>, int> compile_graph(const Graph& graph) {
  const auto order = order_of(graph);
  if (!order) return tl::unexpected<int>(order.error());
  auto made = std::make_shared<ExecutableGraph>();
  for (const GraphNode* node : *order) {
    made->step_of[node] = made->steps.size();
    made->steps.push_back({node->kind, node->work, {}, node->child, node->device});
  }
  return made;
}

// The work of the steps and of their children, in order.
void collect_work(const std::vector<GraphNode>& steps, std::vector<Work>& work) {
  for (const GraphNode& step : steps) {
    if (step.work) {
      work.push_back([run = step.work, ordinal = step.device] {
        device().select_device(ordinal);
        return run();
      });
    }
    collect_work(step.child, work);
  }
}

int instantiate(void** executable, const void* handle) {
  const Graph* graph = graph_of(handle);
  if (executable == nullptr || graph == nullptr) return kInvalidValue;
  auto made = compile_graph(*graph);
  if (!made) return made.error();
  *executable = made->get();
  executable_graphs().emplace(*executable, std::move(*made));
  return kSuccess;
}

// A call that adds a node: its dependencies are checked before `make` gives its work.
template <class Make>
int add_node_to(void** node, const void* handle, const void* const* dependencies, std::size_t count,
                NodeKind kind, Make&& make) {
  return guarded_work([&]() -> int {
    Graph* graph = graph_of(handle);
    if (node == nullptr || graph == nullptr || (dependencies == nullptr && count != 0)) {
      return kInvalidValue;
    }
    std::vector<GraphNode*> after;
    for (const void* dependency : std::span(dependencies, count)) {
      after.push_back(node_of(*graph, dependency));
      if (after.back() == nullptr) return kInvalidValue;
    }
    tl::expected<Work, int> work = make();
    if (!work) return work.error();
    *node = &add_node(*graph, kind, std::move(*work), std::move(after));
    return kSuccess;
  });
}

// A call that changes what a step of an executable graph does.
template <class Make>
int change_step(const void* executable, const void* node, NodeKind kind, Make&& make) {
  return guarded_work([&]() -> int {
    const auto found = executable_graphs().find(executable);
    if (found == executable_graphs().end()) return kInvalidValue;
    const auto step = found->second->step_of.find(static_cast<const GraphNode*>(node));
    if (step == found->second->step_of.end()) return kInvalidValue;
    GraphNode& changed = found->second->steps[step->second];
    if (changed.kind != kind) return kInvalidValue;
    tl::expected<Work, int> work = make();
    if (!work) return work.error();
    changed.work = std::move(*work);
    return kSuccess;
  });
}

// Copies handles into the program's array as far as it reaches; without one, counts them.
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

bool same_kinds(const ExecutableGraph& one, const ExecutableGraph& other) {
  return std::ranges::equal(one.steps, other.steps, {}, &GraphNode::kind, &GraphNode::kind);
}

int update(const void* executable, const void* handle, void** error_node, int* result) {
  constexpr int kUpdated = 0;
  constexpr int kTopologyChanged = 2;
  const auto found = executable_graphs().find(executable);
  const Graph* graph = graph_of(handle);
  if (found == executable_graphs().end() || graph == nullptr || result == nullptr) {
    return kInvalidValue;
  }
  if (error_node != nullptr) *error_node = nullptr;
  auto made = compile_graph(*graph);
  if (!made) return made.error();
  *result = same_kinds(*found->second, **made) ? kUpdated : kTopologyChanged;
  if (*result != kUpdated) return kGraphExecUpdateFailure;
  // The nodes that the program has are those that it instantiated.
  found->second->steps = std::move((*made)->steps);
  return kSuccess;
}

}  // namespace

GraphNode& add_node(Graph& graph, NodeKind kind, Work work, std::vector<GraphNode*> after) {
  graph.nodes.push_back(std::make_unique<GraphNode>(
      GraphNode{kind, std::move(work), std::move(after), {}, chosen_device()}));
  return *graph.nodes.back();
}

void* publish_graph(std::unique_ptr<Graph> graph) {
  void* handle = graph.get();
  graphs().emplace(handle, std::move(graph));
  return handle;
}

void reset_graphs() {
  graphs().clear();
  executable_graphs().clear();
}

WW_HIP_EXPORT int hipGraphCreate(void** graph, unsigned flags) {
  return guarded_work([&]() -> int {
    if (graph == nullptr || flags != 0) return kInvalidValue;
    *graph = publish_graph(std::make_unique<Graph>());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphDestroy(void* graph) {
  return guarded([&]() -> int { return graphs().erase(graph) != 0 ? kSuccess : kInvalidValue; });
}
WW_HIP_EXPORT int hipGraphAddKernelNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const KernelNodeParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::kernel,
                     [&]() -> tl::expected<Work, int> {
                       if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
                       return kernel_work(*parameters);
                     });
}
WW_HIP_EXPORT int hipGraphAddMemcpyNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const Memcpy3dParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy,
                     [&]() -> tl::expected<Work, int> {
                       if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
                       return copy_work(*parameters);
                     });
}
WW_HIP_EXPORT int hipGraphAddMemcpyNode1D(void** node, void* graph, const void* const* dependencies,
                                          std::size_t count, void* to, const void* from,
                                          std::size_t bytes, int kind) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy,
                     [&] { return copy_work(to, from, bytes, kind); });
}
WW_HIP_EXPORT int hipGraphAddMemsetNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const MemsetParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::fill,
                     [&]() -> tl::expected<Work, int> {
                       if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
                       return fill_work(*parameters);
                     });
}
WW_HIP_EXPORT int hipGraphAddHostNode(void** node, void* graph, const void* const* dependencies,
                                      std::size_t count, const HostNodeParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::host,
                     [&]() -> tl::expected<Work, int> {
                       if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
                       return host_work(parameters->function, parameters->user_data);
                     });
}
WW_HIP_EXPORT int hipGraphAddEmptyNode(void** node, void* graph, const void* const* dependencies,
                                       std::size_t count) {
  return add_node_to(node, graph, dependencies, count, NodeKind::empty,
                     [] { return tl::expected<Work, int>(Work()); });
}
WW_HIP_EXPORT int hipGraphAddChildGraphNode(void** node, void* graph,
                                            const void* const* dependencies, std::size_t count,
                                            void* child) {
  std::vector<GraphNode> steps;
  const int code = add_node_to(node, graph, dependencies, count, NodeKind::child,
                               [&]() -> tl::expected<Work, int> {
                                 const Graph* found = graph_of(child);
                                 if (found == nullptr || child == graph) {
                                   return tl::unexpected<int>(kInvalidValue);
                                 }
                                 auto made = compile_graph(*found);
                                 if (!made) return tl::unexpected<int>(made.error());
                                 steps = std::move((*made)->steps);
                                 return Work();
                               });
  if (code != kSuccess) return code;
  return guarded([&]() -> int {
    static_cast<GraphNode*>(*node)->child = std::move(steps);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphAddDependencies(void* handle, const void* const* from,
                                          const void* const* to, std::size_t count) {
  return guarded([&]() -> int {
    const Graph* graph = graph_of(handle);
    if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) {
      return kInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      GraphNode* first = node_of(*graph, from[i]);
      GraphNode* second = node_of(*graph, to[i]);
      if (first == nullptr || second == nullptr || first == second) return kInvalidValue;
      second->after.push_back(first);
    }
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphGetNodes(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const Graph* graph = graph_of(handle);
    if (graph == nullptr) return kInvalidValue;
    std::vector<GraphNode*> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return list_nodes(all, nodes, count);
  });
}
WW_HIP_EXPORT int hipGraphGetRootNodes(void* handle, void** nodes, std::size_t* count) {
  return guarded([&]() -> int {
    const Graph* graph = graph_of(handle);
    if (graph == nullptr) return kInvalidValue;
    std::vector<GraphNode*> roots;
    for (const auto& node : graph->nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    return list_nodes(roots, nodes, count);
  });
}

WW_HIP_EXPORT int hipGraphInstantiate(void** executable, void* graph, void** error_node, char* log,
                                      std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return guarded_work([&] { return instantiate(executable, graph); });
}
WW_HIP_EXPORT int hipGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return guarded_work([&] { return instantiate(executable, graph); });
}
WW_HIP_EXPORT int hipGraphExecDestroy(void* executable) {
  return guarded([&]() -> int {
    return executable_graphs().erase(executable) != 0 ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipGraphExecKernelNodeSetParams(void* executable, void* node,
                                                  const KernelNodeParameters* parameters) {
  if (parameters == nullptr) return finish(kInvalidValue);
  return change_step(executable, node, NodeKind::kernel, [&] { return kernel_work(*parameters); });
}
WW_HIP_EXPORT int hipGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to,
                                                    const void* from, std::size_t bytes, int kind) {
  return change_step(executable, node, NodeKind::copy,
                     [&] { return copy_work(to, from, bytes, kind); });
}
WW_HIP_EXPORT int hipGraphExecMemsetNodeSetParams(void* executable, void* node,
                                                  const MemsetParameters* parameters) {
  if (parameters == nullptr) return finish(kInvalidValue);
  return change_step(executable, node, NodeKind::fill, [&] { return fill_work(*parameters); });
}
WW_HIP_EXPORT int hipGraphExecUpdate(void* executable, void* graph, void** error_node,
                                     int* result) {
  return guarded_work([&] { return update(executable, graph, error_node, result); });
}
WW_HIP_EXPORT int hipGraphUpload(void* executable, void* stream) {
  return guarded_work([&]() -> int {
    if (!executable_graphs().contains(executable)) return kInvalidValue;
    return is_stream(stream) ? kSuccess : kInvalidHandle;
  });
}
WW_HIP_EXPORT int hipGraphLaunch(void* executable, void* stream) {
  std::vector<Work> work;
  const int code = guarded_work([&]() -> int {
    const auto found = executable_graphs().find(executable);
    if (found == executable_graphs().end()) return kInvalidValue;
    collect_work(found->second->steps, work);
    return is_stream(stream) ? kSuccess : kInvalidHandle;
  });
  if (code != kSuccess) return code;
  // One call a step, so that host functions run between the steps.
  for (Work& step : work) {
    const int failed =
        guarded_work([&] { return submit(stream, NodeKind::child, std::move(step)); });
    if (failed != kSuccess) return failed;
  }
  return kSuccess;
}

}  // namespace ww::sim::icd::hip
