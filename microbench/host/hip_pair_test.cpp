// A host over the two dies of a package, on the stub of HIP's runtime with the virtual MI250X. Its
// kernels fault where they read memory of a device to which they have no access.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/pinning.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/microbench/hosts.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kBytes = 4096;
constexpr std::size_t kGroupSize = 256;
constexpr const char* kSecondDie = "0000:04:00.0";

class HipPair : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("WW_STUB_HIP_CHIP", "mi250x", 1); }

  static Result<std::unique_ptr<LoadedKernel>> copy_kernel(ComputeHost& host) {
    WW_ASSIGN(pinning, make_pinning(host.facts().target));
    kernels::Macros macros;
    macros.target = pinning->target();
    macros.group_size = kGroupSize;
    WW_ASSIGN(source, kernels::find_source("known_bytes"));
    WW_ASSIGN(text, kernels::program_text(source, macros));
    WW_ASSIGN(binary, host.build(text, "known_bytes"));
    return host.load(binary, "known_bytes");
  }
  static Status set(LoadedKernel& copy, const DeviceBuffer& from, const DeviceBuffer& to) {
    WW_TRY(copy.set(0, from));
    WW_TRY(copy.set(1, to));
    return copy.set(2, static_cast<std::uint32_t>(kBytes / 16));
  }
};

// First: nothing takes access back.
TEST_F(HipPair, DiesOpenedOneByOneDoNotReachEachOthersMemory) {
  auto second = open_host("hip:1");
  ASSERT_TRUE(second) << second.error().text();
  const auto there = (*second)->create_buffer(kBytes);
  ASSERT_TRUE(there) << there.error().text();
  auto first = open_host("hip:0");
  ASSERT_TRUE(first) << first.error().text();
  EXPECT_EQ((*first)->parts(), 1);
  auto copy = copy_kernel(**first);
  ASSERT_TRUE(copy) << copy.error().text();
  const auto here = (*first)->create_buffer(kBytes);
  ASSERT_TRUE(here) << here.error().text();
  ASSERT_TRUE(set(**copy, **there, **here));
  ASSERT_TRUE((*copy)->launch(1, kGroupSize));
  EXPECT_EQ((*first)->finish().error().code, ErrorCode::device_error);
}

TEST_F(HipPair, KernelsOfEachPartReachTheOthersMemory) {
  auto opened = open_host_pair("hip:0", kSecondDie);
  ASSERT_TRUE(opened) << opened.error().text();
  ComputeHost& host = **opened;
  ASSERT_EQ(host.parts(), 2);
  EXPECT_EQ(host.facts().pci_bus, "0000:03:00.0");
  EXPECT_EQ(host.facts().compute_units, 110);
  auto copy = copy_kernel(host);
  ASSERT_TRUE(copy) << copy.error().text();
  for (const int part : {1, 0}) {
    ASSERT_TRUE(host.use_part(1 - part));
    const auto from = host.create_buffer(kBytes);
    ASSERT_TRUE(from) << from.error().text();
    std::vector<std::byte> content(kBytes);
    kernels::fill(content, kernels::Pattern::random, 3 + static_cast<unsigned>(part));
    ASSERT_TRUE((*from)->write(0, content));
    ASSERT_TRUE(host.use_part(part));
    const auto to = host.create_buffer(kBytes);
    ASSERT_TRUE(to) << to.error().text();
    ASSERT_TRUE(set(**copy, **from, **to));
    const auto seconds = (*copy)->time_launch(kBytes / 16 / kGroupSize, kGroupSize);
    ASSERT_TRUE(seconds) << seconds.error().text();
    EXPECT_GT(*seconds, 0);
    std::vector<std::byte> copied(kBytes);
    ASSERT_TRUE((*to)->read(0, copied));
    for (std::size_t i = 0; i < kBytes; ++i)
      ASSERT_EQ(copied[i], content[i] ^ std::byte{0xA5}) << i;
  }
  EXPECT_EQ(host.use_part(2).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(host.use_part(-1).error().code, ErrorCode::out_of_range);
}

TEST_F(HipPair, BeginsWithTheDeviceThatIsNamed) {
  const auto opened = open_host_pair("hip:1", "0000:03:00.0");
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_EQ((*opened)->facts().pci_bus, kSecondDie);
}

TEST_F(HipPair, IsRefusedWhereHipDoesNotShowTheOtherDieOrTheNameIsNotHips) {
  const auto hidden = open_host_pair("hip:0", "0000:c9:00.0");
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code, ErrorCode::unsupported);
  EXPECT_THAT(hidden.error().message, ::testing::HasSubstr("hip:1 at 0000:04:00.0"));
  EXPECT_EQ(open_host_pair("opencl:0.0", kSecondDie).error().code, ErrorCode::unsupported);
  EXPECT_EQ(open_host_pair("hip:7", kSecondDie).error().code, ErrorCode::missing_dependency);
}

}  // namespace
}  // namespace ww::microbench
