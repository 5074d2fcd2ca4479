// Nodes by one structure for every kind (hipGraphNodeParams of HIP 6), and by the driver API's own
// structures.
#include "hip_more/array/box_copy.hpp"
#include "hip_more/graph/graph_table.hpp"

extern "C" {
int hipGraphAddChildGraphNode(void**, void*, const void* const*, std::size_t, void*);
int hipGraphAddEmptyNode(void**, void*, const void* const*, std::size_t);
int hipGraphAddEventRecordNode(void**, void*, const void* const*, std::size_t, void*);
int hipGraphAddEventWaitNode(void**, void*, const void* const*, std::size_t, void*);
int hipGraphAddHostNode(void**, void*, const void* const*, std::size_t,
                        const ww::sim::driver::hip::HostNodeParameters*);
int hipGraphAddKernelNode(void**, void*, const void* const*, std::size_t,
                          const ww::sim::driver::hip::KernelNodeParameters*);
int hipGraphAddMemAllocNode(void**, void*, const void* const*, std::size_t,
                            ww::sim::driver::hip::AllocationNodeParameters*);
int hipGraphAddMemFreeNode(void**, void*, const void* const*, std::size_t, void*);
int hipGraphAddMemcpyNode(void**, void*, const void* const*, std::size_t,
                          const ww::sim::driver::hip::Memcpy3dParameters*);
int hipGraphAddMemsetNode(void**, void*, const void* const*, std::size_t,
                          const ww::sim::driver::hip::MemsetParameters*);
int hipGraphEventRecordNodeSetEvent(void*, void*);
int hipGraphEventWaitNodeSetEvent(void*, void*);
int hipGraphExecChildGraphNodeSetParams(void*, void*, void*);
int hipGraphExecEventRecordNodeSetEvent(void*, void*, void*);
int hipGraphExecEventWaitNodeSetEvent(void*, void*, void*);
int hipGraphExecHostNodeSetParams(void*, void*, const ww::sim::driver::hip::HostNodeParameters*);
int hipGraphExecKernelNodeSetParams(void*, void*,
                                    const ww::sim::driver::hip::KernelNodeParameters*);
int hipGraphExecMemcpyNodeSetParams(void*, void*, const ww::sim::driver::hip::Memcpy3dParameters*);
int hipGraphExecMemsetNodeSetParams(void*, void*, const ww::sim::driver::hip::MemsetParameters*);
int hipGraphHostNodeSetParams(void*, const ww::sim::driver::hip::HostNodeParameters*);
int hipGraphKernelNodeSetParams(void*, const ww::sim::driver::hip::KernelNodeParameters*);
int hipGraphMemcpyNodeSetParams(void*, const ww::sim::driver::hip::Memcpy3dParameters*);
int hipGraphMemsetNodeSetParams(void*, const ww::sim::driver::hip::MemsetParameters*);
}

namespace ww::sim::driver::hip {
namespace {

// hipGraphNodeType of HIP 6, whose structure this is.
enum AnyKind : int {
  kKernel = 0,
  kCopy = 1,
  kFill = 2,
  kHost = 3,
  kChild = 4,
  kEmpty = 5,
  kWait = 6,
  kRecord = 7,
  kAllocate = 10,
  kRelease = 11,
};

struct AnyCopy {
  int flags;
  int reserved[3];
  Memcpy3dParameters parameters;
};
struct AnyNode {
  int kind;
  int reserved[3];
  union {
    long long room[29];
    KernelNodeParameters kernel;
    AnyCopy copy;
    MemsetParameters fill;
    HostNodeParameters host;
    void* graph;
    void* event;
    AllocationNodeParameters allocation;
    void* released;
  };
  long long later;
};
static_assert(sizeof(AnyNode) == 256);

// HIP_MEMSET_NODE_PARAMS.
struct DriverMemset {
  void* to;
  std::size_t pitch;
  unsigned value;
  unsigned element_bytes;
  std::size_t width;
  std::size_t height;
};

tl::expected<NodeWork, int> box_of(const BoxCopy* box) {
  if (box == nullptr) return tl::unexpected<int>(kInvalidValue);
  return box_work(*box);
}
tl::expected<NodeWork, int> fill_of(const DriverMemset* fill) {
  if (fill == nullptr) return tl::unexpected<int>(kInvalidValue);
  return fill_work(
      {fill->to, fill->element_bytes, fill->height, fill->pitch, fill->value, fill->width});
}

}  // namespace

WW_HIP_EXPORT int hipGraphAddNode(void** node, void* graph, const void* const* dependencies,
                                  std::size_t count, AnyNode* any) {
  if (any == nullptr) return finish(kInvalidValue);
  switch (any->kind) {
    case kKernel: return hipGraphAddKernelNode(node, graph, dependencies, count, &any->kernel);
    case kCopy:
      return hipGraphAddMemcpyNode(node, graph, dependencies, count, &any->copy.parameters);
    case kFill: return hipGraphAddMemsetNode(node, graph, dependencies, count, &any->fill);
    case kHost: return hipGraphAddHostNode(node, graph, dependencies, count, &any->host);
    case kChild: return hipGraphAddChildGraphNode(node, graph, dependencies, count, any->graph);
    case kEmpty: return hipGraphAddEmptyNode(node, graph, dependencies, count);
    case kWait: return hipGraphAddEventWaitNode(node, graph, dependencies, count, any->event);
    case kRecord: return hipGraphAddEventRecordNode(node, graph, dependencies, count, any->event);
    case kAllocate:
      return hipGraphAddMemAllocNode(node, graph, dependencies, count, &any->allocation);
    case kRelease: return hipGraphAddMemFreeNode(node, graph, dependencies, count, any->released);
    default: return finish(kInvalidValue);
  }
}
WW_HIP_EXPORT int hipGraphNodeSetParams(void* node, const AnyNode* any) {
  if (any == nullptr) return finish(kInvalidValue);
  switch (any->kind) {
    case kKernel: return hipGraphKernelNodeSetParams(node, &any->kernel);
    case kCopy: return hipGraphMemcpyNodeSetParams(node, &any->copy.parameters);
    case kFill: return hipGraphMemsetNodeSetParams(node, &any->fill);
    case kHost: return hipGraphHostNodeSetParams(node, &any->host);
    case kWait: return hipGraphEventWaitNodeSetEvent(node, any->event);
    case kRecord: return hipGraphEventRecordNodeSetEvent(node, any->event);
    default: return finish(kInvalidValue);
  }
}
WW_HIP_EXPORT int hipGraphExecNodeSetParams(void* executable, void* node, const AnyNode* any) {
  if (any == nullptr) return finish(kInvalidValue);
  switch (any->kind) {
    case kKernel: return hipGraphExecKernelNodeSetParams(executable, node, &any->kernel);
    case kCopy: return hipGraphExecMemcpyNodeSetParams(executable, node, &any->copy.parameters);
    case kFill: return hipGraphExecMemsetNodeSetParams(executable, node, &any->fill);
    case kHost: return hipGraphExecHostNodeSetParams(executable, node, &any->host);
    case kChild: return hipGraphExecChildGraphNodeSetParams(executable, node, any->graph);
    case kWait: return hipGraphExecEventWaitNodeSetEvent(executable, node, any->event);
    case kRecord: return hipGraphExecEventRecordNodeSetEvent(executable, node, any->event);
    default: return finish(kInvalidValue);
  }
}

// A device has one context, so that it says nothing.
WW_HIP_EXPORT int hipDrvGraphAddMemcpyNode(void** node, void* graph,
                                           const void* const* dependencies, std::size_t count,
                                           const BoxCopy* box, void*) {
  return add_node_to(node, graph, dependencies, count, NodeKind::copy, [&] { return box_of(box); });
}
WW_HIP_EXPORT int hipDrvGraphExecMemcpyNodeSetParams(void* executable, void* node,
                                                     const BoxCopy* box, void*) {
  return change_step(executable, node, NodeKind::copy, [&] { return box_of(box); });
}
WW_HIP_EXPORT int hipDrvGraphAddMemsetNode(void** node, void* graph,
                                           const void* const* dependencies, std::size_t count,
                                           const DriverMemset* fill, void*) {
  return add_node_to(node, graph, dependencies, count, NodeKind::fill,
                     [&] { return fill_of(fill); });
}
WW_HIP_EXPORT int hipDrvGraphExecMemsetNodeSetParams(void* executable, void* node,
                                                     const DriverMemset* fill, void*) {
  return change_step(executable, node, NodeKind::fill, [&] { return fill_of(fill); });
}
WW_HIP_EXPORT int hipDrvGraphAddMemFreeNode(void** node, void* graph,
                                            const void* const* dependencies, std::size_t count,
                                            void* pointer) {
  return hipGraphAddMemFreeNode(node, graph, dependencies, count, pointer);
}

}  // namespace ww::sim::driver::hip
