#include "api_fixture.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace ww::sim::driver::queue_test {
namespace {

using QueueTest = ApiTest;
using EventTest = ApiTest;

TEST_F(QueueTest, RefusesBadArguments) {
  cl_int code = 0;
  EXPECT_EQ(cl.clCreateCommandQueue(nullptr, device, 0, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clCreateCommandQueue(context, nullptr, 0, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clCreateCommandQueue(context, device, 1 << 20, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clFinish(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(cl.clFlush(reinterpret_cast<cl_command_queue>(context)), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(EventTest, CommandWithoutObstacleHasCompletedWhenItWasEnqueued) {
  cl_mem memory = buffer(8);
  int data[2] = {1, 2};
  cl_event event{};
  EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 8, data, 0, nullptr, &event),
            CL_SUCCESS);
  EXPECT_EQ(status(event), CL_COMPLETE);
  EXPECT_EQ(cl.clWaitForEvents(1, &event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseEvent(event), CL_INVALID_EVENT);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(EventTest, ProfilingIsOrderedAndInChipTime) {
  cl_mem memory = buffer(1 << 20);
  std::vector<char> data(1 << 20);
  cl_event event{};
  EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, data.size(), data.data(), 0, nullptr,
                                    &event),
            CL_SUCCESS);
  cl_ulong times[4] = {};
  const cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                     CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(cl.clGetEventProfilingInfo(event, names[i], sizeof times[i], &times[i], nullptr),
              CL_SUCCESS);
  }
  EXPECT_LE(times[0], times[1]);
  EXPECT_LE(times[1], times[2]);
  EXPECT_LT(times[2], times[3]);
  EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(EventTest, ProfilingNeedsAProfilingQueue) {
  cl_int code = -1;
  cl_command_queue plain = cl.clCreateCommandQueue(context, device, 0, &code);
  cl_event event{};
  EXPECT_EQ(cl.clEnqueueMarker(plain, &event), CL_SUCCESS);
  cl_ulong time = 0;
  EXPECT_EQ(
      cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr),
      CL_PROFILING_INFO_NOT_AVAILABLE);
  EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseCommandQueue(plain), CL_SUCCESS);
}

TEST_F(EventTest, UserEventHoldsBackWhatWaitsForItAndWhatFollows) {
  cl_mem memory = buffer(4);
  int value = 1;
  int second = 2;
  int back = 0;
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  cl_event first{};
  cl_event last{};
  EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 4, &value, 1, &gate, &first),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 4, &second, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, 4, &back, 0, nullptr, &last),
            CL_SUCCESS);
  EXPECT_EQ(status(first), CL_SUBMITTED);
  EXPECT_EQ(back, 0);
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(status(last), CL_COMPLETE);
  EXPECT_EQ(back, 2);
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
  for (cl_event event : {gate, first, last}) EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(EventTest, FinishWaitsForAnotherThread) {
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  EXPECT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 1, &gate, nullptr), CL_SUCCESS);
  std::atomic<bool> opened = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    opened = true;
    EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  });
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  EXPECT_TRUE(opened);
  other.join();
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
}

TEST_F(EventTest, FailureOfTheAwaitedIsPassedOn) {
  cl_mem memory = buffer(4);
  int data = 0;
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  cl_event after{};
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, 4, &data, 1, &gate, &after),
            CL_SUCCESS);
  EXPECT_EQ(cl.clSetUserEventStatus(gate, -42), CL_SUCCESS);
  EXPECT_EQ(status(after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(cl.clWaitForEvents(1, &after), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 4, &data, 1, &gate, nullptr),
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(cl.clReleaseEvent(after), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(EventTest, ReleasedQueueStillRunsWhatItHolds) {
  cl_int code = -1;
  cl_mem memory = buffer(4);
  int data = 5;
  int back = 0;
  cl_command_queue own = cl.clCreateCommandQueue(context, device, 0, &code);
  cl_event gate = cl.clCreateUserEvent(context, &code);
  EXPECT_EQ(cl.clEnqueueWriteBuffer(own, memory, CL_FALSE, 0, 4, &data, 1, &gate, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseCommandQueue(own), CL_SUCCESS);
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 4, &back, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(back, 5);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(EventTest, OutOfOrderQueueLetsOthersPassExceptAtABarrier) {
  cl_int code = -1;
  cl_command_queue own =
      cl.clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_mem memory = buffer(4);
  int data = 1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  cl_event free{};
  cl_event marker{};
  cl_event behind{};
  EXPECT_EQ(cl.clEnqueueWriteBuffer(own, memory, CL_FALSE, 0, 4, &data, 1, &gate, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueWriteBuffer(own, memory, CL_FALSE, 0, 4, &data, 0, nullptr, &free),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueMarker(own, &marker), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueBarrier(own), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueWriteBuffer(own, memory, CL_FALSE, 0, 4, &data, 0, nullptr, &behind),
            CL_SUCCESS);
  EXPECT_EQ(status(free), CL_COMPLETE);
  EXPECT_EQ(status(marker), CL_SUBMITTED);
  EXPECT_EQ(status(behind), CL_SUBMITTED);
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(status(marker), CL_COMPLETE);
  EXPECT_EQ(status(behind), CL_COMPLETE);
  for (cl_event event : {gate, free, marker, behind}) {
    EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  }
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseCommandQueue(own), CL_SUCCESS);
}

TEST_F(EventTest, CallbacksMayCallTheApiAndSeeTheStatus) {
  struct Seen {
    const cl_icd_dispatch* cl{};
    std::vector<cl_int> statuses;
    cl_int query{-1};
  } seen;
  seen.cl = &cl;
  const auto note = [](cl_event event, cl_int told, void* data) {
    auto& s = *static_cast<Seen*>(data);
    s.statuses.push_back(told);
    cl_int value = 9;
    s.query = s.cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof value, &value,
                                   nullptr);
  };
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  cl_event event{};
  EXPECT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 1, &gate, &event), CL_SUCCESS);
  EXPECT_EQ(cl.clSetEventCallback(event, CL_COMPLETE, note, &seen), CL_SUCCESS);
  EXPECT_TRUE(seen.statuses.empty());
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(seen.statuses, (std::vector<cl_int>{CL_COMPLETE}));
  EXPECT_EQ(seen.query, CL_SUCCESS);
  // A finished event calls back at once.
  EXPECT_EQ(cl.clSetEventCallback(event, CL_COMPLETE, note, &seen), CL_SUCCESS);
  EXPECT_EQ(seen.statuses.size(), 2u);
  EXPECT_EQ(cl.clSetEventCallback(event, 77, note, &seen), CL_INVALID_VALUE);
  EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
}

TEST_F(EventTest, EventsOfAnotherContextCannotBeAwaited) {
  cl_int code = -1;
  cl_context other = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  cl_event foreign = cl.clCreateUserEvent(other, &code);
  EXPECT_EQ(cl.clEnqueueMarkerWithWaitList(queue, 1, &foreign, nullptr), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clReleaseEvent(foreign), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseContext(other), CL_SUCCESS);
}

TEST_F(EventTest, ManyThreadsMayEnqueueAtOnce) {
  cl_mem memory = buffer(4096);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      int data = t;
      int back = -1;
      const auto offset = static_cast<std::size_t>(t) * 4;
      for (int i = 0; i < 500; ++i) {
        cl_event event{};
        EXPECT_EQ(
            cl.clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, 4, &data, 0, nullptr, &event),
            CL_SUCCESS);
        EXPECT_EQ(
            cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, offset, 4, &back, 1, &event, nullptr),
            CL_SUCCESS);
        EXPECT_EQ(back, t);
        EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

}  // namespace
}  // namespace ww::sim::driver::queue_test
