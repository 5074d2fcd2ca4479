// Platform, devices, contexts, queues, buffers, images and samplers, events; queries and reference
// counts of every object. OpenCL 1.2 specification, chapters 4 and 5.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

template <auto Member>
using MemberType = std::remove_cvref_t<decltype(std::declval<W>().*Member)>;

// Calls that take nothing but a handle.
template <auto Slot, auto Dead>
void handle_rows(std::vector<ErrorRow>& rows, const char* call, cl_int code) {
  using Handle = MemberType<Dead>;
  rows.push_back({call, code, "no object", [](W& w) { return (w.cl.*Slot)(nullptr); }});
  rows.push_back({call, code, "an object of another kind",
                  [](W& w) { return (w.cl.*Slot)(w.template wrong<Handle>()); }});
  rows.push_back({call, code, "a released object", [](W& w) { return (w.cl.*Slot)(w.*Dead); }});
}

// clGet*Info(handle, name, size, value, size_ret).
template <auto Slot, auto Live, auto Dead, cl_uint Name>
void query_rows(std::vector<ErrorRow>& rows, const char* call, cl_int code) {
  using Handle = MemberType<Dead>;
  rows.push_back({call, code, "no object",
                  [](W& w) { return (w.cl.*Slot)(nullptr, Name, 0, nullptr, nullptr); }});
  rows.push_back({call, code, "an object of another kind", [](W& w) {
                    return (w.cl.*Slot)(w.template wrong<Handle>(), Name, 0, nullptr, nullptr);
                  }});
  rows.push_back({call, code, "a released object",
                  [](W& w) { return (w.cl.*Slot)(w.*Dead, Name, 0, nullptr, nullptr); }});
  rows.push_back({call, CL_INVALID_VALUE, "a query that does not exist", [](W& w) {
                    return (w.cl.*Slot)(w.*Live, 0x7eee, sizeof w.bytes, w.bytes, nullptr);
                  }});
  rows.push_back({call, CL_INVALID_VALUE, "room too small for the answer",
                  [](W& w) { return (w.cl.*Slot)(w.*Live, Name, 1, w.bytes, nullptr); }});
}

template <class... Properties>
cl_int context_with(W& w, Properties... properties) {
  const cl_context_properties list[] = {static_cast<cl_context_properties>(properties)..., 0};
  return w.created([&](cl_int* code) {
    return w.cl.clCreateContext(list, 1, &w.device, nullptr, nullptr, code);
  });
}

cl_int context_from_type(W& w, cl_device_type type, const cl_context_properties* list = nullptr,
                         void* data = nullptr) {
  return w.created(
      [&](cl_int* code) { return w.cl.clCreateContextFromType(list, type, nullptr, data, code); });
}

cl_int queue_with(W& w, cl_context context, cl_device_id device,
                  cl_command_queue_properties properties = 0) {
  return w.created(
      [&](cl_int* code) { return w.cl.clCreateCommandQueue(context, device, properties, code); });
}

cl_int buffer_with(W& w, cl_mem_flags flags, std::size_t size, void* host) {
  return w.created(
      [&](cl_int* code) { return w.cl.clCreateBuffer(w.context, flags, size, host, code); });
}

cl_int sub_buffer(W& w, cl_mem parent, cl_mem_flags flags, std::size_t origin, std::size_t size) {
  const cl_buffer_region region{origin, size};
  return w.created([&](cl_int* code) {
    return w.cl.clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, code);
  });
}

void platform_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clGetPlatformIDs", CL_INVALID_VALUE, "a list without room",
       [](W& w) {
         cl_platform_id out{};
         return w.cl.clGetPlatformIDs(0, &out, nullptr);
       }},
      {"clGetPlatformIDs", CL_INVALID_VALUE, "nothing asked",
       [](W& w) { return w.cl.clGetPlatformIDs(1, nullptr, nullptr); }},
      {"clGetPlatformInfo", CL_INVALID_PLATFORM, "an object of another kind",
       [](W& w) {
         return w.cl.clGetPlatformInfo(reinterpret_cast<cl_platform_id>(w.queue), CL_PLATFORM_NAME,
                                       0, nullptr, nullptr);
       }},
      {"clGetPlatformInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) { return w.cl.clGetPlatformInfo(w.platform, 0x7eee, 0, nullptr, nullptr); }},
      {"clGetPlatformInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetPlatformInfo(w.platform, CL_PLATFORM_NAME, 3, w.bytes, nullptr);
       }},
      {"clGetDeviceIDs", CL_INVALID_PLATFORM, "an object of another kind",
       [](W& w) {
         return w.cl.clGetDeviceIDs(reinterpret_cast<cl_platform_id>(w.queue), CL_DEVICE_TYPE_ALL,
                                    0, nullptr, nullptr);
       }},
      {"clGetDeviceIDs", CL_INVALID_DEVICE_TYPE, "no type",
       [](W& w) {
         cl_uint count = 0;
         return w.cl.clGetDeviceIDs(w.platform, 0, 0, nullptr, &count);
       }},
      {"clGetDeviceIDs", CL_INVALID_DEVICE_TYPE, "a type that does not exist",
       [](W& w) {
         cl_uint count = 0;
         return w.cl.clGetDeviceIDs(w.platform, 1 << 20, 0, nullptr, &count);
       }},
      {"clGetDeviceIDs", CL_INVALID_VALUE, "a list without room",
       [](W& w) {
         cl_device_id out{};
         return w.cl.clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 0, &out, nullptr);
       }},
      {"clGetDeviceIDs", CL_INVALID_VALUE, "nothing asked",
       [](W& w) {
         return w.cl.clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr);
       }},
      {"clGetDeviceIDs", CL_DEVICE_NOT_FOUND, "a type that the platform lacks",
       [](W& w) {
         cl_uint count = 0;
         return w.cl.clGetDeviceIDs(w.platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &count);
       }},
      {"clGetDeviceInfo", CL_INVALID_DEVICE, "no device",
       [](W& w) { return w.cl.clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr); }},
      {"clGetDeviceInfo", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         return w.cl.clGetDeviceInfo(w.wrong<cl_device_id>(), CL_DEVICE_NAME, 0, nullptr, nullptr);
       }},
      {"clGetDeviceInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) { return w.cl.clGetDeviceInfo(w.device, 0x7eee, 0, nullptr, nullptr); }},
      {"clGetDeviceInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) { return w.cl.clGetDeviceInfo(w.device, CL_DEVICE_NAME, 3, w.bytes, nullptr); }},
      {"clCreateSubDevices", CL_INVALID_DEVICE, "no device",
       [](W& w) { return w.cl.clCreateSubDevices(nullptr, nullptr, 0, nullptr, nullptr); }},
      {"clCreateSubDevices", CL_INVALID_VALUE, "no properties",
       [](W& w) { return w.cl.clCreateSubDevices(w.device, nullptr, 0, nullptr, nullptr); }},
      {"clCreateSubDevices", CL_INVALID_VALUE, "a partition that the device lacks",
       [](W& w) {
         const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 4, 0};
         return w.cl.clCreateSubDevices(w.device, equally, 0, nullptr, nullptr);
       }},
      {"clRetainDevice", CL_INVALID_DEVICE, "no device",
       [](W& w) { return w.cl.clRetainDevice(nullptr); }},
      {"clReleaseDevice", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) { return w.cl.clReleaseDevice(w.wrong<cl_device_id>()); }},
      {"clUnloadPlatformCompiler", CL_INVALID_PLATFORM, "no platform",
       [](W& w) { return w.cl.clUnloadPlatformCompiler(nullptr); }},
      {"clUnloadPlatformCompiler", CL_INVALID_PLATFORM, "an object of another kind",
       [](W& w) {
         return w.cl.clUnloadPlatformCompiler(reinterpret_cast<cl_platform_id>(w.queue));
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void context_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clCreateContext", CL_INVALID_VALUE, "no devices",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateContext(nullptr, 1, nullptr, nullptr, nullptr, code);
         });
       }},
      {"clCreateContext", CL_INVALID_VALUE, "a list of no device",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateContext(nullptr, 0, &w.device, nullptr, nullptr, code);
         });
       }},
      {"clCreateContext", CL_INVALID_VALUE, "data for no callback",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateContext(nullptr, 1, &w.device, nullptr, w.bytes, code);
         });
       }},
      {"clCreateContext", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const cl_device_id devices[] = {w.device, w.wrong<cl_device_id>()};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateContext(nullptr, 2, devices, nullptr, nullptr, code);
         });
       }},
      {"clCreateContext", CL_INVALID_PLATFORM, "an object of another kind",
       [](W& w) {
         return context_with(w, CL_CONTEXT_PLATFORM, reinterpret_cast<std::uintptr_t>(w.queue));
       }},
      {"clCreateContext", CL_INVALID_PLATFORM, "no platform in the list",
       [](W& w) { return context_with(w, CL_CONTEXT_PLATFORM, 0); }},
      {"clCreateContext", CL_INVALID_PROPERTY, "a property that does not exist",
       [](W& w) { return context_with(w, 0x7eee, 1); }},
      {"clCreateContext", CL_INVALID_PROPERTY, "a value that does not exist",
       [](W& w) { return context_with(w, CL_CONTEXT_INTEROP_USER_SYNC, 7); }},
      {"clCreateContext", CL_INVALID_PROPERTY, "a property named twice",
       [](W& w) {
         const auto platform = reinterpret_cast<std::uintptr_t>(w.platform);
         return context_with(w, CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_PLATFORM, platform);
       }},
      {"clCreateContextFromType", CL_INVALID_PLATFORM, "an object of another kind",
       [](W& w) {
         const cl_context_properties list[] = {CL_CONTEXT_PLATFORM,
                                               reinterpret_cast<cl_context_properties>(w.queue), 0};
         return context_from_type(w, CL_DEVICE_TYPE_GPU, list);
       }},
      {"clCreateContextFromType", CL_INVALID_PROPERTY, "a property that does not exist",
       [](W& w) {
         const cl_context_properties list[] = {0x7eee, 1, 0};
         return context_from_type(w, CL_DEVICE_TYPE_GPU, list);
       }},
      {"clCreateContextFromType", CL_INVALID_PROPERTY, "a property named twice",
       [](W& w) {
         const cl_context_properties list[] = {CL_CONTEXT_INTEROP_USER_SYNC, 0,
                                               CL_CONTEXT_INTEROP_USER_SYNC, 0, 0};
         return context_from_type(w, CL_DEVICE_TYPE_GPU, list);
       }},
      {"clCreateContextFromType", CL_INVALID_VALUE, "data for no callback",
       [](W& w) { return context_from_type(w, CL_DEVICE_TYPE_GPU, nullptr, w.bytes); }},
      {"clCreateContextFromType", CL_INVALID_DEVICE_TYPE, "no type",
       [](W& w) { return context_from_type(w, 0); }},
      {"clCreateContextFromType", CL_INVALID_DEVICE_TYPE, "a type that does not exist",
       [](W& w) { return context_from_type(w, 1 << 20); }},
      {"clCreateContextFromType", CL_DEVICE_NOT_FOUND, "a type that the platform lacks",
       [](W& w) { return context_from_type(w, CL_DEVICE_TYPE_ACCELERATOR); }},
      {"clSetContextDestructorCallback", CL_INVALID_CONTEXT, "a released object",
       [](W& w) {
         return w.cl.clSetContextDestructorCallback(
             w.dead_context, [](cl_context, void*) {}, nullptr);
       }},
      {"clSetContextDestructorCallback", CL_INVALID_VALUE, "no callback",
       [](W& w) { return w.cl.clSetContextDestructorCallback(w.context, nullptr, nullptr); }},
      {"clCreateCommandQueue", CL_INVALID_CONTEXT, "no context",
       [](W& w) { return queue_with(w, nullptr, w.device); }},
      {"clCreateCommandQueue", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return queue_with(w, w.dead_context, w.device); }},
      {"clCreateCommandQueue", CL_INVALID_DEVICE, "no device",
       [](W& w) { return queue_with(w, w.context, nullptr); }},
      {"clCreateCommandQueue", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) { return queue_with(w, w.context, w.wrong<cl_device_id>()); }},
      {"clCreateCommandQueue", CL_INVALID_VALUE, "properties that do not exist",
       [](W& w) { return queue_with(w, w.context, w.device, 1 << 20); }},
      {"clCreateCommandQueueWithProperties", CL_INVALID_VALUE, "a property that does not exist",
       [](W& w) {
         const cl_queue_properties list[] = {0x7eee, 0, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateCommandQueueWithProperties(w.context, w.device, list, code);
         });
       }},
      {"clCreateCommandQueueWithProperties", CL_INVALID_QUEUE_PROPERTIES, "a queue on the device",
       [](W& w) {
         const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateCommandQueueWithProperties(w.context, w.device, list, code);
         });
       }},
      {"clSetCommandQueueProperty", CL_INVALID_COMMAND_QUEUE, "a released object",
       [](W& w) { return w.cl.clSetCommandQueueProperty(w.dead_queue, 0, CL_TRUE, nullptr); }},
      {"clSetCommandQueueProperty", CL_INVALID_VALUE, "properties that do not exist",
       [](W& w) { return w.cl.clSetCommandQueueProperty(w.queue, 1 << 20, CL_TRUE, nullptr); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void memory_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clCreateBuffer", CL_INVALID_CONTEXT, "no context",
       [](W& w) {
         return w.created(
             [&](cl_int* code) { return w.cl.clCreateBuffer(nullptr, 0, 64, nullptr, code); });
       }},
      {"clCreateBuffer", CL_INVALID_CONTEXT, "a released object",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateBuffer(w.dead_context, 0, 64, nullptr, code);
         });
       }},
      {"clCreateBuffer", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return buffer_with(w, cl_mem_flags{1} << 40, 64, nullptr); }},
      {"clCreateBuffer", CL_INVALID_VALUE, "two accesses of kernels",
       [](W& w) { return buffer_with(w, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, nullptr); }},
      {"clCreateBuffer", CL_INVALID_VALUE, "two accesses of the host",
       [](W& w) {
         return buffer_with(w, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 64, nullptr);
       }},
      {"clCreateBuffer", CL_INVALID_VALUE, "the host's memory, to be allocated",
       [](W& w) {
         return buffer_with(w, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 64, w.bytes);
       }},
      {"clCreateBuffer", CL_INVALID_VALUE, "the host's memory, to be copied",
       [](W& w) {
         return buffer_with(w, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 64, w.bytes);
       }},
      {"clCreateBuffer", CL_INVALID_BUFFER_SIZE, "no bytes",
       [](W& w) { return buffer_with(w, 0, 0, nullptr); }},
      {"clCreateBuffer", CL_INVALID_BUFFER_SIZE, "more than CL_DEVICE_MAX_MEM_ALLOC_SIZE",
       [](W& w) {
         cl_ulong most = 0;
         (void)w.cl.clGetDeviceInfo(w.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most,
                                    nullptr);
         return buffer_with(w, 0, most + 1, nullptr);
       }},
      {"clCreateBuffer", CL_INVALID_BUFFER_SIZE, "all of size_t",
       [](W& w) { return buffer_with(w, 0, SIZE_MAX, nullptr); }},
      {"clCreateBuffer", CL_INVALID_HOST_PTR, "no memory of the host to use",
       [](W& w) { return buffer_with(w, CL_MEM_USE_HOST_PTR, 64, nullptr); }},
      {"clCreateBuffer", CL_INVALID_HOST_PTR, "no memory of the host to copy",
       [](W& w) { return buffer_with(w, CL_MEM_COPY_HOST_PTR, 64, nullptr); }},
      {"clCreateBuffer", CL_INVALID_HOST_PTR, "memory of the host for nothing",
       [](W& w) { return buffer_with(w, CL_MEM_ALLOC_HOST_PTR, 64, w.bytes); }},
      {"clCreateBufferWithProperties", CL_INVALID_PROPERTY, "a property that does not exist",
       [](W& w) {
         const cl_mem_properties list[] = {0x7eee, 1, 0};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateBufferWithProperties(w.context, list, 0, 64, nullptr, code);
         });
       }},
      {"clCreateSubBuffer", CL_INVALID_MEM_OBJECT, "no buffer",
       [](W& w) { return sub_buffer(w, nullptr, 0, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) { return sub_buffer(w, w.dead_buffer, 0, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_MEM_OBJECT, "a sub-buffer",
       [](W& w) { return sub_buffer(w, w.sub, 0, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "flags that do not exist",
       [](W& w) { return sub_buffer(w, w.buffer, cl_mem_flags{1} << 40, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "memory of the host",
       [](W& w) { return sub_buffer(w, w.buffer, CL_MEM_ALLOC_HOST_PTR, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "reads of a buffer that kernels write only",
       [](W& w) { return sub_buffer(w, w.write_only, CL_MEM_READ_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "both of a buffer that kernels write only",
       [](W& w) { return sub_buffer(w, w.write_only, CL_MEM_READ_WRITE, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "writes of a buffer that kernels read only",
       [](W& w) { return sub_buffer(w, w.read_only, CL_MEM_WRITE_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "both of a buffer that kernels read only",
       [](W& w) { return sub_buffer(w, w.read_only, CL_MEM_READ_WRITE, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "reads of a buffer that the host writes only",
       [](W& w) { return sub_buffer(w, w.write_only, CL_MEM_HOST_READ_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "writes of a buffer that the host reads only",
       [](W& w) { return sub_buffer(w, w.read_only, CL_MEM_HOST_WRITE_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "writes of a buffer that is not the host's",
       [](W& w) { return sub_buffer(w, w.no_access, CL_MEM_HOST_WRITE_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "reads of a buffer that is not the host's",
       [](W& w) { return sub_buffer(w, w.no_access, CL_MEM_HOST_READ_ONLY, 0, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "a kind of part that does not exist",
       [](W& w) {
         const cl_buffer_region region{0, 64};
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSubBuffer(w.buffer, 0, 0x7eee, &region, code);
         });
       }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "no region",
       [](W& w) {
         return w.created([&](cl_int* code) {
           return w.cl.clCreateSubBuffer(w.buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, nullptr, code);
         });
       }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "an origin past the end",
       [](W& w) { return sub_buffer(w, w.buffer, 0, W::kBytes + 128, 64); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "bytes past the end",
       [](W& w) { return sub_buffer(w, w.buffer, 0, W::kBytes - 128, 129); }},
      {"clCreateSubBuffer", CL_INVALID_VALUE, "a sum that wraps",
       [](W& w) { return sub_buffer(w, w.buffer, 0, 128, SIZE_MAX); }},
      {"clCreateSubBuffer", CL_INVALID_BUFFER_SIZE, "no bytes",
       [](W& w) { return sub_buffer(w, w.buffer, 0, 0, 0); }},
      {"clCreateSubBuffer", CL_MISALIGNED_SUB_BUFFER_OFFSET, "an origin that is not aligned",
       [](W& w) { return sub_buffer(w, w.buffer, 0, 4, 64); }},
      {"clSetMemObjectDestructorCallback", CL_INVALID_MEM_OBJECT, "a released object",
       [](W& w) {
         return w.cl.clSetMemObjectDestructorCallback(
             w.dead_buffer, [](cl_mem, void*) {}, nullptr);
       }},
      {"clSetMemObjectDestructorCallback", CL_INVALID_VALUE, "no callback",
       [](W& w) { return w.cl.clSetMemObjectDestructorCallback(w.buffer, nullptr, nullptr); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> object_errors() {
  std::vector<ErrorRow> rows;
  platform_rows(rows);
  context_rows(rows);
  memory_rows(rows);
#define WW_HANDLE(call, dead, code) handle_rows<&cl_icd_dispatch::call, &W::dead>(rows, #call, code)
  WW_HANDLE(clRetainContext, dead_context, CL_INVALID_CONTEXT);
  WW_HANDLE(clReleaseContext, dead_context, CL_INVALID_CONTEXT);
  WW_HANDLE(clRetainCommandQueue, dead_queue, CL_INVALID_COMMAND_QUEUE);
  WW_HANDLE(clReleaseCommandQueue, dead_queue, CL_INVALID_COMMAND_QUEUE);
  WW_HANDLE(clFlush, dead_queue, CL_INVALID_COMMAND_QUEUE);
  WW_HANDLE(clFinish, dead_queue, CL_INVALID_COMMAND_QUEUE);
  WW_HANDLE(clRetainMemObject, dead_buffer, CL_INVALID_MEM_OBJECT);
  WW_HANDLE(clReleaseMemObject, dead_buffer, CL_INVALID_MEM_OBJECT);
  WW_HANDLE(clRetainProgram, dead_program, CL_INVALID_PROGRAM);
  WW_HANDLE(clReleaseProgram, dead_program, CL_INVALID_PROGRAM);
  WW_HANDLE(clRetainKernel, dead_kernel, CL_INVALID_KERNEL);
  WW_HANDLE(clReleaseKernel, dead_kernel, CL_INVALID_KERNEL);
  WW_HANDLE(clRetainEvent, dead_event, CL_INVALID_EVENT);
  WW_HANDLE(clReleaseEvent, dead_event, CL_INVALID_EVENT);
#undef WW_HANDLE
  return rows;
}

std::vector<ErrorRow> query_errors() {
  std::vector<ErrorRow> rows;
#define WW_QUERY(call, live, dead, name, code) \
  query_rows<&cl_icd_dispatch::call, &W::live, &W::dead, name>(rows, #call, code)
  WW_QUERY(clGetContextInfo, context, dead_context, CL_CONTEXT_DEVICES, CL_INVALID_CONTEXT);
  WW_QUERY(clGetCommandQueueInfo, queue, dead_queue, CL_QUEUE_CONTEXT, CL_INVALID_COMMAND_QUEUE);
  WW_QUERY(clGetMemObjectInfo, buffer, dead_buffer, CL_MEM_SIZE, CL_INVALID_MEM_OBJECT);
  WW_QUERY(clGetProgramInfo, built, dead_program, CL_PROGRAM_SOURCE, CL_INVALID_PROGRAM);
  WW_QUERY(clGetKernelInfo, kernel, dead_kernel, CL_KERNEL_FUNCTION_NAME, CL_INVALID_KERNEL);
  WW_QUERY(clGetEventInfo, event, dead_event, CL_EVENT_CONTEXT, CL_INVALID_EVENT);
#undef WW_QUERY
  return rows;
}

}  // namespace ww::sim::driver
