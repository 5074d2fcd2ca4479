#include "ww/binpatch/code_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "elf_view.hpp"
#include "kernel_code.hpp"
#include "metadata.hpp"

namespace ww::binpatch {

namespace {

constexpr std::uint32_t kNoteMetadata = 32;      // NT_AMDGPU_METADATA
constexpr std::uint32_t kNoteYamlMetadata = 10;  // NT_AMD_HSA_METADATA, of version 2
constexpr std::uint64_t kDescriptorSize = 64;

// EF_AMDGPU_MACH, the low byte of e_flags. LLVM guide, table "AMDGPU EF_AMDGPU_MACH Values".
struct Machine {
  std::uint32_t number;
  std::string_view name;
  std::string_view generic{};  // the name that others know the code by; empty: the same
};
const Machine* machine_of(std::uint32_t flags) {
  static constexpr Machine machines[] = {
      {0x20, "gfx600"},
      {0x21, "gfx601"},
      {0x22, "gfx700"},
      {0x23, "gfx701"},
      {0x24, "gfx702"},
      {0x25, "gfx703"},
      {0x26, "gfx704"},
      {0x28, "gfx801"},
      {0x29, "gfx802"},
      {0x2a, "gfx803"},
      {0x2b, "gfx810"},
      {0x2c, "gfx900"},
      {0x2d, "gfx902"},
      {0x2e, "gfx904"},
      {0x2f, "gfx906"},
      {0x30, "gfx908"},
      {0x31, "gfx909"},
      {0x32, "gfx90c"},
      {0x33, "gfx1010"},
      {0x34, "gfx1011"},
      {0x35, "gfx1012"},
      {0x36, "gfx1030"},
      {0x37, "gfx1031"},
      {0x38, "gfx1032"},
      {0x39, "gfx1033"},
      {0x3a, "gfx602"},
      {0x3b, "gfx705"},
      {0x3c, "gfx805"},
      {0x3d, "gfx1035"},
      {0x3e, "gfx1034"},
      {0x3f, "gfx90a"},
      {0x40, "gfx940"},
      {0x41, "gfx1100"},
      {0x42, "gfx1013"},
      {0x43, "gfx1150"},
      {0x44, "gfx1103"},
      {0x45, "gfx1036"},
      {0x46, "gfx1101"},
      {0x47, "gfx1102"},
      {0x48, "gfx1200"},
      {0x4a, "gfx1151"},
      {0x4b, "gfx941"},
      {0x4c, "gfx942"},
      {0x4e, "gfx1201"},
      {0x4f, "gfx950"},
      {0x55, "gfx1152"},
      {0x58, "gfx1153"},
      // Generic targets of version 6: the first of the family, whose code all others run.
      {0x51, "gfx900", "gfx9-generic"},
      {0x52, "gfx1010", "gfx10-1-generic"},
      {0x53, "gfx1030", "gfx10-3-generic"},
      {0x54, "gfx1100", "gfx11-generic"},
      {0x59, "gfx1200", "gfx12-generic"},
      {0x5f, "gfx940", "gfx9-4-generic"},
  };
  const auto* found = std::find_if(std::begin(machines), std::end(machines),
                                   [&](const Machine& m) { return m.number == (flags & 0xff); });
  return found == std::end(machines) ? nullptr : found;
}

tl::unexpected<Error> broken(std::string message, std::string_view kernel) {
  return fail(ErrorCode::parse_error, std::move(message), fmt::format("kernel '{}'", kernel));
}

template <class T>
T note_field(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// LLVM guide, table "Kernel Descriptor".
KernelDescriptor read_descriptor(std::span<const std::byte> bytes) {
  return {.group_segment_fixed_size = note_field<std::uint32_t>(bytes, 0),
          .private_segment_fixed_size = note_field<std::uint32_t>(bytes, 4),
          .kernarg_size = note_field<std::uint32_t>(bytes, 8),
          .kernel_code_entry_byte_offset = note_field<std::int64_t>(bytes, 16),
          .compute_pgm_rsrc1 = note_field<std::uint32_t>(bytes, 48),
          .compute_pgm_rsrc2 = note_field<std::uint32_t>(bytes, 52),
          .compute_pgm_rsrc3 = note_field<std::uint32_t>(bytes, 44),
          .kernel_code_properties = note_field<std::uint16_t>(bytes, 56)};
}

// LLVM guide, table "AMDHSA Kernel Code Object" of version 2: amd_kernel_code_t, which precedes the
// code. What later versions keep in the descriptor lies at the same places or in named fields.
constexpr std::uint64_t kKernelCodeHeaderSize = 256;

void read_kernel_code_header(Kernel& kernel, std::span<const std::byte> bytes) {
  kernel.descriptor = {
      .group_segment_fixed_size = note_field<std::uint32_t>(bytes, 64),
      .private_segment_fixed_size = note_field<std::uint32_t>(bytes, 60),
      .kernarg_size = static_cast<std::uint32_t>(note_field<std::uint64_t>(bytes, 72)),
      .kernel_code_entry_byte_offset = note_field<std::int64_t>(bytes, 16),
      .compute_pgm_rsrc1 = note_field<std::uint32_t>(bytes, 48),
      .compute_pgm_rsrc2 = note_field<std::uint32_t>(bytes, 52),
      .compute_pgm_rsrc3 = 0,
      .kernel_code_properties = static_cast<std::uint16_t>(note_field<std::uint32_t>(bytes, 56))};
  kernel.kernarg_segment_size = kernel.descriptor.kernarg_size;
  kernel.sgpr_count = note_field<std::uint16_t>(bytes, 84);
  kernel.vgpr_count = note_field<std::uint16_t>(bytes, 86);
  const auto logarithm = [&](std::size_t at) { return note_field<std::uint8_t>(bytes, at) & 31U; };
  kernel.kernarg_segment_align = 1U << logarithm(100);
  kernel.wavefront_size = 1U << logarithm(103);
}

// Where the code begins in the file, and how far its segment goes on; `size` is what a symbol
// gives, 0 when none does.
Status place_code(Kernel& kernel, const ElfView& elf, std::uint64_t size) {
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
  if (size > room) {
    return broken("the code runs past its segment", kernel.name);
  }
  kernel.code_size = size != 0 ? size : room;
  return {};
}

constexpr std::string_view kDescriptorSuffix = ".kd";

// Fills in what the ELF file knows of a kernel: descriptor, entry and extent of the code. True when
// a symbol has the code's size.
Result<bool> locate(Kernel& kernel, const ElfView& elf, std::span<const std::byte> bytes) {
  const ElfSymbol* symbol = elf.find_symbol(kernel.symbol);
  if (symbol == nullptr) {
    return broken(fmt::format("no symbol '{}'", kernel.symbol), kernel.name);
  }
  const auto descriptor_at = elf.file_offset(symbol->value, kDescriptorSize);
  if (!descriptor_at) {
    return broken("the kernel descriptor does not lie inside a segment", kernel.name);
  }
  kernel.descriptor_address = symbol->value;
  kernel.descriptor = read_descriptor(bytes.subspan(*descriptor_at, kDescriptorSize));
  kernel.entry_address =
      symbol->value + static_cast<std::uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);

  const ElfSymbol* function = elf.find_symbol(kernel.name);
  if (function == nullptr && kernel.symbol.ends_with(kDescriptorSuffix)) {
    function = elf.find_symbol(
        std::string_view(kernel.symbol).substr(0, kernel.symbol.size() - kDescriptorSuffix.size()));
  }
  const bool sized =
      function != nullptr && function->value == kernel.entry_address && function->size > 0;
  WW_TRY(place_code(kernel, elf, sized ? function->size : 0));
  return sized;
}

// The kernels of a file without metadata: those whose descriptor has a symbol.
std::vector<Kernel> kernels_of_descriptors(const ElfView& elf) {
  std::vector<Kernel> kernels;
  for (const ElfSymbol& symbol : elf.symbols()) {
    const bool known = std::any_of(kernels.begin(), kernels.end(),
                                   [&](const Kernel& k) { return k.symbol == symbol.name; });
    if (!symbol.defined || known || !symbol.name.ends_with(kDescriptorSuffix)) continue;
    Kernel kernel;
    kernel.symbol = symbol.name;
    kernel.name = symbol.name.substr(0, symbol.name.size() - kDescriptorSuffix.size());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Data that has a symbol and lies inside a segment; kernel descriptors apart.
std::vector<Variable> variables_of(const ElfView& elf) {
  std::vector<Variable> variables;
  std::set<std::string_view> known;
  for (const ElfSymbol& symbol : elf.symbols()) {
    if (!symbol.defined || symbol.type != STT_OBJECT || symbol.size == 0) continue;
    if (symbol.name.ends_with(kDescriptorSuffix)) continue;
    const bool inside = std::ranges::any_of(elf.segments(), [&](const Segment& segment) {
      const std::uint64_t offset = symbol.value - segment.address;
      return offset < segment.memory_size && symbol.size <= segment.memory_size - offset;
    });
    if (!inside || !known.insert(symbol.name).second) continue;
    variables.push_back({std::string(symbol.name), symbol.value, symbol.size});
  }
  return variables;
}

// Version 2: a symbol of its own type names the header that precedes the code.
Result<std::vector<Kernel>> kernels_of_version2(const ElfView& elf,
                                                std::span<const std::byte> bytes) {
  constexpr unsigned char symbol_type_kernel = 10;  // STT_AMDGPU_HSA_KERNEL
  std::vector<Kernel> kernels;
  for (const ElfSymbol& symbol : elf.symbols()) {
    const bool known = std::any_of(kernels.begin(), kernels.end(),
                                   [&](const Kernel& k) { return k.name == symbol.name; });
    if (!symbol.defined || known || symbol.type != symbol_type_kernel) continue;
    Kernel kernel;
    kernel.name = symbol.name;
    kernel.symbol = symbol.name;
    const auto header_at = elf.file_offset(symbol.value, kKernelCodeHeaderSize);
    if (!header_at) {
      return broken("the kernel's header does not lie inside a segment", kernel.name);
    }
    kernel.descriptor_address = symbol.value;
    read_kernel_code_header(kernel, bytes.subspan(*header_at, kKernelCodeHeaderSize));
    const auto into = kernel.descriptor.kernel_code_entry_byte_offset;
    if (into < static_cast<std::int64_t>(kKernelCodeHeaderSize)) {
      return broken("the code begins inside the kernel's header", kernel.name);
    }
    kernel.entry_address = symbol.value + static_cast<std::uint64_t>(into);
    const auto header_part = static_cast<std::uint64_t>(into);
    WW_TRY(place_code(kernel, elf, symbol.size > header_part ? symbol.size - header_part : 0));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// Gives the kernels that symbols name what the metadata knows of them; true when it knows all.
bool add_arguments(std::vector<Kernel>& kernels, Metadata& metadata) {
  bool all = true;
  for (Kernel& kernel : kernels) {
    const auto found = std::find_if(
        metadata.kernels.begin(), metadata.kernels.end(), [&](const Kernel& described) {
          return described.name == kernel.name || described.symbol == kernel.name + "@kd";
        });
    if (found == metadata.kernels.end()) {
      all = false;
      continue;
    }
    kernel.arguments = std::move(found->arguments);
    kernel.max_flat_workgroup_size = found->max_flat_workgroup_size;
    kernel.uses_dynamic_stack = found->uses_dynamic_stack;
    kernel.required_workgroup_size = found->required_workgroup_size;
    kernel.workgroup_size_hint = found->workgroup_size_hint;
    kernel.vector_type_hint = std::move(found->vector_type_hint);
  }
  return all;
}

// NT_AMD_HSA_ISA_VERSION, of version 2: two name sizes, then major, minor, stepping.
Result<std::optional<GfxTarget>> noted_target(const ElfView& elf) {
  constexpr std::uint32_t note_isa_version = 3;
  WW_ASSIGN(note, elf.find_note("AMD", note_isa_version));
  if (!note || note->size() < 16) return std::optional<GfxTarget>{};
  const auto number = [&](std::size_t at) {
    return static_cast<int>(note_field<std::uint8_t>(*note, at));
  };
  return std::optional<GfxTarget>({number(4), number(8), number(12)});
}

// Code that no symbol bounds ends at the next kernel's entry at the latest, and where the decoder
// sees it end.
void bound_code(std::vector<Kernel>& kernels, std::size_t index, const CodeObject& object) {
  Kernel& kernel = kernels[index];
  for (const Kernel& other : kernels) {
    if (other.entry_address > kernel.entry_address) {
      kernel.code_size = std::min(kernel.code_size, other.entry_address - kernel.entry_address);
    }
  }
  const auto generation = isa::generation_of(object.target());
  if (!generation) return;
  const auto code = KernelCode::decode_reachable(object.code(kernel), kernel.name, *generation);
  if (code) kernel.code_size = code->extent();
}

}  // namespace

Result<CodeObject> CodeObject::parse(std::span<const std::byte> bytes) {
  CodeObject object;
  object.bytes_.assign(bytes.begin(), bytes.end());
  WW_ASSIGN(elf, ElfView::open(object.bytes_));

  constexpr int first_version = 2;  // EI_ABIVERSION 0
  object.version_ = elf.header().e_ident[EI_ABIVERSION] + first_version;
  if (object.version_ > 6) {
    return fail(ErrorCode::unsupported,
                fmt::format("code object version {} is not known", object.version_), "code object");
  }
  if (const Machine* machine = machine_of(elf.header().e_flags); machine != nullptr) {
    WW_ASSIGN(target, parse_gfx_target(machine->name));
    object.target_ = target;
    object.target_name_ = machine->generic.empty() ? machine->name : machine->generic;
    constexpr unsigned generic_version_bit = 24;  // EF_AMDGPU_GENERIC_VERSION
    object.generic_version_ = elf.header().e_flags >> generic_version_bit;
  } else {
    WW_ASSIGN(target, noted_target(elf));
    if (!target || object.version_ != first_version) {
      return fail(ErrorCode::unsupported,
                  fmt::format("the ELF flags {:#x} name no known GPU", elf.header().e_flags),
                  "code object");
    }
    object.target_ = *target;
    object.target_name_ = to_string(*target);
  }
  object.segments_ = elf.segments();
  WW_ASSIGN(relocations, elf.relocations());
  object.relocations_ = std::move(relocations);
  if (object.version_ == first_version) {
    WW_ASSIGN(kernels, kernels_of_version2(elf, object.bytes_));
    object.kernels_ = std::move(kernels);
    WW_ASSIGN(yaml, elf.find_note("AMD", kNoteYamlMetadata));
    if (yaml) {
      const auto* first = reinterpret_cast<const char*>(yaml->data());
      if (auto metadata = parse_yaml_metadata({first, yaml->size()})) {
        object.has_arguments_ = add_arguments(object.kernels_, *metadata);
        object.printf_formats_ = std::move(metadata->printf_formats);
      }
    }
    return object;
  }

  WW_ASSIGN(note, elf.find_note("AMDGPU", kNoteMetadata));
  if (note) {
    WW_ASSIGN(metadata, parse_metadata(*note));
    object.kernels_ = std::move(metadata.kernels);
    object.printf_formats_ = std::move(metadata.printf_formats);
    object.has_arguments_ = true;
  } else {
    object.kernels_ = kernels_of_descriptors(elf);
    if (object.kernels_.empty()) {
      return fail(ErrorCode::parse_error,
                  "the file has neither AMDGPU metadata nor a kernel descriptor's symbol",
                  "code object");
    }
  }
  std::vector<std::size_t> unsized;
  for (std::size_t i = 0; i < object.kernels_.size(); ++i) {
    WW_ASSIGN(sized, locate(object.kernels_[i], elf, object.bytes_));
    if (!sized) unsized.push_back(i);
  }
  for (const std::size_t index : unsized) bound_code(object.kernels_, index, object);
  object.variables_ = variables_of(elf);
  return object;
}

Status CodeObject::check_runs_on(std::string_view processor) const {
  if (!runs_on(target_name_, processor)) {
    return fail(ErrorCode::unsupported,
                fmt::format("it is for {}, not for {}", target_name_, processor), "code object");
  }
  // Versions are counted from 1; a processor runs those from the one that brought it on.
  if (is_generic_target(target_name_) && generic_version_ == 0) {
    return fail(ErrorCode::bad_data,
                fmt::format("its ELF flags have no version of {}", target_name_), "code object");
  }
  return {};
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
