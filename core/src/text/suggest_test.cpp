#include "ww/core/suggest.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("mesh", "mesh"), 0U);
  EXPECT_EQ(edit_distance("mesh", "mseh"), 1U);
  EXPECT_EQ(edit_distance("mesh", "mes"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(DidYouMean, NamesTheClosestAndStaysSilentFarFromAll) {
  EXPECT_EQ(did_you_mean("calibarte", {"calibrate", "fit", "score"}),
            "; did you mean 'calibrate'?");
  EXPECT_EQ(did_you_mean("W9100", {"w9100", "vega10"}), "; did you mean 'w9100'?");
  EXPECT_EQ(did_you_mean("zzzzz", {"w9100", "vega10"}), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace ww
