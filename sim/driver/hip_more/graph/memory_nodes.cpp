// Nodes that allocate and free memory, and what a device's graphs have of it.
#include <algorithm>
#include <map>

#include "hip/memory/memory_table.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// Bytes that programs have of graphs' memory, and all of it.
struct GraphMemoryUse {
  std::uint64_t used{};
  std::uint64_t most_used{};
  std::uint64_t reserved{};
  std::uint64_t most_reserved{};
};

GraphMemoryUse& use_of_device(int ordinal) {
  static auto& all = *new std::map<int, GraphMemoryUse>;
  return all[ordinal];
}

struct MemoryOfGraph {
  GraphMemory* memory;
  bool has_release;  // some graph has a node that frees it
};

std::map<std::uint64_t, MemoryOfGraph>& graph_memory() {
  static auto& all = *new std::map<std::uint64_t, MemoryOfGraph>;
  return all;
}

int end_use_of_graph_memory(std::uint64_t address) {
  const auto found = graph_memory().find(address);
  return found == graph_memory().end() ? kInvalidValue : found->second.memory->end_use();
}

// The program frees memory that a graph has allocated. Error kInvalidValue: it is not in use.
class GraphsAsOwner final : public MemoryOwner {
 public:
  int free_for_program(std::uint64_t address) override { return end_use_of_graph_memory(address); }
};

GraphsAsOwner& graphs_as_owner() {
  static auto& instance = *new GraphsAsOwner;
  return instance;
}

// hipGraphMemAttributeType.
enum GraphMemoryAttribute : int {
  kGraphUsedCurrent = 0,
  kGraphUsedHigh = 1,
  kGraphReservedCurrent = 2,
  kGraphReservedHigh = 3,
};

int attribute_of(int ordinal, int attribute, std::uint64_t& value) {
  const GraphMemoryUse& use = use_of_device(ordinal);
  switch (attribute) {
    case kGraphUsedCurrent: value = use.used; return kSuccess;
    case kGraphUsedHigh: value = use.most_used; return kSuccess;
    case kGraphReservedCurrent: value = use.reserved; return kSuccess;
    case kGraphReservedHigh: value = use.most_reserved; return kSuccess;
    default: return kInvalidValue;
  }
}

int free_now(void* pointer) {
  const std::uint64_t address = address_of(pointer);
  const auto found = find_allocation(address);
  if (!found || found->address != address) return kInvalidValue;
  if (found->kind == MemoryKind::graph) return end_use_of_graph_memory(address);
  return found->kind == MemoryKind::device ? free_memory(address) : kInvalidValue;
}

bool is_graph_memory(const void* pointer) {
  return graph_memory().contains(address_of(pointer));
}

int allocate_in(AllocationNodeParameters& wanted, tl::expected<NodeWork, int>& made) {
  wanted.pointer = nullptr;
  if (wanted.bytes == 0 || wanted.pool.allocation_type != kAllocationPinned ||
      wanted.pool.location_type != kLocationDevice || !is_ordinal(wanted.pool.location)) {
    return kInvalidValue;
  }
  made = allocation_work(&wanted.pointer, wanted.bytes, wanted.pool.location);
  if (!made) return made.error();
  made->parameters = wanted;
  return kSuccess;
}

}  // namespace

GraphMemory::GraphMemory(std::uint64_t address, std::uint64_t bytes, int ordinal)
    : address_(address), bytes_(bytes), device_(ordinal) {
  graph_memory()[address] = {this, false};
  GraphMemoryUse& use = use_of_device(device_);
  use.reserved += bytes_;
  use.most_reserved = std::max(use.most_reserved, use.reserved);
}

GraphMemory::~GraphMemory() {
  graph_memory().erase(address_);
  GraphMemoryUse& use = use_of_device(device_);
  use.reserved -= bytes_;
  const auto found = find_allocation(address_);
  const bool there = found && found->address == address_ && found->kind == MemoryKind::graph;
  if (in_use_) {
    use.used -= bytes_;
    if (there) make_device_memory(address_);
  } else if (there) {
    static_cast<void>(free_memory(address_));
  }
}

int GraphMemory::begin_use() {
  if (in_use_) return kInvalidValue;
  in_use_ = true;
  GraphMemoryUse& use = use_of_device(device_);
  use.used += bytes_;
  use.most_used = std::max(use.most_used, use.used);
  return kSuccess;
}

int GraphMemory::end_use() {
  if (!in_use_) return kInvalidValue;
  in_use_ = false;
  use_of_device(device_).used -= bytes_;
  return kSuccess;
}

tl::expected<NodeWork, int> allocation_work(void** pointer, std::size_t bytes, int ordinal) {
  if (pointer == nullptr || bytes == 0) return tl::unexpected<int>(kInvalidValue);
  const auto address = allocate_memory(bytes, MemoryKind::graph, 0, ordinal);
  if (!address) return tl::unexpected<int>(address.error());
  give_to(*address, graphs_as_owner());
  auto memory = std::make_shared<GraphMemory>(*address, bytes, ordinal);
  *pointer = device_pointer(*address);
  AllocationNodeParameters parameters{};
  parameters.pool.allocation_type = kAllocationPinned;
  parameters.pool.location_type = kLocationDevice;
  parameters.pool.location = ordinal;
  parameters.bytes = bytes;
  parameters.pointer = *pointer;
  return NodeWork{[memory] { return memory->begin_use(); }, parameters, memory};
}

tl::expected<NodeWork, int> release_work(void* pointer) {
  const auto found = find_allocation(address_of(pointer));
  if (!found || found->address != address_of(pointer) ||
      (found->kind != MemoryKind::graph && found->kind != MemoryKind::device)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  if (const auto of_graph = graph_memory().find(found->address);
      of_graph != graph_memory().end() && std::exchange(of_graph->second.has_release, true)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return NodeWork{[pointer] { return free_now(pointer); }, ReleasedMemory{pointer}, nullptr};
}

WW_HIP_EXPORT int hipGraphAddMemAllocNode(void** node, void* graph, const void* const* dependencies,
                                          std::size_t count, AllocationNodeParameters* parameters) {
  return add_node_to(node, graph, dependencies, count, NodeKind::allocate,
                     [&]() -> tl::expected<NodeWork, int> {
                       if (parameters == nullptr) return tl::unexpected<int>(kInvalidValue);
                       tl::expected<NodeWork, int> made = NodeWork();
                       const int code = allocate_in(*parameters, made);
                       if (code != kSuccess) return tl::unexpected<int>(code);
                       return made;
                     });
}
WW_HIP_EXPORT int hipGraphMemAllocNodeGetParams(void* handle,
                                                AllocationNodeParameters* parameters) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    if (node == nullptr || node->kind != NodeKind::allocate || parameters == nullptr) {
      return kInvalidValue;
    }
    *parameters = std::get<AllocationNodeParameters>(node->what.parameters);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphAddMemFreeNode(void** node, void* graph, const void* const* dependencies,
                                         std::size_t count, void* pointer) {
  return add_node_to(node, graph, dependencies, count, NodeKind::release,
                     [&]() -> tl::expected<NodeWork, int> {
                       if (!is_graph_memory(pointer)) return tl::unexpected<int>(kInvalidValue);
                       return release_work(pointer);
                     });
}
WW_HIP_EXPORT int hipGraphMemFreeNodeGetParams(void* handle, void** pointer) {
  return guarded([&]() -> int {
    const GraphNode* node = find_node(handle);
    if (node == nullptr || node->kind != NodeKind::release || pointer == nullptr) {
      return kInvalidValue;
    }
    *pointer = std::get<ReleasedMemory>(node->what.parameters).pointer;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetGraphMemAttribute(int ordinal, int attribute, void* value) {
  return guarded([&]() -> int {
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    if (value == nullptr) return kInvalidValue;
    return attribute_of(ordinal, attribute, *static_cast<std::uint64_t*>(value));
  });
}
// The highest values so far can be forgotten, by setting them to 0.
WW_HIP_EXPORT int hipDeviceSetGraphMemAttribute(int ordinal, int attribute, const void* value) {
  return guarded([&]() -> int {
    if (!is_ordinal(ordinal)) return kInvalidDevice;
    const bool highest = attribute == kGraphUsedHigh || attribute == kGraphReservedHigh;
    if (!highest || value == nullptr) return kInvalidValue;
    if (*static_cast<const std::uint64_t*>(value) != 0) return kInvalidValue;
    GraphMemoryUse& use = use_of_device(ordinal);
    if (attribute == kGraphUsedHigh) use.most_used = use.used;
    if (attribute == kGraphReservedHigh) use.most_reserved = use.reserved;
    return kSuccess;
  });
}
// A graph's memory keeps its address, so that none can go before the graph does.
WW_HIP_EXPORT int hipDeviceGraphMemTrim(int ordinal) {
  return guarded([&]() -> int { return is_ordinal(ordinal) ? kSuccess : kInvalidDevice; });
}

}  // namespace ww::sim::driver::hip
