#include "container_builder.hpp"

#include <zlib.h>
#include <zstd.h>

#include <elf.h>

#include <cstring>

namespace ww::binpatch::testing {

namespace {

template <class T>
void put(Bytes& bytes, std::size_t at, const T& value) {
  if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void append(Bytes& bytes, const void* data, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

struct Section {
  std::string name;
  std::uint32_t type{SHT_PROGBITS};
  Bytes content;
  std::uint32_t link{};
  std::uint32_t entry_size{};
  std::uint32_t info{};
};

struct Wide {
  using Header = Elf64_Ehdr;
  using SectionHeader = Elf64_Shdr;
  using Symbol = Elf64_Sym;
  static constexpr unsigned char elf_class = ELFCLASS64;
};
struct Narrow {
  using Header = Elf32_Ehdr;
  using SectionHeader = Elf32_Shdr;
  using Symbol = Elf32_Sym;
  static constexpr unsigned char elf_class = ELFCLASS32;
};

// Header, the sections' contents, .shstrtab, section headers.
template <class Layout>
Bytes build_elf(std::uint16_t machine, std::vector<Section> sections, std::uint32_t flags = 0) {
  using Header = typename Layout::Header;
  using SectionHeader = typename Layout::SectionHeader;
  sections.insert(sections.begin(), {.name = "", .type = SHT_NULL, .content = {}});
  sections.push_back({.name = ".shstrtab", .type = SHT_STRTAB, .content = {}});
  Bytes& names = sections.back().content;
  std::vector<std::uint32_t> name_at;
  for (const Section& section : sections) {
    name_at.push_back(static_cast<std::uint32_t>(names.size()));
    append(names, section.name.c_str(), section.name.size() + 1);
  }
  Bytes out(sizeof(Header));
  std::vector<SectionHeader> headers;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    out.resize((out.size() + 15) / 16 * 16);
    SectionHeader header{};
    header.sh_name = name_at[i];
    header.sh_type = sections[i].type;
    header.sh_offset = static_cast<decltype(header.sh_offset)>(i == 0 ? 0 : out.size());
    header.sh_size = static_cast<decltype(header.sh_size)>(sections[i].content.size());
    header.sh_link = sections[i].link;
    header.sh_entsize = sections[i].entry_size;
    header.sh_info = sections[i].info;
    headers.push_back(header);
    append(out, sections[i].content.data(), sections[i].content.size());
  }
  out.resize((out.size() + 15) / 16 * 16);
  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = Layout::elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_flags = flags;
  header.e_shoff = static_cast<decltype(header.e_shoff)>(out.size());
  header.e_ehsize = sizeof(Header);
  header.e_shentsize = sizeof(SectionHeader);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  put(out, 0, header);
  append(out, headers.data(), headers.size() * sizeof(SectionHeader));
  return out;
}

// The inner file: machine code, and the CAL note with COMPUTE_PGM_RSRC2.
Bytes inner_elf(const Bytes& code, const std::optional<std::uint32_t>& user_registers) {
  constexpr std::uint16_t cal_machine = 0x7d;
  std::vector<Section> sections{{.name = ".text", .content = code}};
  if (user_registers) {
    Section note{.name = ".note", .type = SHT_NOTE, .content = {}};
    const std::uint32_t words[] = {8, 8, 1};
    append(note.content, words, sizeof words);
    append(note.content, "ATI CAL", 8);
    const std::uint32_t pair[] = {0x2e13, *user_registers << 1 | 0x80};
    append(note.content, pair, sizeof pair);
    sections.push_back(std::move(note));
  }
  return build_elf<Narrow>(cal_machine, std::move(sections));
}

// Symbols of the first section, and their names: the second and the third section.
template <class Layout>
struct SymbolTable {
  using Symbol = typename Layout::Symbol;
  Section names{.name = ".strtab", .type = SHT_STRTAB, .content = Bytes(1)};
  Section symbols{.name = ".symtab",
                  .type = SHT_SYMTAB,
                  .content = Bytes(sizeof(Symbol)),
                  .link = 2,
                  .entry_size = sizeof(Symbol)};

  void add(const std::string& name, unsigned char info, std::size_t value, std::size_t size) {
    Symbol symbol{};
    symbol.st_name = static_cast<decltype(symbol.st_name)>(names.content.size());
    symbol.st_info = info;
    symbol.st_shndx = 1;
    symbol.st_value = static_cast<decltype(symbol.st_value)>(value);
    symbol.st_size = static_cast<decltype(symbol.st_size)>(size);
    append(symbols.content, &symbol, sizeof symbol);
    append(names.content, name.c_str(), name.size() + 1);
  }
};

// The one inner file of the OpenCL 2.0 form.
Bytes hsa_object(const OpenCl2Spec& spec) {
  constexpr std::uint16_t amdgpu_machine = 224;
  constexpr std::uint64_t header_size = 256;
  constexpr unsigned char kernel_type = 10;
  Section text{.name = ".hsatext", .content = {}};
  SymbolTable<Wide> table;
  Section places{.name = ".rela.hsatext",
                 .type = SHT_RELA,
                 .content = {},
                 .link = 3,
                 .entry_size = sizeof(Elf64_Rela),
                 .info = 1};
  for (const auto& [name, code] : spec.kernels) {
    text.content.resize((text.content.size() + header_size - 1) / header_size * header_size);
    table.add("&__OpenCL_" + name + "_kernel", ELF64_ST_INFO(STB_GLOBAL, kernel_type),
              text.content.size(), header_size + code.size());
    Bytes header(header_size);
    put(header, 0, std::uint32_t{1});
    put(header, 16, header_size);
    put(header, 52, spec.user_registers << 1 | 0x80);
    append(text.content, header.data(), header.size());
    append(text.content, code.data(), code.size());
  }
  for (const std::uint64_t place : spec.relocated) {
    const Elf64_Rela entry{.r_offset = place, .r_info = ELF64_R_INFO(1, 1), .r_addend = 0};
    append(places.content, &entry, sizeof entry);
  }
  std::vector<Section> sections{text, table.names, table.symbols, places};
  if (spec.noted_major != 0) {
    Section note{.name = ".note", .type = SHT_NOTE, .content = {}};
    const std::uint32_t words[] = {4, 27, 3};
    append(note.content, words, sizeof words);
    append(note.content, "AMD", 4);
    const std::uint16_t sizes[] = {4, 7};
    const std::uint32_t version[] = {spec.noted_major, 0, 0};
    append(note.content, sizes, sizeof sizes);
    append(note.content, version, sizeof version);
    append(note.content, "AMD\0AMDGPU\0", 12);
    sections.push_back(std::move(note));
  }
  return build_elf<Wide>(amdgpu_machine, std::move(sections));
}

template <class Layout>
Bytes build_outer(const CatalystSpec& spec) {
  Section text{.name = ".text", .content = {}};
  SymbolTable<Layout> table;
  for (const auto& [name, code] : spec.kernels) {
    const Bytes inner = inner_elf(code, spec.user_registers);
    table.add("__OpenCL_" + name + "_kernel", 0, text.content.size(), inner.size());
    append(text.content, inner.data(), inner.size());
  }
  std::vector<Section> sections{text, table.names, table.symbols};
  for (const std::string& name : spec.source_sections) {
    const std::string content = "the program as " + name;
    sections.push_back({.name = name, .content = {}});
    append(sections.back().content, content.data(), content.size());
  }
  return build_elf<Layout>(spec.machine, std::move(sections));
}

}  // namespace

Bytes build_bundle(const std::vector<std::pair<std::string, Bytes>>& objects) {
  constexpr std::size_t alignment = 4096;
  Bytes out;
  append(out, "__CLANG_OFFLOAD_BUNDLE__", 24);
  const std::uint64_t count = objects.size();
  append(out, &count, sizeof count);
  std::size_t head = out.size();
  for (const auto& [id, object] : objects) head += 24 + id.size();
  std::size_t at = (head + alignment - 1) / alignment * alignment;
  for (const auto& [id, object] : objects) {
    const std::uint64_t numbers[] = {at, object.size(), id.size()};
    append(out, numbers, sizeof numbers);
    append(out, id.data(), id.size());
    at = (at + object.size() + alignment - 1) / alignment * alignment;
  }
  for (const auto& [id, object] : objects) {
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    append(out, object.data(), object.size());
  }
  return out;
}

Bytes compress_bundle(const Bytes& bundle, int version, int method) {
  Bytes data(
      std::max<std::size_t>(ZSTD_compressBound(bundle.size()), compressBound(bundle.size())));
  if (method == 1) {
    data.resize(ZSTD_compress(data.data(), data.size(), bundle.data(), bundle.size(), 3));
  } else {
    uLongf size = data.size();
    compress(reinterpret_cast<Bytef*>(data.data()), &size,
             reinterpret_cast<const Bytef*>(bundle.data()), bundle.size());
    data.resize(size);
  }
  Bytes file;
  const auto append = [&file](std::uint64_t value, std::size_t bytes) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    file.insert(file.end(), first, first + bytes);
  };
  constexpr std::uint64_t magic = 0x424f4343;
  append(magic, 4);
  append(static_cast<std::uint64_t>(version), 2);
  append(static_cast<std::uint64_t>(method), 2);
  const std::size_t width = version == 3 ? 8 : 4;
  const std::size_t header = 8 + (version == 1 ? 1 : 2) * width + 8;
  if (version > 1) append(header + data.size(), width);
  append(bundle.size(), width);
  append(0x1234, 8);  // a hash, which nobody checks
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

Bytes build_catalyst(const CatalystSpec& spec) {
  return spec.wide ? build_outer<Wide>(spec) : build_outer<Narrow>(spec);
}

Bytes build_catalyst_opencl2(const OpenCl2Spec& spec) {
  const std::string brig = "the program as .brig";
  Section source{.name = ".brig", .content = {}};
  append(source.content, brig.data(), brig.size());
  const std::vector<Section> sections{{.name = ".text", .content = hsa_object(spec)}, source};
  return spec.wide ? build_elf<Wide>(0xaf5b, sections, spec.device_code)
                   : build_elf<Narrow>(0xaf5a, sections, spec.device_code);
}

}  // namespace ww::binpatch::testing
