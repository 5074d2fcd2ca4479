#include "opencl/memory/approximable.hpp"

#include "opencl/memory/memory.hpp"

namespace ww::sim::driver {
namespace {

constexpr float kAsTheRunChooses = -1;

}  // namespace

void approximate_buffer(std::vector<ApproximationRule>& rules, cl_mem memory) {
  for (ApproximationRule& rule : rules) {
    if (rule.buffer == 0 || rule.buffer != memory->serial) continue;
    rule.used = declare_approximable(memory, rule.type, kAsTheRunChooses) == CL_SUCCESS;
  }
}

void approximate_arguments(std::vector<ApproximationRule>& rules, const _cl_kernel& kernel) {
  for (ApproximationRule& rule : rules) {
    if (rule.kernel != kernel.info->name) continue;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const ArgumentState& argument = kernel.arguments[i];
      const bool meant =
          argument.metadata->name == rule.argument || std::to_string(i) == rule.argument;
      if (!meant || argument.memory == nullptr) continue;
      rule.used = declare_approximable(argument.memory, rule.type, kAsTheRunChooses) == CL_SUCCESS;
    }
  }
}

}  // namespace ww::sim::driver
