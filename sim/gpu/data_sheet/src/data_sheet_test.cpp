#include "ww/sim/gpu/data_sheet.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu {
namespace {

TEST(DataSheet, IsThatOfTheChipWhetherBuiltInOrDrawn) {
  for (const ChipRequest& request :
       {ChipRequest{.chip = "mi210"}, ChipRequest{.chip = "random", .seed = 7},
        ChipRequest{.chip = "random", .seed = 7, .chip_class = ChipClass::strong}}) {
    const auto sheet = data_sheet(request);
    ASSERT_TRUE(sheet) << sheet.error().text();
    const Architecture chip = Chip::load(request).value().architecture();
    EXPECT_EQ(sheet->name, chip.name);
    EXPECT_EQ(sheet->gfx_target, chip.gfx_target);
    EXPECT_EQ(sheet->compute_units(), chip.compute_units());
    EXPECT_EQ(sheet->l2_channels, chip.l2_channels);
  }
}

TEST(DataSheet, OfAnUnknownChipIsTheChipsError) {
  const auto sheet = data_sheet({.chip = "no-such-chip"});
  ASSERT_FALSE(sheet);
  EXPECT_EQ(sheet.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww::sim::gpu
