// The nodes of graphs by kind: added, described, changed, also in an executable graph.
#include "hip/stream/stream.hpp"
#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// The work of a node with parameters that the program must have given.
template <class Parameters, class Make>
tl::expected<NodeWork, int> work_of(const Parameters* parameters, Make&& make) {
  if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
  return make(*parameters);
}

tl::expected<NodeWork, int> kernel_of(const KernelNodeParameters* parameters) {
  return work_of(parameters, [](const auto& given) { return kernel_work(given); });
}
tl::expected<NodeWork, int> copy_of(const Memcpy3dParameters* parameters) {
  return work_of(parameters, [](const auto& given) { return copy_work(given); });
}
tl::expected<NodeWork, int> fill_of(const MemsetParameters* parameters) {
  return work_of(parameters, [](const auto& given) { return fill_work(given); });
}
tl::expected<NodeWork, int> host_of(const HostNodeParameters* parameters) {
  return work_of(parameters,
                 [](const auto& given) { return host_work(given.function, given.user_data); });
}

// A call that asks what a node was made of.
template <class Part, class Answer, class Describe>
int describe_node(const char* call, const void* handle, NodeKind kind, Answer* answer,
                  Describe&& describe) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    if (node == nullptr || node->kind != kind || answer == nullptr) return kInvalidValue;
    const Part* part = std::get_if<Part>(&node->what.parameters);
    if (part == nullptr) return refuse_form(std::string(call) + " of a node captured in this form");
    *answer = describe(*part);
    return kSuccess;
  });
}
template <class Part>
int describe_node(const char* call, const void* handle, NodeKind kind, Part* answer) {
  return describe_node<Part>(call, handle, kind, answer, [](const Part& part) { return part; });
}

void* event_named(const EventOfNode& node) {
  return node.event;
}

// A copy that takes another one's place has bytes to copy, and another place to copy them to.
template <class Make>
tl::expected<NodeWork, int> with_bytes(std::size_t bytes, Make&& make) {
  if (bytes == 0) return tl::unexpected<int>(kInvalidValue);
  return make();
}
tl::expected<NodeWork, int> changed_copy(void* to, const void* from, std::size_t bytes, int kind) {
  if (to == from) return tl::unexpected<int>(kInvalidValue);
  return with_bytes(bytes, [&] { return copy_work(to, from, bytes, kind); });
}

}  // namespace

bool may_replace(const NodeWork& now, const NodeWork& later) {
  const auto* copy = std::get_if<Memcpy3dParameters>(&now.parameters);
  const auto* other_copy = std::get_if<Memcpy3dParameters>(&later.parameters);
  if (copy != nullptr && other_copy != nullptr && copy->kind != other_copy->kind) return false;
  const auto* of_symbol = std::get_if<SymbolCopy>(&now.parameters);
  const auto* other_of_symbol = std::get_if<SymbolCopy>(&later.parameters);
  if (of_symbol != nullptr && other_of_symbol != nullptr &&
      of_symbol->kind != other_of_symbol->kind) {
    return false;
  }
  const auto* fill = std::get_if<MemsetParameters>(&now.parameters);
  const auto* other_fill = std::get_if<MemsetParameters>(&later.parameters);
  if (fill == nullptr || other_fill == nullptr) return true;
  return fill->height == 1 && other_fill->height == 1;
}

// --- kernels ---

WW_HIP_EXPORT int hipGraphAddKernelNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const KernelNodeParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::kernel,
                     [&] { return kernel_of(parameters); });
}
WW_HIP_EXPORT int hipGraphKernelNodeGetParams(void* node, KernelNodeParameters* parameters) {
  return describe_node<KernelCall>(__func__, node, NodeKind::kernel, parameters,
                                   [](const KernelCall& call) { return call.parameters; });
}
WW_HIP_EXPORT int hipGraphKernelNodeSetParams(void* node, const KernelNodeParameters* parameters) {
  return change_node(node, NodeKind::kernel, [&] { return kernel_of(parameters); });
}
WW_HIP_EXPORT int hipGraphExecKernelNodeSetParams(void* executable, void* node,
                                                  const KernelNodeParameters* parameters) {
  return change_step(executable, node, NodeKind::kernel, [&] { return kernel_of(parameters); });
}

// --- copies ---

WW_HIP_EXPORT int hipGraphAddMemcpyNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const Memcpy3dParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy,
                     [&] { return copy_of(parameters); });
}
WW_HIP_EXPORT int hipGraphAddMemcpyNode1D(void** node, void* graph, const void* const* dependencies,
                                          std::size_t count, void* to, const void* from,
                                          std::size_t bytes, int kind) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy,
                     [&] { return copy_work(to, from, bytes, kind); });
}
WW_HIP_EXPORT int hipGraphMemcpyNodeGetParams(void* node, Memcpy3dParameters* parameters) {
  return describe_node(__func__, node, NodeKind::copy, parameters);
}
WW_HIP_EXPORT int hipGraphMemcpyNodeSetParams(void* node, const Memcpy3dParameters* parameters) {
  return change_node(node, NodeKind::copy, [&] { return copy_of(parameters); });
}
WW_HIP_EXPORT int hipGraphMemcpyNodeSetParams1D(void* node, void* to, const void* from,
                                                std::size_t bytes, int kind) {
  return change_node(node, NodeKind::copy, [&] { return changed_copy(to, from, bytes, kind); });
}
WW_HIP_EXPORT int hipGraphExecMemcpyNodeSetParams(void* executable, void* node,
                                                  const Memcpy3dParameters* parameters) {
  return change_step(executable, node, NodeKind::copy, [&] {
    auto work = copy_of(parameters);
    // The one mistake that has a code of its own in every other call.
    if (!work && work.error() == kInvalidPitchValue)
      return tl::expected<NodeWork, int>(tl::unexpected<int>(kInvalidValue));
    return work;
  });
}
WW_HIP_EXPORT int hipGraphExecMemcpyNodeSetParams1D(void* executable, void* node, void* to,
                                                    const void* from, std::size_t bytes, int kind) {
  return change_step(executable, node, NodeKind::copy,
                     [&] { return changed_copy(to, from, bytes, kind); });
}

// --- copies to and from variables of the program ---

WW_HIP_EXPORT int hipGraphAddMemcpyNodeToSymbol(void** node, void* graph,
                                                const void* const* dependencies, std::size_t count,
                                                const void* symbol, const void* from,
                                                std::size_t bytes, std::size_t offset, int kind) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy_to_symbol,
                     [&] { return copy_to_symbol_work(symbol, from, bytes, offset, kind); });
}
WW_HIP_EXPORT int hipGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol,
                                                      const void* from, std::size_t bytes,
                                                      std::size_t offset, int kind) {
  return change_node(node, NodeKind::copy_to_symbol, [&] {
    return with_bytes(bytes,
                      [&] { return copy_to_symbol_work(symbol, from, bytes, offset, kind); });
  });
}
WW_HIP_EXPORT int hipGraphExecMemcpyNodeSetParamsToSymbol(void* executable, void* node,
                                                          const void* symbol, const void* from,
                                                          std::size_t bytes, std::size_t offset,
                                                          int kind) {
  return change_step(executable, node, NodeKind::copy_to_symbol, [&] {
    return with_bytes(bytes,
                      [&] { return copy_to_symbol_work(symbol, from, bytes, offset, kind); });
  });
}
WW_HIP_EXPORT int hipGraphAddMemcpyNodeFromSymbol(void** node, void* graph,
                                                  const void* const* dependencies,
                                                  std::size_t count, void* to, const void* symbol,
                                                  std::size_t bytes, std::size_t offset, int kind) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy_from_symbol,
                     [&] { return copy_from_symbol_work(to, symbol, bytes, offset, kind); });
}
WW_HIP_EXPORT int hipGraphMemcpyNodeSetParamsFromSymbol(void* node, void* to, const void* symbol,
                                                        std::size_t bytes, std::size_t offset,
                                                        int kind) {
  return change_node(node, NodeKind::copy_from_symbol, [&] {
    return with_bytes(bytes,
                      [&] { return copy_from_symbol_work(to, symbol, bytes, offset, kind); });
  });
}
WW_HIP_EXPORT int hipGraphExecMemcpyNodeSetParamsFromSymbol(void* executable, void* node, void* to,
                                                            const void* symbol, std::size_t bytes,
                                                            std::size_t offset, int kind) {
  return change_step(executable, node, NodeKind::copy_from_symbol, [&] {
    return with_bytes(bytes,
                      [&] { return copy_from_symbol_work(to, symbol, bytes, offset, kind); });
  });
}

// --- fills ---

WW_HIP_EXPORT int hipGraphAddMemsetNode(void** node, void* graph, const void* const* dependencies,
                                        std::size_t count, const MemsetParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::fill,
                     [&] { return fill_of(parameters); });
}
WW_HIP_EXPORT int hipGraphMemsetNodeGetParams(void* node, MemsetParameters* parameters) {
  return describe_node(__func__, node, NodeKind::fill, parameters);
}
WW_HIP_EXPORT int hipGraphMemsetNodeSetParams(void* node, const MemsetParameters* parameters) {
  return change_node(node, NodeKind::fill, [&] { return fill_of(parameters); });
}
WW_HIP_EXPORT int hipGraphExecMemsetNodeSetParams(void* executable, void* node,
                                                  const MemsetParameters* parameters) {
  return change_step(executable, node, NodeKind::fill, [&] { return fill_of(parameters); });
}

// --- host functions ---

WW_HIP_EXPORT int hipGraphAddHostNode(void** node, void* graph, const void* const* dependencies,
                                      std::size_t count, const HostNodeParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::host,
                     [&] { return host_of(parameters); });
}
WW_HIP_EXPORT int hipGraphHostNodeGetParams(void* node, HostNodeParameters* parameters) {
  return describe_node(__func__, node, NodeKind::host, parameters);
}
WW_HIP_EXPORT int hipGraphHostNodeSetParams(void* node, const HostNodeParameters* parameters) {
  return change_node(node, NodeKind::host, [&] { return host_of(parameters); });
}
WW_HIP_EXPORT int hipGraphExecHostNodeSetParams(void* executable, void* node,
                                                const HostNodeParameters* parameters) {
  return change_step(executable, node, NodeKind::host, [&] { return host_of(parameters); });
}

// --- events ---

WW_HIP_EXPORT int hipGraphAddEventRecordNode(void** node, void* graph,
                                             const void* const* dependencies, std::size_t count,
                                             void* event) {
  return add_node_to(node, graph, dependencies, count, NodeKind::record,
                     [&] { return record_work(event); });
}
WW_HIP_EXPORT int hipGraphEventRecordNodeGetEvent(void* node, void** event) {
  return describe_node<EventOfNode>(__func__, node, NodeKind::record, event, event_named);
}
WW_HIP_EXPORT int hipGraphEventRecordNodeSetEvent(void* node, void* event) {
  return change_node(node, NodeKind::record, [&] { return record_work(event); });
}
WW_HIP_EXPORT int hipGraphExecEventRecordNodeSetEvent(void* executable, void* node, void* event) {
  return change_step(executable, node, NodeKind::record, [&] { return record_work(event); });
}
WW_HIP_EXPORT int hipGraphAddEventWaitNode(void** node, void* graph,
                                           const void* const* dependencies, std::size_t count,
                                           void* event) {
  return add_node_to(node, graph, dependencies, count, NodeKind::wait,
                     [&] { return wait_work(event); });
}
WW_HIP_EXPORT int hipGraphEventWaitNodeGetEvent(void* node, void** event) {
  return describe_node<EventOfNode>(__func__, node, NodeKind::wait, event, event_named);
}
WW_HIP_EXPORT int hipGraphEventWaitNodeSetEvent(void* node, void* event) {
  return change_node(node, NodeKind::wait, [&] { return wait_work(event); });
}
WW_HIP_EXPORT int hipGraphExecEventWaitNodeSetEvent(void* executable, void* node, void* event) {
  return change_step(executable, node, NodeKind::wait, [&] { return wait_work(event); });
}

// --- nodes without work of their own ---

WW_HIP_EXPORT int hipGraphAddEmptyNode(void** node, void* graph, const void* const* dependencies,
                                       std::size_t count) {
  return add_node_to(node, graph, dependencies, count, NodeKind::empty,
                     [] { return tl::expected<NodeWork, int>(NodeWork()); });
}

}  // namespace ww::sim::driver::hip
