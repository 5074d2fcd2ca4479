// Image formats of the standard: which exist and how large an element is. OpenCL 1.2, section
// 5.3.1.1. Free of the API.
#pragma once

#include <cstddef>
#include <optional>

#include "opencl/object/opencl.hpp"

namespace ww::sim::driver {

// Bytes of an element; nothing for an order and a type that the standard does not put together.
[[nodiscard]] std::optional<std::size_t> element_bytes(const cl_image_format& format);

}  // namespace ww::sim::driver
