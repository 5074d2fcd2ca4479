#include "image_fixture.hpp"

#include <cstring>
#include <span>

namespace ww::sim::driver::sampler_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

using SamplerTest = ImageTest;

TEST_F(SamplerTest, TellsWhatItIsAndIsGivenBack) {
  const auto before = fake::state().live_allocations;
  cl_int code = -1;
  cl_sampler made =
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const auto ask = [&](cl_sampler_info name) {
    cl_uint value = 0;
    EXPECT_EQ(cl.clGetSamplerInfo(made, name, sizeof value, &value, nullptr), CL_SUCCESS);
    return value;
  };
  EXPECT_EQ(ask(CL_SAMPLER_NORMALIZED_COORDS), static_cast<cl_uint>(CL_TRUE));
  EXPECT_EQ(ask(CL_SAMPLER_ADDRESSING_MODE), static_cast<cl_uint>(CL_ADDRESS_REPEAT));
  EXPECT_EQ(ask(CL_SAMPLER_FILTER_MODE), static_cast<cl_uint>(CL_FILTER_LINEAR));
  EXPECT_EQ(ask(CL_SAMPLER_REFERENCE_COUNT), 1U);
  EXPECT_EQ(cl.clRetainSampler(made), CL_SUCCESS);
  EXPECT_EQ(ask(CL_SAMPLER_REFERENCE_COUNT), 2U);
  cl_context in{};
  // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is a pointer, and its size is meant
  EXPECT_EQ(cl.clGetSamplerInfo(made, CL_SAMPLER_CONTEXT, sizeof in, &in, nullptr), CL_SUCCESS);
  EXPECT_EQ(in, context);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_INVALID_SAMPLER);
  EXPECT_EQ(fake::state().live_allocations, before);
}

TEST_F(SamplerTest, KernelsGetTheAddressesOfDescriptors) {
  cl_program program = build(
      "kernel void k(read_only image2d_t i, sampler_t s, write_only image3d_t o, int n) {\n"
      "  write_imagef(o, (int4)(0, 0, n, 0), read_imagef(i, s, (float2)(0.5f, 0.5f)));\n}\n");
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "k", &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_kernel_arg_access_qualifier access[4]{};
  for (cl_uint i = 0; i < 4; ++i) {
    EXPECT_EQ(cl.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access[i],
                                    &access[i], nullptr),
              CL_SUCCESS);
  }
  EXPECT_THAT(access, ElementsAre(CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_NONE,
                                  CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ACCESS_NONE));
  cl_kernel_arg_address_qualifier space[4]{};
  for (cl_uint i = 0; i < 4; ++i) {
    EXPECT_EQ(cl.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space[i],
                                    &space[i], nullptr),
              CL_SUCCESS);
  }
  EXPECT_THAT(space, ElementsAre(CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE,
                                 CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_PRIVATE));
  char type[32] = "";
  EXPECT_EQ(cl.clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(type, "image3d_t");

  cl_mem flat = image(kKinds[3], {CL_RGBA, CL_UNORM_INT8});
  cl_mem deep = image(kKinds[5], {CL_RGBA, CL_UNORM_INT8});
  cl_sampler sampler =
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &code);
  const cl_int n = 2;
  // NOLINTBEGIN(bugprone-sizeof-expression): a handle is a pointer, and its size is meant
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof flat, &flat), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 2, sizeof deep, &deep), CL_SUCCESS);
  // NOLINTEND(bugprone-sizeof-expression)
  EXPECT_EQ(cl.clSetKernelArg(kernel, 3, sizeof n, &n), CL_SUCCESS);

  // Launched once the gate opens; image and sampler live on until then.
  cl_event gate = cl.clCreateUserEvent(context, &code);
  const std::size_t one = 1;
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 1, &gate, nullptr),
            CL_SUCCESS);
  release(flat);
  release(deep);
  EXPECT_EQ(cl.clReleaseSampler(sampler), CL_SUCCESS);
  std::uint64_t sampler_word = 0;
  fake::state().on_launch = [&](gpu::VirtualGpu& gpu, const fake::Launch& launch) -> Status {
    std::uint64_t addresses[3];
    std::memcpy(addresses, launch.kernarg.data(), sizeof addresses);
    for (const std::uint64_t address : addresses) {
      std::uint32_t words[4]{};
      WW_TRY(gpu.read(address, std::as_writable_bytes(std::span(words))));
      EXPECT_THAT(words, ::testing::Contains(::testing::Ne(0U)));
    }
    sampler_word = addresses[1];
    return {};
  };
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_NE(sampler_word, 0U);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
  // All that the launch kept is gone with it.
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
            CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ImageTest, CommandsHaveTypesAndTimes) {
  const Kind& kind = kKinds[3];
  cl_mem made = image(kind);
  cl_mem other = image(kind);
  cl_mem linear = buffer(1024);
  const Sides origin{};
  Bytes bytes = counting(4 * volume_of(kind.sides));
  const float colour[4] = {};
  std::size_t pitch = 0;
  cl_event events[8]{};
  cl_int code = -1;
  const auto* o = origin.data();
  const auto* r = kind.sides.data();
  EXPECT_EQ(cl.clEnqueueWriteImage(queue, made, CL_FALSE, o, r, 0, 0, bytes.data(), 0, nullptr,
                                   &events[0]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueReadImage(queue, made, CL_FALSE, o, r, 0, 0, bytes.data(), 0, nullptr,
                                  &events[1]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyImage(queue, made, other, o, o, r, 0, nullptr, &events[2]), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyImageToBuffer(queue, made, linear, o, r, 0, 0, nullptr, &events[3]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyBufferToImage(queue, linear, made, 0, o, r, 0, nullptr, &events[4]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueFillImage(queue, made, colour, o, r, 0, nullptr, &events[5]), CL_SUCCESS);
  void* view = cl.clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_READ, o, r, &pitch, nullptr, 0,
                                    nullptr, &events[6], &code);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueMigrateMemObjects(queue, 1, &made, 0, 0, nullptr, &events[7]), CL_SUCCESS);
  const cl_command_type types[] = {CL_COMMAND_WRITE_IMAGE,
                                   CL_COMMAND_READ_IMAGE,
                                   CL_COMMAND_COPY_IMAGE,
                                   CL_COMMAND_COPY_IMAGE_TO_BUFFER,
                                   CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                                   CL_COMMAND_FILL_IMAGE,
                                   CL_COMMAND_MAP_IMAGE,
                                   CL_COMMAND_MIGRATE_MEM_OBJECTS};
  for (std::size_t i = 0; i < 8; ++i) {
    cl_command_type type = 0;
    EXPECT_EQ(cl.clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(type, types[i]);
    cl_ulong start = 0;
    cl_ulong end = 0;
    EXPECT_EQ(cl.clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start,
                                         &start, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(
        cl.clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(end > start, types[i] != CL_COMMAND_MIGRATE_MEM_OBJECTS) << i;
    EXPECT_EQ(cl.clReleaseEvent(events[i]), CL_SUCCESS);
  }
  release(linear);
  release(other);
  release(made);
}

TEST_F(ImageTest, WaitingCommandsRunInTheirOrder) {
  const Kind& kind = kKinds[4];
  cl_mem made = image(kind);
  const Picture picture{kind.sides, 4};
  Bytes first(picture.bytes.size(), 0xaa);
  write(made, {}, kind.sides, first);
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  const Sides zero{};
  EXPECT_EQ(cl.clEnqueueWriteImage(queue, made, CL_FALSE, zero.data(), kind.sides.data(), 0, 0,
                                   picture.bytes.data(), 1, &gate, nullptr),
            CL_SUCCESS);
  Bytes back(picture.bytes.size());
  EXPECT_EQ(cl.clEnqueueReadImage(queue, made, CL_FALSE, zero.data(), kind.sides.data(), 0, 0,
                                  back.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  // The queue keeps the image.
  release(made);
  EXPECT_THAT(back, Each(0));
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(back, picture.bytes);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
}

}  // namespace
}  // namespace ww::sim::driver::sampler_test
