#include "ww/binpatch/code_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "elf_view.hpp"
#include "metadata.hpp"

namespace ww::binpatch {

namespace {

constexpr std::uint32_t note_metadata = 32;  // NT_AMDGPU_METADATA
constexpr std::uint64_t descriptor_size = 64;

// EF_AMDGPU_MACH, the low byte of e_flags. LLVM guide, table "AMDGPU EF_AMDGPU_MACH Values".
std::optional<std::string_view> machine_name(std::uint32_t flags) {
  struct Machine {
    std::uint32_t number;
    std::string_view name;
  };
  static constexpr Machine machines[] = {
      {0x20, "gfx600"},  {0x21, "gfx601"},  {0x22, "gfx700"},  {0x23, "gfx701"},  {0x24, "gfx702"},
      {0x25, "gfx703"},  {0x26, "gfx704"},  {0x28, "gfx801"},  {0x29, "gfx802"},  {0x2a, "gfx803"},
      {0x2b, "gfx810"},  {0x2c, "gfx900"},  {0x2d, "gfx902"},  {0x2e, "gfx904"},  {0x2f, "gfx906"},
      {0x30, "gfx908"},  {0x31, "gfx909"},  {0x32, "gfx90c"},  {0x33, "gfx1010"}, {0x34, "gfx1011"},
      {0x35, "gfx1012"}, {0x36, "gfx1030"}, {0x37, "gfx1031"}, {0x38, "gfx1032"}, {0x39, "gfx1033"},
      {0x3a, "gfx602"},  {0x3b, "gfx705"},  {0x3c, "gfx805"},  {0x3d, "gfx1035"}, {0x3e, "gfx1034"},
      {0x3f, "gfx90a"},  {0x40, "gfx940"},  {0x41, "gfx1100"}, {0x42, "gfx1013"}, {0x43, "gfx1150"},
      {0x44, "gfx1103"}, {0x45, "gfx1036"}, {0x46, "gfx1101"}, {0x47, "gfx1102"}, {0x48, "gfx1200"},
      {0x4a, "gfx1151"}, {0x4b, "gfx941"},  {0x4c, "gfx942"},  {0x4e, "gfx1201"}, {0x4f, "gfx950"},
  };
  const auto* found = std::find_if(std::begin(machines), std::end(machines),
                                   [&](const Machine& m) { return m.number == (flags & 0xff); });
  return found == std::end(machines) ? std::nullopt : std::optional(found->name);
}

tl::unexpected<Error> broken(std::string message, std::string_view kernel) {
  return fail(ErrorCode::parse_error, std::move(message), fmt::format("kernel '{}'", kernel));
}

template <class T>
T field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// LLVM guide, table "Kernel Descriptor".
KernelDescriptor read_descriptor(std::span<const std::byte> bytes) {
  return {.group_segment_fixed_size = field<std::uint32_t>(bytes, 0),
          .private_segment_fixed_size = field<std::uint32_t>(bytes, 4),
          .kernarg_size = field<std::uint32_t>(bytes, 8),
          .kernel_code_entry_byte_offset = field<std::int64_t>(bytes, 16),
          .compute_pgm_rsrc1 = field<std::uint32_t>(bytes, 48),
          .compute_pgm_rsrc2 = field<std::uint32_t>(bytes, 52),
          .compute_pgm_rsrc3 = field<std::uint32_t>(bytes, 44),
          .kernel_code_properties = field<std::uint16_t>(bytes, 56)};
}

// Fills in what the ELF file knows of a kernel: descriptor, entry and extent of the code.
Status locate(Kernel& kernel, const ElfView& elf, std::span<const std::byte> bytes) {
  const ElfSymbol* symbol = elf.find_symbol(kernel.symbol);
  if (symbol == nullptr) {
    return broken(fmt::format("no symbol '{}'", kernel.symbol), kernel.name);
  }
  const auto descriptor_at = elf.file_offset(symbol->value, descriptor_size);
  if (!descriptor_at) {
    return broken("the kernel descriptor does not lie inside a segment", kernel.name);
  }
  kernel.descriptor_address = symbol->value;
  kernel.descriptor = read_descriptor(bytes.subspan(*descriptor_at, descriptor_size));
  kernel.entry_address =
      symbol->value + static_cast<std::uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);

  const auto segment =
      std::find_if(elf.segments().begin(), elf.segments().end(), [&](const Segment& candidate) {
        return candidate.executable && kernel.entry_address >= candidate.address &&
               kernel.entry_address - candidate.address < candidate.file_size;
      });
  if (segment == elf.segments().end()) {
    return broken("the entry does not lie inside an executable segment", kernel.name);
  }
  const std::uint64_t into = kernel.entry_address - segment->address;
  kernel.entry_file_offset = segment->file_offset + into;
  const std::uint64_t room = segment->file_size - into;

  const ElfSymbol* function = elf.find_symbol(kernel.name);
  const bool sized =
      function != nullptr && function->value == kernel.entry_address && function->size > 0;
  if (sized && function->size > room) {
    return broken("the code runs past its segment", kernel.name);
  }
  kernel.code_size = sized ? function->size : room;
  return {};
}

}  // namespace

Result<CodeObject> CodeObject::parse(std::span<const std::byte> bytes) {
  CodeObject object;
  object.bytes_.assign(bytes.begin(), bytes.end());
  WW_ASSIGN(elf, ElfView::open(object.bytes_));

  constexpr int first_version = 2;  // EI_ABIVERSION 0
  object.version_ = elf.header().e_ident[EI_ABIVERSION] + first_version;
  if (object.version_ == 2) {
    return fail(ErrorCode::unsupported,
                "code object version 2 (YAML metadata); compile for version 3 or later",
                "code object");
  }
  if (object.version_ > 6) {
    return fail(ErrorCode::unsupported,
                fmt::format("code object version {} is not known", object.version_), "code object");
  }
  const auto name = machine_name(elf.header().e_flags);
  if (!name) {
    return fail(ErrorCode::unsupported,
                fmt::format("the ELF flags {:#x} name no known GPU", elf.header().e_flags),
                "code object");
  }
  WW_ASSIGN(target, parse_gfx_target(*name));
  object.target_ = target;
  object.segments_ = elf.segments();
  WW_ASSIGN(relocations, elf.relocations());
  object.relocations_ = std::move(relocations);

  WW_ASSIGN(note, elf.find_note("AMDGPU", note_metadata));
  if (!note) {
    return fail(ErrorCode::parse_error, "the file has no AMDGPU metadata note", "code object");
  }
  WW_ASSIGN(metadata, parse_metadata(*note));
  object.kernels_ = std::move(metadata.kernels);
  object.printf_formats_ = std::move(metadata.printf_formats);
  for (Kernel& kernel : object.kernels_) {
    WW_TRY(locate(kernel, elf, object.bytes_));
  }
  return object;
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.name == name) {
      return &kernel;
    }
  }
  return nullptr;
}

std::span<const std::byte> CodeObject::code(const Kernel& kernel) const {
  const std::span<const std::byte> all(bytes_);
  if (kernel.entry_file_offset > all.size() ||
      kernel.code_size > all.size() - kernel.entry_file_offset) {
    return {};
  }
  return all.subspan(kernel.entry_file_offset, kernel.code_size);
}

}  // namespace ww::binpatch
