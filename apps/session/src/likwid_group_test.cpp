#include "ww/session/likwid_group.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace ww::session {
namespace {

using testing::HasSubstr;
using testing::Not;

// 10 mm between L1 and L2 at 100 fJ/bit/mm; the other segments have no length.
model::WireModel wires_of_10_mm() {
  model::WireModel wires;
  wires.source = "a made-up calibration";
  wires.random = {100, 90, 110};
  wires.reference_voltage_v = 1;
  wires.distance_mm = {std::nullopt, model::Interval{10, 10, 10}, std::nullopt};
  return wires;
}

TEST(LikwidGroup, ARequestOf64BytesCostsItsBytes) {
  const auto group = likwid_group(wires_of_10_mm(), "gfx90a");
  ASSERT_TRUE(group) << group.error().text();
  ASSERT_EQ(group->segments.size(), 1U);
  EXPECT_EQ(group->segments[0].name, "l1_l2");
  // A byte of random bits takes 8 pJ; bytes of an unknown application take less in the mean.
  const Interval pj = group->segments[0].pj_per_byte;
  EXPECT_GT(pj.value, 5);
  EXPECT_LT(pj.value, 8);
  EXPECT_TRUE(pj.holds(8));
  const std::string request = fmt::format("{:.9E}", 64 * pj.value * 1e-12);
  EXPECT_THAT(group->text,
              HasSubstr("L1-L2 energy [J] " + request + "*ROCM0+" + request + "*ROCM1\n"));
  EXPECT_THAT(group->text, HasSubstr("ROCM0 ROCP_TCP_TCC_READ_REQ_sum\n"));
}

TEST(LikwidGroup, ASegmentWithoutALengthIsLeftOutWithItsReason) {
  const auto group = likwid_group(wires_of_10_mm(), "gfx90a");
  ASSERT_TRUE(group) << group.error().text();
  ASSERT_EQ(group->left_out.size(), 2U);
  EXPECT_THAT(group->left_out[0], HasSubstr("L2-memory: "));
  EXPECT_THAT(group->text, HasSubstr("Left out: " + group->left_out[1]));
  EXPECT_THAT(group->text, Not(HasSubstr("L2-memory energy")));
}

TEST(LikwidGroup, SaysThatAVirtualCalibrationIsNoMeasurement) {
  auto made_up = wires_of_10_mm();
  EXPECT_THAT(likwid_group(made_up, "gfx90a")->text, Not(HasSubstr("virtual")));
  made_up.is_virtual = true;
  EXPECT_THAT(likwid_group(made_up, "gfx90a")->text, HasSubstr("virtual, not a measurement"));
}

TEST(LikwidGroup, RefusesAPartWithoutKnownCounters) {
  EXPECT_THAT(likwid_group(wires_of_10_mm(), "gfx999").error().text(), HasSubstr("gfx999"));
  EXPECT_THAT(likwid_group(wires_of_10_mm(), "").error().text(),
              HasSubstr("the calibrated device"));
}

}  // namespace
}  // namespace ww::session
