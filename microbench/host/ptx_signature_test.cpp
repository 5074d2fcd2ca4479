#include "host/ptx_signature.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww::microbench {
namespace {

std::string entry(const std::string& name, const std::string& parameters) {
  return ".version 7.5\n.visible .entry " + name + "(\n" + parameters + "\n)\n{\n ret;\n}\n";
}

TEST(PtxArguments, LieAtMultiplesOfTheirSize) {
  const auto slots =
      ptx_arguments(entry("k",
                          ".param .u32 k_param_0,\n.param .u64 k_param_1,\n.param .u8 k_param_2,\n"
                          ".param .f32 k_param_3"),
                    "k");
  ASSERT_TRUE(slots) << slots.error().text();
  ASSERT_EQ(slots->size(), 4u);
  EXPECT_EQ((*slots)[0].offset, 0u);
  EXPECT_EQ((*slots)[1].offset, 8u);
  EXPECT_EQ((*slots)[2].offset, 16u);
  EXPECT_EQ((*slots)[3].offset, 20u);
  EXPECT_EQ((*slots)[3].size, 4u);
}

TEST(PtxArguments, TakeQualifiersOfPointersAsTheyAre) {
  const auto slots = ptx_arguments(entry("k", ".param .u64 .ptr .global .align 16 k_param_0"), "k");
  ASSERT_TRUE(slots) << slots.error().text();
  EXPECT_EQ(slots->front().size, 8u);
}

TEST(PtxArguments, AreThoseOfTheWholeName) {
  const std::string both =
      entry("k2", ".param .u32 a") + "// .entry k(\n" + entry("k", ".param .u64 a");
  EXPECT_EQ(ptx_arguments(both, "k")->front().size, 8u);
  EXPECT_EQ(ptx_arguments(both, "k3").error().code, ErrorCode::not_found);
}

TEST(PtxArguments, RefuseWhatTheyCannotPack) {
  EXPECT_EQ(ptx_arguments(entry("k", ".param .b8 a[16]"), "k").error().code,
            ErrorCode::unsupported);
  EXPECT_EQ(ptx_arguments(entry("k", ".param a"), "k").error().code, ErrorCode::parse_error);
  EXPECT_EQ(ptx_arguments("\x7f"
                          "ELF",
                          "k")
                .error()
                .code,
            ErrorCode::parse_error);
}

}  // namespace
}  // namespace ww::microbench
