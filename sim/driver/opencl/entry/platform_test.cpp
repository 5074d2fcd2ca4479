#include "api_fixture.hpp"

#include <gmock/gmock.h>

#include <cstring>

namespace ww::sim::driver::platform_test {
namespace {

using ::testing::HasSubstr;

using PlatformTest = ApiTest;
using ContextTest = ApiTest;
using DispatchTest = ApiTest;

TEST_F(DispatchTest, HasNoEmptySlot) {
  void* const* slots = reinterpret_cast<void* const*>(&cl);
  for (std::size_t i = 0; i < sizeof(cl_icd_dispatch) / sizeof(void*); ++i) {
    EXPECT_NE(slots[i], nullptr) << "slot " << i;
  }
}

TEST_F(DispatchTest, LaterVersionsAreRefusedWithACode) {
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0), nullptr);
  EXPECT_EQ(cl.clSetKernelExecInfo(nullptr, 0, 0, nullptr), CL_INVALID_OPERATION);
  cl_int code = CL_SUCCESS;
  EXPECT_EQ(cl.clCreateProgramWithIL(context, "x", 1, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  code = CL_SUCCESS;
  EXPECT_EQ(cl.clCreateFromGLBuffer(context, CL_MEM_READ_WRITE, 1, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
}

TEST_F(DispatchTest, EveryObjectBeginsWithTheTable) {
  for (const void* object : {static_cast<void*>(platform), static_cast<void*>(device),
                             static_cast<void*>(context), static_cast<void*>(queue)}) {
    const void* first = nullptr;
    std::memcpy(&first, object, sizeof first);
    EXPECT_EQ(first, &cl);
  }
}

TEST_F(PlatformTest, AnswersInTwoSteps) {
  std::size_t size = 0;
  ASSERT_EQ(cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &size), CL_SUCCESS);
  std::string name(size, '\0');
  ASSERT_EQ(cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, name.data(), nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(name.c_str(), "wirewatt virtual GPU");
  EXPECT_EQ(cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size - 1, name.data(), nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetPlatformInfo(platform, 0xdead, 0, nullptr, &size), CL_INVALID_VALUE);
}

TEST_F(PlatformTest, ListsTheDeviceForItsTypesOnly) {
  cl_uint count = 9;
  EXPECT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 0, nullptr, &count), CL_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &count),
            CL_DEVICE_NOT_FOUND);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cl.clGetDeviceIDs(platform, 0, 0, nullptr, &count), CL_INVALID_DEVICE_TYPE);
  EXPECT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, nullptr), CL_INVALID_VALUE);
  cl_device_id none{};
  EXPECT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &none, nullptr), CL_INVALID_VALUE);
}

TEST_F(PlatformTest, EveryDeviceQueryOfTheStandardHasAnAnswer) {
  std::vector<cl_device_info> names;
  for (cl_device_info name = CL_DEVICE_TYPE; name <= CL_DEVICE_DOUBLE_FP_CONFIG; ++name) {
    if (name != 0x1031 + 1) names.push_back(name);
  }
  for (const int name :
       {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, CL_DEVICE_HOST_UNIFIED_MEMORY,
        CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF,
        CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_BUILT_IN_KERNELS,
        CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_PARENT_DEVICE,
        CL_DEVICE_PARTITION_MAX_SUB_DEVICES, CL_DEVICE_PARTITION_PROPERTIES,
        CL_DEVICE_PARTITION_AFFINITY_DOMAIN, CL_DEVICE_PARTITION_TYPE, CL_DEVICE_REFERENCE_COUNT,
        CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_DEVICE_PRINTF_BUFFER_SIZE}) {
    names.push_back(static_cast<cl_device_info>(name));
  }
  for (const auto name : names) {
    std::size_t size = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(device, name, 0, nullptr, &size), CL_SUCCESS) << std::hex << name;
    EXPECT_GT(size, 0u) << std::hex << name;
  }
  EXPECT_EQ(cl.clGetDeviceInfo(device, 0x9999, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

// Programs fill a constant buffer as large as the device says; the standard asks for 64 KiB.
TEST_F(PlatformTest, ConstantBuffersAreAsLargeAsOnDevices) {
  cl_ulong bytes = 0;
  EXPECT_EQ(
      cl.clGetDeviceInfo(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof bytes, &bytes, nullptr),
      CL_SUCCESS);
  EXPECT_GE(bytes, 64U * 1024);
  EXPECT_LE(bytes, 16U * 1024 * 1024);
}

TEST_F(PlatformTest, HandlesOfAnotherKindAreNoDevice) {
  auto* wrong = reinterpret_cast<cl_device_id>(context);
  EXPECT_EQ(cl.clGetDeviceInfo(wrong, CL_DEVICE_NAME, 0, nullptr, nullptr), CL_INVALID_DEVICE);
  EXPECT_EQ(cl.clGetDeviceInfo(nullptr, CL_DEVICE_NAME, 0, nullptr, nullptr), CL_INVALID_DEVICE);
}

TEST_F(ContextTest, RefusesBadArguments) {
  cl_int code = 0;
  EXPECT_EQ(cl.clCreateContext(nullptr, 0, nullptr, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  cl_device_id wrong = reinterpret_cast<cl_device_id>(queue);
  EXPECT_EQ(cl.clCreateContext(nullptr, 1, &wrong, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_DEVICE);
  const cl_context_properties unknown[] = {0x1234, 1, 0};
  EXPECT_EQ(cl.clCreateContext(unknown, 1, &device, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROPERTY);
  const cl_context_properties foreign[] = {CL_CONTEXT_PLATFORM, 0x1000, 0};
  EXPECT_EQ(cl.clCreateContext(foreign, 1, &device, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PLATFORM);
  int data = 0;
  EXPECT_EQ(cl.clCreateContext(nullptr, 1, &device, nullptr, &data, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
}

TEST_F(ContextTest, PropertiesComeBackAsGiven) {
  const cl_context_properties given[] = {CL_CONTEXT_PLATFORM,
                                         reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int code = -1;
  cl_context own = cl.clCreateContext(given, 1, &device, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_context_properties back[3] = {7, 7, 7};
  std::size_t size = 0;
  EXPECT_EQ(cl.clGetContextInfo(own, CL_CONTEXT_PROPERTIES, sizeof back, back, &size), CL_SUCCESS);
  EXPECT_EQ(size, sizeof given);
  EXPECT_EQ(std::memcmp(back, given, sizeof given), 0);
  EXPECT_EQ(cl.clReleaseContext(own), CL_SUCCESS);
}

TEST_F(ContextTest, ReleasedHandleIsInvalidAndNoCrash) {
  cl_int code = -1;
  cl_context own = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  EXPECT_EQ(cl.clRetainContext(own), CL_SUCCESS);
  cl_uint count = 0;
  EXPECT_EQ(cl.clGetContextInfo(own, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(cl.clReleaseContext(own), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseContext(own), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseContext(own), CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clCreateUserEvent(own, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
}

TEST_F(ContextTest, QueueKeepsItsReleasedContextAlive) {
  cl_int code = -1;
  cl_context own = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  cl_command_queue own_queue = cl.clCreateCommandQueue(own, device, 0, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseContext(own), CL_SUCCESS);
  cl_context back{};
  EXPECT_EQ(
      cl.clGetCommandQueueInfo(own_queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &back, nullptr),
      CL_SUCCESS);
  EXPECT_EQ(back, own);
  EXPECT_EQ(cl.clReleaseCommandQueue(own_queue), CL_SUCCESS);
}

TEST_F(PlatformTest, ImageLimitsAreAtLeastTheStandards) {
  cl_bool support = CL_FALSE;
  EXPECT_EQ(cl.clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof support, &support, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(support, static_cast<cl_bool>(CL_TRUE));
  for (const auto& [name, least] :
       {std::pair<cl_device_info, std::size_t>{CL_DEVICE_IMAGE2D_MAX_WIDTH, 8192},
        {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8192},
        {CL_DEVICE_IMAGE3D_MAX_WIDTH, 2048},
        {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 2048},
        {CL_DEVICE_IMAGE3D_MAX_DEPTH, 2048},
        {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 2048},
        {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 65536}}) {
    std::size_t limit = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(device, name, sizeof limit, &limit, nullptr), CL_SUCCESS);
    EXPECT_GE(limit, least) << name;
  }
  for (const auto& [name, least] : {std::pair<cl_device_info, cl_uint>{CL_DEVICE_MAX_SAMPLERS, 16},
                                    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 128},
                                    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 8}}) {
    cl_uint limit = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(device, name, sizeof limit, &limit, nullptr), CL_SUCCESS);
    EXPECT_GE(limit, least) << name;
  }
}

}  // namespace
}  // namespace ww::sim::driver::platform_test
