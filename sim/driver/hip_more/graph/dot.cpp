// A graph as a drawing in the DOT language (Graphviz).
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "hip/module/module.hpp"
#include "hip_more/graph/graph_table.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::sim::driver::hip {
namespace {

const char* word_for(NodeKind kind) {
  switch (kind) {
    case NodeKind::kernel: return "kernel";
    case NodeKind::copy: return "copy";
    case NodeKind::fill: return "fill";
    case NodeKind::host: return "host function";
    case NodeKind::child: return "graph";
    case NodeKind::empty: return "empty";
    case NodeKind::wait: return "wait for event";
    case NodeKind::record: return "record event";
    case NodeKind::allocate: return "allocate";
    case NodeKind::release: return "free";
    case NodeKind::copy_from_symbol: return "copy from symbol";
    case NodeKind::copy_to_symbol: return "copy to symbol";
  }
  return "";
}

std::string kernel_of(const KernelCall& call) {
  const void* named = call.parameters.named;
  if (is_function(named)) return static_cast<const Function*>(named)->kernel->name;
  const auto function = function_of_stub(named);
  return function ? (*function)->kernel->name : "";
}

std::string label_of(const GraphNode& node) {
  std::string label = word_for(node.kind);
  if (const auto* call = std::get_if<KernelCall>(&node.what.parameters)) {
    const auto& [threads, extra, named, blocks, arguments, lds] = call->parameters;
    label += fmt::format("\\n{}\\n{} x {} x {} blocks of {} x {} x {}", kernel_of(*call), blocks.x,
                         blocks.y, blocks.z, threads.x, threads.y, threads.z);
  } else if (const auto* copy = std::get_if<Memcpy3dParameters>(&node.what.parameters)) {
    const auto& [width, height, depth] = copy->extent;
    label += fmt::format("\\n{} x {} x {}", width, height, depth);
  } else if (const auto* fill = std::get_if<MemsetParameters>(&node.what.parameters)) {
    label += fmt::format("\\n{} x {} of {} B", fill->width, fill->height, fill->element_bytes);
  }
  return label;
}

// A child is a cluster beside its node.
void draw(const Graph& graph, std::string& text) {
  const auto out = std::back_inserter(text);
  for (const auto& node : graph.nodes) {
    fmt::format_to(out, "  node_{} [label=\"{}\"];\n", node->number, label_of(*node));
    for (const GraphNode* before : node->after) {
      fmt::format_to(out, "  node_{} -> node_{};\n", before->number, node->number);
    }
    if (node->child == nullptr) continue;
    fmt::format_to(out, "  subgraph cluster_{} {{\n", node->child->number);
    draw(*node->child, text);
    fmt::format_to(out, "  }}\n");
  }
}

}  // namespace

// The drawing has what every flag asks for but addresses, which differ from run to run.
WW_HIP_EXPORT int hipGraphDebugDotPrint(void* handle, const char* path, unsigned) {
  return guarded([&]() -> int {
    const Graph* graph = find_graph(handle);
    if (graph == nullptr || path == nullptr) return kInvalidValue;
    std::string text = fmt::format("digraph graph_{} {{\n  node [shape=box];\n", graph->number);
    draw(*graph, text);
    text += "}\n";
    return write_file_atomically(path, text) ? kSuccess : kOperatingSystem;
  });
}

}  // namespace ww::sim::driver::hip
