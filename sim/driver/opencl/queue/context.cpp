#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "common/runtime/runtime.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {
namespace {

std::size_t contexts = 0;  // alive; under the driver's lock

using Notify = void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*);

// Checks a property list and copies it, the closing zero included.
Created<std::vector<cl_context_properties>> read_properties(const cl_context_properties* list) {
  std::vector<cl_context_properties> copy;
  if (list == nullptr) return copy;
  bool platform = false;
  bool sync = false;
  for (; *list != 0; list += 2) {
    if (list[0] == CL_CONTEXT_PLATFORM && !platform) {
      platform = true;
      if (std::bit_cast<cl_platform_id>(list[1]) != the_platform()) {
        return refuse(CL_INVALID_PLATFORM);
      }
    } else if (list[0] == CL_CONTEXT_INTEROP_USER_SYNC && !sync) {
      sync = true;
      if (list[1] != CL_TRUE && list[1] != CL_FALSE) return refuse(CL_INVALID_PROPERTY);
    } else {
      return refuse(CL_INVALID_PROPERTY);
    }
    copy.push_back(list[0]);
    copy.push_back(list[1]);
  }
  copy.push_back(0);
  return copy;
}

Created<cl_context> make_context(const cl_context_properties* list,
                                 std::vector<cl_device_id> devices, Notify notify,
                                 void* user_data) {
  if (notify == nullptr && user_data != nullptr) return refuse(CL_INVALID_VALUE);
  auto properties = read_properties(list);
  if (!properties) return refuse(properties.error());
  auto* context = new _cl_context;
  context->properties = std::move(*properties);
  context->devices = std::move(devices);
  context->notify = notify;
  context->user_data = user_data;
  ++contexts;
  return context;
}

}  // namespace

void destroy(cl_context context) {
  auto& callbacks = Runtime::get().callbacks;
  callbacks.insert(callbacks.end(), context->destructors.rbegin(), context->destructors.rend());
  delete context;
  // A program that leaves by _exit has its counters if it released what it made.
  if (--contexts == 0) Runtime::get().save_counters();
}

namespace api {

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint count,
                                       const cl_device_id* devices, Notify notify, void* user_data,
                                       cl_int* errcode_ret) {
  return created<cl_context>(errcode_ret, [&](Entry&) -> Created<cl_context> {
    if (count == 0 || devices == nullptr) return refuse(CL_INVALID_VALUE);
    const auto* end = devices + count;
    if (!std::all_of(devices, end, is_device)) return refuse(CL_INVALID_DEVICE);
    if (Runtime::get().gpu() == nullptr) return refuse(CL_DEVICE_NOT_AVAILABLE);
    std::vector<cl_device_id> given;
    for (const cl_device_id device : std::span(devices, count)) {
      if (std::ranges::find(given, device) == given.end()) given.push_back(device);
    }
    return make_context(properties, std::move(given), notify, user_data);
  });
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties,
                                               cl_device_type type, Notify notify, void* user_data,
                                               cl_int* errcode_ret) {
  constexpr cl_uint kMax = 8;
  std::vector<cl_device_id> devices(kMax);
  cl_uint count = 0;
  const cl_int found = api::clGetDeviceIDs(the_platform(), type, kMax, devices.data(), &count);
  devices.resize(std::min(count, kMax));
  return created<cl_context>(errcode_ret, [&](Entry&) -> Created<cl_context> {
    if (found != CL_SUCCESS) return refuse(found);
    return make_context(properties, std::move(devices), notify, user_data);
  });
}

cl_int CL_API_CALL clRetainContext(cl_context context) {
  return guarded([&](Entry&) { return retain_handle(context, CL_INVALID_CONTEXT); });
}

cl_int CL_API_CALL clReleaseContext(cl_context context) {
  return guarded([&](Entry&) { return release_handle(context, CL_INVALID_CONTEXT); });
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_CONTEXT_REFERENCE_COUNT: return sink.value(context->references);
      case CL_CONTEXT_NUM_DEVICES: return sink.value(static_cast<cl_uint>(context->devices.size()));
      case CL_CONTEXT_DEVICES: return sink.array(std::span<const cl_device_id>(context->devices));
      case CL_CONTEXT_PROPERTIES:
        return sink.array(std::span<const cl_context_properties>(context->properties));
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context,
                                                  void(CL_CALLBACK* notify)(cl_context, void*),
                                                  void* user_data) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(context)) return CL_INVALID_CONTEXT;
    if (notify == nullptr) return CL_INVALID_VALUE;
    context->destructors.emplace_back([context, notify, user_data] { notify(context, user_data); });
    return CL_SUCCESS;
  });
}

}  // namespace api
}  // namespace ww::sim::driver
