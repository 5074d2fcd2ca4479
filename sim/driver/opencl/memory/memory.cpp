#include "opencl/memory/memory.hpp"

#include <cmath>
#include <optional>
#include <unordered_set>

#include "common/runtime/runtime.hpp"
#include "opencl/memory/approximable.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "ww/core/cl_approximable.h"

namespace ww::sim::driver {
namespace {

constexpr cl_mem_flags kDeviceAccess = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
constexpr cl_mem_flags kHostPointer =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
constexpr cl_mem_flags kHostAccess =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

std::unordered_set<const void*>& memories() {
  static auto& set = *new std::unordered_set<const void*>;
  return set;
}

bool more_than_one(cl_mem_flags flags) {
  return (flags & (flags - 1)) != 0;
}

Created<cl_mem> make_buffer(cl_context context, cl_mem_flags flags, std::size_t size,
                            void* host_ptr) {
  if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
  if (!flags_are_sound(flags)) return refuse(CL_INVALID_VALUE);
  auto& gpu = Runtime::get().powered_gpu();
  if (size == 0 || size > max_allocation()) return refuse(CL_INVALID_BUFFER_SIZE);
  const bool takes_pointer = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  if (takes_pointer != (host_ptr != nullptr)) return refuse(CL_INVALID_HOST_PTR);

  gpu.select_device(context->devices.front()->ordinal);
  auto address = gpu.allocate(size);
  if (!address) return refuse(CL_MEM_OBJECT_ALLOCATION_FAILURE);
  if (host_ptr != nullptr &&
      !gpu.write(*address, std::span(static_cast<const std::byte*>(host_ptr), size))) {
    (void)gpu.release(*address);
    return refuse(CL_OUT_OF_RESOURCES);
  }
  auto* memory = new_memory(context, flags, false);
  memory->size = size;
  memory->address = *address;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) memory->host_ptr = static_cast<std::byte*>(host_ptr);
  approximate_buffer(Runtime::get().approximations, memory);
  return memory;
}

Created<cl_mem> make_sub_buffer(cl_mem parent, cl_mem_flags asked, cl_buffer_create_type type,
                                const void* info) {
  if (!valid(parent) || parent->parent || parent->image) return refuse(CL_INVALID_MEM_OBJECT);
  auto flags = inherited_flags(parent->flags, asked);
  if (!flags) return refuse(flags.error());
  if (type != CL_BUFFER_CREATE_TYPE_REGION || info == nullptr) return refuse(CL_INVALID_VALUE);
  const auto region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0) return refuse(CL_INVALID_BUFFER_SIZE);
  if (region.origin > parent->size || region.size > parent->size - region.origin) {
    return refuse(CL_INVALID_VALUE);
  }
  if (region.origin % kSubBufferAlignment != 0) return refuse(CL_MISALIGNED_SUB_BUFFER_OFFSET);
  auto* memory = new_memory(parent->context.get(), *flags, false);
  memory->size = region.size;
  memory->address = parent->address + region.origin;
  memory->parent = Use(parent);
  memory->origin = region.origin;
  if (parent->host_ptr != nullptr) memory->host_ptr = parent->host_ptr + region.origin;
  return memory;
}

std::optional<net::WordType> word_type(std::uint32_t type) {
  switch (type) {
    case WW_CL_EXACT: return net::WordType::exact;
    case WW_CL_INT32: return net::WordType::int32;
    case WW_CL_FLOAT32: return net::WordType::float32;
    case WW_CL_UINT8: return net::WordType::uint8;
    default: return std::nullopt;
  }
}

}  // namespace

std::size_t max_allocation() {
  const auto& arch = Runtime::get().powered_gpu().chip().architecture();
  return static_cast<std::size_t>(arch.memory_bytes_of_device()) / 4;
}

bool flags_are_sound(cl_mem_flags flags) {
  if ((flags & ~(kDeviceAccess | kHostPointer | kHostAccess)) != 0) return false;
  if (more_than_one(flags & kDeviceAccess) || more_than_one(flags & kHostAccess)) return false;
  // The application's own memory can be neither allocated nor copied.
  return (flags & CL_MEM_USE_HOST_PTR) == 0 ||
         (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0;
}

cl_int declare_approximable(cl_mem memory, std::uint32_t type, float threshold) {
  if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
  const auto words = word_type(type);
  if (!words || std::isnan(threshold) || threshold > 1) return CL_INVALID_VALUE;
  auto& gpu = Runtime::get().powered_gpu();
  return gpu.annotate(memory->address, memory->size, *words, threshold) ? CL_SUCCESS
                                                                        : CL_INVALID_MEM_OBJECT;
}

std::int32_t set_approximable(cl_mem memory, std::uint32_t type, float threshold) {
  return guarded([&](Entry&) { return declare_approximable(memory, type, threshold); });
}

cl_mem new_memory(cl_context context, cl_mem_flags flags, bool image) {
  static std::uint64_t buffers = 0;
  static std::uint64_t images = std::uint64_t{1} << 63;
  auto* memory = new _cl_mem;
  memory->context = Use(context);
  memory->flags = (flags & kDeviceAccess) == 0 ? flags | CL_MEM_READ_WRITE : flags;
  memory->serial = image ? ++images : ++buffers;
  memories().insert(memory);
  return memory;
}

Created<cl_mem_flags> inherited_flags(cl_mem_flags parent, cl_mem_flags asked) {
  if ((asked & kHostPointer) != 0 || !flags_are_sound(asked)) return refuse(CL_INVALID_VALUE);
  const auto device = asked & kDeviceAccess;
  const auto host = asked & kHostAccess;
  const bool parent_write_only = (parent & CL_MEM_WRITE_ONLY) != 0;
  const bool parent_read_only = (parent & CL_MEM_READ_ONLY) != 0;
  if ((parent_write_only && (device & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
      (parent_read_only && (device & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
      ((parent & CL_MEM_HOST_WRITE_ONLY) != 0 && (host & CL_MEM_HOST_READ_ONLY) != 0) ||
      ((parent & CL_MEM_HOST_READ_ONLY) != 0 && (host & CL_MEM_HOST_WRITE_ONLY) != 0) ||
      ((parent & CL_MEM_HOST_NO_ACCESS) != 0 &&
       (host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0)) {
    return refuse(CL_INVALID_VALUE);
  }
  return (device != 0 ? device : parent & kDeviceAccess) | (parent & kHostPointer) |
         (host != 0 ? host : parent & kHostAccess);
}

bool known_memory(const _cl_mem* memory) {
  return memories().contains(memory);
}

bool mapped_for_writing(const _cl_mem& memory, const Box& box, const Region& region) {
  for (const void* known : memories()) {
    const auto& other = *static_cast<const _cl_mem*>(known);
    for (const MappedRegion& mapped : other.mapped) {
      if ((mapped.flags & kMapWrites) == 0) continue;
      if (&other == &memory) {
        if (boxes_meet(box, region, mapped.device, mapped.region)) return true;
        continue;
      }
      // Buffers, sub-buffers and images in a buffer's memory share addresses.
      if (memory.address + box.offset < other.address + mapped.device.end &&
          other.address + mapped.device.offset < memory.address + box.end) {
        return true;
      }
    }
  }
  return false;
}

void destroy(cl_mem memory) {
  auto& runtime = Runtime::get();
  memories().erase(memory);
  if (memory->image) (void)runtime.powered_gpu().release(memory->image->descriptor);
  auto& destructors = memory->destructors;
  runtime.callbacks.insert(runtime.callbacks.end(), destructors.rbegin(), destructors.rend());
  if (!memory->parent) (void)runtime.powered_gpu().release(memory->address);
  delete memory;
}

namespace api {

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, std::size_t size,
                                  void* host_ptr, cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret,
                         [&](Entry&) { return make_buffer(context, flags, size, host_ptr); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context,
                                                const cl_mem_properties* properties,
                                                cl_mem_flags flags, std::size_t size,
                                                void* host_ptr, cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret, [&](Entry&) -> Created<cl_mem> {
    if (properties != nullptr && *properties != 0) return refuse(CL_INVALID_PROPERTY);
    return make_buffer(context, flags, size, host_ptr);
  });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void* info, cl_int* errcode_ret) {
  return created<cl_mem>(errcode_ret,
                         [&](Entry&) { return make_sub_buffer(parent, flags, type, info); });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) {
  return guarded([&](Entry&) { return retain_handle(memory, CL_INVALID_MEM_OBJECT); });
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
  return guarded([&](Entry&) { return release_handle(memory, CL_INVALID_MEM_OBJECT); });
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memory, cl_mem_info name, std::size_t size,
                                      void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_MEM_TYPE:
        return sink.value<cl_mem_object_type>(memory->image ? memory->image->type
                                                            : CL_MEM_OBJECT_BUFFER);
      case CL_MEM_FLAGS: return sink.value(memory->flags);
      case CL_MEM_SIZE: return sink.value(memory->size);
      case CL_MEM_HOST_PTR: return sink.value<void*>(memory->host_ptr);
      case CL_MEM_MAP_COUNT: return sink.value(static_cast<cl_uint>(memory->mapped.size()));
      case CL_MEM_REFERENCE_COUNT: return sink.value(memory->references);
      case CL_MEM_CONTEXT: return sink.value(memory->context.get());
      case CL_MEM_ASSOCIATED_MEMOBJECT: return sink.value(memory->parent.get());
      case CL_MEM_OFFSET: return sink.value(memory->origin);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory,
                                                    void(CL_CALLBACK* notify)(cl_mem, void*),
                                                    void* user_data) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    if (notify == nullptr) return CL_INVALID_VALUE;
    memory->destructors.emplace_back([memory, notify, user_data] { notify(memory, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace api
}  // namespace ww::sim::driver
