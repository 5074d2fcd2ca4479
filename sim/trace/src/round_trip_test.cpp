#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "testing.hpp"

namespace ww::sim::trace {
namespace {

void expect_equal(const Access& read, const Access& written) {
  RC_ASSERT(read.launch == written.launch);
  RC_ASSERT(read.instruction == written.instruction);
  RC_ASSERT(read.group == written.group);
  RC_ASSERT(read.wave == written.wave);
  RC_ASSERT(read.lanes == written.lanes);
  RC_ASSERT(read.address == written.address);
  RC_ASSERT(read.has_values == written.has_values);
  RC_ASSERT(read.value == written.value);
}

RC_GTEST_PROP(Trace, ReadsBackWhatWasWritten, (std::uint64_t seed)) {
  const auto content = test::random_content(seed, *rc::gen::inRange<std::size_t>(1, 400));
  test::Folder folder;
  const Totals totals = test::write(folder / "a.wwt", content);
  auto reader = Reader::open(folder / "a.wwt");
  RC_ASSERT(reader.has_value());
  RC_ASSERT(reader->producer() == "test");
  Access access;
  for (const Access& written : content.accesses) {
    const auto more = reader->next(access);
    RC_ASSERT(more.has_value());
    RC_ASSERT(*more);
    expect_equal(access, written);
  }
  const auto more = reader->next(access);
  RC_ASSERT(more.has_value());
  RC_ASSERT(!*more);
  RC_ASSERT(reader->launches() == content.launches);
  RC_ASSERT(reader->instructions() == content.instructions);
  RC_ASSERT(reader->totals() == totals);
}

RC_GTEST_PROP(Trace, SameAccessesGiveTheSameBytes, (std::uint64_t seed)) {
  const auto content = test::random_content(seed, 100);
  test::Folder folder;
  test::write(folder / "a.wwt", content);
  test::write(folder / "b.wwt", content);
  RC_ASSERT(*read_file(folder / "a.wwt") == *read_file(folder / "b.wwt"));
}

TEST(Trace, LargeOnesGoThroughSeveralChunks) {
  const auto content = test::random_content(7, 40'000);
  test::Folder folder;
  const Totals totals = test::write(folder / "a.wwt", content);
  auto reader = Reader::open(folder / "a.wwt");
  ASSERT_TRUE(reader) << reader.error().text();
  Access access;
  for (std::size_t i = 0; i < content.accesses.size(); ++i) {
    const auto more = reader->next(access);
    ASSERT_TRUE(more) << more.error().text();
    ASSERT_TRUE(*more);
    ASSERT_EQ(access.value, content.accesses[i].value) << i;
    ASSERT_EQ(access.address, content.accesses[i].address) << i;
  }
  EXPECT_FALSE(*reader->next(access));
  EXPECT_EQ(reader->totals(), totals);
  EXPECT_GT(totals.loaded_bytes, totals.atomic_bytes);
}

TEST(Trace, WithoutValuesKeepsEverythingElse) {
  const auto content = test::random_content(3, 2000);
  test::Folder folder;
  const Totals totals = test::write(folder / "values.wwt", content);
  test::write(folder / "a.wwt", content, test::Values::left_out);
  EXPECT_LT(std::filesystem::file_size(folder / "a.wwt") * 2,
            std::filesystem::file_size(folder / "values.wwt"));
  auto reader = Reader::open(folder / "a.wwt");
  ASSERT_TRUE(reader) << reader.error().text();
  Access access;
  for (const Access& written : content.accesses) {
    const auto more = reader->next(access);
    ASSERT_TRUE(more) << more.error().text();
    ASSERT_TRUE(*more);
    EXPECT_FALSE(access.has_values);
    EXPECT_EQ(access.lanes, written.lanes);
    EXPECT_EQ(access.address, written.address);
  }
  EXPECT_FALSE(*reader->next(access));
  EXPECT_EQ(reader->instructions(), content.instructions);
  EXPECT_EQ(reader->totals(), totals);
}

TEST(Trace, RepeatedStridedLoadsTakeFarLessThanAByteAnAccess) {
  test::Folder folder;
  auto writer = Writer::create(folder / "a.wwt", "test");
  ASSERT_TRUE(writer);
  const auto load = (*writer)->instruction(test::instructions()[0]);
  (*writer)->launch({0, "stream", {1, 1, 1}, {64, 1, 1}});
  std::mt19937 random(1);
  std::vector<std::uint32_t> memory(1 << 16);
  for (auto& word : memory) word = static_cast<std::uint32_t>(random());
  for (int pass = 0; pass < 20; ++pass) {
    for (std::size_t at = 0; at < memory.size(); at += kLanes) {
      AccessView view;
      view.instruction = load;
      view.group = static_cast<std::uint32_t>(at / 256);
      view.lanes = ~std::uint64_t{0};
      view.base = 0x10000 + at * 4;
      view.stride = 4;
      view.values = reinterpret_cast<const std::byte*>(memory.data() + at);
      view.value_stride = 4;
      (*writer)->access(view);
    }
  }
  ASSERT_TRUE((*writer)->finish());
  const auto bytes = static_cast<double>(std::filesystem::file_size(folder / "a.wwt"));
  const auto accesses = static_cast<double>((*writer)->totals().lane_accesses);
  EXPECT_EQ(accesses, 20.0 * (1 << 16));
  // Random values once (4 B), their repetitions and all addresses nearly nothing.
  EXPECT_LT(bytes / accesses, 4.0 / 20 + 0.05);
}

// c = f(a, b) by waves whose turns mix.
double bytes_of_stores(std::uint32_t (*f)(std::uint32_t, std::uint32_t)) {
  test::Folder folder;
  auto writer = Writer::create(folder / "a.wwt", "test");
  EXPECT_TRUE(writer);
  const auto load = (*writer)->instruction(test::instructions()[0]);
  const auto store = (*writer)->instruction(test::instructions()[3]);
  (*writer)->launch({0, "add", {1, 1, 1}, {64, 1, 1}});
  constexpr std::uint32_t waves = 1024;
  std::mt19937 random(1);
  std::vector<std::array<std::uint32_t, kLanes>> a(waves), b(waves), c(waves);
  for (std::uint32_t wave = 0; wave < waves; ++wave) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      a[wave][lane] = std::bit_cast<std::uint32_t>(static_cast<float>(random()) * 0x1p-32F);
      b[wave][lane] = std::bit_cast<std::uint32_t>(static_cast<float>(random()) * 0x1p-32F);
      c[wave][lane] = f(a[wave][lane], b[wave][lane]);
    }
  }
  const auto add = [&](std::uint32_t instruction, std::uint32_t wave, const auto& values) {
    AccessView view;
    view.instruction = instruction;
    view.group = wave / 4;
    view.wave = wave % 4;
    view.lanes = ~std::uint64_t{0};
    view.base = (&values == &a   ? 1U
                 : &values == &b ? 2U
                                 : 3U) *
                    std::uint64_t{0x1000000} +
                wave * 256U;
    view.stride = 4;
    view.values = reinterpret_cast<const std::byte*>(values[wave].data());
    view.value_stride = 4;
    (*writer)->access(view);
  };
  for (std::uint32_t first = 0; first < waves; first += 64) {
    for (std::uint32_t wave = first; wave < first + 64; ++wave) add(load, wave, a);
    for (std::uint32_t wave = first; wave < first + 64; ++wave) add(load, wave, b);
    for (std::uint32_t wave = first; wave < first + 64; ++wave) add(store, wave, c);
  }
  EXPECT_TRUE((*writer)->finish());
  auto reader = Reader::open(folder / "a.wwt");
  EXPECT_TRUE(reader);
  Access access;
  std::size_t stores = 0;
  while (*reader->next(access)) {
    const auto& values = access.address[0] < 0x2000000 ? a : access.address[0] < 0x3000000 ? b : c;
    stores += &values == &c ? 1 : 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::uint32_t word = 0;
      std::memcpy(&word, access.value.data() + lane * kMaxValueBytes, 4);
      EXPECT_EQ(word, values[access.group * 4 + access.wave][lane]);
    }
  }
  EXPECT_EQ(stores, waves);
  const double loads = 2.0 * waves * kLanes;
  return (static_cast<double>(std::filesystem::file_size(folder / "a.wwt")) - 3.3 * loads) /
         (waves * kLanes);
}

// Looking for a rule must not bring back the pages of the loads: a reader, who finds the words in
// the file, does not look for one.
TEST(Trace, ValuesThatFollowNoRuleLeaveTheImageAsItIs) {
  using Words = std::array<std::uint32_t, kLanes>;
  constexpr std::uint64_t kFirst = 1 << 20;
  constexpr std::uint64_t kSecond = kFirst + 0x10000;
  constexpr std::uint64_t kDisplacesFirst = kFirst + (std::uint64_t{16384} << 12);
  constexpr std::uint64_t kThird = kFirst + 0x20000;
  struct Step {
    std::uint32_t instruction, wave;
    std::uint64_t base;
    std::uint32_t word;
  };
  // The last finds its page as the second load left it: in place, and full of ones.
  const Step steps[] = {{0, 0, kFirst, 3},
                        {0, 0, kSecond, 4},
                        {0, 1, kDisplacesFirst, 1},
                        {1, 0, kThird, 0xABCD1234},
                        {1, 1, kDisplacesFirst, 0}};
  test::Folder folder;
  auto writer = Writer::create(folder / "a.wwt", "test");
  ASSERT_TRUE(writer) << writer.error().text();
  (*writer)->instruction({0x10, "load", Operation::load, 4, 4});
  (*writer)->instruction({0x20, "store", Operation::store, 4, 4});
  (*writer)->launch({0, "kernel", {1, 1, 1}, {128, 1, 1}});
  for (const Step& step : steps) {
    Words words;
    words.fill(step.word);
    AccessView view;
    view.instruction = step.instruction;
    view.wave = step.wave;
    view.lanes = ~std::uint64_t{0};
    view.base = step.base;
    view.stride = 4;
    view.values = std::as_bytes(std::span(words)).data();
    view.value_stride = 4;
    (*writer)->access(view);
  }
  ASSERT_TRUE((*writer)->finish());
  auto reader = Reader::open(folder / "a.wwt");
  ASSERT_TRUE(reader) << reader.error().text();
  Access access;
  for (const Step& step : steps) {
    const auto more = reader->next(access);
    ASSERT_TRUE(more && *more);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::uint32_t word = 0;
      std::memcpy(&word, &access.value[lane * kMaxValueBytes], sizeof word);
      EXPECT_EQ(word, step.word) << step.base << " lane " << lane;
    }
  }
}

TEST(Trace, ValuesComputedFromTheLastLoadsTakeNoBytes) {
  using U32 = std::uint32_t;
  EXPECT_LT(bytes_of_stores([](U32 a, U32) { return a; }), 0.1);
  EXPECT_LT(bytes_of_stores([](U32, U32 b) { return b; }), 0.1);
  EXPECT_LT(bytes_of_stores([](U32 a, U32 b) {
              return std::bit_cast<U32>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
            }),
            0.1);
  EXPECT_LT(bytes_of_stores([](U32 a, U32 b) {
              return std::bit_cast<U32>(std::bit_cast<float>(a) - std::bit_cast<float>(b));
            }),
            0.1);
  EXPECT_LT(bytes_of_stores([](U32 a, U32 b) {
              return std::bit_cast<U32>(std::bit_cast<float>(a) * std::bit_cast<float>(b));
            }),
            0.1);
  EXPECT_LT(bytes_of_stores([](U32 a, U32 b) { return a + b; }), 0.1);
  EXPECT_LT(bytes_of_stores([](U32 a, U32 b) { return b - a; }), 0.1);
  // Anything else is written.
  EXPECT_GT(bytes_of_stores([](U32 a, U32 b) { return a * 2654435761U ^ b; }), 2.9);
}

}  // namespace
}  // namespace ww::sim::trace
