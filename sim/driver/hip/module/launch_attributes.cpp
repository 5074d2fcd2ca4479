// Launches that a structure describes, with attributes (HIP 7). The one attribute that a kernel can
// notice here makes the launch cooperative.
#include <algorithm>
#include <span>

#include "hip/session/session.hpp"
#include "hip/session/types.hpp"

extern "C" {
int hipLaunchCooperativeKernel(const void*, ww::sim::driver::hip::Dim3, ww::sim::driver::hip::Dim3,
                               void**, unsigned, void*);
int hipLaunchKernel(const void*, ww::sim::driver::hip::Dim3, ww::sim::driver::hip::Dim3, void**,
                    std::size_t, void*);
int hipModuleLaunchCooperativeKernel(const void*, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, unsigned, void*, void**);
int hipModuleLaunchKernel(const void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, void*, void**, void**);
}

namespace ww::sim::driver::hip {
namespace {

// hipLaunchAttribute.
struct LaunchAttribute {
  int name;
  int padding;
  union {
    int number;
    char bytes[64];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

// hipLaunchConfig_t and HIP_LAUNCH_CONFIG.
struct LaunchConfiguration {
  Dim3 blocks;
  Dim3 threads;
  std::size_t dynamic_lds;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
struct FunctionConfiguration {
  Dim3 blocks;
  Dim3 threads;
  unsigned dynamic_lds;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
static_assert(sizeof(LaunchConfiguration) == 56 && sizeof(FunctionConfiguration) == 56);

template <class Configuration>
bool is_cooperative(const Configuration& configuration) {
  if (configuration.attributes == nullptr) return false;
  return std::ranges::any_of(std::span(configuration.attributes, configuration.count),
                             [](const LaunchAttribute& attribute) {
                               return attribute.name == kAttributeCooperative &&
                                      attribute.value.number != 0;
                             });
}

}  // namespace

WW_HIP_EXPORT int hipLaunchKernelExC(const LaunchConfiguration* configuration, const void* stub,
                                     void** arguments) {
  if (configuration == nullptr || stub == nullptr) return finish(kInvalidValue);
  const auto& [blocks, threads, dynamic_lds, stream, attributes, count] = *configuration;
  if (!is_cooperative(*configuration)) {
    return hipLaunchKernel(stub, blocks, threads, arguments, dynamic_lds, stream);
  }
  if (dynamic_lds > UINT32_MAX) return finish(kInvalidValue);
  return hipLaunchCooperativeKernel(stub, blocks, threads, arguments,
                                    static_cast<unsigned>(dynamic_lds), stream);
}
WW_HIP_EXPORT int hipDrvLaunchKernelEx(const FunctionConfiguration* configuration,
                                       const void* function, void** arguments, void** extra) {
  if (configuration == nullptr || function == nullptr) return finish(kInvalidValue);
  const auto& [blocks, threads, dynamic_lds, stream, attributes, count] = *configuration;
  if (!is_cooperative(*configuration)) {
    return hipModuleLaunchKernel(function, blocks.x, blocks.y, blocks.z, threads.x, threads.y,
                                 threads.z, dynamic_lds, stream, arguments, extra);
  }
  return hipModuleLaunchCooperativeKernel(function, blocks.x, blocks.y, blocks.z, threads.x,
                                          threads.y, threads.z, dynamic_lds, stream, arguments);
}

}  // namespace ww::sim::driver::hip
