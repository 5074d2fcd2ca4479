#include "ww/core/device_name.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

using Kind = DeviceName::Kind;

TEST(DeviceName, OfAVirtualDeviceGivesItsChip) {
  const DeviceName built_in("virtual:w9100");
  EXPECT_TRUE(built_in.is_virtual());
  EXPECT_FALSE(built_in.is_host());
  EXPECT_EQ(built_in.chip(), "w9100");
  EXPECT_FALSE(built_in.is_random_chip());
  EXPECT_FALSE(built_in.is_chip_file());
  EXPECT_TRUE(DeviceName("virtual:random").is_random_chip());
  EXPECT_TRUE(DeviceName("virtual:random_rdna").is_random_chip());
  const DeviceName file("virtual:chips/a:b.toml");
  EXPECT_TRUE(file.is_chip_file());
  EXPECT_EQ(file.chip(), "chips/a:b.toml");
  EXPECT_EQ(virtual_device_name("w9100"), built_in.text());
}

TEST(DeviceName, OfAComputeHostGivesItsNumbers) {
  EXPECT_EQ(DeviceName("hip:3").kind(), Kind::hip);
  EXPECT_EQ(DeviceName("hip:3").index(), 3);
  EXPECT_EQ(DeviceName("cuda:0").kind(), Kind::cuda);
  EXPECT_TRUE(DeviceName("cuda:0").is_host());
  EXPECT_EQ(DeviceName("opencl:1.2").opencl_place(), std::pair(1, 2));
  EXPECT_TRUE(DeviceName("opencl:1.2").is_host());
  EXPECT_EQ(DeviceName("opencl:1.2").chip(), "");
}

TEST(DeviceName, OfASensorIsNoHost) {
  EXPECT_EQ(DeviceName("gpu:1").kind(), Kind::sensor);
  EXPECT_EQ(DeviceName("gpu:1").index(), 1);
  EXPECT_FALSE(DeviceName("gpu:1").is_host());
  EXPECT_EQ(DeviceName("pci:0000:03:00.0").kind(), Kind::pci);
  EXPECT_EQ(DeviceName("pci:0000:03:00.0").rest(), "0000:03:00.0");
}

TEST(DeviceName, HasNoNumberWhereTheTextIsNone) {
  for (const char* text : {"hip:", "hip:x", "hip:-1", "hip:1x", "hip:99999999999", "virtual:1"}) {
    EXPECT_FALSE(DeviceName(text).index()) << text;
  }
  for (const char* text :
       {"opencl:", "opencl:1", "opencl:1.", "opencl:.1", "opencl:1.2.3", "hip:1.2"}) {
    EXPECT_FALSE(DeviceName(text).opencl_place()) << text;
  }
}

TEST(DeviceName, OfAnotherFormIsKeptAsItIs) {
  EXPECT_EQ(DeviceName("").kind(), Kind::other);
  EXPECT_EQ(DeviceName("quantum").kind(), Kind::other);
  EXPECT_EQ(DeviceName("virtually:w9100").kind(), Kind::other);
  EXPECT_EQ(DeviceName(kVirtualLabel).kind(), Kind::other);
  EXPECT_EQ(DeviceName("quantum:7").text(), "quantum:7");
}

}  // namespace
}  // namespace ww
