// Nodes of graphs: their edges and clones, what they are made of, events, memory, and objects whose
// life graphs share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "hip_graph_world.hpp"

namespace ww::sim::driver {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class HipGraphNodes : public HipGraph {
 protected:
  void SetUp() override {
    HipGraph::SetUp();
    ASSERT_EQ(hipGraphCreate(&graph_, 0), 0);
  }
  [[nodiscard]] hipMemsetParams all_words(unsigned value) const {
    return {data_, 4, 1, 256, value, 64};
  }
  hipGraphNode_t add_fill(unsigned value, const std::vector<hipGraphNode_t>& after = {}) {
    hipGraphNode_t node = nullptr;
    const hipMemsetParams fill = all_words(value);
    EXPECT_EQ(hipGraphAddMemsetNode(&node, graph_, after.data(), after.size(), &fill), 0);
    return node;
  }
  hipGraphNode_t add_read(std::vector<int>& out, const std::vector<hipGraphNode_t>& after = {}) {
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddMemcpyNode1D(&node, graph_, after.data(), after.size(), out.data(), data_,
                                      256, hipMemcpyDeviceToHost),
              0);
    return node;
  }
  hipGraphNode_t add_allocation(hipMemAllocNodeParams& wanted, std::size_t bytes) {
    wanted = {};
    wanted.poolProps.allocType = hipMemAllocationTypePinned;
    wanted.poolProps.location = {hipMemLocationTypeDevice, 0};
    wanted.bytesize = bytes;
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddMemAllocNode(&node, graph_, nullptr, 0, &wanted), 0);
    return node;
  }
  static std::uint64_t graph_memory(int attribute) {
    std::uint64_t bytes = ~std::uint64_t{0};
    EXPECT_EQ(hipDeviceGetGraphMemAttribute(0, attribute, &bytes), 0);
    return bytes;
  }
  static int type_of(hipGraphNode_t node) {
    int type = -1;
    EXPECT_EQ(hipGraphNodeGetType(node, &type), 0);
    return type;
  }

  hipGraph_t graph_{};
};

TEST_F(HipGraphNodes, ACloneIsAGraphOfItsOwn) {
  std::vector<int> out(64), of_clone(64);
  const hipGraphNode_t fill = add_fill(7);
  const hipGraphNode_t read = add_read(out, {fill});
  hipGraph_t clone = nullptr;
  ASSERT_EQ(hipGraphClone(&clone, graph_), 0);
  hipGraphNode_t cloned_fill = nullptr, cloned_read = nullptr, none = nullptr;
  ASSERT_EQ(hipGraphNodeFindInClone(&cloned_fill, fill, clone), 0);
  ASSERT_EQ(hipGraphNodeFindInClone(&cloned_read, read, clone), 0);
  EXPECT_NE(cloned_fill, fill);
  EXPECT_EQ(type_of(cloned_fill), hipGraphNodeTypeMemset);
  const hipMemsetParams nine = all_words(9);
  EXPECT_EQ(hipGraphMemsetNodeSetParams(cloned_fill, &nine), 0);
  EXPECT_EQ(hipGraphMemcpyNodeSetParams1D(cloned_read, of_clone.data(), data_, 256,
                                          hipMemcpyDeviceToHost),
            0);
  EXPECT_EQ(hipGraphLaunch(instantiate(clone), stream_), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  EXPECT_THAT(of_clone, Each(9));
  EXPECT_THAT(out, Each(7));

  EXPECT_EQ(hipGraphNodeFindInClone(&none, fill, graph_), kInvalidValue);  // no clone of its own
  EXPECT_EQ(hipGraphNodeFindInClone(&none, cloned_fill, clone), kInvalidValue);
  EXPECT_EQ(hipGraphNodeFindInClone(nullptr, fill, clone), kInvalidValue);
  EXPECT_EQ(hipGraphClone(nullptr, graph_), kInvalidValue);
  EXPECT_EQ(hipGraphDestroy(graph_), 0);
  EXPECT_EQ(hipGraphClone(&clone, graph_), kInvalidValue);
  EXPECT_EQ(hipGraphNodeFindInClone(&none, fill, clone), kInvalidValue);  // it is gone
}

TEST_F(HipGraphNodes, AChildIsACopyAndCanBeExchanged) {
  std::vector<int> out(64);
  add_fill(3);
  hipGraph_t parent = nullptr, inside = nullptr;
  hipGraphNode_t child = nullptr, read = nullptr;
  ASSERT_EQ(hipGraphCreate(&parent, 0), 0);
  ASSERT_EQ(hipGraphAddChildGraphNode(&child, parent, nullptr, 0, graph_), 0);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&read, parent, &child, 1, out.data(), data_, 256,
                                    hipMemcpyDeviceToHost),
            0);
  EXPECT_EQ(type_of(child), hipGraphNodeTypeGraph);
  ASSERT_EQ(hipGraphChildGraphNodeGetGraph(child, &inside), 0);
  EXPECT_NE(inside, graph_);
  hipGraphNode_t node = nullptr;
  std::size_t count = 1;
  ASSERT_EQ(hipGraphGetNodes(inside, &node, &count), 0);
  ASSERT_EQ(count, 1U);
  hipMemsetParams fill{};
  ASSERT_EQ(hipGraphMemsetNodeGetParams(node, &fill), 0);
  EXPECT_EQ(fill.value, 3U);
  EXPECT_EQ(hipGraphDestroy(inside), kInvalidValue);  // it is its node's
  hipGraph_t clone = nullptr;
  ASSERT_EQ(hipGraphClone(&clone, parent), 0);
  hipGraphExec_t executable = instantiate(parent);
  hipGraphExec_t of_clone = instantiate(clone);
  EXPECT_EQ(hipGraphDestroy(parent), 0);
  EXPECT_EQ(hipGraphLaunch(of_clone, stream_), 0);
  EXPECT_THAT(out, Each(3));
  EXPECT_EQ(hipGraphExecChildGraphNodeSetParams(executable, child, graph_), kInvalidValue);

  ASSERT_EQ(hipGraphNodeFindInClone(&child, child, clone), kInvalidValue);
  std::size_t one = 1;
  ASSERT_EQ(hipGraphGetRootNodes(clone, &child, &one), 0);
  const hipMemsetParams four = all_words(4);
  hipGraph_t other = nullptr;
  ASSERT_EQ(hipGraphCreate(&other, 0), 0);
  ASSERT_EQ(hipGraphAddMemsetNode(&node, other, nullptr, 0, &four), 0);
  EXPECT_EQ(hipGraphExecChildGraphNodeSetParams(of_clone, child, other), 0);
  EXPECT_EQ(hipGraphLaunch(of_clone, stream_), 0);
  EXPECT_THAT(out, Each(4));
  ASSERT_EQ(hipGraphAddMemsetNode(&node, other, nullptr, 0, &four), 0);  // another shape
  EXPECT_EQ(hipGraphExecChildGraphNodeSetParams(of_clone, child, other), 999);
}

TEST_F(HipGraphNodes, EdgesAreListedAndRemoved) {
  std::vector<int> out(64);
  const hipGraphNode_t read = add_read(out);
  const hipGraphNode_t fill = add_fill(7);
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, &fill, 1), 0);
  EXPECT_EQ(type_of(empty), hipGraphNodeTypeEmpty);
  EXPECT_EQ(hipGraphAddDependencies(graph_, &empty, &read, 1), 0);
  hipGraphNode_t from[3] = {}, to[3] = {};
  std::size_t count = 0;
  EXPECT_EQ(hipGraphGetEdges(graph_, nullptr, nullptr, &count), 0);
  EXPECT_EQ(count, 2U);
  count = 3;
  EXPECT_EQ(hipGraphGetEdges(graph_, from, to, &count), 0);
  EXPECT_EQ(count, 2U);
  EXPECT_THAT(from, ElementsAre(empty, fill, nullptr));
  EXPECT_THAT(to, ElementsAre(read, empty, nullptr));
  EXPECT_EQ(hipGraphGetEdges(graph_, from, nullptr, &count), kInvalidValue);
  const auto neighbours = [](auto call, hipGraphNode_t node) {
    hipGraphNode_t found[2] = {};
    std::size_t room = 2;
    EXPECT_EQ(call(node, found, &room), 0);
    return std::vector<hipGraphNode_t>(found, found + room);
  };
  EXPECT_THAT(neighbours(hipGraphNodeGetDependencies, empty), ElementsAre(fill));
  EXPECT_THAT(neighbours(hipGraphNodeGetDependentNodes, empty), ElementsAre(read));
  EXPECT_THAT(neighbours(hipGraphNodeGetDependencies, fill), ElementsAre());

  EXPECT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  EXPECT_THAT(out, Each(7));
  // Without what lies between, the nodes run in the order in which they were added.
  EXPECT_EQ(hipGraphDestroyNode(empty), 0);
  EXPECT_EQ(hipGraphDestroyNode(empty), kInvalidValue);
  EXPECT_THAT(neighbours(hipGraphNodeGetDependencies, read), ElementsAre());
  EXPECT_EQ(hipMemset(data_, 0, 256), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  EXPECT_THAT(out, Each(0));
  EXPECT_EQ(hipGraphAddDependencies(graph_, &fill, &read, 1), 0);
  EXPECT_EQ(hipGraphRemoveDependencies(graph_, &fill, &read, 1), 0);
  EXPECT_EQ(hipGraphRemoveDependencies(graph_, &fill, &read, 1), kInvalidValue);
  EXPECT_THAT(neighbours(hipGraphNodeGetDependencies, read), ElementsAre());
  EXPECT_EQ(hipGraphNodeGetType(empty, nullptr), kInvalidValue);
}

TEST_F(HipGraphNodes, ACapturedKernelIsDescribedAndChanged) {
  auto* other = allocate<int>(64);
  ASSERT_EQ(hipMemset(other, 0, 256), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  launch_on(stream_, data_);
  hipGraph_t captured = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &captured), 0);
  hipGraphNode_t node = nullptr;
  std::size_t count = 1;
  ASSERT_EQ(hipGraphGetNodes(captured, &node, &count), 0);
  EXPECT_EQ(type_of(node), hipGraphNodeTypeKernel);
  hipKernelNodeParams call{};
  ASSERT_EQ(hipGraphKernelNodeGetParams(node, &call), 0);
  EXPECT_EQ(call.func, function("increment"));
  EXPECT_EQ(call.blockDim.x, 64U);
  EXPECT_EQ(call.gridDim.x, 1U);
  // The program's own pointer is long gone: the node has a copy.
  EXPECT_EQ(*static_cast<int**>(call.kernelParams[0]), data_);
  hipGraphExec_t executable = instantiate(captured);
  void* arguments[] = {&other};
  call.kernelParams = arguments;
  EXPECT_EQ(hipGraphExecKernelNodeSetParams(executable, node, &call), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_THAT(values(data_), Each(0));
  EXPECT_THAT(values(other), Each(1));
  // The graph itself still has the first argument, and takes the other one, too.
  EXPECT_EQ(hipGraphLaunch(instantiate(captured), stream_), 0);
  EXPECT_THAT(values(data_), Each(1));
  EXPECT_EQ(hipGraphKernelNodeSetParams(node, &call), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(captured), stream_), 0);
  EXPECT_THAT(values(other), Each(2));
  call.func = &call;
  EXPECT_EQ(hipGraphKernelNodeSetParams(node, &call), kInvalidFunction);
  EXPECT_EQ(hipGraphKernelNodeSetParams(add_fill(1), &call), kInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeSetParams(node, nullptr), kInvalidValue);
}

TEST_F(HipGraphNodes, CopiesFillsAndHostFunctionsAreDescribedAndChanged) {
  std::vector<int> out(64), wider(64), seen;
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  EXPECT_EQ(hipMemsetAsync(data_, 1, 256, stream_), 0);
  EXPECT_EQ(hipMemcpyAsync(out.data(), data_, 256, hipMemcpyDeviceToHost, stream_), 0);
  const auto note = [](void* user) { static_cast<std::vector<int>*>(user)->push_back(1); };
  EXPECT_EQ(hipLaunchHostFunc(stream_, note, &seen), 0);
  hipGraph_t captured = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &captured), 0);
  hipGraphNode_t nodes[3] = {};
  std::size_t count = 3;
  ASSERT_EQ(hipGraphGetNodes(captured, nodes, &count), 0);
  ASSERT_EQ(count, 3U);
  EXPECT_EQ(type_of(nodes[1]), hipGraphNodeTypeMemcpy);
  EXPECT_EQ(type_of(nodes[2]), hipGraphNodeTypeHost);
  hipMemsetParams fill{};
  hipMemcpy3DParms copy{};
  hipHostNodeParams host{};
  ASSERT_EQ(hipGraphMemsetNodeGetParams(nodes[0], &fill), 0);
  ASSERT_EQ(hipGraphMemcpyNodeGetParams(nodes[1], &copy), 0);
  ASSERT_EQ(hipGraphHostNodeGetParams(nodes[2], &host), 0);
  EXPECT_EQ(fill.dst, data_);
  EXPECT_EQ(fill.width * fill.elementSize, 256U);
  EXPECT_EQ(copy.dstPtr.ptr, out.data());
  EXPECT_EQ(copy.extent.width, 256U);
  EXPECT_EQ(copy.kind, hipMemcpyDeviceToHost);
  EXPECT_EQ(host.userData, &seen);
  EXPECT_EQ(hipGraphMemsetNodeGetParams(nodes[1], &fill), kInvalidValue);
  EXPECT_EQ(hipGraphMemsetNodeGetParams(nodes[0], nullptr), kInvalidValue);

  hipGraphExec_t executable = instantiate(captured);
  // The node does what the calls returned.
  EXPECT_EQ(hipGraphMemsetNodeSetParams(nodes[0], &fill), 0);
  copy.dstPtr.ptr = wider.data();
  EXPECT_EQ(hipGraphMemcpyNodeSetParams(nodes[1], &copy), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(captured), stream_), 0);
  EXPECT_THAT(wider, Each(0x01010101));
  EXPECT_THAT(out, Each(0));
  EXPECT_THAT(seen, ElementsAre(1));
  std::vector<int> others;
  host.userData = &others;
  copy.extent.width = 128;
  EXPECT_EQ(hipGraphExecHostNodeSetParams(executable, nodes[2], &host), 0);
  copy.dstPtr.ptr = out.data();
  const std::size_t pitch = std::exchange(copy.dstPtr.pitch, 64);
  EXPECT_EQ(hipGraphMemcpyNodeSetParams(nodes[1], &copy), kInvalidPitch);
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams(executable, nodes[1], &copy), kInvalidValue);
  copy.dstPtr.pitch = pitch;
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams(executable, nodes[1], &copy), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(out[31], 0x01010101);
  EXPECT_EQ(out[32], 0);
  EXPECT_THAT(seen, ElementsAre(1));
  EXPECT_THAT(others, ElementsAre(1));
  EXPECT_EQ(hipGraphHostNodeSetParams(nodes[2], &host), 0);
  EXPECT_EQ(hipGraphLaunch(instantiate(captured), stream_), 0);
  EXPECT_THAT(others, ElementsAre(1, 1));
}

TEST_F(HipGraphNodes, ANodeIsSwitchedOffInOneExecutable) {
  const hipGraphNode_t fill = add_fill(7);
  hipGraphExec_t first = instantiate(graph_), second = instantiate(graph_);
  unsigned enabled = 7;
  EXPECT_EQ(hipGraphNodeSetEnabled(first, fill, 0), 0);
  EXPECT_EQ(hipGraphNodeGetEnabled(first, fill, &enabled), 0);
  EXPECT_EQ(enabled, 0U);
  EXPECT_EQ(hipGraphNodeGetEnabled(second, fill, &enabled), 0);
  EXPECT_EQ(enabled, 1U);
  EXPECT_EQ(hipGraphLaunch(first, stream_), 0);
  EXPECT_THAT(values(data_), Each(0));
  hipGraphNode_t error = nullptr;
  int result = -1;
  EXPECT_EQ(hipGraphExecUpdate(first, graph_, &error, &result), 0);
  EXPECT_EQ(hipGraphLaunch(first, stream_), 0);
  EXPECT_THAT(values(data_), Each(0));
  EXPECT_EQ(hipGraphNodeSetEnabled(first, fill, 1), 0);
  EXPECT_EQ(hipGraphLaunch(first, stream_), 0);
  EXPECT_THAT(values(data_), Each(7));
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, nullptr, 0), 0);
  EXPECT_EQ(hipGraphNodeSetEnabled(first, empty, 0), kInvalidValue);  // added later
  EXPECT_EQ(hipGraphNodeSetEnabled(instantiate(graph_), empty, 0), kInvalidValue);
}

TEST_F(HipGraphNodes, EventsAreRecordedWhereTheirNodesRun) {
  hipEvent_t start = nullptr, stop = nullptr, later = nullptr;
  ASSERT_EQ(hipEventCreate(&start), 0);
  ASSERT_EQ(hipEventCreate(&stop), 0);
  ASSERT_EQ(hipEventCreate(&later), 0);
  hipGraphNode_t first = nullptr, last = nullptr, wait = nullptr;
  ASSERT_EQ(hipGraphAddEventRecordNode(&first, graph_, nullptr, 0, start), 0);
  const hipGraphNode_t fill = add_fill(7, {first});
  ASSERT_EQ(hipGraphAddEventRecordNode(&last, graph_, &fill, 1, stop), 0);
  ASSERT_EQ(hipGraphAddEventWaitNode(&wait, graph_, &last, 1, stop), 0);
  EXPECT_EQ(type_of(last), hipGraphNodeTypeEventRecord);
  EXPECT_EQ(type_of(wait), hipGraphNodeTypeWaitEvent);
  hipEvent_t told = nullptr;
  EXPECT_EQ(hipGraphEventRecordNodeGetEvent(last, &told), 0);
  EXPECT_EQ(told, stop);
  EXPECT_EQ(hipGraphEventWaitNodeGetEvent(wait, &told), 0);
  EXPECT_EQ(told, stop);
  EXPECT_EQ(hipGraphEventWaitNodeGetEvent(last, &told), kInvalidValue);
  float milliseconds = 0;
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), kInvalidHandle);  // not recorded
  hipGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(hipGraphExecEventRecordNodeSetEvent(executable, last, later), 0);
  launch_on(stream_, data_);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, later), 0);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, start, stop), 0);
  EXPECT_LT(milliseconds, 0);  // of the launch before
  EXPECT_EQ(hipGraphEventRecordNodeSetEvent(last, nullptr), kInvalidValue);
  EXPECT_EQ(hipEventDestroy(later), 0);
  EXPECT_EQ(hipGraphEventRecordNodeSetEvent(last, later), kInvalidHandle);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), kInvalidHandle);
}

TEST_F(HipGraphNodes, MemoryIsTheProgramsFromItsNodesRunUntilItIsFreed) {
  std::vector<int> out(64);
  hipMemAllocNodeParams memory{};
  const hipGraphNode_t allocate = add_allocation(memory, 256);
  ASSERT_NE(memory.dptr, nullptr);
  EXPECT_EQ(type_of(allocate), hipGraphNodeTypeMemAlloc);
  const hipMemsetParams seven = {memory.dptr, 4, 1, 256, 7, 64};
  hipGraphNode_t fill = nullptr, read = nullptr, release = nullptr, again = nullptr;
  ASSERT_EQ(hipGraphAddMemsetNode(&fill, graph_, &allocate, 1, &seven), 0);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&read, graph_, &fill, 1, out.data(), memory.dptr, 256,
                                    hipMemcpyDeviceToHost),
            0);
  EXPECT_EQ(hipFree(memory.dptr), kInvalidValue);  // not yet allocated
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemCurrent), 0U);
  EXPECT_EQ(graph_memory(hipGraphMemAttrReservedMemCurrent), 256U);
  hipGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_THAT(out, Each(7));
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemCurrent), 256U);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), kInvalidValue);  // it is still in use
  EXPECT_EQ(hipFreeAsync(memory.dptr, stream_), 0);
  EXPECT_EQ(hipFreeAsync(memory.dptr, stream_), kInvalidValue);
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemCurrent), 0U);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(hipFree(memory.dptr), 0);
  // One executable graph at a time, as there is one address.
  hipGraphExec_t second = nullptr;
  EXPECT_EQ(hipGraphInstantiate(&second, graph_, nullptr, nullptr, 0), kNotSupported);
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  ASSERT_EQ(hipGraphAddMemFreeNode(&release, graph_, &read, 1, memory.dptr), 0);
  EXPECT_EQ(type_of(release), hipGraphNodeTypeMemFree);
  EXPECT_EQ(hipGraphAddMemFreeNode(&again, graph_, &read, 1, memory.dptr), kInvalidValue);
  EXPECT_EQ(hipGraphAddMemFreeNode(&again, graph_, &read, 1, data_), kInvalidValue);
  ASSERT_EQ(hipGraphInstantiate(&second, graph_, nullptr, nullptr, 0), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hipGraphLaunch(second, stream_), 0);
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemCurrent), 0U);
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemHigh), 256U);
  std::uint64_t none = 0;
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemHigh, &none), 0);
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemHigh), 0U);
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, hipGraphMemAttrUsedMemCurrent, &none), kInvalidValue);
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(1, 0, &none), kInvalidDevice);
  EXPECT_EQ(hipDeviceGetGraphMemAttribute(0, 4, &none), kInvalidValue);
  EXPECT_EQ(hipDeviceGraphMemTrim(0), 0);
  EXPECT_EQ(hipDeviceGraphMemTrim(1), kInvalidDevice);
  hipMemAllocNodeParams told{};
  EXPECT_EQ(hipGraphMemAllocNodeGetParams(allocate, &told), 0);
  EXPECT_EQ(told.dptr, memory.dptr);
  EXPECT_EQ(told.bytesize, 256U);
  void* freed = nullptr;
  EXPECT_EQ(hipGraphMemFreeNodeGetParams(release, &freed), 0);
  EXPECT_EQ(freed, memory.dptr);
  // Neither cloned nor inside another graph nor taken out.
  hipGraph_t other = nullptr;
  hipGraphNode_t child = nullptr;
  EXPECT_EQ(hipGraphClone(&other, graph_), kNotSupported);
  ASSERT_EQ(hipGraphCreate(&other, 0), 0);
  EXPECT_EQ(hipGraphAddChildGraphNode(&child, other, nullptr, 0, graph_), kNotSupported);
  EXPECT_EQ(hipGraphDestroyNode(allocate), kNotSupported);
  EXPECT_EQ(hipGraphExecDestroy(second), 0);
  EXPECT_EQ(hipGraphDestroy(graph_), 0);
  EXPECT_EQ(graph_memory(hipGraphMemAttrReservedMemCurrent), 0U);
  EXPECT_EQ(hipMemset(memory.dptr, 0, 4), kInvalidValue);
}

TEST_F(HipGraphNodes, MemoryOutlivesItsGraphWhileTheProgramHasIt) {
  hipMemAllocNodeParams memory{};
  add_allocation(memory, 4096);
  hipGraphInstantiateParams how{};
  how.flags = hipGraphInstantiateFlagAutoFreeOnLaunch;
  how.result_out = -1;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiateWithParams(&executable, graph_, &how), 0);
  EXPECT_EQ(how.result_out, 0);
  unsigned long long flags = 0;
  EXPECT_EQ(hipGraphExecGetFlags(executable, &flags), 0);
  EXPECT_EQ(flags, hipGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(hipGraphDestroy(graph_), 0);
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  EXPECT_EQ(graph_memory(hipGraphMemAttrReservedMemCurrent), 0U);
  EXPECT_EQ(hipMemset(memory.dptr, 0, 4096), 0);
  EXPECT_EQ(hipFree(memory.dptr), 0);
  EXPECT_EQ(hipFree(memory.dptr), kInvalidValue);

  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph_, 0), 0);
  const auto refused = [&](auto change) {
    hipMemAllocNodeParams wanted{};
    wanted.poolProps.allocType = hipMemAllocationTypePinned;
    wanted.poolProps.location = {hipMemLocationTypeDevice, 0};
    wanted.bytesize = 64;
    change(wanted);
    return hipGraphAddMemAllocNode(&node, graph_, nullptr, 0, &wanted);
  };
  EXPECT_EQ(refused([](auto& wanted) { wanted.bytesize = 0; }), kInvalidValue);
  EXPECT_EQ(refused([](auto& wanted) { wanted.poolProps.allocType = 0; }), kInvalidValue);
  EXPECT_EQ(refused([](auto& wanted) { wanted.poolProps.location.type = 0; }), kInvalidValue);
  EXPECT_EQ(refused([](auto& wanted) { wanted.poolProps.location.id = 1; }), kInvalidValue);
  EXPECT_EQ(refused([](auto& wanted) { wanted.bytesize = std::size_t{1} << 60; }), 2);
  EXPECT_EQ(hipGraphAddMemAllocNode(&node, graph_, nullptr, 0, nullptr), kInvalidValue);
  EXPECT_EQ(hipGraphAddMemFreeNode(&node, graph_, nullptr, 0, nullptr), kInvalidValue);
}

TEST_F(HipGraphNodes, AStreamCapturesMemoryInItsOrder) {
  std::vector<int> out(64);
  hipGraph_t captured = nullptr;
  void* memory = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  ASSERT_EQ(hipMallocAsync(&memory, 256, stream_), 0);
  EXPECT_EQ(hipMemsetAsync(memory, 0, 256, stream_), 0);
  launch_on(stream_, static_cast<int*>(memory));
  EXPECT_EQ(hipMemcpyAsync(out.data(), memory, 256, hipMemcpyDeviceToHost, stream_), 0);
  EXPECT_EQ(hipFreeAsync(memory, stream_), 0);
  ASSERT_EQ(hipStreamEndCapture(stream_, &captured), 0);
  std::size_t count = 0;
  EXPECT_EQ(hipGraphGetNodes(captured, nullptr, &count), 0);
  EXPECT_EQ(count, 5U);
  hipGraphExec_t executable = instantiate(captured);
  for (int i = 0; i < 3; ++i) {
    out.assign(64, 0);
    EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
    EXPECT_THAT(out, Each(1));
  }
  EXPECT_EQ(graph_memory(hipGraphMemAttrUsedMemCurrent), 0U);
  // Memory from outside is freed once.
  void* outside = nullptr;
  ASSERT_EQ(hipMallocAsync(&outside, 256, stream_), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  EXPECT_EQ(hipFreeAsync(outside, stream_), 0);
  EXPECT_EQ(hipFreeAsync(&count, stream_), kInvalidValue);
  ASSERT_EQ(hipStreamEndCapture(stream_, &captured), 0);
  executable = instantiate(captured);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), kInvalidValue);
  EXPECT_EQ(hipFree(outside), kInvalidValue);
}

TEST_F(HipGraphNodes, AProgramAddsNodesToACapture) {
  int status = -1;
  unsigned long long id = 0;
  hipGraph_t captured = nullptr, ended = nullptr;
  const hipGraphNode_t* last = nullptr;
  std::size_t count = 77;
  EXPECT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count, 77U);
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  EXPECT_EQ(hipMemsetAsync(data_, 1, 256, stream_), 0);
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  EXPECT_EQ(status, 1);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(type_of(*last), hipGraphNodeTypeMemset);
  hipGraphNode_t own = nullptr;
  const hipMemsetParams seven = all_words(7);
  ASSERT_EQ(hipGraphAddMemsetNode(&own, captured, last, 1, &seven), 0);
  EXPECT_EQ(hipGraphDestroyNode(own), kInvalidValue);  // the stream may need it
  EXPECT_EQ(hipGraphDestroy(captured), kInvalidValue);
  hipGraphExec_t early = nullptr;
  EXPECT_EQ(hipGraphInstantiate(&early, captured, nullptr, nullptr, 0), kInvalidValue);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream_, &own, 1, 0), 0);  // both
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream_, &own, 1, 1), 0);  // this one alone
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(*last, own);
  hipGraphNode_t stranger = add_fill(1);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream_, &stranger, 1, 0), kInvalidValue);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream_, &own, 1, 2), kInvalidValue);
  launch_on(stream_, data_);
  ASSERT_EQ(hipStreamEndCapture(stream_, &ended), 0);
  EXPECT_EQ(ended, captured);
  EXPECT_EQ(hipStreamUpdateCaptureDependencies(stream_, &own, 1, 0), 401);
  EXPECT_EQ(hipGraphLaunch(instantiate(ended), stream_), 0);
  EXPECT_THAT(values(data_), Each(8));
}

TEST_F(HipGraphNodes, WhatAProgramTakesOutOfACapturesOrderNeedNotBeJoined) {
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  EXPECT_EQ(hipMemsetAsync(data_, 1, 256, stream_), 0);
  int status = 0;
  unsigned long long id = 0;
  hipGraph_t captured = nullptr;
  const hipGraphNode_t* last = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  hipGraphNode_t beside = nullptr, instead = nullptr;
  const hipMemsetParams three = all_words(3), seven = all_words(7);
  ASSERT_EQ(hipGraphAddMemsetNode(&beside, captured, nullptr, 0, &three), 0);
  ASSERT_EQ(hipGraphAddMemsetNode(&instead, captured, &beside, 1, &seven), 0);
  ASSERT_EQ(hipStreamUpdateCaptureDependencies(stream_, &instead, 1, 1), 0);
  launch_on(stream_, data_);
  hipGraph_t ended = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream_, &ended), 0);
  EXPECT_EQ(ended, captured);
  EXPECT_EQ(hipGraphGetNodes(ended, nullptr, &count), 0);
  EXPECT_EQ(count, 4U);
  // Nodes that the program adds by itself need not be joined either.
  ASSERT_EQ(hipStreamBeginCapture(stream_, 0), 0);
  launch_on(stream_, data_);
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(stream_, &status, &id, &captured, &last, &count), 0);
  ASSERT_EQ(hipGraphAddMemsetNode(&beside, captured, nullptr, 0, &three), 0);
  EXPECT_EQ(hipStreamEndCapture(stream_, &ended), 0);
}

TEST_F(HipGraphNodes, ObjectsLiveAsLongAsTheGraphsThatUseThem) {
  int destroyed = 0;
  const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
  hipUserObject_t object = nullptr;
  ASSERT_EQ(hipUserObjectCreate(&object, &destroyed, destroy, 1, 1), 0);
  EXPECT_EQ(hipGraphRetainUserObject(graph_, object, 1, 1), 0);  // moved: the graph's alone
  hipGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(hipGraphDestroy(graph_), 0);
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(hipGraphExecDestroy(executable), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(hipUserObjectRelease(object, 1), 0);  // gone: as with AMD's runtime no error
  EXPECT_EQ(destroyed, 1);

  ASSERT_EQ(hipGraphCreate(&graph_, 0), 0);
  ASSERT_EQ(hipUserObjectCreate(&object, &destroyed, destroy, 2, 1), 0);
  EXPECT_EQ(hipUserObjectRetain(object, 1), 0);
  EXPECT_EQ(hipGraphRetainUserObject(graph_, object, 2, 0), 0);
  EXPECT_EQ(hipUserObjectRelease(object, 3), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(hipGraphReleaseUserObject(graph_, object, 3), 0);  // more than it has
  EXPECT_EQ(hipGraphReleaseUserObject(graph_, object, 1), 0);
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(hipGraphReleaseUserObject(graph_, object, 1), 0);
  EXPECT_EQ(destroyed, 2);
  EXPECT_EQ(hipUserObjectCreate(&object, &destroyed, destroy, 0, 1), kInvalidValue);
  EXPECT_EQ(hipUserObjectCreate(&object, &destroyed, destroy, 1, 0), kInvalidValue);
  EXPECT_EQ(hipUserObjectCreate(&object, &destroyed, nullptr, 1, 1), kInvalidValue);
  EXPECT_EQ(hipUserObjectRetain(nullptr, 1), kInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(nullptr, object, 1, 0), kInvalidValue);
  EXPECT_EQ(hipGraphRetainUserObject(graph_, object, 1, 2), kInvalidValue);
}

}  // namespace
}  // namespace ww::sim::driver
