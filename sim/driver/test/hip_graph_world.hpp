// Sets up the tests of graphs: a stream, and 64 integers that are 0.
#pragma once

#include <vector>

#include "hip_graph_declarations.hpp"
#include "hip_world.hpp"

namespace ww::sim::driver {

class HipGraph : public Hip {
 protected:
  void SetUp() override {
    Hip::SetUp();
    ASSERT_EQ(hipStreamCreate(&stream_), 0);
    data_ = allocate<int>(64);
    ASSERT_EQ(hipMemset(data_, 0, 256), 0);
  }
  void launch_on(hipStream_t stream, int* data) {
    void* arguments[] = {&data};
    EXPECT_EQ(hipModuleLaunchKernel(function("increment"), 1, 1, 1, 64, 1, 1, 0, stream, arguments,
                                    nullptr),
              0);
  }
  std::vector<int> values(const int* data) {
    std::vector<int> out(64);
    EXPECT_EQ(hipMemcpy(out.data(), data, 256, hipMemcpyDeviceToHost), 0);
    return out;
  }
  hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t executable = nullptr;
    EXPECT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
    return executable;
  }

  hipStream_t stream_{};
  int* data_{};
};

}  // namespace ww::sim::driver
