// Commands on images, and images and samplers as arguments. OpenCL 1.2 specification, sections 5.3
// and 5.7.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

constexpr std::size_t kOrigin[3] = {0, 0, 0};
constexpr std::size_t kRegion[3] = {8, 4, 1};
constexpr std::size_t kEmpty[3] = {8, 0, 1};
constexpr std::size_t kTwoSlices[3] = {8, 4, 2};
constexpr std::size_t kAll[3] = {W::kImageSide, W::kImageSide, 1};
constexpr std::size_t kSecond[3] = {1, 0, 0};
constexpr std::size_t kFar[3] = {SIZE_MAX, 0, 0};

// Arguments that commands on one part of an image share.
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
       [](W& w) { return w.set_argument(w.sampling, 0, w.buffer); }},
      {call, CL_INVALID_MEM_OBJECT, "an image for a buffer",
       [](W& w) { return w.set_argument(w.kernel, 0, w.image); }},
      {call, CL_INVALID_MEM_OBJECT, "no image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, sizeof(cl_mem), nullptr); }},
      {call, CL_INVALID_MEM_OBJECT, "a 3D image for a 2D one",
       [](W& w) { return w.set_argument(w.sampling, 0, w.volume); }},
      {call, CL_INVALID_MEM_OBJECT, "a released image",
       [](W& w) { return w.set_argument(w.sampling, 0, w.dead_image); }},
      {call, CL_INVALID_MEM_OBJECT, "another context's image",
       [](W& w) { return w.set_argument(w.sampling, 0, w.foreign_image); }},
      {call, CL_INVALID_MEM_OBJECT, "a sampler for an image",
       [](W& w) { return w.set_argument(w.sampling, 0, w.sampler); }},
      {call, CL_INVALID_ARG_VALUE, "an image that kernels write only to read",
       [](W& w) { return w.set_argument(w.sampling, 0, w.write_only_image); }},
      {call, CL_INVALID_ARG_VALUE, "an image that kernels read only to write",
       [](W& w) { return w.set_argument(w.sampling, 2, w.read_only_image); }},
      {call, CL_INVALID_ARG_SIZE, "half a handle for an image",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 0, 4, &w.image); }},
      {call, CL_INVALID_SAMPLER, "a buffer for a sampler",
       [](W& w) { return w.set_argument(w.sampling, 1, w.buffer); }},
      {call, CL_INVALID_SAMPLER, "no sampler",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 1, sizeof(cl_sampler), nullptr); }},
      {call, CL_INVALID_SAMPLER, "bytes that are no handle for a sampler",
       [](W& w) {
         const std::uint64_t junk = 0x123456789abcdef;
         return w.set_argument(w.sampling, 1, junk);
       }},
      {call, CL_INVALID_SAMPLER, "a released sampler",
       [](W& w) { return w.set_argument(w.sampling, 1, w.dead_sampler); }},
      {call, CL_INVALID_SAMPLER, "another context's sampler",
       [](W& w) { return w.set_argument(w.sampling, 1, w.foreign_sampler); }},
      {call, CL_INVALID_ARG_SIZE, "half a handle for a sampler",
       [](W& w) { return w.cl.clSetKernelArg(w.sampling, 1, 4, &w.sampler); }},
      {"clEnqueueNDRangeKernel", CL_INVALID_KERNEL_ARGS,
       "an image or a sampler that was released meanwhile",
       [](W& w) {
         const std::size_t one = 1;
         cl_int code = CL_SUCCESS;
         cl_sampler brief =
             w.cl.clCreateSampler(w.context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
         EXPECT_EQ(w.set_argument(w.sampling, 0, w.image), CL_SUCCESS);
         EXPECT_EQ(w.set_argument(w.sampling, 1, brief), CL_SUCCESS);
         EXPECT_EQ(w.set_argument(w.sampling, 2, w.image), CL_SUCCESS);
         EXPECT_EQ(w.cl.clReleaseSampler(brief), CL_SUCCESS);
         code = w.cl.clEnqueueNDRangeKernel(w.queue, w.sampling, 1, nullptr, &one, &one, 0, nullptr,
                                            nullptr);
         EXPECT_EQ(w.set_argument(w.sampling, 1, w.sampler), CL_SUCCESS);
         return code;
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> image_command_errors() {
  std::vector<ErrorRow> rows;
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

}  // namespace ww::sim::driver
