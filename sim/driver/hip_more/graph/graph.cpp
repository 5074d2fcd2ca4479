// Graphs and executable graphs: made, changed as a whole, launched.
#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

#include "hip/stream/stream.hpp"
#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr unsigned long long kAutoFreeOnLaunch = 1;
constexpr unsigned long long kMaxInstantiateFlag = 8;

// hipGraphInstantiateParams.
struct InstantiateParameters {
  void* error_node;
  unsigned long long flags;
  int result;
  void* upload_stream;
};

// Graphs that programs made; a child's graph is its node's, and a captured one its stream's.
std::unordered_map<const void*, std::unique_ptr<Graph>>& graphs() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Graph>>;
  return all;
}

std::unordered_set<const void*>& live_graphs() {
  static auto& all = *new std::unordered_set<const void*>;
  return all;
}

std::unordered_set<const void*>& live_nodes() {
  static auto& all = *new std::unordered_set<const void*>;
  return all;
}

// Shared: a launch goes on while another thread destroys it.
std::unordered_map<const void*, std::shared_ptr<ExecutableGraph>>& executable_graphs() {
  static auto& all = *new std::unordered_map<const void*, std::shared_ptr<ExecutableGraph>>;
  return all;
}

std::uint64_t next_number() {
  static std::uint64_t last = 0;
  return ++last;
}

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

tl::expected<Step, int> step_of(const GraphNode& node) {
  Step step{node.kind, node.what, {}, {}, node.device};
  if (node.child == nullptr) return step;
  auto child = steps_of(*node.child);
  if (!child) return tl::unexpected<int>(child.error());
  step.child = std::move(*child);
  return step;
}

// A graph's memory has one address, so that one executable graph alone can give it.
bool may_instantiate(const Graph& graph) {
  return !has_memory_nodes(graph) ||
         std::ranges::none_of(executable_graphs(), [&](const auto& entry) {
           return entry.second->graph == graph.number;
         });
}

int instantiate(void** executable, const void* handle, unsigned long long flags) {
  const Graph* graph = find_graph(handle);
  if (executable == nullptr || graph == nullptr || !graph->published) return kInvalidValue;
  // One flag at most, as with AMD's library.
  if (flags > kMaxInstantiateFlag || std::popcount(flags) > 1) return kInvalidValue;
  if (!may_instantiate(*graph)) return kNotSupported;
  const auto order = order_of(*graph);
  auto steps = steps_of(*graph);
  if (!order || !steps) return kInvalidValue;
  auto made = std::make_shared<ExecutableGraph>(
      ExecutableGraph{std::move(*steps), {}, graph->number, flags, graph->user_objects});
  for (std::size_t i = 0; i < order->size(); ++i) made->step_of[(*order)[i]->number] = i;
  *executable = made.get();
  executable_graphs().emplace(*executable, std::move(made));
  return kSuccess;
}

// The work of the steps and of their children, in order.
void collect_work(const std::vector<Step>& steps, std::vector<Work>& work) {
  for (const Step& step : steps) {
    if (step.what.run && step.enabled) {
      work.push_back([run = step.what.run, ordinal = step.device] {
        device().select_device(ordinal);
        return run();
      });
    }
    collect_work(step.child, work);
  }
}

// Memory that the last launch allocated and that nobody freed. Error kInvalidValue.
int give_memory_back(const ExecutableGraph& graph) {
  for (const Step& step : graph.steps) {
    if (step.what.memory == nullptr || !step.what.memory->in_use()) continue;
    if ((graph.flags & kAutoFreeOnLaunch) == 0) return kInvalidValue;
    if (const int bad = step.what.memory->end_use(); bad != kSuccess) return bad;
  }
  return kSuccess;
}

int start_launch(const void* executable, const void* stream, std::vector<Work>& work) {
  return guarded_work([&]() -> int {
    const ExecutableGraph* graph = find_executable(executable);
    if (graph == nullptr) return kInvalidValue;
    if (!is_stream(stream)) return kInvalidHandle;
    if (const int bad = give_memory_back(*graph); bad != kSuccess) return bad;
    collect_work(graph->steps, work);
    return kSuccess;
  });
}

// One call a step, so that host functions run between the steps.
int run_steps(const std::vector<Work>& work, const void* stream) {
  for (const Work& step : work) {
    const int failed = guarded_work([&] { return submit(stream, NodeKind::child, step); });
    if (failed != kSuccess) return failed;
  }
  return kSuccess;
}

// The direction of a copy, by its parameters; of no matter for other steps.
int direction_of(const Step& step) {
  const auto* copy = std::get_if<Memcpy3dParameters>(&step.what.parameters);
  return copy == nullptr ? kDefaultKind : copy->kind;
}

// hipGraphExecUpdateResult.
enum UpdateResult : int {
  kUpdated = 0,
  kTopologyChanged = 2,
  kNodeTypeChanged = 3,
  kParametersChanged = 5,
};

// Returns why steps cannot take the place of others, and the first of them.
std::pair<UpdateResult, std::size_t> difference(const std::vector<Step>& now,
                                                const std::vector<Step>& later) {
  if (now.size() != later.size()) return {kTopologyChanged, std::max(now.size(), later.size())};
  const auto first = [&](auto differ) {
    std::size_t i = 0;
    while (i < now.size() && !differ(now[i], later[i])) ++i;
    return i;
  };
  const std::size_t other_kind =
      first([](const Step& one, const Step& two) { return one.kind != two.kind; });
  if (other_kind < now.size()) return {kNodeTypeChanged, other_kind};
  const std::size_t other_edges =
      first([](const Step& one, const Step& two) { return one.after != two.after; });
  if (other_edges < now.size()) return {kTopologyChanged, other_edges};
  const std::size_t other_direction = first(
      [](const Step& one, const Step& two) { return direction_of(one) != direction_of(two); });
  return {other_direction < now.size() ? kParametersChanged : kUpdated, other_direction};
}

int update(const void* executable, const void* handle, void** error_node, int* result) {
  ExecutableGraph* found = find_executable(executable);
  const Graph* graph = find_graph(handle);
  if (found == nullptr || graph == nullptr || result == nullptr) return kInvalidValue;
  if (error_node != nullptr) *error_node = nullptr;
  const auto order = order_of(*graph);
  auto made = steps_of(*graph);
  if (!order || !made) return kInvalidValue;
  const auto [why, place] = difference(found->steps, *made);
  *result = why;
  if (why != kUpdated) {
    if (error_node != nullptr && place < order->size()) {
      *error_node = const_cast<GraphNode*>((*order)[place]);
    }
    return kGraphExecUpdateFailure;
  }
  // The nodes that the program has are those that it instantiated.
  for (std::size_t i = 0; i < made->size(); ++i) (*made)[i].enabled = found->steps[i].enabled;
  found->steps = std::move(*made);
  return kSuccess;
}

// Graphs are all devices', so that one of several does not take them along.
void reset_graphs(int) {
  if (device().chip().architecture().devices != 1) return;
  graphs().clear();
  executable_graphs().clear();
}

}  // namespace

GraphNode::GraphNode() : number(next_number()) {
  live_nodes().insert(this);
}
GraphNode::~GraphNode() {
  live_nodes().erase(this);
}
Graph::Graph() : number(next_number()) {
  live_graphs().insert(this);
}
Graph::~Graph() {
  live_graphs().erase(this);
}

Graph* find_graph(const void* handle) {
  return live_graphs().contains(handle) ? static_cast<Graph*>(const_cast<void*>(handle)) : nullptr;
}

GraphNode* find_node(const void* handle) {
  return live_nodes().contains(handle) ? static_cast<GraphNode*>(const_cast<void*>(handle))
                                       : nullptr;
}

GraphNode* find_node(const Graph& graph, const void* handle) {
  GraphNode* node = find_node(handle);
  return node != nullptr && node->graph == &graph ? node : nullptr;
}

std::unordered_set<const GraphNode*> and_all_before(std::vector<GraphNode*> nodes) {
  std::unordered_set<const GraphNode*> all;
  while (!nodes.empty()) {
    const GraphNode* node = nodes.back();
    nodes.pop_back();
    if (all.insert(node).second) {
      nodes.insert(nodes.end(), node->after.begin(), node->after.end());
    }
  }
  return all;
}

ExecutableGraph* find_executable(const void* handle) {
  const auto found = executable_graphs().find(handle);
  return found == executable_graphs().end() ? nullptr : found->second.get();
}

Step* find_step(const void* executable, const void* node) {
  ExecutableGraph* graph = find_executable(executable);
  const GraphNode* made_of = find_node(node);
  if (graph == nullptr || made_of == nullptr) return nullptr;
  const auto step = graph->step_of.find(made_of->number);
  return step == graph->step_of.end() ? nullptr : &graph->steps[step->second];
}

tl::expected<std::vector<Step>, int> steps_of(const Graph& graph) {
  const auto order = order_of(graph);
  if (!order) return tl::unexpected<int>(order.error());
  std::vector<Step> steps;
  std::unordered_map<const GraphNode*, std::size_t> place;
  for (const GraphNode* node : *order) {
    auto step = step_of(*node);
    if (!step) return tl::unexpected<int>(step.error());
    for (const GraphNode* before : node->after) step->after.push_back(place.at(before));
    std::ranges::sort(step->after);
    place[node] = steps.size();
    steps.push_back(std::move(*step));
  }
  return steps;
}

bool same_kinds(const std::vector<Step>& one, const std::vector<Step>& other) {
  return std::ranges::equal(one, other, {}, &Step::kind, &Step::kind);
}

GraphNode& add_node(Graph& graph, NodeKind kind, NodeWork what, std::vector<GraphNode*> after) {
  GraphNode& made = *graph.nodes.emplace_back(std::make_unique<GraphNode>());
  made.kind = kind;
  made.what = std::move(what);
  made.after = std::move(after);
  made.device = chosen_device();
  made.graph = &graph;
  return made;
}

void* publish_graph(std::unique_ptr<Graph> graph) {
  graph->published = true;
  forget_at_reset(reset_graphs);
  void* handle = graph.get();
  graphs().emplace(handle, std::move(graph));
  return handle;
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
WW_HIP_EXPORT int hipGraphInstantiate(void** executable, void* graph, void** error_node, char* log,
                                      std::size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return guarded_work([&] { return instantiate(executable, graph, 0); });
}
WW_HIP_EXPORT int hipGraphInstantiateWithFlags(void** executable, void* graph,
                                               unsigned long long flags) {
  return guarded_work([&] { return instantiate(executable, graph, flags); });
}
WW_HIP_EXPORT int hipGraphInstantiateWithParams(void** executable, void* graph,
                                                InstantiateParameters* parameters) {
  if (parameters == nullptr) return finish(kInvalidValue);
  parameters->error_node = nullptr;
  const int code = guarded_work([&] { return instantiate(executable, graph, parameters->flags); });
  parameters->result = code == kSuccess ? 0 : 1;
  return code;
}
WW_HIP_EXPORT int hipGraphExecGetFlags(void* executable, unsigned long long* flags) {
  return guarded([&]() -> int {
    const ExecutableGraph* found = find_executable(executable);
    if (found == nullptr || flags == nullptr) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphExecDestroy(void* executable) {
  return guarded([&]() -> int {
    return executable_graphs().erase(executable) != 0 ? kSuccess : kInvalidValue;
  });
}
WW_HIP_EXPORT int hipGraphExecUpdate(void* executable, void* graph, void** error_node,
                                     int* result) {
  return guarded_work([&] { return update(executable, graph, error_node, result); });
}
WW_HIP_EXPORT int hipGraphUpload(void* executable, void* stream) {
  return guarded_work([&]() -> int {
    if (find_executable(executable) == nullptr) return kInvalidValue;
    return is_stream(stream) ? kSuccess : kInvalidHandle;
  });
}
WW_HIP_EXPORT int hipGraphLaunch(void* executable, void* stream) {
  std::vector<Work> work;
  int code = start_launch(executable, stream, work);
  if (code == kSuccess) code = run_steps(work, stream);
  // Work may be the last to have what another thread has destroyed meanwhile.
  guarded([&]() -> int {
    work.clear();
    return kSuccess;
  });
  return code;
}

}  // namespace ww::sim::driver::hip
