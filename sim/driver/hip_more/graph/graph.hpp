// Graphs: work that is noted once, by calls or by a capturing stream, and then launched often.
// Needs the lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_set>
#include <vector>

#include "hip/stream/work.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver::hip {

// Memory that a graph allocates while it runs. Its address is fixed when the node is made, as
// programs write it into later nodes: so the memory is taken then, and is the program's only from
// the node's run until it is freed. Whoever lets go of it last gives it back, unless the program
// has it then, which may free it like any other.
class GraphMemory {
 public:
  GraphMemory(std::uint64_t address, std::uint64_t bytes, int ordinal);
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  [[nodiscard]] bool in_use() const { return in_use_; }
  // Errors kInvalidValue: it is the program's already, or is not.
  int begin_use();
  int end_use();

 private:
  std::uint64_t address_;
  std::uint64_t bytes_;
  int device_;
  bool in_use_{};
};

// Objects of the program's that a graph keeps alive, and how often. A copy keeps them, too.
class UserObjects {
 public:
  UserObjects() = default;
  ~UserObjects();
  UserObjects(const UserObjects& other);
  UserObjects& operator=(const UserObjects&) = delete;

  void add(void* object, unsigned count) { uses_[object] += count; }
  // False: it does not have as many.
  bool remove(void* object, unsigned count);

 private:
  std::map<void*, unsigned> uses_;
};

struct Graph;

struct GraphNode {
  GraphNode();
  ~GraphNode();
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  NodeKind kind{};
  NodeWork what;
  std::vector<GraphNode*> after;
  std::unique_ptr<Graph> child;  // of a node that runs a graph: its own copy
  int device{};                  // that runs it, whichever stream the graph is launched in
  Graph* graph{};
  std::uint64_t number;      // no other node has it, also later
  std::uint64_t original{};  // the number of the node that this one is a clone of
};

// hipGraph_t.
struct Graph {
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::vector<std::unique_ptr<GraphNode>> nodes;
  UserObjects user_objects;
  bool published{};          // not one that a stream still captures
  std::uint64_t number;      // no other graph has it, also later
  std::uint64_t original{};  // the number of the graph that this one is a clone of
};

// Adds a node that runs after the others named, on the device that the thread has chosen.
GraphNode& add_node(Graph& graph, NodeKind kind, NodeWork what, std::vector<GraphNode*> after);

// Makes the graph known by its address, as hipGraph_t.
void* publish_graph(std::unique_ptr<Graph> graph);
// Null for what is not alive. Children's graphs and those that streams capture are found, too.
[[nodiscard]] Graph* find_graph(const void* handle);
// Null for what is not a node of that graph.
[[nodiscard]] GraphNode* find_node(const Graph& graph, const void* handle);
// The nodes, and all that they run after.
[[nodiscard]] std::unordered_set<const GraphNode*> and_all_before(std::vector<GraphNode*> nodes);

// The work of a node that allocates memory of that device, and where; of one that frees it. Errors:
// kOutOfMemory; kInvalidValue for memory that no node could free.
[[nodiscard]] tl::expected<NodeWork, int> allocation_work(void** pointer, std::size_t bytes,
                                                          int ordinal);
[[nodiscard]] tl::expected<NodeWork, int> release_work(void* pointer);
}  // namespace ww::sim::driver::hip
