#include "catalyst.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "catalyst_opencl2.hpp"
#include "raw_elf.hpp"

namespace ww::binpatch {

namespace {

constexpr std::string_view kSymbolPrefix = "__OpenCL_";
constexpr std::string_view kSymbolSuffix = "_kernel";
constexpr std::string_view kSourceSections[] = {".source", ".llvmir", ".spir", ".spirv",
                                                ".amdil",  ".hsail",  ".brig", ".astext"};

tl::unexpected<Error> broken_catalyst(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "Catalyst binary");
}

// e_machine of the outer file, by chip: CLRX project, "AMD Catalyst OpenCL binaries".
std::optional<GfxTarget> target_of(std::uint16_t machine) {
  struct Machine {
    std::uint16_t number;
    GfxTarget target;
  };
  static constexpr Machine machines[] = {
      {0x3fd, {6, 0, 0}},  // Tahiti
      {0x3fe, {6, 0, 1}},  // Pitcairn
      {0x3ff, {6, 0, 1}},  // Cape Verde
      {0x402, {6, 0, 1}},  // Oland
      {0x403, {7, 0, 4}},  // Bonaire
      {0x404, {7, 0, 0}},  // Spectre
      {0x405, {7, 0, 0}},  // Spooky
      {0x406, {7, 0, 3}},  // Kalindi
      {0x407, {6, 0, 2}},  // Hainan
      {0x408, {7, 0, 1}},  // Hawaii
      {0x409, {8, 0, 2}},  // Iceland
      {0x40a, {8, 0, 2}},  // Tonga
      {0x40b, {7, 0, 3}},  // Mullins
      {0x40c, {8, 0, 3}},  // Fiji
      {0x40d, {8, 0, 1}},  // Carrizo
  };
  const auto* found = std::find_if(std::begin(machines), std::end(machines),
                                   [&](const Machine& m) { return m.number == machine; });
  return found == std::end(machines) ? std::nullopt : std::optional(found->target);
}

// Programs that the driver compiled for the processor.
bool is_processor(std::uint16_t machine) {
  return machine == 0x7d3 || machine == 0x7d4;
}

std::string catalyst_kernel_name(std::string_view symbol) {
  if (symbol.starts_with(kSymbolPrefix) && symbol.ends_with(kSymbolSuffix) &&
      symbol.size() > kSymbolPrefix.size() + kSymbolSuffix.size()) {
    symbol.remove_prefix(kSymbolPrefix.size());
    symbol.remove_suffix(kSymbolSuffix.size());
  }
  return std::string(symbol);
}

// The group ids follow the user registers, whose number COMPUTE_PGM_RSRC2 has; the CAL notes list
// such registers as pairs of address and value.
std::optional<std::uint16_t> group_register_of(const RawElf& inner) {
  constexpr std::uint32_t program_info = 1;
  constexpr std::uint32_t compute_pgm_rsrc2 = 0x2e13;
  for (const RawNote& note : inner.notes) {
    if (note.owner != "ATI CAL" || note.type != program_info) continue;
    for (std::size_t at = 0; at + 8 <= note.content.size(); at += 8) {
      std::uint32_t pair[2];
      std::memcpy(pair, note.content.data() + at, sizeof pair);
      if (pair[0] == compute_pgm_rsrc2) {
        return static_cast<std::uint16_t>((pair[1] >> 1) & 0x1f);
      }
    }
  }
  return std::nullopt;
}

Result<CatalystKernel> read_kernel(std::string name, std::span<const std::byte> inner_bytes,
                                   std::uint64_t inner_offset) {
  const auto inner = read_raw_elf(inner_bytes);
  if (!inner) {
    return broken_catalyst(fmt::format("kernel '{}': {}", name, inner.error().message));
  }
  const RawSection* code = inner->find(".text");
  const auto texts =
      std::count_if(inner->sections.begin(), inner->sections.end(),
                    [](const RawSection& section) { return section.name == ".text"; });
  if (code == nullptr || code->bytes.empty() || texts != 1) {
    return broken_catalyst(
        fmt::format("kernel '{}' has {} code sections, it must have one", name, texts));
  }
  return CatalystKernel{.name = std::move(name),
                        .code_offset = inner_offset + code->offset,
                        .code_size = code->size,
                        .group_register = group_register_of(*inner)};
}

Result<CatalystBinary> read_opencl1(const RawElf& outer, std::optional<GfxTarget> given) {
  CatalystBinary binary;
  const auto target = target_of(outer.machine);
  if (target && given && *target != *given) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the binary is for {}, not for {}", to_string(*target), to_string(*given)),
        "Catalyst binary");
  }
  if (is_processor(outer.machine)) {
    return fail(ErrorCode::unsupported, "the program is for the host's processor, not for a GPU",
                "Catalyst binary");
  }
  if (!target && !given) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("machine number {:#x} is not known; name the target (gfx701 for Hawaii)",
                    outer.machine),
        "Catalyst binary");
  }
  binary.target = target ? *target : *given;
  for (const RawSymbol& symbol : outer.symbols) {
    if (symbol.section == 0 || symbol.section >= outer.sections.size()) continue;
    const RawSection& section = outer.sections[symbol.section];
    if (section.name != ".text" || symbol.value >= section.bytes.size()) continue;
    const auto rest = section.bytes.subspan(symbol.value);
    const auto inner =
        symbol.size != 0 && symbol.size <= rest.size() ? rest.first(symbol.size) : rest;
    if (!has_elf_magic(inner)) continue;
    WW_ASSIGN(kernel,
              read_kernel(catalyst_kernel_name(symbol.name), inner, section.offset + symbol.value));
    binary.kernels.push_back(std::move(kernel));
  }
  if (binary.kernels.empty()) {
    return broken_catalyst("no symbol names an inner ELF file in .text");
  }
  return binary;
}

}  // namespace

bool is_catalyst(std::span<const std::byte> bytes) {
  constexpr std::uint16_t machine_amdgpu = 224;
  const auto elf = read_raw_elf(bytes);
  if (!elf || elf->machine == machine_amdgpu) {
    return false;
  }
  return target_of(elf->machine).has_value() || is_opencl2(*elf) ||
         elf->find(".llvmir") != nullptr || elf->find(".amdil") != nullptr ||
         std::any_of(elf->symbols.begin(), elf->symbols.end(), [](const RawSymbol& symbol) {
           return catalyst_kernel_name(symbol.name) != symbol.name;
         });
}

Result<CatalystBinary> read_catalyst(std::span<const std::byte> bytes,
                                     std::optional<GfxTarget> given) {
  WW_ASSIGN(outer, read_raw_elf(bytes));
  WW_ASSIGN(binary, is_opencl2(outer) ? read_opencl2(outer, given) : read_opencl1(outer, given));
  for (const RawSection& section : outer.sections) {
    const bool source = std::find(std::begin(kSourceSections), std::end(kSourceSections),
                                  section.name) != std::end(kSourceSections);
    if (source && !section.bytes.empty()) {
      binary.sources.push_back({.section = section.name,
                                .offset = section.offset,
                                .size = section.size,
                                .size_field_offset = section.size_field_offset,
                                .size_field_bytes = outer.wide ? 8U : 4U});
    }
  }
  return binary;
}

}  // namespace ww::binpatch
