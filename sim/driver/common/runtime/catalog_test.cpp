#include "common/runtime/catalog.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ww::sim::driver::catalog_test {
namespace {

TEST(Catalog, ListsTheBuiltInChipsAndNoOther) {
  const ww_vgpu_catalog* catalog = get_catalog(WW_VGPU_CATALOG_VERSION);
  ASSERT_NE(catalog, nullptr);
  ASSERT_EQ(catalog->chip_count(), 2U);
  EXPECT_STREQ(catalog->chip_name(0), "one");
  EXPECT_STREQ(catalog->chip_name(1), "two");
  EXPECT_EQ(catalog->chip_name(2), nullptr);
  EXPECT_STREQ(catalog->chip_description(1), "the second");
  EXPECT_EQ(catalog->chip_description(2), nullptr);
}

TEST(Catalog, PassesSeedAndClassOfADrawnChipOn) {
  const char* error = "";
  const char* sheet =
      get_catalog(WW_VGPU_CATALOG_VERSION)->data_sheet("random", 7, "strong", &error);
  ASSERT_NE(sheet, nullptr);
  EXPECT_EQ(error, nullptr);
  EXPECT_EQ(std::string(sheet), "random 7 strong");
}

TEST(Catalog, SaysWhyThereIsNoDataSheet) {
  const ww_vgpu_catalog* catalog = get_catalog(WW_VGPU_CATALOG_VERSION);
  const char* error = nullptr;
  EXPECT_EQ(catalog->data_sheet("unknown", 0, "mild", &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("no chip of this name"), std::string::npos);
  EXPECT_EQ(catalog->data_sheet("one", 0, "wild", &error), nullptr);
  EXPECT_NE(std::string(error).find("wild"), std::string::npos);
}

TEST(Catalog, IsRefusedToAnotherVersion) {
  EXPECT_EQ(get_catalog(WW_VGPU_CATALOG_VERSION + 1), nullptr);
}

}  // namespace
}  // namespace ww::sim::driver::catalog_test
