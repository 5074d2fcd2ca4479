// Device code as programs carry it: a code object, or clang's offload bundle of several, plain or
// compressed ("CCOB"). Source: LLVM, "Clang Offload Bundler".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sim::driver::hip {

// Size of images in the program's memory, which state their own length.
inline constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};

// The code object for the target ("gfx90a") out of what lies at `image`, of
// which `available` bytes exist. Errors: parse_error (nothing of the kind,
// or broken), unsupported (a compression that this library does not have),
// not_found (none for this target; the message lists what there is).
[[nodiscard]] Result<std::vector<std::byte>> code_for(const void* image, std::uint64_t available,
                                                      const std::string& target);

// Whether code for `id` ("gfx90a:sramecc+:xnack-", "gfx11-generic") runs on the target: a virtual
// GPU has ECC and does not retry page faults (xnack).
[[nodiscard]] bool runs_on(const std::string& id, const std::string& target);

}  // namespace ww::sim::driver::hip
