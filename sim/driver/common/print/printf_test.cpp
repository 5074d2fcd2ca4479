#include "common/print/printf.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ww::sim::driver::printf_test {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& add(const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }
  operator std::span<const std::byte>() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::string no_string(std::uint64_t) {
  return "?";
}

PrintfFormat format(const char* metadata) {
  auto parsed = parse_printf_format(metadata);
  EXPECT_TRUE(parsed) << metadata;
  return parsed ? *parsed : PrintfFormat{};
}

TEST(Printf, MetadataGivesNumberSizesAndText) {
  const auto parsed = format("7:2:4:8:a\\72 %d\\t%f\\n");
  EXPECT_EQ(parsed.id, 7u);
  EXPECT_EQ(parsed.sizes, (std::vector<std::uint32_t>{4, 8}));
  EXPECT_EQ(parsed.text, "a: %d\t%f\n");
}

TEST(Printf, BrokenMetadataIsAnError) {
  for (const char* text : {"", "x", "1", "1:", "1:1:999999:x", "1:99999:4:x", ":::"}) {
    EXPECT_FALSE(parse_printf_format(text)) << text;
  }
}

TEST(Printf, ArgumentsWithoutASizeTakeNoBytes) {
  const auto parsed = format("3:3:8:%5.2F|%d|%F\\n");
  EXPECT_EQ(parsed.sizes, (std::vector<std::uint32_t>{8}));
  EXPECT_EQ(parsed.text, "%5.2F|%d|%F\n");
  const std::vector<PrintfFormat> formats{format("1:1:%F"), format("2:1:4:%d")};
  EXPECT_EQ(render_records(formats, Bytes().add(1).add(2).add(77), no_string), "77");
}

TEST(Printf, ConversionsFollowC) {
  const auto render = [](const char* metadata, const Bytes& bytes) {
    return render_printf(format(metadata), bytes, no_string);
  };
  EXPECT_EQ(render("1:1:4:%5d|", Bytes().add(-42)), "  -42|");
  EXPECT_EQ(render("1:1:8:%ld", Bytes().add(std::int64_t{-5000000000})), "-5000000000");
  EXPECT_EQ(render("1:1:4:%#x", Bytes().add(255)), "0xff");
  EXPECT_EQ(render("1:1:4:%u", Bytes().add(-1)), "4294967295");
  EXPECT_EQ(render("1:1:4:%.2f", Bytes().add(1.5f)), "1.50");
  EXPECT_EQ(render("1:1:8:%e", Bytes().add(0.25)), "2.500000e-01");
  EXPECT_EQ(render("1:1:4:%c%%", Bytes().add(int{'x'})), "x%");
  EXPECT_EQ(render("1:2:4:4:%hd %hhd", Bytes().add(70000).add(300)), "4464 44");
  EXPECT_EQ(render("1:2:4:4:%hu %hhx", Bytes().add(-1).add(-1)), "65535 ff");
}

TEST(Printf, PointersAreHexadecimalAndNullInAnyMemory) {
  const auto bytes = Bytes().add(std::uint64_t{0x1A0}).add(std::uint64_t{0}).add(0xFFFFFFFFU);
  EXPECT_EQ(render_printf(format("1:3:8:8:4:%p %p %p"), bytes, no_string), "0x1a0 0x0 0x0");
}

TEST(Printf, BackslashesOfTheProgramStay) {
  EXPECT_EQ(format("1:0:a\\ b\\").text, "a\\ b\\");
  EXPECT_EQ(format("1:0:C\\x\n").text, "C\\x\n");
}

TEST(Printf, VectorsAreSeparatedByCommas) {
  const float v[4] = {1, 2, 3, 4};
  EXPECT_EQ(render_printf(format("1:1:16:%.1v4hlf"), Bytes().add(v), no_string), "1.0,2.0,3.0,4.0");
  const short s[2] = {-1, 7};
  EXPECT_EQ(render_printf(format("1:1:4:%v2hd"), Bytes().add(s), no_string), "-1,7");
  EXPECT_EQ(render_printf(format("1:1:16:%v3hlf"), Bytes().add(v), no_string),
            "1.000000,2.000000,3.000000");
}

TEST(Printf, HalvesOfVectorsHaveTwoBytes) {
  const auto render = [](const char* metadata, std::initializer_list<int> halves) {
    Bytes bytes;
    for (const int half : halves) bytes.add(static_cast<std::uint16_t>(half));
    return render_printf(format(metadata), bytes, no_string);
  };
  EXPECT_EQ(render("1:1:4:%v2hg", {0x3c00, 0xc248}), "1,-3.14062");
  EXPECT_EQ(render("1:1:8:%v3hg", {0x7c00, 0xfc00, 0x7bff, 0}), "inf,-inf,65504");
  EXPECT_EQ(render("1:1:8:%v4hg", {0x0001, 0x8000, 0x0400, 0x7e00}),
            "5.96046e-08,-0,6.10352e-05,nan");
}

TEST(Printf, StringsAreReadFromTheDevice) {
  const auto read = [](std::uint64_t address) {
    return address == 0x1000 ? std::string("text") : std::string();
  };
  EXPECT_EQ(render_printf(format("1:1:8:[%6s]"), Bytes().add(std::uint64_t{0x1000}), read),
            "[  text]");
}

TEST(Printf, RecordsFollowEachOtherAndStopAtAnUnknownOne) {
  const std::vector<PrintfFormat> formats{format("1:1:4:%d "), format("2:0:end\\n")};
  Bytes records;
  records.add(1u).add(10).add(1u).add(20).add(2u).add(9u).add(1u);
  EXPECT_EQ(render_records(formats, records, no_string), "10 20 end\n");
}

TEST(Printf, MissingArgumentBytesAreNoCrash) {
  EXPECT_EQ(render_printf(format("1:1:4:%d %d"), Bytes(), no_string), "0 ");
  const std::vector<PrintfFormat> formats{format("1:1:4:%d")};
  EXPECT_EQ(render_records(formats, Bytes().add(1u), no_string), "");
}

}  // namespace
}  // namespace ww::sim::driver::printf_test
