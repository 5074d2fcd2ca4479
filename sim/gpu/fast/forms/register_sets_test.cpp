// Registers that registers_of() leaves out are neither read nor written: straight-line code must
// not run ahead of a load that changes what it reads.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <memory>
#include <random>
#include <set>
#include <span>

#include "fast/forms/straight_line.hpp"
#include "machine/isa/operands.hpp"
#include "machine/launch/lower.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec::register_sets_test {
namespace {

namespace isa = binpatch::isa;

constexpr std::size_t kVectors = 2 * kAccumulators;

// A wave's registers, and what else an instruction may change.
struct State {
  alignas(64) std::array<std::uint32_t, kVectors * kLanes> vector;
  std::array<std::uint32_t, sizeof(Wave::sr) / sizeof(std::uint32_t)> scalar;
  bool scc{};
};

class Runner {
 public:
  explicit Runner(std::uint64_t lane_bits) : lane_bits_(lane_bits) {}
  State run(const MicroOp& op, const State& before) {
    *state_ = before;
    auto wave = std::make_unique<Wave>();
    wave->v = state_->vector.data();
    wave->lane_bits = lane_bits_;
    wave->mode = 0xF0;
    wave->scc = before.scc;
    std::copy(before.scalar.begin(), before.scalar.end(), wave->sr);
    execute_straight(*wave, &op, 1);
    std::copy(std::begin(wave->sr), std::end(wave->sr), state_->scalar.begin());
    state_->scc = wave->scc;
    return *state_;
  }

 private:
  std::uint64_t lane_bits_;
  std::unique_ptr<State> state_ = std::make_unique<State>();
};

class RegisterSets : public testing::TestWithParam<std::pair<isa::Generation, Isa>> {};

TEST_P(RegisterSets, HoldAllThatIsReadOrWritten) {
  const auto [generation, set] = GetParam();
  constexpr int kTries = 40'000;
  constexpr int kTriesOfState = 64;
  int straight = 0;
  std::mt19937_64 random(11);
  ConstantPool pool;
  Runner runner(~std::uint64_t{0});
  auto before = std::make_unique<State>();
  auto other = std::make_unique<State>();
  std::set<isa::Opcode> seen;
  const auto word = [&random] { return static_cast<std::uint32_t>(random()); };
  for (int i = 0; i < kTries; ++i) {
    const std::array<std::uint32_t, 5> words{word(), word(), word(), word(), word()};
    const auto decoded = isa::decode(generation, std::as_bytes(std::span(words)));
    if (!decoded) continue;
    MicroOp op;
    lower(decoded, op, pool, set);
    if (!op.straight) continue;
    const RegisterSet registers = registers_of(*decoded, op);
    if (straight++ % kTriesOfState == 0) {
      for (auto& value : before->vector) value = word();
    }
    for (auto& value : before->scalar) value = word();
    *other = *before;
    for (unsigned r = 0; r < kVectors; ++r) {
      if (registers.has_vector(r, 1)) continue;
      const std::uint32_t change = word() | 1U;
      for (std::size_t lane = 0; lane < kLanes; ++lane) other->vector[r * kLanes + lane] ^= change;
    }
    for (unsigned r = 0; r < before->scalar.size(); ++r) {
      if (!registers.has_scalar(r, 1)) other->scalar[r] = word();
    }
    const auto text = isa::mnemonic(decoded->opcode);
    const State one = runner.run(op, *before);
    const State two = runner.run(op, *other);
    ASSERT_EQ(one.scc, two.scc) << text;
    for (unsigned r = 0; r < kScalarFile; ++r) {  // behind them is what null is written to
      const bool inside = registers.has_scalar(r, 1);
      ASSERT_EQ(one.scalar[r], inside ? two.scalar[r] : before->scalar[r]) << text << ": s" << r;
      ASSERT_EQ(two.scalar[r], inside ? one.scalar[r] : other->scalar[r]) << text << ": s" << r;
    }
    for (unsigned r = 0; r < kVectors; ++r) {
      const auto of = [r](const State& state) {
        return std::span(state.vector).subspan(r * kLanes, kLanes);
      };
      const bool inside = registers.has_vector(r, 1);
      ASSERT_TRUE(std::ranges::equal(of(one), of(inside ? two : *before))) << text << ": v" << r;
      ASSERT_TRUE(std::ranges::equal(of(two), of(inside ? one : *other))) << text << ": v" << r;
    }
    seen.insert(decoded->opcode);
  }
  EXPECT_GT(seen.size(), 200U);
}

INSTANTIATE_TEST_SUITE_P(Isas, RegisterSets,
                         testing::Values(std::pair(isa::Generation::gfx7, Isa::gfx7),
                                         std::pair(isa::Generation::gfx900, Isa::gfx900),
                                         std::pair(isa::Generation::gfx90a, Isa::gfx90a),
                                         std::pair(isa::Generation::gfx940, Isa::gfx942),
                                         std::pair(isa::Generation::gfx1030, Isa::gfx1030),
                                         std::pair(isa::Generation::gfx1100, Isa::gfx1100)));

}  // namespace
}  // namespace ww::sim::gpu::exec::register_sets_test
