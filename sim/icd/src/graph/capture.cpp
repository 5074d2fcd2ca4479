// What a stream has captured so far, and what its next node runs after: for programs that add nodes
// of their own in between.
#include <algorithm>
#include <span>

#include "graph/graph_table.hpp"
#include "hip/stream.hpp"

extern "C" int hipStreamGetCaptureInfo(void*, int*, unsigned long long*);

namespace ww::sim::icd::hip {
namespace {

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
    // What the program takes out of the stream's order need not come before the capture's end.
    for (const GraphNode* node : and_all_before(last)) capture->capture->noted.erase(node->number);
    last.clear();
  }
  for (GraphNode* node : wanted) {
    if (std::ranges::find(last, node) == last.end()) last.push_back(node);
  }
  return kSuccess;
}

}  // namespace

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

}  // namespace ww::sim::icd::hip
