// Images and samplers: making them and asking about them. OpenCL 1.2 specification, sections 5.3
// and 5.5.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

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

}  // namespace

std::vector<ErrorRow> image_errors() {
  std::vector<ErrorRow> rows;
  format_rows(rows);
  shape_rows(rows);
  creation_rows(rows);
  query_rows(rows);
  sampler_rows(rows);
  return rows;
}

}  // namespace ww::sim::driver
