// Images: creation, formats and queries.
#include "opencl/memory/image.hpp"

#include <algorithm>

#include "common/runtime/runtime.hpp"
#include "opencl/memory/image_device.hpp"
#include "opencl/memory/image_format.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"

namespace ww::sim::driver {
namespace {

// A pitch beyond what an address can reach is refused before anything is multiplied with it.
constexpr std::size_t kMaxPitch = std::size_t{1} << 40;

bool is_image(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

// Returns the extent that the image's description counts, or the code that refuses it.
Created<Region> extent_of(const cl_image_desc& shape) {
  const Region all{shape.image_width, shape.image_height, shape.image_depth};
  const std::size_t layers = shape.image_array_size;
  Region extent{all[0], 1, 1};
  Region most{kMaxImageSide, kMaxImageSide, kMaxImageDepth};
  switch (shape.image_type) {
    case CL_MEM_OBJECT_IMAGE1D: break;
    case CL_MEM_OBJECT_IMAGE1D_BUFFER: most[0] = kMaxImageBuffer; break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      extent[1] = layers;
      most[1] = kMaxImageLayers;
      break;
    case CL_MEM_OBJECT_IMAGE2D: extent[1] = all[1]; break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      extent = {all[0], all[1], layers};
      most[2] = kMaxImageLayers;
      break;
    default: extent = all; most = {kMaxImageDepth, kMaxImageDepth, kMaxImageDepth};
  }
  if (std::any_of(extent.begin(), extent.end(), [](std::size_t n) { return n == 0; })) {
    return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
  }
  for (std::size_t i = 0; i < extent.size(); ++i) {
    if (extent[i] > most[i]) return refuse(CL_INVALID_IMAGE_SIZE);
  }
  return extent;
}

// Result of the call's checked arguments.
struct Wanted {
  std::unique_ptr<ImageState> state;
  Region bytes{};  // of the application's memory: bytes, rows, slices
};

Created<Wanted> check_description(const cl_image_format* format, const cl_image_desc* shape,
                                  bool has_host_ptr) {
  const auto element = format != nullptr ? element_bytes(*format) : std::nullopt;
  if (!element) return refuse(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
  if (shape == nullptr || !is_image(shape->image_type) || shape->num_mip_levels != 0 ||
      shape->num_samples != 0 ||
      (shape->buffer != nullptr) != (shape->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER)) {
    return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
  }
  const auto extent = extent_of(*shape);
  if (!extent) return refuse(extent.error());
  Wanted wanted{std::make_unique<ImageState>(),
                {(*extent)[0] * *element, (*extent)[1], (*extent)[2]}};
  // The C++ bindings of OpenCL 1.2 leave the slice pitch of kinds without slices undefined.
  const std::size_t slice_pitch = has_slices(shape->image_type) ? shape->image_slice_pitch : 0;
  const auto counted =
      counted_pitches(shape->image_type, wanted.bytes, shape->image_row_pitch, slice_pitch);
  const bool pitched = shape->image_row_pitch != 0 || slice_pitch != 0;
  if (!counted || (pitched && !has_host_ptr) || shape->image_row_pitch % *element != 0) {
    return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
  }
  ImageState& state = *wanted.state;
  state.type = shape->image_type;
  state.format = *format;
  state.element_bytes = *element;
  state.extent = *extent;
  state.host = *counted;
  state.own_pitches.row = shape->image_row_pitch != 0 ? shape->image_row_pitch : wanted.bytes[0];
  if (has_slices(state.type)) {
    state.own_pitches.slice =
        state.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? counted->row : counted->slice;
    if (state.own_pitches.slice % state.own_pitches.row != 0) {
      return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
    }
  }
  return wanted;
}

// Memory for the image and the bytes that it begins with; the address.
Created<std::uint64_t> allocate(const ImageState& state, std::uint64_t size, const Region& bytes,
                                const std::byte* host_ptr) {
  auto& gpu = Runtime::get().powered_gpu();
  const auto address = gpu.allocate(size);
  if (!address) return refuse(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  if (host_ptr == nullptr) return *address;
  const int code =
      for_each_row(box_at({}, bytes, state.device), box_at({}, bytes, state.host), bytes,
                   [&](auto to, auto from, auto count) {
                     return gpu.write(*address + to, std::span(host_ptr + from, count)) ? 0 : 1;
                   });
  if (code == 0) return *address;
  (void)gpu.release(*address);
  return refuse(CL_OUT_OF_RESOURCES);
}

Created<cl_mem> make_image_in(cl_mem buffer, cl_mem_flags asked, Wanted wanted) {
  const auto flags = inherited_flags(buffer->flags, asked);
  if (!flags) return refuse(flags.error());
  if (wanted.bytes[0] > buffer->size) return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
  const auto descriptor = place_image_descriptor(*wanted.state, buffer->address);
  if (!descriptor) return refuse(descriptor.error());
  wanted.state->descriptor = *descriptor;
  auto* image = new_memory(buffer->context.get(), *flags, true);
  image->size = wanted.bytes[0];
  image->address = buffer->address;
  image->host_ptr = buffer->host_ptr;
  image->image = std::move(wanted.state);
  image->parent = Use(buffer);
  return image;
}

Created<cl_mem> make_image(cl_context context, cl_mem_flags flags, const cl_image_format* format,
                           const cl_image_desc* shape, void* host_ptr) {
  if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
  if (!device_has_images()) return refuse(CL_INVALID_OPERATION);
  if (!flags_are_sound(flags)) return refuse(CL_INVALID_VALUE);
  auto wanted = check_description(format, shape, host_ptr != nullptr);
  if (!wanted) return refuse(wanted.error());
  ImageState& state = *wanted->state;
  const bool takes_pointer = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (takes_pointer != (host_ptr != nullptr)) return refuse(CL_INVALID_HOST_PTR);
  if (!is_supported(state)) return refuse(CL_IMAGE_FORMAT_NOT_SUPPORTED);
  const std::uint64_t size = lay_out(state);
  if (size > max_allocation()) return refuse(CL_INVALID_IMAGE_SIZE);
  if (state.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
    cl_mem buffer = shape->buffer;
    if (!valid(buffer) || buffer->image || buffer->context.get() != context) {
      return refuse(CL_INVALID_IMAGE_DESCRIPTOR);
    }
    return make_image_in(buffer, flags, std::move(*wanted));
  }
  Runtime::get().powered_gpu().select_device(context->devices.front()->ordinal);
  const auto address =
      allocate(state, size, wanted->bytes, static_cast<const std::byte*>(host_ptr));
  if (!address) return refuse(address.error());
  const auto descriptor = place_image_descriptor(state, *address);
  if (!descriptor) {
    (void)Runtime::get().powered_gpu().release(*address);
    return refuse(descriptor.error());
  }
  state.descriptor = *descriptor;
  auto* image = new_memory(context, flags, true);
  image->size = size;
  image->address = *address;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) image->host_ptr = static_cast<std::byte*>(host_ptr);
  image->image = std::move(wanted->state);
  return image;
}

// Before OpenCL 1.2 sizes and pitches had one code.
Created<cl_mem> as_of_1_1(Created<cl_mem> made) {
  if (made || made.error() != CL_INVALID_IMAGE_DESCRIPTOR) return made;
  return refuse(CL_INVALID_IMAGE_SIZE);
}

}  // namespace

bool has_slices(cl_mem_object_type type) {
  return type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
         type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
}

bool read_part(const ImageState& image, const std::size_t* origin, const std::size_t* region,
               ImagePart& part) {
  if (origin == nullptr || region == nullptr) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (region[i] == 0 || region[i] > image.extent[i] || origin[i] > image.extent[i] - region[i]) {
      return false;
    }
    part.origin[i] = origin[i];
    part.region[i] = region[i];
  }
  part.origin[0] *= image.element_bytes;
  part.region[0] *= image.element_bytes;
  return true;
}

std::optional<Pitches> counted_pitches(cl_mem_object_type type, const Region& region,
                                       std::size_t row_pitch, std::size_t slice_pitch) {
  if (row_pitch > kMaxPitch || slice_pitch > kMaxPitch) return std::nullopt;
  const std::size_t row = row_pitch != 0 ? row_pitch : region[0];
  if (row < region[0]) return std::nullopt;
  if (!has_slices(type)) {
    if (slice_pitch != 0) return std::nullopt;
    return Pitches{row, row * region[1]};
  }
  // The layers of a 1D array are its rows.
  const bool rows_are_layers = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const std::size_t least = rows_are_layers ? row : row * region[1];
  const std::size_t slice = slice_pitch != 0 ? slice_pitch : least;
  if (slice < least) return std::nullopt;
  return rows_are_layers ? Pitches{slice, slice * region[1]} : Pitches{row, slice};
}

Pitches device_pitches(const ImageState& image) {
  if (!has_slices(image.type)) return {image.device.row, 0};
  return {image.device.row,
          image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? image.device.row : image.device.slice};
}

namespace api {

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                 const cl_image_format* format, const cl_image_desc* shape,
                                 void* host_ptr, cl_int* errcode_ret) {
  return created<cl_mem>(
      errcode_ret, [&](Entry&) { return make_image(context, flags, format, shape, host_ptr); });
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t row_pitch, void* host_ptr,
                                   cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret, [&](Entry&) {
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = width;
    shape.image_height = height;
    shape.image_row_pitch = row_pitch;
    return as_of_1_1(make_image(context, flags, format, &shape, host_ptr));
  });
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* format, std::size_t width,
                                   std::size_t height, std::size_t depth, std::size_t row_pitch,
                                   std::size_t slice_pitch, void* host_ptr, cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret, [&](Entry&) -> Created<cl_mem> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    if (depth == 1) return refuse(CL_INVALID_IMAGE_SIZE);  // OpenCL 1.1, section 5.3.1
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE3D;
    shape.image_width = width;
    shape.image_height = height;
    shape.image_depth = depth;
    shape.image_row_pitch = row_pitch;
    shape.image_slice_pitch = slice_pitch;
    return as_of_1_1(make_image(context, flags, format, &shape, host_ptr));
  });
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context,
                                               const cl_mem_properties* properties,
                                               cl_mem_flags flags, const cl_image_format* format,
                                               const cl_image_desc* shape, void* host_ptr,
                                               cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret, [&](Entry&) -> Created<cl_mem> {
    if (properties != nullptr && *properties != 0) return refuse(CL_INVALID_PROPERTY);
    return make_image(context, flags, format, shape, host_ptr);
  });
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type type, cl_uint count,
                                              cl_image_format* formats, cl_uint* format_count) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    if (!is_image(type) || !flags_are_sound(flags)) return CL_INVALID_VALUE;
    if (formats != nullptr && count == 0) return CL_INVALID_VALUE;
    const auto all = device_has_images() ? supported_formats(type) : std::vector<cl_image_format>{};
    if (formats != nullptr) {
      std::copy_n(all.begin(), std::min<std::size_t>(count, all.size()), formats);
    }
    if (format_count != nullptr) *format_count = static_cast<cl_uint>(all.size());
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, std::size_t size, void* value,
                                  std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(image) || !image->image) return CL_INVALID_MEM_OBJECT;
    const InfoSink sink(size, value, size_ret);
    const ImageState& state = *image->image;
    const bool layers =
        state.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || state.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    // A side that the kind does not have is 0, though it counts as 1.
    const bool has_height = state.type == CL_MEM_OBJECT_IMAGE2D ||
                            state.type == CL_MEM_OBJECT_IMAGE3D ||
                            state.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool has_depth = state.type == CL_MEM_OBJECT_IMAGE3D;
    const std::size_t layer_axis = state.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : 2;
    switch (name) {
      case CL_IMAGE_FORMAT: return sink.value(state.format);
      case CL_IMAGE_ELEMENT_SIZE: return sink.value(state.element_bytes);
      case CL_IMAGE_ROW_PITCH: return sink.value(state.own_pitches.row);
      case CL_IMAGE_SLICE_PITCH: return sink.value(state.own_pitches.slice);
      case CL_IMAGE_WIDTH: return sink.value(state.extent[0]);
      case CL_IMAGE_HEIGHT: return sink.value<std::size_t>(has_height ? state.extent[1] : 0);
      case CL_IMAGE_DEPTH: return sink.value<std::size_t>(has_depth ? state.extent[2] : 0);
      case CL_IMAGE_ARRAY_SIZE:
        return sink.value<std::size_t>(layers ? state.extent[layer_axis] : 0);
      case CL_IMAGE_BUFFER: return sink.value<cl_mem>(image->parent.get());
      case CL_IMAGE_NUM_MIP_LEVELS:
      case CL_IMAGE_NUM_SAMPLES: return sink.value<cl_uint>(0);
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace api
}  // namespace ww::sim::driver
