// The kernels of test/instructions.cl, built for each instruction set, on chips that execute it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::test {

// Paths of the objects, ";" between them.
inline std::vector<std::string> instruction_objects() {
  std::vector<std::string> paths(1);
  for (const char c : std::string(WW_INSTRUCTION_OBJECTS)) {
    if (c == ';') {
      paths.emplace_back();
    } else {
      paths.back() += c;
    }
  }
  return paths;
}

// Base of a test whose parameter is such a path.
class OnEachTarget : public ::testing::TestWithParam<std::string> {
 protected:
  OnEachTarget()
      : object_(read_object(GetParam())),
        target_(binpatch::to_string(object_.target())),
        gpu_(Options{.threads = 1}, false, {}, object_) {}

  [[nodiscard]] bool has(const std::string& kernel) const {
    return std::ranges::any_of(object_.kernels(),
                               [&kernel](const auto& each) { return each.name == kernel; });
  }
  [[nodiscard]] const std::string& target() const { return target_; }
  [[nodiscard]] TestGpu& gpu() { return gpu_; }

 private:
  binpatch::CodeObject object_;
  std::string target_;
  TestGpu gpu_;
};

// "emulator_instructions_gfx900.co" as "gfx900".
inline std::string target_of(const ::testing::TestParamInfo<std::string>& info) {
  const std::size_t from = info.param.rfind('_') + 1;
  return info.param.substr(from, info.param.rfind('.') - from);
}

}  // namespace ww::sim::gpu::test
