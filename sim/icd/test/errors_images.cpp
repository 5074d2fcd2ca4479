// Images and samplers: making them, asking about them, moving them. OpenCL 1.2 specification,
// sections 5.3 and 5.5.
#include "error_world.hpp"

namespace ww::sim::icd {
namespace {

using W = ErrorWorld;

constexpr std::size_t kOrigin[3] = {0, 0, 0};
constexpr std::size_t kRegion[3] = {8, 4, 1};
constexpr std::size_t kEmpty[3] = {8, 0, 1};
constexpr std::size_t kTwoSlices[3] = {8, 4, 2};
constexpr std::size_t kAll[3] = {W::kImageSide, W::kImageSide, 1};
constexpr std::size_t kSecond[3] = {1, 0, 0};
constexpr std::size_t kFar[3] = {SIZE_MAX, 0, 0};

// An image to be made: a sound one where nothing else is said.
struct Make {
  cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D;
  std::size_t width = 8, height = 8, depth = 0, layers = 0, row = 0, slice = 0;
  cl_uint levels = 0, samples = 0;
  cl_mem buffer = nullptr;
  cl_mem_flags flags = 0;
  cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  bool host{};
  bool no_format{};
  bool no_shape{};
  cl_context context = nullptr;  // the world's
};

cl_int make(W& w, const Make& m) {
  cl_image_desc shape{};
  shape.image_type = m.type;
  shape.image_width = m.width;
  shape.image_height = m.height;
  shape.image_depth = m.depth;
  shape.image_array_size = m.layers;
  shape.image_row_pitch = m.row;
  shape.image_slice_pitch = m.slice;
  shape.num_mip_levels = m.levels;
  shape.num_samples = m.samples;
  shape.buffer = m.buffer;
  return w.created([&](cl_int* code) {
    return w.cl.clCreateImage(m.context != nullptr ? m.context : w.context, m.flags,
                              m.no_format ? nullptr : &m.format, m.no_shape ? nullptr : &shape,
                              m.host ? w.bytes : nullptr, code);
  });
}

cl_int make_2d(W& w, const Make& m) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateImage2D(m.context != nullptr ? m.context : w.context, m.flags,
                                m.no_format ? nullptr : &m.format, m.width, m.height, m.row,
                                m.host ? w.bytes : nullptr, code);
  });
}

cl_int make_3d(W& w, const Make& m) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateImage3D(m.context != nullptr ? m.context : w.context, m.flags,
                                m.no_format ? nullptr : &m.format, m.width, m.height, m.depth,
                                m.row, m.slice, m.host ? w.bytes : nullptr, code);
  });
}

std::size_t limit(W& w, cl_device_info name) {
  std::size_t most = 0;
  EXPECT_EQ(w.cl.clGetDeviceInfo(w.device, name, sizeof most, &most, nullptr), CL_SUCCESS);
  return most;
}

void format_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clCreateImage";
  constexpr cl_int kBad = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
  const ErrorRow own[] = {
      {call, kBad, "no format", [](W& w) { return make(w, {.no_format = true}); }},
      {call, kBad, "an order that does not exist",
       [](W& w) {
         return make(w, {.format = {0x7eee, CL_FLOAT}});
       }},
      {call, kBad, "a type that does not exist",
       [](W& w) {
         return make(w, {.format = {CL_RGBA, 0x7eee}});
       }},
      {call, kBad, "RGB that is not packed",
       [](W& w) {
         return make(w, {.format = {CL_RGB, CL_UNORM_INT8}});
       }},
      {call, kBad, "RGBA that is packed",
       [](W& w) {
         return make(w, {.format = {CL_RGBA, CL_UNORM_SHORT_565}});
       }},
      {call, kBad, "BGRA of 16 bits",
       [](W& w) {
         return make(w, {.format = {CL_BGRA, CL_UNORM_INT16}});
       }},
      {call, kBad, "ARGB of floats",
       [](W& w) {
         return make(w, {.format = {CL_ARGB, CL_FLOAT}});
       }},
      {call, kBad, "intensity as integers",
       [](W& w) {
         return make(w, {.format = {CL_INTENSITY, CL_SIGNED_INT32}});
       }},
      {call, kBad, "luminance as integers",
       [](W& w) {
         return make(w, {.format = {CL_LUMINANCE, CL_UNSIGNED_INT8}});
       }},
      {call, CL_IMAGE_FORMAT_NOT_SUPPORTED, "Rx, which the device does not have",
       [](W& w) {
         return make(w, {.format = {CL_Rx, CL_UNORM_INT8}});
       }},
      {call, CL_IMAGE_FORMAT_NOT_SUPPORTED, "565 in a buffer",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .height = 0,
                         .buffer = w.buffer,
                         .format = {CL_RGB, CL_UNORM_SHORT_565}});
       }},
      {"clCreateImage2D", kBad, "no format", [](W& w) { return make_2d(w, {.no_format = true}); }},
      {"clCreateImage2D", kBad, "RGB that is not packed",
       [](W& w) {
         return make_2d(w, {.format = {CL_RGB, CL_FLOAT}});
       }},
      {"clCreateImage2D", CL_IMAGE_FORMAT_NOT_SUPPORTED, "Rx, which the device does not have",
       [](W& w) {
         return make_2d(w, {.format = {CL_Rx, CL_UNORM_INT8}});
       }},
      {"clCreateImage3D", kBad, "no format",
       [](W& w) { return make_3d(w, {.depth = 4, .no_format = true}); }},
      {"clCreateImage3D", CL_IMAGE_FORMAT_NOT_SUPPORTED, "RGBx, which the device does not have",
       [](W& w) {
         return make_3d(w, {.depth = 4, .format = {CL_RGBx, CL_UNORM_SHORT_565}});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void shape_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clCreateImage";
  constexpr cl_int kBad = CL_INVALID_IMAGE_DESCRIPTOR;
  const ErrorRow own[] = {
      {call, kBad, "no description", [](W& w) { return make(w, {.no_shape = true}); }},
      {call, kBad, "a buffer's type", [](W& w) { return make(w, {.type = CL_MEM_OBJECT_BUFFER}); }},
      {call, kBad, "a type that does not exist", [](W& w) { return make(w, {.type = 0x7eee}); }},
      {call, kBad, "no width", [](W& w) { return make(w, {.width = 0}); }},
      {call, kBad, "no height", [](W& w) { return make(w, {.height = 0}); }},
      {call, kBad, "no depth", [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE3D}); }},
      {call, kBad, "no layers of a 1D array",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_ARRAY}); }},
      {call, kBad, "no layers of a 2D array",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE2D_ARRAY}); }},
      {call, kBad, "smaller levels", [](W& w) { return make(w, {.levels = 1}); }},
      {call, kBad, "samples", [](W& w) { return make(w, {.samples = 1}); }},
      {call, kBad, "a buffer for a 2D image", [](W& w) { return make(w, {.buffer = w.buffer}); }},
      {call, kBad, "no buffer for an image in one",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER}); }},
      {call, kBad, "a released buffer for an image in one",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .buffer = w.dead_buffer});
       }},
      {call, kBad, "an image for an image in a buffer",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .buffer = w.image}); }},
      {call, kBad, "another context's buffer",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .buffer = w.foreign}); }},
      {call, kBad, "more elements than the buffer holds",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .width = W::kBytes / 4 + 1,
                         .buffer = w.buffer});
       }},
      {call, kBad, "a pitch of rows without memory of the host",
       [](W& w) { return make(w, {.row = 64}); }},
      {call, kBad, "a pitch of slices without memory of the host",
       [](W& w) { return make(w, {.type = CL_MEM_OBJECT_IMAGE3D, .depth = 2, .slice = 1024}); }},
      {call, kBad, "rows that overlap",
       [](W& w) { return make(w, {.row = 28, .flags = CL_MEM_COPY_HOST_PTR, .host = true}); }},
      {call, kBad, "rows that begin within an element",
       [](W& w) { return make(w, {.row = 34, .flags = CL_MEM_COPY_HOST_PTR, .host = true}); }},
      {call, kBad, "slices that overlap",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE3D,
                         .depth = 2,
                         .slice = 7 * 32,
                         .flags = CL_MEM_COPY_HOST_PTR,
                         .host = true});
       }},
      {call, kBad, "slices that begin within a row",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE3D,
                         .depth = 2,
                         .row = 32,
                         .slice = 8 * 32 + 4,
                         .flags = CL_MEM_COPY_HOST_PTR,
                         .host = true});
       }},
      {call, kBad, "layers of a 1D array that overlap",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_ARRAY,
                         .layers = 2,
                         .row = 64,
                         .slice = 32,
                         .flags = CL_MEM_COPY_HOST_PTR,
                         .host = true});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE2D_MAX_WIDTH",
       [](W& w) { return make(w, {.width = limit(w, CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1}); }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE2D_MAX_HEIGHT",
       [](W& w) { return make(w, {.height = limit(w, CL_DEVICE_IMAGE2D_MAX_HEIGHT) + 1}); }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE3D_MAX_WIDTH",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE3D,
                         .width = limit(w, CL_DEVICE_IMAGE3D_MAX_WIDTH) + 1,
                         .depth = 2});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE3D_MAX_DEPTH",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE3D,
                         .depth = limit(w, CL_DEVICE_IMAGE3D_MAX_DEPTH) + 1});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE_MAX_ARRAY_SIZE",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
                         .layers = limit(w, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE) + 1});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more layers of a 1D array than that",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_ARRAY,
                         .layers = limit(w, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE) + 1});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE_MAX_BUFFER_SIZE",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .width = limit(w, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE) + 1,
                         .buffer = w.buffer});
       }},
      {call, CL_INVALID_IMAGE_SIZE, "more bytes than CL_DEVICE_MAX_MEM_ALLOC_SIZE",
       [](W& w) {
         return make(w,
                     {.type = CL_MEM_OBJECT_IMAGE3D, .width = 2048, .height = 2048, .depth = 2048});
       }},
      {"clCreateImage2D", CL_INVALID_IMAGE_SIZE, "no width",
       [](W& w) { return make_2d(w, {.width = 0}); }},
      {"clCreateImage2D", CL_INVALID_IMAGE_SIZE, "no height",
       [](W& w) { return make_2d(w, {.height = 0}); }},
      {"clCreateImage2D", CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE2D_MAX_WIDTH",
       [](W& w) { return make_2d(w, {.width = limit(w, CL_DEVICE_IMAGE2D_MAX_WIDTH) + 1}); }},
      {"clCreateImage2D", CL_INVALID_IMAGE_SIZE, "rows that overlap",
       [](W& w) { return make_2d(w, {.row = 28, .flags = CL_MEM_COPY_HOST_PTR, .host = true}); }},
      {"clCreateImage2D", CL_INVALID_IMAGE_SIZE, "a pitch of rows without memory of the host",
       [](W& w) { return make_2d(w, {.row = 64}); }},
      {"clCreateImage3D", CL_INVALID_IMAGE_SIZE, "no depth", [](W& w) { return make_3d(w, {}); }},
      {"clCreateImage3D", CL_INVALID_IMAGE_SIZE, "a single slice",
       [](W& w) { return make_3d(w, {.depth = 1}); }},
      {"clCreateImage3D", CL_INVALID_IMAGE_SIZE, "more than CL_DEVICE_IMAGE3D_MAX_HEIGHT",
       [](W& w) {
         return make_3d(w, {.height = limit(w, CL_DEVICE_IMAGE3D_MAX_HEIGHT) + 1, .depth = 2});
       }},
      {"clCreateImage3D", CL_INVALID_IMAGE_SIZE, "slices that overlap",
       [](W& w) {
         return make_3d(
             w,
             {.depth = 2, .row = 32, .slice = 7 * 32, .flags = CL_MEM_COPY_HOST_PTR, .host = true});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void creation_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clCreateImage", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return make(w, {.context = w.dead_context}); }},
      {"clCreateImage", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return make(w, {.flags = cl_mem_flags{1} << 40}); }},
      {"clCreateImage", CL_INVALID_VALUE, "flags that exclude each other",
       [](W& w) { return make(w, {.flags = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY}); }},
      {"clCreateImage", CL_INVALID_VALUE, "reads in a buffer that kernels write only",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .buffer = w.write_only,
                         .flags = CL_MEM_READ_ONLY});
       }},
      {"clCreateImage", CL_INVALID_VALUE, "both in a buffer that kernels read only",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .buffer = w.read_only,
                         .flags = CL_MEM_READ_WRITE});
       }},
      {"clCreateImage", CL_INVALID_VALUE, "writes in a buffer that the host reads only",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .buffer = w.read_only,
                         .flags = CL_MEM_HOST_WRITE_ONLY});
       }},
      {"clCreateImage", CL_INVALID_VALUE, "memory of the host for an image in a buffer",
       [](W& w) {
         return make(w, {.type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                         .buffer = w.buffer,
                         .flags = CL_MEM_ALLOC_HOST_PTR});
       }},
      {"clCreateImage", CL_INVALID_HOST_PTR, "no memory of the host to use",
       [](W& w) { return make(w, {.flags = CL_MEM_USE_HOST_PTR}); }},
      {"clCreateImage", CL_INVALID_HOST_PTR, "no memory of the host to copy",
       [](W& w) { return make(w, {.flags = CL_MEM_COPY_HOST_PTR}); }},
      {"clCreateImage", CL_INVALID_HOST_PTR, "memory of the host for nothing",
       [](W& w) { return make(w, {.host = true}); }},
      {"clCreateImage2D", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return make_2d(w, {.context = w.dead_context}); }},
      {"clCreateImage2D", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return make_2d(w, {.flags = cl_mem_flags{1} << 40}); }},
      {"clCreateImage2D", CL_INVALID_HOST_PTR, "no memory of the host to use",
       [](W& w) { return make_2d(w, {.flags = CL_MEM_USE_HOST_PTR}); }},
      {"clCreateImage2D", CL_INVALID_HOST_PTR, "memory of the host for nothing",
       [](W& w) { return make_2d(w, {.host = true}); }},
      {"clCreateImage3D", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return make_3d(w, {.depth = 4, .context = w.dead_context}); }},
      {"clCreateImage3D", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return make_3d(w, {.depth = 4, .flags = cl_mem_flags{1} << 40}); }},
      {"clCreateImage3D", CL_INVALID_HOST_PTR, "memory of the host for nothing",
       [](W& w) { return make_3d(w, {.depth = 4, .host = true}); }},
      {"clCreateImageWithProperties", CL_INVALID_PROPERTY, "a property that does not exist",
       [](W& w) {
         const cl_mem_properties list[] = {0x7eee, 1, 0};
         const cl_image_format format{CL_RGBA, CL_FLOAT};
         const cl_image_desc shape{CL_MEM_OBJECT_IMAGE1D, 8, 0, 0, 0, 0, 0, 0, 0, {nullptr}};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateImageWithProperties(w.context, list, 0, &format, &shape, nullptr,
                                                   code);
         });
       }},
      {"clCreateSubBuffer", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         const cl_buffer_region region{0, 64};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSubBuffer(w.image, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
         });
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

cl_int formats(W& w, cl_context context, cl_mem_flags flags, cl_mem_object_type type) {
  return w.cl.clGetSupportedImageFormats(context, flags, type, 0, nullptr, nullptr);
}

void query_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clGetSupportedImageFormats", CL_INVALID_CONTEXT, "no context",
       [](W& w) { return formats(w, nullptr, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D); }},
      {"clGetSupportedImageFormats", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return formats(w, w.dead_context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D); }},
      {"clGetSupportedImageFormats", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return formats(w, w.context, cl_mem_flags{1} << 40, CL_MEM_OBJECT_IMAGE2D); }},
      {"clGetSupportedImageFormats", CL_INVALID_VALUE, "a type that is no image's",
       [](W& w) { return formats(w, w.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_BUFFER); }},
      {"clGetSupportedImageFormats", CL_INVALID_VALUE, "a list without room",
       [](W& w) {
         cl_image_format out{};
         return w.cl.clGetSupportedImageFormats(w.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                                0, &out, nullptr);
       }},
      {"clGetImageInfo", CL_INVALID_MEM_OBJECT, "no object",
       [](W& w) { return w.cl.clGetImageInfo(nullptr, CL_IMAGE_WIDTH, 0, nullptr, nullptr); }},
      {"clGetImageInfo", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return w.cl.clGetImageInfo(w.dead_image, CL_IMAGE_WIDTH, 0, nullptr, nullptr); }},
      {"clGetImageInfo", CL_INVALID_MEM_OBJECT, "a buffer",
       [](W& w) {
         return w.cl.clGetImageInfo(w.buffer, CL_IMAGE_WIDTH, sizeof w.bytes, w.bytes, nullptr);
       }},
      {"clGetImageInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) { return w.cl.clGetImageInfo(w.image, 0x7eee, sizeof w.bytes, w.bytes, nullptr); }},
      {"clGetImageInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) { return w.cl.clGetImageInfo(w.image, CL_IMAGE_FORMAT, 4, w.bytes, nullptr); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

cl_int sampler(W& w, cl_context context, cl_bool normalized, cl_addressing_mode addressing,
               cl_filter_mode filter) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateSampler(context, normalized, addressing, filter, code);
  });
}

void sampler_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clCreateSampler", CL_INVALID_CONTEXT, "no context",
       [](W& w) { return sampler(w, nullptr, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST); }},
      {"clCreateSampler", CL_INVALID_CONTEXT, "a released object",
       [](W& w) {
         return sampler(w, w.dead_context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST);
       }},
      {"clCreateSampler", CL_INVALID_VALUE, "coordinates that are neither",
       [](W& w) { return sampler(w, w.context, 7, CL_ADDRESS_NONE, CL_FILTER_NEAREST); }},
      {"clCreateSampler", CL_INVALID_VALUE, "an addressing that does not exist",
       [](W& w) { return sampler(w, w.context, CL_TRUE, 0x7eee, CL_FILTER_NEAREST); }},
      {"clCreateSampler", CL_INVALID_VALUE, "a filter that does not exist",
       [](W& w) { return sampler(w, w.context, CL_TRUE, CL_ADDRESS_CLAMP, 0x7eee); }},
      {"clCreateSampler", CL_INVALID_VALUE, "repeats of coordinates in texels",
       [](W& w) { return sampler(w, w.context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST); }},
      {"clCreateSampler", CL_INVALID_VALUE, "mirrors of coordinates in texels",
       [](W& w) {
         return sampler(w, w.context, CL_FALSE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST);
       }},
      {"clCreateSamplerWithProperties", CL_INVALID_CONTEXT, "no context",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSamplerWithProperties(nullptr, nullptr, code);
         });
       }},
      {"clCreateSamplerWithProperties", CL_INVALID_VALUE, "a property that does not exist",
       [](W& w) {
         const cl_sampler_properties list[] = {0x7eee, 1, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSamplerWithProperties(w.context, list, code);
         });
       }},
      {"clCreateSamplerWithProperties", CL_INVALID_VALUE, "a filter that does not exist",
       [](W& w) {
         const cl_sampler_properties list[] = {CL_SAMPLER_FILTER_MODE, 0x7eee, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSamplerWithProperties(w.context, list, code);
         });
       }},
      {"clCreateSamplerWithProperties", CL_INVALID_VALUE, "a filter of more than 32 bits",
       [](W& w) {
         const cl_sampler_properties list[] = {
             CL_SAMPLER_FILTER_MODE,
             (cl_sampler_properties{1} << 32) | cl_sampler_properties{CL_FILTER_NEAREST}, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSamplerWithProperties(w.context, list, code);
         });
       }},
      {"clRetainSampler", CL_INVALID_SAMPLER, "no sampler",
       [](W& w) { return w.cl.clRetainSampler(nullptr); }},
      {"clRetainSampler", CL_INVALID_SAMPLER, "a released object",
       [](W& w) { return w.cl.clRetainSampler(w.dead_sampler); }},
      {"clReleaseSampler", CL_INVALID_SAMPLER, "an object of another kind",
       [](W& w) { return w.cl.clReleaseSampler(w.wrong<cl_sampler>()); }},
      {"clReleaseSampler", CL_INVALID_SAMPLER, "a released object",
       [](W& w) { return w.cl.clReleaseSampler(w.dead_sampler); }},
      {"clGetSamplerInfo", CL_INVALID_SAMPLER, "no sampler",
       [](W& w) {
         return w.cl.clGetSamplerInfo(nullptr, CL_SAMPLER_CONTEXT, 0, nullptr, nullptr);
       }},
      {"clGetSamplerInfo", CL_INVALID_SAMPLER, "a released object",
       [](W& w) {
         return w.cl.clGetSamplerInfo(w.dead_sampler, CL_SAMPLER_CONTEXT, 0, nullptr, nullptr);
       }},
      {"clGetSamplerInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) {
         return w.cl.clGetSamplerInfo(w.sampler, 0x7eee, sizeof w.bytes, w.bytes, nullptr);
       }},
      {"clGetSamplerInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetSamplerInfo(w.sampler, CL_SAMPLER_CONTEXT, 1, w.bytes, nullptr);
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

// What commands on one part of an image share.
struct Part {
  cl_mem image{};
  const std::size_t* origin = kOrigin;
  const std::size_t* region = kRegion;
  std::size_t row{}, slice{};
  bool no_pointer{};
};

enum class Way { read, write, map, fill };

template <Way way>
cl_int touch(W& w, const Part& p) {
  void* pointer = p.no_pointer ? nullptr : w.bytes;
  switch (way) {
    case Way::read:
      return w.cl.clEnqueueReadImage(w.queue, p.image, CL_TRUE, p.origin, p.region, p.row, p.slice,
                                     pointer, 0, nullptr, nullptr);
    case Way::write:
      return w.cl.clEnqueueWriteImage(w.queue, p.image, CL_TRUE, p.origin, p.region, p.row, p.slice,
                                      pointer, 0, nullptr, nullptr);
    case Way::fill:
      return w.cl.clEnqueueFillImage(w.queue, p.image, pointer, p.origin, p.region, 0, nullptr,
                                     nullptr);
    default:
      return w.created([&](cl_int* code) {
        std::size_t row = 0;
        std::size_t slice = 0;
        return w.cl.clEnqueueMapImage(w.queue, p.image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                      p.origin, p.region, p.no_pointer ? nullptr : &row, &slice, 0,
                                      nullptr, nullptr, code);
      });
  }
}

template <Way way>
void part_rows(std::vector<ErrorRow>& rows, const char* call) {
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "no image", [](W& w) { return touch<way>(w, {}); }},
      {call, CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return touch<way>(w, {.image = w.dead_image}); }},
      {call, CL_INVALID_MEM_OBJECT, "a buffer",
       [](W& w) { return touch<way>(w, {.image = w.buffer}); }},
      {call, CL_INVALID_CONTEXT, "another context's image",
       [](W& w) { return touch<way>(w, {.image = w.foreign_image}); }},
      {call, CL_INVALID_VALUE, "no origin",
       [](W& w) { return touch<way>(w, {.image = w.image, .origin = nullptr}); }},
      {call, CL_INVALID_VALUE, "no region",
       [](W& w) { return touch<way>(w, {.image = w.image, .region = nullptr}); }},
      {call, CL_INVALID_VALUE, "an empty region",
       [](W& w) { return touch<way>(w, {.image = w.image, .region = kEmpty}); }},
      {call, CL_INVALID_VALUE, "a region past the edge",
       [](W& w) { return touch<way>(w, {.image = w.image, .origin = kSecond, .region = kAll}); }},
      {call, CL_INVALID_VALUE, "an origin that wraps",
       [](W& w) { return touch<way>(w, {.image = w.image, .origin = kFar}); }},
      {call, CL_INVALID_VALUE, "two slices of a 2D image",
       [](W& w) { return touch<way>(w, {.image = w.image, .region = kTwoSlices}); }},
      {call, CL_INVALID_VALUE, way == Way::map ? "nowhere to put the pitch" : "no pointer",
       [](W& w) { return touch<way>(w, {.image = w.image, .no_pointer = true}); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

template <Way way>
void host_rows(std::vector<ErrorRow>& rows, const char* call) {
  const ErrorRow own[] = {
      {call, CL_INVALID_OPERATION, "an image that the host may not touch",
       [](W& w) { return touch<way>(w, {.image = w.no_access_image}); }},
      {call, CL_INVALID_OPERATION, "an image that the host may only use the other way",
       [](W& w) {
         return touch<way>(w, {.image = way == Way::read ? w.write_only_image : w.read_only_image});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

template <Way way>
void pitch_rows(std::vector<ErrorRow>& rows, const char* call) {
  const ErrorRow own[] = {
      {call, CL_INVALID_VALUE, "rows that overlap",
       [](W& w) { return touch<way>(w, {.image = w.image, .row = 31}); }},
      {call, CL_INVALID_VALUE, "slices of a 2D image",
       [](W& w) { return touch<way>(w, {.image = w.image, .row = 32, .slice = 128}); }},
      {call, CL_INVALID_VALUE, "slices that overlap",
       [](W& w) {
         return touch<way>(
             w, {.image = w.volume, .region = kTwoSlices, .row = 32, .slice = 4 * 32 - 1});
       }},
      {call, CL_INVALID_VALUE, "pitches whose products wrap",
       [](W& w) {
         return touch<way>(w, {.image = w.volume, .region = kTwoSlices, .row = SIZE_MAX / 2});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

struct Copy {
  cl_mem from{};
  cl_mem to{};
  const std::size_t* from_origin = kOrigin;
  const std::size_t* to_origin = kOrigin;
  const std::size_t* region = kRegion;
};

cl_int copy(W& w, const Copy& c) {
  return w.cl.clEnqueueCopyImage(w.queue, c.from, c.to, c.from_origin, c.to_origin, c.region, 0,
                                 nullptr, nullptr);
}

void copy_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clEnqueueCopyImage";
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "no source", [](W& w) { return copy(w, {.to = w.image}); }},
      {call, CL_INVALID_MEM_OBJECT, "no target", [](W& w) { return copy(w, {.from = w.image}); }},
      {call, CL_INVALID_MEM_OBJECT, "a buffer as the source",
       [](W& w) { return copy(w, {.from = w.buffer, .to = w.image}); }},
      {call, CL_INVALID_MEM_OBJECT, "a released target",
       [](W& w) { return copy(w, {.from = w.image, .to = w.dead_image}); }},
      {call, CL_INVALID_CONTEXT, "another context's source",
       [](W& w) { return copy(w, {.from = w.foreign_image, .to = w.image}); }},
      {call, CL_INVALID_CONTEXT, "another context's target",
       [](W& w) { return copy(w, {.from = w.image, .to = w.foreign_image}); }},
      {call, CL_IMAGE_FORMAT_MISMATCH, "another format",
       [](W& w) { return copy(w, {.from = w.image, .to = w.float_image}); }},
      {call, CL_INVALID_VALUE, "no origin in the source",
       [](W& w) { return copy(w, {.from = w.image, .to = w.volume, .from_origin = nullptr}); }},
      {call, CL_INVALID_VALUE, "no origin in the target",
       [](W& w) { return copy(w, {.from = w.image, .to = w.volume, .to_origin = nullptr}); }},
      {call, CL_INVALID_VALUE, "no region",
       [](W& w) { return copy(w, {.from = w.image, .to = w.volume, .region = nullptr}); }},
      {call, CL_INVALID_VALUE, "an empty region",
       [](W& w) { return copy(w, {.from = w.image, .to = w.volume, .region = kEmpty}); }},
      {call, CL_INVALID_VALUE, "a region past the source's edge",
       [](W& w) {
         return copy(w, {.from = w.image, .to = w.volume, .from_origin = kSecond, .region = kAll});
       }},
      {call, CL_INVALID_VALUE, "a region past the target's edge",
       [](W& w) {
         return copy(w, {.from = w.volume, .to = w.image, .to_origin = kSecond, .region = kAll});
       }},
      {call, CL_INVALID_VALUE, "two slices into a 2D image",
       [](W& w) { return copy(w, {.from = w.volume, .to = w.image, .region = kTwoSlices}); }},
      {call, CL_MEM_COPY_OVERLAP, "a part onto its neighbour",
       [](W& w) {
         const std::size_t half[] = {4, 4, 1};
         return copy(w, {.from = w.image, .to = w.image, .to_origin = kSecond, .region = half});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

struct Linear {
  cl_mem image{};
  cl_mem buffer{};
  const std::size_t* origin = kOrigin;
  const std::size_t* region = kRegion;
  std::size_t offset{};
};

template <bool to_buffer>
cl_int linear(W& w, const Linear& l) {
  return to_buffer ? w.cl.clEnqueueCopyImageToBuffer(w.queue, l.image, l.buffer, l.origin, l.region,
                                                     l.offset, 0, nullptr, nullptr)
                   : w.cl.clEnqueueCopyBufferToImage(w.queue, l.buffer, l.image, l.offset, l.origin,
                                                     l.region, 0, nullptr, nullptr);
}

template <bool to_buffer>
void linear_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call =
      to_buffer ? "clEnqueueCopyImageToBuffer" : "clEnqueueCopyBufferToImage";
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "no image",
       [](W& w) { return linear<to_buffer>(w, {.buffer = w.buffer}); }},
      {call, CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return linear<to_buffer>(w, {.image = w.image}); }},
      {call, CL_INVALID_MEM_OBJECT, "two images",
       [](W& w) { return linear<to_buffer>(w, {.image = w.image, .buffer = w.volume}); }},
      {call, CL_INVALID_MEM_OBJECT, "two buffers",
       [](W& w) { return linear<to_buffer>(w, {.image = w.second, .buffer = w.buffer}); }},
      {call, CL_INVALID_MEM_OBJECT, "an image and the buffer that it lies in",
       [](W& w) {
         const std::size_t row[] = {8, 1, 1};
         return linear<to_buffer>(
             w, {.image = w.buffer_image, .buffer = w.second, .region = row, .offset = 2048});
       }},
      {call, CL_INVALID_CONTEXT, "another context's image",
       [](W& w) { return linear<to_buffer>(w, {.image = w.foreign_image, .buffer = w.buffer}); }},
      {call, CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return linear<to_buffer>(w, {.image = w.image, .buffer = w.foreign}); }},
      {call, CL_INVALID_VALUE, "no origin",
       [](W& w) {
         return linear<to_buffer>(w, {.image = w.image, .buffer = w.buffer, .origin = nullptr});
       }},
      {call, CL_INVALID_VALUE, "no region",
       [](W& w) {
         return linear<to_buffer>(w, {.image = w.image, .buffer = w.buffer, .region = nullptr});
       }},
      {call, CL_INVALID_VALUE, "an empty region",
       [](W& w) {
         return linear<to_buffer>(w, {.image = w.image, .buffer = w.buffer, .region = kEmpty});
       }},
      {call, CL_INVALID_VALUE, "a region past the edge",
       [](W& w) {
         return linear<to_buffer>(
             w, {.image = w.image, .buffer = w.buffer, .origin = kSecond, .region = kAll});
       }},
      {call, CL_INVALID_VALUE, "bytes past the buffer's end",
       [](W& w) {
         return linear<to_buffer>(
             w, {.image = w.image, .buffer = w.buffer, .offset = W::kBytes - 8 * 4 * 4 + 1});
       }},
      {call, CL_INVALID_VALUE, "an offset that wraps",
       [](W& w) {
         return linear<to_buffer>(w,
                                  {.image = w.image, .buffer = w.buffer, .offset = SIZE_MAX - 64});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

cl_int map(W& w, cl_mem image, cl_map_flags flags, bool slices = true) {
  std::size_t row = 0;
  std::size_t slice = 0;
  return w.created([&](cl_int* code) {
    return w.cl.clEnqueueMapImage(w.queue, image, CL_TRUE, flags, kOrigin, kRegion, &row,
                                  slices ? &slice : nullptr, 0, nullptr, nullptr, code);
  });
}

void map_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clEnqueueMapImage";
  const ErrorRow own[] = {
      {call, CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return map(w, w.image, 1 << 20); }},
      {call, CL_INVALID_VALUE, "elements that are kept and not",
       [](W& w) { return map(w, w.image, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION); }},
      {call, CL_INVALID_VALUE, "nowhere to put the pitch of slices",
       [](W& w) { return map(w, w.volume, CL_MAP_READ, false); }},
      {call, CL_INVALID_OPERATION, "reads of an image that the host writes only",
       [](W& w) { return map(w, w.write_only_image, CL_MAP_READ); }},
      {call, CL_INVALID_OPERATION, "writes of an image that the host reads only",
       [](W& w) { return map(w, w.read_only_image, CL_MAP_WRITE); }},
      {call, CL_INVALID_OPERATION, "an image that is not the host's",
       [](W& w) { return map(w, w.no_access_image, CL_MAP_READ); }},
      {call, CL_INVALID_OPERATION, "elements that are mapped for writing already",
       [](W& w) {
         cl_int code = CL_SUCCESS;
         std::size_t row = 0;
         const std::size_t last[] = {7, 3, 0};
         const std::size_t one[] = {1, 1, 1};
         void* const view = w.cl.clEnqueueMapImage(w.queue, w.image, CL_TRUE, CL_MAP_WRITE, last,
                                                   one, &row, nullptr, 0, nullptr, nullptr, &code);
         EXPECT_EQ(code, CL_SUCCESS);
         const cl_int again = map(w, w.image, CL_MAP_WRITE);
         EXPECT_EQ(w.cl.clEnqueueUnmapMemObject(w.queue, w.image, view, 0, nullptr, nullptr),
                   CL_SUCCESS);
         return again;
       }},
      {call, CL_INVALID_OPERATION, "elements whose buffer is mapped for writing already",
       [](W& w) {
         cl_int code = CL_SUCCESS;
         std::size_t row = 0;
         const std::size_t one[] = {1, 1, 1};
         void* const view = w.cl.clEnqueueMapBuffer(w.queue, w.second, CL_TRUE, CL_MAP_WRITE, 3, 1,
                                                    0, nullptr, nullptr, &code);
         EXPECT_EQ(code, CL_SUCCESS);
         const cl_int again = w.created([&](cl_int* out) {
           return w.cl.clEnqueueMapImage(w.queue, w.buffer_image, CL_TRUE, CL_MAP_WRITE, kOrigin,
                                         one, &row, nullptr, 0, nullptr, nullptr, out);
         });
         EXPECT_EQ(w.cl.clEnqueueUnmapMemObject(w.queue, w.second, view, 0, nullptr, nullptr),
                   CL_SUCCESS);
         return again;
       }},
      {"clEnqueueUnmapMemObject", CL_INVALID_VALUE, "a pointer that no map of an image gave",
       [](W& w) {
         return w.cl.clEnqueueUnmapMemObject(w.queue, w.image, w.bytes, 0, nullptr, nullptr);
       }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_MEM_OBJECT, "a released image in the list",
       [](W& w) {
         const cl_mem list[] = {w.image, w.dead_image};
         return w.cl.clEnqueueMigrateMemObjects(w.queue, 2, list, 0, 0, nullptr, nullptr);
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

// Commands on buffers take no images.
void buffer_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clEnqueueReadBuffer", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.cl.clEnqueueReadBuffer(w.queue, w.image, CL_TRUE, 0, 4, w.bytes, 0, nullptr,
                                         nullptr);
       }},
      {"clEnqueueWriteBuffer", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.cl.clEnqueueWriteBuffer(w.queue, w.image, CL_TRUE, 0, 4, w.bytes, 0, nullptr,
                                          nullptr);
       }},
      {"clEnqueueReadBufferRect", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.cl.clEnqueueReadBufferRect(w.queue, w.image, CL_TRUE, kOrigin, kOrigin, kRegion,
                                             0, 0, 0, 0, w.bytes, 0, nullptr, nullptr);
       }},
      {"clEnqueueWriteBufferRect", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.cl.clEnqueueWriteBufferRect(w.queue, w.image, CL_TRUE, kOrigin, kOrigin, kRegion,
                                              0, 0, 0, 0, w.bytes, 0, nullptr, nullptr);
       }},
      {"clEnqueueCopyBuffer", CL_INVALID_MEM_OBJECT, "an image as the target",
       [](W& w) {
         return w.cl.clEnqueueCopyBuffer(w.queue, w.buffer, w.image, 0, 0, 4, 0, nullptr, nullptr);
       }},
      {"clEnqueueCopyBufferRect", CL_INVALID_MEM_OBJECT, "an image as the source",
       [](W& w) {
         return w.cl.clEnqueueCopyBufferRect(w.queue, w.image, w.buffer, kOrigin, kOrigin, kRegion,
                                             0, 0, 0, 0, 0, nullptr, nullptr);
       }},
      {"clEnqueueFillBuffer", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.cl.clEnqueueFillBuffer(w.queue, w.image, w.bytes, 4, 0, 4, 0, nullptr, nullptr);
       }},
      {"clEnqueueMapBuffer", CL_INVALID_MEM_OBJECT, "an image",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clEnqueueMapBuffer(w.queue, w.image, CL_TRUE, CL_MAP_READ, 0, 4, 0, nullptr,
                                          nullptr, code);
         });
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

// clSetKernelArg and launches; `sampling` takes (read_only image2d_t, sampler_t, write_only
// image2d_t).
void argument_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clSetKernelArg";
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "a buffer for an image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.buffer, &w.buffer); }},
      {call, CL_INVALID_MEM_OBJECT, "an image for a buffer",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 0, sizeof w.image, &w.image); }},
      {call, CL_INVALID_MEM_OBJECT, "no image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof(cl_mem), nullptr); }},
      {call, CL_INVALID_MEM_OBJECT, "a 3D image for a 2D one",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.volume, &w.volume); }},
      {call, CL_INVALID_MEM_OBJECT, "a released image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.dead_image, &w.dead_image); }},
      {call, CL_INVALID_MEM_OBJECT, "another context's image",
       [](W& w) {
         return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.foreign_image, &w.foreign_image);
       }},
      {call, CL_INVALID_MEM_OBJECT, "a sampler for an image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.sampler, &w.sampler); }},
      {call, CL_INVALID_ARG_VALUE, "an image that kernels write only to read",
       [](W& w) {
         return w.cl.clSetKernelArg(w.sampling, 0, sizeof w.write_only_image, &w.write_only_image);
       }},
      {call, CL_INVALID_ARG_VALUE, "an image that kernels read only to write",
       [](W& w) {
         return w.cl.clSetKernelArg(w.sampling, 2, sizeof w.read_only_image, &w.read_only_image);
       }},
      {call, CL_INVALID_ARG_SIZE, "half a handle for an image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, 4, &w.image); }},
      {call, CL_INVALID_SAMPLER, "a buffer for a sampler",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 1, sizeof w.buffer, &w.buffer); }},
      {call, CL_INVALID_SAMPLER, "no sampler",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 1, sizeof(cl_sampler), nullptr); }},
      {call, CL_INVALID_SAMPLER, "bytes that are no handle for a sampler",
       [](W& w) {
         const std::uint64_t junk = 0x123456789abcdef;
         return w.cl.clSetKernelArg(w.sampling, 1, sizeof junk, &junk);
       }},
      {call, CL_INVALID_SAMPLER, "a released sampler",
       [](W& w) {
         return w.cl.clSetKernelArg(w.sampling, 1, sizeof w.dead_sampler, &w.dead_sampler);
       }},
      {call, CL_INVALID_SAMPLER, "another context's sampler",
       [](W& w) {
         return w.cl.clSetKernelArg(w.sampling, 1, sizeof w.foreign_sampler, &w.foreign_sampler);
       }},
      {call, CL_INVALID_ARG_SIZE, "half a handle for a sampler",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 1, 4, &w.sampler); }},
      {"clEnqueueNDRangeKernel", CL_INVALID_KERNEL_ARGS,
       "an image or a sampler that was released meanwhile",
       [](W& w) {
         const std::size_t one = 1;
         cl_int code = CL_SUCCESS;
         cl_sampler brief =
             w.cl.clCreateSampler(w.context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
         EXPECT_EQ(w.cl.clSetKernelArg(w.sampling, 0, sizeof w.image, &w.image), CL_SUCCESS);
         EXPECT_EQ(w.cl.clSetKernelArg(w.sampling, 1, sizeof brief, &brief), CL_SUCCESS);
         EXPECT_EQ(w.cl.clSetKernelArg(w.sampling, 2, sizeof w.image, &w.image), CL_SUCCESS);
         EXPECT_EQ(w.cl.clReleaseSampler(brief), CL_SUCCESS);
         code = w.cl.clEnqueueNDRangeKernel(w.queue, w.sampling, 1, nullptr, &one, &one, 0, nullptr,
                                            nullptr);
         EXPECT_EQ(w.cl.clSetKernelArg(w.sampling, 1, sizeof w.sampler, &w.sampler), CL_SUCCESS);
         return code;
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> image_errors() {
  std::vector<ErrorRow> rows;
  format_rows(rows);
  shape_rows(rows);
  creation_rows(rows);
  query_rows(rows);
  sampler_rows(rows);
  part_rows<Way::read>(rows, "clEnqueueReadImage");
  part_rows<Way::write>(rows, "clEnqueueWriteImage");
  part_rows<Way::fill>(rows, "clEnqueueFillImage");
  part_rows<Way::map>(rows, "clEnqueueMapImage");
  host_rows<Way::read>(rows, "clEnqueueReadImage");
  host_rows<Way::write>(rows, "clEnqueueWriteImage");
  pitch_rows<Way::read>(rows, "clEnqueueReadImage");
  pitch_rows<Way::write>(rows, "clEnqueueWriteImage");
  copy_rows(rows);
  linear_rows<true>(rows);
  linear_rows<false>(rows);
  map_rows(rows);
  buffer_rows(rows);
  argument_rows(rows);
  return rows;
}

}  // namespace ww::sim::icd
