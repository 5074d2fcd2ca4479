// Reads, writes, copies and fills of buffers. Every transfer takes chip time.
#include <algorithm>
#include <array>
#include <vector>

#include "opencl/memory/transfer.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"

namespace ww::sim::driver {

gpu::VirtualGpu& device() {
  return Runtime::get().powered_gpu();
}

cl_int code_of(const Status& status) {
  return status ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

bool inside(const _cl_mem& memory, std::size_t offset, std::size_t size) {
  return offset <= memory.size && size <= memory.size - offset;
}

cl_int check_queue_and_memory(cl_command_queue queue, cl_mem memory) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
  return queue->context.get() == memory->context.get() ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int check_queue_and_buffer(cl_command_queue queue, cl_mem memory) {
  const cl_int code = check_queue_and_memory(queue, memory);
  return code == CL_SUCCESS && memory->image ? CL_INVALID_MEM_OBJECT : code;
}

cl_int check_queue_and_image(cl_command_queue queue, cl_mem memory) {
  const cl_int code = check_queue_and_memory(queue, memory);
  return code == CL_SUCCESS && !memory->image ? CL_INVALID_MEM_OBJECT : code;
}

bool read_region(const std::size_t* region, Region& out) {
  if (region == nullptr) return false;
  std::copy_n(region, 3, out.begin());
  return std::all_of(out.begin(), out.end(), [](std::size_t n) { return n > 0; });
}

cl_int copy_bytes(std::uint64_t from, std::uint64_t to, std::size_t size) {
  std::vector<std::byte> stage(std::min<std::size_t>(size, 1 << 20));
  for (std::size_t done = 0; done < size; done += stage.size()) {
    const auto part = std::span(stage).first(std::min(stage.size(), size - done));
    if (!device().read(from + done, part) || !device().write(to + done, part)) {
      return CL_OUT_OF_RESOURCES;
    }
  }
  return CL_SUCCESS;
}

Enqueue command(cl_command_queue queue, cl_command_type type, const Waits& waits,
                cl_bool blocking) {
  return {.queue = queue,
          .type = type,
          .wait_count = waits.count,
          .waits = waits.waits,
          .event = waits.event,
          .blocking = blocking != CL_FALSE};
}

namespace {

cl_int check_access(cl_command_queue queue, cl_mem memory, std::size_t offset, std::size_t size,
                    const void* pointer) {
  if (const cl_int bad = check_queue_and_buffer(queue, memory); bad != CL_SUCCESS) return bad;
  // Size 0 was an error until OpenCL 2.0 and has no use.
  if (pointer == nullptr || size == 0 || !inside(*memory, offset, size)) return CL_INVALID_VALUE;
  return CL_SUCCESS;
}

// Box from a rectangle call's arguments; false when the pitches are too small or no memory could
// hold it.
bool make_box(const std::size_t* origin, const Region& region, std::size_t row_pitch,
              std::size_t slice_pitch, Box& box) {
  if (row_pitch == 0) row_pitch = region[0];
  if (row_pitch < region[0]) return false;
  using Wide = unsigned __int128;
  const Wide rows = Wide{region[1]} * row_pitch;
  if (slice_pitch == 0) slice_pitch = static_cast<std::size_t>(rows);
  if (slice_pitch < rows || slice_pitch % row_pitch != 0) return false;
  const Wide offset = Wide{origin[2]} * slice_pitch + Wide{origin[1]} * row_pitch + origin[0];
  const Wide end =
      offset + Wide{region[2] - 1} * slice_pitch + Wide{region[1] - 1} * row_pitch + region[0];
  if (end > Wide{1} << 48) return false;
  box = {static_cast<std::size_t>(offset), static_cast<std::size_t>(end), row_pitch, slice_pitch};
  return true;
}

// Do two address ranges share a byte?
bool overlap(std::uint64_t a, std::uint64_t b, std::size_t size) {
  return a < b + size && b < a + size;
}

// Do two boxes with equal pitches share a byte? (OpenCL 1.2 specification, appendix E.)
bool boxes_overlap(const Box& a, const Box& b, const Region& region) {
  if (b.end <= a.offset || a.end <= b.offset) return false;
  // One box's extent fits into the gaps that the other leaves in its rows, or in its slices.
  const auto in_gap = [&](std::size_t extent, std::size_t pitch) {
    const std::size_t x = a.offset % pitch;
    const std::size_t y = b.offset % pitch;
    return (y >= x + extent && y + extent <= x + pitch) ||
           (x >= y + extent && x + extent <= y + pitch);
  };
  return !in_gap(region[0], a.row_pitch) &&
         !in_gap((region[1] - 1) * a.row_pitch + region[0], a.slice_pitch);
}

const _cl_mem* root(const _cl_mem* memory) {
  return memory->parent ? memory->parent.get() : memory;
}

struct RectArguments {
  const std::size_t* buffer_origin;
  const std::size_t* host_origin;
  const std::size_t* region;
  std::size_t buffer_row_pitch, buffer_slice_pitch, host_row_pitch, host_slice_pitch;
};

// Read and write of a rectangle: `reading` is from the device.
cl_int enqueue_host_rect(const Enqueue& base, cl_mem buffer, const RectArguments& arguments,
                         std::byte* pointer, bool reading) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_buffer(base.queue, buffer); bad != CL_SUCCESS) {
      return bad;
    }
    Region region{};
    Box inner;
    Box outer;
    if (pointer == nullptr || arguments.buffer_origin == nullptr ||
        arguments.host_origin == nullptr || !read_region(arguments.region, region) ||
        !make_box(arguments.buffer_origin, region, arguments.buffer_row_pitch,
                  arguments.buffer_slice_pitch, inner) ||
        !make_box(arguments.host_origin, region, arguments.host_row_pitch,
                  arguments.host_slice_pitch, outer) ||
        inner.end > buffer->size) {
      return CL_INVALID_VALUE;
    }
    if ((buffer->flags & (reading ? kNoHostRead : kNoHostWrite)) != 0) {
      return CL_INVALID_OPERATION;
    }
    return enqueue(entry, base, [=, keep = Use(buffer)](Timing& timing) {
      charge(timing, host_transfer_ns(volume(region)));
      return for_each_row(inner, outer, region, [&](auto from, auto to, auto bytes) {
        const auto address = keep->address + from;
        return code_of(reading ? device().read(address, std::span(pointer + to, bytes))
                               : device().write(address, std::span(pointer + to, bytes)));
      });
    });
  });
}

}  // namespace

namespace api {

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                       std::size_t offset, std::size_t size, void* pointer,
                                       cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_access(queue, buffer, offset, size, pointer); bad != CL_SUCCESS) {
      return bad;
    }
    if ((buffer->flags & kNoHostRead) != 0) return CL_INVALID_OPERATION;
    const Enqueue what = command(queue, CL_COMMAND_READ_BUFFER, {count, waits, event}, blocking);
    return enqueue(entry, what, [=, keep = Use(buffer)](Timing& timing) {
      charge(timing, host_transfer_ns(size));
      return code_of(
          device().read(keep->address + offset, std::span(static_cast<std::byte*>(pointer), size)));
    });
  });
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                        std::size_t offset, std::size_t size, const void* pointer,
                                        cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_access(queue, buffer, offset, size, pointer); bad != CL_SUCCESS) {
      return bad;
    }
    if ((buffer->flags & kNoHostWrite) != 0) return CL_INVALID_OPERATION;
    const Enqueue what = command(queue, CL_COMMAND_WRITE_BUFFER, {count, waits, event}, blocking);
    return enqueue(entry, what, [=, keep = Use(buffer)](Timing& timing) {
      charge(timing, host_transfer_ns(size));
      return code_of(device().write(keep->address + offset,
                                    std::span(static_cast<const std::byte*>(pointer), size)));
    });
  });
}

cl_int CL_API_CALL clEnqueueReadBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* buffer_origin,
    const std::size_t* host_origin, const std::size_t* region, std::size_t buffer_row_pitch,
    std::size_t buffer_slice_pitch, std::size_t host_row_pitch, std::size_t host_slice_pitch,
    void* pointer, cl_uint count, const cl_event* waits, cl_event* event) {
  const Enqueue what = command(queue, CL_COMMAND_READ_BUFFER_RECT, {count, waits, event}, blocking);
  return enqueue_host_rect(what, buffer,
                           {buffer_origin, host_origin, region, buffer_row_pitch,
                            buffer_slice_pitch, host_row_pitch, host_slice_pitch},
                           static_cast<std::byte*>(pointer), true);
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(
    cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* buffer_origin,
    const std::size_t* host_origin, const std::size_t* region, std::size_t buffer_row_pitch,
    std::size_t buffer_slice_pitch, std::size_t host_row_pitch, std::size_t host_slice_pitch,
    const void* pointer, cl_uint count, const cl_event* waits, cl_event* event) {
  const Enqueue what =
      command(queue, CL_COMMAND_WRITE_BUFFER_RECT, {count, waits, event}, blocking);
  // The shared path only reads through the pointer when it writes to the device.
  return enqueue_host_rect(what, buffer,
                           {buffer_origin, host_origin, region, buffer_row_pitch,
                            buffer_slice_pitch, host_row_pitch, host_slice_pitch},
                           static_cast<std::byte*>(const_cast<void*>(pointer)), false);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                       std::size_t source_offset, std::size_t target_offset,
                                       std::size_t size, cl_uint count, const cl_event* waits,
                                       cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_buffer(queue, source); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_queue_and_buffer(queue, target); bad != CL_SUCCESS) return bad;
    if (size == 0 || !inside(*source, source_offset, size) ||
        !inside(*target, target_offset, size)) {
      return CL_INVALID_VALUE;
    }
    // Sub-buffers of one buffer overlap by address as well.
    if (overlap(source->address + source_offset, target->address + target_offset, size)) {
      return CL_MEM_COPY_OVERLAP;
    }
    const Enqueue what = command(queue, CL_COMMAND_COPY_BUFFER, {count, waits, event});
    return enqueue(entry, what, [=, from = Use(source), to = Use(target)](Timing& timing) {
      charge(timing, device_transfer_ns(size));
      return copy_bytes(from->address + source_offset, to->address + target_offset, size);
    });
  });
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(
    cl_command_queue queue, cl_mem source, cl_mem target, const std::size_t* source_origin,
    const std::size_t* target_origin, const std::size_t* region_in, std::size_t source_row_pitch,
    std::size_t source_slice_pitch, std::size_t target_row_pitch, std::size_t target_slice_pitch,
    cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_buffer(queue, source); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_queue_and_buffer(queue, target); bad != CL_SUCCESS) return bad;
    Region region{};
    Box a;
    Box b;
    if (source_origin == nullptr || target_origin == nullptr || !read_region(region_in, region) ||
        !make_box(source_origin, region, source_row_pitch, source_slice_pitch, a) ||
        !make_box(target_origin, region, target_row_pitch, target_slice_pitch, b) ||
        a.end > source->size || b.end > target->size) {
      return CL_INVALID_VALUE;
    }
    if (source == target && (a.row_pitch != b.row_pitch || a.slice_pitch != b.slice_pitch)) {
      return CL_INVALID_VALUE;
    }
    if (source == target
            ? boxes_overlap(a, b, region)
            : root(source) == root(target) && source->origin + a.offset < target->origin + b.end &&
                  target->origin + b.offset < source->origin + a.end) {
      return CL_MEM_COPY_OVERLAP;
    }
    const Enqueue what = command(queue, CL_COMMAND_COPY_BUFFER_RECT, {count, waits, event});
    return enqueue(entry, what, [=, from = Use(source), to = Use(target)](Timing& timing) {
      charge(timing, device_transfer_ns(volume(region)));
      return for_each_row(a, b, region, [&](auto x, auto y, auto bytes) {
        return copy_bytes(from->address + x, to->address + y, bytes);
      });
    });
  });
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                       std::size_t pattern_size, std::size_t offset,
                                       std::size_t size, cl_uint count, const cl_event* waits,
                                       cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_buffer(queue, buffer); bad != CL_SUCCESS) return bad;
    const bool power_of_two = (pattern_size & (pattern_size - 1)) == 0;
    if (pattern == nullptr || pattern_size == 0 || pattern_size > 128 || !power_of_two ||
        offset % pattern_size != 0 || size % pattern_size != 0 || !inside(*buffer, offset, size)) {
      return CL_INVALID_VALUE;
    }
    const auto* bytes = static_cast<const std::byte*>(pattern);
    std::vector<std::byte> copy(bytes, bytes + pattern_size);
    const Enqueue what = command(queue, CL_COMMAND_FILL_BUFFER, {count, waits, event});
    return enqueue(
        entry, what,
        [offset, size, copy = std::move(copy), keep = Use(buffer)](Timing& timing) -> cl_int {
          charge(timing, device_transfer_ns(size));
          if (size == 0) return CL_SUCCESS;
          return code_of(device().fill(keep->address + offset, size, copy));
        });
  });
}

}  // namespace api
}  // namespace ww::sim::driver
