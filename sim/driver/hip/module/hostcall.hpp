// Serves the requests of running HIP kernels to the host: printf, the text of assert, memory for
// their heap. A kernel puts a packet of up to 64 lanes' words on a stack in memory and waits until
// the host clears the packet's ready bit. Source: ROCm device libraries, ockl/src/hostcall_impl.cl
// and services.cl.
#pragma once

#include <cstddef>
#include <span>

#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver::hip {

// Writes the buffer's address into a kernel's hidden argument and lets the virtual GPU serve it;
// nothing for kernels without that argument. False when there is no memory.
[[nodiscard]] bool place_hostcall_buffer(const binpatch::Kernel& kernel,
                                         std::span<std::byte> kernarg);
// After a launch: forgets messages that a failed kernel left unfinished.
void end_hostcalls();

}  // namespace ww::sim::driver::hip
