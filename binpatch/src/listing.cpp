#include <fmt/format.h>

#include "parts.hpp"

namespace ww::binpatch {

namespace {

// Whether the instruction reads one of the registers that a patch can choose.
bool reads_hardware_id(const isa::Instruction& instruction, GfxTarget target) {
  if (instruction.opcode != isa::Opcode::s_getreg_b32) {
    return false;
  }
  const auto id = isa::hardware_register_field(instruction).id;
  for (const auto reg :
       {HardwareRegister::hw_id, HardwareRegister::hw_id1, HardwareRegister::xcc_id}) {
    const auto field = whole_register(reg, target);
    if (field && field->id == id) {
      return true;
    }
  }
  return false;
}

struct Code {
  GfxTarget target;
  std::uint64_t file_offset{};
  std::uint64_t address{};
  std::span<const std::byte> bytes;
  isa::WaveSize wave{};
};

// ENABLE_WAVEFRONT_SIZE32 of the descriptor, from gfx10 on.
isa::WaveSize wave_of(const Kernel& kernel, GfxTarget target) {
  if (target.major < 10) return isa::WaveSize::usual;
  const bool half = (kernel.descriptor.kernel_code_properties >> 10 & 1) != 0;
  return half ? isa::WaveSize::lanes32 : isa::WaveSize::lanes64;
}

CodeListing list_code(const Code& code, std::string target, std::string kernel) {
  CodeListing listing{.target = std::move(target), .kernel = std::move(kernel)};
  const auto generation = isa::generation_of(code.target);
  if (!generation) {
    listing.problem = generation.error();
    return listing;
  }
  for (std::size_t at = 0; at < code.bytes.size();) {
    const auto instruction = isa::decode(*generation, code.bytes.subspan(at), code.wave);
    if (!instruction) {
      listing.problem = instruction.error();
      break;
    }
    const auto bytes = code.bytes.subspan(at, instruction->size_bytes);
    std::string text = isa::disassemble(*instruction, *generation);
    const bool named = !text.starts_with(".long");
    listing.lines.push_back({.address = code.address + at,
                             .file_offset = code.file_offset + at,
                             .bytes = {bytes.begin(), bytes.end()},
                             .text = std::move(text),
                             .reads_hardware_id = reads_hardware_id(*instruction, code.target),
                             .decoded = named});
    at += instruction->size_bytes;
  }
  return listing;
}

Status list_part(const Part& part, std::string_view only, std::vector<CodeListing>& out) {
  if (part.kind == BinaryKind::ptx) {
    return fail(ErrorCode::unsupported, "PTX is text already", "GPU binary");
  }
  WW_ASSIGN(list, kernels_of(part));
  const std::string& target = part.target.empty() ? list.target : part.target;
  if (part.kind == BinaryKind::catalyst) {
    for (const std::string& name : list.kernels) {
      if (!only.empty() && name != only) continue;
      WW_ASSIGN(open, open_catalyst(part, name));
      const CodeRegion& region = open.region;
      out.push_back(list_code({region.target, part.base + region.file_offset, region.address,
                               region.bytes.first(region.code.extent())},
                              target, name));
    }
    return {};
  }
  WW_ASSIGN(object, CodeObject::parse(part.bytes));
  for (const Kernel& kernel : object.kernels()) {
    if (!only.empty() && kernel.name != only) continue;
    out.push_back(
        list_code({object.target(), part.base + kernel.entry_file_offset, kernel.entry_address,
                   object.code(kernel), wave_of(kernel, object.target())},
                  target, kernel.name));
  }
  return {};
}

}  // namespace

Result<std::vector<CodeListing>> list_code(std::span<const std::byte> bytes,
                                           std::string_view kernel) {
  WW_ASSIGN(plain, plain_file(bytes));
  WW_ASSIGN(parts, parts_of(plain.bytes, ""));
  std::vector<CodeListing> listings;
  for (const Part& part : parts) WW_TRY(list_part(part, kernel, listings));
  if (listings.empty() && !kernel.empty()) {
    return fail(ErrorCode::not_found, fmt::format("no kernel '{}' in this file", kernel),
                "GPU binary");
  }
  return listings;
}

}  // namespace ww::binpatch
