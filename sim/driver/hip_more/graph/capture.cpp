// Captures: what streams note in a graph instead of running it.
#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <unordered_set>
#include <vector>

#include "hip/session/session.hpp"
#include "hip/stream/stream.hpp"
#include "hip/stream/stream_table.hpp"
#include "hip_more/graph/graph.hpp"

extern "C" int hipStreamGetCaptureInfo(void*, int*, unsigned long long*);

namespace ww::sim::driver::hip {
namespace {

// Notes work in a graph: one of its own, or one that the program has.
class GraphCapture final : public Capture {
 public:
  // `added_to` null: a graph of its own.
  GraphCapture(int wanted_mode, Graph* added_to)
      : Capture(wanted_mode),
        own(added_to == nullptr ? std::make_unique<Graph>() : nullptr),
        added_to_(added_to),
        number_(added_to == nullptr ? 0 : added_to->number) {}

  // Null where the program has destroyed the graph that it adds to.
  [[nodiscard]] Graph* graph() const {
    if (own != nullptr) return own.get();
    Graph* const found = find_graph(added_to_);
    return found != nullptr && found->number == number_ ? found : nullptr;
  }
  [[nodiscard]] bool has_graph() const override { return graph() != nullptr; }
  void keep_living(std::vector<GraphNode*>& nodes) const override {
    const Graph* found = graph();
    std::erase_if(nodes, [found](const GraphNode* node) {
      return found == nullptr || find_node(*found, node) == nullptr;
    });
  }
  GraphNode* note(NodeKind kind, NodeWork what, const std::vector<GraphNode*>& after,
                  int ordinal) override {
    GraphNode& node = add_node(*graph(), kind, std::move(what), after);
    node.device = ordinal;
    noted.insert(node.number);
    return &node;
  }

  std::unique_ptr<Graph> own;  // null: it adds to a graph that the program has
  // Numbers of nodes that streams have noted and that have to come before the capture's end.
  std::unordered_set<std::uint64_t> noted;

 private:
  Graph* added_to_;
  std::uint64_t number_;  // of that graph
};

// Every capture notes its work in a graph.
GraphCapture& in_graph(Capture& capture) {
  return static_cast<GraphCapture&>(capture);
}

// Whether every node that any of the streams noted lies before the last ones of this stream, or is
// one of them.
bool joined(const Stream& origin) {
  const std::unordered_set<const GraphNode*> before = and_all_before(origin.last);
  const GraphCapture& capture = in_graph(*origin.capture);
  return std::ranges::all_of(capture.graph()->nodes, [&](const auto& node) {
    return !capture.noted.contains(node->number) || before.contains(node.get());
  });
}

// `graph`: that the nodes are added to; null: one of its own.
int begin_capture(const void* handle, int mode, Graph* graph = nullptr) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  if (mode < kCaptureGlobal || mode > kCaptureRelaxed) return kInvalidValue;
  Stream* stream = stream_that_captures(handle);
  if (stream == nullptr) return kStreamCaptureUnsupported;
  if (stream->capture != nullptr) return kIllegalState;
  stream->capture = std::make_shared<GraphCapture>(mode, graph);
  stream->began = true;
  return kSuccess;
}

int begin_capture_to(const void* handle, void* graph_handle, const void* const* nodes,
                     const void* edges, std::size_t count, int mode) {
  if (edges != nullptr) return refuse_form("hipStreamBeginCaptureToGraph with data of edges");
  Graph* graph = find_graph(graph_handle);
  if (graph == nullptr || !graph->published) return kInvalidValue;
  if ((nodes == nullptr) != (count == 0)) return kInvalidValue;
  std::vector<GraphNode*> last;
  for (const void* node : std::span(nodes, count)) {
    last.push_back(find_node(*graph, node));
    if (last.back() == nullptr) return kInvalidValue;
  }
  if (const int bad = begin_capture(handle, mode, graph); bad != kSuccess) return bad;
  made_stream(handle)->last = std::move(last);
  return kSuccess;
}

int finish_capture(void* handle, void** graph) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  if (graph == nullptr) return kInvalidValue;
  *graph = nullptr;
  Stream* stream = made_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) return kIllegalState;
  if (!stream->began) return kStreamCaptureUnmatched;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->mode != kCaptureRelaxed && capture->thread != std::this_thread::get_id()) {
    return kStreamCaptureWrongThread;
  }
  if (!capture->has_graph()) capture->failed = true;
  capture->keep_living(stream->last);
  const bool whole = !capture->failed && joined(*stream);
  end_capture(capture);
  if (capture->failed) return kStreamCaptureInvalidated;
  if (!whole) return kStreamCaptureUnjoined;
  GraphCapture& captured = in_graph(*capture);
  *graph = captured.own == nullptr ? captured.graph() : publish_graph(std::move(captured.own));
  return kSuccess;
}

// The capture of a stream, and the nodes that its next node runs after. Error kContextIsDestroyed.
// No capture: null.
struct CaptureOfStream {
  GraphCapture* capture{};
  std::vector<GraphNode*>* last{};
};
tl::expected<CaptureOfStream, int> capture_of(const void* handle) {
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  Stream* stream = made_stream(handle);
  if (stream == nullptr) return CaptureOfStream{};
  if (stream->capture == nullptr) return CaptureOfStream{nullptr, &stream->last};
  stream->capture->keep_living(stream->last);
  return CaptureOfStream{&in_graph(*stream->capture), &stream->last};
}

int update_dependencies(const void* stream, const void* const* nodes, std::size_t count,
                        unsigned flags) {
  constexpr unsigned kSet = 1;  // else they are added
  const auto capture = capture_of(stream);
  if (!capture) return capture.error();
  if (capture->capture == nullptr) return kIllegalState;
  if ((nodes == nullptr && count != 0) || flags > kSet) return kInvalidValue;
  const Graph* graph = capture->capture->graph();
  if (graph == nullptr) return kStreamCaptureInvalidated;
  std::vector<GraphNode*> wanted;
  for (const void* handle : std::span(nodes, count)) {
    wanted.push_back(find_node(*graph, handle));
    if (wanted.back() == nullptr) return kInvalidValue;
  }
  std::vector<GraphNode*>& last = *capture->last;
  if (flags == kSet) {
    // Nodes that the program takes out of the stream's order may come after the capture's end.
    for (const GraphNode* node : and_all_before(last)) capture->capture->noted.erase(node->number);
    last.clear();
  }
  for (GraphNode* node : wanted) {
    if (std::ranges::find(last, node) == last.end()) last.push_back(node);
  }
  return kSuccess;
}

}  // namespace

WW_HIP_EXPORT int hipStreamBeginCapture(void* stream, int mode) {
  return guarded_work([&] { return begin_capture(stream, mode); });
}
WW_HIP_EXPORT int hipStreamBeginCaptureToGraph(void* stream, void* graph, const void* const* nodes,
                                               const void* edges, std::size_t count, int mode) {
  return guarded_work([&] { return begin_capture_to(stream, graph, nodes, edges, count, mode); });
}
WW_HIP_EXPORT int hipStreamEndCapture(void* stream, void** graph) {
  return guarded_work([&] { return finish_capture(stream, graph); });
}
WW_HIP_EXPORT int hipStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id,
                                             void** graph, void* const** nodes,
                                             std::size_t* count) {
  const int code = hipStreamGetCaptureInfo(stream, status, id);
  if (code != kSuccess || *status == 0) return code;
  return guarded([&]() -> int {
    const auto found = capture_of(stream);
    if (!found) return found.error();
    if (found->capture == nullptr) return kSuccess;
    if (graph != nullptr) *graph = found->capture->graph();
    // The array is the stream's, until its next work.
    if (nodes != nullptr) *nodes = reinterpret_cast<void* const*>(found->last->data());
    if (count != nullptr) *count = found->last->size();
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamUpdateCaptureDependencies(void* stream, const void* const* nodes,
                                                     std::size_t count, unsigned flags) {
  return guarded([&] { return update_dependencies(stream, nodes, count, flags); });
}
}  // namespace ww::sim::driver::hip
