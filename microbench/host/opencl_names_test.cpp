#include "host/opencl_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;
constexpr const char* kAmd = "AMD Accelerated Parallel Processing";

TEST(OpenClNames, OfRocmAndPalAreTheTarget) {
  const auto rocm = identify_opencl({kAmd, "gfx90a:sramecc+:xnack-", "3581.0 (HSA1.1,LC)"});
  EXPECT_EQ(rocm.target, "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(rocm.no_code, "");
  const auto pal = identify_opencl({kAmd, "gfx1100", "3444.0 (PAL,LC)"});
  EXPECT_EQ(pal.target, "gfx1100");
  EXPECT_EQ(pal.no_code, "");
}

TEST(OpenClNames, OfOrcaAndHsailAreTheChipAndTheirBinariesAreContainers) {
  const auto orca = identify_opencl({kAmd, "Hawaii", "2766.4"});
  EXPECT_EQ(orca.target, "gfx701");
  EXPECT_THAT(orca.no_code, HasSubstr("Catalyst"));
  EXPECT_THAT(orca.no_code, HasSubstr("2766.4"));
  const auto hsail = identify_opencl({kAmd, "Ellesmere", "3075.10 (PAL,HSAIL)"});
  EXPECT_EQ(hsail.target, "gfx803");
  EXPECT_THAT(hsail.no_code, HasSubstr("Catalyst"));
  EXPECT_EQ(identify_opencl({kAmd, "Some chip", "2766.4"}).target, "");
}

TEST(OpenClNames, OfRusticlGiveTheTargetAndNoMachineCode) {
  for (const char* name : {"AMD Radeon Graphics (radeonsi, gfx1151, LLVM 20.1.2, DRM 3.61)",
                           "AMD Radeon 8060S (radeonsi, gfx1151, LLVM 20.1.2)"}) {
    const auto rusticl = identify_opencl({"rusticl", name, "25.2.0"});
    EXPECT_EQ(rusticl.target, "gfx1151");
    EXPECT_THAT(rusticl.no_code, HasSubstr("no machine code"));
  }
  // The driver's newer names have the chip and no target.
  const auto navi = identify_opencl(
      {"rusticl", "AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 20.1.2)", "25.2.0"});
  EXPECT_EQ(navi.target, "");
  EXPECT_THAT(navi.no_code, HasSubstr("rusticl"));
}

TEST(OpenClNames, OfOthersSayNothingWrong) {
  EXPECT_EQ(identify_opencl({"NVIDIA CUDA", "NVIDIA H100 PCIe", "580.82"}).target, "");
  EXPECT_EQ(identify_opencl({"NVIDIA CUDA", "NVIDIA H100 PCIe", "580.82"}).no_code, "");
  const auto ours =
      identify_opencl({"wirewatt", "wirewatt virtual w9100 (gfx701)", "1.0 (virtual)"});
  EXPECT_EQ(ours.target, "gfx701");
  EXPECT_EQ(ours.no_code, "");
  EXPECT_EQ(identify_opencl({kAmd, "", ""}).target, "");
}

}  // namespace
}  // namespace ww::microbench
