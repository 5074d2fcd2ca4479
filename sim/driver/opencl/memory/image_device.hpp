// Images and samplers as the device knows them: layouts in memory and descriptors.
#pragma once

#include <array>
#include <vector>

#include "common/runtime/runtime.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// Whether the device has image instructions: OpenCL 1.2, table 4.3, CL_DEVICE_IMAGE_SUPPORT. Where
// not, images and samplers are refused with CL_INVALID_OPERATION.
[[nodiscard]] bool device_has_images();

// The formats that images of a kind can have, to read and to write.
[[nodiscard]] std::vector<cl_image_format> supported_formats(cl_mem_object_type type);
[[nodiscard]] bool is_supported(const ImageState& image);

// The element that a colour is stored as, in its first bytes: R, G, B, A as four floats for
// normalised and floating-point types, as four cl_int or cl_uint for integers.
[[nodiscard]] std::array<std::byte, 16> element_of(const cl_image_format& format,
                                                   const void* color);

// Sets the image's pitches in device memory; the bytes that it takes.
[[nodiscard]] std::uint64_t lay_out(ImageState& image);

// Puts the descriptor of an image at `address` into device memory of its own; where. Error:
// CL_MEM_OBJECT_ALLOCATION_FAILURE.
[[nodiscard]] Created<std::uint64_t> place_image_descriptor(const ImageState& image,
                                                            std::uint64_t address);
// Places a sampler's descriptor. Error: CL_OUT_OF_RESOURCES.
[[nodiscard]] Created<std::uint64_t> place_sampler_descriptor(const _cl_sampler& sampler);

}  // namespace ww::sim::driver
