// Derives facts about the device and its binaries from an OpenCL driver's names.
#pragma once

#include <string>
#include <string_view>

namespace ww::microbench {

struct OpenClNames {
  std::string_view platform;  // CL_PLATFORM_NAME
  std::string_view device;    // CL_DEVICE_NAME
  std::string_view driver;    // CL_DRIVER_VERSION
};

struct OpenClIdentity {
  // The machine code's target: "gfx90a:sramecc+:xnack-". Empty where the names do not give it, as
  // NVIDIA's do not.
  std::string target;
  // Why the driver's binaries cannot be patched; empty where they may.
  std::string no_code;
};

// AMD's platforms (ROCm, PAL) name a device by its target; PAL's older compiler and Orca name it by
// its chip and make containers around the code ("Hawaii", driver 2xxx or "HSAIL"). rusticl writes
// the target among other words and gives SPIR-V. A runtime is recognised by its platform, because
// the words in a device's name agree. The virtual GPU's names end in "(gfx701)".
[[nodiscard]] OpenClIdentity identify_opencl(const OpenClNames& names);

}  // namespace ww::microbench
