#include "opencl/memory/image_format.hpp"

namespace ww::sim::driver {
namespace {

// How many components an element has; 0 for an unknown order.
std::size_t components_of(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_Rx:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE: return 1;
    case CL_RG:
    case CL_RGx:
    case CL_RA: return 2;
    case CL_RGB:
    case CL_RGBx: return 3;
    case CL_RGBA:
    case CL_BGRA:
    case CL_ARGB: return 4;
    default: return 0;
  }
}

// Bytes of a component; of the whole element where it is packed.
std::size_t bytes_of(cl_channel_type type) {
  switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8: return 1;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
    case CL_UNORM_INT_101010: return 4;
    default: return 0;
  }
}

bool is_packed(cl_channel_type type) {
  return type == CL_UNORM_SHORT_565 || type == CL_UNORM_SHORT_555 || type == CL_UNORM_INT_101010;
}

bool go_together(cl_channel_order order, cl_channel_type type) {
  switch (order) {
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 ||
             type == CL_SNORM_INT16 || type == CL_HALF_FLOAT || type == CL_FLOAT;
    case CL_RGB:
    case CL_RGBx: return is_packed(type);
    case CL_BGRA:
    case CL_ARGB: return bytes_of(type) == 1;
    default: return !is_packed(type);
  }
}

}  // namespace

std::optional<std::size_t> element_bytes(const cl_image_format& format) {
  const std::size_t components = components_of(format.image_channel_order);
  const std::size_t bytes = bytes_of(format.image_channel_data_type);
  if (components == 0 || bytes == 0 ||
      !go_together(format.image_channel_order, format.image_channel_data_type)) {
    return std::nullopt;
  }
  return is_packed(format.image_channel_data_type) ? bytes : components * bytes;
}

}  // namespace ww::sim::driver
