#include "common/print/hip_printf.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

namespace ww::sim::driver::hip {
namespace {

class Message {
 public:
  explicit Message(std::string_view format) { text(format); }
  Message& text(std::string_view text) {
    std::vector<std::uint64_t> words(text.size() / 8 + 1);
    std::memcpy(words.data(), text.data(), text.size());
    words_.insert(words_.end(), words.begin(), words.end());
    return *this;
  }
  Message& number(std::uint64_t value) {
    words_.push_back(value);
    return *this;
  }
  Message& real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
  [[nodiscard]] std::string rendered() const { return render_message(words_); }

 private:
  std::vector<std::uint64_t> words_;
};

TEST(HostcallText, RendersEachKindOfConversion) {
  EXPECT_EQ(Message("%d|%5u|%-4x|%c|%s|%.2f|%e")
                .number(~std::uint64_t{4})
                .number(7)
                .number(255)
                .number('q')
                .text("string")
                .real(2.5)
                .real(1e10)
                .rendered(),
            "-5|    7|ff  |q|string|2.50|1.000000e+10");
}

TEST(HostcallText, CutsNumbersToTheirLengthModifier) {
  const std::uint64_t wide = 0x1'2345'6789;
  EXPECT_EQ(Message("%x %hx %hhx %lx %llx")
                .number(wide)
                .number(wide)
                .number(wide)
                .number(wide)
                .number(wide)
                .rendered(),
            "23456789 6789 89 123456789 123456789");
  EXPECT_EQ(Message("%hhd %ld").number(0xFF).number(~std::uint64_t{0}).rendered(), "-1 -1");
}

TEST(HostcallText, TakesWidthsAndPrecisionsFromTheArguments) {
  EXPECT_EQ(Message("[%*d] [%.*f]").number(5).number(42).number(1).real(2.25).rendered(),
            "[   42] [2.2]");
  // A field of two thousand million characters is a mistake.
  EXPECT_EQ(Message("%*d").number(2'000'000'000).number(1).rendered().size(), 4096U);
}

TEST(HostcallText, LeavesWhatTheWordsDoNotHoldAsItStands) {
  EXPECT_EQ(Message("100%% %d").rendered(), "100% %d");
  EXPECT_EQ(Message("%q %").rendered(), "%q %");
  EXPECT_EQ(Message("%s").rendered(), "%s");
  EXPECT_EQ(render_message({}), "");
  // A string without its end is cut where the words end.
  const std::vector<std::uint64_t> endless{0x6161616161616161};
  EXPECT_EQ(render_message(endless), "aaaaaaaa");
}

// Records as kernels leave them.
class Buffer {
 public:
  template <class T>
  Buffer& put(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }
  Buffer& text(std::string_view text) {
    for (const char c : text) put(c);
    while (bytes_.size() % 8 != 4) put('\0');  // behind the record's first word
    return *this;
  }
  [[nodiscard]] std::string rendered(std::size_t bytes = ~std::size_t{0}) const {
    const std::vector<std::string> formats{"0:0:a7de071b4e28613,%d and %s: %.1f\n",
                                           "0:0:ff,a, b and 0:0:ff\n"};
    EXPECT_TRUE(are_formats_of_hip(formats));
    return render_buffer(formats, std::span(bytes_).first(std::min(bytes, bytes_.size())),
                         [](std::uint64_t address) { return "<" + std::to_string(address) + ">"; });
  }

 private:
  std::vector<std::byte> bytes_;
};

constexpr std::uint32_t kHasNumber = 2;

TEST(BufferText, RendersRecordsByTheNumberOfTheirFormat) {
  Buffer buffer;
  buffer.put(std::uint32_t{36U << 2 | kHasNumber})
      .put(std::uint64_t{0xa7de071b4e28613})
      .put(std::int64_t{-4})
      .text(std::string_view("abcdefg\0", 8))
      .put(2.5);
  EXPECT_EQ(buffer.rendered(), "-4 and abcdefg: 2.5\n");
  EXPECT_EQ(buffer.rendered(35), "");
  EXPECT_FALSE(are_formats_of_hip(std::vector<std::string>{"1:1:4:%d\\n"}));
}

TEST(BufferText, RendersFormatsInTheRecordAndEndsAtDamage) {
  Buffer buffer;
  buffer.put(std::uint32_t{12U << 2 | kHasNumber}).put(std::uint64_t{0xff});
  buffer.put(std::uint32_t{28U << 2}).put(std::uint64_t{0x6425207325}).put(std::uint64_t{77});
  buffer.put(std::uint64_t{5});
  EXPECT_EQ(buffer.rendered(), "a, b and 0:0:ff\n<77> 5");
  buffer.put(std::uint32_t{12U << 2 | kHasNumber}).put(std::uint64_t{0xfe});  // of no format
  buffer.put(std::uint32_t{12U << 2 | kHasNumber}).put(std::uint64_t{0xff});
  EXPECT_EQ(buffer.rendered(), "a, b and 0:0:ff\n<77> 5");
  EXPECT_EQ(Buffer().put(std::uint32_t{1}).rendered(), "");
}

}  // namespace
}  // namespace ww::sim::driver::hip
