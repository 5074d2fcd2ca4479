// Tests every command's errors about its queue and about the events that it should wait for.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;
using Enqueue = cl_int (*)(W&, cl_command_queue, cl_uint, const cl_event*);

constexpr std::size_t kOrigin[3] = {0, 0, 0};
constexpr std::size_t kRegion[3] = {16, 4, 2};
constexpr std::size_t kPart[3] = {4, 4, 1};
constexpr std::size_t kOne = 64;

struct Command {
  const char* call;
  Enqueue enqueue;
  bool blocks;  // as called here; such a call reports what became of the events
};

cl_int code_of_map(W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
  return w.created([&](cl_int* code) {
    return w.cl.clEnqueueMapBuffer(queue, w.buffer, CL_TRUE, CL_MAP_READ, 0, 64, count, events,
                                   nullptr, code);
  });
}

cl_int code_of_image_map(W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
  return w.created([&](cl_int* code) {
    std::size_t pitch = 0;
    return w.cl.clEnqueueMapImage(queue, w.image, CL_TRUE, CL_MAP_READ, kOrigin, kPart, &pitch,
                                  nullptr, count, events, nullptr, code);
  });
}

const Command kCommands[] = {
    {"clEnqueueReadBuffer",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueReadBuffer(queue, w.buffer, CL_TRUE, 0, 64, w.bytes, count, events,
                                       nullptr);
     },
     true},
    {"clEnqueueWriteBuffer",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueWriteBuffer(queue, w.buffer, CL_TRUE, 0, 64, w.bytes, count, events,
                                        nullptr);
     },
     true},
    {"clEnqueueReadBufferRect",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueReadBufferRect(queue, w.buffer, CL_TRUE, kOrigin, kOrigin, kRegion, 0,
                                           0, 0, 0, w.bytes, count, events, nullptr);
     },
     true},
    {"clEnqueueWriteBufferRect",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueWriteBufferRect(queue, w.buffer, CL_TRUE, kOrigin, kOrigin, kRegion, 0,
                                            0, 0, 0, w.bytes, count, events, nullptr);
     },
     true},
    {"clEnqueueMapBuffer", code_of_map, true},
    {"clEnqueueUnmapMemObject",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       cl_int code = CL_SUCCESS;
       void* const view = w.cl.clEnqueueMapBuffer(w.queue, w.buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0,
                                                  nullptr, nullptr, &code);
       EXPECT_EQ(code, CL_SUCCESS);
       code = w.cl.clEnqueueUnmapMemObject(queue, w.buffer, view, count, events, nullptr);
       EXPECT_EQ(w.cl.clEnqueueUnmapMemObject(w.queue, w.buffer, view, 0, nullptr, nullptr),
                 CL_SUCCESS)
           << "a refused unmap leaves the map";
       return code;
     },
     false},
    {"clEnqueueCopyBuffer",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueCopyBuffer(queue, w.buffer, w.second, 0, 0, 64, count, events, nullptr);
     },
     false},
    {"clEnqueueCopyBufferRect",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueCopyBufferRect(queue, w.buffer, w.second, kOrigin, kOrigin, kRegion, 0,
                                           0, 0, 0, count, events, nullptr);
     },
     false},
    {"clEnqueueFillBuffer",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueFillBuffer(queue, w.buffer, w.bytes, 4, 0, 64, count, events, nullptr);
     },
     false},
    {"clEnqueueReadImage",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueReadImage(queue, w.image, CL_TRUE, kOrigin, kPart, 0, 0, w.bytes, count,
                                      events, nullptr);
     },
     true},
    {"clEnqueueWriteImage",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueWriteImage(queue, w.image, CL_TRUE, kOrigin, kPart, 0, 0, w.bytes,
                                       count, events, nullptr);
     },
     true},
    {"clEnqueueMapImage", code_of_image_map, true},
    {"clEnqueueCopyImage",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueCopyImage(queue, w.image, w.volume, kOrigin, kOrigin, kPart, count,
                                      events, nullptr);
     },
     false},
    {"clEnqueueCopyImageToBuffer",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueCopyImageToBuffer(queue, w.image, w.buffer, kOrigin, kPart, 0, count,
                                              events, nullptr);
     },
     false},
    {"clEnqueueCopyBufferToImage",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueCopyBufferToImage(queue, w.buffer, w.image, 0, kOrigin, kPart, count,
                                              events, nullptr);
     },
     false},
    {"clEnqueueFillImage",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueFillImage(queue, w.image, w.bytes, kOrigin, kPart, count, events,
                                      nullptr);
     },
     false},
    {"clEnqueueMigrateMemObjects",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueMigrateMemObjects(queue, 1, &w.buffer, 0, count, events, nullptr);
     },
     false},
    {"clEnqueueNDRangeKernel",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueNDRangeKernel(queue, w.ready, 1, nullptr, &kOne, &kOne, count, events,
                                          nullptr);
     },
     false},
    {"clEnqueueTask",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueTask(queue, w.ready, count, events, nullptr);
     },
     false},
    {"clEnqueueMarkerWithWaitList",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueMarkerWithWaitList(queue, count, events, nullptr);
     },
     false},
    {"clEnqueueBarrierWithWaitList",
     [](W& w, cl_command_queue queue, cl_uint count, const cl_event* events) {
       return w.cl.clEnqueueBarrierWithWaitList(queue, count, events, nullptr);
     },
     false},
};

struct Condition {
  cl_int code;
  const char* when;
  cl_int (*provoke)(W&, Enqueue);
};

const Condition kConditions[] = {
    {CL_INVALID_COMMAND_QUEUE, "no queue",
     [](W& w, Enqueue enqueue) { return enqueue(w, nullptr, 0, nullptr); }},
    {CL_INVALID_COMMAND_QUEUE, "an object of another kind for the queue",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.wrong<cl_command_queue>(), 0, nullptr); }},
    {CL_INVALID_COMMAND_QUEUE, "a released queue",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.dead_queue, 0, nullptr); }},
    {CL_INVALID_EVENT_WAIT_LIST, "a count of events without a list",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.queue, 1, nullptr); }},
    {CL_INVALID_EVENT_WAIT_LIST, "a list of no event",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.queue, 0, &w.event); }},
    {CL_INVALID_EVENT_WAIT_LIST, "no event in the list",
     [](W& w, Enqueue enqueue) {
       const cl_event list[] = {w.event, nullptr};
       return enqueue(w, w.queue, 2, list);
     }},
    {CL_INVALID_EVENT_WAIT_LIST, "an object of another kind in the list",
     [](W& w, Enqueue enqueue) {
       const cl_event list[] = {w.event, w.wrong<cl_event>()};
       return enqueue(w, w.queue, 2, list);
     }},
    {CL_INVALID_EVENT_WAIT_LIST, "a released event",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.queue, 1, &w.dead_event); }},
    {CL_INVALID_CONTEXT, "another context's event",
     [](W& w, Enqueue enqueue) { return enqueue(w, w.queue, 1, &w.foreign_event); }},
};

const Condition kBlocking{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "an event that failed",
    [](W& w, Enqueue enqueue) { return enqueue(w, w.queue, 1, &w.failed_event); }};

// Commands that take a queue alone.
const Command kBare[] = {
    {"clEnqueueMarker",
     [](W& w, cl_command_queue queue, cl_uint, const cl_event*) {
       cl_event out{};
       return w.cl.clEnqueueMarker(queue, &out);
     },
     false},
    {"clEnqueueBarrier",
     [](W& w, cl_command_queue queue, cl_uint, const cl_event*) {
       return w.cl.clEnqueueBarrier(queue);
     },
     false},
    {"clEnqueueWaitForEvents",
     [](W& w, cl_command_queue queue, cl_uint, const cl_event*) {
       return w.cl.clEnqueueWaitForEvents(queue, 1, &w.event);
     },
     false},
};

}  // namespace

std::vector<CommandErrors> command_errors() {
  std::vector<CommandErrors> rows;
  const auto add = [&](const Command& command, const Condition& condition) {
    rows.push_back(
        {command.call, condition.code, condition.when, command.enqueue, condition.provoke});
  };
  for (const Command& command : kCommands) {
    for (const Condition& condition : kConditions) add(command, condition);
    if (command.blocks) add(command, kBlocking);
  }
  for (const Command& command : kBare) {
    for (std::size_t i = 0; i < 3; ++i) add(command, kConditions[i]);
  }
  return rows;
}

}  // namespace ww::sim::driver
