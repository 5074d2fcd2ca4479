// Mistakes that a launch made, said on stderr and counted.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ww/binpatch/code_object.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

// Says what the last launch did wrong with memory, each mistake of a kernel once, and counts it
// (Runtime::mistakes). `ended`: it came to its end.
void note_mistakes(gpu::ProgramId program, const binpatch::CodeObject& object,
                   const std::string& kernel, std::span<const std::byte> kernarg, bool ended);

// Whether a launch that failed had begun, so that its results are there in part; otherwise it was
// refused for what it asks for.
[[nodiscard]] bool has_begun(const Error& error);

// Why a launch of that kernel failed; the kernel is named once. Where it followed an argument that
// is null here, that is named, too.
[[nodiscard]] std::string why_it_failed(const binpatch::Kernel& kernel, const Error& error);

}  // namespace ww::sim::driver
