// How commands run: at once, on the caller's thread, when nothing stands in their way; otherwise
// when the user event that stands in their way completes, on the thread that completes it.
#pragma once

#include <utility>

#include "common/runtime/runtime.hpp"
#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

struct Enqueue {
  cl_command_queue queue{};
  cl_command_type type{};
  cl_uint wait_count{};
  const cl_event* waits{};
  cl_event* event{};  // out, may be null
  bool blocking{};
  bool after_all{};
  bool barrier{};
};

// CL_INVALID_EVENT_WAIT_LIST or CL_INVALID_CONTEXT for a list that cannot be waited for.
[[nodiscard]] cl_int check_wait_list(cl_context context, cl_uint count, const cl_event* events);

enum class Readiness { ready, blocked, failed };  // failed: an awaited event ended with an error
[[nodiscard]] Readiness readiness(const Enqueue& what);

// Makes an event that has completed (or failed, for a negative status) at `timing`.
cl_event finished_event(const Enqueue& what, cl_int status, cl_ulong queued_ns,
                        const Timing& timing);
// Puts a command into its queue; waits for it if it blocks.
cl_int defer(Entry& entry, const Enqueue& what, std::function<cl_int(Timing&)> work);

// Runs `work` (cl_int(Timing&), chip times in) as a command of the queue, which is valid. The
// caller has checked every argument but the wait list. Work that refuses gives no event. Error
// CL_OUT_OF_RESOURCES once a kernel was stopped in the queue's context.
template <class Work>
cl_int enqueue(Entry& entry, const Enqueue& what, Work&& work) {
  if (const cl_int bad = check_wait_list(what.queue->context.get(), what.wait_count, what.waits);
      bad != CL_SUCCESS) {
    return bad;
  }
  if (const cl_int failed = what.queue->context->failure; failed != CL_SUCCESS) return failed;
  const Readiness state = readiness(what);
  if (state == Readiness::blocked) return defer(entry, what, std::forward<Work>(work));
  const std::int64_t now = Runtime::get().powered_gpu().now_ns();
  Timing timing{now, now};
  cl_int status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  if (state == Readiness::ready) {
    if (const cl_int code = work(timing); code != CL_SUCCESS) return code;
    status = CL_COMPLETE;
  }
  if (what.blocking && status != CL_COMPLETE) return status;
  if (what.event != nullptr) {
    *what.event = finished_event(what, status, static_cast<cl_ulong>(now), timing);
  }
  return CL_SUCCESS;
}

// Changes an event's status, calls back, wakes waiters. Then pump().
void set_status(cl_event event, cl_int status);
// Runs every deferred command that has become ready, until none is left that can run.
void pump();

// Reports a failure that has no better place: the context's callback and stderr.
void report_failure(cl_context context, const std::string& text);

}  // namespace ww::sim::driver
