// Single instructions against values that were settled by AMD's and LLVM's documents.
#include <bit>
#include <cmath>

#include "machine/testing/instruction_gpu.hpp"

namespace ww::sim::gpu::instructions_test {
namespace {

using U32 = std::uint32_t;
using Words = std::vector<U32>;

using Instructions = test::OnEachTarget;

// AMD's "Instinct MI300" and "RDNA 3" ISA, S_MAX_I32: SCC = S0 >= S1.
TEST_P(Instructions, TheLargerOfEqualScalarsIsTheFirst) {
  const std::uint64_t out = gpu().buffer(Words(2));
  const auto larger = [&](U32 a, U32 b) {
    gpu().launch("larger_scalars", 1, 1, out, a, b);
    return gpu().read<U32>(out, 2);
  };
  EXPECT_EQ(larger(5, 5), (Words{1, 1}));
  EXPECT_EQ(larger(5, 6), (Words{0, 0}));
  EXPECT_EQ(larger(0xFFFFFFFF, 6), (Words{1, 0}));
}

// CDNA 3's products of doubles turn the signs of A, B and C (LLVM, IntrinsicsAMDGPU.td: BLGP is NEG
// in the DGEMM MFMA of gfx940). The operands are small whole numbers: no sum is rounded.
TEST_P(Instructions, ProductsOfDoublesTurnSigns) {
  if (!has("turned_products")) GTEST_SKIP() << "gfx942's";
  const auto values = [](std::size_t count, int first) {
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<int>(i * 7 % 13) - first;
    return all;
  };
  const auto turned = [](std::vector<double> all, bool turn) {
    for (double& x : all) x = turn ? -x : x;
    return all;
  };
  const auto a = values(64, 3);
  const auto b = values(64, 5);
  const auto c = values(256, 4);
  constexpr std::size_t kResults = 2048 + 8 * 64;
  const auto products = [&](unsigned turn) {
    const std::uint64_t out = gpu().buffer(std::vector<double>(kResults));
    gpu().launch("turned_products", 64, 64, gpu().buffer(turned(a, (turn & 1U) != 0)),
                 gpu().buffer(turned(b, (turn & 2U) != 0)),
                 gpu().buffer(turned(c, (turn & 4U) != 0)), out);
    return gpu().read<double>(out, kResults);
  };
  const auto plain = products(0);
  for (unsigned turn = 1; turn < 8; ++turn) {
    const auto expected = products(turn);  // the first of them: none is turned by the instruction
    for (std::size_t i = 0; i < 256; ++i) {
      EXPECT_EQ(plain[256 * turn + i], expected[i]) << "16x16x4, " << turn << ", " << i;
    }
    for (std::size_t i = 0; i < 64; ++i) {
      EXPECT_EQ(plain[2048 + 64 * turn + i], expected[2048 + i]) << "4x4x4, " << turn << ", " << i;
    }
  }
  EXPECT_NE(std::vector(plain.begin(), plain.begin() + 256),
            std::vector(plain.begin() + 256, plain.begin() + 512));
}

// gfx1100's instructions on halves of registers (RDNA 3 ISA, "16-bit operands"). `result` is v22
// after it, whose halves were 0x1111 and 0x2222; `other` v20, `mask` VCC as 0 or 1.
struct Halves {
  const char* kernel;
  U32 result, other, mask;
};
TEST_P(Instructions, HalvesOfRegistersAreRightOnesAndTheOthersStay) {
  if (!has("mov_high_low")) GTEST_SKIP() << "gfx1100's";
  constexpr U32 a = 0x40003C00;       // 2 above 1; as integers 0x4000 and 0x3C00
  constexpr U32 b = 0x38004200;       // 0.5 above 3
  constexpr U32 kFloat = 0x42280000;  // 42 as a float, 3.0793 above 0 as halves
  constexpr Halves kCases[] = {
      {"mov_high_low", 0x3C002222, a, 0},
      {"mov_low_high", 0x11114000, a, 0},
      {"mov_long_high_high", 0x40002222, a, 0},
      {"swap_high_low", 0x3C002222, 0x40001111, 0},
      {"add_high_of_low_high", 0x41002222, a, 0},  // 2 + 0.5
      {"add_low_of_high_low", 0x11114500, a, 0},   // 2 + 3
      {"widen_high", 0x40000000, a, 0},            // 2 as a float
      {"less_high_low", 0x11112222, a, 1},         // 2 < 3
      {"less_low_high", 0x11112222, a, 0},         // 0x3C00 < 0x3800
      {"and_long", 0x40002222, a, 0},              // 0x4000 & 0x4200
      {"neighbour_to_high", 0x3E002222, a, 0},     // 1 + 0.5
  };
  const auto run = [&](const char* kernel, U32 x) {
    const std::uint64_t out = gpu().buffer(Words(3 * 32));
    gpu().launch(kernel, 32, 32, gpu().buffer(Words(32, x)), gpu().buffer(Words(32, b)),
                 gpu().buffer(Words(32, 0x11112222)), out);
    return gpu().read<U32>(out, 3);  // of the first work-item
  };
  for (const Halves& each : kCases) {
    EXPECT_EQ(run(each.kernel, a), (Words{each.result, each.other, each.mask})) << each.kernel;
  }
  // Sums that go on in the upper half: 0x1111 is 2^-11 * 1.0664; 1 * 3 and that is 3 rounded.
  EXPECT_EQ(run("add_to_high", a)[0], 0x42002222U);
  EXPECT_EQ(run("narrow_to_high", kFloat)[0], 0x51402222U);
}

// gfx1100's compares and its long forms with DPP (RDNA3 ISA, "DPP16"): the first source is another
// lane's of the row of 16. A lane without one is disabled, unless bound_ctrl makes it read 0.
TEST_P(Instructions, ComparesTakeLanesOfTheRow) {
  if (!has("next_is_less")) GTEST_SKIP() << "gfx1100's";
  constexpr std::size_t kLanes = 32;
  Words a(kLanes), b(kLanes), c(kLanes);
  for (std::size_t i = 0; i < kLanes; ++i) {
    a[i] = static_cast<U32>(i * 7 % 11);
    b[i] = static_cast<U32>(i * 5 % 11);
    c[i] = static_cast<U32>(1000 + i);
  }
  const auto run = [&](const char* kernel, std::size_t at) {
    const std::uint64_t out = gpu().buffer(Words(3 * kLanes));
    gpu().launch(kernel, kLanes, kLanes, gpu().buffer(a), gpu().buffer(b), gpu().buffer(c), out);
    const Words all = gpu().read<U32>(out, 3 * kLanes);
    Words found(kLanes);
    for (std::size_t i = 0; i < kLanes; ++i) found[i] = all[3 * i + at];
    return found;
  };
  Words less(kLanes), known(kLanes), more(kLanes), sums(kLanes);
  for (std::size_t i = 0; i < kLanes; ++i) {
    const bool has_next = i % 16 != 15;
    const std::size_t last = i / 16 * 16 + (i + 15) % 16;
    less[i] = (has_next ? a[i + 1] : 0) < b[i] ? 1 : 0;
    known[i] = has_next && a[i + 1] < b[i] ? 1 : 0;
    more[i] = a[last] > b[i] ? 1 : 0;
    sums[i] = has_next ? a[i + 1] * b[i] + c[i] : c[i];
  }
  EXPECT_EQ(run("next_is_less", 2), less);
  EXPECT_EQ(run("known_next_is_less", 2), known);
  EXPECT_NE(less, known);
  EXPECT_EQ(run("last_is_more", 2), more);
  EXPECT_EQ(run("add_to_product_of_next", 0), sums);
}

// RDNA ISA, "Wave32 mode": EXEC_HI and VCC_HI are scalar registers like others.
TEST_P(Instructions, UpperHalvesOfMasksAreRegistersInAWaveOf32) {
  if (!has("upper_exec")) GTEST_SKIP() << "RDNA's";
  const std::uint64_t out = gpu().buffer(Words(3 * 32));
  gpu().launch("upper_exec", 32, 32, out, 0x1234U);
  const Words seen = gpu().read<U32>(out, 3 * 32);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(seen[3 * i], 0x128AU);
    EXPECT_EQ(seen[3 * i + 1], 0x34U);
    EXPECT_EQ(seen[3 * i + 2], 0xFFFFFFFFU) << "lanes";
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Instructions, ::testing::ValuesIn(test::instruction_objects()),
                         test::target_of);

}  // namespace
}  // namespace ww::sim::gpu::instructions_test
