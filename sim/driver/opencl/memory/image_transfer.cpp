// Reads, writes, copies and fills of images. Every transfer takes chip time.
#include "opencl/memory/image.hpp"
#include "opencl/memory/image_device.hpp"
#include "opencl/memory/transfer.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"

namespace ww::sim::driver {
namespace {

Box device_box(const ImageState& image, const ImagePart& part) {
  return box_at(part.origin, part.region, image.device);
}

struct HostArguments {
  const std::size_t* origin;
  const std::size_t* region;
  std::size_t row_pitch, slice_pitch;
};

// Read and write: `reading` is from the device.
cl_int enqueue_host(const Enqueue& base, cl_mem image, const HostArguments& arguments,
                    std::byte* pointer, bool reading) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_image(base.queue, image); bad != CL_SUCCESS) return bad;
    const ImageState& state = *image->image;
    ImagePart part;
    if (pointer == nullptr || !read_part(state, arguments.origin, arguments.region, part)) {
      return CL_INVALID_VALUE;
    }
    const auto pitches =
        counted_pitches(state.type, part.region, arguments.row_pitch, arguments.slice_pitch);
    if (!pitches) return CL_INVALID_VALUE;
    if ((image->flags & (reading ? kNoHostRead : kNoHostWrite)) != 0) return CL_INVALID_OPERATION;
    const Box inner = device_box(state, part);
    const Box outer = box_at({}, part.region, *pitches);
    return enqueue(entry, base, [=, keep = Use(image)](Timing& timing) {
      charge(timing, host_transfer_ns(volume(part.region)));
      return for_each_row(inner, outer, part.region, [&](auto from, auto to, auto bytes) {
        const auto address = keep->address + from;
        return code_of(reading ? device().read(address, std::span(pointer + to, bytes))
                               : device().write(address, std::span(pointer + to, bytes)));
      });
    });
  });
}

cl_int enqueue_copy(Entry& entry, const Enqueue& what, cl_mem source, const Box& from,
                    cl_mem target, const Box& to, const Region& region) {
  return enqueue(entry, what, [=, read = Use(source), written = Use(target)](Timing& timing) {
    charge(timing, device_transfer_ns(volume(region)));
    return for_each_row(from, to, region, [&](auto x, auto y, auto bytes) {
      return copy_bytes(read->address + x, written->address + y, bytes);
    });
  });
}

// Copies between an image and a buffer, in which the elements lie without gaps.
cl_int enqueue_linear_copy(const Enqueue& what, cl_mem image, cl_mem buffer,
                           const std::size_t* origin, const std::size_t* region, std::size_t offset,
                           bool to_buffer) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_image(what.queue, image); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_queue_and_buffer(what.queue, buffer); bad != CL_SUCCESS) {
      return bad;
    }
    if (image->parent.get() == buffer) return CL_INVALID_MEM_OBJECT;
    const ImageState& state = *image->image;
    ImagePart part;
    if (!read_part(state, origin, region, part) || !inside(*buffer, offset, volume(part.region))) {
      return CL_INVALID_VALUE;
    }
    const Box inner = device_box(state, part);
    Box outer = box_at({}, part.region, {part.region[0], part.region[0] * part.region[1]});
    outer.offset = offset;
    return to_buffer ? enqueue_copy(entry, what, image, inner, buffer, outer, part.region)
                     : enqueue_copy(entry, what, buffer, outer, image, inner, part.region);
  });
}

}  // namespace

namespace api {

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                      const std::size_t* origin, const std::size_t* region,
                                      std::size_t row_pitch, std::size_t slice_pitch, void* pointer,
                                      cl_uint count, const cl_event* waits, cl_event* event) {
  const Enqueue what = command(queue, CL_COMMAND_READ_IMAGE, {count, waits, event}, blocking);
  return enqueue_host(what, image, {origin, region, row_pitch, slice_pitch},
                      static_cast<std::byte*>(pointer), true);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                       const std::size_t* origin, const std::size_t* region,
                                       std::size_t row_pitch, std::size_t slice_pitch,
                                       const void* pointer, cl_uint count, const cl_event* waits,
                                       cl_event* event) {
  const Enqueue what = command(queue, CL_COMMAND_WRITE_IMAGE, {count, waits, event}, blocking);
  // The shared path only reads through the pointer when it writes to the device.
  return enqueue_host(what, image, {origin, region, row_pitch, slice_pitch},
                      static_cast<std::byte*>(const_cast<void*>(pointer)), false);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem source, cl_mem target,
                                      const std::size_t* source_origin,
                                      const std::size_t* target_origin, const std::size_t* region,
                                      cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_image(queue, source); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_queue_and_image(queue, target); bad != CL_SUCCESS) return bad;
    const ImageState& from = *source->image;
    const ImageState& to = *target->image;
    if (from.format.image_channel_order != to.format.image_channel_order ||
        from.format.image_channel_data_type != to.format.image_channel_data_type) {
      return CL_IMAGE_FORMAT_MISMATCH;
    }
    ImagePart read;
    ImagePart written;
    if (!read_part(from, source_origin, region, read) ||
        !read_part(to, target_origin, region, written)) {
      return CL_INVALID_VALUE;
    }
    const Box a = device_box(from, read);
    const Box b = device_box(to, written);
    if (source == target && boxes_meet(a, read.region, b, written.region)) {
      return CL_MEM_COPY_OVERLAP;
    }
    const Enqueue what = command(queue, CL_COMMAND_COPY_IMAGE, {count, waits, event});
    return enqueue_copy(entry, what, source, a, target, b, read.region);
  });
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem source, cl_mem target,
                                              const std::size_t* origin, const std::size_t* region,
                                              std::size_t offset, cl_uint count,
                                              const cl_event* waits, cl_event* event) {
  const Enqueue what = command(queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, {count, waits, event});
  return enqueue_linear_copy(what, source, target, origin, region, offset, true);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem source, cl_mem target,
                                              std::size_t offset, const std::size_t* origin,
                                              const std::size_t* region, cl_uint count,
                                              const cl_event* waits, cl_event* event) {
  const Enqueue what = command(queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, {count, waits, event});
  return enqueue_linear_copy(what, target, source, origin, region, offset, false);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color,
                                      const std::size_t* origin, const std::size_t* region,
                                      cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_image(queue, image); bad != CL_SUCCESS) return bad;
    const ImageState& state = *image->image;
    ImagePart part;
    if (color == nullptr || !read_part(state, origin, region, part)) return CL_INVALID_VALUE;
    const auto element = element_of(state.format, color);
    const Box box = device_box(state, part);
    const Enqueue what = command(queue, CL_COMMAND_FILL_IMAGE, {count, waits, event});
    return enqueue(entry, what, [=, keep = Use(image)](Timing& timing) {
      charge(timing, device_transfer_ns(volume(part.region)));
      const auto pattern = std::span(element).first(keep->image->element_bytes);
      return for_each_row(box, box, part.region, [&](auto at, auto, auto bytes) {
        return code_of(device().fill(keep->address + at, bytes, pattern));
      });
    });
  });
}

}  // namespace api
}  // namespace ww::sim::driver
