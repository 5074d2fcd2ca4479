// Textures and surfaces: descriptors in device memory through which kernels reach images. Both are
// made for the device that the thread has chosen. Needs the lock.
#pragma once

#include <optional>
#include <span>

#include "hip/session/session.hpp"
#include "hip/session/texture_types.hpp"
#include "hip_more/array/array.hpp"
#include "tl/expected.hpp"
#include "ww/sim/gpu/image.hpp"

namespace ww::sim::driver::hip {

struct Texture {
  ResourceDescriptor resource{};
  TextureDescriptor sampling{};
  std::optional<ViewDescriptor> view;
  std::optional<gpu::ImageFormat> format;  // instead of the array's own
  std::size_t byte_offset{};  // of what the program bound, in memory that begins before it
  int device{};
};

// hipTextureObject_t: the device's address of an image's descriptor and of a sampler's. Kernels
// read the resource as it is then, but a freed one must not be read. Errors: kInvalidValue for a
// resource that is none, has a wrong alignment or is too large; kNotSupported, with its name, for
// what the chip or the virtual GPU does not have.
[[nodiscard]] tl::expected<void*, int> make_texture(const Texture& wanted);
// Null for what is not a texture object that is alive.
[[nodiscard]] const Texture* find_texture(const void* handle);
// No handle is success. Error kInvalidValue.
int destroy_texture(const void* handle);

// Puts the descriptors of an object into device memory; where.
[[nodiscard]] tl::expected<void*, int> place_descriptors(const gpu::ImageDescriptor& image,
                                                         const gpu::SamplerDescriptor& sampler);
// The descriptor of an image for this chip. Error kInvalidValue, with its reason on stderr.
[[nodiscard]] tl::expected<gpu::ImageDescriptor, int> describe(const gpu::ImageLayout& layout);

}  // namespace ww::sim::driver::hip
