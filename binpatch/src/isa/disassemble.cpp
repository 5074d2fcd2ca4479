#include <fmt/format.h>

#include <array>
#include <bit>
#include <iterator>

#include "isa/operand.hpp"
#include "isa/table.hpp"
#include "isa/text.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::array kFloatConstants{
    std::pair{0x3f000000U, "0.5"},
    std::pair{0xbf000000U, "-0.5"},
    std::pair{0x3f800000U, "1.0"},
    std::pair{0xbf800000U, "-1.0"},
    std::pair{0x40000000U, "2.0"},
    std::pair{0xc0000000U, "-2.0"},
    std::pair{0x40800000U, "4.0"},
    std::pair{0xc0800000U, "-4.0"},
    std::pair{0x3e22f983U, "0.15915494309189532"},
};

std::string registers(std::string_view prefix, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", prefix, first)
                    : fmt::format("{}[{}:{}]", prefix, first, first + count - 1);
}

std::string special_text(unsigned index, unsigned count) {
  using enum SpecialRegister;
  if (index >= index_of(ttmp0) && index < index_of(ttmp0) + 16U) {
    return registers("ttmp", index - index_of(ttmp0), count);
  }
  switch (static_cast<SpecialRegister>(index)) {
    case flat_scratch_lo: return count == 2 ? "flat_scratch" : "flat_scratch_lo";
    case flat_scratch_hi: return "flat_scratch_hi";
    case vcc_lo: return count == 2 ? "vcc" : "vcc_lo";
    case vcc_hi: return "vcc_hi";
    case tba_lo: return count == 2 ? "tba" : "tba_lo";
    case tba_hi: return "tba_hi";
    case tma_lo: return count == 2 ? "tma" : "tma_lo";
    case tma_hi: return "tma_hi";
    case m0: return "m0";
    case exec_lo: return count == 2 ? "exec" : "exec_lo";
    case exec_hi: return "exec_hi";
    case vccz: return "src_vccz";
    case execz: return "src_execz";
    case scc: return "src_scc";
    case lds_direct: return "src_lds_direct";
    case xnack_mask_lo: return count == 2 ? "xnack_mask" : "xnack_mask_lo";
    case xnack_mask_hi: return "xnack_mask_hi";
    case src_shared_base: return "src_shared_base";
    case src_shared_limit: return "src_shared_limit";
    case src_private_base: return "src_private_base";
    case src_private_limit: return "src_private_limit";
    case null: return "null";
    case src_pops_exiting_wave_id: return "src_pops_exiting_wave_id";
    default: return "?";
  }
}

}  // namespace

std::string operand_text(const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::none: return "off";
    case OperandKind::sgpr: return registers("s", operand.index, operand.count);
    case OperandKind::vgpr: return registers("v", operand.index, operand.count);
    case OperandKind::agpr: return registers("a", operand.index, operand.count);
    case OperandKind::special: return special_text(operand.index, operand.count);
    case OperandKind::inline_int:
      return fmt::format("{}", std::bit_cast<std::int32_t>(operand.value));
    case OperandKind::inline_float:
      for (const auto& [value, text] : kFloatConstants) {
        if (value == operand.value) {
          return text;
        }
      }
      return "?";
    case OperandKind::literal: return fmt::format("{:#x}", operand.value);
  }
  return "?";
}

namespace {

std::string_view memory_name(Opcode opcode, Generation generation) {
  return generation == Generation::gfx1100 ? spelling_of_gfx1100(opcode) : mnemonic(opcode);
}

std::string hardware_register_text(const Instruction& in, Generation generation) {
  constexpr std::array<std::string_view, 8> names{"",      "MODE",      "STATUS",    "TRAPSTS",
                                                  "HW_ID", "GPR_ALLOC", "LDS_ALLOC", "IB_STS"};
  const HardwareRegisterField field = hardware_register_field(in);
  // Numbers from 8 on have other names, or none, on other generations; the assembler takes numbers.
  const bool rdna = generation >= Generation::gfx10;
  std::string name = fmt::format("{}", field.id);
  if (rdna && (field.id == 23 || field.id == 24)) {
    name = fmt::format("HW_REG_HW_ID{}", field.id - 22);
  } else if (field.id > 0 && field.id < (rdna ? 4U : names.size())) {
    name = fmt::format("HW_REG_{}", names[field.id]);
  }
  if (field.offset == 0 && field.size == 32) {
    return fmt::format("hwreg({})", name);
  }
  return fmt::format("hwreg({}, {}, {})", name, field.offset, field.size);
}

std::string scalar_constant(const Instruction& in) {
  const std::uint32_t raw = static_cast<std::uint16_t>(in.modifiers.immediate);
  return fmt::format("{:#x}", raw);
}

std::string sopk(const Instruction& in, Generation generation) {
  Line line(mnemonic(in.opcode));
  switch (in.opcode) {
    case Opcode::s_getreg_b32:
      line.operand(in.dst[0]);
      line.operand(hardware_register_text(in, generation));
      break;
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
      line.operand(hardware_register_text(in, generation));
      line.operand(in.src[0]);
      break;
    case Opcode::s_cbranch_i_fork:
    case Opcode::s_call_b64:
    case Opcode::s_subvector_loop_begin:
    case Opcode::s_subvector_loop_end:
      line.present(in.dst[0]);
      line.present(in.src[0]);
      line.operand(fmt::format("{}", in.modifiers.immediate));
      break;
    default:
      line.present(in.dst[0]);
      line.present(in.src[0]);
      line.operand(scalar_constant(in));
      break;
  }
  return std::move(line).take();
}

std::string sopp(const Instruction& in, const TableEntry* entry) {
  Line line(mnemonic(in.opcode));
  const bool plain = entry == nullptr || entry->form == Form::sopp_plain ||
                     (in.opcode == Opcode::s_endpgm && in.modifiers.immediate == 0);
  if (traits(in.opcode).is_branch) {
    line.operand(fmt::format("{}", in.modifiers.immediate));
  } else if (!plain) {
    line.operand(scalar_constant(in));
  }
  return std::move(line).take();
}

std::string smrd(const Instruction& in) {
  Line line(mnemonic(in.opcode));
  line.present(in.dst[0]);
  if (in.src[0].kind == OperandKind::none) {
    return std::move(line).take();
  }
  line.operand(in.src[0]);
  if (in.modifiers.scalar_offset_is_immediate) {
    line.operand(fmt::format("{:#x}", in.modifiers.offset));
  } else {
    line.operand(in.src[1]);
  }
  return std::move(line).take();
}

std::string ds(const Instruction& in, const TableEntry* entry, Generation generation) {
  Line line(memory_name(in.opcode, generation));
  line.present(in.dst[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    line.present(in.src[i]);
  }
  const std::uint32_t offset = in.modifiers.offset;
  if (entry != nullptr && entry->form == Form::ds_two_offsets) {
    line.word_if((offset & 0xff) != 0, fmt::format("offset0:{}", offset & 0xff));
    line.word_if(offset >> 8 != 0, fmt::format("offset1:{}", offset >> 8));
  } else {
    line.word_if(offset != 0, fmt::format("offset:{}", offset));
  }
  line.word_if(in.modifiers.gds, "gds");
  return std::move(line).take();
}

// Writes which caches the access is for; gfx940 has other names.
void cache_words(const Modifiers& m, Generation generation, Line& line) {
  const bool newest = generation == Generation::gfx940;
  line.word_if(m.glc, newest ? "sc0" : "glc");
  line.word_if(m.slc, newest ? "nt" : "slc");
  line.word_if(m.sc1, "sc1");
  line.word_if(m.dlc, "dlc");
}

std::string buffer(const Instruction& in, Generation generation) {
  Line line(memory_name(in.opcode, generation));
  const Modifiers& m = in.modifiers;
  if (in.src[1].kind == OperandKind::none) {
    cache_words(m, generation, line);
    return std::move(line).take();
  }
  if (in.src[3].kind != OperandKind::none) {
    line.operand(in.src[3]);
  } else if (in.dst[0].kind != OperandKind::none) {
    // The assembler names the data registers without the one for the residency status.
    Operand data = in.dst[0];
    data.count = static_cast<std::uint8_t>(data.count - (m.tfe ? 1 : 0));
    line.operand(data);
  }
  line.operand(in.src[0]);
  line.operand(in.src[1]);
  line.operand(in.src[2]);
  if (in.encoding == Encoding::mtbuf) {
    line.word(fmt::format("format:{}", m.immediate));
  }
  line.word_if(m.idxen, "idxen");
  line.word_if(m.offen, "offen");
  line.word_if(m.addr64, "addr64");
  line.word_if(m.offset != 0, fmt::format("offset:{}", m.offset));
  cache_words(m, generation, line);
  line.word_if(m.tfe, "tfe");
  line.word_if(m.lds, "lds");
  return std::move(line).take();
}

std::string smem(const Instruction& in, Generation generation) {
  Line line(memory_name(in.opcode, generation));
  line.present(in.dst[0]);
  line.present(in.src[2]);
  if (in.src[0].kind == OperandKind::none) {
    return std::move(line).take();
  }
  line.operand(in.src[0]);
  const auto offset = std::bit_cast<std::int32_t>(in.modifiers.offset);
  const std::string immediate =
      offset < 0 ? fmt::format("-{:#x}", -offset) : fmt::format("{:#x}", offset);
  line.present(in.src[1]);
  if (in.src[1].kind == OperandKind::none) {
    line.operand(immediate);
  } else {
    line.word_if(in.modifiers.scalar_offset_is_immediate, "offset:" + immediate);
  }
  line.word_if(in.modifiers.glc, "glc");
  line.word_if(in.modifiers.dlc, "dlc");
  return std::move(line).take();
}

// gfx9's three kinds of FLAT: global_ and scratch_ name their scalar address, or "off".
std::string flat(const Instruction& in, Generation generation) {
  const std::string_view name = memory_name(in.opcode, generation);
  const bool scratch = name.starts_with("scratch_");
  const bool global = name.starts_with("global_");
  Line line(name);
  line.present(in.dst[0]);
  line.operand(in.src[0]);
  line.present(in.src[1]);
  if (scratch || global) {
    line.operand(in.src[2]);
  }
  const auto offset = std::bit_cast<std::int32_t>(in.modifiers.offset);
  line.word_if(offset != 0, fmt::format("offset:{}", offset));
  cache_words(in.modifiers, generation, line);
  return std::move(line).take();
}

std::string scalar_alu(const Instruction& in) {
  Line line(mnemonic(in.opcode));
  line.present(in.dst[0]);
  line.present(in.src[0]);
  line.present(in.src[1]);
  if (in.opcode == Opcode::s_set_gpr_idx_on || in.opcode == Opcode::s_sendmsg_rtn_b32 ||
      in.opcode == Opcode::s_sendmsg_rtn_b64) {
    line.operand(fmt::format("{:#x}", in.modifiers.immediate));
  }
  return std::move(line).take();
}

// Writes an instruction that no table names as its words.
std::string words(const Instruction& in) {
  std::string text = fmt::format(".long {:#010x}", in.modifiers.offset);
  if (in.size_bytes >= 8) {
    text += fmt::format(", {:#010x}", in.modifiers.extra_dword);
  }
  for (std::size_t i = 0; 12 + 4 * i <= in.size_bytes; ++i) {
    text += fmt::format(", {:#010x}", in.modifiers.more_dwords[i]);
  }
  return text;
}

}  // namespace

std::string disassemble(const Instruction& instruction, Generation generation) {
  if (instruction.encoding == Encoding::mimg) {
    return image_text(instruction, generation).value_or(words(instruction));
  }
  if (instruction.opcode == Opcode::unlisted) {
    return words(instruction);
  }
  const Table* table = table_of(generation);
  const TableEntry* entry =
      table == nullptr ? nullptr : table->find_opcode(instruction.encoding, instruction.opcode);
  switch (instruction.encoding) {
    case Encoding::sop2:
    case Encoding::sop1:
    case Encoding::sopc: return scalar_alu(instruction);
    case Encoding::sopk: return sopk(instruction, generation);
    case Encoding::sopp: return sopp(instruction, entry);
    case Encoding::smrd: return smrd(instruction);
    case Encoding::smem: return smem(instruction, generation);
    case Encoding::vop2:
    case Encoding::vop1:
    case Encoding::vopc:
    case Encoding::vop3a:
    case Encoding::vop3b:
    case Encoding::vop3p: return vector_text(instruction, generation);
    case Encoding::vopd: return dual_text(instruction);
    case Encoding::ds: return ds(instruction, entry, generation);
    case Encoding::mubuf:
    case Encoding::mtbuf: return buffer(instruction, generation);
    case Encoding::flat: return flat(instruction, generation);
    default: return std::string(mnemonic(instruction.opcode));
  }
}

}  // namespace ww::binpatch::isa
