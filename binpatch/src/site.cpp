#include "site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/operand.hpp"
namespace ww::binpatch {

namespace {

using isa::Encoding;
using isa::Generation;
using isa::HardwareRegisterField;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;

constexpr std::uint32_t kNopWord = 0xbf800000;  // s_nop 0, on every generation

void put_word(std::span<std::byte> bytes, std::uint32_t word) {
  for (std::size_t i = 0; i < 4; ++i) {
    bytes[i] = static_cast<std::byte>(word >> (8 * i));
  }
}

std::uint32_t get_word(std::span<const std::byte> bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  }
  return word;
}

// s_getreg_b32. `destination` is the 7-bit scalar register number.
std::uint32_t getreg_word(Generation generation, std::uint32_t destination,
                          const HardwareRegisterField& field) {
  const bool older_number = generation <= Generation::gfx7 || isa::is_gfx10(generation);
  const std::uint32_t opcode = older_number ? 0x12 : 0x11;
  const std::uint32_t bits = (field.size - 1U) << 11 | std::uint32_t{field.offset} << 6 | field.id;
  return 0xb0000000U | opcode << 23 | destination << 16 | bits;
}

// Whether the literal of a vector instruction that no table names may be the marker.
bool unlisted_holds_marker(const Instruction& in) {
  if (in.opcode != Opcode::unlisted) {
    return false;
  }
  switch (in.encoding) {
    case Encoding::vop1:
    case Encoding::vop2:
    case Encoding::vopc:
    case Encoding::sop1:
    case Encoding::sop2:
    case Encoding::sopc: return in.size_bytes == 8 && in.modifiers.extra_dword == pin_marker;
    case Encoding::vop3a:
    case Encoding::vop3p:
    case Encoding::vopd: return in.size_bytes == 12 && in.modifiers.more_dwords[0] == pin_marker;
    default: return false;
  }
}

bool holds_marker(const Instruction& in) {
  return unlisted_holds_marker(in) ||
         std::any_of(in.src.begin(), in.src.end(), [](const Operand& operand) {
           return operand.kind == OperandKind::literal && operand.value == pin_marker;
         });
}

// The position of the one marker that control comes to: words behind a branch may be data that only
// look like it. A marker constant in any other instruction means that the compiler has not kept the
// marker together.
Result<std::size_t> find_marker(const CodeRegion& region) {
  const auto& instructions = region.code.instructions();
  std::vector<std::size_t> markers;
  std::size_t others = 0;
  bool passed_by = false;
  const std::vector<bool> reached = region.code.reached();
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i].instruction;
    if (!reached[i]) {
      passed_by = passed_by || holds_marker(instruction);
    } else if (is_marker(instruction)) {
      markers.push_back(i);
    } else if (holds_marker(instruction)) {
      ++others;
    }
  }
  const std::string& name = region.kernel;
  if (markers.empty() && others != 0) {
    return refuse(ErrorCode::unsupported,
                  "the marker is there, but not as s_xor_b32: compile with optimisation (-O1 or "
                  "more) and with the pin constraint of this target",
                  name);
  }
  if (markers.empty() && passed_by) {
    return refuse(ErrorCode::not_found, "the marker stands where no path from the entry comes",
                  name);
  }
  if (markers.empty()) {
    return refuse(ErrorCode::not_found,
                  fmt::format("no instruction holds the marker {:#x}; does the source mark the "
                              "place?",
                              pin_marker),
                  name);
  }
  if (markers.size() + others > 1) {
    return refuse(
        ErrorCode::bad_data,
        fmt::format("the marker is found {} times, it must be once", markers.size() + others),
        name);
  }
  return markers.front();
}

bool relocated(const CodeRegion& region, std::uint64_t address, std::size_t size) {
  return std::any_of(region.relocations.begin(), region.relocations.end(),
                     [&](const Relocation& relocation) {
                       return relocation.address + sizeof(std::uint64_t) > address &&
                              relocation.address < address + size;
                     });
}

std::string pair_text(std::span<const std::byte> bytes, Generation generation) {
  std::string text;
  while (!bytes.empty()) {
    const auto decoded = isa::decode(generation, bytes);
    if (!decoded) {
      return text;
    }
    text += text.empty() ? "" : "; ";
    text += isa::disassemble(*decoded, generation);
    bytes = bytes.subspan(decoded->size_bytes);
  }
  return text;
}

// The site of instruction `index`, checked, and the register read that is to stand there.
Result<PatchSite> plan_at(const CodeRegion& region, std::size_t index,
                          const HardwareRegisterField& field) {
  const auto& [offset, instruction] = region.code.instructions()[index];
  WW_ASSIGN(scc_read, region.code.scc_is_read_after(index));
  if (scc_read) {
    return refuse(ErrorCode::bad_data,
                  "an instruction reads the condition (SCC) that the marker sets and its "
                  "replacement would not",
                  region.kernel);
  }
  PatchSite site;
  site.kernel = region.kernel;
  site.file_offset = region.file_offset + offset;
  site.address = region.address + offset;
  if (relocated(region, site.address, instruction.size_bytes)) {
    return refuse(ErrorCode::bad_data, "the loader relocates the marker", region.kernel);
  }
  const auto before = region.bytes.subspan(offset, instruction.size_bytes);
  site.before.assign(before.begin(), before.end());
  site.after.resize(before.size());
  const std::uint32_t destination = (get_word(before) >> 16) & 0x7f;
  put_word(site.after, getreg_word(region.generation, destination, field));
  if (site.after.size() > 4) {
    put_word(std::span(site.after).subspan(4), kNopWord);
  }
  site.before_text = pair_text(site.before, region.generation);
  site.after_text = pair_text(site.after, region.generation);
  return site;
}

// Whether any instruction before `index` in the code writes the scalar register `number`.
bool written_before(const CodeRegion& region, std::size_t index, std::uint16_t number) {
  const auto& instructions = region.code.instructions();
  return std::any_of(
      instructions.begin(), instructions.begin() + static_cast<std::ptrdiff_t>(index),
      [&](const PlacedInstruction& placed) {
        const auto& results = placed.instruction.dst;
        return std::any_of(results.begin(), results.end(), [&](const Operand& result) {
          return result.kind == OperandKind::sgpr && number >= result.index &&
                 number < result.index + result.count;
        });
      });
}

}  // namespace

tl::unexpected<Error> refuse(ErrorCode code, std::string message, std::string_view kernel) {
  return fail(code, std::move(message), fmt::format("kernel '{}'", kernel));
}

Result<HardwareRegisterField> whole_register(HardwareRegister reg, GfxTarget target) {
  // LLVM guide, "hwreg".
  const bool gcn = target.major >= 6 && target.major <= 9;
  const bool has_dies = target.major == 9 && target.minor >= 4;  // gfx940 and later
  switch (reg) {
    case HardwareRegister::hw_id:
      if (gcn) return HardwareRegisterField{4, 0, 32};
      break;
    case HardwareRegister::xcc_id:
      if (has_dies) return HardwareRegisterField{20, 0, 32};
      break;
    case HardwareRegister::hw_id1:
      if (target.major >= 10 && target.major <= 12) return HardwareRegisterField{23, 0, 32};
      break;
    case HardwareRegister::smid: break;
  }
  return fail(ErrorCode::unsupported,
              fmt::format("{} has no register {}", to_string(target), to_string(reg)));
}

bool is_marker(const Instruction& in) {
  return in.opcode == Opcode::s_xor_b32 && holds_marker(in);
}

Result<PatchSite> plan_marker(const CodeRegion& region, const HardwareRegisterField& field) {
  WW_ASSIGN(marker, find_marker(region));
  return plan_at(region, marker, field);
}

Result<PatchSite> plan_unmarked(const CodeRegion& region, const HardwareRegisterField& field,
                                std::optional<std::uint16_t> group_register) {
  if (region.generation > Generation::gfx7) {
    return refuse(
        ErrorCode::unsupported,
        "code without the marker is searched on gfx6 and gfx7 alone, where it is known how "
        "the driver's compiler forms the group id; mark the place in the source",
        region.kernel);
  }
  const auto arrives = [&](std::size_t index, const Operand& operand) {
    return operand.kind == OperandKind::sgpr && !written_before(region, index, operand.index) &&
           (!group_register || operand.index == *group_register);
  };
  const auto& instructions = region.code.instructions();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& in = instructions[i].instruction;
    if (in.opcode != Opcode::s_add_i32 || in.src[0].kind != OperandKind::sgpr ||
        in.src[1].kind != OperandKind::sgpr) {
      continue;
    }
    const bool first = arrives(i, in.src[0]) && written_before(region, i, in.src[1].index);
    const bool second = arrives(i, in.src[1]) && written_before(region, i, in.src[0].index);
    if (first || second) {
      found.push_back(i);
    }
  }
  if (found.empty()) {
    return refuse(ErrorCode::not_found,
                  "neither the marker nor one s_add_i32 of the group id and a loaded offset",
                  region.kernel);
  }
  if (found.size() > 1) {
    return refuse(ErrorCode::bad_data,
                  fmt::format("{} instructions add an offset to a register that arrives with the "
                              "wave; which is the group id cannot be told",
                              found.size()),
                  region.kernel);
  }
  return plan_at(region, found.front(), field);
}

Status check_patched(const CodeRegion& before, const CodeRegion& after, const PatchSite& site,
                     const HardwareRegisterField& field) {
  const std::string& name = before.kernel;
  const std::uint64_t offset = site.file_offset - before.file_offset;
  const auto old_position = before.code.at_offset(offset);
  const auto position = after.code.at_offset(offset);
  const auto& instructions = after.code.instructions();
  const bool filled = site.after.size() > 4;
  if (!old_position || !position || (filled && *position + 1 >= instructions.size())) {
    return refuse(ErrorCode::bad_data, "no instruction begins at the site", name);
  }
  const Operand& destination = before.code.instructions()[*old_position].instruction.dst[0];
  const Instruction& read = instructions[*position].instruction;
  if (read.opcode != Opcode::s_getreg_b32 || read.dst[0] != destination ||
      isa::hardware_register_field(read) != field) {
    return refuse(ErrorCode::bad_data,
                  fmt::format("the site does not read the register as wanted, but: {}",
                              isa::disassemble(read, after.generation)),
                  name);
  }
  if (filled) {
    const Instruction& filler = instructions[*position + 1].instruction;
    if (filler.opcode != Opcode::s_nop || filler.modifiers.immediate != 0) {
      return refuse(ErrorCode::bad_data, "the register read is not followed by s_nop 0", name);
    }
  }
  // One instruction became one or two; all others begin where they did.
  if (instructions.size() != before.code.instructions().size() + (filled ? 1 : 0)) {
    return refuse(ErrorCode::bad_data, "the code decodes to other instructions", name);
  }
  return {};
}

}  // namespace ww::binpatch
