// Kernel arguments and launches. OpenCL 1.2 specification, sections 5.3, 5.7 to 5.10.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

cl_int launch(W& w, cl_kernel kernel, const std::vector<std::size_t>& global,
              const std::vector<std::size_t>& local = {},
              const std::vector<std::size_t>& offset = {}) {
  const auto data = [](const auto& list) { return list.empty() ? nullptr : list.data(); };
  const auto dimensions = static_cast<cl_uint>(global.size());
  return w.cl.clEnqueueNDRangeKernel(w.queue, kernel, dimensions, data(offset), data(global),
                                     data(local), 0, nullptr, nullptr);
}

// Launches in a context of its own, which the launch ends.
cl_int give_up(W& w) {
  cl_int code = CL_SUCCESS;
  cl_context context = w.cl.clCreateContext(nullptr, 1, &w.device, nullptr, nullptr, &code);
  cl_command_queue queue = w.cl.clCreateCommandQueue(context, w.device, 0, &code);
  const char* text = "kernel void nothing() {}";
  cl_program program = w.cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  EXPECT_EQ(w.cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
  cl_kernel kernel = w.cl.clCreateKernel(program, "nothing", &code);
  EXPECT_EQ(code, CL_SUCCESS);
  fake::state().on_launch = [](gpu::VirtualGpu&, const fake::Launch&) -> Status {
    return fail(ErrorCode::device_error, "stopped");
  };
  const std::size_t global = 64;
  code =
      w.cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr);
  fake::state().on_launch = nullptr;
  EXPECT_EQ(w.cl.clFinish(queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(w.cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(w.cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(w.cl.clReleaseCommandQueue(queue), CL_SUCCESS);
  EXPECT_EQ(w.cl.clReleaseContext(context), CL_SUCCESS);
  return code;
}

void argument_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clSetKernelArg";
  const ErrorRow own[] = {
      {call, CL_INVALID_KERNEL, "no kernel",
       [](W& w) { return w.set_argument(nullptr, 0, w.buffer); }},
      {call, CL_INVALID_KERNEL, "a released object",
       [](W& w) { return w.set_argument(w.dead_kernel, 0, w.buffer); }},
      {call, CL_INVALID_ARG_INDEX, "an argument past the last",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 3, 4, w.bytes); }},
      {call, CL_INVALID_ARG_INDEX, "the last index of all",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, UINT32_MAX, 4, w.bytes); }},
      {call, CL_INVALID_ARG_VALUE, "no value for a number",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 1, 4, nullptr); }},
      {call, CL_INVALID_ARG_VALUE, "a value for local memory",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 2, 64, w.bytes); }},
      {call, CL_INVALID_MEM_OBJECT, "an object of another kind for a buffer",
       [](W& w) { return w.set_argument(w.kernel, 0, w.queue); }},
      {call, CL_INVALID_MEM_OBJECT, "bytes that are no handle for a buffer",
       [](W& w) {
         const std::uint64_t junk = 0x123456789abcdef;
         return w.set_argument(w.kernel, 0, junk);
       }},
      {call, CL_INVALID_MEM_OBJECT, "a released buffer",
       [](W& w) { return w.set_argument(w.kernel, 0, w.dead_buffer); }},
      {call, CL_INVALID_ARG_SIZE, "a number that is too small",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 1, 2, w.bytes); }},
      {call, CL_INVALID_ARG_SIZE, "a number that is too large",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 1, 8, w.bytes); }},
      {call, CL_INVALID_ARG_SIZE, "half a handle for a buffer",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 0, 4, &w.buffer); }},
      {call, CL_INVALID_ARG_SIZE, "two handles for a buffer",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 0, 16, &w.buffer); }},
      {call, CL_INVALID_ARG_SIZE, "no local memory",
       [](W& w) { return w.cl.clSetKernelArg(w.kernel, 2, 0, nullptr); }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void range_rows(std::vector<ErrorRow>& rows) {
  constexpr const char* call = "clEnqueueNDRangeKernel";
  const ErrorRow own[] = {
      {call, CL_INVALID_KERNEL, "no kernel", [](W& w) { return launch(w, nullptr, {64}); }},
      {call, CL_INVALID_KERNEL, "a released object",
       [](W& w) { return launch(w, w.dead_kernel, {64}); }},
      {call, CL_INVALID_CONTEXT, "another context's queue",
       [](W& w) {
         const std::size_t global = 64;
         return w.cl.clEnqueueNDRangeKernel(w.other_queue, w.ready, 1, nullptr, &global, nullptr, 0,
                                            nullptr, nullptr);
       }},
      {call, CL_INVALID_KERNEL_ARGS, "arguments that were never set",
       [](W& w) { return launch(w, w.kernel, {64}); }},
      {call, CL_INVALID_KERNEL_ARGS, "a buffer that was released meanwhile",
       [](W& w) {
         cl_int code = CL_SUCCESS;
         cl_mem brief = w.cl.clCreateBuffer(w.context, 0, 64, nullptr, &code);
         EXPECT_EQ(w.set_argument(w.fixed, 0, brief), CL_SUCCESS);
         EXPECT_EQ(w.cl.clReleaseMemObject(brief), CL_SUCCESS);
         code = launch(w, w.fixed, {32, 2}, {32, 2});
         EXPECT_EQ(w.set_argument(w.fixed, 0, w.buffer), CL_SUCCESS);
         return code;
       }},
      {call, CL_INVALID_WORK_DIMENSION, "no dimension",
       [](W& w) { return launch(w, w.ready, {}); }},
      {call, CL_INVALID_WORK_DIMENSION, "four dimensions",
       [](W& w) {
         return launch(w, w.ready, {64, 1, 1, 1});
       }},
      {call, CL_INVALID_GLOBAL_WORK_SIZE, "no range",
       [](W& w) {
         return w.cl.clEnqueueNDRangeKernel(w.queue, w.ready, 1, nullptr, nullptr, nullptr, 0,
                                            nullptr, nullptr);
       }},
      {call, CL_INVALID_GLOBAL_WORK_SIZE, "an empty range",
       [](W& w) {
         return launch(w, w.ready, {64, 0});
       }},
      {call, CL_INVALID_GLOBAL_WORK_SIZE, "more than the device can count",
       [](W& w) { return launch(w, w.ready, {std::size_t{1} << 32}); }},
      {call, CL_INVALID_GLOBAL_WORK_SIZE, "more work-groups than 64 bits count",
       [](W& w) {
         return launch(w, w.ready, {1U << 31, 1U << 31, 4}, {1, 1, 1});
       }},
      {call, CL_INVALID_GLOBAL_OFFSET, "an offset that wraps",
       [](W& w) { return launch(w, w.ready, {64}, {64}, {SIZE_MAX - 62}); }},
      {call, CL_INVALID_GLOBAL_OFFSET, "an offset that wraps in the third dimension",
       [](W& w) {
         return launch(w, w.ready, {64, 1, 2}, {64, 1, 1}, {0, 0, SIZE_MAX});
       }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "groups that do not divide the range",
       [](W& w) { return launch(w, w.ready, {100}, {64}); }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "groups that do not divide the second dimension",
       [](W& w) {
         return launch(w, w.ready, {64, 3}, {64, 2});
       }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "groups larger than the range",
       [](W& w) { return launch(w, w.ready, {64}, {128}); }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "groups of no work-item",
       [](W& w) { return launch(w, w.ready, {64}, {0}); }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "more work-items in a group than the device holds",
       [](W& w) {
         return launch(w, w.ready, {64, 64}, {64, 32});
       }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "not the size that the kernel requires",
       [](W& w) {
         return launch(w, w.fixed, {64, 2}, {64, 1});
       }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "too few dimensions for the size that it requires",
       [](W& w) { return launch(w, w.fixed, {64}, {32}); }},
      {call, CL_INVALID_WORK_GROUP_SIZE, "a range that the required size does not divide",
       [](W& w) {
         return launch(w, w.fixed, {64, 3});
       }},
      {call, CL_INVALID_WORK_ITEM_SIZE, "a side over the limit",
       [](W& w) { return launch(w, w.ready, {2048}, {2048}); }},
      {call, CL_INVALID_WORK_ITEM_SIZE, "a third side over the limit",
       [](W& w) {
         return launch(w, w.ready, {1, 1, 2048}, {1, 1, 2048});
       }},
      {call, CL_OUT_OF_RESOURCES, "more local memory than a compute unit has",
       [](W& w) {
         EXPECT_EQ(w.cl.clSetKernelArg(w.ready, 2, 1 << 20, nullptr), CL_SUCCESS);
         const cl_int code = launch(w, w.ready, {64}, {64});
         EXPECT_EQ(w.cl.clSetKernelArg(w.ready, 2, 4096, nullptr), CL_SUCCESS);
         return code;
       }},
      {call, CL_OUT_OF_RESOURCES, "local memory that 32 bits cannot count",
       [](W& w) {
         EXPECT_EQ(w.cl.clSetKernelArg(w.ready, 2, UINT32_MAX, nullptr), CL_SUCCESS);
         const cl_int code = launch(w, w.ready, {64}, {64});
         EXPECT_EQ(w.cl.clSetKernelArg(w.ready, 2, 4096, nullptr), CL_SUCCESS);
         return code;
       }},
      {call, CL_OUT_OF_RESOURCES, "a launch that the device gives up", give_up},
      {"clEnqueueTask", CL_INVALID_KERNEL, "a released object",
       [](W& w) { return w.cl.clEnqueueTask(w.queue, w.dead_kernel, 0, nullptr, nullptr); }},
      {"clEnqueueTask", CL_INVALID_CONTEXT, "another context's queue",
       [](W& w) { return w.cl.clEnqueueTask(w.other_queue, w.ready, 0, nullptr, nullptr); }},
      {"clEnqueueTask", CL_INVALID_KERNEL_ARGS, "arguments that were never set",
       [](W& w) { return w.cl.clEnqueueTask(w.queue, w.kernel, 0, nullptr, nullptr); }},
      {"clEnqueueTask", CL_INVALID_WORK_GROUP_SIZE, "a kernel that requires another size",
       [](W& w) { return w.cl.clEnqueueTask(w.queue, w.fixed, 0, nullptr, nullptr); }},
      {"clEnqueueNativeKernel", CL_INVALID_COMMAND_QUEUE, "no queue",
       [](W& w) {
         return w.cl.clEnqueueNativeKernel(
             nullptr, [](void*) {}, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr);
       }},
      {"clEnqueueNativeKernel", CL_INVALID_OPERATION, "a device that runs none",
       [](W& w) {
         return w.cl.clEnqueueNativeKernel(
             w.queue, [](void*) {}, nullptr, 0, 0, nullptr, nullptr, 0, nullptr, nullptr);
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> launch_errors() {
  std::vector<ErrorRow> rows;
  argument_rows(rows);
  range_rows(rows);
  return rows;
}

}  // namespace ww::sim::driver
