#include "ww/binpatch/patch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernel_code.hpp"

namespace ww::binpatch {

namespace {

using isa::Encoding;
using isa::Generation;
using isa::Instruction;
using isa::Opcode;
using isa::Operand;
using isa::OperandKind;

constexpr std::size_t site_size = 8;
constexpr std::uint32_t nop_word = 0xbf800000;  // s_nop 0, on every generation

tl::unexpected<Error> refuse(ErrorCode code, std::string message, std::string_view kernel) {
  return fail(code, std::move(message), fmt::format("kernel '{}'", kernel));
}

// Number of the register in s_getreg_b32. LLVM guide, "hwreg".
Result<std::uint32_t> register_number(HardwareRegister reg, GfxTarget target) {
  const bool gcn = target.major >= 6 && target.major <= 9;
  const bool has_dies = target.major == 9 && target.minor >= 4;  // gfx940 and later
  switch (reg) {
    case HardwareRegister::hw_id:
      if (gcn) return 4U;
      break;
    case HardwareRegister::xcc_id:
      if (has_dies) return 20U;
      break;
    case HardwareRegister::hw_id1:
      if (target.major == 10 || target.major == 11) return 23U;
      break;
  }
  return fail(ErrorCode::unsupported,
              fmt::format("{} has no register {}", to_string(target), to_string(reg)));
}

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

// s_getreg_b32 of the register's 32 bits. `destination` is the 7-bit scalar register number.
std::uint32_t getreg_word(Generation generation, std::uint32_t destination, std::uint32_t number) {
  const std::uint32_t opcode = generation <= Generation::gfx7 ? 0x12 : 0x11;
  constexpr std::uint32_t all_bits = 31U << 11;  // size - 1
  return 0xb0000000U | opcode << 23 | destination << 16 | all_bits | number;
}

bool holds_marker(const Instruction& in) {
  return std::any_of(in.src.begin(), in.src.end(),
                     [](const Operand& operand) {
                       return operand.kind == OperandKind::literal && operand.value == pin_marker;
                     }) ||
         (in.opcode == Opcode::unlisted && in.size_bytes == 8 && in.encoding <= Encoding::vopc &&
          in.modifiers.extra_dword == pin_marker);
}

bool is_marker(const Instruction& in) {
  return in.opcode == Opcode::s_xor_b32 && holds_marker(in);
}

// A code object with one of its kernels decoded.
struct OpenKernel {
  CodeObject object;
  Kernel kernel;
  Generation generation{};
  KernelCode code;
};

Result<OpenKernel> open_kernel(std::span<const std::byte> bytes, std::string_view name) {
  WW_ASSIGN(object, CodeObject::parse(bytes));
  const Kernel* kernel = object.find_kernel(name);
  if (kernel == nullptr) {
    return refuse(ErrorCode::not_found, "the code object has no such kernel", name);
  }
  WW_ASSIGN(generation, isa::generation_of(object.target()));
  WW_ASSIGN(code, KernelCode::decode(object, *kernel, generation));
  const Kernel copy = *kernel;
  return OpenKernel{std::move(object), copy, generation, std::move(code)};
}

// The position of the one marker. A marker constant in any other instruction means that the
// compiler has not kept the marker together.
Result<std::size_t> find_marker(const OpenKernel& open) {
  const auto& instructions = open.code.instructions();
  std::vector<std::size_t> markers;
  std::size_t others = 0;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i].instruction;
    if (is_marker(instruction)) {
      markers.push_back(i);
    } else if (holds_marker(instruction)) {
      ++others;
    }
  }
  const std::string& name = open.kernel.name;
  if (markers.empty() && others != 0) {
    return refuse(ErrorCode::unsupported,
                  "the marker is there, but not as s_xor_b32: compile with optimisation (-O1 or "
                  "more) and with the pin constraint of this target",
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

bool relocated(const CodeObject& object, std::uint64_t address) {
  return std::any_of(object.relocations().begin(), object.relocations().end(),
                     [&](const Relocation& relocation) {
                       return relocation.address + sizeof(std::uint64_t) > address &&
                              relocation.address < address + site_size;
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

// Finds and checks the place in an unpatched kernel, and says what would be written there.
Result<PatchSite> plan(const OpenKernel& open, HardwareRegister reg) {
  WW_ASSIGN(number, register_number(reg, open.object.target()));
  WW_ASSIGN(marker, find_marker(open));
  const auto& placed = open.code.instructions()[marker];
  WW_ASSIGN(scc_read, open.code.scc_is_read_after(marker));
  if (scc_read) {
    return refuse(ErrorCode::bad_data,
                  "an instruction reads the condition (SCC) that the marker sets and its "
                  "replacement would not",
                  open.kernel.name);
  }
  PatchSite site;
  site.kernel = open.kernel.name;
  site.file_offset = open.kernel.entry_file_offset + placed.offset;
  site.address = open.kernel.entry_address + placed.offset;
  if (relocated(open.object, site.address)) {
    return refuse(ErrorCode::bad_data, "the loader relocates the marker", open.kernel.name);
  }
  const auto before = open.object.bytes().subspan(site.file_offset, site_size);
  site.before.assign(before.begin(), before.end());
  site.after.resize(site_size);
  const std::uint32_t destination = (get_word(before) >> 16) & 0x7f;
  put_word(site.after, getreg_word(open.generation, destination, number));
  put_word(std::span(site.after).subspan(4), nop_word);
  site.before_text = pair_text(site.before, open.generation);
  site.after_text = pair_text(site.after, open.generation);
  return site;
}

std::vector<std::byte> with_bytes(std::span<const std::byte> object, std::uint64_t offset,
                                  std::span<const std::byte> bytes) {
  std::vector<std::byte> changed(object.begin(), object.end());
  std::copy(bytes.begin(), bytes.end(), changed.begin() + static_cast<std::ptrdiff_t>(offset));
  return changed;
}

bool same_place(const PatchSite& a, const PatchSite& b) {
  return a.kernel == b.kernel && a.file_offset == b.file_offset && a.address == b.address &&
         a.before == b.before && a.after == b.after;
}

// Checks that two instructions at the site are the register read, in full and into `destination`,
// and the filler.
Status check_replacement(const OpenKernel& open, std::uint64_t offset, const Operand& destination,
                         std::uint32_t number) {
  const auto position = open.code.at_offset(offset);
  const auto& instructions = open.code.instructions();
  if (!position || *position + 1 >= instructions.size()) {
    return refuse(ErrorCode::bad_data, "no instruction begins at the site", open.kernel.name);
  }
  const Instruction& read = instructions[*position].instruction;
  const Instruction& filler = instructions[*position + 1].instruction;
  const isa::HardwareRegisterField wanted{static_cast<std::uint8_t>(number), 0, 32};
  if (read.opcode != Opcode::s_getreg_b32 || read.dst[0] != destination ||
      isa::hardware_register_field(read) != wanted) {
    return refuse(ErrorCode::bad_data,
                  fmt::format("the site does not read the whole register, but: {}",
                              isa::disassemble(read, open.generation)),
                  open.kernel.name);
  }
  if (filler.opcode != Opcode::s_nop || filler.modifiers.immediate != 0) {
    return refuse(ErrorCode::bad_data, "the register read is not followed by s_nop 0",
                  open.kernel.name);
  }
  return {};
}

}  // namespace

Result<PatchResult> patch(std::span<const std::byte> object, std::string_view kernel,
                          HardwareRegister reg) {
  WW_ASSIGN(open, open_kernel(object, kernel));
  WW_ASSIGN(site, plan(open, reg));
  return PatchResult{with_bytes(object, site.file_offset, site.after), std::move(site)};
}

Result<std::vector<std::byte>> unpatch(std::span<const std::byte> object, const PatchSite& site) {
  WW_ASSIGN(open, open_kernel(object, site.kernel));
  const std::uint64_t entry = open.kernel.entry_file_offset;
  const bool inside = site.file_offset >= entry && open.kernel.code_size >= site_size &&
                      site.file_offset - entry <= open.kernel.code_size - site_size;
  if (!inside || site.before.size() != site_size || site.after.size() != site_size) {
    return refuse(ErrorCode::bad_data, "the site does not lie inside the kernel's code",
                  site.kernel);
  }
  const auto marker = isa::decode(open.generation, site.before);
  if (!marker || !is_marker(*marker)) {
    return refuse(ErrorCode::bad_data, "the site's earlier bytes are not the marker", site.kernel);
  }
  const auto position = open.code.at_offset(site.file_offset - entry);
  const auto present = object.subspan(site.file_offset, site_size);
  if (!position || !std::equal(present.begin(), present.end(), site.after.begin())) {
    return refuse(ErrorCode::bad_data, "the site does not hold what the patch wrote", site.kernel);
  }
  const Instruction& read = open.code.instructions()[*position].instruction;
  const std::uint32_t number = isa::hardware_register_field(read).id;
  WW_TRY(check_replacement(open, site.file_offset - entry, marker->dst[0], number));
  return with_bytes(object, site.file_offset, site.before);
}

Status verify(std::span<const std::byte> original, const PatchResult& patched,
              HardwareRegister reg) {
  const std::string& name = patched.site.kernel;
  WW_ASSIGN(before, open_kernel(original, name));
  WW_ASSIGN(expected, plan(before, reg));
  if (!same_place(expected, patched.site)) {
    return refuse(ErrorCode::bad_data, "the patch is not at the marker, or writes other bytes",
                  name);
  }
  if (patched.bytes != with_bytes(original, expected.file_offset, expected.after)) {
    return refuse(ErrorCode::bad_data, "bytes outside the site have changed", name);
  }
  WW_ASSIGN(after, open_kernel(patched.bytes, name));
  WW_ASSIGN(number, register_number(reg, after.object.target()));
  const std::uint64_t offset = expected.file_offset - before.kernel.entry_file_offset;
  const auto marker = before.code.at_offset(offset);
  if (!marker) {
    return refuse(ErrorCode::bad_data, "no instruction begins at the site", name);
  }
  const Instruction& replaced = before.code.instructions()[*marker].instruction;
  WW_TRY(check_replacement(after, offset, replaced.dst[0], number));
  // One instruction became two; all others begin where they did, and their bytes are the same.
  if (after.code.instructions().size() != before.code.instructions().size() + 1) {
    return refuse(ErrorCode::bad_data, "the code decodes to other instructions", name);
  }
  return {};
}

}  // namespace ww::binpatch
