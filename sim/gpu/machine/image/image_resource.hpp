// Images, typed buffers and samplers as their descriptors say, from whatever words a wave has in
// its scalar registers.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "machine/image/image_format.hpp"
#include "machine/isa/launch_state.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::gpu::exec {

struct ImageResource {
  std::uint64_t base{};  // device address of texel (0, 0, 0)
  std::uint64_t row_bytes{};
  std::uint64_t slice_bytes{};
  std::array<std::uint32_t, 3> size{1, 1, 1};  // texels; the last is slices of a volume
  std::uint32_t layers{1};
  std::uint32_t dimensions{1};  // coordinates that are not layers
  bool array{};
  TexelFormat format{};
  std::uint32_t texel_bytes{};
  std::uint8_t border_alpha{3};  // component

  // Address of a texel inside. A layer and the z of a volume are both slices.
  [[nodiscard]] std::uint64_t address(std::uint32_t x, std::uint32_t y, std::uint32_t slice) const {
    return base + slice * slice_bytes + y * row_bytes + std::uint64_t{x} * texel_bytes;
  }
  // Integer formats are not filtered.
  [[nodiscard]] bool has_fractions() const {
    return format.number != NumberFormat::uint && format.number != NumberFormat::sint;
  }
};

struct ImageSampler {
  std::array<std::uint32_t, 3> clamp{};
  bool unnormalized{};
  bool linear{};
  bool linear_between_slices{};
  bool opaque_border{};  // black with alpha 1, and not transparent
};

// Reads a T#'s 8 words. Error unsupported: what the virtual GPU has no semantics for (tiled images,
// formats that no OpenCL image has, levels of detail), named.
Result<ImageResource> read_resource(const std::uint32_t* words, Isa isa);
// Reads an S#'s 4 words. Error unsupported: clamping or border colours that OpenCL has no use for.
// The device library's literals of RDNA have an opaque border.
Result<ImageSampler> read_sampler(const std::uint32_t* words, Isa isa);

struct TypedBuffer {
  TexelFormat format{};
  std::uint32_t texel_bytes{};
};
// The format of a V#'s 4 words. Error unsupported.
Result<TypedBuffer> read_typed_buffer(const std::uint32_t* words, Isa isa);

}  // namespace ww::sim::gpu::exec
