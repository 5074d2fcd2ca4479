// Graphs: captured from streams, built node by node, changed and launched again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "hip_graph_world.hpp"

namespace ww::sim::driver {
namespace {

constexpr int kCaptureUnsupported = 900;
constexpr int kCaptureInvalidated = 901;
constexpr int kCaptureUnmatched = 903;
constexpr int kCaptureUnjoined = 904;
constexpr int kCaptureImplicit = 906;
constexpr int kCapturedEvent = 907;
constexpr int kUpdateFailure = 910;

TEST_F(HipGraph, RunsWhatAStreamCapturedAsOftenAsItIsLaunched) {
  hipGraph_t graph = nullptr;
  std::vector<int> out(64, -1);
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  launch_on(stream_, data_);
  launch_on(stream_, data_);
  ASSERT_EQ(hipMemcpyAsync(out.data(), data_, 256, hipMemcpyDeviceToHost, stream_), 0);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), 0);
  EXPECT_THAT(out, ::testing::Each(-1));
  EXPECT_THAT(values(data_), ::testing::Each(0));
  hipGraphExec_t executable = instantiate(graph);
  EXPECT_EQ(hipGraphDestroy(graph), 0);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
    EXPECT_EQ(hipStreamSynchronize(stream_), 0);
    EXPECT_THAT(out, ::testing::Each(2 * i));
  }
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  EXPECT_EQ(hipGraphExecDestroy(executable), kInvalidValue);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), kInvalidValue);
}

TEST_F(HipGraph, FollowsEventsIntoOtherStreams) {
  hipStream_t other = nullptr;
  hipEvent_t fork = nullptr, join = nullptr;
  ASSERT_EQ(hipStreamCreate(&other), 0);
  ASSERT_EQ(hipEventCreate(&fork), 0);
  ASSERT_EQ(hipEventCreate(&join), 0);
  hipGraph_t graph = nullptr;
  const auto capture = [&](bool joined) {
    EXPECT_EQ(hipStreamBeginCapture(stream_, 0), 0);
    launch_on(stream_, data_);
    EXPECT_EQ(hipEventRecord(fork, stream_), 0);
    EXPECT_EQ(hipStreamWaitEvent(other, fork, 0), 0);
    launch_on(other, data_);
    EXPECT_EQ(hipEventRecord(join, other), 0);
    if (joined) {
      EXPECT_EQ(hipStreamWaitEvent(stream_, join, 0), 0);
    }
    EXPECT_EQ(hipStreamEndCapture(other, &graph), kCaptureUnmatched);
    return hipStreamEndCapture(stream_, &graph);
  };
  EXPECT_EQ(capture(false), kCaptureUnjoined);
  ASSERT_EQ(capture(true), 0);
  std::size_t roots = 0, nodes = 0;
  EXPECT_EQ(hipGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(hipGraphGetRootNodes(graph, nullptr, &roots), 0);
  EXPECT_EQ(nodes, 2U);
  EXPECT_EQ(roots, 1U);
  EXPECT_EQ(hipGraphLaunch(instantiate(graph), nullptr), 0);
  EXPECT_THAT(values(data_), ::testing::Each(2));
}

TEST_F(HipGraph, FailsACaptureByTheCodeOfWhatBrokeIt) {
  hipGraph_t graph = nullptr;
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipEventCreate(&event), 0);
  const std::vector<std::pair<int, std::function<int()>>> mistakes = {
      {kCaptureUnsupported, [&] { return hipStreamSynchronize(stream_); }},
      {kCaptureUnsupported, [&] { return hipDeviceSynchronize(); }},
      {kCaptureImplicit, [&] { return hipMemset(data_, 1, 256); }},
      {kCapturedEvent,
       [&] {
         EXPECT_EQ(hipEventRecord(event, stream_), 0);
         return hipEventSynchronize(event);
       }},
  };
  for (const auto& [code, mistake] : mistakes) {
    ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
    EXPECT_EQ(mistake(), code);
    EXPECT_EQ(hipMemsetAsync(data_, 1, 256, stream_), kCaptureInvalidated);
    EXPECT_EQ(hipStreamEndCapture(stream_, &graph), kCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
  }
  EXPECT_EQ(hipStreamBeginCapture(nullptr, 0), kCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), 401);
  EXPECT_THAT(values(data_), ::testing::Each(0));
}

TEST_F(HipGraph, RunsNodesAfterThoseTheyDependOn) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), 0);
  std::vector<int> out(64), seen;
  hipGraphNode_t copy = nullptr, fill = nullptr, host = nullptr;
  struct Host {
    std::vector<int>* out;
    std::vector<int>* seen;
  } context{&out, &seen};
  const hipHostNodeParams note = {[](void* user) {
                                    auto* host = static_cast<Host*>(user);
                                    host->seen->push_back(host->out->front());
                                  },
                                  &context};
  const hipMemsetParams seven = {data_, 4, 1, 256, 7, 64};
  // Added against their order.
  ASSERT_EQ(hipGraphAddHostNode(&host, graph, nullptr, 0, &note), 0);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, out.data(), data_, 256,
                                    hipMemcpyDeviceToHost),
            0);
  ASSERT_EQ(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &seven), 0);
  const hipGraphNode_t from[] = {fill, copy}, to[] = {copy, host};
  ASSERT_EQ(hipGraphAddDependencies(graph, from, to, 2), 0);
  hipGraphExec_t executable = instantiate(graph);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  const hipMemsetParams nine = {data_, 4, 1, 256, 9, 64};
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(executable, fill, &nine), 0);
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(executable, copy, &nine), kInvalidValue);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_THAT(seen, ::testing::ElementsAre(7, 9));

  hipGraph_t larger = nullptr;
  hipGraphNode_t child = nullptr, error = nullptr;
  int result = 0;
  ASSERT_EQ(hipGraphCreate(&larger, 0), 0);
  ASSERT_EQ(hipGraphAddChildGraphNode(&child, larger, nullptr, 0, graph), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(larger), stream_), 0);
  EXPECT_THAT(seen, ::testing::ElementsAre(7, 9, 7));
  EXPECT_EQ(hipGraphExecUpdate(executable, graph, &error, &result), 0);
  EXPECT_EQ(hipGraphExecUpdate(executable, larger, &error, &result), kUpdateFailure);
  const hipGraphNode_t back_from[] = {host}, back_to[] = {fill};
  ASSERT_EQ(hipGraphAddDependencies(graph, back_from, back_to, 1), 0);
  EXPECT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), kInvalidValue);
  EXPECT_EQ(hipGraphAddEmptyNode(&child, nullptr, nullptr, 0), kInvalidValue);
}

TEST_F(HipGraph, DoesNotLaunchAKernelWhoseModuleIsGone) {
  hipModule_t module = nullptr;
  hipFunction_t kernel = nullptr;
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, code_object().data()), 0);
  ASSERT_EQ(hipModuleGetFunction(&kernel, module, "increment"), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  void* arguments[] = {&data_};
  EXPECT_EQ(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream_, arguments, nullptr), 0);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), 0);
  hipGraphExec_t executable = instantiate(graph);
  EXPECT_EQ(hipModuleUnload(module), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), kInvalidFunction);
}

TEST_F(HipGraph, CopiesAndFillsBoxes) {
  hipPitchedPtr box{};
  ASSERT_EQ(hipMalloc3D(&box, {20, 3, 4}), 0);
  EXPECT_EQ(box.pitch, 256U);
  EXPECT_EQ(hipMemset3D(box, 5, {20, 3, 4}), 0);
  std::vector<char> in(8 * 2 * 2, 1), out(20 * 3 * 4);
  hipMemcpy3DParms copy{};
  copy.srcPtr = {in.data(), 8, 8, 2};
  copy.dstPtr = box;
  copy.dstPos = {4, 1, 2};
  copy.extent = {8, 2, 2};
  copy.kind = hipMemcpyHostToDevice;
  EXPECT_EQ(hipMemcpy3D(&copy), 0);
  hipMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = {out.data(), 20, 20, 3};
  back.extent = {20, 3, 4};
  back.kind = hipMemcpyDeviceToHost;
  EXPECT_EQ(hipMemcpy3D(&back), 0);
  for (std::size_t z = 0; z < 4; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 20; ++x) {
        const bool copied = z >= 2 && y >= 1 && x >= 4 && x < 12;
        EXPECT_EQ(out[(z * 3 + y) * 20 + x], copied ? 1 : 5) << x << " " << y << " " << z;
      }
    }
  }
  copy.extent.depth = 3;  // beyond the fourth slice
  EXPECT_EQ(hipMemcpy3D(&copy), kInvalidValue);
  copy.extent = {8, 3, 1};  // beyond the third row
  EXPECT_EQ(hipMemcpy3D(&copy), kInvalidValue);
  EXPECT_EQ(hipMemcpy3D(nullptr), kInvalidValue);
}

}  // namespace
}  // namespace ww::sim::driver
