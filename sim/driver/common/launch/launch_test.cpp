#include "common/launch/launch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "common/launch/findings.hpp"

namespace ww::sim::driver::launch_test {
namespace {

std::uint64_t items(const Extent& e) {
  return std::uint64_t{e[0]} * e[1] * e[2];
}

TEST(LocalSize, TakesWholeWavefrontsWhereTheyFit) {
  EXPECT_EQ(choose_local_size({1024, 1, 1}, 256, 64), (Extent{256, 1, 1}));
  EXPECT_EQ(choose_local_size({192, 1, 1}, 256, 64), (Extent{192, 1, 1}));
  EXPECT_EQ(choose_local_size({320, 1, 1}, 256, 64), (Extent{64, 1, 1}));
  EXPECT_EQ(choose_local_size({512, 512, 1}, 256, 64), (Extent{64, 4, 1}));
}

TEST(LocalSize, DividesEveryExtentEvenly) {
  for (const Extent global : {Extent{1, 1, 1},
                              {7, 1, 1},
                              {509, 1, 1},
                              {100, 30, 7},
                              {1, 999, 2},
                              {3, 1, 1000},
                              {4294967295u, 1, 1}}) {
    const auto local = choose_local_size(global, 256, 64);
    EXPECT_LE(items(local), 256u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(global[i] % local[i], 0u);
  }
}

TEST(LocalSize, ObeysASmallerLimit) {
  EXPECT_EQ(choose_local_size({1024, 1, 1}, 32, 64), (Extent{32, 1, 1}));
  EXPECT_EQ(choose_local_size({1000, 1, 1}, 32, 64), (Extent{25, 1, 1}));
  EXPECT_EQ(choose_local_size({1024, 1, 1}, 128, 64), (Extent{128, 1, 1}));
  EXPECT_EQ(choose_local_size({512, 512, 1}, 32, 64), (Extent{32, 1, 1}));
  EXPECT_EQ(choose_local_size({512, 512, 2}, 100, 16), (Extent{16, 4, 1}));
}

binpatch::KernelArgument hidden(const std::string& kind, std::uint32_t offset, std::uint32_t size) {
  binpatch::KernelArgument argument;
  argument.value_kind = kind;
  argument.offset = offset;
  argument.size = size;
  return argument;
}

template <class T>
T read(const std::vector<std::byte>& bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

TEST(HiddenArguments, OfBothCodeObjectVersionsAreWrittenInTheirSizes) {
  const std::vector<binpatch::KernelArgument> all{
      hidden("hidden_block_count_x", 0, 4),    hidden("hidden_block_count_y", 4, 4),
      hidden("hidden_group_size_x", 8, 2),     hidden("hidden_group_size_y", 10, 2),
      hidden("hidden_remainder_x", 12, 2),     hidden("hidden_none", 16, 8),
      hidden("hidden_global_offset_x", 24, 8), hidden("hidden_global_offset_z", 32, 8),
      hidden("hidden_grid_dims", 40, 2),       hidden("hidden_printf_buffer", 48, 8)};
  std::vector<std::byte> kernarg(56, std::byte{0});
  LaunchShape shape;
  shape.dimensions = 2;
  shape.global = {640, 12, 1};
  shape.local = {64, 4, 1};
  shape.offset = {1000, 0, 7};
  write_hidden_arguments(all, shape, 0, kernarg);
  EXPECT_EQ(read<std::uint32_t>(kernarg, 0), 10u);
  EXPECT_EQ(read<std::uint32_t>(kernarg, 4), 3u);
  EXPECT_EQ(read<std::uint16_t>(kernarg, 8), 64u);
  EXPECT_EQ(read<std::uint16_t>(kernarg, 10), 4u);
  EXPECT_EQ(read<std::uint16_t>(kernarg, 12), 0u);
  EXPECT_EQ(read<std::uint64_t>(kernarg, 24), 1000u);
  EXPECT_EQ(read<std::uint64_t>(kernarg, 32), 7u);
  EXPECT_EQ(read<std::uint16_t>(kernarg, 40), 2u);
  EXPECT_EQ(read<std::uint64_t>(kernarg, 48), 0u);
}

TEST(HiddenArguments, OutsideTheSegmentAreNotWritten) {
  const auto argument = hidden("hidden_global_offset_x", 4, 8);
  std::vector<std::byte> kernarg(8, std::byte{0x5a});
  LaunchShape shape;
  write_hidden_arguments(std::span(&argument, 1), shape, 0, kernarg);
  for (const auto byte : kernarg) EXPECT_EQ(byte, std::byte{0x5a});
}

TEST(HiddenArguments, AreEachKnownOrNamed) {
  // All that LLVM has (User Guide for AMDGPU Backend, code object versions 3 to 6).
  std::vector<binpatch::KernelArgument> all;
  for (const char* name :
       {"global_offset_x",    "global_offset_y", "global_offset_z", "none",
        "printf_buffer",      "hostcall_buffer", "default_queue",   "completion_action",
        "multigrid_sync_arg", "block_count_x",   "block_count_y",   "block_count_z",
        "group_size_x",       "group_size_y",    "group_size_z",    "remainder_x",
        "remainder_y",        "remainder_z",     "grid_dims",       "heap_v1",
        "dynamic_lds_size",   "private_base",    "shared_base",     "queue_ptr"}) {
    all.push_back(hidden(std::string("hidden_") + name, 0, 8));
  }
  EXPECT_EQ(unknown_hidden_argument(all), "");
  EXPECT_EQ(null_hidden_arguments(all), "hidden_default_queue, hidden_completion_action");
  for (const char* name : {"hidden_tomorrow", "hidden_tomorrow_x", "hidden_block_count_w"}) {
    all.push_back(hidden(name, 0, 8));
    EXPECT_EQ(unknown_hidden_argument(all), name);
    all.pop_back();
  }
}

binpatch::Kernel spinning() {
  binpatch::Kernel kernel;
  kernel.name = "spin";
  return kernel;
}

TEST(WhyItFailed, NamesTheKernelOnce) {
  const Error by_the_chip{ErrorCode::device_error, "it hangs", "kernel spin, wave 1"};
  EXPECT_EQ(why_it_failed(spinning(), by_the_chip), "kernel spin, wave 1: it hangs");
  const Error by_the_driver{ErrorCode::out_of_range, "no room", ""};
  EXPECT_EQ(why_it_failed(spinning(), by_the_driver), "kernel 'spin': no room");
}

TEST(WhyItFailed, NamesTheNullArgumentThatTheKernelFollowed) {
  binpatch::Kernel kernel = spinning();
  const auto fault = [](const char* address) {
    return Error{ErrorCode::device_error,
                 std::string("memory fault: scalar load of 4 bytes at address ") + address, ""};
  };
  EXPECT_EQ(why_it_failed(kernel, fault("0x4")).find("null"), std::string::npos);
  kernel.arguments = {hidden("hidden_default_queue", 0, 8)};
  EXPECT_NE(why_it_failed(kernel, fault("0x4")).find("null here: hidden_default_queue"),
            std::string::npos);
  EXPECT_EQ(why_it_failed(kernel, fault("0x12340004")).find("null"), std::string::npos);
}

}  // namespace
}  // namespace ww::sim::driver::launch_test
