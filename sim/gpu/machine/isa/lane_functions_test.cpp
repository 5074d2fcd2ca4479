// Exponentials, logarithms, sines and cosines of all lanes, beside the host's library in a longer
// format; and arithmetic on pairs of halves as every kind of host does it.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "machine/isa/lane_table.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {
namespace {

using Exact = long double;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Exact kTurn = 6.283185307179586476925286766559L;

Exact within_turn(Exact turns) {
  return turns - std::rint(turns);
}
// Angles are brought near 0, where the product with a rounded pi shows nothing of its error.
Exact sine(Exact turns) {
  Exact x = within_turn(turns);
  if (std::fabs(x) > 0.25L) x = std::copysign(0.5L, x) - x;
  return std::sin(x * kTurn);
}
Exact cosine(Exact turns) {
  return std::sin((0.25L - std::fabs(within_turn(turns))) * kTurn);
}

struct Function {
  Opcode opcode;
  Exact (*exact)(Exact);
};
const Function kFunctions[] = {
    {Opcode::v_exp_f32, [](Exact x) { return std::exp2(x); }},
    {Opcode::v_log_f32, [](Exact x) { return std::log2(x); }},
    {Opcode::v_sin_f32, sine},
    {Opcode::v_cos_f32, cosine},
};

// Exponentials and logarithms flush the denormals of their source and of their result.
Exact exact_of(const Function& function, float value) {
  constexpr float kLeastNormal = 0x1p-126F;
  const bool flushes =
      function.exact == kFunctions[0].exact || function.exact == kFunctions[1].exact;
  const auto vanishes = [flushes](float x) { return flushes && std::fabs(x) < kLeastNormal; };
  if (std::isinf(value) && function.exact == kFunctions[2].exact) {
    return std::numeric_limits<Exact>::quiet_NaN();
  }
  const Exact result = function.exact(vanishes(value) ? Exact{0} : Exact{value});
  return vanishes(static_cast<float>(result)) ? Exact{0} : result;
}

using Words = std::array<std::uint32_t, kLanes>;

Words run(const LaneTable& table, Opcode opcode, const Words& x) {
  alignas(64) Words in = x;
  alignas(64) Words out{};
  LaneContext context;
  table.vector[static_cast<std::size_t>(opcode)].function[0](out.data(), in.data(), in.data(),
                                                             in.data(), context);
  return out;
}

float of_one(const LaneTable& table, Opcode opcode, float x) {
  Words in;
  in.fill(std::bit_cast<std::uint32_t>(x));
  return std::bit_cast<float>(run(table, opcode, in)[kLanes - 1]);
}

// Error in units of the last place of the result that is nearest.
Exact error_of(float got, Exact exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(nearest) || std::isinf(nearest)) {
    const bool same = std::isnan(nearest) ? std::isnan(got) : got == nearest;
    return same ? 0 : 1000;
  }
  const float most = std::fabs(nearest);
  const Exact unit = Exact{std::nextafter(most, kInfinity)} - Exact{most};
  return std::fabs(Exact{got} - exact) / unit;
}

class LaneFunctions : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    table = lanes_named(GetParam());
    if (table == nullptr) GTEST_SKIP() << "this machine has no " << GetParam();
  }
  const LaneTable* table{};
};

TEST_P(LaneFunctions, AreRoundedOnce) {
  std::mt19937 random(11);
  for (const Function& function : kFunctions) {
    for (int round = 0; round < 2000; ++round) {
      Words x;
      for (std::uint32_t& word : x) {
        word = static_cast<std::uint32_t>(random());
        if (random() % 2 == 0) {  // of moderate size
          const double number = (static_cast<double>(random()) - 0x1p31) * 0x1p-24;
          word = std::bit_cast<std::uint32_t>(static_cast<float>(number));
        }
      }
      const Words result = run(*table, function.opcode, x);
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto value = std::bit_cast<float>(x[lane]);
        const auto got = std::bit_cast<float>(result[lane]);
        const Exact exact = exact_of(function, value);
        ASSERT_LE(error_of(got, exact), 0.5001L)
            << binpatch::isa::mnemonic(function.opcode) << " of " << value << ": " << got;
      }
    }
  }
}

TEST_P(LaneFunctions, KnowTheNumbersAtTheEdge) {
  const auto word = [this](Opcode opcode, float x) {
    return std::bit_cast<std::uint32_t>(of_one(*table, opcode, x));
  };
  constexpr std::uint32_t kNan = 0x7FC00000;
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, kInfinity), kInfinity);
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, -kInfinity), 0.0F);
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, -126.0F), 0x1p-126F);
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, -127.0F), 0.0F) << "denormals are flushed";
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, 127.0F), 0x1p127F);
  EXPECT_EQ(of_one(*table, Opcode::v_exp_f32, 128.0F), kInfinity);
  EXPECT_EQ(of_one(*table, Opcode::v_log_f32, kInfinity), kInfinity);
  EXPECT_EQ(of_one(*table, Opcode::v_log_f32, 0.0F), -kInfinity);
  EXPECT_EQ(of_one(*table, Opcode::v_log_f32, -0.0F), -kInfinity);
  EXPECT_EQ(of_one(*table, Opcode::v_log_f32, 1.0F), 0.0F);
  EXPECT_EQ(of_one(*table, Opcode::v_log_f32, 0x1p-126F), -126.0F);
  for (const float denormal : {0x1p-149F, -0x1p-149F, -0x1p-127F}) {
    EXPECT_EQ(of_one(*table, Opcode::v_log_f32, denormal), -kInfinity) << denormal;
  }
  EXPECT_EQ(word(Opcode::v_log_f32, -1.0F), kNan);
  EXPECT_EQ(word(Opcode::v_sin_f32, -0.0F), 0x80000000U);
  EXPECT_EQ(word(Opcode::v_sin_f32, 0x1p-149F), 6U) << "2 pi, of the least denormals";
  EXPECT_EQ(of_one(*table, Opcode::v_sin_f32, 0.25F), 1.0F);
  EXPECT_EQ(of_one(*table, Opcode::v_sin_f32, -255.75F), 1.0F);
  EXPECT_EQ(of_one(*table, Opcode::v_cos_f32, 0.5F), -1.0F);
  for (const float whole : {1.0F, 256.0F, 0x1p24F, 0x1.8p100F}) {
    EXPECT_EQ(of_one(*table, Opcode::v_sin_f32, whole), 0.0F) << whole;
    EXPECT_EQ(of_one(*table, Opcode::v_cos_f32, -whole), 1.0F) << whole;
  }
  for (const float infinity : {kInfinity, -kInfinity}) {
    EXPECT_EQ(word(Opcode::v_sin_f32, infinity), kNan);
    EXPECT_EQ(word(Opcode::v_cos_f32, infinity), kNan);
  }
  const auto payload = std::bit_cast<float>(0x7FC12345U);
  for (const Function& function : kFunctions) {
    EXPECT_EQ(word(function.opcode, payload), 0x7FC12345U)
        << binpatch::isa::mnemonic(function.opcode);
  }
}

INSTANTIATE_TEST_SUITE_P(Hosts, LaneFunctions, ::testing::Values("generic", "avx2", "avx512"),
                         [](const auto& info) { return info.param; });

// Each half as the first source, in both places of a word, with others of every class.
TEST(PackedHalves, AreTheSameOnEveryHost) {
  if (lanes_named("avx2") == nullptr) GTEST_SKIP() << "this machine has no AVX2 to compare with";
  const LaneTable* const generic = lanes_named("generic");
  std::mt19937 random(5);
  const auto other = [&random] {
    constexpr std::uint32_t kSpecial[] = {0,      0x8000, 1,      0x3FF,  0x400,  0x3C00,
                                          0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7C01, 0xFE55};
    const auto word = static_cast<std::uint32_t>(random());
    return word % 4 == 0 ? kSpecial[(word >> 8) % std::size(kSpecial)] : word >> 16;
  };
  for (const char* name : {"avx2", "avx512"}) {
    const LaneTable* const table = lanes_named(name);
    if (table == nullptr) continue;
    for (const Opcode opcode : {Opcode::v_pk_add_f16, Opcode::v_pk_mul_f16, Opcode::v_pk_fma_f16}) {
      const auto function = [opcode](const LaneTable& of) {
        return of.vector[static_cast<std::size_t>(opcode)].function[0];
      };
      for (std::uint32_t first = 0; first < 65536; first += kLanes / 8) {
        alignas(64) Words a, b, c, expected{}, found{};
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
          const std::uint32_t half = first + lane / 8;
          a[lane] = lane % 2 == 0 ? half | other() << 16 : half << 16 | other();
          b[lane] = other() | other() << 16;
          c[lane] = other() | other() << 16;
        }
        LaneContext context;
        function (*generic)(expected.data(), a.data(), b.data(), c.data(), context);
        function (*table)(found.data(), a.data(), b.data(), c.data(), context);
        ASSERT_EQ(found, expected) << name << " from " << first;
      }
    }
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
