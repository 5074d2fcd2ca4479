#include "error_world.hpp"

#include <cstdlib>

namespace ww::sim::driver {
namespace {

constexpr const char* kSource =
    "kernel void plain(global int* o, int a, local int* t) {\n"
    "  t[get_local_id(0)] = a; barrier(CLK_LOCAL_MEM_FENCE); o[get_global_id(0)] = t[0];\n}\n"
    "__attribute__((reqd_work_group_size(32, 2, 1))) kernel void fixed(global int* o) {\n"
    "  o[get_global_id(1)] = 1;\n}\n"
    "kernel void sampling(read_only image2d_t i, sampler_t s, write_only image2d_t o) {}\n";

}  // namespace

ErrorWorld& ErrorWorld::get() {
  static auto& world = *new ErrorWorld;
  return world;
}

ErrorWorld::ErrorWorld() {
  ::setenv("WIREWATT_COMPILE_WORKER", WW_COMPILE_WORKER, 1);
  cl_int code = CL_SUCCESS;
  const auto good = [&](cl_int got, const char* what) { EXPECT_EQ(got, CL_SUCCESS) << what; };
  good(cl.clGetPlatformIDs(1, &platform, nullptr), "platform");
  good(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "device");

  const auto make_context = [&] {
    cl_context made = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    good(code, "context");
    return made;
  };
  context = make_context();
  other_context = make_context();
  const auto make_queue = [&](cl_context of) {
    cl_command_queue made = cl.clCreateCommandQueue(of, device, 0, &code);
    good(code, "queue");
    return made;
  };
  queue = make_queue(context);
  other_queue = make_queue(other_context);
  const auto make_buffer = [&](cl_context of, cl_mem_flags flags) {
    cl_mem made = cl.clCreateBuffer(of, flags, kBytes, nullptr, &code);
    good(code, "buffer");
    return made;
  };
  buffer = make_buffer(context, CL_MEM_READ_WRITE);
  second = make_buffer(context, CL_MEM_READ_WRITE);
  foreign = make_buffer(other_context, CL_MEM_READ_WRITE);
  read_only = make_buffer(context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY);
  write_only = make_buffer(context, CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY);
  no_access = make_buffer(context, CL_MEM_HOST_NO_ACCESS);
  const cl_buffer_region region{128, 256};
  sub = cl.clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  good(code, "sub-buffer");

  const auto make_image = [&](cl_context of, cl_mem_flags flags,
                              cl_mem_object_type type = CL_MEM_OBJECT_IMAGE2D,
                              cl_channel_type channel = CL_UNORM_INT8) {
    const cl_image_format format{CL_RGBA, channel};
    cl_image_desc shape{};
    shape.image_type = type;
    shape.image_width = kImageSide;
    shape.image_height = kImageSide;
    shape.image_depth = kImageSide;
    if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER) shape.buffer = second;
    cl_mem made = cl.clCreateImage(of, flags, &format, &shape, nullptr, &code);
    good(code, "image");
    return made;
  };
  image = make_image(context, CL_MEM_READ_WRITE);
  volume = make_image(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE3D);
  float_image = make_image(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, CL_FLOAT);
  buffer_image = make_image(context, 0, CL_MEM_OBJECT_IMAGE1D_BUFFER);
  foreign_image = make_image(other_context, CL_MEM_READ_WRITE);
  read_only_image = make_image(context, CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY);
  write_only_image = make_image(context, CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY);
  no_access_image = make_image(context, CL_MEM_HOST_NO_ACCESS);
  const auto make_sampler = [&](cl_context of) {
    cl_sampler made = cl.clCreateSampler(of, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
    good(code, "sampler");
    return made;
  };
  sampler = make_sampler(context);
  foreign_sampler = make_sampler(other_context);

  const auto program_of = [&](const char* text) {
    cl_program made = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    good(code, "program");
    return made;
  };
  source = program_of(kSource);
  built = program_of(kSource);
  good(cl.clBuildProgram(built, 0, nullptr, "", nullptr, nullptr), "build");
  failed = program_of("kernel void plain() { missing(); }\n#error stop\n");
  EXPECT_EQ(cl.clBuildProgram(failed, 0, nullptr, "", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
  const auto compile = [&](const char* text) {
    cl_program made = program_of(text);
    good(cl.clCompileProgram(made, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
         "compile");
    return made;
  };
  compiled = compile("kernel void k(global int* o) { o[0] = 1; }");
  unresolved = compile("int missing(int);\nkernel void k(global int* o) { o[0] = missing(1); }");
  linked = cl.clLinkProgram(context, 0, nullptr, "", 1, &compiled, nullptr, nullptr, &code);
  good(code, "link");

  // The key of each argument's type, misspelt: the loader knows no such key.
  std::size_t size = 0;
  good(cl.clGetProgramInfo(built, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "size");
  std::string code_object(size, '\0');
  auto* room = reinterpret_cast<unsigned char*>(code_object.data());
  good(cl.clGetProgramInfo(built, CL_PROGRAM_BINARIES, sizeof room, &room, nullptr), "binary");
  for (auto at = code_object.find(".type_name"); at != std::string::npos;
       at = code_object.find(".type_name", at + 1)) {
    code_object[at + 1] = 'T';
  }
  const unsigned char* list = room;
  binary = cl.clCreateProgramWithBinary(context, 1, &device, &size, &list, nullptr, &code);
  good(code, "binary");

  const auto kernel_of = [&](cl_program program, const char* name) {
    cl_kernel made = cl.clCreateKernel(program, name, &code);
    good(code, name);
    return made;
  };
  kernel = kernel_of(built, "plain");
  ready = kernel_of(built, "plain");
  const cl_int value = 1;
  good(set_argument(ready, 0, buffer), "argument 0");
  good(set_argument(ready, 1, value), "argument 1");
  good(cl.clSetKernelArg(ready, 2, 4096, nullptr), "argument 2");
  fixed = kernel_of(built, "fixed");
  good(set_argument(fixed, 0, buffer), "argument 0");
  sampling = kernel_of(built, "sampling");
  nameless = kernel_of(binary, "plain");

  good(cl.clEnqueueMarker(queue, &event), "marker");
  const auto make_event = [&](cl_context of) {
    cl_event made = cl.clCreateUserEvent(of, &code);
    good(code, "user event");
    return made;
  };
  user = make_event(context);
  foreign_event = make_event(other_context);
  failed_event = make_event(context);
  good(cl.clSetUserEventStatus(failed_event, -7), "status");

  cl_command_queue timed =
      cl.clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  good(code, "queue");
  good(cl.clEnqueueMarker(timed, &profiled), "marker");
  good(cl.clEnqueueMarkerWithWaitList(timed, 1, &user, &waiting), "marker");

  // A dead object's place is not used again before many others have died (object.cpp).
  dead_event = make_event(context);
  good(cl.clReleaseEvent(dead_event), "release");
  dead_kernel = kernel_of(built, "fixed");
  good(cl.clReleaseKernel(dead_kernel), "release");
  dead_program = program_of(kSource);
  good(cl.clReleaseProgram(dead_program), "release");
  dead_buffer = make_buffer(context, 0);
  good(cl.clReleaseMemObject(dead_buffer), "release");
  dead_image = make_image(context, 0);
  good(cl.clReleaseMemObject(dead_image), "release");
  dead_sampler = make_sampler(context);
  good(cl.clReleaseSampler(dead_sampler), "release");
  dead_queue = make_queue(context);
  good(cl.clReleaseCommandQueue(dead_queue), "release");
  dead_context = make_context();
  good(cl.clReleaseContext(dead_context), "release");
}

}  // namespace ww::sim::driver
