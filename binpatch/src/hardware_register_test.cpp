#include <gtest/gtest.h>

#include "ww/binpatch/patch.hpp"

namespace ww::binpatch::hardware_register_test {
namespace {

constexpr GfxTarget kHawaii{7, 0, 1};

TEST(GfxTargetName, RoundTrips) {
  for (const char* name :
       {"gfx600", "gfx701", "gfx803", "gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1201"}) {
    const auto target = parse_gfx_target(name);
    ASSERT_TRUE(target.has_value()) << name;
    EXPECT_EQ(to_string(*target), name);
  }
  EXPECT_EQ(*parse_gfx_target("gfx90a"), (GfxTarget{9, 0, 10}));
  EXPECT_EQ(*parse_gfx_target("gfx1100"), (GfxTarget{11, 0, 0}));
}

TEST(GfxTargetName, RefusesOtherText) {
  for (const char* name : {"", "gfx", "gfx7", "gfx70", "sm_80", "gfx70g", "gfx-01", "gfx11000"}) {
    const auto target = parse_gfx_target(name);
    ASSERT_FALSE(target.has_value()) << name;
    EXPECT_EQ(target.error().code, ErrorCode::parse_error);
  }
}

TEST(HardwareRegisterName, RoundTrips) {
  for (const auto reg : {HardwareRegister::hw_id, HardwareRegister::hw_id1,
                         HardwareRegister::xcc_id, HardwareRegister::smid}) {
    EXPECT_EQ(hardware_register_from_string(to_string(reg)).value(), reg);
  }
  EXPECT_EQ(hardware_register_from_string("hw_id2").error().code, ErrorCode::invalid_argument);
}

TEST(DefaultRegister, NamesTheEngineWhereOneIsReadable) {
  EXPECT_EQ(*default_register(kHawaii), HardwareRegister::hw_id);
  EXPECT_EQ(*default_register({9, 4, 2}), HardwareRegister::hw_id);
  EXPECT_EQ(*default_register({10, 3, 0}), HardwareRegister::hw_id1);
  EXPECT_EQ(*default_register({12, 0, 1}), HardwareRegister::hw_id1);
  EXPECT_EQ(default_register({13, 0, 0}).error().code, ErrorCode::unsupported);
}

TEST(DecodeHardwareId, SplitsHwIdOfGcn) {
  // wave 5, SIMD 2, pipe 1, CU 10, array 1, engine 3; queue bits above are ignored.
  constexpr std::uint32_t value = 5U | 2U << 4 | 1U << 6 | 10U << 8 | 1U << 12 | 3U << 13;
  const auto id = decode_hardware_id(kHawaii, value | 0xffff8000U);
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->wave, 5);
  EXPECT_EQ(id->simd, 2);
  EXPECT_EQ(id->pipe, 1);
  EXPECT_EQ(id->cu, 10);
  EXPECT_EQ(id->shader_array, 1);
  EXPECT_EQ(id->shader_engine, 3);
}

TEST(DecodeHardwareId, KnowsTheThirdEngineBitOfCdna) {
  constexpr std::uint32_t seven = 7U << 13;
  EXPECT_EQ(decode_hardware_id({9, 0, 6}, seven)->shader_engine, 3);
  EXPECT_EQ(decode_hardware_id({9, 0, 8}, seven)->shader_engine, 7);
  EXPECT_EQ(decode_hardware_id({9, 0, 10}, seven)->shader_engine, 7);
  EXPECT_EQ(decode_hardware_id({9, 4, 2}, seven)->shader_engine, 7);
  EXPECT_EQ(decode_hardware_id({9, 0, 12}, seven)->shader_engine, 3);
}

TEST(DecodeHardwareId, SplitsHwId1OfRdna) {
  constexpr std::uint32_t value = 17U | 3U << 8 | 4U << 10 | 1U << 16 | 7U << 18;
  const auto older = decode_hardware_id({10, 3, 0}, value);
  ASSERT_TRUE(older.has_value());
  EXPECT_EQ(older->wave, 17);
  EXPECT_EQ(older->simd, 3);
  EXPECT_EQ(older->cu, 4);
  EXPECT_EQ(older->shader_array, 1);
  EXPECT_EQ(older->shader_engine, 3);
  EXPECT_EQ(decode_hardware_id({11, 0, 0}, value)->shader_engine, 7);
}

}  // namespace
}  // namespace ww::binpatch::hardware_register_test
