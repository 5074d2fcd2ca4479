#include "opencl/queue/queue.hpp"

#include <algorithm>

#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"

namespace ww::sim::driver {
namespace {

constexpr cl_command_queue_properties kKnownProperties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

// Queues that hold deferred commands.
std::vector<Use<_cl_command_queue>>& blocked_queues() {
  static auto& queues = *new std::vector<Use<_cl_command_queue>>;
  return queues;
}

bool out_of_order(const _cl_command_queue& queue) {
  return (queue.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

Readiness waits_readiness(const std::vector<Use<_cl_event>>& waits) {
  Readiness state = Readiness::ready;
  for (const auto& event : waits) {
    if (event->status > CL_COMPLETE) return Readiness::blocked;
    if (event->status < 0) state = Readiness::failed;
  }
  return state;
}

// The first deferred command of the queue that may run, or its end.
std::deque<Command>::iterator next_runnable(_cl_command_queue& queue) {
  for (auto it = queue.pending.begin(); it != queue.pending.end(); ++it) {
    const bool first = it == queue.pending.begin();
    if (!first && (!out_of_order(queue) || it->after_all)) {
      if (it->barrier || !out_of_order(queue)) return queue.pending.end();
      continue;
    }
    if (waits_readiness(it->waits) != Readiness::blocked) return it;
    if (it->barrier) return queue.pending.end();
  }
  return queue.pending.end();
}

void run_command(const Command& command) {
  const Readiness state = waits_readiness(command.waits);
  const auto now = Runtime::get().powered_gpu().now_ns();
  _cl_event& event = *command.event.get();
  event.timing = {now, now};
  cl_int status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (const cl_int failed = event.context->failure; failed != CL_SUCCESS) {
    status = failed;
  } else if (state == Readiness::ready) {
    set_status(&event, CL_RUNNING);
    status = command.work(event.timing);
  }
  set_status(&event, status);
}

Created<cl_command_queue> make_queue(cl_context context, cl_device_id device,
                                     cl_command_queue_properties properties) {
  if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
  if (std::ranges::find(context->devices, device) == context->devices.end()) {
    return refuse(CL_INVALID_DEVICE);
  }
  if ((properties & ~kKnownProperties) != 0) return refuse(CL_INVALID_VALUE);
  auto* queue = new _cl_command_queue;
  queue->context = Use(context);
  queue->device = device;
  queue->properties = properties;
  return queue;
}

}  // namespace

cl_int check_wait_list(cl_context context, cl_uint count, const cl_event* events) {
  if ((count == 0) != (events == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < count; ++i) {
    if (!valid(events[i])) return CL_INVALID_EVENT_WAIT_LIST;
    if (events[i]->context.get() != context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

Readiness readiness(const Enqueue& what) {
  if (!what.queue->pending.empty()) {
    if (!out_of_order(*what.queue) || what.after_all) return Readiness::blocked;
    const auto& pending = what.queue->pending;
    if (std::any_of(pending.begin(), pending.end(), [](const Command& c) { return c.barrier; })) {
      return Readiness::blocked;
    }
  }
  Readiness state = Readiness::ready;
  for (cl_uint i = 0; i < what.wait_count; ++i) {
    const cl_int status = what.waits[i]->status;
    if (status > CL_COMPLETE) return Readiness::blocked;
    if (status < 0) state = Readiness::failed;
  }
  return state;
}

cl_event finished_event(const Enqueue& what, cl_int status, cl_ulong queued_ns,
                        const Timing& timing) {
  auto* event = new _cl_event;
  event->context = what.queue->context;
  event->queue = Use(what.queue);
  event->command = what.type;
  event->status = status;
  event->queued_ns = queued_ns;
  event->timing = timing;
  return event;
}

cl_int defer(Entry& entry, const Enqueue& what, std::function<cl_int(Timing&)> work) {
  auto* event = new _cl_event;
  const Use keep(event);
  event->references = what.event != nullptr ? 1 : 0;
  event->context = what.queue->context;
  event->queue = Use(what.queue);
  event->command = what.type;
  event->status = CL_SUBMITTED;
  event->queued_ns = static_cast<cl_ulong>(Runtime::get().powered_gpu().now_ns());
  Command command;
  command.work = std::move(work);
  command.event = keep;
  for (cl_uint i = 0; i < what.wait_count; ++i) command.waits.emplace_back(what.waits[i]);
  command.after_all = what.after_all;
  command.barrier = what.barrier;
  if (what.queue->pending.empty()) blocked_queues().emplace_back(what.queue);
  what.queue->pending.push_back(std::move(command));
  if (what.event != nullptr) *what.event = event;
  if (!what.blocking) return CL_SUCCESS;
  entry.wait([event] { return event->status <= CL_COMPLETE; });
  if (event->status == CL_COMPLETE) return CL_SUCCESS;
  if (what.event != nullptr) {
    // A call that fails hands out no event.
    *what.event = nullptr;
    event->references = 0;
  }
  return event->status;
}

void set_status(cl_event event, cl_int status) {
  event->status = status;
  auto& callbacks = event->callbacks;
  std::vector<EventCallback> later;
  for (const auto& callback : callbacks) {
    if (status > callback.type) {
      later.push_back(callback);
      continue;
    }
    const cl_int reported = status < 0 ? status : callback.type;
    Runtime::get().callbacks.push_back([kept = Use(event), callback, reported] {
      callback.notify(kept.get(), reported, callback.user_data);
    });
  }
  callbacks = std::move(later);
  Runtime::get().changed.notify_all();
}

void pump() {
  auto& queues = blocked_queues();
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      const auto queue = queues[i];
      for (auto next = next_runnable(*queue.get()); next != queue->pending.end();
           next = next_runnable(*queue.get())) {
        const Command command = std::move(*next);
        queue->pending.erase(next);
        run_command(command);
        progress = true;
      }
    }
    std::erase_if(queues, [](const auto& queue) { return queue->pending.empty(); });
  }
}

void report_failure(cl_context context, const std::string& text) {
  print_line(text);
  if (context->notify != nullptr) {
    Runtime::get().callbacks.push_back(
        [text, notify = context->notify, user_data = context->user_data] {
          notify(text.c_str(), nullptr, 0, user_data);
        });
  }
}

void destroy(cl_command_queue queue) {
  delete queue;
}

namespace api {

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties,
                                                  cl_int* errcode_ret) {
  return created<cl_command_queue>(errcode_ret,
                                   [&](Entry&) { return make_queue(context, device, properties); });
}

cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                   const cl_queue_properties* properties, cl_int* errcode_ret) {
  return created<cl_command_queue>(errcode_ret, [&](Entry&) -> Created<cl_command_queue> {
    cl_command_queue_properties flags = 0;
    for (const auto* p = properties; p != nullptr && *p != 0; p += 2) {
      if (p[0] != CL_QUEUE_PROPERTIES) return refuse(CL_INVALID_VALUE);
      flags = p[1];
      // Device-side queues are OpenCL 2.0.
      if ((flags & ~kKnownProperties) != 0) return refuse(CL_INVALID_QUEUE_PROPERTIES);
    }
    return make_queue(context, device, flags);
  });
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue) {
  return guarded([&](Entry&) { return retain_handle(queue, CL_INVALID_COMMAND_QUEUE); });
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue) {
  return guarded([&](Entry&) { return release_handle(queue, CL_INVALID_COMMAND_QUEUE); });
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info name,
                                         std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_QUEUE_CONTEXT: return sink.value(queue->context.get());
      case CL_QUEUE_DEVICE: return sink.value(queue->device);
      case CL_QUEUE_REFERENCE_COUNT: return sink.value(queue->references);
      case CL_QUEUE_PROPERTIES: return sink.value(queue->properties);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue,
                                             cl_command_queue_properties properties, cl_bool enable,
                                             cl_command_queue_properties* old_properties) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if ((properties & ~kKnownProperties) != 0) return CL_INVALID_VALUE;
    if (old_properties != nullptr) *old_properties = queue->properties;
    if (enable != CL_FALSE) {
      queue->properties |= properties;
    } else {
      queue->properties &= ~properties;
    }
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clFlush(cl_command_queue queue) {
  return guarded(
      [&](Entry&) -> cl_int { return valid(queue) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; });
}

cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  return guarded([&](Entry& entry) -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    const Use keep(queue);
    entry.wait([queue] { return queue->pending.empty(); });
    return queue->context->failure;
  });
}

}  // namespace api
}  // namespace ww::sim::driver
