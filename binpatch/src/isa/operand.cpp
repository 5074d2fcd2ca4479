#include "isa/operand.hpp"

#include <array>
#include <bit>

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t kVectorBase = 256;
constexpr std::uint32_t kVectorRegisters = 256;

// A run of scalar register numbers that hold special registers.
struct SpecialRange {
  std::uint32_t first;
  std::uint32_t size;
  SpecialRegister reg;
};

using enum SpecialRegister;
// Sea Islands ISA, table "SGPR, VGPR and constant encodings"; Vega ISA likewise.
constexpr std::array kGfx7Ranges{
    SpecialRange{104, 2, flat_scratch_lo}, SpecialRange{106, 2, vcc_lo},
    SpecialRange{108, 2, tba_lo},          SpecialRange{110, 2, tma_lo},
    SpecialRange{112, 12, ttmp0},          SpecialRange{124, 1, m0},
    SpecialRange{126, 2, exec_lo},
};
constexpr std::array kGfx6Ranges{
    SpecialRange{106, 2, vcc_lo}, SpecialRange{108, 2, tba_lo}, SpecialRange{110, 2, tma_lo},
    SpecialRange{112, 12, ttmp0}, SpecialRange{124, 1, m0},     SpecialRange{126, 2, exec_lo},
};
constexpr std::array kGfx8Ranges{
    SpecialRange{102, 2, flat_scratch_lo},
    SpecialRange{104, 2, xnack_mask_lo},
    SpecialRange{106, 2, vcc_lo},
    SpecialRange{108, 2, tba_lo},
    SpecialRange{110, 2, tma_lo},
    SpecialRange{112, 12, ttmp0},
    SpecialRange{124, 1, m0},
    SpecialRange{126, 2, exec_lo},
};
constexpr std::array kGfx9Ranges{
    SpecialRange{102, 2, flat_scratch_lo},
    SpecialRange{104, 2, xnack_mask_lo},
    SpecialRange{106, 2, vcc_lo},
    SpecialRange{108, 16, ttmp0},
    SpecialRange{124, 1, m0},
    SpecialRange{126, 2, exec_lo},
};

// RDNA 2 ISA and RDNA3 ISA, table "SGPR and constant encodings": null and m0 changed places.
constexpr std::array kGfx10Ranges{
    SpecialRange{106, 2, vcc_lo}, SpecialRange{108, 16, ttmp0},  SpecialRange{124, 1, m0},
    SpecialRange{125, 1, null},   SpecialRange{126, 2, exec_lo},
};
constexpr std::array kGfx11Ranges{
    SpecialRange{106, 2, vcc_lo}, SpecialRange{108, 16, ttmp0},  SpecialRange{124, 1, null},
    SpecialRange{125, 1, m0},     SpecialRange{126, 2, exec_lo},
};

std::span<const SpecialRange> special_ranges(Generation generation) {
  switch (generation) {
    case Generation::gfx6: return kGfx6Ranges;
    case Generation::gfx7: return kGfx7Ranges;
    case Generation::gfx8: return kGfx8Ranges;
    case Generation::gfx9:
    case Generation::gfx900:
    case Generation::gfx904:
    case Generation::gfx906:
    case Generation::gfx908:
    case Generation::gfx90a:
    case Generation::gfx940: return kGfx9Ranges;
    case Generation::gfx10:
    case Generation::gfx1030: return kGfx10Ranges;
    default: return kGfx11Ranges;
  }
}

std::uint32_t general_registers(Generation generation) {
  return generation <= Generation::gfx7 ? 104 : generation < Generation::gfx10 ? 102 : 106;
}

// Pairs start at even registers, wider operands at multiples of four.
bool aligned(std::uint32_t first, unsigned count) {
  return count == 1 || (count == 2 ? first % 2 == 0 : first % 4 == 0);
}

Operand special(SpecialRegister reg, std::uint32_t offset, unsigned count) {
  return {.kind = OperandKind::special,
          .count = static_cast<std::uint8_t>(count),
          .index = static_cast<std::uint16_t>(index_of(reg) + offset)};
}

Operand constant(OperandKind kind, std::uint32_t value, unsigned count) {
  return {.kind = kind, .count = static_cast<std::uint8_t>(count), .value = value};
}

}  // namespace

std::optional<Operand> vector_register(Generation generation, std::uint32_t first, unsigned count) {
  const bool misplaced = has_even_tuples(generation) && count > 1 && first % 2 != 0;
  if (count == 0 || first + count > kVectorRegisters || misplaced) {
    return std::nullopt;
  }
  return Operand{.kind = OperandKind::vgpr,
                 .count = static_cast<std::uint8_t>(count),
                 .index = static_cast<std::uint16_t>(first)};
}

std::optional<Operand> scalar_register(Generation generation, std::uint32_t encoded,
                                       unsigned count) {
  // The null register is as wide as the instruction wants it.
  const std::uint32_t null_number = is_gfx10(generation) ? 125 : 124;
  if (generation >= Generation::gfx10 && encoded == null_number && count != 0) {
    return special(null, 0, count);
  }
  if (count == 0 || !aligned(encoded, count)) {
    return std::nullopt;
  }
  if (encoded + count <= general_registers(generation)) {
    return Operand{.kind = OperandKind::sgpr,
                   .count = static_cast<std::uint8_t>(count),
                   .index = static_cast<std::uint16_t>(encoded)};
  }
  for (const SpecialRange& range : special_ranges(generation)) {
    if (encoded >= range.first && encoded + count <= range.first + range.size) {
      return special(range.reg, encoded - range.first, count);
    }
  }
  return std::nullopt;
}

std::optional<Operand> source_operand(Generation generation, std::uint32_t encoded,
                                      unsigned count) {
  if (encoded >= kVectorBase) {
    return vector_register(generation, encoded - kVectorBase, count);
  }
  if (encoded < 128) {
    return scalar_register(generation, encoded, count);
  }
  if (encoded <= 192) {
    return constant(OperandKind::inline_int, encoded - 128, count);
  }
  if (encoded <= 208) {
    return constant(OperandKind::inline_int, 192 - encoded, count);  // wraps to -1 ... -16
  }
  constexpr std::array floats{0.5F, -0.5F, 1.0F, -1.0F, 2.0F, -2.0F, 4.0F, -4.0F};
  if (encoded >= 240 && encoded < 240 + floats.size()) {
    return constant(OperandKind::inline_float, std::bit_cast<std::uint32_t>(floats[encoded - 240]),
                    count);
  }
  if (encoded == 248 && generation >= Generation::gfx8) {
    return constant(OperandKind::inline_float, 0x3e22f983, count);  // 1 / (2 pi)
  }
  if (generation >= Generation::gfx9 && encoded >= 235 && encoded <= 239) {
    return special(src_shared_base, encoded - 235, count);
  }
  if (encoded == kEncodedLiteral) {
    return constant(OperandKind::literal, 0, count);
  }
  if (count != 1) {
    return std::nullopt;
  }
  if (generation >= Generation::gfx11) {
    return encoded == 253 ? std::optional(special(scc, 0, 1)) : std::nullopt;
  }
  switch (encoded) {
    case 251: return special(vccz, 0, 1);
    case 252: return special(execz, 0, 1);
    case 253: return special(scc, 0, 1);
    case 254: return special(lds_direct, 0, 1);
    default: return std::nullopt;
  }
}

}  // namespace ww::binpatch::isa
