// Events, callbacks, markers and barriers.
#include <algorithm>

#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "opencl/queue/queue.hpp"

namespace ww::sim::driver {
namespace {

// A command that does nothing but keep its place in the order.
cl_int enqueue_marker(cl_command_queue queue, cl_command_type type, cl_uint count,
                      const cl_event* events, cl_event* event, bool barrier) {
  return guarded([&](Entry& entry) -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const Enqueue what{.queue = queue,
                       .type = type,
                       .wait_count = count,
                       .waits = events,
                       .event = event,
                       .after_all = count == 0,
                       .barrier = barrier};
    return enqueue(entry, what, [](Timing&) -> cl_int { return CL_SUCCESS; });
  });
}

}  // namespace

void destroy(cl_event event) {
  delete event;
}

namespace api {

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
  return guarded([&](Entry& entry) -> cl_int {
    if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
    std::vector<Use<_cl_event>> awaited;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(events[i])) return CL_INVALID_EVENT;
      if (events[i]->context.get() != events[0]->context.get()) return CL_INVALID_CONTEXT;
      awaited.emplace_back(events[i]);
    }
    entry.wait([&] {
      return std::all_of(awaited.begin(), awaited.end(),
                         [](const auto& event) { return event->status <= CL_COMPLETE; });
    });
    const bool failed = std::any_of(awaited.begin(), awaited.end(),
                                    [](const auto& event) { return event->status < 0; });
    return failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info name, std::size_t size, void* value,
                                  std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_EVENT_COMMAND_QUEUE: return sink.value(event->queue.get());
      case CL_EVENT_CONTEXT: return sink.value(event->context.get());
      case CL_EVENT_COMMAND_TYPE: return sink.value(event->command);
      case CL_EVENT_COMMAND_EXECUTION_STATUS: return sink.value(event->status);
      case CL_EVENT_REFERENCE_COUNT: return sink.value(event->references);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  return created<cl_event>(errcode_ret, [&](Entry&) -> Created<cl_event> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    auto* event = new _cl_event;
    event->context = Use(context);
    event->command = CL_COMMAND_USER;
    event->status = CL_SUBMITTED;
    return event;
  });
}

cl_int CL_API_CALL clRetainEvent(cl_event event) {
  return guarded([&](Entry&) { return retain_handle(event, CL_INVALID_EVENT); });
}

cl_int CL_API_CALL clReleaseEvent(cl_event event) {
  return guarded([&](Entry&) { return release_handle(event, CL_INVALID_EVENT); });
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(event) || event->command != CL_COMMAND_USER) return CL_INVALID_EVENT;
    if (status > CL_COMPLETE) return CL_INVALID_VALUE;
    if (event->status <= CL_COMPLETE) return CL_INVALID_OPERATION;  // only once
    const Use keep(event);
    set_status(event, status);
    pump();
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int type,
                                      void(CL_CALLBACK* notify)(cl_event, cl_int, void*),
                                      void* user_data) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    if (notify == nullptr || (type != CL_COMPLETE && type != CL_RUNNING && type != CL_SUBMITTED)) {
      return CL_INVALID_VALUE;
    }
    event->callbacks.push_back({type, notify, user_data});
    if (event->status <= type) set_status(event, event->status);
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info name, std::size_t size,
                                           void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
        event->status != CL_COMPLETE) {
      return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_PROFILING_COMMAND_QUEUED:
      case CL_PROFILING_COMMAND_SUBMIT: return sink.value(event->queued_ns);
      case CL_PROFILING_COMMAND_START:
        return sink.value(static_cast<cl_ulong>(event->timing.start_ns));
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE:
        return sink.value(static_cast<cl_ulong>(event->timing.end_ns));
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event* event) {
  if (event == nullptr) return CL_INVALID_VALUE;
  return enqueue_marker(queue, CL_COMMAND_MARKER, 0, nullptr, event, false);
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
                                          const cl_event* events) {
  if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
  const cl_int code = enqueue_marker(queue, CL_COMMAND_BARRIER, count, events, nullptr, true);
  return code == CL_INVALID_EVENT_WAIT_LIST ? CL_INVALID_EVENT : code;
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue) {
  return enqueue_marker(queue, CL_COMMAND_BARRIER, 0, nullptr, nullptr, true);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
                                               const cl_event* events, cl_event* event) {
  return enqueue_marker(queue, CL_COMMAND_MARKER, count, events, event, false);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count,
                                                const cl_event* events, cl_event* event) {
  return enqueue_marker(queue, CL_COMMAND_BARRIER, count, events, event, true);
}

}  // namespace api
}  // namespace ww::sim::driver
