#include "api_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ww/core/cl_approximable.h"

namespace ww::sim::driver::transfer_test {
namespace {

using MemoryTest = ApiTest;
using TransferTest = ApiTest;

std::vector<unsigned char> counting(std::size_t size) {
  std::vector<unsigned char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(1));
  return bytes;
}

TEST_F(MemoryTest, RefusesBadArguments) {
  cl_int code = 0;
  char byte = 0;
  const auto expect = [&](cl_mem_flags flags, std::size_t size, void* host, cl_int wanted) {
    EXPECT_EQ(cl.clCreateBuffer(context, flags, size, host, &code), nullptr);
    EXPECT_EQ(code, wanted);
  };
  expect(CL_MEM_READ_WRITE, 0, nullptr, CL_INVALID_BUFFER_SIZE);
  expect(CL_MEM_READ_WRITE, std::size_t{1} << 60, nullptr, CL_INVALID_BUFFER_SIZE);
  expect(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 8, nullptr, CL_INVALID_VALUE);
  expect(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 1, &byte, CL_INVALID_VALUE);
  expect(cl_mem_flags{1} << 40, 8, nullptr, CL_INVALID_VALUE);
  expect(CL_MEM_COPY_HOST_PTR, 8, nullptr, CL_INVALID_HOST_PTR);
  expect(CL_MEM_READ_WRITE, 1, &byte, CL_INVALID_HOST_PTR);
  EXPECT_EQ(cl.clCreateBuffer(nullptr, 0, 8, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
}

TEST_F(MemoryTest, ApproximableDataIsDeclaredThroughTheExtension) {
  const auto declare = reinterpret_cast<ww_cl_set_approximable_fn>(
      cl.clGetExtensionFunctionAddressForPlatform(platform, WW_CL_SET_APPROXIMABLE));
  ASSERT_NE(declare, nullptr);
  cl_mem memory = buffer(256);
  auto& declared = fake::state().annotations;
  declared.clear();
  EXPECT_EQ(declare(memory, WW_CL_FLOAT32, 0.125F), CL_SUCCESS);
  ASSERT_EQ(declared.size(), 1U);
  EXPECT_EQ(declared[0].bytes, 256U);
  EXPECT_EQ(declared[0].type, net::WordType::float32);
  EXPECT_EQ(declared[0].threshold, 0.125F);
  EXPECT_EQ(declare(memory, WW_CL_EXACT, 0), CL_SUCCESS);
  EXPECT_EQ(declare(memory, 17, 0.1F), CL_INVALID_VALUE);
  EXPECT_EQ(declare(memory, WW_CL_INT32, 1.5F), CL_INVALID_VALUE);
  EXPECT_EQ(declare(memory, WW_CL_INT32, std::nanf("")), CL_INVALID_VALUE);
  EXPECT_EQ(declare(nullptr, WW_CL_INT32, 0.1F), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(MemoryTest, DeviceMemoryIsGivenBackAndDestructorsRunInReverse) {
  const auto before = fake::state().live_allocations;
  cl_mem memory = buffer(64);
  static std::string order;
  order.clear();
  const auto note = [](cl_mem, void* letter) { order += *static_cast<char*>(letter); };
  char a = 'a';
  char b = 'b';
  EXPECT_EQ(cl.clSetMemObjectDestructorCallback(memory, note, &a), CL_SUCCESS);
  EXPECT_EQ(cl.clSetMemObjectDestructorCallback(memory, note, &b), CL_SUCCESS);
  EXPECT_EQ(fake::state().live_allocations, before + 1);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
  EXPECT_EQ(order, "ba");
  EXPECT_EQ(fake::state().live_allocations, before);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_INVALID_MEM_OBJECT);
}

TEST_F(MemoryTest, SubBufferIsAWindowThatKeepsItsParent) {
  auto bytes = counting(1024);
  cl_mem parent = buffer(1024, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.data());
  cl_int code = -1;
  const cl_buffer_region region{256, 64};
  cl_mem window = cl.clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(parent), CL_SUCCESS);
  std::vector<unsigned char> back(64);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, window, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin() + 256));
  const cl_buffer_region nested{0, 32};
  EXPECT_EQ(cl.clCreateSubBuffer(window, 0, CL_BUFFER_CREATE_TYPE_REGION, &nested, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clReleaseMemObject(window), CL_SUCCESS);
}

TEST_F(MemoryTest, SubBufferRefusesBadRegions) {
  cl_mem parent = buffer(1024, CL_MEM_READ_ONLY);
  cl_int code = 0;
  const auto expect = [&](cl_buffer_region region, cl_mem_flags flags, cl_int wanted) {
    EXPECT_EQ(cl.clCreateSubBuffer(parent, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &code),
              nullptr);
    EXPECT_EQ(code, wanted);
  };
  expect({0, 0}, 0, CL_INVALID_BUFFER_SIZE);
  expect({0, 1025}, 0, CL_INVALID_VALUE);
  expect({4, 8}, 0, CL_MISALIGNED_SUB_BUFFER_OFFSET);
  expect({0, 8}, CL_MEM_WRITE_ONLY, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clReleaseMemObject(parent), CL_SUCCESS);
}

TEST_F(TransferTest, WriteThenReadGivesTheSameBytes) {
  auto bytes = counting(100);
  cl_mem memory = buffer(200);
  EXPECT_EQ(
      cl.clEnqueueWriteBuffer(queue, memory, CL_FALSE, 50, 100, bytes.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  std::vector<unsigned char> back(100);
  EXPECT_EQ(
      cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 50, 100, back.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, RefusesBadArguments) {
  cl_mem memory = buffer(16);
  char data[32];
  const auto read = [&](cl_command_queue q, cl_mem m, std::size_t offset, std::size_t size,
                        void* pointer) {
    return cl.clEnqueueReadBuffer(q, m, CL_TRUE, offset, size, pointer, 0, nullptr, nullptr);
  };
  EXPECT_EQ(read(nullptr, memory, 0, 4, data), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(read(queue, nullptr, 0, 4, data), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(read(queue, reinterpret_cast<cl_mem>(context), 0, 4, data), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(read(queue, memory, 0, 4, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(read(queue, memory, 8, 9, data), CL_INVALID_VALUE);
  EXPECT_EQ(read(queue, memory, SIZE_MAX, 2, data), CL_INVALID_VALUE);
  cl_event event{};
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 4, data, 1, nullptr, nullptr),
            CL_INVALID_EVENT_WAIT_LIST);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 4, data, 1, &event, nullptr),
            CL_INVALID_EVENT_WAIT_LIST);
  cl_mem hidden = buffer(16, CL_MEM_HOST_NO_ACCESS);
  EXPECT_EQ(read(queue, hidden, 0, 4, data), CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clReleaseMemObject(hidden), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, CopyMovesBytesAndRefusesOverlap) {
  auto bytes = counting(64);
  cl_mem a = buffer(64, CL_MEM_COPY_HOST_PTR, bytes.data());
  cl_mem b = buffer(64);
  EXPECT_EQ(cl.clEnqueueCopyBuffer(queue, a, b, 8, 16, 32, 0, nullptr, nullptr), CL_SUCCESS);
  std::vector<unsigned char> back(32);
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, b, CL_TRUE, 16, 32, back.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin() + 8));
  EXPECT_EQ(cl.clEnqueueCopyBuffer(queue, a, a, 0, 16, 17, 0, nullptr, nullptr),
            CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(cl.clEnqueueCopyBuffer(queue, a, a, 0, 16, 16, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(a), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(b), CL_SUCCESS);
}

TEST_F(TransferTest, FillRepeatsThePattern) {
  cl_mem memory = buffer(32);
  const cl_ushort pattern = 0xbeef;
  EXPECT_EQ(cl.clEnqueueFillBuffer(queue, memory, &pattern, 2, 0, 32, 0, nullptr, nullptr),
            CL_SUCCESS);
  cl_ushort back[16];
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 32, back, 0, nullptr, nullptr),
            CL_SUCCESS);
  for (const auto value : back) EXPECT_EQ(value, pattern);
  EXPECT_EQ(cl.clEnqueueFillBuffer(queue, memory, &pattern, 3, 0, 30, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueFillBuffer(queue, memory, &pattern, 2, 1, 2, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, RectangleReadMatchesARowByRowReference) {
  auto bytes = counting(4 * 8 * 16);
  cl_mem memory = buffer(bytes.size(), CL_MEM_COPY_HOST_PTR, bytes.data());
  const std::size_t buffer_origin[] = {3, 2, 1};
  const std::size_t host_origin[] = {1, 1, 0};
  const std::size_t region[] = {5, 3, 2};
  std::vector<unsigned char> host(2 * 6 * 10, 0);
  EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, memory, CL_TRUE, buffer_origin, host_origin, region,
                                       16, 16 * 8, 10, 60, host.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 3; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        EXPECT_EQ(host[z * 60 + (y + 1) * 10 + x + 1], bytes[(z + 1) * 128 + (y + 2) * 16 + x + 3]);
      }
    }
  }
  // A region that no memory holds, with products that do not fit 64 bits.
  const std::size_t huge[] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, memory, CL_TRUE, huge, host_origin, region, 16, 128,
                                       10, 60, host.data(), 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, memory, CL_TRUE, buffer_origin, host_origin, region,
                                       4, 128, 10, 60, host.data(), 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, RectangleCopyWithinABufferRefusesOverlapOnly) {
  auto bytes = counting(256);
  cl_mem memory = buffer(256, CL_MEM_COPY_HOST_PTR, bytes.data());
  const std::size_t left[] = {0, 0, 0};
  const std::size_t right[] = {8, 0, 0};
  const std::size_t near[] = {4, 0, 0};
  const std::size_t region[] = {8, 16, 1};
  EXPECT_EQ(cl.clEnqueueCopyBufferRect(queue, memory, memory, left, near, region, 16, 0, 16, 0, 0,
                                       nullptr, nullptr),
            CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(cl.clEnqueueCopyBufferRect(queue, memory, memory, left, right, region, 16, 0, 16, 0, 0,
                                       nullptr, nullptr),
            CL_SUCCESS);
  std::vector<unsigned char> back(256);
  EXPECT_EQ(
      cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 256, back.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(back[i], bytes[i % 16 < 8 ? i : i - 8]);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, MapShowsTheBytesAndUnmapTellsTheDevice) {
  auto bytes = counting(64);
  cl_mem memory = buffer(64, CL_MEM_COPY_HOST_PTR, bytes.data());
  cl_int code = -1;
  auto* view = static_cast<unsigned char*>(cl.clEnqueueMapBuffer(
      queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 16, 8, 0, nullptr, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(view[0], bytes[16]);
  view[0] = 200;
  cl_uint count = 0;
  EXPECT_EQ(cl.clGetMemObjectInfo(memory, CL_MEM_MAP_COUNT, sizeof count, &count, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(count, 1u);
  const auto before = fake::state().host_writes;
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, memory, view, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(fake::state().host_writes, before + 1);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, memory, view, 0, nullptr, nullptr), CL_INVALID_VALUE);
  unsigned char back = 0;
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 16, 1, &back, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(back, 200);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

TEST_F(TransferTest, MapOfHostMemoryGivesTheApplicationsOwnPointer) {
  std::vector<unsigned char> own(64, 1);
  cl_mem memory = buffer(64, CL_MEM_USE_HOST_PTR, own.data());
  const unsigned char pattern = 9;
  EXPECT_EQ(cl.clEnqueueFillBuffer(queue, memory, &pattern, 1, 0, 64, 0, nullptr, nullptr),
            CL_SUCCESS);
  cl_int code = -1;
  void* view = cl.clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 4, 60, 0,
                                     nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(view, own.data() + 4);
  EXPECT_EQ(own[4], 9);
  own[5] = 77;
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, memory, view, 0, nullptr, nullptr), CL_SUCCESS);
  unsigned char back = 0;
  EXPECT_EQ(cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 5, 1, &back, 0, nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(back, 77);
  EXPECT_EQ(cl.clReleaseMemObject(memory), CL_SUCCESS);
}

}  // namespace
}  // namespace ww::sim::driver::transfer_test
