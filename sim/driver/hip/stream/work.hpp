// Work of streams, in a form that a graph can note and run again. The work of each kind is made in
// the file of its kind: parameters are checked and copied then; the memory that they name is read
// and written when the work runs. Needs the lock.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <variant>
#include <vector>

#include "hip/session/types.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver::hip {

// Does the work, at once or when a graph runs: HIP's code. Needs the lock.
using Work = std::function<int()>;

enum class NodeKind {
  kernel,
  copy,
  fill,
  host,
  child,
  empty,
  wait,
  record,
  allocate,
  release,
  copy_from_symbol,
  copy_to_symbol,
};

// A kernel's launch, with copies of the arguments that it points to.
struct KernelArguments {
  std::vector<std::byte> bytes;
  std::vector<void*> pointers;  // into the bytes
};
// hipAccessPolicyWindow, the largest value of an attribute.
struct LaunchAttributeValue {
  alignas(8) char bytes[32];
};
struct KernelCall {
  KernelNodeParameters parameters;
  std::shared_ptr<const KernelArguments> arguments;
  std::map<int, LaunchAttributeValue> attributes;  // that the program has set, by their names
};
struct EventOfNode {
  void* event;
};
struct ReleasedMemory {
  void* pointer;
};
// Arguments of a copy to or from a variable of the program.
struct SymbolCopy {
  int kind;
};

// A node's parameters, which calls return and change. None for nodes that a stream captured in
// a form that no node's parameters have.
using NodeParameters = std::variant<std::monostate, KernelCall, Memcpy3dParameters,
                                    MemsetParameters, HostNodeParameters, EventOfNode,
                                    AllocationNodeParameters, ReleasedMemory, SymbolCopy>;

class GraphMemory;  // of a node that allocates (hip_more/graph)

struct NodeWork {
  Work run;
  NodeParameters parameters;
  std::shared_ptr<GraphMemory> memory;  // of a node that allocates
};

// A launch of a host stub's kernel or of a module's function. Errors: those of hipLaunchKernel.
[[nodiscard]] tl::expected<NodeWork, int> kernel_work(const KernelNodeParameters& parameters,
                                                      bool cooperative = false);
// Errors: those of hipMemcpy, hipMemcpy3D and hipMemset2D.
[[nodiscard]] tl::expected<NodeWork, int> copy_work(void* to, const void* from, std::size_t bytes,
                                                    int kind);
[[nodiscard]] tl::expected<NodeWork, int> copy_work(const Memcpy3dParameters& parameters);
[[nodiscard]] tl::expected<NodeWork, int> copy_to_symbol_work(const void* symbol, const void* from,
                                                              std::size_t bytes, std::size_t offset,
                                                              int kind);
[[nodiscard]] tl::expected<NodeWork, int> copy_from_symbol_work(void* to, const void* symbol,
                                                                std::size_t bytes,
                                                                std::size_t offset, int kind);
[[nodiscard]] tl::expected<NodeWork, int> fill_work(const MemsetParameters& parameters);
// Runs once the lock is released.
[[nodiscard]] tl::expected<NodeWork, int> host_work(HostFunction function, void* user_data);
// Records an event in the stream of the launch, or lets that stream wait for one. Errors:
// kInvalidValue, kInvalidHandle for an event that is gone.
[[nodiscard]] tl::expected<NodeWork, int> record_work(void* event);
[[nodiscard]] tl::expected<NodeWork, int> wait_work(void* event);

}  // namespace ww::sim::driver::hip
