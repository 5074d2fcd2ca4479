#include "ww/model/assumptions.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace ww::model {
namespace {

constexpr std::string_view kBegin = "<!-- assumptions: made by assumptions_markdown() -->\n";
constexpr std::string_view kEnd = "<!-- end of assumptions -->\n";

// The page is to say what the code has. `WW_UPDATE_DOCS=1 model_assumptions_test` writes it.
TEST(Assumptions, StandInTheMethodPageAsTheCodeHasThem) {
  std::ifstream in(WW_METHOD_PAGE);
  std::stringstream stream;
  stream << in.rdbuf();
  std::string page = stream.str();
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_LT(begin, end);
  const auto from = begin + kBegin.size();
  if (std::getenv("WW_UPDATE_DOCS") != nullptr) {
    page.replace(from, end - from, assumptions_markdown());
    std::ofstream(WW_METHOD_PAGE) << page;
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), assumptions_markdown());
}

TEST(Assumptions, EachHaveAValueASourceAndAnEntryOfTheirOwn) {
  std::set<std::string> quantities;
  for (const Assumption& row : assumptions()) {
    EXPECT_FALSE(row.value.empty()) << row.quantity;
    EXPECT_FALSE(row.source.empty()) << row.quantity;
    EXPECT_TRUE(quantities.insert(row.quantity).second) << row.quantity;
    // A bound that no source states is called judgement; nothing rests on virtual chips.
    EXPECT_EQ(row.source.find("virtual-gpu.md"), std::string::npos) << row.quantity;
  }
  EXPECT_GE(quantities.size(), 25U);
}

}  // namespace
}  // namespace ww::model
