#include "opencl/launch/dynamic_lds.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ww::sim::driver {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

std::optional<std::uint32_t> lay_out_lds(_cl_kernel& kernel) {
  const std::uint32_t own = kernel.info->descriptor.group_segment_fixed_size;
  std::uint64_t next = own;
  for (auto& argument : kernel.arguments) {
    if (argument.kind != ArgumentKind::local) continue;
    // Where the metadata says nothing, the largest type's alignment is always right.
    const std::uint32_t alignment = argument.metadata->pointee_align > 0
                                        ? std::bit_ceil(argument.metadata->pointee_align)
                                        : 128;
    if (next + alignment > UINT32_MAX) return std::nullopt;
    const std::uint32_t offset = align_up(static_cast<std::uint32_t>(next), alignment);
    std::memcpy(kernel.kernarg.data() + argument.metadata->offset, &offset,
                std::min<std::size_t>(sizeof offset, argument.metadata->size));
    next = std::uint64_t{offset} + argument.local_bytes;
  }
  if (next > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(next) - own;
}

}  // namespace ww::sim::driver
