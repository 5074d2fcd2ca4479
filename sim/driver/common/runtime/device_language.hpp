// Lists the features of OpenCL C on a device, by its instruction set.
#pragma once

#include <string_view>

namespace ww::sim::driver {

struct DeviceLanguage {
  bool halves{};      // cl_khr_fp16
  bool denormals{};   // of floats
  bool images{true};  // image functions
};
// `gfx_target`: "gfx942", say. CDNA 3 has no image instructions. Compiled code keeps denormal
// floats where that slows no multiply-add, which is from gfx9 on (getDefaultDenormsAreZeroForTarget
// of clang's AMDGPU tool chain); a program may give them up (-cl-denorms-are-zero).
[[nodiscard]] DeviceLanguage device_language(std::string_view gfx_target);

}  // namespace ww::sim::driver
