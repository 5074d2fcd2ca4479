// Captures of streams: of a thread's default stream, into a graph that the program has, and what
// no capture allows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "hip_graph_world.hpp"

extern "C" {
int hipStreamBeginCaptureToGraph(hipStream_t, hipGraph_t, const hipGraphNode_t*, const void*,
                                 std::size_t, int);
int hipStreamIsCapturing(hipStream_t, int*);
int hipThreadExchangeStreamCaptureMode(int*);
}

namespace ww::sim::driver {
namespace {

constexpr int kGlobal = 0;
constexpr int kThreadLocal = 1;
constexpr int kRelaxed = 2;
constexpr int kUnsupported = 900;
constexpr int kInvalidated = 901;
constexpr int kImplicit = 906;
constexpr int kWrongThread = 908;

// hipStreamPerThread.
hipStream_t per_thread_stream() {
  return reinterpret_cast<hipStream_t>(2);  // NOLINT(performance-no-int-to-ptr)
}

int status_of(hipStream_t stream) {
  int status = -1;
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), 0);
  return status;
}

TEST_F(HipGraph, CapturesTheDefaultStreamOfAThread) {
  ASSERT_EQ(hipStreamBeginCapture(per_thread_stream(), kRelaxed), 0);
  EXPECT_EQ(hipStreamBeginCapture(per_thread_stream(), kRelaxed), 401);
  launch_on(per_thread_stream(), data_);
  // The default stream of another thread is another stream.
  std::thread([] { EXPECT_EQ(status_of(per_thread_stream()), 0); }).join();
  EXPECT_EQ(status_of(per_thread_stream()), 1);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(per_thread_stream(), &graph), 0);
  EXPECT_EQ(status_of(per_thread_stream()), 0);
  EXPECT_EQ(values(data_)[0], 0);
  ASSERT_EQ(hipGraphLaunch(instantiate(graph), per_thread_stream()), 0);
  EXPECT_EQ(values(data_)[0], 1);
}

TEST_F(HipGraph, CapturesIntoAGraphThatIsThere) {
  hipGraph_t graph = nullptr;
  hipGraphNode_t first = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), 0);
  ASSERT_EQ(hipGraphAddEmptyNode(&first, graph, nullptr, 0), 0);
  ASSERT_EQ(hipStreamBeginCaptureToGraph(stream_, graph, &first, nullptr, 1, kRelaxed), 0);
  launch_on(stream_, data_);
  hipGraph_t ended = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &ended), 0);
  EXPECT_EQ(ended, graph);
  std::size_t nodes = 0, edges = 0;
  ASSERT_EQ(hipGraphGetNodes(graph, nullptr, &nodes), 0);
  ASSERT_EQ(hipGraphGetEdges(graph, nullptr, nullptr, &edges), 0);
  EXPECT_EQ(nodes, 2);
  EXPECT_EQ(edges, 1);
  ASSERT_EQ(hipGraphLaunch(instantiate(graph), stream_), 0);
  EXPECT_EQ(values(data_)[0], 1);
  const auto begin = [&](hipGraph_t to, const hipGraphNode_t* after, std::size_t count) {
    return hipStreamBeginCaptureToGraph(stream_, to, after, nullptr, count, kRelaxed);
  };
  EXPECT_EQ(begin(nullptr, nullptr, 0), kInvalidValue);
  EXPECT_EQ(begin(graph, nullptr, 1), kInvalidValue);
  EXPECT_EQ(begin(graph, &first, 0), kInvalidValue);
  hipGraphNode_t stranger = nullptr;
  EXPECT_EQ(begin(graph, &stranger, 1), kInvalidValue);
  // The graph goes while a stream captures into it.
  ASSERT_EQ(begin(graph, nullptr, 0), 0);
  ASSERT_EQ(hipGraphDestroy(graph), 0);
  EXPECT_EQ(hipMemsetAsync(data_, 0, 4, stream_), kInvalidated);
  EXPECT_EQ(hipStreamEndCapture(stream_, &ended), kInvalidated);
}

TEST_F(HipGraph, SurvivesNodesAndGraphsThatGoDuringACapture) {
  hipGraph_t graph = nullptr, ended = nullptr;
  hipGraphNode_t first = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), 0);
  ASSERT_EQ(hipGraphAddEmptyNode(&first, graph, nullptr, 0), 0);
  ASSERT_EQ(hipStreamBeginCaptureToGraph(stream_, graph, &first, nullptr, 1, kRelaxed), 0);
  ASSERT_EQ(hipGraphDestroyNode(first), 0);
  launch_on(stream_, data_);
  ASSERT_EQ(hipStreamEndCapture(stream_, &ended), 0);
  EXPECT_EQ(ended, graph);
  ASSERT_EQ(hipStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0, kRelaxed), 0);
  ASSERT_EQ(hipGraphDestroy(graph), 0);
  EXPECT_EQ(hipStreamEndCapture(stream_, &ended), kInvalidated);
  // Another graph at the same place is another graph.
  ASSERT_EQ(hipGraphCreate(&graph, 0), 0);
  ASSERT_EQ(hipStreamBeginCaptureToGraph(stream_, graph, nullptr, nullptr, 0, kRelaxed), 0);
  ASSERT_EQ(hipGraphDestroy(graph), 0);
  ASSERT_EQ(hipGraphCreate(&graph, 0), 0);
  EXPECT_EQ(hipStreamEndCapture(stream_, &ended), kInvalidated);
  EXPECT_EQ(hipGraphDestroy(graph), 0);
}

TEST_F(HipGraph, ACaptureEndsInItsThreadUnlessItIsRelaxed) {
  for (const int mode : {kGlobal, kThreadLocal, kRelaxed}) {
    ASSERT_EQ(hipStreamBeginCapture(stream_, mode), 0);
    hipGraph_t graph = nullptr;
    std::thread([&] {
      EXPECT_EQ(hipStreamEndCapture(stream_, &graph), mode == kRelaxed ? 0 : kWrongThread);
    }).join();
    if (mode != kRelaxed) {
      EXPECT_EQ(hipStreamEndCapture(stream_, &graph), 0);
    }
  }
}

TEST_F(HipGraph, RefusesInACaptureWhatMayWait) {
  void* memory = nullptr;
  hipGraph_t graph = nullptr;
  // A thread may say that it knows what it does, and a relaxed capture does.
  ASSERT_EQ(hipStreamBeginCapture(stream_, kRelaxed), 0);
  EXPECT_EQ(hipMalloc(&memory, 64), 0);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream_, kGlobal), 0);
  int mode = kRelaxed;
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(mode, kGlobal);
  EXPECT_EQ(hipFree(memory), 0);
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), 0);
  EXPECT_EQ(mode, kRelaxed);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), 0);
  // A capture refuses its own thread's hipMalloc in any mode but that; another's in global mode.
  ASSERT_EQ(hipStreamBeginCapture(stream_, kThreadLocal), 0);
  std::thread([&] {
    EXPECT_EQ(hipMalloc(&memory, 64), 0);
    EXPECT_EQ(hipFree(memory), 0);
  }).join();
  EXPECT_EQ(hipMalloc(&memory, 64), kUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), kInvalidated);
  ASSERT_EQ(hipStreamBeginCapture(stream_, kGlobal), 0);
  std::thread([&] { EXPECT_EQ(hipMalloc(&memory, 64), kUnsupported); }).join();
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), kInvalidated);
}

TEST_F(HipGraph, RefusesInACaptureToWaitForAnotherStream) {
  hipStream_t other = nullptr;
  ASSERT_EQ(hipStreamCreate(&other), 0);
  hipGraph_t graph = nullptr;
  for (const auto wait : {hipStreamSynchronize, hipStreamQuery}) {
    for (const int mode : {kGlobal, kThreadLocal, kRelaxed}) {
      ASSERT_EQ(hipStreamBeginCapture(stream_, mode), 0);
      EXPECT_EQ(wait(other), mode == kRelaxed ? 0 : kUnsupported);
      EXPECT_EQ(hipStreamEndCapture(stream_, &graph), mode == kRelaxed ? 0 : kInvalidated);
      ASSERT_EQ(hipStreamBeginCapture(stream_, mode), 0);
      std::thread([&] { EXPECT_EQ(wait(other), mode == kGlobal ? kUnsupported : 0); }).join();
      EXPECT_EQ(hipStreamEndCapture(stream_, &graph), mode == kGlobal ? kInvalidated : 0);
    }
    ASSERT_EQ(hipStreamBeginCapture(stream_, kGlobal), 0);
    EXPECT_EQ(wait(nullptr), 0);
    EXPECT_EQ(hipStreamEndCapture(stream_, &graph), 0);
  }
  EXPECT_EQ(hipStreamDestroy(other), 0);
}

TEST_F(HipGraph, TheLegacyStreamCannotTellWhileAnotherOneCaptures) {
  ASSERT_EQ(hipStreamBeginCapture(stream_, kRelaxed), 0);
  int status = 0;
  EXPECT_EQ(hipStreamIsCapturing(nullptr, &status), kImplicit);
  EXPECT_EQ(hipStreamIsCapturing(stream_, nullptr), kInvalidValue);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), 0);  // asking breaks nothing
  EXPECT_EQ(status_of(nullptr), 0);
}

}  // namespace
}  // namespace ww::sim::driver
