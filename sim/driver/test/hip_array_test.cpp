// Arrays: made, described, copied to and from. Nothing here runs a kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "hip_texture_declarations.hpp"
#include "hip_world.hpp"

namespace ww::sim::driver {
namespace {

constexpr int kOutOfMemory = 2;
constexpr int kInvalidPitch = 12;
constexpr unsigned kLayered = 1;

hipChannelFormatDesc uints(int channels) {
  return {32, channels > 1 ? 32 : 0, channels > 2 ? 32 : 0, channels > 2 ? 32 : 0,
          hipChannelFormatKindUnsigned};
}

hipArray_t array_of(int channels, hipExtent extent, unsigned flags = 0) {
  const hipChannelFormatDesc descriptor = uints(channels);
  hipArray_t array = nullptr;
  EXPECT_EQ(hipMalloc3DArray(&array, &descriptor, extent, flags), 0);
  return array;
}

std::vector<std::uint32_t> counted(std::size_t words, std::uint32_t first = 0) {
  std::vector<std::uint32_t> values(words);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<std::uint32_t> rows_of(hipArray_t array, std::size_t row_words, std::size_t rows) {
  std::vector<std::uint32_t> words(row_words * rows, 0xABCD);
  EXPECT_EQ(hipMemcpy2DFromArray(words.data(), row_words * 4, array, 0, 0, row_words * 4, rows,
                                 hipMemcpyDeviceToHost),
            0);
  return words;
}

TEST_F(Hip, CopiesAPartOfRowsToAnArrayAndBack) {
  constexpr std::size_t kWidth = 37, kHeight = 6;  // elements of two words
  const hipArray_t array = array_of(2, {kWidth, kHeight, 0});
  const auto all = counted(2 * kWidth * kHeight);
  ASSERT_EQ(hipMemcpy2DToArray(array, 0, 0, all.data(), 2 * kWidth * 4, 2 * kWidth * 4, kHeight,
                               hipMemcpyHostToDevice),
            0);
  EXPECT_EQ(rows_of(array, 2 * kWidth, kHeight), all);
  // Three rows of four elements from memory of another pitch.
  const auto part = counted(3 * 20, 1000);
  ASSERT_EQ(hipMemcpy2DToArray(array, 5 * 8, 2, part.data(), 20 * 4, 4 * 8, 3, hipMemcpyDefault),
            0);
  auto wanted = all;
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 8; ++i) {
      wanted[(2 + row) * 2 * kWidth + 10 + i] = static_cast<std::uint32_t>(1000 + row * 20 + i);
    }
  }
  EXPECT_EQ(rows_of(array, 2 * kWidth, kHeight), wanted);
  // A part of it to device memory and to another array.
  auto* device = allocate<std::uint32_t>(4 * 16);
  ASSERT_EQ(hipMemset(device, 0, 4 * 64), 0);
  ASSERT_EQ(hipMemcpy2DFromArrayAsync(device, 64, array, 36 * 8, 1, 8, 4, hipMemcpyDeviceToDevice,
                                      nullptr),
            0);
  std::uint32_t words[64];
  ASSERT_EQ(hipMemcpy(words, device, sizeof words, hipMemcpyDeviceToHost), 0);
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(words[row * 16], (1 + row) * 2 * kWidth + 72);
    EXPECT_EQ(words[row * 16 + 2], 0U);
  }
  const hipArray_t other = array_of(1, {2 * kWidth, kHeight, 0});
  ASSERT_EQ(hipMemcpy2DToArray_spt(other, 0, 0, all.data(), 2 * kWidth * 4, 2 * kWidth * 4, kHeight,
                                   hipMemcpyHostToDevice),
            0);
  ASSERT_EQ(hipMemcpy2DArrayToArray(other, 40, 2, array, 40, 2, 32, 3, hipMemcpyDeviceToDevice), 0);
  EXPECT_EQ(rows_of(other, 2 * kWidth, kHeight), wanted);
  EXPECT_EQ(hipFreeArray(other), 0);
  EXPECT_EQ(hipFreeArray(array), 0);
}

TEST_F(Hip, CopiesBytesInTheOrderOfAnArraysRows) {
  constexpr std::size_t kWidth = 10, kHeight = 5;
  const hipArray_t array = array_of(1, {kWidth, kHeight, 0});
  auto wanted = counted(kWidth * kHeight);
  ASSERT_EQ(hipMemcpyToArray(array, 0, 0, wanted.data(), wanted.size() * 4, hipMemcpyHostToDevice),
            0);
  EXPECT_EQ(rows_of(array, kWidth, kHeight), wanted);
  // The end of a row, two rows, and the beginning of another.
  const auto words = counted(3 + 20 + 4, 500);
  ASSERT_EQ(
      hipMemcpyToArray(array, 7 * 4, 1, words.data(), words.size() * 4, hipMemcpyHostToDevice), 0);
  std::copy(words.begin(), words.end(), wanted.begin() + 17);
  EXPECT_EQ(rows_of(array, kWidth, kHeight), wanted);
  std::vector<std::uint32_t> read(words.size());
  ASSERT_EQ(
      hipMemcpyFromArray(read.data(), array, 7 * 4, 1, read.size() * 4, hipMemcpyDeviceToHost), 0);
  EXPECT_EQ(read, words);
  EXPECT_EQ(hipMemcpyToArray(array, 0, 1, wanted.data(), 41 * 4, hipMemcpyHostToDevice),
            kInvalidValue);

  const hipArray_t line = array_of(1, {64, 0, 0});
  const auto sixteen = counted(16, 70);
  ASSERT_EQ(hipMemcpyHtoA(line, 8, sixteen.data(), 64), 0);
  auto* device = allocate<std::uint32_t>(16);
  ASSERT_EQ(hipMemcpyAtoD(device, line, 12, 8), 0);
  ASSERT_EQ(hipMemcpyDtoA(line, 252, device, 4), 0);
  ASSERT_EQ(hipMemcpyAtoA(line, 0, line, 252, 4), 0);
  std::uint32_t ends[2];
  ASSERT_EQ(hipMemcpyAtoH(&ends[0], line, 0, 4), 0);
  ASSERT_EQ(hipMemcpyAtoH(&ends[1], line, 16, 4), 0);
  EXPECT_THAT(ends, ::testing::ElementsAre(71, 72));
  EXPECT_EQ(hipMemcpyHtoA(line, 252, sixteen.data(), 8), kInvalidValue);
  EXPECT_EQ(hipMemcpyHtoA(line, SIZE_MAX, sixteen.data(), 8), kInvalidValue);
}

TEST_F(Hip, CopiesBoxesOfElementsBetweenArraysAndMemory) {
  constexpr std::size_t kX = 9, kY = 4, kZ = 3;
  const auto all = counted(kX * kY * kZ);
  const hipArray_t from = array_of(1, {kX, kY, kZ});
  hipMemcpy3DParms whole{};
  whole.srcPtr = {const_cast<std::uint32_t*>(all.data()), kX * 4, kX * 4, kY};
  whole.dstArray = from;
  whole.extent = {kX, kY, kZ};
  whole.kind = hipMemcpyHostToDevice;
  ASSERT_EQ(hipMemcpy3D(&whole), 0);

  const hipArray_t to = array_of(1, {kX, kY, kZ});
  hipMemcpy3DParms part{};
  part.srcArray = from;
  part.srcPos = {1, 2, 1};
  part.dstArray = to;
  part.dstPos = {4, 0, 0};
  part.extent = {5, 2, 2};
  part.kind = hipMemcpyDeviceToDevice;
  ASSERT_EQ(hipMemcpy3D(&part), 0);
  std::vector<std::uint32_t> read(5 * 2 * 2);
  hipMemcpy3DParms back{};
  back.srcArray = to;
  back.srcPos = {4, 0, 0};
  back.dstPtr = {read.data(), 5 * 4, 5 * 4, 2};
  back.extent = part.extent;
  back.kind = hipMemcpyDeviceToHost;
  ASSERT_EQ(hipMemcpy3D(&back), 0);
  for (std::size_t z = 0; z < 2; ++z) {
    for (std::size_t y = 0; y < 2; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        EXPECT_EQ(read[(z * 2 + y) * 5 + x], ((z + 1) * kY + y + 2) * kX + x + 1);
      }
    }
  }
  // Boxes that leave an array, and sides that are two things or nothing.
  const auto code = [&](const std::function<void(hipMemcpy3DParms&)>& change) {
    hipMemcpy3DParms changed = part;
    change(changed);
    return hipMemcpy3D(&changed);
  };
  EXPECT_EQ(code([](auto& p) { p.dstPos.x = 5; }), kInvalidValue);
  EXPECT_EQ(code([](auto& p) { p.srcPos.y = 3; }), kInvalidValue);
  EXPECT_EQ(code([](auto& p) { p.srcPos.z = 2; }), kInvalidValue);
  EXPECT_EQ(code([](auto& p) { p.extent.width = SIZE_MAX; }), kInvalidValue);
  EXPECT_EQ(code([&](auto& p) { p.srcPtr = whole.srcPtr; }), kInvalidValue);
  EXPECT_EQ(code([](auto& p) { p.dstArray = nullptr; }), kInvalidValue);
  const hipArray_t pairs = array_of(2, {kX, kY, kZ});
  EXPECT_EQ(code([&](auto& p) { p.dstArray = pairs; }), kInvalidValue);
  ASSERT_EQ(hipFreeArray(to), 0);
  EXPECT_EQ(hipMemcpy3D(&part), kInvalidValue);
}

TEST_F(Hip, CopiesByMemcpyParam2d) {
  const hipArray_t array = array_of(1, {8, 8, 0});
  const auto host = counted(64);
  hip_Memcpy2D in{};
  in.srcMemoryType = hipMemoryTypeHost;
  in.srcHost = host.data();
  in.srcPitch = 32;
  in.srcXInBytes = 8;
  in.srcY = 1;
  in.dstMemoryType = hipMemoryTypeArray;
  in.dstArray = array;
  in.WidthInBytes = 16;
  in.Height = 2;
  ASSERT_EQ(hipMemcpyParam2D(&in), 0);
  auto* device = allocate<std::uint32_t>(8);
  hip_Memcpy2D out{};
  out.srcMemoryType = hipMemoryTypeArray;
  out.srcArray = array;
  out.dstMemoryType = hipMemoryTypeDevice;
  out.dstDevice = device;
  out.WidthInBytes = 16;
  out.Height = 2;
  ASSERT_EQ(hipMemcpyParam2D(&out), 0);
  std::uint32_t read[8];
  ASSERT_EQ(hipMemcpy(read, device, sizeof read, hipMemcpyDeviceToHost), 0);
  EXPECT_THAT(read, ::testing::ElementsAre(10, 11, 12, 13, 18, 19, 20, 21));
  out.srcY = 7;
  EXPECT_EQ(hipMemcpyParam2D(&out), kInvalidValue);
  out.srcY = 0;
  out.dstPitch = 8;
  EXPECT_EQ(hipMemcpyParam2D(&out), kInvalidValue);
  out.dstPitch = 0;
  out.srcMemoryType = 77;
  EXPECT_EQ(hipMemcpyParam2D(&out), kInvalidValue);
  EXPECT_EQ(hipMemcpyParam2D(nullptr), kInvalidValue);
}

TEST_F(Hip, CapturesAndBuildsGraphsOfArrayCopies) {
  const hipArray_t array = array_of(1, {16, 1, 0});
  std::vector<std::uint32_t> host = counted(16, 5);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), 0);
  ASSERT_EQ(hipStreamBeginCapture(stream, 0), 0);
  ASSERT_EQ(
      hipMemcpy2DToArrayAsync(array, 0, 0, host.data(), 64, 64, 1, hipMemcpyHostToDevice, stream),
      0);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), 0);
  std::vector<std::uint32_t> read(16);
  hipMemcpy3DParms back{};
  back.srcArray = array;
  back.dstPtr = {read.data(), 64, 64, 1};
  back.extent = {16, 1, 1};
  back.kind = hipMemcpyDeviceToHost;
  hipGraphNode_t first = nullptr, node = nullptr;
  std::size_t count = 1;
  ASSERT_EQ(hipGraphGetNodes(graph, &first, &count), 0);
  ASSERT_EQ(hipGraphAddMemcpyNode(&node, graph, &first, 1, &back), 0);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), 0);
  ASSERT_EQ(hipGraphLaunch(executable, stream), 0);
  EXPECT_EQ(read, host);
  // The graph has the array's memory, which is gone.
  ASSERT_EQ(hipFreeArray(array), 0);
  EXPECT_EQ(hipGraphLaunch(executable, stream), kInvalidValue);
  EXPECT_EQ(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &back), kInvalidValue);
  ASSERT_EQ(hipGraphExecDestroy(executable), 0);
  ASSERT_EQ(hipGraphDestroy(graph), 0);
  ASSERT_EQ(hipStreamDestroy(stream), 0);
}

TEST_F(Hip, MakesArraysOfEachFormatAndDescribesThem) {
  struct Named {
    int bits, kind, format;
  };
  for (const Named& named : {Named{8, 1, 0x01},
                             {16, 1, 0x02},
                             {32, 1, 0x03},
                             {8, 0, 0x08},
                             {16, 0, 0x09},
                             {32, 0, 0x0a},
                             {16, 2, 0x10},
                             {32, 2, 0x20}}) {
    for (const int channels : {1, 2, 4}) {
      const auto channel = [&](int n) { return n <= channels ? named.bits : 0; };
      const auto descriptor =
          hipCreateChannelDesc(channel(1), channel(2), channel(3), channel(4), named.kind);
      hipArray_t array = nullptr;
      ASSERT_EQ(hipMallocArray(&array, &descriptor, 7, 3, 2), 0) << named.bits << " " << named.kind;
      hipChannelFormatDesc told{};
      ASSERT_EQ(hipGetChannelDesc(&told, array), 0);
      EXPECT_EQ(std::memcmp(&told, &descriptor, sizeof told), 0);
      HIP_ARRAY_DESCRIPTOR plain{};
      ASSERT_EQ(hipArrayGetDescriptor(&plain, array), 0);
      EXPECT_EQ(plain.Format, named.format);
      EXPECT_EQ(plain.NumChannels, static_cast<unsigned>(channels));
      hipExtent extent{};
      unsigned flags = 0;
      ASSERT_EQ(hipArrayGetInfo(nullptr, &extent, &flags, array), 0);
      EXPECT_EQ(extent.width, 7U);
      EXPECT_EQ(extent.height, 3U);
      EXPECT_EQ(extent.depth, 0U);
      EXPECT_EQ(flags, 2U);
      EXPECT_EQ(hipArrayDestroy(array), 0);
      EXPECT_EQ(hipGetChannelDesc(&told, array), kInvalidHandle);
    }
  }
  const HIP_ARRAY3D_DESCRIPTOR wanted{5, 6, 7, HIP_AD_FORMAT_HALF, 4, kLayered};
  hipArray_t array = nullptr;
  ASSERT_EQ(hipArray3DCreate(&array, &wanted), 0);
  HIP_ARRAY3D_DESCRIPTOR told{};
  ASSERT_EQ(hipArray3DGetDescriptor(&told, array), 0);
  EXPECT_EQ(told.Width, wanted.Width);
  EXPECT_EQ(told.Height, wanted.Height);
  EXPECT_EQ(told.Depth, wanted.Depth);
  EXPECT_EQ(told.Format, wanted.Format);
  EXPECT_EQ(told.NumChannels, wanted.NumChannels);
  EXPECT_EQ(told.Flags, wanted.Flags);
  const HIP_ARRAY_DESCRIPTOR flat{5, 6, HIP_AD_FORMAT_UNSIGNED_INT8, 2};
  ASSERT_EQ(hipArrayCreate(&array, &flat), 0);
}

TEST_F(Hip, RefusesArraysThatAreNone) {
  hipArray_t array = nullptr;
  const hipChannelFormatDesc good = uints(1);
  for (const hipChannelFormatDesc& bad : {hipChannelFormatDesc{32, 32, 32, 0, 1},
                                          {32, 16, 0, 0, 1},
                                          {0, 32, 0, 0, 1},
                                          {64, 0, 0, 0, 1},
                                          {8, 0, 0, 0, 2},
                                          {32, 0, 32, 0, 1},
                                          {32, 0, 0, 0, 3},
                                          {0, 0, 0, 0, 0}}) {
    EXPECT_EQ(hipMallocArray(&array, &bad, 8, 8, 0), kInvalidValue);
  }
  EXPECT_EQ(hipMallocArray(nullptr, &good, 8, 8, 0), kInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, nullptr, 8, 8, 0), kInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &good, 0, 8, 0), kInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &good, 16385, 8, 0), kInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &good, 8, 16385, 0), kInvalidValue);
  EXPECT_EQ(hipMallocArray(&array, &good, 8, 8, 64), kInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &good, {8, 0, 8}, 0), kInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &good, {8, 8, 0}, kLayered), kInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &good, {8, 8, 8193}, 0), kInvalidValue);
  EXPECT_EQ(hipMalloc3DArray(&array, &good, {16384, 16384, 8192}, 0), kOutOfMemory);
  EXPECT_EQ(hipMalloc3DArray(&array, &good, {8, 8, 6}, 4), kNotSupported);  // a cubemap
  EXPECT_EQ(hipMallocArray(&array, &good, 8, 8, 8), 0);                     // tex2Dgather
  EXPECT_EQ(hipMallocArray(&array, &good, 8, 0, 8), kInvalidValue);         // of planes alone
  EXPECT_EQ(hipArrayCreate(&array, nullptr), kInvalidValue);
  const HIP_ARRAY_DESCRIPTOR odd{8, 8, 0x77, 1};
  EXPECT_EQ(hipArrayCreate(&array, &odd), kInvalidValue);
  int no_array = 0;
  const auto stranger = reinterpret_cast<hipArray_t>(&no_array);
  EXPECT_EQ(hipFreeArray(nullptr), kInvalidValue);
  EXPECT_EQ(hipFreeArray(stranger), kContextIsDestroyed);
  EXPECT_EQ(hipFreeArray(nullptr), kInvalidValue);
  EXPECT_EQ(hipArrayGetInfo(nullptr, nullptr, nullptr, stranger), kInvalidHandle);
}

TEST_F(Hip, ChecksCopiesOfArrays) {
  const hipArray_t array = array_of(1, {8, 4, 0});
  std::uint32_t host[64] = {};
  const auto to = [&](hipArray_t target, std::size_t x, std::size_t y, const void* from,
                      std::size_t pitch, std::size_t width, std::size_t rows, int kind) {
    return hipMemcpy2DToArray(target, x, y, from, pitch, width, rows, kind);
  };
  EXPECT_EQ(to(array, 0, 0, host, 32, 32, 4, hipMemcpyHostToDevice), 0);
  EXPECT_EQ(to(array, 0, 0, host, 32, 0, 4, hipMemcpyHostToDevice), 0);
  EXPECT_EQ(to(nullptr, 0, 0, host, 32, 32, 4, hipMemcpyHostToDevice), kInvalidHandle);
  EXPECT_EQ(to(array, 0, 0, nullptr, 32, 32, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(to(array, 4, 0, host, 32, 32, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(to(array, 0, 1, host, 32, 32, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(to(array, SIZE_MAX, 0, host, 32, 32, 1, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(to(array, 0, 0, host, 16, 32, 4, hipMemcpyHostToDevice), kInvalidPitch);
  EXPECT_EQ(to(array, 0, 0, host, 32, 32, 4, hipMemcpyDeviceToHost), kInvalidValue);
  EXPECT_EQ(to(array, 0, 0, host, 32, 32, 4, 9), kInvalidDirection);
  EXPECT_EQ(hipMemcpy2DFromArray(nullptr, 32, array, 0, 0, 32, 4, hipMemcpyDeviceToHost),
            kInvalidValue);
  EXPECT_EQ(hipMemcpy2DFromArray(host, 32, nullptr, 0, 0, 32, 4, hipMemcpyDeviceToHost),
            kInvalidHandle);
  EXPECT_EQ(hipMemcpyFromArray(host, array, 0, 5, 4, hipMemcpyDeviceToHost), kInvalidValue);
  ASSERT_EQ(hipFreeArray(array), 0);
  EXPECT_EQ(to(array, 0, 0, host, 32, 32, 4, hipMemcpyHostToDevice), kInvalidValue);
  EXPECT_EQ(hipMemcpyAtoH(host, array, 0, 4), kInvalidValue);
  EXPECT_EQ(hipFreeArray(array), kContextIsDestroyed);
}

TEST_F(Hip, AnArraysMemoryGoesWithItsHandle) {
  std::size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &total), 0);
  const hipArray_t array = array_of(4, {256, 256, 0});
  ASSERT_EQ(hipMemGetInfo(&during, &total), 0);
  EXPECT_EQ(before - during, 256U * 256 * 16);
  // Up to HIP 5 a program sees where the memory is.
  void* memory = nullptr;
  std::memcpy(&memory, array, sizeof memory);
  EXPECT_EQ(hipFree(memory), kInvalidValue);
  EXPECT_EQ(hipFree(array), kInvalidValue);
  ASSERT_EQ(hipFreeArray(array), 0);
  ASSERT_EQ(hipMemGetInfo(&after, &total), 0);
  EXPECT_EQ(after, before);
  const hipArray_t lost = array_of(1, {8, 8, 0});
  ASSERT_EQ(hipDeviceReset(), 0);
  EXPECT_EQ(hipFreeArray(lost), kContextIsDestroyed);
  ASSERT_EQ(hipModuleLoadData(&module_, code_object().data()), 0);
}

}  // namespace
}  // namespace ww::sim::driver
