#include "machine/isa/operands.hpp"

#include <bit>

#include "machine/isa/launch_state.hpp"

namespace ww::sim::gpu::exec {

using binpatch::isa::Operand;
using binpatch::isa::OperandKind;
using binpatch::isa::SpecialRegister;

const std::uint32_t* ConstantPool::get(std::uint64_t value) {
  const auto [place, fresh] = pool_.try_emplace(value);
  if (fresh) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      place->second.word[lane] = static_cast<std::uint32_t>(value);
      place->second.word[kLanes + lane] = static_cast<std::uint32_t>(value >> 32);
    }
  }
  return place->second.word.data();
}

const std::array<MicroOp, 2>* ConstantPool::keep(const std::array<MicroOp, 2>& dual) {
  return &duals_.emplace_back(dual);
}

const std::array<MicroOp, 2>& dual_of(const MicroOp& op) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the place of a source that is no register
  return *reinterpret_cast<const std::array<MicroOp, 2>*>(op.vector.at[0]);
}

bool reads_vector(const MicroOp& op, std::uint16_t number) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (op.kind[i] == Source::vgpr && op.source[i] == number) return true;
  }
  return false;
}

std::optional<std::uint16_t> scalar_index(const Operand& operand) {
  if (operand.kind == OperandKind::sgpr) return operand.index;
  if (operand.kind != OperandKind::special) return std::nullopt;
  switch (static_cast<SpecialRegister>(operand.index)) {
    case SpecialRegister::flat_scratch_lo: return kFlatScratch;
    case SpecialRegister::flat_scratch_hi: return kFlatScratch + 1;
    case SpecialRegister::vcc_lo: return kVcc;
    case SpecialRegister::vcc_hi: return kVcc + 1;
    case SpecialRegister::tba_lo: return kTba;
    case SpecialRegister::tba_hi: return kTba + 1;
    case SpecialRegister::tma_lo: return kTma;
    case SpecialRegister::tma_hi: return kTma + 1;
    case SpecialRegister::xnack_mask_lo: return kXnackMask;
    case SpecialRegister::xnack_mask_hi: return kXnackMask + 1;
    case SpecialRegister::src_shared_base: return kSharedBase;
    case SpecialRegister::src_shared_limit: return kSharedLimit;
    case SpecialRegister::src_private_base: return kPrivateBase;
    case SpecialRegister::src_private_limit: return kPrivateLimit;
    case SpecialRegister::m0: return kM0;
    case SpecialRegister::exec_lo: return kExec;
    case SpecialRegister::exec_hi: return kExec + 1;
    case SpecialRegister::vccz: return kVccz;
    case SpecialRegister::execz: return kExecz;
    case SpecialRegister::scc: return kScc;
    case SpecialRegister::null: return kNull;
    default: break;
  }
  const auto first = static_cast<std::uint16_t>(SpecialRegister::ttmp0);
  if (operand.index >= first && operand.index < first + 12) {
    return static_cast<std::uint16_t>(kTtmp + operand.index - first);
  }
  return std::nullopt;
}

std::optional<std::uint16_t> target_index(const Operand& operand) {
  const auto index = scalar_index(operand);
  if (index == kNull) return kDiscard;
  return index && *index < kScalarFile ? index : std::nullopt;
}

namespace {

constexpr std::uint32_t kInverseTwoPi = 0x3e22f983;  // as float, as an operand holds it

// The inline constants as halves.
std::uint32_t half_constant(std::uint32_t bits) {
  if (bits == kInverseTwoPi) return 0x3118;
  const std::uint32_t exponent = (bits >> 23 & 255U) - 112U;
  return (bits >> 16 & 0x8000U) | exponent << 10;  // powers of two
}

}  // namespace

std::uint16_t vector_index(const Operand& operand) {
  return static_cast<std::uint16_t>(operand.index +
                                    (operand.kind == OperandKind::agpr ? kAccumulators : 0));
}

std::uint64_t constant_value(const Operand& operand, int bits, bool is_float) {
  if (bits == 16 && operand.kind == OperandKind::inline_float) return half_constant(operand.value);
  if (bits == 16) return operand.value;
  if (bits == 32) return operand.value;
  switch (operand.kind) {
    case OperandKind::inline_int:
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(operand.value)});
    case OperandKind::inline_float:
      // The others are powers of two; this one has all of a double's bits.
      if (operand.value == kInverseTwoPi) return 0x3fc45f306dc9c882;
      return std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(operand.value)});
    default: return is_float ? std::uint64_t{operand.value} << 32 : std::uint64_t{operand.value};
  }
}

std::uint32_t read_special(const Wave& wave, std::uint16_t index) {
  switch (index) {
    case kVccz: return wave.vcc() == 0 ? 1 : 0;
    case kExecz: return wave.exec() == 0 ? 1 : 0;
    case kScc: return wave.scc ? 1 : 0;
    default: return static_cast<std::uint32_t>(read_special64(wave, index) >> 32);
  }
}

std::uint64_t read_special64(const Wave& wave, std::uint16_t index) {
  switch (index) {
    case kSharedBase: return kLdsAperture;
    case kSharedLimit: return kLdsAperture | 0xFFFFFFFFU;
    case kPrivateBase: return kPrivateAperture;
    case kPrivateLimit: return kPrivateAperture | 0xFFFFFFFFU;
    case kVccz:
    case kExecz:
    case kScc: return read_special(wave, index);
    default: return 0;
  }
}

}  // namespace ww::sim::gpu::exec
