#include "object_builder.hpp"

#include <elf.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

namespace ww::binpatch::testing {

namespace {

constexpr std::uint64_t kDescriptorSize = 64;
constexpr std::uint64_t kCodeAlignment = 256;
constexpr std::uint64_t kPage = 0x1000;

std::uint64_t align(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

template <class T>
void put(Bytes& bytes, std::uint64_t at, const T& value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void put_bytes(Bytes& bytes, std::uint64_t at, const void* data, std::size_t size) {
  if (bytes.size() < at + size) bytes.resize(at + size);
  if (size != 0) std::memcpy(bytes.data() + at, data, size);
}

std::vector<std::uint8_t> metadata(const ObjectSpec& spec) {
  nlohmann::json kernel;
  kernel[".name"] = spec.kernel;
  kernel[".symbol"] = spec.kernel + ".kd";
  kernel[".kernarg_segment_size"] = 8U;
  kernel[".kernarg_segment_align"] = 8U;
  kernel[".wavefront_size"] = 64U;
  kernel[".sgpr_count"] = 16U;
  kernel[".vgpr_count"] = 4U;
  kernel[".max_flat_workgroup_size"] = 256U;
  // Arrays are named: compilers differ on what braces around one element mean.
  nlohmann::json argument;
  argument[".name"] = "o";
  argument[".value_kind"] = "global_buffer";
  argument[".address_space"] = "global";
  argument[".offset"] = 0U;
  argument[".size"] = 8U;
  kernel[".args"] = nlohmann::json::array();
  kernel[".args"].push_back(argument);
  nlohmann::json root;
  root["amdhsa.version"] = nlohmann::json::array({1U, 1U});
  root["amdhsa.kernels"] = nlohmann::json::array();
  root["amdhsa.kernels"].push_back(kernel);
  if (!spec.printf_formats.empty()) root["amdhsa.printf"] = spec.printf_formats;
  return nlohmann::json::to_msgpack(root);
}

Elf64_Shdr section(std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
  Elf64_Shdr header{};
  header.sh_type = type;
  header.sh_offset = offset;
  header.sh_size = size;
  return header;
}

}  // namespace

Bytes words(const std::vector<std::uint32_t>& values) {
  Bytes bytes;
  for (const std::uint32_t value : values) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  return bytes;
}

Bytes build_object(const ObjectSpec& spec) {
  Bytes out;
  constexpr std::uint16_t segments = 3;
  std::uint64_t at = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);

  // The note.
  constexpr std::string_view owner("AMDGPU\0\0", 8);
  const auto content = spec.with_metadata ? metadata(spec) : std::vector<std::uint8_t>{};
  Elf64_Nhdr note{};
  note.n_namesz = 7;
  note.n_descsz = static_cast<Elf64_Word>(content.size());
  note.n_type = spec.with_metadata ? 32 : 1;
  const std::uint64_t note_at = at;
  put(out, at, note);
  put_bytes(out, at + sizeof note, owner.data(), owner.size());
  put_bytes(out, at + sizeof note + owner.size(), content.data(), content.size());
  const std::uint64_t note_size = align(out.size() - note_at, 4);
  at = align(out.size(), kDescriptorSize);

  // Descriptor in the first segment, code one page further.
  const std::uint64_t descriptor_at = at;
  const std::uint64_t code_at = align(descriptor_at + kDescriptorSize, kCodeAlignment);
  const std::uint64_t code_address = code_at + kPage;
  put_bytes(out, descriptor_at, Bytes(kDescriptorSize).data(), kDescriptorSize);
  put(out, descriptor_at + 8, std::uint32_t{8});
  put(out, descriptor_at + 16, static_cast<std::int64_t>(code_address - descriptor_at));
  put_bytes(out, code_at, spec.code.data(), spec.code.size());

  // Strings and symbols.
  const std::string names = '\0' + spec.kernel + '\0' + spec.kernel + ".kd" + '\0';
  const std::uint64_t names_at = align(code_at + spec.code.size(), 8);
  put_bytes(out, names_at, names.data(), names.size());
  const std::uint64_t symbols_at = align(out.size(), 8);
  std::array<Elf64_Sym, 3> symbols{};
  symbols[1].st_name = 1;
  symbols[1].st_value = code_address;
  symbols[1].st_size = spec.code.size();
  symbols[1].st_shndx = 1;
  symbols[2].st_name = static_cast<Elf64_Word>(spec.kernel.size() + 2);
  symbols[2].st_value = descriptor_at;
  symbols[2].st_size = kDescriptorSize;
  symbols[2].st_shndx = 1;
  if (!spec.with_function) symbols[1] = {};
  if (!spec.with_symbols) symbols = {};
  put(out, symbols_at, symbols);

  // Section headers end the file.
  const std::uint64_t sections_at = align(out.size(), 8);
  std::array<Elf64_Shdr, 4> sections{};
  sections[1] = section(SHT_STRTAB, names_at, names.size());
  sections[2] = section(SHT_DYNSYM, symbols_at, sizeof symbols);
  sections[2].sh_link = 1;
  sections[2].sh_entsize = sizeof(Elf64_Sym);
  if (spec.note_in_section) sections[3] = section(SHT_NOTE, note_at, note_size);
  put(out, sections_at, sections);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = 64;
  header.e_ident[EI_ABIVERSION] = spec.abi_version;
  header.e_type = ET_DYN;
  header.e_machine = 224;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_shoff = sections_at;
  header.e_flags = spec.machine;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = segments;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = sections.size();
  put(out, 0, header);

  std::array<Elf64_Phdr, segments> loads{};
  loads[0] = {
      PT_LOAD, PF_R, 0, 0, 0, descriptor_at + kDescriptorSize, descriptor_at + kDescriptorSize,
      kPage};
  loads[1] = {PT_LOAD,      PF_R | PF_X,      code_at,          code_address,
              code_address, spec.code.size(), spec.code.size(), kPage};
  loads[2] = {PT_NOTE, PF_R, note_at, note_at, note_at, note_size, note_size, 4};
  if (spec.note_in_section) loads[2] = {};
  put(out, sizeof header, loads);
  return out;
}

}  // namespace ww::binpatch::testing
