// How a kernel's launch is laid out: work-group size, LDS and hidden arguments. Free of the API.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver {

using Extent = std::array<std::uint32_t, 3>;

struct LaunchShape {
  unsigned dimensions{1};
  Extent global{1, 1, 1};
  Extent local{1, 1, 1};
  std::array<std::uint64_t, 3> offset{};
};

// A work-group size for an application that names none: divides `global` evenly, at most
// `max_size` work-items, whole wavefronts where the extents allow it.
[[nodiscard]] Extent choose_local_size(const Extent& global, std::uint32_t max_size,
                                       std::uint32_t wavefront);

// Writes, of the arguments, the hidden ones of code object versions 4 and 5 that depend on the
// launch.
void write_hidden_arguments(std::span<const binpatch::KernelArgument> arguments,
                            const LaunchShape& shape, std::uint32_t dynamic_lds_bytes,
                            std::span<std::byte> kernarg);

// A hidden argument that no driver here knows ("hidden_..."): the kernel cannot run without it.
// Empty: there is none.
[[nodiscard]] std::string_view unknown_hidden_argument(
    std::span<const binpatch::KernelArgument> arguments);
// Names of the hidden arguments that are null here, as kernels cannot launch kernels: a kernel that
// follows one ends at an address near 0. Kernels that call by pointer have them, too, without use.
[[nodiscard]] std::string null_hidden_arguments(
    std::span<const binpatch::KernelArgument> arguments);

}  // namespace ww::sim::driver
