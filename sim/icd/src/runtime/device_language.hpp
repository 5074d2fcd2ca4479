// What OpenCL C has on a device, by its instruction set.
#pragma once

#include <string_view>

namespace ww::sim::icd {

struct DeviceLanguage {
  bool halves{};      // cl_khr_fp16
  bool images{true};  // image functions
};
// `gfx_target`: "gfx942", say. CDNA 3 has no image instructions, and
// RDNA's are not executed.
[[nodiscard]] DeviceLanguage device_language(std::string_view gfx_target);

}  // namespace ww::sim::icd
