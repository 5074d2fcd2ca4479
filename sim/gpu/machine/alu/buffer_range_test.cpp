// Where buffers end: what loads bring and stores leave there, by the rules of each generation,
// which buffer_addresses.cpp names with their sources.
#include "machine/image/image_format.hpp"
#include "machine/testing/instruction_gpu.hpp"

namespace ww::sim::gpu::buffer_range_test {
namespace {

using U32 = std::uint32_t;
using Words = std::vector<U32>;

constexpr U32 kItems = 8;
constexpr U32 kWords = 64;
constexpr U32 kSwizzle = 1;

enum class Rules { gfx7, gfx9, gfx10, gfx11 };

// Index and offset of a work-item.
struct At {
  U32 index, offset;
};
std::vector<At> offsets(U32 first, U32 step) {
  std::vector<At> at;
  for (U32 i = 0; i < kItems; ++i)
    at.push_back({first + i * step, 0});  // of an access without index
  return at;
}
std::vector<At> records(U32 offset) {
  std::vector<At> at;
  for (U32 i = 0; i < kItems; ++i) at.push_back({i, offset});
  return at;
}

class BufferRange : public test::OnEachTarget {
 protected:
  BufferRange() : memory_(gpu().buffer(contents())), out_(gpu().buffer(Words(4 * kItems))) {}

  // Word i is 100 + i.
  static Words contents() {
    Words words(kWords);
    for (U32 i = 0; i < kWords; ++i) words[i] = 100 + i;
    return words;
  }
  [[nodiscard]] Rules rules() const {
    return target() == "gfx701"    ? Rules::gfx7
           : target() == "gfx1030" ? Rules::gfx10
           : target() == "gfx1100" ? Rules::gfx11
                                   : Rules::gfx9;
  }
  [[nodiscard]] bool is_rdna() const { return rules() >= Rules::gfx10; }

  // `oob_select`: of RDNA alone.
  struct Buffer {
    U32 records, stride{}, oob_select{3}, swizzle{};
    bool typed{};
  };
  [[nodiscard]] std::uint64_t descriptor(const Buffer& b) {
    const U32 swizzle = b.swizzle == 0 ? 0 : rules() == Rules::gfx11 ? 1U << 30 : 1U << 31;
    Words words{static_cast<U32>(memory_),
                static_cast<U32>(memory_ >> 32) | b.stride << 16 | swizzle, b.records, 0};
    if (is_rdna()) words[3] |= b.oob_select << 28;
    if (rules() == Rules::gfx7) words[3] |= 1U << 19;  // elements of 4 bytes
    if (b.typed) words[3] |= format() | 4U | 5U << 3 | 6U << 6 | 7U << 9;
    return gpu().buffer(words);
  }
  // Four words, unsigned.
  [[nodiscard]] U32 format() const {
    exec::TexelFormat format;
    format.data = exec::DataFormat::f32_32_32_32;
    format.number = exec::NumberFormat::uint;
    if (!is_rdna())
      return static_cast<U32>(format.number) << 12 | static_cast<U32>(format.data) << 15;
    return exec::combined_format(format, rules() == Rules::gfx10 ? exec::CombinedFormats::gfx10
                                                                 : exec::CombinedFormats::gfx11)
           << 12;
  }

  void run(const std::string& kernel, const Buffer& buffer, U32 by, const std::vector<At>& at,
           std::uint64_t data) {
    gpu().launch(kernel, kItems, kItems, data, descriptor(buffer), by, gpu().buffer(at));
  }
  // Returns the `words` words that each work-item loads, as far as there is something.
  Words loaded(const std::string& kernel, const Buffer& buffer, U32 by, const std::vector<At>& at,
               U32 words) {
    run(kernel, buffer, by, at, out_);
    const U32 stride = words == 3 ? 4 : words;  // a uint3 takes as much as a uint4
    const Words all = gpu().read<U32>(out_, std::size_t{kItems} * stride);
    Words seen;
    for (U32 i = 0; i < kItems * stride; ++i) {
      if (i % stride < words) seen.push_back(all[i]);
    }
    while (!seen.empty() && seen.back() == 0) seen.pop_back();
    return seen;
  }
  // Where memory is another after the work-items stored 7, 8, 9 and 10 each.
  Words stored(const std::string& kernel, const Buffer& buffer, U32 by, const std::vector<At>& at,
               U32 words) {
    Words values;
    for (U32 i = 0; i < kItems * words; ++i) values.push_back(7 + i % words);
    run(kernel, buffer, by, at, gpu().buffer(values));
    const Words now = gpu().read<U32>(memory_, kWords);
    Words changed;
    for (U32 i = 0; i < kWords; ++i) {
      if (now[i] != 100 + i) changed.push_back(i);
    }
    return changed;
  }
  static Words from_to(U32 first, U32 count) {
    Words words(count);
    for (U32 i = 0; i < count; ++i) words[i] = first + i;
    return words;
  }

  std::uint64_t memory_, out_;
};

TEST_P(BufferRange, LoadsOfSeveralWordsEndWithTheBuffersLastOne) {
  const Buffer forty{.records = 40};
  EXPECT_EQ(loaded("load_1", forty, 0, offsets(0, 4), 1), from_to(100, 8));
  EXPECT_EQ(loaded("load_2", forty, 0, offsets(4, 8), 2), from_to(101, 9));
  EXPECT_EQ(loaded("load_3", forty, 0, offsets(0, 12), 3), from_to(100, 10));
  EXPECT_EQ(loaded("load_4", forty, 0, offsets(0, 16), 4), from_to(100, 10));
  EXPECT_EQ(loaded("load_4", {.records = 42}, 0, offsets(0, 16), 4), from_to(100, 10));
  EXPECT_EQ(loaded("load_byte", {.records = 2}, 0, offsets(0, 1), 1), Words{100});
  EXPECT_EQ(loaded("load_4", {.records = 0}, 0, offsets(0, 16), 4), Words{});
}

TEST_P(BufferRange, StoresWriteNothingBehindTheBuffersEnd) {
  EXPECT_EQ(stored("store_4", {.records = 40}, 0, offsets(0, 16), 4), from_to(0, 10));
  EXPECT_EQ(stored("store_4", {.records = 72}, 24, offsets(32, 16), 4),
            (Words{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 15, 16, 17}));  // after those of before
}

TEST_P(BufferRange, NarrowStoresStayInIt) {
  EXPECT_EQ(stored("store_1", {.records = 14}, 0, offsets(0, 4), 1), from_to(0, 3));
  EXPECT_EQ(stored("store_byte", {.records = 22}, 0, offsets(16, 4), 1), (Words{0, 1, 2, 4, 5}));
}

TEST_P(BufferRange, CountsTheScalarOffset) {
  EXPECT_EQ(loaded("load_1", {.records = 40}, 24, offsets(0, 4), 1), from_to(106, 4));
  EXPECT_EQ(loaded("load_4", {.records = 40}, 4, offsets(0, 16), 4), from_to(101, 9));
  EXPECT_EQ(loaded("load_1", {.records = 40}, 44, offsets(0, 4), 1), Words{});
}

TEST_P(BufferRange, FormatsAndAtomicsAreWithinOrWithout) {
  EXPECT_EQ(loaded("load_format", {.records = 40, .typed = true}, 0, offsets(0, 16), 4),
            from_to(100, 8));
  EXPECT_EQ(stored("store_format", {.records = 40, .typed = true}, 0, offsets(0, 16), 4),
            from_to(0, 8));
  EXPECT_EQ(stored("add_2", {.records = 76}, 0, offsets(48, 8), 2),
            (Words{0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17}));
}

// Without an index a buffer with a stride is one of bytes from gfx9 on; gfx7 has record 0 alone.
TEST_P(BufferRange, StrideWithoutAnIndex) {
  const Buffer records{.records = 16, .stride = 16};
  EXPECT_EQ(loaded("load_1", records, 0, offsets(0, 4), 1),
            rules() == Rules::gfx7 ? from_to(100, 8) : from_to(100, 4));
}

TEST_P(BufferRange, IndicesAreThoseOfRecords) {
  const Buffer three{.records = 3, .stride = 16, .oob_select = 0};
  EXPECT_EQ(loaded("load_1_indexed", three, 0, records(4), 1), (Words{101, 105, 109}));
  EXPECT_EQ(loaded("load_4_indexed", three, 0, records(0), 4), from_to(100, 12));
  EXPECT_EQ(stored("store_4_indexed", three, 0, records(0), 4), from_to(0, 12));
}

TEST_P(BufferRange, RdnaChecksAsTheDescriptorSays) {
  if (!is_rdna()) GTEST_SKIP() << "OOB_SELECT is RDNA's";
  const auto with = [&](U32 records, U32 stride, U32 oob_select) {
    return loaded("load_4_indexed",
                  {.records = records, .stride = stride, .oob_select = oob_select}, 0,
                  buffer_range_test::records(4), 4);
  };
  // Record and stride: three words behind the first one of each record of 16 bytes.
  EXPECT_EQ(with(2, 16, 0), (Words{101, 102, 103, 0, 105, 106, 107}));
  // Record alone: one word of the next record, too.
  EXPECT_EQ(with(2, 16, 1), (Words{101, 102, 103, 104, 105, 106, 107, 108}));
  EXPECT_EQ(with(1, 8, 2).size(), 4U * kItems);  // anything, as there are records
  EXPECT_EQ(with(0, 8, 2), Words{});
  // Bytes, which the index has no part in.
  EXPECT_EQ(with(16, 16, 3),
            (Words{101, 102, 103, 0, 105, 106, 107, 0, 109, 110, 111, 0, 113, 114, 115, 0,
                   117, 118, 119, 0, 121, 122, 123, 0, 125, 126, 127, 0, 129, 130, 131}));
  // The scalar offset counts where bytes do.
  const auto at = offsets(0, 4);
  EXPECT_EQ(loaded("load_1", {.records = 8, .stride = 16, .oob_select = 0}, 8, at, 1),
            from_to(102, 4));
  EXPECT_EQ(loaded("load_1", {.records = 16, .stride = 16, .oob_select = 3}, 8, at, 1),
            from_to(102, 2));
}

TEST_P(BufferRange, OffsetsWrapFromGfx9On) {
  const auto at = offsets(0xFFFFFFF8U, 4);
  const Words seen = loaded("load_1_after_12", {.records = 16}, 0, at, 1);
  // -8 + 12 and on; gfx7 has the first two out of range.
  EXPECT_EQ(seen, rules() == Rules::gfx7 ? (Words{0, 0, 103}) : from_to(101, 3));
}

// Records of 8 bytes whose words lie eight apart: 0 and 8, 1 and 9.
TEST_P(BufferRange, ElementsOfASwizzledBufferLieApart) {
  Buffer buffer{.records = 3, .stride = 8, .oob_select = 0, .swizzle = kSwizzle};
  EXPECT_EQ(loaded("load_1_indexed", buffer, 0, records(4), 1), (Words{108, 109, 110}));
  buffer.stride = 16;
  EXPECT_EQ(loaded("load_4_indexed", buffer, 0, records(0), 4),
            (Words{100, 108, 116, 124, 101, 109, 117, 125, 102, 110, 118, 126}));
  EXPECT_EQ(stored("store_4_indexed", buffer, 0, records(0), 4),
            (Words{0, 1, 2, 8, 9, 10, 16, 17, 18, 24, 25, 26}));
}

TEST_P(BufferRange, ScalarLoadsEndWithTheBuffer) {
  const auto loaded_at = [&](const Buffer& buffer, U32 by) {
    gpu().launch("load_4_scalar", 1, 1, out_, descriptor(buffer), by);
    return gpu().read<U32>(out_, 4);
  };
  EXPECT_EQ(loaded_at({.records = 40}, 32), (Words{108, 109, 0, 0}));
  EXPECT_EQ(loaded_at({.records = 2, .stride = 20}, 32), (Words{108, 109, 0, 0}));
  EXPECT_EQ(loaded_at({.records = 40}, 0xFFFFFFFCU), (Words{0, 0, 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Targets, BufferRange, ::testing::ValuesIn(test::instruction_objects()),
                         test::target_of);

}  // namespace
}  // namespace ww::sim::gpu::buffer_range_test
