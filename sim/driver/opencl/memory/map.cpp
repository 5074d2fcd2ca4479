// Maps of buffers and images, and the way back. Memory of the device's own is shown where it lies;
// what the application lent (CL_MEM_USE_HOST_PTR) is copied there and back.
#include <algorithm>
#include <cstring>

#include "opencl/memory/image.hpp"
#include "opencl/memory/transfer.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"

namespace ww::sim::driver {
namespace {

// The application's place for a region, whose rows and slices lie there as they would in
// `host_ptr`.
Box lent_box(const MappedRegion& mapped) {
  return box_at({}, mapped.region, mapped.host);
}

// Brings the application's copy of a lent region up to date. Bytes that are right already are not
// written: nobody needs to be able to write what the device only reads.
cl_int refresh_host_copy(const _cl_mem& memory, const MappedRegion& mapped) {
  return for_each_row(
      mapped.device, lent_box(mapped), mapped.region, [&](auto from, auto to, auto bytes) {
        const auto view = device().host_pointer(memory.address + from, bytes);
        if (view && std::memcmp(*view, mapped.pointer + to, bytes) == 0) return CL_SUCCESS;
        return code_of(device().read(memory.address + from, std::span(mapped.pointer + to, bytes)));
      });
}

const std::shared_ptr<const void>& host_writes() {
  static const auto& all = *new std::shared_ptr<const void>(std::make_shared<char>());
  return all;
}

bool writes(const MappedRegion& mapped) {
  return (mapped.flags & kMapWrites) != 0;
}

cl_int unmap(const _cl_mem& memory, const MappedRegion& mapped, Timing& timing) {
  if (!writes(mapped)) return CL_SUCCESS;
  charge(timing, host_transfer_ns(volume(mapped.region)));
  if (memory.host_ptr == nullptr) {
    device().host_wrote();
    return CL_SUCCESS;
  }
  return for_each_row(
      mapped.device, lent_box(mapped), mapped.region, [&](auto to, auto from, auto bytes) {
        return code_of(device().write(memory.address + to,
                                      std::span<const std::byte>(mapped.pointer + from, bytes)));
      });
}

bool map_flags_are_sound(cl_map_flags flags) {
  return (flags & ~(CL_MAP_READ | kMapWrites)) == 0 &&
         ((flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0 ||
          (flags & (CL_MAP_READ | CL_MAP_WRITE)) == 0);
}

// Maps a region of a memory object; `wanted` says all but where it is to be seen. `host_offset`:
// where it begins in lent memory.
Created<void*> map(Entry& entry, const Enqueue& what, cl_mem memory, MappedRegion wanted,
                   std::size_t host_offset) {
  const cl_map_flags flags = wanted.flags;
  if (((memory->flags & kNoHostRead) != 0 && (flags & CL_MAP_READ) != 0) ||
      ((memory->flags & kNoHostWrite) != 0 && (flags & kMapWrites) != 0)) {
    return refuse(CL_INVALID_OPERATION);
  }
  // OpenCL 1.2, section 5.4.3: overlapping maps may read, only one may write.
  if ((flags & kMapWrites) != 0 && mapped_for_writing(*memory, wanted.device, wanted.region)) {
    return refuse(CL_INVALID_OPERATION);
  }
  if (memory->host_ptr != nullptr) {
    wanted.pointer = memory->host_ptr + host_offset;
  } else {
    auto view = device().host_pointer(memory->address + wanted.device.offset,
                                      wanted.device.end - wanted.device.offset);
    if (!view) return refuse(CL_MAP_FAILURE);
    wanted.pointer = *view;
    if (writes(wanted)) wanted.writing = begin_host_writes();
  }
  // The map exists from the call on; its bytes are there when the command has run.
  memory->mapped.push_back(wanted);
  const cl_int code = enqueue(entry, what, [wanted, keep = Use(memory)](Timing& timing) -> cl_int {
    if ((wanted.flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) return CL_SUCCESS;
    charge(timing, host_transfer_ns(volume(wanted.region)));
    return keep->host_ptr != nullptr ? refresh_host_copy(*keep.get(), wanted) : CL_SUCCESS;
  });
  if (code != CL_SUCCESS) {
    auto& mapped = memory->mapped;
    const auto mine = std::find_if(mapped.rbegin(), mapped.rend(), [&](const auto& region) {
      return region.pointer == wanted.pointer && region.region == wanted.region;
    });
    if (mine != mapped.rend()) mapped.erase(std::next(mine).base());
    return refuse(code);
  }
  return wanted.pointer;
}

// The one that a call to unmap means. Maps of one place may read while another one writes: that one
// has something to bring back.
std::vector<MappedRegion>::iterator find_mapped(std::vector<MappedRegion>& mapped,
                                                const void* pointer) {
  const auto shows = [pointer](const MappedRegion& region) { return region.pointer == pointer; };
  const auto written = std::ranges::find_if(
      mapped, [&](const MappedRegion& region) { return shows(region) && writes(region); });
  return written != mapped.end() ? written : std::ranges::find_if(mapped, shows);
}

}  // namespace

std::shared_ptr<const void> begin_host_writes() {
  return host_writes();
}

bool host_is_writing() {
  return host_writes().use_count() > 1;
}

namespace api {

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                     cl_map_flags flags, std::size_t offset, std::size_t size,
                                     cl_uint count, const cl_event* waits, cl_event* event,
                                     cl_int* errcode_ret) {
  return created<void*>(errcode_ret, [&](Entry& entry) -> Created<void*> {
    if (const cl_int bad = check_queue_and_buffer(queue, buffer); bad != CL_SUCCESS) {
      return refuse(bad);
    }
    if (!map_flags_are_sound(flags) || size == 0 || !inside(*buffer, offset, size)) {
      return refuse(CL_INVALID_VALUE);
    }
    const Enqueue what = command(queue, CL_COMMAND_MAP_BUFFER, {count, waits, event}, blocking);
    const Region region{size, 1, 1};
    const Pitches one_row{buffer->size, buffer->size};
    return map(entry, what, buffer,
               {.region = region,
                .device = box_at({offset, 0, 0}, region, one_row),
                .host = one_row,
                .flags = flags},
               offset);
  });
}

void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                    cl_map_flags flags, const std::size_t* origin,
                                    const std::size_t* region, std::size_t* row_pitch,
                                    std::size_t* slice_pitch, cl_uint count, const cl_event* waits,
                                    cl_event* event, cl_int* errcode_ret) {
  return created<void*>(errcode_ret, [&](Entry& entry) -> Created<void*> {
    if (const cl_int bad = check_queue_and_image(queue, image); bad != CL_SUCCESS) {
      return refuse(bad);
    }
    const ImageState& state = *image->image;
    ImagePart part;
    if (!map_flags_are_sound(flags) || !read_part(state, origin, region, part) ||
        row_pitch == nullptr || (has_slices(state.type) && slice_pitch == nullptr)) {
      return refuse(CL_INVALID_VALUE);
    }
    const Enqueue what = command(queue, CL_COMMAND_MAP_IMAGE, {count, waits, event}, blocking);
    const bool lent = image->host_ptr != nullptr;
    auto pointer = map(entry, what, image,
                       {.region = part.region,
                        .device = box_at(part.origin, part.region, state.device),
                        .host = lent ? state.host : state.device,
                        .flags = flags},
                       box_at(part.origin, part.region, state.host).offset);
    if (pointer) {
      const Pitches shown = lent ? state.own_pitches : device_pitches(state);
      *row_pitch = shown.row;
      if (slice_pitch != nullptr) *slice_pitch = shown.slice;
    }
    return pointer;
  });
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* pointer,
                                           cl_uint count, const cl_event* waits, cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (const cl_int bad = check_queue_and_memory(queue, memory); bad != CL_SUCCESS) return bad;
    auto& mapped = memory->mapped;
    const auto found = find_mapped(mapped, pointer);
    if (found == mapped.end()) return CL_INVALID_VALUE;
    const Enqueue what = command(queue, CL_COMMAND_UNMAP_MEM_OBJECT, {count, waits, event});
    const MappedRegion region = *found;
    mapped.erase(found);
    const cl_int code = enqueue(entry, what, [region, keep = Use(memory)](Timing& timing) {
      return unmap(*keep.get(), region, timing);
    });
    if (code != CL_SUCCESS) mapped.push_back(region);
    return code;
  });
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint memory_count,
                                              const cl_mem* memories, cl_mem_migration_flags flags,
                                              cl_uint count, const cl_event* waits,
                                              cl_event* event) {
  return guarded([&](Entry& entry) -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    constexpr cl_mem_migration_flags kKnown =
        CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if (memory_count == 0 || memories == nullptr || (flags & ~kKnown) != 0) {
      return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < memory_count; ++i) {
      if (const cl_int bad = check_queue_and_memory(queue, memories[i]); bad != CL_SUCCESS) {
        return bad;
      }
    }
    const Enqueue what = command(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, {count, waits, event});
    std::vector<Use<_cl_mem>> kept;
    // An object that lies in another one's memory moves with that one.
    for (cl_uint i = 0; i < memory_count; ++i) {
      cl_mem whole = memories[i];
      while (whole->parent) whole = whole->parent.get();
      kept.emplace_back(whole);
    }
    return enqueue(
        entry, what,
        [kept = std::move(kept), flags, device = queue->device](Timing& timing) -> cl_int {
          // A host that wants them at hand leaves them where they are.
          if ((flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0) return CL_SUCCESS;
          auto& gpu = Runtime::get().powered_gpu();
          if (gpu.chip().architecture().memory_domains == 1) return CL_SUCCESS;
          gpu.select_device(device->ordinal);
          std::size_t bytes = 0;
          for (const auto& memory : kept) {
            if (!gpu.move(memory->address)) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
            bytes += memory->size;
          }
          charge(timing, device_transfer_ns(bytes));
          return CL_SUCCESS;
        });
  });
}

}  // namespace api
}  // namespace ww::sim::driver
