#include "catalyst_opencl2.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ww::binpatch {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kWhat = "Catalyst binary, OpenCL 2.0 form";
constexpr std::uint64_t kHeaderSize = 256;  // amd_kernel_code_t

template <class T>
T field(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

tl::unexpected<Error> broken_opencl2(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), std::string(kWhat));
}

// e_flags of the outer file: the numbers that have meant the same chip in every driver (those from
// 12 on have changed from one to the next). CLRX project, table of device codes.
std::optional<GfxTarget> chip_of(std::uint32_t flags) {
  switch (flags) {
    case 1:
    case 2: return GfxTarget{7, 0, 0};  // Spectre, Spooky
    case 3:
    case 4: return GfxTarget{7, 0, 3};  // Kalindi, Mullins
    case 6: return GfxTarget{7, 0, 4};  // Bonaire
    case 7: return GfxTarget{7, 0, 1};  // Hawaii
    case 8:
    case 9: return GfxTarget{8, 0, 2};  // Iceland, Tonga
    default: return std::nullopt;
  }
}

// NT_AMD_HSA_ISA_VERSION: two name sizes, then major, minor, stepping. Drivers write 7.0.0 of every
// chip of gfx7 and steppings of their own, so it gives the generation, not the chip.
std::optional<GfxTarget> noted_target(const RawElf& inner) {
  constexpr std::uint32_t isa_version = 3;
  for (const RawNote& note : inner.notes) {
    if (note.owner != "AMD" || note.type != isa_version || note.content.size() < 16) continue;
    const auto number = [&](std::size_t at) {
      return static_cast<int>(field<std::uint8_t>(note.content, at));
    };
    return GfxTarget{number(4), number(8), number(12)};
  }
  return std::nullopt;
}

Result<GfxTarget> target_of(const RawElf& outer, const RawElf& inner,
                            std::optional<GfxTarget> given) {
  const auto noted = noted_target(inner);
  auto chip = chip_of(outer.flags);
  if (chip && noted && chip->major != noted->major) chip.reset();
  if (!chip) chip = noted;
  if (given && chip && given->major != chip->major) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the binary is for {}, not for {}", to_string(*chip), to_string(*given)),
        std::string(kWhat));
  }
  if (given) return *given;
  if (chip) return *chip;
  return fail(ErrorCode::unsupported,
              fmt::format("device code {:#x} is not known; name the target (gfx803 for Polaris)",
                          outer.flags),
              std::string(kWhat));
}

std::string opencl2_kernel_name(std::string_view symbol) {
  constexpr std::string_view prefix = "&__OpenCL_";
  constexpr std::string_view suffix = "_kernel";
  if (symbol.starts_with(prefix) && symbol.ends_with(suffix) &&
      symbol.size() > prefix.size() + suffix.size()) {
    symbol.remove_prefix(prefix.size());
    symbol.remove_suffix(suffix.size());
  }
  return std::string(symbol);
}

// Lists where the driver writes addresses into the section `index`.
std::vector<std::uint64_t> relocated_places(const RawElf& inner, std::size_t index) {
  std::vector<std::uint64_t> places;
  for (const RawSection& section : inner.sections) {
    if (section.type != SHT_RELA || section.info != index) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= section.bytes.size();
         at += sizeof(Elf64_Rela)) {
      places.push_back(field<Elf64_Rela>(section.bytes, at).r_offset);
    }
  }
  return places;
}

Result<CatalystKernel> read_kernel(const RawSymbol& symbol, const RawSection& text,
                                   std::uint64_t text_at) {
  const std::string name = opencl2_kernel_name(symbol.name);
  if (symbol.value > text.bytes.size() || text.bytes.size() - symbol.value < kHeaderSize) {
    return broken_opencl2(
        fmt::format("the header of kernel '{}' does not lie inside .hsatext", name));
  }
  const Bytes rest = text.bytes.subspan(symbol.value);
  const Bytes whole =
      symbol.size >= kHeaderSize && symbol.size <= rest.size() ? rest.first(symbol.size) : rest;
  const auto into = field<std::uint64_t>(whole, 16);
  if (into < kHeaderSize || into >= whole.size()) {
    return broken_opencl2(fmt::format("the code of kernel '{}' begins {} bytes into its {}", name,
                                      into, whole.size()));
  }
  const auto compute_pgm_rsrc2 = field<std::uint32_t>(whole, 52);
  return CatalystKernel{
      .name = name,
      .code_offset = text_at + symbol.value + into,
      .code_size = whole.size() - into,
      .group_register = static_cast<std::uint16_t>((compute_pgm_rsrc2 >> 1) & 0x1f),
      .adds_offset = false,
      .relocated = {}};
}

}  // namespace

bool is_opencl2(const RawElf& outer) {
  return outer.machine == 0xaf5a || outer.machine == 0xaf5b;
}

Result<CatalystBinary> read_opencl2(const RawElf& outer, std::optional<GfxTarget> given) {
  constexpr unsigned char symbol_type_kernel = 10;  // STT_AMDGPU_HSA_KERNEL
  const RawSection* outer_text = outer.find(".text");
  if (outer_text == nullptr || !has_elf_magic(outer_text->bytes)) {
    return fail(ErrorCode::unsupported,
                "the kernels lie outside any HSA object, as drivers of 2015 wrote them; build with "
                "-legacy or for OpenCL 1.2",
                std::string(kWhat));
  }
  WW_ASSIGN(inner, read_raw_elf(outer_text->bytes));
  const auto text = std::ranges::find(inner.sections, ".hsatext", &RawSection::name);
  if (text == inner.sections.end())
    return broken_opencl2("the HSA object has no section .hsatext, so no kernel");
  const auto text_index = static_cast<std::size_t>(text - inner.sections.begin());
  CatalystBinary binary;
  WW_ASSIGN(target, target_of(outer, inner, given));
  binary.target = target;
  const auto places = relocated_places(inner, text_index);
  for (const RawSymbol& symbol : inner.symbols) {
    if (symbol.type != symbol_type_kernel || symbol.section != text_index) continue;
    WW_ASSIGN(kernel, read_kernel(symbol, *text, outer_text->offset + text->offset));
    const std::uint64_t code_at = kernel.code_offset - outer_text->offset - text->offset;
    for (const std::uint64_t place : places) {
      if (place >= code_at && place - code_at < kernel.code_size) {
        kernel.relocated.push_back(place - code_at);
      }
    }
    binary.kernels.push_back(std::move(kernel));
  }
  if (binary.kernels.empty()) return broken_opencl2("no symbol of .hsatext names a kernel");
  return binary;
}

}  // namespace ww::binpatch
