#include "elf_view.hpp"

#include <fmt/format.h>

#include <cstring>

namespace ww::binpatch {

namespace {

// LLVM, "User Guide for AMDGPU Backend", ELF Code Object.
constexpr unsigned kMachineAmdgpu = 224;
constexpr unsigned char os_abi_amdgpu_hsa = 64;
constexpr std::uint32_t kRelocationAbs64 = 3;
constexpr std::uint32_t kRelocationRelative64 = 13;

bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

tl::unexpected<Error> broken_code_object(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "code object");
}

// A copy of the struct at `offset`, which the caller has checked.
template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A table of `count` entries of type T, each of the size that the header claims.
template <class T>
Result<std::vector<T>> read_table(std::span<const std::byte> bytes, std::uint64_t offset,
                                  std::uint64_t count, std::uint64_t entry_size,
                                  std::string_view what) {
  if (count == 0) {
    return std::vector<T>{};
  }
  if (entry_size != sizeof(T) || count > bytes.size() / sizeof(T) ||
      !within(offset, count * sizeof(T), bytes.size())) {
    return broken_code_object(fmt::format("the table of {} does not lie inside the file", what));
  }
  std::vector<T> table;
  table.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    table.push_back(read_at<T>(bytes, offset + i * sizeof(T)));
  }
  return table;
}

// The zero-terminated string at `offset` of a string table.
std::optional<std::string_view> string_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return std::nullopt;
  }
  const auto* first = reinterpret_cast<const char*>(table.data()) + offset;
  const std::size_t room = table.size() - offset;
  const std::size_t length = strnlen(first, room);
  return length == room ? std::nullopt : std::optional(std::string_view(first, length));
}

}  // namespace

Result<ElfView> ElfView::open(std::span<const std::byte> bytes) {
  ElfView view;
  view.bytes_ = bytes;
  if (bytes.size() < sizeof(Elf64_Ehdr)) {
    return broken_code_object("the file is too short to be an ELF file");
  }
  view.header_ = read_at<Elf64_Ehdr>(bytes, 0);
  const Elf64_Ehdr& header = view.header_;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return broken_code_object("the file does not begin as an ELF file does");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return fail(ErrorCode::unsupported, "only 64-bit little-endian ELF files are read",
                "code object");
  }
  if (header.e_machine != kMachineAmdgpu) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the ELF file is for machine {}, not for an AMD GPU (224)", header.e_machine),
        "code object");
  }
  if (header.e_ident[EI_OSABI] != os_abi_amdgpu_hsa) {
    return fail(ErrorCode::unsupported, "the code object is not for the HSA system (ELF OS ABI 64)",
                "code object");
  }
  if (header.e_type != ET_DYN) {
    return fail(ErrorCode::unsupported,
                "the code object is not linked; link it: ld.lld -shared IN -o OUT", "code object");
  }
  WW_TRY(view.read_segments());
  WW_TRY(view.read_sections());
  WW_TRY(view.read_symbols());
  return view;
}

Status ElfView::read_segments() {
  WW_ASSIGN(headers, read_table<Elf64_Phdr>(bytes_, header_.e_phoff, header_.e_phnum,
                                            header_.e_phentsize, "program headers"));
  program_headers_ = std::move(headers);
  for (const Elf64_Phdr& header : program_headers_) {
    if (header.p_type != PT_LOAD && header.p_type != PT_NOTE) {
      continue;
    }
    if (!within(header.p_offset, header.p_filesz, bytes_.size())) {
      return broken_code_object("a segment does not lie inside the file");
    }
    if (header.p_type != PT_LOAD) {
      continue;
    }
    if (header.p_memsz < header.p_filesz || header.p_vaddr > UINT64_MAX - header.p_memsz) {
      return broken_code_object("a segment's sizes contradict each other");
    }
    segments_.push_back({.address = header.p_vaddr,
                         .memory_size = header.p_memsz,
                         .file_offset = header.p_offset,
                         .file_size = header.p_filesz,
                         .executable = (header.p_flags & PF_X) != 0,
                         .writable = (header.p_flags & PF_W) != 0});
  }
  return {};
}

Status ElfView::read_sections() {
  WW_ASSIGN(headers, read_table<Elf64_Shdr>(bytes_, header_.e_shoff, header_.e_shnum,
                                            header_.e_shentsize, "section headers"));
  section_headers_ = std::move(headers);
  for (const Elf64_Shdr& header : section_headers_) {
    if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL &&
        !within(header.sh_offset, header.sh_size, bytes_.size())) {
      return broken_code_object("a section does not lie inside the file");
    }
  }
  return {};
}

// The bytes at the address that a tag of PT_DYNAMIC gives.
Result<std::span<const std::byte>> ElfView::dynamic_table(std::int64_t tag, std::uint64_t size,
                                                          std::string_view what) const {
  const auto address = dynamic_.find(tag);
  if (address == dynamic_.end()) {
    return broken_code_object(
        fmt::format("the file has no section headers, and PT_DYNAMIC names no {}", what));
  }
  const auto offset = file_offset(address->second, size);
  if (!offset)
    return broken_code_object(fmt::format("the {} of PT_DYNAMIC lies outside the segments", what));
  return bytes_.subspan(*offset, size);
}

Status ElfView::read_dynamic() {
  for (const Elf64_Phdr& header : program_headers_) {
    if (header.p_type != PT_DYNAMIC) continue;
    WW_ASSIGN(entries,
              read_table<Elf64_Dyn>(bytes_, header.p_offset, header.p_filesz / sizeof(Elf64_Dyn),
                                    sizeof(Elf64_Dyn), "dynamic entries"));
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      dynamic_[entry.d_tag] = entry.d_un.d_val;
    }
  }
  // Buckets, chains: a chain for each symbol.
  WW_ASSIGN(hash, dynamic_table(DT_HASH, 2 * sizeof(std::uint32_t), "hash table"));
  const auto count = read_at<std::uint32_t>(hash, sizeof(std::uint32_t));
  const auto strings = dynamic_.find(DT_STRSZ);
  WW_ASSIGN(names, dynamic_table(DT_STRTAB, strings == dynamic_.end() ? 0 : strings->second,
                                 "string table"));
  WW_ASSIGN(table, dynamic_table(DT_SYMTAB, count * sizeof(Elf64_Sym), "symbol table"));
  const auto offset = static_cast<std::uint64_t>(table.data() - bytes_.data());
  WW_ASSIGN(found, symbols_at(offset, count, sizeof(Elf64_Sym), names));
  symbols_ = std::move(found);
  return {};
}

Status ElfView::read_symbols() {
  if (section_headers_.empty()) return read_dynamic();
  for (const auto type : {SHT_DYNSYM, SHT_SYMTAB}) {
    for (const Elf64_Shdr& section : section_headers_) {
      if (section.sh_type == static_cast<unsigned>(type)) {
        WW_ASSIGN(found, symbols_of(section));
        symbols_.insert(symbols_.end(), found.begin(), found.end());
      }
    }
  }
  return {};
}

Result<std::vector<ElfSymbol>> ElfView::symbols_of(const Elf64_Shdr& section) const {
  if (section.sh_link >= section_headers_.size() ||
      section_headers_[section.sh_link].sh_type != SHT_STRTAB) {
    return broken_code_object("a symbol table has no string table");
  }
  const Elf64_Shdr& names = section_headers_[section.sh_link];
  const auto name_bytes = bytes_.subspan(names.sh_offset, names.sh_size);
  return symbols_at(section.sh_offset, section.sh_size / sizeof(Elf64_Sym), section.sh_entsize,
                    name_bytes);
}

Result<std::vector<ElfSymbol>> ElfView::symbols_at(std::uint64_t offset, std::uint64_t count,
                                                   std::uint64_t entry_size,
                                                   std::span<const std::byte> name_bytes) const {
  WW_ASSIGN(raw, read_table<Elf64_Sym>(bytes_, offset, count, entry_size, "symbols"));
  std::vector<ElfSymbol> symbols;
  symbols.reserve(raw.size());
  for (const Elf64_Sym& symbol : raw) {
    const auto name = string_at(name_bytes, symbol.st_name);
    if (!name) {
      return broken_code_object("a symbol's name does not lie inside the string table");
    }
    symbols.push_back({.name = *name,
                       .value = symbol.st_value,
                       .size = symbol.st_size,
                       .defined = symbol.st_shndx != SHN_UNDEF,
                       .type = static_cast<unsigned char>(ELF64_ST_TYPE(symbol.st_info))});
  }
  return symbols;
}

const ElfSymbol* ElfView::find_symbol(std::string_view name) const {
  for (const ElfSymbol& symbol : symbols_) {
    if (symbol.defined && symbol.name == name) {
      return &symbol;
    }
  }
  return nullptr;
}

std::optional<std::uint64_t> ElfView::file_offset(std::uint64_t address, std::uint64_t size) const {
  for (const Segment& segment : segments_) {
    if (address >= segment.address && within(address - segment.address, size, segment.file_size)) {
      return segment.file_offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

Result<std::optional<std::span<const std::byte>>> ElfView::find_note(std::string_view owner,
                                                                     std::uint32_t type) const {
  constexpr auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  // The first linkers for AMD GPUs left notes in sections alone.
  std::vector<std::span<const std::byte>> places;
  for (const Elf64_Phdr& segment : program_headers_) {
    if (segment.p_type != PT_NOTE) continue;
    places.push_back(bytes_.subspan(segment.p_offset, segment.p_filesz));
  }
  for (const Elf64_Shdr& section : section_headers_) {
    if (section.sh_type != SHT_NOTE) continue;
    places.push_back(bytes_.subspan(section.sh_offset, section.sh_size));
  }
  for (const auto notes : places) {
    std::uint64_t at = 0;
    while (within(at, sizeof(Elf64_Nhdr), notes.size())) {
      const auto note = read_at<Elf64_Nhdr>(notes, at);
      const std::uint64_t name_at = at + sizeof(Elf64_Nhdr);
      const std::uint64_t content_at = name_at + padded(note.n_namesz);
      if (!within(name_at, padded(note.n_namesz), notes.size()) ||
          !within(content_at, note.n_descsz, notes.size())) {
        return broken_code_object("a note ends outside its segment or section");
      }
      const auto name = string_at(notes.subspan(name_at, note.n_namesz), 0);
      if (note.n_type == type && name == owner) {
        return std::optional(notes.subspan(content_at, note.n_descsz));
      }
      at = content_at + padded(note.n_descsz);
    }
  }
  return std::optional<std::span<const std::byte>>{};
}

Status ElfView::add_relocations(const std::vector<Elf64_Rela>& raw,
                                const std::vector<ElfSymbol>& symbols,
                                std::vector<Relocation>& result) const {
  for (const Elf64_Rela& entry : raw) {
    if (!file_offset(entry.r_offset, sizeof(std::uint64_t))) {
      return broken_code_object("a relocation's place does not lie inside a segment");
    }
    auto value = static_cast<std::uint64_t>(entry.r_addend);
    const std::uint64_t symbol = ELF64_R_SYM(entry.r_info);
    switch (ELF64_R_TYPE(entry.r_info)) {
      case kRelocationRelative64: break;
      case kRelocationAbs64:
        if (symbol >= symbols.size()) {
          return broken_code_object("a relocation names a symbol that does not exist");
        }
        if (!symbols[symbol].defined) {
          return fail(ErrorCode::unsupported,
                      fmt::format("the symbol '{}' is not defined in the code object",
                                  symbols[symbol].name),
                      "code object");
        }
        value += symbols[symbol].value;
        break;
      default:
        return fail(ErrorCode::unsupported,
                    fmt::format("relocation type {} is not applied", ELF64_R_TYPE(entry.r_info)),
                    "code object");
    }
    result.push_back({.address = entry.r_offset, .value = value});
  }
  return {};
}

Result<std::vector<Relocation>> ElfView::relocations() const {
  std::vector<Relocation> result;
  if (const auto size = dynamic_.find(DT_RELASZ); size != dynamic_.end()) {
    WW_ASSIGN(table, dynamic_table(DT_RELA, size->second, "relocations"));
    WW_ASSIGN(raw, read_table<Elf64_Rela>(table, 0, table.size() / sizeof(Elf64_Rela),
                                          sizeof(Elf64_Rela), "relocations"));
    WW_TRY(add_relocations(raw, symbols_, result));
  }
  for (const Elf64_Shdr& section : section_headers_) {
    if (section.sh_type != SHT_RELA || (section.sh_flags & SHF_ALLOC) == 0) {
      continue;
    }
    WW_ASSIGN(
        raw, read_table<Elf64_Rela>(bytes_, section.sh_offset, section.sh_size / sizeof(Elf64_Rela),
                                    section.sh_entsize, "relocations"));
    std::vector<ElfSymbol> symbols;
    if (section.sh_link != 0 && section.sh_link < section_headers_.size()) {
      WW_ASSIGN(found, symbols_of(section_headers_[section.sh_link]));
      symbols = std::move(found);
    }
    WW_TRY(add_relocations(raw, symbols, result));
  }
  return result;
}

}  // namespace ww::binpatch
