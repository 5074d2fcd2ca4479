#include "ww/measure/csv.hpp"

#include <gtest/gtest.h>

namespace ww::measure {
namespace {

using Fields = std::vector<std::string>;

TEST(Csv, KeepsCommasQuotesAndLineEndsInsideQuotes) {
  const auto rows = parse_csv(
      "\xEF\xBB\xBF"
      "a,\"b,\"\"c\"\"\nd\",e\r\n\r\n,\"\"\n",
      "a.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].fields, (Fields{"a", "b,\"c\"\nd", "e"}));
  EXPECT_EQ((*rows)[1].fields, (Fields{"", ""}));
  EXPECT_EQ((*rows)[1].line, 4u);
}

TEST(Csv, NamesTheLineOfAQuoteThatNeverCloses) {
  const auto rows = parse_csv("a,b\nc,\"d\ne\n", "a.csv");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().context, "a.csv:2");
}

TEST(Csv, RefusesTextBehindAClosingQuote) {
  EXPECT_FALSE(parse_csv("\"a\"b,c\n", "a.csv"));
}

TEST(Csv, EndsTheLastRowWithTheFile) {
  const auto rows = parse_csv("a,b\n1,", "a.csv");
  ASSERT_TRUE(rows);
  EXPECT_EQ((*rows)[1].fields.size(), 2u) << "an empty last field is a field";
}

TEST(Csv, TrimsAndSkipsWhereAsked) {
  const auto rows =
      parse_csv("==note\na, b \n==note, c\n", "a", {.skip_prefix = "==", .trim = true});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].fields, (Fields{"a", "b"}));
}

}  // namespace
}  // namespace ww::measure
