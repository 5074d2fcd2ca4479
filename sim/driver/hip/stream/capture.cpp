// Captures: what streams note in a graph instead of running it.
#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <unordered_set>
#include <vector>

#include "hip/stream/capture.hpp"
#include "hip/stream/graph.hpp"

namespace ww::sim::driver::hip {
namespace {

// A thread's permissions while some stream captures (hipThreadExchangeStreamCaptureMode).
int& capture_mode_of_thread() {
  thread_local int mode = kCaptureGlobal;
  return mode;
}

// Whether the legacy default stream would have to wait for work that is only noted.
bool capture_blocks_legacy() {
  return std::ranges::any_of(streams(), [](const auto& entry) {
    return entry.second->capture != nullptr && entry.second->flags != kStreamNonBlocking;
  });
}

// Whether every node that any of the streams noted lies before the last ones of this stream, or is
// one of them.
bool joined(const Stream& origin) {
  const std::unordered_set<const GraphNode*> before = and_all_before(origin.last);
  return std::ranges::all_of(origin.capture->graph()->nodes, [&](const auto& node) {
    return !origin.capture->noted.contains(node->number) || before.contains(node.get());
  });
}

// Takes nodes out that the program has destroyed in the graph that a capture adds to.
void keep_living(std::vector<GraphNode*>& nodes, const Capture& capture) {
  const Graph* graph = capture.graph();
  std::erase_if(nodes, [graph](const GraphNode* node) {
    return graph == nullptr || find_node(*graph, node) == nullptr;
  });
}

// Lets go of a capture: every stream runs its commands again.
void end_capture(const std::shared_ptr<Capture>& capture) {
  std::erase_if(streams(), [&](const auto& entry) {
    return entry.second->capture == capture && entry.second->stands_in;
  });
  for (auto& [handle, stream] : streams()) {
    if (stream->capture != capture) continue;
    stream->capture = nullptr;
    stream->last.clear();
    stream->began = false;
  }
  forget_capture_in_events(capture);
}

// `graph`: that the nodes are added to; null: one of its own.
int begin_capture(const void* handle, int mode, Graph* graph = nullptr) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  if (mode < kCaptureGlobal || mode > kCaptureRelaxed) return kInvalidValue;
  Stream* stream = stream_that_captures(handle);
  if (stream == nullptr) return kStreamCaptureUnsupported;
  if (stream->capture != nullptr) return kIllegalState;
  auto capture = std::make_shared<Capture>();
  if (graph == nullptr) {
    capture->own = std::make_unique<Graph>();
  } else {
    capture->added_to = graph;
    capture->number = graph->number;
  }
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  stream->capture = std::move(capture);
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
  if (capture->graph() == nullptr) capture->failed = true;
  keep_living(stream->last, *capture);
  const bool whole = !capture->failed && joined(*stream);
  end_capture(capture);
  if (capture->failed) return kStreamCaptureInvalidated;
  if (!whole) return kStreamCaptureUnjoined;
  if (capture->own == nullptr) {
    *graph = capture->added_to;
    return kSuccess;
  }
  *graph = publish_graph(std::move(capture->own));
  return kSuccess;
}

// A stream's capture, and the nodes that its next one runs after. Error kContextIsDestroyed. No
// capture: null.
struct CaptureOfStream {
  Capture* capture{};
  std::vector<GraphNode*>* last{};
};
tl::expected<CaptureOfStream, int> capture_of(const void* handle) {
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  Stream* stream = made_stream(handle);
  if (stream == nullptr) return CaptureOfStream{};
  if (stream->capture != nullptr) keep_living(stream->last, *stream->capture);
  return CaptureOfStream{stream->capture.get(), &stream->last};
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
    // Nodes that the program takes out of the stream's order need not end before the capture.
    for (const GraphNode* node : and_all_before(last)) capture->capture->noted.erase(node->number);
    last.clear();
  }
  for (GraphNode* node : wanted) {
    if (std::ranges::find(last, node) == last.end()) last.push_back(node);
  }
  return kSuccess;
}

}  // namespace

Graph* Capture::graph() const {
  if (own != nullptr) return own.get();
  Graph* const found = find_graph(added_to);
  return found != nullptr && found->number == number ? found : nullptr;
}

void end_capture_of(const Stream& stream) {
  if (stream.began) end_capture(std::shared_ptr<Capture>(stream.capture));
}

tl::expected<Capture*, int> capture_for_work(const void* handle) {
  stream_of_work() = handle;
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  if (Stream* stream = made_stream(handle); stream != nullptr) {
    if (stream->capture == nullptr) {
      device().select_device(stream->device);
      return nullptr;
    }
    if (stream->capture->graph() == nullptr) stream->capture->failed = true;
    if (stream->capture->failed) return tl::unexpected<int>(kStreamCaptureInvalidated);
    keep_living(stream->last, *stream->capture);
    return stream->capture.get();
  }
  if (reinterpret_cast<std::uintptr_t>(handle) == kPerThreadStream) return nullptr;
  for (auto& [other, stream] : streams()) {
    if (stream->capture == nullptr || stream->flags == kStreamNonBlocking) continue;
    stream->capture->failed = true;
    return tl::unexpected<int>(kStreamCaptureImplicit);
  }
  return nullptr;
}

void note_work(const void* handle, NodeKind kind, NodeWork what) {
  Stream& stream = *made_stream(handle);
  GraphNode& node = add_node(*stream.capture->graph(), kind, std::move(what), stream.last);
  node.device = stream.device;
  stream.capture->noted.insert(node.number);
  stream.last = {&node};
}

int refuse_in_capture(const void* handle) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  Stream* stream = made_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) return kSuccess;
  stream->capture->failed = true;
  return kStreamCaptureUnsupported;
}

int refuse_in_any_capture() {
  int code = kSuccess;
  for (auto& [handle, stream] : streams()) {
    if (stream->capture == nullptr) continue;
    stream->capture->failed = true;
    code = kStreamCaptureUnsupported;
  }
  return code;
}

int refuse_unsafe_in_capture() {
  const int mode = capture_mode_of_thread();
  if (mode == kCaptureRelaxed) return kSuccess;
  int code = kSuccess;
  for (auto& [handle, stream] : streams()) {
    Capture* const capture = stream->capture.get();
    if (capture == nullptr || capture->mode == kCaptureRelaxed) continue;
    const bool of_thread = capture->thread == std::this_thread::get_id();
    if (!of_thread && (mode != kCaptureGlobal || capture->mode != kCaptureGlobal)) continue;
    capture->failed = true;
    code = kStreamCaptureUnsupported;
  }
  return code;
}

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
WW_HIP_EXPORT int hipStreamIsCapturing(void* stream, int* status) {
  return guarded([&]() -> int {
    if (status == nullptr) return kInvalidValue;
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    if (is_legacy(stream) && capture_blocks_legacy()) return kStreamCaptureImplicit;
    *status = found->capture == nullptr ? 0 : found->capture->failed ? 2 : 1;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  const int code = hipStreamIsCapturing(stream, status);
  if (code != kSuccess || *status == 0 || id == nullptr) return code;
  return guarded([&]() -> int {
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    *id = reinterpret_cast<std::uintptr_t>(found->capture.get());
    return kSuccess;
  });
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
WW_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int* mode) {
  return guarded([&]() -> int {
    if (mode == nullptr || *mode < kCaptureGlobal || *mode > kCaptureRelaxed) return kInvalidValue;
    std::swap(capture_mode_of_thread(), *mode);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
