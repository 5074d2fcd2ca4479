// What OpenCL C has on a device, by its instruction set.
#pragma once

#include <string_view>

namespace ww::sim::icd {

struct DeviceLanguage {
  bool halves{};            // cl_khr_fp16
  bool images{true};        // image functions
  bool old_compiler{true};  // it may be LLVM 15, whose printf needs more help (end_of_prelude)
};
// `gfx_target`: "gfx942", say. CDNA 3 has no image instructions, and LLVM 15 does not know it.
[[nodiscard]] DeviceLanguage device_language(std::string_view gfx_target);

}  // namespace ww::sim::icd
