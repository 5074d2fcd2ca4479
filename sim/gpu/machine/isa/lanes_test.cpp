// The lane functions are compiled for several host instruction sets: all must give the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "machine/isa/lane_table.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {
namespace {

struct alignas(64) Lanes {
  std::uint32_t word[2 * kLanes];
};

// Words that make trouble beside random ones: zeros, ones, denormals, infinities, NaNs, limits.
Lanes inputs(std::mt19937& random, bool wide) {
  static constexpr std::uint32_t kSpecial[] = {0,          1,          0x80000000, 0xFFFFFFFF,
                                               0x7FFFFFFF, 0x3F800000, 0xBF800000, 0x7F800000,
                                               0xFF800000, 0x7FC00000, 0x00000001, 0x807FFFFF,
                                               0x00800000, 0x7F7FFFFF, 0x4F800000, 0xCF000000};
  static constexpr std::uint64_t kWide[] = {0,
                                            1,
                                            0x8000000000000000,
                                            0x3FF0000000000000,
                                            0x7FF0000000000000,
                                            0xFFF0000000000000,
                                            0x7FF8000000000000,
                                            0x0000000000000001,
                                            0x0010000000000000,
                                            0x7FEFFFFFFFFFFFFF,
                                            0x41E0000000000000,
                                            0xFFFFFFFFFFFFFFFF};
  Lanes lanes_of;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    std::uint64_t value = random();
    if (wide) value |= std::uint64_t{random()} << 32;
    if (random() % 3 == 0) value = wide ? kWide[random() % 12] : kSpecial[random() % 16];
    if (random() % 3 == 0) {  // a number of moderate size
      const double number =
          (static_cast<double>(random()) - 2e9) / static_cast<double>(1U << random() % 31);
      value = wide ? std::bit_cast<std::uint64_t>(number)
                   : std::bit_cast<std::uint32_t>(static_cast<float>(number));
    }
    lanes_of.word[lane] = static_cast<std::uint32_t>(value);
    lanes_of.word[kLanes + lane] = static_cast<std::uint32_t>(value >> 32);
  }
  return lanes_of;
}

// Equal bits, or both a NaN (whose payload the hosts choose differently).
bool same(std::uint64_t a, std::uint64_t b, const VectorEntry& entry) {
  if (a == b) return true;
  const auto nan32 = [](std::uint64_t x) {
    return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(x)));
  };
  const auto equal32 = [&](std::uint64_t x, std::uint64_t y) {
    return static_cast<std::uint32_t>(x) == static_cast<std::uint32_t>(y) || (nan32(x) && nan32(y));
  };
  if (entry.result == Destination::vgpr_pair && entry.float_bits == 32 && entry.wide != 0) {
    return equal32(a, b) && equal32(a >> 32, b >> 32);  // a packed pair of floats
  }
  if (entry.result == Destination::vgpr_pair) {
    return std::isnan(std::bit_cast<double>(a)) && std::isnan(std::bit_cast<double>(b));
  }
  return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(a))) &&
         std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(b)));
}

void expect_alike(const LaneTable& reference, const LaneTable& table) {
  std::mt19937 random(1);
  std::size_t checked = 0;
  for (std::size_t opcode = 0; opcode < binpatch::isa::kOpcodeCount; ++opcode) {
    const VectorEntry& entry = reference.vector[opcode];
    ASSERT_EQ(entry.function[0] == nullptr, table.vector[opcode].function[0] == nullptr);
    if (entry.function[0] == nullptr || entry.result == Destination::none) continue;
    ++checked;
    for (int round = 0; round < 20; ++round) {
      const Lanes a = inputs(random, (entry.wide & 1U) != 0);
      const Lanes b = inputs(random, (entry.wide & 2U) != 0);
      const Lanes c = inputs(random, (entry.wide & 4U) != 0);
      LaneContext contexts[2];
      contexts[0].mask_in = contexts[1].mask_in = std::uint64_t{random()} << 32 | random();
      Lanes results[2] = {};
      for (const std::size_t flush : {0U, 1U}) {
        entry.function[flush](results[0].word, a.word, b.word, c.word, contexts[0]);
        table.vector[opcode].function[flush](results[1].word, a.word, b.word, c.word, contexts[1]);
        ASSERT_EQ(contexts[0].mask_out, contexts[1].mask_out)
            << binpatch::isa::mnemonic(static_cast<Opcode>(opcode));
        if (entry.result == Destination::mask) continue;
        const bool pair = entry.result == Destination::vgpr_pair;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          const auto value = [&](const Lanes& l) {
            return l.word[lane] | (pair ? std::uint64_t{l.word[kLanes + lane]} << 32 : 0);
          };
          ASSERT_TRUE(same(value(results[0]), value(results[1]), entry))
              << binpatch::isa::mnemonic(static_cast<Opcode>(opcode)) << std::hex << " of "
              << value(a) << ", " << value(b) << ", " << value(c) << ": " << value(results[0])
              << " and " << value(results[1]);
        }
      }
    }
  }
  EXPECT_GT(checked, 300U);
}

TEST(Lanes, AreNoWiderThanTheEnvironmentAllows) {
  const char* const set = std::getenv("WIREWATT_VECTORS");
  const std::string_view allowed = set == nullptr ? "" : set;
  if (allowed != "none" && allowed != "avx2") GTEST_SKIP() << "WIREWATT_VECTORS allows all";
  EXPECT_EQ(lanes_named("avx512"), nullptr);
  if (allowed == "none") {
    EXPECT_EQ(lanes_named("avx2"), nullptr);
    EXPECT_STREQ(best_lanes().name, "generic");
  }
}

TEST(Lanes, GiveTheSameWithAvx2AsWithout) {
  const LaneTable* table = lanes_named("avx2");
  if (table == nullptr) GTEST_SKIP() << "this machine has no AVX2";
  expect_alike(*lanes_named("generic"), *table);
}

TEST(Lanes, GiveTheSameWithAvx512AsWithout) {
  const LaneTable* table = lanes_named("avx512");
  if (table == nullptr) GTEST_SKIP() << "this machine has no AVX-512";
  expect_alike(*lanes_named("generic"), *table);
}

// The forms that take one word for all lanes as first source.
void expect_scalar_first_alike(const LaneTable& table) {
  std::mt19937 random(2);
  std::size_t checked = 0;
  for (std::size_t opcode = 0; opcode < binpatch::isa::kOpcodeCount; ++opcode) {
    const VectorEntry& entry = table.vector[opcode];
    if (entry.scalar_first[0] == nullptr) continue;
    ++checked;
    ASSERT_EQ(entry.wide & 1U, 0U) << binpatch::isa::mnemonic(static_cast<Opcode>(opcode));
    for (int round = 0; round < 20; ++round) {
      Lanes a = inputs(random, false);
      const Lanes b = inputs(random, (entry.wide & 2U) != 0);
      const Lanes c = inputs(random, (entry.wide & 4U) != 0);
      const std::uint32_t word = a.word[5];
      std::fill_n(a.word, kLanes, word);
      LaneContext contexts[2];
      contexts[0].mask_in = contexts[1].mask_in = std::uint64_t{random()} << 32 | random();
      for (const std::size_t flush : {0U, 1U}) {
        Lanes results[2] = {};
        entry.function[flush](results[0].word, a.word, b.word, c.word, contexts[0]);
        entry.scalar_first[flush](results[1].word, &word, b.word, c.word, contexts[1]);
        ASSERT_EQ(contexts[0].mask_out, contexts[1].mask_out);
        if (entry.result == Destination::mask) continue;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          ASSERT_TRUE(same(results[0].word[lane], results[1].word[lane], entry))
              << binpatch::isa::mnemonic(static_cast<Opcode>(opcode));
        }
      }
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(Lanes, GiveTheSameForAScalarAsForItsCopies) {
  for (const char* name : {"generic", "avx2", "avx512"}) {
    if (const LaneTable* table = lanes_named(name); table != nullptr) {
      expect_scalar_first_alike(*table);
    }
  }
}

// The host's library in place of functions that loops over lanes have no room for.
TEST(Lanes, TakeNumbersApartAsTheHostsLibraryDoes) {
  std::mt19937_64 random(4);
  const auto finite = [&random] {
    std::uint64_t bits = random();
    if (random() % 4 == 0) bits &= 0x800FFFFFFFFFFFFF;  // denormal
    if (random() % 16 == 0) bits &= std::uint64_t{1} << 63;
    const auto number = std::bit_cast<double>(bits);
    return std::isfinite(number) ? number : 1.5;
  };
  const auto put = [](Lanes& lanes_of, std::size_t lane, std::uint64_t bits) {
    lanes_of.word[lane] = static_cast<std::uint32_t>(bits);
    lanes_of.word[kLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
  };
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    const auto run = [table](Opcode opcode, const Lanes& a, const Lanes& b) {
      Lanes result = {};
      LaneContext context;
      table->vector[static_cast<std::size_t>(opcode)].function[0](result.word, a.word, b.word,
                                                                  a.word, context);
      return result;
    };
    for (int round = 0; round < 500; ++round) {
      Lanes number = {};
      Lanes single = {};
      Lanes power = {};
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const double value = finite();
        put(number, lane, std::bit_cast<std::uint64_t>(value));
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const auto word = static_cast<std::uint32_t>(bits >> 32);
        single.word[lane] = std::isfinite(std::bit_cast<float>(word)) ? word : 1;
        power.word[lane] = static_cast<std::uint32_t>(random()) >> random() % 32;
        if (random() % 2 == 0)
          power.word[lane] = static_cast<std::uint32_t>(random() % 4400) - 2200U;
      }
      const Lanes scaled = run(Opcode::v_ldexp_f64, number, power);
      const Lanes exponent = run(Opcode::v_frexp_exp_i32_f64, number, power);
      const Lanes fraction = run(Opcode::v_frexp_mant_f64, number, power);
      const Lanes exponent_of_single = run(Opcode::v_frexp_exp_i32_f32, single, power);
      const Lanes fraction_of_single = run(Opcode::v_frexp_mant_f32, single, power);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto pair = [lane](const Lanes& l) {
          return l.word[lane] | std::uint64_t{l.word[kLanes + lane]} << 32;
        };
        const auto value = std::bit_cast<double>(pair(number));
        const auto by = static_cast<std::int32_t>(power.word[lane]);
        ASSERT_EQ(pair(scaled), std::bit_cast<std::uint64_t>(std::ldexp(value, by)))
            << name << ", " << value << " by " << by;
        int expected = 0;
        ASSERT_EQ(pair(fraction), std::bit_cast<std::uint64_t>(std::frexp(value, &expected)))
            << name << ", " << value;
        ASSERT_EQ(static_cast<std::int32_t>(exponent.word[lane]), expected)
            << name << ", " << value;
        const auto of_single = std::bit_cast<float>(single.word[lane]);
        ASSERT_EQ(fraction_of_single.word[lane],
                  std::bit_cast<std::uint32_t>(std::frexp(of_single, &expected)))
            << name << ", " << of_single;
        ASSERT_EQ(static_cast<std::int32_t>(exponent_of_single.word[lane]), expected)
            << name << ", " << of_single;
      }
    }
  }
}

TEST(Lanes, FindTheSmallestKeys) {
  std::mt19937_64 random(3);
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (int round = 0; round < 200; ++round) {
      alignas(64) std::array<std::uint64_t, 40> keys{};
      for (auto& key : keys) {
        key = random() % 3 == 0 ? ~std::uint64_t{0} : 1 + (random() >> (1 + round % 60));
      }
      const int rows = 1 + round % 5;
      std::vector<std::uint64_t> sorted(keys.begin(), keys.begin() + 8 * rows);
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(table->smallest_above(keys.data(), 0, rows), sorted[0]);
      const auto above = std::upper_bound(sorted.begin(), sorted.end(), sorted[0]);
      ASSERT_EQ(table->smallest_above(keys.data(), sorted[0], rows),
                above == sorted.end() ? ~std::uint64_t{0} : *above);
    }
  }
}

// Lanes in a row, with steps, on few words, anywhere; some of them disabled.
TEST(Lanes, FindWhereAccessesGo) {
  std::mt19937_64 random(9);
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (int round = 0; round < 400; ++round) {
      const std::uint64_t exec = round % 3 == 0 ? ~std::uint64_t{0} : random() & random();
      const std::uint64_t start = (std::uint64_t{1} << 32) + random() % 4096;
      const std::uint64_t step = round % 4 == 0 ? 4 : random() % 300;
      const std::uint64_t spread = round % 5 == 0 ? 1 + random() % 100'000 : 1;
      const auto bytes = std::uint32_t{1} << random() % 5;
      alignas(64) std::array<std::uint64_t, 64> address{};
      alignas(64) std::array<std::uint32_t, 64> word{};
      for (std::size_t lane = 0; lane < 64; ++lane) {
        address[lane] = start + lane * step + random() % spread;
        word[lane] = static_cast<std::uint32_t>(address[lane]);
      }
      const std::uint64_t base = start & ~std::uint64_t{63};
      const auto offset = static_cast<std::uint32_t>(random() % 2 == 0 ? 64 : ~random());
      AddressRange range;
      LocalSpan span{.first = ~std::uint32_t{0}, .in_row = true};
      bool in_lines = true;
      for (std::size_t lane = 0; lane < 64; ++lane) {
        span.in_row = span.in_row && word[lane] == word[0] + 4 * lane;
        if ((exec >> lane & 1U) == 0) continue;
        range.least = std::min(range.least, address[lane]);
        range.most = std::max(range.most, address[lane]);
        in_lines = in_lines && address[lane] / 64 == (address[lane] + bytes - 1) / 64;
        const std::uint32_t local = word[lane] + offset;
        span.first = std::min(span.first, local);
        span.last = std::max(span.last, local);
        span.banks[lane / 32] |= 1U << local / 4 % 32;
      }
      alignas(64) std::array<std::uint32_t, 64> line{};
      alignas(64) std::array<std::uint32_t, 64> mask{};
      table->expand_mask(mask.data(), exec);
      const AddressRange found_range = table->address_range(address.data(), exec);
      ASSERT_EQ(found_range.least, range.least) << name;
      ASSERT_EQ(found_range.most, range.most) << name;
      ASSERT_EQ(table->line_numbers(line.data(), address.data(), base, bytes, exec), in_lines)
          << name;
      for (std::size_t lane = 0; lane < 64; ++lane) {
        ASSERT_EQ(line[lane], (address[lane] - base) / 64) << name;
      }
      for (const std::uint32_t in_row : {32U, 64U}) {
        std::array<std::uint32_t, 64> number{};
        for (std::uint32_t lane = 0; lane < 64; ++lane) number[lane] = ~lane;
        std::array<std::uint32_t, 64> taken{};
        table->take_lanes(taken.data(), number.data(), word.data(), offset, in_row);
        for (std::uint32_t lane = 0; lane < 64; ++lane) {
          const std::uint32_t other = (word[lane] + offset) / 4 % in_row;
          ASSERT_EQ(~taken[lane], lane / in_row * in_row + other) << name;
        }
      }
      const std::uint32_t low = offset % 2 * 16;
      const std::uint32_t high = offset / 2 % 2 * 16;
      const std::uint32_t signs = offset << 13 & 0x80008000U;
      std::array<std::uint32_t, 64> paired{};
      table->pair_halves(paired.data(), word.data(), low, high, signs);
      for (std::size_t lane = 0; lane < 64; ++lane) {
        const auto half = [&](std::uint32_t from) { return word[lane] >> from & 0xFFFFU; };
        ASSERT_EQ(paired[lane] ^ signs, half(low) | half(high) << 16) << name;
      }
      const std::uint64_t apart = random() % 9;
      const auto count = static_cast<std::uint32_t>(1 + random() % 64);
      std::array<std::uint64_t, 64> row{};
      for (std::uint64_t i = 0; i < 64; ++i) row[i] = address[0] + apart * i;
      ASSERT_TRUE(table->follow_one_another(row.data(), count, apart)) << name;
      const auto other = static_cast<std::uint32_t>(random() % 64);
      row[other] ^= std::uint64_t{1} << random() % 64;
      ASSERT_EQ(table->follow_one_another(row.data(), count, apart),
                other >= count || (other == 0 && count == 1))
          << name;
      const LocalSpan found = table->local_span(word.data(), offset, mask.data());
      ASSERT_EQ(found.first, span.first) << name;
      ASSERT_EQ(found.last, span.last) << name;
      ASSERT_EQ(found.banks[0], span.banks[0]) << name;
      ASSERT_EQ(found.banks[1], span.banks[1]) << name;
      ASSERT_EQ(found.in_row, span.in_row) << name;
    }
  }
}

TEST(Lanes, FindWordsByColumn) {
  std::mt19937 random(4);
  for (const char* name : {"generic", "avx2", "avx512"}) {
    const LaneTable* table = lanes_named(name);
    if (table == nullptr) continue;
    for (int round = 0; round < 200; ++round) {
      std::array<std::uint32_t, 64> words{};
      const std::uint32_t first = round % 2 == 0 ? 0 : 0xFFFFFFF0U;
      for (auto& word : words) word = first + random() % 8;
      for (const std::uint32_t step : {0U, 1U}) {
        std::uint64_t equal = 0;
        std::uint64_t least = 0;
        for (std::size_t i = 0; i < words.size(); ++i) {
          bool smallest = true;
          for (std::size_t row = 0; row < 16; ++row) {
            smallest = smallest && words[i] <= words[row * 4 + i % 4];
          }
          least |= std::uint64_t{smallest} << i;
          equal |= std::uint64_t{words[i] == first + step * (i % 4)} << i;
        }
        ASSERT_EQ(table->equal_by_column(words.data(), first, step), equal) << name;
        ASSERT_EQ(table->least_by_column(words.data()), least) << name;
      }
    }
  }
}

// One lane of a 32-bit operation.
std::uint32_t one(Opcode opcode, std::uint32_t a, std::uint32_t b, std::uint32_t c, bool flush) {
  Lanes x{}, y{}, z{}, d{};
  x.word[0] = a;
  y.word[0] = b;
  z.word[0] = c;
  LaneContext context;
  lanes().vector[static_cast<std::size_t>(opcode)].function[flush](d.word, x.word, y.word, z.word,
                                                                   context);
  return d.word[0];
}
std::uint32_t f(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

// The signs of both factors count in the high half, and bits 31 to 24 of neither.
TEST(Lanes, MultiplyTheLow24BitsWithOrWithoutTheirSign) {
  std::mt19937 random(4);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t a = word(), b = word(), c = word();
    const auto signed24 = [](std::uint32_t x) {
      const auto low = static_cast<std::int64_t>(x & 0xFFFFFFU);
      return low >= 0x800000 ? low - 0x1000000 : low;
    };
    const auto i = static_cast<std::uint64_t>(signed24(a) * signed24(b));
    const std::uint64_t u = std::uint64_t{a & 0xFFFFFFU} * (b & 0xFFFFFFU);
    EXPECT_EQ(one(Opcode::v_mul_i32_i24, a, b, 0, false), static_cast<std::uint32_t>(i));
    EXPECT_EQ(one(Opcode::v_mul_hi_i32_i24, a, b, 0, false), static_cast<std::uint32_t>(i >> 32));
    EXPECT_EQ(one(Opcode::v_mad_i32_i24, a, b, c, false), static_cast<std::uint32_t>(i) + c);
    EXPECT_EQ(one(Opcode::v_mul_u32_u24, a, b, 0, false), static_cast<std::uint32_t>(u));
    EXPECT_EQ(one(Opcode::v_mul_hi_u32_u24, a, b, 0, false), static_cast<std::uint32_t>(u >> 32));
    EXPECT_EQ(one(Opcode::v_mad_u32_u24, a, b, c, false), static_cast<std::uint32_t>(u) + c);
  }
}

TEST(Lanes, MultiplyAndAddWithTwoRoundingsUnlessFused) {
  const float a = 1.0F + 0x1p-23F;
  const float rounded = a * a;  // loses 2^-46
  EXPECT_EQ(one(Opcode::v_mad_f32, f(a), f(a), f(-rounded), false), 0U);
  EXPECT_EQ(one(Opcode::v_fma_f32, f(a), f(a), f(-rounded), false), f(0x1p-46F));
}

TEST(Lanes, FlushDenormalsAsTheModeSays) {
  const std::uint32_t denormal = 0x00000400;
  EXPECT_EQ(one(Opcode::v_add_f32, denormal, denormal, 0, false), 2 * denormal);
  EXPECT_EQ(one(Opcode::v_add_f32, denormal, denormal, 0, true), 0U);
  EXPECT_EQ(one(Opcode::v_mul_f32, 0x80000400, f(2.0F), 0, true), 0x80000000U);
  // Unfused multiply-add flushes in every mode.
  EXPECT_EQ(one(Opcode::v_mad_f32, denormal, f(1.0F), 0, false), 0U);
  // Its product goes to zero before the sum, as that of a multiplication does.
  EXPECT_EQ(one(Opcode::v_mad_f32, f(0x1p-100F), f(-0x1p-30F), 0, true), 0U);
  EXPECT_EQ(one(Opcode::v_mad_f32, f(0x1p-100F), f(0x1p-27F), f(0x1p-126F), true), f(0x1p-126F));
}

TEST(Lanes, ChooseTheNumberBesideANan) {
  const std::uint32_t nan = 0x7FC00000;
  EXPECT_EQ(one(Opcode::v_min_f32, nan, f(3.0F), 0, false), f(3.0F));
  EXPECT_EQ(one(Opcode::v_max_f32, f(3.0F), nan, 0, false), f(3.0F));
  EXPECT_EQ(one(Opcode::v_med3_f32, f(3.0F), f(1.0F), f(2.0F), false), f(2.0F));
}

TEST(Lanes, BoundAValueFromBothSides) {
  const std::uint32_t below = ~0U;  // -1
  EXPECT_EQ(one(Opcode::v_maxmin_i32, below, 3, 7, false), 3U);
  EXPECT_EQ(one(Opcode::v_maxmin_i32, 9, 3, 7, false), 7U);
  EXPECT_EQ(one(Opcode::v_minmax_i32, 9, 7, 3, false), 7U);
  EXPECT_EQ(one(Opcode::v_minmax_i32, below, 7, 3, false), 3U);
  EXPECT_EQ(one(Opcode::v_maxmin_u32, below, 3, 7, false), 7U);
  EXPECT_EQ(one(Opcode::v_minmax_u32, below, 7, 3, false), 7U);
  EXPECT_EQ(one(Opcode::v_maxmin_f32, f(-1.0F), f(3.0F), f(7.0F), false), f(3.0F));
  EXPECT_EQ(one(Opcode::v_minmax_f32, f(9.0F), f(7.0F), f(3.0F), false), f(7.0F));
}

TEST(Lanes, ConvertOutOfRangeFloatsToTheNearestInteger) {
  EXPECT_EQ(one(Opcode::v_cvt_u32_f32, f(-1.0F), 0, 0, false), 0U);
  EXPECT_EQ(one(Opcode::v_cvt_u32_f32, f(1e20F), 0, 0, false), ~0U);
  EXPECT_EQ(one(Opcode::v_cvt_i32_f32, f(-1e20F), 0, 0, false), 0x80000000U);
  EXPECT_EQ(one(Opcode::v_cvt_i32_f32, 0x7FC00000, 0, 0, false), 0U);
  EXPECT_EQ(one(Opcode::v_cvt_i32_f32, f(-1.75F), 0, 0, false), ~0U);
}

TEST(Lanes, ConvertHalvesThereAndBack) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    if ((half & 0x7C00) == 0x7C00 && (half & 0x3FF) != 0) continue;  // NaNs
    const std::uint32_t wide = one(Opcode::v_cvt_f32_f16, half, 0, 0, false);
    ASSERT_EQ(one(Opcode::v_cvt_f16_f32, wide, 0, 0, false), half);
    ASSERT_EQ(one(Opcode::v_cvt_pkrtz_f16_f32, wide, 0, 0, false), half);
  }
  EXPECT_EQ(one(Opcode::v_cvt_f16_f32, f(65520.0F), 0, 0, false), 0x7C00U);
  EXPECT_EQ(one(Opcode::v_cvt_f16_f32, f(2049.0F), 0, 0, false), 0x6800U);  // ties to even
}

TEST(Lanes, ExtractAndAlignBits) {
  EXPECT_EQ(one(Opcode::v_bfe_u32, 0xABCD1234, 8, 8, false), 0x12U);
  EXPECT_EQ(one(Opcode::v_bfe_i32, 0x0000F000, 12, 4, false), ~0U);
  EXPECT_EQ(one(Opcode::v_alignbit_b32, 0x1, 0x80000000, 31, false), 3U);
  EXPECT_EQ(one(Opcode::v_bfi_b32, 0xFF00, 0x1234, 0x5678, false), 0x1278U);
  EXPECT_EQ(one(Opcode::v_sad_u8, 0x01020304, 0x04030201, 10, false), 18U);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
