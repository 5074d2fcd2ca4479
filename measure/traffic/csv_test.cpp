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

TEST(Csv, GivesRowsOneAtATimeUntilOneIsRefused) {
  int rows = 0;
  const auto status = each_csv_row("a\nb\nc\n", "a", {}, [&rows](CsvRow& row) -> Status {
    if (row.fields.front() == "b") return fail(ErrorCode::bad_data, "enough");
    ++rows;
    return {};
  });
  EXPECT_EQ(rows, 1);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "enough");
}

TEST(CsvColumns, ReadFieldsByTheNamesOfTheHeader) {
  const auto rows = parse_csv("name,joules,ticks\n\"a,b\",2.5,-7\n", "a.csv").value();
  const CsvColumns columns(rows[0], "a.csv");
  EXPECT_TRUE(columns.has("ticks"));
  EXPECT_EQ(columns.text(rows[1], "name").value(), "a,b");
  EXPECT_EQ(columns.number(rows[1], "joules").value(), 2.5);
  EXPECT_EQ(columns.integer(rows[1], "ticks").value(), -7);
}

TEST(CsvColumns, TakeAnEmptyFieldForAnAbsentNumber) {
  const auto rows = parse_csv("a,b\n,-7\n", "a.csv").value();
  const CsvColumns columns(rows[0], "a.csv");
  EXPECT_EQ(columns.optional_integer(rows[1], "a").value(), std::nullopt);
  EXPECT_EQ(columns.optional_integer(rows[1], "b").value(), -7);
  EXPECT_FALSE(columns.optional_integer(rows[1], "c"));
  EXPECT_FALSE(columns.integer(rows[1], "a"));
}

TEST(CsvColumns, NameTheLineAndTheColumnOfWhatTheyRefuse) {
  const auto rows = parse_csv("a,b\n1,x\n2\n", "a.csv").value();
  const CsvColumns columns(rows[0], "a.csv");
  const auto refused = [&](std::size_t row, const char* column) {
    const auto number = columns.number(rows[row], column);
    return number ? std::string() : number.error().text();
  };
  EXPECT_NE(refused(1, "b").find("a.csv:2"), std::string::npos) << refused(1, "b");
  EXPECT_NE(refused(1, "b").find("b 'x' is not a number"), std::string::npos);
  EXPECT_NE(refused(2, "b").find("a.csv:3"), std::string::npos) << refused(2, "b");
  EXPECT_NE(refused(1, "c").find("no column c"), std::string::npos) << refused(1, "c");
  EXPECT_FALSE(columns.integer(rows[1], "b"));
}

}  // namespace
}  // namespace ww::measure
