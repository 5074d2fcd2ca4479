#include "ww/core/json_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace ww {
namespace {

using nlohmann::json;

TEST(JsonReader, ReadsFieldsOfEachType) {
  const json document = json::parse(R"({
    "flag": true, "small": -7, "large": 18446744073709551615, "power_w": 1, "name": "w9100",
    "ints": [1, 2], "rows": [[1, 2.5], []], "names": ["a", "b"]})");
  bool flag{};
  std::int32_t small{};
  std::uint64_t large{};
  double power_w{};
  std::string name;
  std::vector<std::int32_t> ints;
  std::vector<std::vector<double>> rows;
  std::vector<std::string> names;
  const JsonReader reader(document, "report");
  reader.read("flag", flag);
  reader.read("small", small);
  reader.read("large", large);
  reader.read("power_w", power_w);
  reader.read("name", name);
  reader.read("ints", ints);
  reader.read("rows", rows);
  reader.read("names", names);
  ASSERT_TRUE(reader.status()) << reader.status().error().text();
  EXPECT_TRUE(flag);
  EXPECT_EQ(small, -7);
  EXPECT_EQ(large, UINT64_MAX);
  EXPECT_EQ(power_w, 1.0);
  EXPECT_EQ(name, "w9100");
  EXPECT_EQ(ints, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(rows, (std::vector<std::vector<double>>{{1, 2.5}, {}}));
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST(JsonReader, NamesTheFirstMissingKeyByItsPathAndTheDocument) {
  const json document = json::parse(R"({"tuning": {"points": [{"mm": 1}, {}]}})");
  const JsonReader reader(document, "plan.json");
  double mm{};
  for (const JsonReader& point : reader.object("tuning").objects("points")) {
    point.read("mm", mm);
  }
  double later{};
  reader.read("later", later);
  const auto status = reader.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::parse_error);
  EXPECT_EQ(status.error().text(), "plan.json: 'tuning.points[1].mm' is missing");
}

TEST(JsonReader, RefusesANumberOutsideItsRangeAndKeepsWhatWasThere) {
  const json document = json::parse(R"({"sensor": {"delay_s": -3, "rise_s": 2}})");
  const JsonReader reader(document, "campaign");
  const JsonReader sensor = reader.object("sensor");
  double rise_s{};
  sensor.read_within("rise_s", 0, 60, rise_s);
  EXPECT_EQ(rise_s, 2);
  double gain = 0.5;
  sensor.read_optional_within("gain", 0, 1, gain);
  EXPECT_EQ(gain, 0.5);
  ASSERT_TRUE(reader.status()) << reader.status().error().text();
  double delay_s = 7;
  sensor.read_within("delay_s", 0, 60, delay_s);
  EXPECT_EQ(delay_s, 7);
  const auto status = reader.status();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::out_of_range);
  EXPECT_EQ(status.error().text(), "campaign: 'sensor.delay_s' is -3, outside 0 to 60");
}

TEST(JsonReader, SaysWhatAFieldOfAnotherTypeMustBe) {
  const auto error_of = [](const char* text, auto value) {
    const json document = json::parse(text);
    const JsonReader reader(document, "");
    reader.read("x", value);
    return reader.status() ? std::string("none") : reader.status().error().message;
  };
  EXPECT_EQ(error_of(R"({"x": "1"})", 0.0), "'x' must be a number");
  EXPECT_EQ(error_of(R"({"x": null})", 0.0), "'x' must be a number");
  EXPECT_EQ(error_of(R"({"x": 1})", false), "'x' must be true or false");
  EXPECT_EQ(error_of(R"({"x": 1})", std::string()), "'x' must be text");
  EXPECT_EQ(error_of(R"({"x": [1, "2"]})", std::vector<double>()),
            "'x' must be a list, each item a number");
}

TEST(JsonReader, RefusesANumberThatItsIntegerCannotHold) {
  const auto refused = [](const char* text, auto value) {
    const json document = json::parse(text);
    const JsonReader reader(document, "");
    reader.read("x", value);
    return !reader.status();
  };
  EXPECT_TRUE(refused(R"({"x": 1.5})", std::int32_t{}));
  EXPECT_TRUE(refused(R"({"x": true})", std::int32_t{}));
  EXPECT_TRUE(refused(R"({"x": 2147483648})", std::int32_t{}));
  EXPECT_FALSE(refused(R"({"x": 2147483647})", std::int32_t{}));
  EXPECT_TRUE(refused(R"({"x": -2147483649})", std::int32_t{}));
  EXPECT_FALSE(refused(R"({"x": -2147483648})", std::int32_t{}));
  EXPECT_TRUE(refused(R"({"x": -1})", std::uint64_t{}));
  EXPECT_TRUE(refused(R"({"x": 18446744073709551615})", std::int64_t{}));
}

TEST(JsonReader, LeavesOptionalFieldsAsTheyAreWhereTheyAreAbsentOrNull) {
  const json document = json::parse(R"({"there": 2, "none": null})");
  const JsonReader reader(document, "");
  std::optional<double> there;
  std::optional<double> none;
  double kept = 3;
  reader.read_optional("there", there);
  reader.read_optional("none", none);
  reader.read_optional("absent", kept);
  EXPECT_FALSE(reader.optional_object("absent"));
  ASSERT_TRUE(reader.status()) << reader.status().error().text();
  EXPECT_EQ(there, 2.0);
  EXPECT_FALSE(none);
  EXPECT_EQ(kept, 3);
}

TEST(JsonReader, SaysInWhichLineATextIsNotJson) {
  const auto cut = parse_json("{\n  \"a\": 1,\n  \"b\": ", "model.json");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::parse_error);
  EXPECT_EQ(cut.error().context, "model.json");
  EXPECT_TRUE(cut.error().message.starts_with("is not JSON: parse error at line 3, column 8"))
      << cut.error().message;
  EXPECT_EQ(parse_json("[1, 2]", "list").value(), json({1, 2}));
}

TEST(JsonReader, RefusesWhatIsNoObject) {
  double value{};
  const json list = json::array();
  const JsonReader reader(list, "plan");
  reader.read("x", value);
  ASSERT_FALSE(reader.status());
  EXPECT_EQ(reader.status().error().text(), "plan: it is no JSON object");

  const json nested = json::parse(R"({"a": 1, "b": [2]})");
  const JsonReader first(nested, "");
  first.object("a").read("x", value);
  EXPECT_EQ(first.status().error().message, "'a' must be an object");
  const JsonReader second(nested, "");
  EXPECT_EQ(second.objects("b").size(), 1U);
  EXPECT_EQ(second.status().error().message, "'b[0]' must be an object");
}

TEST(JsonReader, KeepsAnErrorOfItsCaller) {
  const json document = json::parse(R"({"part": {"form": "cube"}})");
  const JsonReader reader(document, "");
  reader.object("part").refuse("form", "is none of the known forms");
  EXPECT_EQ(reader.status().error().message, "'part.form' is none of the known forms");
}

}  // namespace
}  // namespace ww
