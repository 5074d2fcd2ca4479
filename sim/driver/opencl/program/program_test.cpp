#include "api_fixture.hpp"

#include <gmock/gmock.h>
#include <algorithm>

#include <cstring>

#include "common/runtime/runtime.hpp"
#include "common/runtime/vgpu_abi.hpp"

namespace ww::sim::driver::program_test {
namespace {

using ::testing::HasSubstr;

using ProgramTest = ApiTest;
using KernelTest = ApiTest;
using LaunchApiTest = ApiTest;
using VgpuAbiTest = ApiTest;

constexpr const char* kSource =
    "__kernel void scale(__global const float* restrict x, __global float* y, float a,\n"
    "                    __local float4* tile, __constant int* table, int3 v) {\n"
    "  int i = get_global_id(0);\n"
    "  tile[get_local_id(0)] = x[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  y[i] = a * tile[get_local_id(0)].y + table[0] + v.z;\n}\n"
    "__attribute__((reqd_work_group_size(32, 2, 1))) __kernel void fixed(__global int* o) {\n"
    "  o[get_global_id(1)] = 1;\n}\n";

template <class T>
T at(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST_F(ProgramTest, BuiltProgramNamesItsKernels) {
  cl_program program = build(kSource);
  std::size_t count = 0;
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(count, 2u);
  char names[64] = {};
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, nullptr),
            CL_SUCCESS);
  EXPECT_THAT(names, HasSubstr("scale"));
  EXPECT_THAT(names, HasSubstr("fixed"));
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ProgramTest, FailedBuildKeepsTheCompilersWordsAndGivesNoKernel) {
  const char* text = "__kernel void k(__global int* o) { o[0] = missing; }";
  cl_int code = -1;
  cl_program program = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr),
            CL_BUILD_PROGRAM_FAILURE);
  EXPECT_THAT(log(program), HasSubstr("program.cl:1:43: error: use of undeclared identifier"));
  cl_build_status status = CL_BUILD_SUCCESS;
  EXPECT_EQ(cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status,
                                     &status, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(status, CL_BUILD_ERROR);
  EXPECT_EQ(cl.clCreateKernel(program, "k", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROGRAM_EXECUTABLE);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ProgramTest, InvalidOptionsAreNamed) {
  const char* text = "__kernel void k() {}";
  cl_int code = -1;
  cl_program program = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "-cl-bogus", nullptr, nullptr),
            CL_INVALID_BUILD_OPTIONS);
  EXPECT_THAT(log(program), HasSubstr("-cl-bogus"));
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "-fbogus", nullptr, nullptr),
            CL_INVALID_BUILD_OPTIONS);
  EXPECT_THAT(log(program), HasSubstr("-fbogus"));
  EXPECT_EQ(
      cl.clCompileProgram(program, 0, nullptr, "-fbogus", 0, nullptr, nullptr, nullptr, nullptr),
      CL_INVALID_COMPILER_OPTIONS);
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "-DX", nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ProgramTest, MacrosTellTheTruthAboutTheDevice) {
  cl_program program = build(
      "#if __OPENCL_VERSION__ != 120 || __OPENCL_C_VERSION__ != 110\n#error version\n#endif\n"
      "#ifdef cl_khr_fp16\n#error half\n#endif\n#ifndef cl_khr_fp64\n#error double\n#endif\n"
      "#if __IMAGE_SUPPORT__ != 1 || !defined cl_khr_3d_image_writes\n#error images\n#endif\n"
      "#ifndef __FAST_RELAXED_MATH__\n#error fast\n#endif\n"
      "__kernel void k(__global double* o) { o[0] = N; }",
      "-cl-std=CL1.1 -cl-fast-relaxed-math -D N=3 -Werror");
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ProgramTest, SourceWithoutKernelsBuildsAndHasNone) {
  for (const char* source : {"", "float twice(float x) { return 2 * x; }"}) {
    cl_program program = build(source);
    std::size_t count = 7;
    EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(count, 0u);
    cl_int code = 0;
    EXPECT_EQ(cl.clCreateKernel(program, "k", &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_KERNEL_NAME);
    EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  }
}

TEST_F(ProgramTest, CompiledUnitsLinkAcrossPrograms) {
  const char* caller =
      "#include \"twice.h\"\n__kernel void k(__global int* o) { o[0] = twice(o[1]); }";
  const char* callee = "int twice(int x) { return x * 2; }";
  const char* header = "int twice(int);";
  cl_int code = -1;
  cl_program a = cl.clCreateProgramWithSource(context, 1, &caller, nullptr, &code);
  cl_program b = cl.clCreateProgramWithSource(context, 1, &callee, nullptr, &code);
  cl_program h = cl.clCreateProgramWithSource(context, 1, &header, nullptr, &code);
  const char* name = "twice.h";
  EXPECT_EQ(cl.clCompileProgram(a, 0, nullptr, "", 1, &h, &name, nullptr, nullptr), CL_SUCCESS)
      << log(a);
  EXPECT_EQ(cl.clCompileProgram(b, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_SUCCESS)
      << log(b);
  const cl_program units[] = {a, b};
  cl_program linked = cl.clLinkProgram(context, 0, nullptr, "", 2, units, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  cl_kernel kernel = cl.clCreateKernel(linked, "k", &code);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  // One alone does not link, and says what is missing.
  cl_program broken = cl.clLinkProgram(context, 0, nullptr, "", 1, &a, nullptr, nullptr, &code);
  EXPECT_EQ(code, CL_LINK_PROGRAM_FAILURE);
  ASSERT_NE(broken, nullptr);
  EXPECT_THAT(log(broken), HasSubstr("twice"));
  for (cl_program program : {a, b, h, linked, broken}) {
    EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  }
}

TEST_F(ProgramTest, ModuleLeavesTheDeviceWithItsLastKernel) {
  const auto before = fake::state().loaded_programs;
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "scale", &code);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, before + 1);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, before);
}

TEST_F(ProgramTest, MayNotBeRebuiltWhileItHasKernels) {
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "scale", &code);
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(KernelTest, ArgumentInfoComesFromTheMetadata) {
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "scale", &code);
  cl_uint count = 0;
  EXPECT_EQ(cl.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(count, 6u);
  const auto text = [&](cl_uint index, cl_kernel_arg_info what) {
    char value[64] = {};
    EXPECT_EQ(cl.clGetKernelArgInfo(kernel, index, what, sizeof value, value, nullptr), CL_SUCCESS);
    return std::string(value);
  };
  EXPECT_EQ(text(0, CL_KERNEL_ARG_NAME), "x");
  EXPECT_EQ(text(0, CL_KERNEL_ARG_TYPE_NAME), "float*");
  EXPECT_EQ(text(3, CL_KERNEL_ARG_TYPE_NAME), "float4*");
  const auto address = [&](cl_uint index) {
    cl_kernel_arg_address_qualifier value{};
    EXPECT_EQ(cl.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof value,
                                    &value, nullptr),
              CL_SUCCESS);
    return value;
  };
  EXPECT_EQ(address(1), static_cast<cl_uint>(CL_KERNEL_ARG_ADDRESS_GLOBAL));
  EXPECT_EQ(address(2), static_cast<cl_uint>(CL_KERNEL_ARG_ADDRESS_PRIVATE));
  EXPECT_EQ(address(3), static_cast<cl_uint>(CL_KERNEL_ARG_ADDRESS_LOCAL));
  EXPECT_EQ(address(4), static_cast<cl_uint>(CL_KERNEL_ARG_ADDRESS_CONSTANT));
  cl_kernel_arg_type_qualifier qualifier = 0;
  EXPECT_EQ(cl.clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier,
                                  &qualifier, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(qualifier, static_cast<cl_kernel_arg_type_qualifier>(CL_KERNEL_ARG_TYPE_CONST |
                                                                 CL_KERNEL_ARG_TYPE_RESTRICT));
  EXPECT_EQ(cl.clGetKernelArgInfo(kernel, 6, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr),
            CL_INVALID_ARG_INDEX);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(KernelTest, SetArgRefusesWhatDoesNotFit) {
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "scale", &code);
  EXPECT_EQ(cl.clCreateKernel(program, "nope", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_KERNEL_NAME);
  float a = 1;
  double wide = 1;
  cl_mem memory = buffer(64);
  EXPECT_EQ(cl.clSetKernelArg(nullptr, 0, 8, &memory), CL_INVALID_KERNEL);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 9, 4, &a), CL_INVALID_ARG_INDEX);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 2, sizeof wide, &wide), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 2, sizeof a, nullptr), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, 4, &memory), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 3, 0, nullptr), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 3, 16, &a), CL_INVALID_ARG_VALUE);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): no buffer's handle
  auto* junk = reinterpret_cast<cl_mem>(std::uintptr_t{0x1234567});
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &junk), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(LaunchApiTest, KernargHoldsAddressesValuesLdsOffsetsAndGlobalOffset) {
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "scale", &code);
  cl_mem x = buffer(4096);
  cl_mem y = buffer(4096);
  const float a = 2.5f;
  const cl_int3 v = {{1, 2, 3, 0}};
  const cl_mem none = nullptr;
  const std::size_t global[] = {128};
  const std::size_t local[] = {64};
  const std::size_t offset[] = {256};
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &x), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof(cl_mem), &y), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 2, sizeof a, &a), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 4, sizeof(cl_mem), &none), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 5, sizeof v, &v), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, offset, global, local, 0, nullptr, nullptr),
            CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 3, 64 * 16, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, offset, global, local, 0, nullptr, nullptr),
            CL_SUCCESS);
  ASSERT_EQ(fake::state().launches.size(), 1u);
  const auto& launch = fake::state().launches[0];
  EXPECT_EQ(launch.kernel, "scale");
  EXPECT_EQ(launch.grid.global[0], 128u);
  EXPECT_EQ(launch.grid.local[0], 64u);
  EXPECT_EQ(launch.dynamic_lds_bytes, 1024u);
  EXPECT_NE(at<std::uint64_t>(launch.kernarg, 0), 0u);
  EXPECT_EQ(at<float>(launch.kernarg, 16), 2.5f);
  EXPECT_EQ(at<std::uint32_t>(launch.kernarg, 20) % 16, 0u);  // the tile: float4 aligned
  EXPECT_EQ(at<std::uint64_t>(launch.kernarg, 24), 0u);       // a null constant pointer
  EXPECT_EQ(at<std::int32_t>(launch.kernarg, 40), 3);         // v.z
  EXPECT_EQ(at<std::uint64_t>(launch.kernarg, 48), 256u);     // hidden global offset x
  EXPECT_EQ(cl.clReleaseMemObject(x), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, offset, global, local, 0, nullptr, nullptr),
            CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(cl.clReleaseMemObject(y), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(LaunchApiTest, RefusesShapesThatTheStandardForbids) {
  cl_program program = build(kSource);
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "fixed", &code);
  cl_mem memory = buffer(64);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory), CL_SUCCESS);
  const auto launch = [&](cl_uint dimensions, std::vector<std::size_t> global,
                          std::vector<std::size_t> local) {
    return cl.clEnqueueNDRangeKernel(queue, kernel, dimensions, nullptr,
                                     global.empty() ? nullptr : global.data(),
                                     local.empty() ? nullptr : local.data(), 0, nullptr, nullptr);
  };
  EXPECT_EQ(launch(0, {64}, {64}), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(launch(4, {64, 1, 1, 1}, {}), CL_INVALID_WORK_DIMENSION);
  EXPECT_EQ(launch(1, {}, {}), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(launch(2, {64, 0}, {}), CL_INVALID_GLOBAL_WORK_SIZE);
  EXPECT_EQ(launch(2, {64, 2}, {64, 1}), CL_INVALID_WORK_GROUP_SIZE);  // required: 32 x 2
  EXPECT_EQ(launch(2, {48, 2}, {32, 2}), CL_INVALID_WORK_GROUP_SIZE);  // does not divide
  EXPECT_EQ(launch(2, {64, 2}, {32, 2}), CL_SUCCESS);
  EXPECT_EQ(launch(2, {64, 2}, {}), CL_SUCCESS);
  EXPECT_EQ(fake::state().launches.back().grid.local[0], 32u);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(KernelTest, TellsEveryAttributeOfTheSource) {
  cl_program program = build(
      "kernel void plain(global int* o) { o[0] = 1; }\n"
      "__attribute__((vec_type_hint(uint4))) __attribute__((work_group_size_hint(32, 4, 1)))\n"
      "kernel void hinted(global int* o) { o[0] = 1; }\n"
      "__attribute__((vec_type_hint(double))) __attribute__((reqd_work_group_size(64, 2, 1)))\n"
      "kernel void fixed(global int* o) { o[0] = 1; }\n");
  const auto attributes = [&](const char* name) {
    cl_int code = -1;
    cl_kernel kernel = cl.clCreateKernel(program, name, &code);
    char text[128] = "?";
    EXPECT_EQ(cl.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof text, text, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
    return std::string(text);
  };
  EXPECT_EQ(attributes("plain"), "");
  EXPECT_EQ(attributes("hinted"), "vec_type_hint(uint4) work_group_size_hint(32,4,1)");
  EXPECT_EQ(attributes("fixed"), "vec_type_hint(double) reqd_work_group_size(64,2,1)");
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(LaunchApiTest, LargeGroupsGetCodeOfTheirOwn) {
  cl_program program = build(
      "kernel void wide(global int* o) { o[get_global_id(0)] = get_local_id(0); }\n"
      "__attribute__((reqd_work_group_size(64, 1, 1))) kernel void fixed(global int* o) {\n"
      "  o[get_global_id(0)] = 1;\n}\n");
  std::size_t most = 0;
  EXPECT_EQ(cl.clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(most, 1024u);
  cl_int code = -1;
  cl_mem memory = buffer(4096 * 4);
  const auto launch = [&](cl_kernel kernel, std::size_t local) {
    const std::size_t global = local * 4;
    EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory), CL_SUCCESS);
    return cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr,
                                     nullptr);
  };
  cl_kernel wide = cl.clCreateKernel(program, "wide", &code);
  cl_kernel fixed = cl.clCreateKernel(program, "fixed", &code);
  const auto group_size = [&](cl_kernel kernel) {
    std::size_t size = 0;
    EXPECT_EQ(cl.clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof size,
                                          &size, nullptr),
              CL_SUCCESS);
    return size;
  };
  EXPECT_EQ(group_size(wide), 1024u);
  EXPECT_EQ(group_size(fixed), 64u);
  const unsigned loaded = fake::state().loaded_programs;
  EXPECT_EQ(launch(wide, 256), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, loaded);
  EXPECT_EQ(launch(wide, 320), CL_SUCCESS);
  EXPECT_EQ(launch(wide, 512), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, loaded + 1);
  EXPECT_EQ(launch(wide, 1024), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, loaded + 2);
  EXPECT_EQ(fake::state().launches.back().grid.local[0], 1024u);
  EXPECT_EQ(launch(wide, 1025), CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(launch(fixed, 128), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(wide), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(fixed), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(fake::state().loaded_programs, loaded - 1);
}

TEST_F(LaunchApiTest, MistakesWithMemoryAreToldOnceWithTheArgumentsName) {
  cl_program program = build("kernel void told(int n, global int* target) { target[n] = 1; }\n");
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "told", &code);
  cl_mem memory = buffer(64);
  const cl_int n = 1;
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof n, &n), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof(cl_mem), &memory), CL_SUCCESS);
  fake::state().on_launch = [](gpu::VirtualGpu&, const fake::Launch& launch) -> Status {
    gpu::MemoryFinding finding;
    finding.allocation = at<std::uint64_t>(launch.kernarg, 8);
    finding.allocation_bytes = 64;
    finding.address = finding.allocation + 64;
    fake::state().findings = {finding};
    return {};
  };
  const std::size_t one = 1;
  const LaunchMistakes before = Runtime::get().mistakes;
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(
        cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
        CL_SUCCESS);
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, ::testing::StartsWith("wirewatt: kernel 'told': "));
  EXPECT_THAT(said, HasSubstr("behind the end of the buffer of argument 1 'target'"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);
  EXPECT_EQ(Runtime::get().mistakes.memory_mistakes, before.memory_mistakes + 3);
  EXPECT_EQ(Runtime::get().mistakes.stopped_launches, before.stopped_launches);
  fake::state().findings.clear();
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(LaunchApiTest, DeferredLaunchKeepsTheArgumentsOfItsEnqueue) {
  cl_program program = build("__kernel void k(__global int* o, int v) { o[0] = v; }");
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "k", &code);
  cl_mem memory = buffer(64);
  int value = 1;
  const std::size_t one = 1;
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof value, &value), CL_SUCCESS);
  cl_event gate = cl.clCreateUserEvent(context, &code);
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 1, &gate, nullptr),
            CL_SUCCESS);
  value = 2;
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof value, &value), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_TRUE(fake::state().launches.empty());
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  ASSERT_EQ(fake::state().launches.size(), 1u);
  EXPECT_EQ(at<int>(fake::state().launches[0].kernarg, 8), 1);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
}

TEST_F(LaunchApiTest, FailureOfTheDeviceReachesCallerAndContext) {
  static std::string message;
  message.clear();
  cl_int code = -1;
  cl_context own = cl.clCreateContext(
      nullptr, 1, &device,
      [](const char* text, const void*, std::size_t, void*) { message = text; }, nullptr, &code);
  std::swap(own, context);
  cl_program program = build("__kernel void k(__global int* o) { o[0] = 1; }");
  cl_kernel kernel = cl.clCreateKernel(program, "k", &code);
  cl_mem memory = buffer(4);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory), CL_SUCCESS);
  cl_command_queue own_queue = cl.clCreateCommandQueue(context, device, 0, &code);
  const std::size_t one = 1;
  fake::state().on_launch = [](gpu::VirtualGpu&, const fake::Launch&) -> Status {
    return fail(ErrorCode::out_of_range, "too large a work-group");
  };
  EXPECT_EQ(
      cl.clEnqueueNDRangeKernel(own_queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_OUT_OF_RESOURCES);
  EXPECT_EQ(cl.clFinish(own_queue), CL_SUCCESS);  // nothing has run
  fake::state().on_launch = [](gpu::VirtualGpu&, const fake::Launch&) -> Status {
    return fail(ErrorCode::device_error, "memory fault at 0x10");
  };
  EXPECT_EQ(
      cl.clEnqueueNDRangeKernel(own_queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_OUT_OF_RESOURCES);
  EXPECT_THAT(message, HasSubstr("memory fault at 0x10"));
  EXPECT_THAT(message, HasSubstr("'k'"));
  int read = 0;
  EXPECT_EQ(cl.clFinish(own_queue), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(cl.clEnqueueReadBuffer(own_queue, memory, CL_TRUE, 0, sizeof read, &read, 0, nullptr,
                                   nullptr),
            CL_OUT_OF_RESOURCES);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);  // of another context
  EXPECT_EQ(
      cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr),
      CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseCommandQueue(own_queue), CL_SUCCESS);
  std::swap(own, context);
  EXPECT_EQ(cl.clReleaseContext(own), CL_SUCCESS);
}

TEST_F(VgpuAbiTest, OffersClockCountersAndStates) {
  EXPECT_EQ(get_abi(WW_VGPU_ABI_VERSION + 1), nullptr);
  const ww_vgpu_abi* abi = get_abi(WW_VGPU_ABI_VERSION);
  ASSERT_NE(abi, nullptr);
  const auto start = abi->now_ns();
  abi->sleep_until_ns(start + 12345);
  EXPECT_EQ(abi->now_ns(), start + 12345);
  EXPECT_STREQ(abi->chip_info()->target, "gfx701");
  EXPECT_EQ(abi->dvfs_state_count(), 2);
  ww_vgpu_dvfs_state state{};
  EXPECT_EQ(abi->dvfs_state(1, &state), 0);
  EXPECT_EQ(state.voltage_uv, 1168700);
  EXPECT_EQ(state.clock_khz, 930000);
  EXPECT_LT(abi->dvfs_state(2, &state), 0);
  EXPECT_LT(abi->dvfs_select(-1), 0);
  EXPECT_EQ(abi->dvfs_select(0), 0);
  EXPECT_EQ(abi->dvfs_current(), 0);
  ASSERT_EQ(abi->counter_count(), 2u);
  EXPECT_STREQ(abi->counter_name(0), "SQ_WAVES");
  EXPECT_EQ(abi->counter_name(2), nullptr);
  double values[2] = {};
  EXPECT_LT(abi->dispatch_counters(~std::uint64_t{0}, values, 2), 0);
  EXPECT_LT(abi->dispatch_counters(0, values, 1), 0);
}

TEST_F(VgpuAbiTest, OffersTheRailsThatFirmwareMetersApart) {
  const ww_vgpu_abi* abi = get_abi(WW_VGPU_ABI_VERSION);
  ASSERT_NE(abi, nullptr);
  ASSERT_EQ(abi->rail_count(), 2u);
  EXPECT_STREQ(abi->rail_name(1), "aid_energy");
  EXPECT_EQ(abi->rail_name(2), nullptr);
  fake::state().rail_samples = {{.index = 0, .time_ns = 10, .energy_ticks = {5, 1}},
                                {.index = 1, .time_ns = 20, .energy_ticks = {9, 2}},
                                {.index = 2, .time_ns = 30, .energy_ticks = {14, 4}}};
  ww_vgpu_rail_sample read[2] = {};
  ASSERT_EQ(abi->rails_since(1, read, 2), 2u);
  EXPECT_EQ(read[0].time_ns, 20);
  EXPECT_EQ(read[1].energy_ticks[1], 4);
  EXPECT_EQ(abi->rails_since(3, read, 2), 0u);
  EXPECT_EQ(abi->rails_since(0, nullptr, 2), 0u);
  fake::state().rail_samples.clear();
}

}  // namespace
}  // namespace ww::sim::driver::program_test
