// Commands on buffers and events.
// OpenCL 1.2 specification, sections 5.2 to 5.5 and 5.9 to 5.12.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

constexpr std::size_t kOrigin[3] = {0, 0, 0};
constexpr std::size_t kRegion[3] = {16, 4, 2};
constexpr std::size_t kFlat[3] = {16, 0, 2};

cl_int read(W& w, cl_mem buffer, std::size_t offset, std::size_t size, void* to) {
  return w.cl.clEnqueueReadBuffer(w.queue, buffer, CL_TRUE, offset, size, to, 0, nullptr, nullptr);
}

cl_int write(W& w, cl_mem buffer, std::size_t offset, std::size_t size, const void* from) {
  return w.cl.clEnqueueWriteBuffer(w.queue, buffer, CL_TRUE, offset, size, from, 0, nullptr,
                                   nullptr);
}

cl_int copy(W& w, cl_mem from, cl_mem to, std::size_t from_offset, std::size_t to_offset,
            std::size_t size) {
  return w.cl.clEnqueueCopyBuffer(w.queue, from, to, from_offset, to_offset, size, 0, nullptr,
                                  nullptr);
}

// Arguments that the two rectangle calls between host and device share.
struct Rect {
  cl_mem buffer{};
  const std::size_t* buffer_origin = kOrigin;
  const std::size_t* host_origin = kOrigin;
  const std::size_t* region = kRegion;
  std::size_t buffer_row{}, buffer_slice{}, host_row{}, host_slice{};
  bool no_pointer{};
};

template <bool Reading>
cl_int rect(W& w, const Rect& r) {
  void* pointer = r.no_pointer ? nullptr : w.bytes;
  if (Reading) {
    return w.cl.clEnqueueReadBufferRect(w.queue, r.buffer, CL_TRUE, r.buffer_origin, r.host_origin,
                                        r.region, r.buffer_row, r.buffer_slice, r.host_row,
                                        r.host_slice, pointer, 0, nullptr, nullptr);
  }
  return w.cl.clEnqueueWriteBufferRect(w.queue, r.buffer, CL_TRUE, r.buffer_origin, r.host_origin,
                                       r.region, r.buffer_row, r.buffer_slice, r.host_row,
                                       r.host_slice, pointer, 0, nullptr, nullptr);
}

template <bool Reading>
void rect_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = Reading ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect";
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "no buffer", [](W& w) { return rect<Reading>(w, {}); }},
      {call, CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return rect<Reading>(w, {.buffer = w.dead_buffer}); }},
      {call, CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return rect<Reading>(w, {.buffer = w.foreign}); }},
      {call, CL_INVALID_VALUE, "a box past the end",
       [](W& w) {
         const std::size_t far[] = {0, 0, W::kBytes / 64};
         return rect<Reading>(w, {.buffer = w.buffer, .buffer_origin = far});
       }},
      {call, CL_INVALID_VALUE, "products that wrap",
       [](W& w) {
         const std::size_t far[] = {0, 0, std::size_t{1} << 60};
         return rect<Reading>(
             w, {.buffer = w.buffer, .buffer_origin = far, .buffer_row = 16, .buffer_slice = 64});
       }},
      {call, CL_INVALID_VALUE, "no pointer",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .no_pointer = true}); }},
      {call, CL_INVALID_VALUE, "no origin",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .buffer_origin = nullptr}); }},
      {call, CL_INVALID_VALUE, "no origin in the host's memory",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .host_origin = nullptr}); }},
      {call, CL_INVALID_VALUE, "no region",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .region = nullptr}); }},
      {call, CL_INVALID_VALUE, "an empty region",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .region = kFlat}); }},
      {call, CL_INVALID_VALUE, "rows that overlap in the buffer",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .buffer_row = 15}); }},
      {call, CL_INVALID_VALUE, "rows that overlap in the host's memory",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .host_row = 15}); }},
      {call, CL_INVALID_VALUE, "slices that overlap in the buffer",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .buffer_slice = 63}); }},
      {call, CL_INVALID_VALUE, "slices that overlap in the host's memory",
       [](W& w) { return rect<Reading>(w, {.buffer = w.buffer, .host_slice = 63}); }},
      {call, CL_INVALID_OPERATION, "a buffer that the host may not touch",
       [](W& w) { return rect<Reading>(w, {.buffer = w.no_access}); }},
      {call, CL_INVALID_OPERATION, "a buffer that the host may only use the other way",
       [](W& w) { return rect<Reading>(w, {.buffer = Reading ? w.write_only : w.read_only}); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

struct CopyRect {
  cl_mem from{};
  cl_mem to{};
  const std::size_t* from_origin = kOrigin;
  const std::size_t* to_origin = kOrigin;
  const std::size_t* region = kRegion;
  std::size_t from_row{}, from_slice{}, to_row{}, to_slice{};
};

cl_int copy_rect(W& w, const CopyRect& r) {
  return w.cl.clEnqueueCopyBufferRect(w.queue, r.from, r.to, r.from_origin, r.to_origin, r.region,
                                      r.from_row, r.from_slice, r.to_row, r.to_slice, 0, nullptr,
                                      nullptr);
}

cl_int fill(W& w, cl_mem buffer, const void* pattern, std::size_t pattern_size, std::size_t offset,
            std::size_t size) {
  return w.cl.clEnqueueFillBuffer(w.queue, buffer, pattern, pattern_size, offset, size, 0, nullptr,
                                  nullptr);
}

cl_int map(W& w, cl_mem buffer, cl_map_flags flags, std::size_t offset, std::size_t size) {
  return w.created([&](cl_int* code) {
    return w.cl.clEnqueueMapBuffer(w.queue, buffer, CL_TRUE, flags, offset, size, 0, nullptr,
                                   nullptr, code);
  });
}

// The code of a second map while the first is there.
cl_int map_again(W& w, cl_mem first, cl_mem second, std::size_t offset) {
  cl_int code = CL_SUCCESS;
  void* const view = w.cl.clEnqueueMapBuffer(w.queue, first, CL_TRUE, CL_MAP_WRITE, 0, 256, 0,
                                             nullptr, nullptr, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  const cl_int again = map(w, second, CL_MAP_WRITE_INVALIDATE_REGION, offset, 64);
  EXPECT_EQ(w.cl.clEnqueueUnmapMemObject(w.queue, first, view, 0, nullptr, nullptr), CL_SUCCESS);
  return again;
}

cl_int unmap(W& w, cl_mem buffer, void* pointer) {
  return w.cl.clEnqueueUnmapMemObject(w.queue, buffer, pointer, 0, nullptr, nullptr);
}

cl_int migrate(W& w, cl_uint count, const cl_mem* memories, cl_mem_migration_flags flags) {
  return w.cl.clEnqueueMigrateMemObjects(w.queue, count, memories, flags, 0, nullptr, nullptr);
}

void linear_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clEnqueueReadBuffer", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return read(w, nullptr, 0, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return read(w, w.dead_buffer, 0, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return read(w, w.foreign, 0, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_VALUE, "bytes past the end",
       [](W& w) { return read(w, w.buffer, W::kBytes - 3, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_VALUE, "bytes past the end of a sub-buffer",
       [](W& w) { return read(w, w.sub, 253, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_VALUE, "a sum that wraps",
       [](W& w) { return read(w, w.buffer, SIZE_MAX, 2, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_VALUE, "no pointer",
       [](W& w) { return read(w, w.buffer, 0, 4, nullptr); }},
      {"clEnqueueReadBuffer", CL_INVALID_VALUE, "no bytes",
       [](W& w) { return read(w, w.buffer, 0, 0, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_OPERATION, "a buffer that the host writes only",
       [](W& w) { return read(w, w.write_only, 0, 4, w.bytes); }},
      {"clEnqueueReadBuffer", CL_INVALID_OPERATION, "a buffer that the host may not touch",
       [](W& w) { return read(w, w.no_access, 0, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return write(w, nullptr, 0, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return write(w, w.dead_buffer, 0, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return write(w, w.foreign, 0, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_VALUE, "bytes past the end",
       [](W& w) { return write(w, w.buffer, W::kBytes - 3, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_VALUE, "a sum that wraps",
       [](W& w) { return write(w, w.buffer, 4, SIZE_MAX, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_VALUE, "no pointer",
       [](W& w) { return write(w, w.buffer, 0, 4, nullptr); }},
      {"clEnqueueWriteBuffer", CL_INVALID_VALUE, "no bytes",
       [](W& w) { return write(w, w.buffer, 0, 0, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_OPERATION, "a buffer that the host reads only",
       [](W& w) { return write(w, w.read_only, 0, 4, w.bytes); }},
      {"clEnqueueWriteBuffer", CL_INVALID_OPERATION, "a buffer that the host may not touch",
       [](W& w) { return write(w, w.no_access, 0, 4, w.bytes); }},
      {"clEnqueueCopyBuffer", CL_INVALID_MEM_OBJECT, "no source",
       [](W& w) { return copy(w, nullptr, w.buffer, 0, 0, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_MEM_OBJECT, "no target",
       [](W& w) { return copy(w, w.buffer, nullptr, 0, 0, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_CONTEXT, "another context's source",
       [](W& w) { return copy(w, w.foreign, w.buffer, 0, 0, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_CONTEXT, "another context's target",
       [](W& w) { return copy(w, w.buffer, w.foreign, 0, 0, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_VALUE, "bytes past the source's end",
       [](W& w) { return copy(w, w.buffer, w.second, W::kBytes - 3, 0, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_VALUE, "bytes past the target's end",
       [](W& w) { return copy(w, w.buffer, w.second, 0, W::kBytes - 3, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_VALUE, "a sum that wraps",
       [](W& w) { return copy(w, w.buffer, w.second, 0, SIZE_MAX, 4); }},
      {"clEnqueueCopyBuffer", CL_INVALID_VALUE, "no bytes",
       [](W& w) { return copy(w, w.buffer, w.second, 0, 0, 0); }},
      {"clEnqueueCopyBuffer", CL_MEM_COPY_OVERLAP, "a buffer onto itself",
       [](W& w) { return copy(w, w.buffer, w.buffer, 0, 3, 4); }},
      {"clEnqueueCopyBuffer", CL_MEM_COPY_OVERLAP, "a sub-buffer onto its buffer",
       [](W& w) { return copy(w, w.sub, w.buffer, 0, 131, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return fill(w, nullptr, w.bytes, 4, 0, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return fill(w, w.foreign, w.bytes, 4, 0, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "bytes past the end",
       [](W& w) { return fill(w, w.buffer, w.bytes, 4, W::kBytes - 4, 8); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "no pattern",
       [](W& w) { return fill(w, w.buffer, nullptr, 4, 0, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "an empty pattern",
       [](W& w) { return fill(w, w.buffer, w.bytes, 0, 0, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "a pattern of three bytes",
       [](W& w) { return fill(w, w.buffer, w.bytes, 3, 0, 6); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "a pattern of 256 bytes",
       [](W& w) { return fill(w, w.buffer, w.bytes, 256, 0, 256); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "an offset within a pattern",
       [](W& w) { return fill(w, w.buffer, w.bytes, 4, 2, 4); }},
      {"clEnqueueFillBuffer", CL_INVALID_VALUE, "a part of a pattern",
       [](W& w) { return fill(w, w.buffer, w.bytes, 4, 0, 6); }},
      {"clEnqueueMapBuffer", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return map(w, nullptr, CL_MAP_READ, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return map(w, w.foreign, CL_MAP_READ, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_VALUE, "bytes past the end",
       [](W& w) { return map(w, w.buffer, CL_MAP_READ, W::kBytes, 1); }},
      {"clEnqueueMapBuffer", CL_INVALID_VALUE, "no bytes",
       [](W& w) { return map(w, w.buffer, CL_MAP_READ, 0, 0); }},
      {"clEnqueueMapBuffer", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return map(w, w.buffer, 1 << 20, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_VALUE, "bytes that are kept and not",
       [](W& w) { return map(w, w.buffer, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "reads of a buffer that the host writes only",
       [](W& w) { return map(w, w.write_only, CL_MAP_READ, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "writes of a buffer that the host reads only",
       [](W& w) { return map(w, w.read_only, CL_MAP_WRITE, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "new bytes for a buffer that it reads only",
       [](W& w) { return map(w, w.read_only, CL_MAP_WRITE_INVALIDATE_REGION, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "reads of a buffer that is not the host's",
       [](W& w) { return map(w, w.no_access, CL_MAP_READ, 0, 4); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "bytes that are mapped for writing already",
       [](W& w) { return map_again(w, w.buffer, w.buffer, 255); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "a sub-buffer whose bytes are mapped already",
       [](W& w) { return map_again(w, w.buffer, w.sub, 64); }},
      {"clEnqueueMapBuffer", CL_INVALID_OPERATION, "bytes of a mapped sub-buffer",
       [](W& w) { return map_again(w, w.sub, w.buffer, 128); }},
      {"clEnqueueUnmapMemObject", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return unmap(w, nullptr, w.bytes); }},
      {"clEnqueueUnmapMemObject", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return unmap(w, w.dead_buffer, w.bytes); }},
      {"clEnqueueUnmapMemObject", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return unmap(w, w.foreign, w.bytes); }},
      {"clEnqueueUnmapMemObject", CL_INVALID_VALUE, "no pointer",
       [](W& w) { return unmap(w, w.buffer, nullptr); }},
      {"clEnqueueUnmapMemObject", CL_INVALID_VALUE, "a pointer that no map gave",
       [](W& w) { return unmap(w, w.buffer, w.bytes); }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_VALUE, "nothing to move",
       [](W& w) { return migrate(w, 0, &w.buffer, 0); }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_VALUE, "no list",
       [](W& w) { return migrate(w, 1, nullptr, 0); }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return migrate(w, 1, &w.buffer, 1 << 20); }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_MEM_OBJECT, "a released object in the list",
       [](W& w) {
         const cl_mem list[] = {w.buffer, w.dead_buffer};
         return migrate(w, 2, list, 0);
       }},
      {"clEnqueueMigrateMemObjects", CL_INVALID_CONTEXT, "another context's buffer",
       [](W& w) { return migrate(w, 1, &w.foreign, 0); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void copy_rect_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clEnqueueCopyBufferRect";
  const ErrorRow own[] = {
      {call, CL_INVALID_MEM_OBJECT, "no source",
       [](W& w) { return copy_rect(w, {.to = w.buffer}); }},
      {call, CL_INVALID_MEM_OBJECT, "no target",
       [](W& w) { return copy_rect(w, {.from = w.buffer}); }},
      {call, CL_INVALID_CONTEXT, "another context's source",
       [](W& w) { return copy_rect(w, {.from = w.foreign, .to = w.buffer}); }},
      {call, CL_INVALID_CONTEXT, "another context's target",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.foreign}); }},
      {call, CL_INVALID_VALUE, "a box past the source's end",
       [](W& w) {
         const std::size_t far[] = {0, 0, W::kBytes / 64};
         return copy_rect(w, {.from = w.buffer, .to = w.second, .from_origin = far});
       }},
      {call, CL_INVALID_VALUE, "a box past the target's end",
       [](W& w) {
         const std::size_t far[] = {W::kBytes, 0, 0};
         return copy_rect(w, {.from = w.buffer, .to = w.second, .to_origin = far});
       }},
      {call, CL_INVALID_VALUE, "an empty region",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .region = kFlat}); }},
      {call, CL_INVALID_VALUE, "no region",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .region = nullptr}); }},
      {call, CL_INVALID_VALUE, "no origin",
       [](W& w) {
         return copy_rect(w, {.from = w.buffer, .to = w.second, .from_origin = nullptr});
       }},
      {call, CL_INVALID_VALUE, "rows that overlap in the source",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .from_row = 15}); }},
      {call, CL_INVALID_VALUE, "rows that overlap in the target",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .to_row = 15}); }},
      {call, CL_INVALID_VALUE, "slices that overlap in the source",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .from_slice = 48}); }},
      {call, CL_INVALID_VALUE, "slices that overlap in the target",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .to_slice = 48}); }},
      {call, CL_INVALID_VALUE, "slices of the source that end within a row",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .from_slice = 72}); }},
      {call, CL_INVALID_VALUE, "slices of the target that end within a row",
       [](W& w) { return copy_rect(w, {.from = w.buffer, .to = w.second, .to_slice = 72}); }},
      {call, CL_INVALID_VALUE, "one buffer with two pitches",
       [](W& w) {
         const std::size_t far[] = {0, 0, 16};
         return copy_rect(w, {.from = w.buffer,
                              .to = w.buffer,
                              .to_origin = far,
                              .from_row = 16,
                              .from_slice = 64,
                              .to_row = 32,
                              .to_slice = 128});
       }},
      {call, CL_MEM_COPY_OVERLAP, "a buffer onto itself",
       [](W& w) {
         const std::size_t near[] = {8, 1, 0};
         return copy_rect(w, {.from = w.buffer, .to = w.buffer, .to_origin = near});
       }},
      {call, CL_MEM_COPY_OVERLAP, "a sub-buffer onto its buffer",
       [](W& w) {
         const std::size_t near[] = {0, 0, 2};
         return copy_rect(w, {.from = w.sub, .to = w.buffer, .to_origin = near});
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void event_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clCreateUserEvent", CL_INVALID_CONTEXT, "no context",
       [](W& w) {
         return w.created([&](cl_int* code) { return w.cl.clCreateUserEvent(nullptr, code); });
       }},
      {"clCreateUserEvent", CL_INVALID_CONTEXT, "a released object",
       [](W& w) {
         return w.created(
             [&](cl_int* code) { return w.cl.clCreateUserEvent(w.dead_context, code); });
       }},
      {"clSetUserEventStatus", CL_INVALID_EVENT, "no event",
       [](W& w) { return w.cl.clSetUserEventStatus(nullptr, CL_COMPLETE); }},
      {"clSetUserEventStatus", CL_INVALID_EVENT, "a released object",
       [](W& w) { return w.cl.clSetUserEventStatus(w.dead_event, CL_COMPLETE); }},
      {"clSetUserEventStatus", CL_INVALID_EVENT, "a command's event",
       [](W& w) { return w.cl.clSetUserEventStatus(w.event, CL_COMPLETE); }},
      {"clSetUserEventStatus", CL_INVALID_VALUE, "a status that is neither done nor an error",
       [](W& w) { return w.cl.clSetUserEventStatus(w.user, CL_RUNNING); }},
      {"clSetUserEventStatus", CL_INVALID_OPERATION, "a second status",
       [](W& w) { return w.cl.clSetUserEventStatus(w.failed_event, CL_COMPLETE); }},
      {"clWaitForEvents", CL_INVALID_VALUE, "a list of no event",
       [](W& w) { return w.cl.clWaitForEvents(0, &w.event); }},
      {"clWaitForEvents", CL_INVALID_VALUE, "no list",
       [](W& w) { return w.cl.clWaitForEvents(1, nullptr); }},
      {"clWaitForEvents", CL_INVALID_EVENT, "a released object",
       [](W& w) {
         const cl_event list[] = {w.event, w.dead_event};
         return w.cl.clWaitForEvents(2, list);
       }},
      {"clWaitForEvents", CL_INVALID_EVENT, "no event in the list",
       [](W& w) {
         const cl_event list[] = {w.event, nullptr};
         return w.cl.clWaitForEvents(2, list);
       }},
      {"clWaitForEvents", CL_INVALID_CONTEXT, "events of two contexts",
       [](W& w) {
         const cl_event list[] = {w.event, w.foreign_event};
         return w.cl.clWaitForEvents(2, list);
       }},
      {"clWaitForEvents", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "an event that failed",
       [](W& w) {
         const cl_event list[] = {w.event, w.failed_event};
         return w.cl.clWaitForEvents(2, list);
       }},
      {"clSetEventCallback", CL_INVALID_EVENT, "no event",
       [](W& w) {
         return w.cl.clSetEventCallback(
             nullptr, CL_COMPLETE, [](cl_event, cl_int, void*) {}, nullptr);
       }},
      {"clSetEventCallback", CL_INVALID_VALUE, "no callback",
       [](W& w) { return w.cl.clSetEventCallback(w.user, CL_COMPLETE, nullptr, nullptr); }},
      {"clSetEventCallback", CL_INVALID_VALUE, "a status that commands never have",
       [](W& w) {
         return w.cl.clSetEventCallback(
             w.user, 77, [](cl_event, cl_int, void*) {}, nullptr);
       }},
      {"clGetEventProfilingInfo", CL_INVALID_EVENT, "a released object",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.dead_event, CL_PROFILING_COMMAND_END, 0, nullptr,
                                             nullptr);
       }},
      {"clGetEventProfilingInfo", CL_PROFILING_INFO_NOT_AVAILABLE, "a queue without profiling",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.event, CL_PROFILING_COMMAND_END, 0, nullptr,
                                             nullptr);
       }},
      {"clGetEventProfilingInfo", CL_PROFILING_INFO_NOT_AVAILABLE, "a user event",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.failed_event, CL_PROFILING_COMMAND_END, 0, nullptr,
                                             nullptr);
       }},
      {"clGetEventProfilingInfo", CL_PROFILING_INFO_NOT_AVAILABLE, "a command that has not run",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.waiting, CL_PROFILING_COMMAND_END, 0, nullptr,
                                             nullptr);
       }},
      {"clGetEventProfilingInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.profiled, 0x7eee, sizeof w.bytes, w.bytes, nullptr);
       }},
      {"clGetEventProfilingInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetEventProfilingInfo(w.profiled, CL_PROFILING_COMMAND_END, 4, w.bytes,
                                             nullptr);
       }},
      {"clEnqueueMarker", CL_INVALID_VALUE, "nowhere to put the event",
       [](W& w) { return w.cl.clEnqueueMarker(w.queue, nullptr); }},
      {"clEnqueueWaitForEvents", CL_INVALID_VALUE, "a list of no event",
       [](W& w) { return w.cl.clEnqueueWaitForEvents(w.queue, 0, &w.event); }},
      {"clEnqueueWaitForEvents", CL_INVALID_VALUE, "no list",
       [](W& w) { return w.cl.clEnqueueWaitForEvents(w.queue, 1, nullptr); }},
      {"clEnqueueWaitForEvents", CL_INVALID_EVENT, "a released object",
       [](W& w) { return w.cl.clEnqueueWaitForEvents(w.queue, 1, &w.dead_event); }},
      {"clEnqueueWaitForEvents", CL_INVALID_CONTEXT, "another context's event",
       [](W& w) { return w.cl.clEnqueueWaitForEvents(w.queue, 1, &w.foreign_event); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> transfer_errors() {
  std::vector<ErrorRow> rows;
  linear_rows(rows);
  rect_rows<true>(rows);
  rect_rows<false>(rows);
  copy_rect_rows(rows);
  event_rows(rows);
  return rows;
}

}  // namespace ww::sim::driver
