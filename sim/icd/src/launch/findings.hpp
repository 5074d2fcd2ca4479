// Mistakes with memory that a launch made, said on stderr.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ww/binpatch/code_object.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::icd {

// Says what the last launch did wrong with memory, each mistake of a kernel once.
void tell_findings(gpu::ProgramId program, const binpatch::CodeObject& object,
                   const std::string& kernel, std::span<const std::byte> kernarg);

}  // namespace ww::sim::icd
