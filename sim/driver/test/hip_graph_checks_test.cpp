// Tests the checks of graphs: parameters when a node is made, and what may take another's place.
// Nodes by one structure for every kind, attributes of kernels, and drawings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "hip_graph_world.hpp"
#include "ww/core/temporary_folder.hpp"

namespace {

// hipGraphNodeParams: one part is in use, by the kind.
struct AnyNode {
  int kind{};
  int reserved[3]{};
  long long part[29]{};
  long long later{};
};
template <class Part>
AnyNode any_of(int kind, const Part& part) {
  AnyNode any{kind};
  std::memcpy(any.part, &part, sizeof part);
  return any;
}
struct DriverMemset {
  void* to{};
  std::size_t pitch{};
  unsigned value{}, element_bytes{};
  std::size_t width{}, height{};
};
// An attribute's value, as large as in the headers that first had it.
struct AttributeValue {
  alignas(8) char bytes[32]{};
};

}  // namespace

extern "C" {
int hipDrvGraphAddMemsetNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                             const DriverMemset*, void*);
int hipGraphAddNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t, AnyNode*);
int hipGraphDebugDotPrint(hipGraph_t, const char*, unsigned);
int hipGraphExecNodeSetParams(hipGraphExec_t, hipGraphNode_t, const AnyNode*);
int hipGraphKernelNodeCopyAttributes(hipGraphNode_t, hipGraphNode_t);
int hipGraphKernelNodeGetAttribute(hipGraphNode_t, int, AttributeValue*);
int hipGraphKernelNodeSetAttribute(hipGraphNode_t, int, const AttributeValue*);
int hipGraphNodeSetParams(hipGraphNode_t, const AnyNode*);
int hipGraphAddMemcpyNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                          const hipMemcpy3DParms*);
int hipGraphAddKernelNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                          const hipKernelNodeParams*);
int hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t, hipGraphNode_t, void*, const void*,
                                      std::size_t, int);
}

namespace ww::sim::driver {
namespace {

constexpr int kUpdateFailed = 910;

class HipGraphChecks : public HipGraph {
 protected:
  void SetUp() override {
    HipGraph::SetUp();
    ASSERT_EQ(hipGraphCreate(&graph_, 0), 0);
  }
  hipKernelNodeParams kernel(const char* name, unsigned blocks, void** arguments) {
    return {dim3(64), nullptr, function(name), dim3(blocks), arguments, 0};
  }
  hipGraph_t graph_{};
  hipGraphNode_t node_{};
};

TEST_F(HipGraphChecks, BoxesThatLeaveTheirMemoryAreNoNodes) {
  std::vector<int> host(64);
  hipMemcpy3DParms good{};
  good.srcPtr = {host.data(), 64, 64, 2};
  good.dstPtr = {data_, 64, 64, 2};
  good.extent = {64, 2, 2};
  good.kind = hipMemcpyHostToDevice;
  EXPECT_EQ(hipGraphAddMemcpyNode(&node_, graph_, nullptr, 0, &good), 0);
  const auto with = [&](auto change) {
    hipMemcpy3DParms wrong = good;
    change(wrong);
    return hipGraphAddMemcpyNode(&node_, graph_, nullptr, 0, &wrong);
  };
  EXPECT_EQ(with([](auto& box) { box.dstPtr.pitch = 63; }), kInvalidPitch);
  EXPECT_EQ(with([](auto& box) { box.srcPtr.pitch = 63; }), kInvalidPitch);
  EXPECT_EQ(with([](auto& box) { box.dstPtr.pitch = 1 << 30; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.dstPos.x = 1; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.dstPos.y = 1; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.dstPos.z = 1; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.extent.depth = 3; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.srcPtr.ptr = nullptr; }), kInvalidValue);
  EXPECT_EQ(with([](auto& box) { box.kind = -1; }), kInvalidDirection);
  EXPECT_EQ(hipGraphAddMemcpyNode1D(&node_, graph_, nullptr, 0, data_, host.data(), 257,
                                    hipMemcpyHostToDevice),
            kInvalidValue);
  // The kind names the host's side.
  for (const int kind : {hipMemcpyDeviceToDevice, hipMemcpyDeviceToHost}) {
    EXPECT_EQ(hipGraphAddMemcpyNode1D(&node_, graph_, nullptr, 0, data_, host.data(), 256, kind),
              kInvalidValue);
  }
}

TEST_F(HipGraphChecks, FillsThatLeaveTheirMemoryAreNoNodes) {
  hipMemsetParams good{};
  good.dst = data_;
  good.elementSize = 4;
  good.width = 8;
  good.height = 2;
  good.pitch = 64;
  EXPECT_EQ(hipGraphAddMemsetNode(&node_, graph_, nullptr, 0, &good), 0);
  const auto with = [&](auto change) {
    hipMemsetParams wrong = good;
    change(wrong);
    return hipGraphAddMemsetNode(&node_, graph_, nullptr, 0, &wrong);
  };
  EXPECT_EQ(with([](auto& fill) { fill.width = 0; }), kInvalidValue);
  EXPECT_EQ(with([](auto& fill) { fill.height = 0; }), kInvalidValue);
  EXPECT_EQ(with([](auto& fill) { fill.pitch = 31; }), kInvalidValue);
  EXPECT_EQ(with([](auto& fill) { fill.height = 5; }), kInvalidValue);
  EXPECT_EQ(with([](auto& fill) { fill.width = SIZE_MAX; }), kInvalidValue);
  EXPECT_EQ(with([](auto& fill) { fill.elementSize = 3; }), kInvalidValue);
  DriverMemset driver{data_, 64, 7, 4, 8, 2};
  ASSERT_EQ(hipDrvGraphAddMemsetNode(&node_, graph_, nullptr, 0, &driver, nullptr), 0);
  ASSERT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  const std::vector<int> filled = values(data_);
  EXPECT_EQ(filled[7], 7);
  EXPECT_EQ(filled[8], 0);
  EXPECT_EQ(filled[16], 7);
}

TEST_F(HipGraphChecks, AnUpdateKeepsTopologyKindsAndDirections) {
  std::vector<int> host(64);
  hipGraphNode_t copy = nullptr, fill = nullptr;
  hipMemsetParams memset{};
  memset.dst = data_;
  memset.elementSize = 4;
  memset.width = memset.height = 1;
  const auto add_copy = [&](hipGraph_t graph, int kind) {
    const bool to_device = kind == hipMemcpyHostToDevice;
    EXPECT_EQ(hipGraphAddMemcpyNode1D(
                  &copy, graph, nullptr, 0, to_device ? static_cast<void*>(data_) : host.data(),
                  to_device ? static_cast<void*>(host.data()) : data_, 256, kind),
              0);
  };
  const auto add_fill = [&](hipGraph_t graph) {
    EXPECT_EQ(hipGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset), 0);
  };
  add_copy(graph_, hipMemcpyHostToDevice);
  add_fill(graph_);
  ASSERT_EQ(hipGraphAddDependencies(graph_, &copy, &fill, 1), 0);
  EXPECT_EQ(hipGraphAddDependencies(graph_, &copy, &fill, 1), kInvalidValue);  // there already
  const hipGraphExec_t executable = instantiate(graph_);
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams1D(executable, copy, host.data(), data_, 256,
                                              hipMemcpyDeviceToHost),
            kInvalidValue);
  EXPECT_EQ(hipGraphExecMemcpyNodeSetParams1D(executable, copy, data_, host.data(), 0,
                                              hipMemcpyHostToDevice),
            kInvalidValue);
  memset.height = 2;
  memset.pitch = 64;
  EXPECT_EQ(hipGraphExecMemsetNodeSetParams(executable, fill, &memset), kInvalidValue);
  memset.height = 1;
  const auto update = [&](auto build, hipGraphNode_t& where) {
    hipGraph_t other = nullptr;
    EXPECT_EQ(hipGraphCreate(&other, 0), 0);
    build(other);
    int why = -1;
    const int code = hipGraphExecUpdate(executable, other, &where, &why);
    EXPECT_EQ(code, why == 0 ? 0 : kUpdateFailed);
    return why;
  };
  hipGraphNode_t where = nullptr;
  EXPECT_EQ(update(
                [&](hipGraph_t graph) {
                  add_copy(graph, hipMemcpyHostToDevice);
                  add_fill(graph);
                  EXPECT_EQ(hipGraphAddDependencies(graph, &copy, &fill, 1), 0);
                },
                where),
            0);
  EXPECT_EQ(where, nullptr);
  EXPECT_EQ(update(
                [&](hipGraph_t graph) {
                  add_copy(graph, hipMemcpyHostToDevice);
                  add_fill(graph);
                },
                where),
            2);  // another topology
  EXPECT_EQ(update(
                [&](hipGraph_t graph) {
                  add_fill(graph);
                  add_copy(graph, hipMemcpyHostToDevice);
                  EXPECT_EQ(hipGraphAddDependencies(graph, &fill, &copy, 1), 0);
                },
                where),
            3);  // another kind
  EXPECT_EQ(where, fill);
  EXPECT_EQ(update(
                [&](hipGraph_t graph) {
                  add_copy(graph, hipMemcpyDeviceToHost);
                  add_fill(graph);
                  EXPECT_EQ(hipGraphAddDependencies(graph, &copy, &fill, 1), 0);
                },
                where),
            5);  // other parameters
  EXPECT_EQ(where, copy);
}

TEST_F(HipGraphChecks, AGraphTakesItselfAsAChild) {
  DriverMemset fill{data_, 0, 7, 4, 1, 1};
  ASSERT_EQ(hipDrvGraphAddMemsetNode(&node_, graph_, nullptr, 0, &fill, nullptr), 0);
  ASSERT_EQ(hipGraphAddChildGraphNode(&node_, graph_, nullptr, 0, graph_), 0);
  std::size_t nodes = 0;
  ASSERT_EQ(hipGraphGetNodes(graph_, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 2);
  ASSERT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  EXPECT_EQ(values(data_)[0], 7);
}

TEST_F(HipGraphChecks, ExecutablesTakeOneFlag) {
  hipGraphExec_t made = nullptr;
  for (const unsigned long long flags : {0, 1, 2, 4, 8}) {
    EXPECT_EQ(hipGraphInstantiateWithFlags(&made, graph_, flags), 0) << flags;
  }
  for (const unsigned long long flags : {10, 16}) {
    EXPECT_EQ(hipGraphInstantiateWithFlags(&made, graph_, flags), kInvalidValue) << flags;
  }
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, nullptr, 0), 0);
  unsigned enabled = 0;
  EXPECT_EQ(hipGraphNodeGetEnabled(instantiate(graph_), empty, &enabled), kInvalidValue);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that a mistaken program gives.
  EXPECT_EQ(hipDeviceSetGraphMemAttribute(0, 0, reinterpret_cast<void*>(-1)), kInvalidValue);
}

TEST_F(HipGraphChecks, OneStructureMakesNodesOfEveryKind) {
  hipMemsetParams fives{};
  fives.dst = data_;
  fives.elementSize = 4;
  fives.value = 5;
  fives.width = 64;
  fives.height = 1;
  const auto fill_with = [&](unsigned value) {
    fives.value = value;
    return any_of(hipGraphNodeTypeMemset, fives);
  };
  void* arguments[] = {&data_};
  AnyNode fill = fill_with(5);
  AnyNode increment = any_of(hipGraphNodeTypeKernel, kernel("increment", 1, arguments));
  hipGraphNode_t first = nullptr, second = nullptr;
  ASSERT_EQ(hipGraphAddNode(&first, graph_, nullptr, 0, &fill), 0);
  ASSERT_EQ(hipGraphAddNode(&second, graph_, &first, 1, &increment), 0);
  const hipGraphExec_t executable = instantiate(graph_);
  ASSERT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(values(data_)[63], 6);
  fill = fill_with(8);
  ASSERT_EQ(hipGraphExecNodeSetParams(executable, first, &fill), 0);
  ASSERT_EQ(hipGraphLaunch(executable, stream_), 0);
  EXPECT_EQ(values(data_)[63], 9);
  fill = fill_with(1);
  ASSERT_EQ(hipGraphNodeSetParams(first, &fill), 0);
  ASSERT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
  EXPECT_EQ(values(data_)[63], 2);
  EXPECT_EQ(hipGraphNodeSetParams(second, &fill), kInvalidValue);  // of another kind
  fill.kind = 99;
  EXPECT_EQ(hipGraphAddNode(&node_, graph_, nullptr, 0, &fill), kInvalidValue);
  EXPECT_EQ(hipGraphAddNode(&node_, graph_, nullptr, 0, nullptr), kInvalidValue);
}

TEST_F(HipGraphChecks, AnAttributeMakesALaunchCooperative) {
  constexpr int kWindow = 1, kCooperative = 2;
  void* arguments[] = {&data_};
  hipKernelNodeParams small = kernel("big_lds", 1, arguments);
  hipKernelNodeParams large = kernel("big_lds", 209, arguments);  // one more than fit at once
  hipGraphNode_t few = nullptr, many = nullptr;
  ASSERT_EQ(hipGraphAddKernelNode(&few, graph_, nullptr, 0, &small), 0);
  ASSERT_EQ(hipGraphAddKernelNode(&many, graph_, nullptr, 0, &large), 0);
  AttributeValue yes, said;
  yes.bytes[0] = 1;
  EXPECT_EQ(hipGraphKernelNodeGetAttribute(few, kCooperative, &said), 0);
  EXPECT_EQ(said.bytes[0], 0);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(few, kCooperative, &yes), 0);
  EXPECT_EQ(hipGraphKernelNodeGetAttribute(few, kCooperative, &said), 0);
  EXPECT_EQ(said.bytes[0], 1);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(many, kCooperative, &yes), kTooManyBlocks);
  EXPECT_EQ(hipGraphKernelNodeCopyAttributes(few, many), kTooManyBlocks);
  EXPECT_EQ(hipGraphKernelNodeGetAttribute(many, kCooperative, &said), 0);
  EXPECT_EQ(said.bytes[0], 0) << "what was refused is not kept";
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(many, kWindow, &yes), 0);
  struct {
    AttributeValue value;
    long long behind{-1};
  } in_row;
  EXPECT_EQ(hipGraphKernelNodeGetAttribute(many, kWindow, &in_row.value), 0);
  EXPECT_EQ(in_row.value.bytes[0], 1);
  EXPECT_EQ(in_row.behind, -1);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(many, 3, &yes), kInvalidValue);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(many, kWindow, nullptr), kInvalidValue);
  hipGraphNode_t empty = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&empty, graph_, nullptr, 0), 0);
  EXPECT_EQ(hipGraphKernelNodeSetAttribute(empty, kWindow, &yes), kInvalidValue);
  constexpr std::size_t kMisses = 16, kBytes = 24;  // where they are in a window
  for (const std::size_t place : {kMisses, kBytes}) {
    AttributeValue window;
    window.bytes[place] = 2;  // misses that persist, or a window of two bytes
    EXPECT_EQ(hipGraphKernelNodeSetAttribute(many, kWindow, &window), kInvalidValue) << place;
  }
  EXPECT_EQ(hipGraphLaunch(instantiate(graph_), stream_), 0);
}

TEST_F(HipGraphChecks, AGraphIsDrawn) {
  void* arguments[] = {&data_};
  hipKernelNodeParams launch = kernel("increment", 3, arguments);
  hipGraphNode_t first = nullptr, second = nullptr;
  ASSERT_EQ(hipGraphAddEmptyNode(&first, graph_, nullptr, 0), 0);
  ASSERT_EQ(hipGraphAddKernelNode(&second, graph_, &first, 1, &launch), 0);
  const auto folder = ScratchFolder::create("dot").value();
  const std::string path = (folder.path() / "graph.dot").string();
  ASSERT_EQ(hipGraphDebugDotPrint(graph_, path.c_str(), 1), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), ::testing::StartsWith("digraph"));
  EXPECT_THAT(text.str(), ::testing::HasSubstr("increment\\n3 x 1 x 1 blocks of 64 x 1 x 1"));
  EXPECT_THAT(text.str(), ::testing::ContainsRegex("node_[0-9]+ -> node_[0-9]+;"));
  EXPECT_EQ(hipGraphDebugDotPrint(graph_, (folder.path() / "no" / "graph.dot").c_str(), 0), 304);
  EXPECT_EQ(hipGraphDebugDotPrint(graph_, nullptr, 0), kInvalidValue);
  EXPECT_EQ(hipGraphDebugDotPrint(nullptr, path.c_str(), 0), kInvalidValue);
}

}  // namespace
}  // namespace ww::sim::driver
