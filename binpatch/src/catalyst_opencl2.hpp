// Catalyst's later form of a program (OpenCL 2.0; AMDGPU-PRO's for every program): the outer file's
// .text holds one HSA object (ELF, relocatable) with all kernels in .hsatext, each a symbol of type
// AMDGPU_HSA_KERNEL that names an amd_kernel_code_t. Source: the public descriptions of the format
// by the CLRX project; LLVM, "User Guide for AMDGPU Backend", code object version 2.
#pragma once

#include "catalyst.hpp"
#include "raw_elf.hpp"

namespace ww::binpatch {

[[nodiscard]] bool is_opencl2(const RawElf& outer);
// Target and kernels; sources are the caller's. Errors as read_catalyst.
[[nodiscard]] Result<CatalystBinary> read_opencl2(const RawElf& outer,
                                                  std::optional<GfxTarget> given);

}  // namespace ww::binpatch
