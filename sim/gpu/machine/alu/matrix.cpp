// D = A B + C for small matrices that lie across the lanes of a wavefront. Source: AMD Instinct
// MI200 ISA, "Matrix arithmetic instructions", and AMD's matrix instruction calculator, which says
// where each element lies and how many cycles an instruction takes.
//
// Sums are made in order of k, each product fused; AMD does not document the order within a card.
// MI200's products of halves flush denormals of operands and results, as AMD documents; MI300's
// keep them.
#include "machine/alu/matrix.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "machine/isa/half_float.hpp"

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using binpatch::isa::OperandKind;

enum class Element : std::uint8_t { f32, f16, bf16, i8, f64 };

struct MatrixShape {
  Opcode opcode{};
  Element element{};
  std::uint8_t rows{};    // of D, and its columns
  std::uint8_t depth{};   // columns of A
  std::uint8_t blocks{};  // products side by side
  std::uint8_t cycles{};
  // Cycles on CDNA 3, where they differ from `cycles`.
  std::uint8_t cycles_cdna3{};

  // Elements of A, and of B, that a lane holds.
  [[nodiscard]] constexpr unsigned per_lane() const {
    return unsigned{rows} * depth * blocks / kLanes;
  }
  // Elements of D.
  [[nodiscard]] constexpr unsigned results() const {
    return unsigned{rows} * rows * blocks / kLanes;
  }
};

constexpr std::array kMatrixShapes{
    MatrixShape{Opcode::v_mfma_f32_32x32x1f32, Element::f32, 32, 1, 2, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x1f32, Element::f32, 16, 1, 4, 32},
    MatrixShape{Opcode::v_mfma_f32_4x4x1f32, Element::f32, 4, 1, 16, 8},
    MatrixShape{Opcode::v_mfma_f32_32x32x2f32, Element::f32, 32, 2, 1, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x4f32, Element::f32, 16, 4, 1, 32},
    MatrixShape{Opcode::v_mfma_f32_32x32x4f16, Element::f16, 32, 4, 2, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x4f16, Element::f16, 16, 4, 4, 32},
    MatrixShape{Opcode::v_mfma_f32_4x4x4f16, Element::f16, 4, 4, 16, 8},
    MatrixShape{Opcode::v_mfma_f32_32x32x8f16, Element::f16, 32, 8, 1, 64, 32},
    MatrixShape{Opcode::v_mfma_f32_16x16x16f16, Element::f16, 16, 16, 1, 32, 16},
    MatrixShape{Opcode::v_mfma_i32_32x32x4i8, Element::i8, 32, 4, 2, 64},
    MatrixShape{Opcode::v_mfma_i32_16x16x4i8, Element::i8, 16, 4, 4, 32},
    MatrixShape{Opcode::v_mfma_i32_4x4x4i8, Element::i8, 4, 4, 16, 8},
    MatrixShape{Opcode::v_mfma_i32_32x32x8i8, Element::i8, 32, 8, 1, 64},
    MatrixShape{Opcode::v_mfma_i32_16x16x16i8, Element::i8, 16, 16, 1, 32},
    MatrixShape{Opcode::v_mfma_i32_32x32x16_i8, Element::i8, 32, 16, 1, 32},
    MatrixShape{Opcode::v_mfma_i32_16x16x32_i8, Element::i8, 16, 32, 1, 16},
    MatrixShape{Opcode::v_mfma_f32_32x32x4bf16_1k, Element::bf16, 32, 4, 2, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x4bf16_1k, Element::bf16, 16, 4, 4, 32},
    MatrixShape{Opcode::v_mfma_f32_4x4x4bf16_1k, Element::bf16, 4, 4, 16, 8},
    MatrixShape{Opcode::v_mfma_f32_32x32x8bf16_1k, Element::bf16, 32, 8, 1, 64, 32},
    MatrixShape{Opcode::v_mfma_f32_16x16x16bf16_1k, Element::bf16, 16, 16, 1, 32, 16},
    MatrixShape{Opcode::v_mfma_f32_32x32x2bf16, Element::bf16, 32, 2, 2, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x2bf16, Element::bf16, 16, 2, 4, 32},
    MatrixShape{Opcode::v_mfma_f32_4x4x2bf16, Element::bf16, 4, 2, 16, 8},
    MatrixShape{Opcode::v_mfma_f32_32x32x4bf16, Element::bf16, 32, 4, 1, 64},
    MatrixShape{Opcode::v_mfma_f32_16x16x8bf16, Element::bf16, 16, 8, 1, 32},
    MatrixShape{Opcode::v_mfma_f64_16x16x4f64, Element::f64, 16, 4, 1, 32},
    MatrixShape{Opcode::v_mfma_f64_4x4x4f64, Element::f64, 4, 4, 4, 16},
};

constexpr unsigned kMaxOperands = 256;  // elements of A or B
constexpr unsigned kMaxResults = 2048;  // elements of D

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

// The type in which products of a kind of element are accumulated.
template <Element E>
using Sum = std::conditional_t<E == Element::f64, double,
                               std::conditional_t<E == Element::i8, std::int32_t, float>>;

// Element `index` of a lane's registers. `Flush`: without denormals of halves.
template <Element E, bool Flush>
Sum<E> operand(const U32* registers, std::size_t lane, unsigned index) {
  const auto word = [&](unsigned i) { return registers[i * kLanes + lane]; };
  if constexpr (E == Element::f64) {
    return std::bit_cast<double>(U64{word(0)} | U64{word(1)} << 32);
  } else if constexpr (E == Element::i8) {
    return static_cast<std::int8_t>(word(index / 4) >> (8 * (index % 4)));
  } else if constexpr (E == Element::f32) {
    return std::bit_cast<float>(word(index));
  } else {
    const U32 half = word(index / 2) >> (16 * (index % 2)) & 0xFFFFU;
    const float value = E == Element::bf16 ? std::bit_cast<float>(half << 16) : half_value(half);
    const bool denormal = E == Element::bf16 ? (half & 0x7F80U) == 0 : (half & 0x7C00U) == 0;
    return Flush && denormal ? std::copysign(0.0F, value) : value;
  }
}

template <class S>
S result_of(const U32* registers, std::size_t lane, unsigned index) {
  if constexpr (sizeof(S) == 8) {
    return std::bit_cast<S>(U64{registers[2 * index * kLanes + lane]} |
                            U64{registers[(2 * index + 1) * kLanes + lane]} << 32);
  } else {
    return std::bit_cast<S>(registers[index * kLanes + lane]);
  }
}

template <class S>
void set_result(U32* registers, std::size_t lane, unsigned index, S value) {
  if constexpr (sizeof(S) == 8) {
    const auto bits = std::bit_cast<U64>(value);
    registers[2 * index * kLanes + lane] = static_cast<U32>(bits);
    registers[(2 * index + 1) * kLanes + lane] = static_cast<U32>(bits >> 32);
  } else {
    registers[index * kLanes + lane] = std::bit_cast<U32>(value);
  }
}

// The lane that B's element of this lane is taken from (blgp).
std::size_t b_lane(std::size_t lane, U32 pattern) {
  switch (pattern) {
    case 0: return lane;
    case 1: return lane % 32;
    case 2: return 32 + lane % 32;
    case 3: return (lane + 16) % kLanes;
    default: return 16 * (pattern - 4) + lane % 16;
  }
}

// Place of an element of D: lane, and which of its elements.
struct Place {
  std::size_t lane;
  unsigned index;
};
Place place_of(const MatrixShape& s, unsigned block, unsigned i, unsigned j) {
  if (s.element == Element::f64) {
    return s.rows == 16 ? Place{j + std::size_t{16} * (i % 4), i / 4}
                        : Place{j + std::size_t{4} * block + std::size_t{16} * i, 0};
  }
  switch (s.rows) {
    case 32: return {j + std::size_t{32} * (i / 4 % 2), 16 * block + 4 * (i / 8) + i % 4};
    case 16: return {j + std::size_t{16} * (i / 4), 4 * block + i % 4};
    default: return {j + std::size_t{4} * block, i};
  }
}

// All of A, B and C are read before D is written, because they may share registers.
template <Element E, bool Flush>
void multiply(Wave& wave, const MicroOp& op, const MatrixShape& s) {
  using S = Sum<E>;
  constexpr bool kFlushes = Flush && (E == Element::f16 || E == Element::bf16);
  // CDNA 3's products of doubles turn the signs of A, B and C by the bits of the pattern (LLVM,
  // IntrinsicsAMDGPU.td: "in gfx940 BLGP argument is replaced by NEG bitfield in the DGEMM MFMA").
  constexpr bool kTurns = !Flush && E == Element::f64;
  const auto controls = static_cast<U32>(op.immediate);
  const U32 broadcast = controls & 7U;
  const U32 which = controls >> 4 & 15U;
  const U32 pattern = controls >> 8 & 7U;
  const U32* a_registers = wave.vgpr(op.source[0]);
  const U32* b_registers = wave.vgpr(op.source[1]);
  const U32* c_registers = op.kind[2] == Source::vgpr ? wave.vgpr(op.source[2]) : nullptr;
  S constant{};
  if (c_registers == nullptr) {
    // An operand that is no register is the address of its value.
    const auto* value =
        reinterpret_cast<const U32*>(op.vector.at[2]);  // NOLINT(performance-no-int-to-ptr)
    constant = result_of<S>(value, 0, 0);
  }

  S a[kMaxOperands * 2];
  S b[kMaxOperands * 2];
  S sum[kMaxResults];
  const unsigned rows = s.rows;
  const unsigned depth = s.depth;
  const unsigned per_lane = s.per_lane();
  for (unsigned block = 0; block < s.blocks; ++block) {
    const unsigned a_block = (block & ~((1U << broadcast) - 1U)) + which;
    for (unsigned i = 0; i < rows; ++i) {
      for (unsigned k = 0; k < depth; ++k) {
        const auto lane_of = [&](unsigned from) {
          return i + std::size_t{rows} * (from + s.blocks * (k / per_lane));
        };
        const std::size_t to = (std::size_t{block} * rows + i) * depth + k;
        a[to] = operand<E, Flush>(a_registers, lane_of(a_block) % kLanes, k % per_lane);
        b[to] = operand<E, Flush>(b_registers, b_lane(lane_of(block), kTurns ? 0 : pattern),
                                  k % per_lane);
        if constexpr (kTurns) {
          a[to] = (pattern & 1U) != 0 ? -a[to] : a[to];
          b[to] = (pattern & 2U) != 0 ? -b[to] : b[to];
        }
      }
      for (unsigned j = 0; j < rows; ++j) {
        const Place at = place_of(s, block, i, j);
        S c = c_registers != nullptr ? result_of<S>(c_registers, at.lane, at.index) : constant;
        if constexpr (kFlushes) c = flushed(c);
        if constexpr (kTurns) c = (pattern & 4U) != 0 ? -c : c;
        sum[(block * rows + i) * rows + j] = c;
      }
    }
  }
  U32* const d = wave.vgpr(op.destination);
  for (unsigned block = 0; block < s.blocks; ++block) {
    for (unsigned i = 0; i < rows; ++i) {
      for (unsigned j = 0; j < rows; ++j) {
        S total = sum[(block * rows + i) * rows + j];
        for (unsigned k = 0; k < depth; ++k) {
          const S x = a[(std::size_t{block} * rows + i) * depth + k];
          const S y = b[(std::size_t{block} * rows + j) * depth + k];
          if constexpr (E == Element::i8) {
            total = std::bit_cast<S>(std::bit_cast<U32>(total) + std::bit_cast<U32>(x * y));
          } else {
            total = std::fma(x, y, total);
          }
        }
        if constexpr (kFlushes) total = flushed(total);
        const Place at = place_of(s, block, i, j);
        set_result(d, at.lane, at.index, total);
      }
    }
  }
}

template <bool Flush>
void run_matrix(Wave& wave, const MicroOp& op) {
  const MatrixShape& shape = kMatrixShapes[op.source[3]];
  switch (shape.element) {
    case Element::f32: return multiply<Element::f32, Flush>(wave, op, shape);
    case Element::f16: return multiply<Element::f16, Flush>(wave, op, shape);
    case Element::bf16: return multiply<Element::bf16, Flush>(wave, op, shape);
    case Element::i8: return multiply<Element::i8, Flush>(wave, op, shape);
    case Element::f64: return multiply<Element::f64, Flush>(wave, op, shape);
  }
}

}  // namespace

bool lower_matrix(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool) {
  std::uint16_t number = 0;
  while (number < kMatrixShapes.size() && kMatrixShapes[number].opcode != instruction.opcode)
    ++number;
  if (number == kMatrixShapes.size()) return false;
  const MatrixShape& shape = kMatrixShapes[number];
  const U32 controls = instruction.modifiers.extra_dword;
  // Broadcasts exist between blocks that there are.
  const U32 group = 1U << (controls & 7U);
  if (group > shape.blocks || (controls >> 4 & 15U) >= group) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& operand = instruction.src[i];
    if (operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr) {
      op.kind[i] = Source::vgpr;
      op.source[i] = vector_index(operand);
    } else {
      const bool wide = shape.element == Element::f64;
      op.kind[i] = Source::constant;
      op.vector.at[i] =
          reinterpret_cast<std::uintptr_t>(pool.get(constant_value(operand, wide ? 64 : 32, wide)));
    }
  }
  op.destination = vector_index(instruction.dst[0]);
  op.result = Destination::vgpr;
  op.source[3] = number;
  op.immediate = static_cast<std::int32_t>(controls);
  op.cycles = shape.cycles;
  op.run = run_matrix<true>;
  return true;
}

void multiply_as_cdna3(MicroOp& op) {
  if (op.run != run_matrix<true>) return;
  const MatrixShape& shape = kMatrixShapes[op.source[3]];
  op.run = run_matrix<false>;
  if (shape.cycles_cdna3 != 0) op.cycles = shape.cycles_cdna3;
}

}  // namespace ww::sim::gpu::exec
