#include "raw_elf.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ww::binpatch {

namespace {

using Bytes = std::span<const std::byte>;

tl::unexpected<Error> broken_elf(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "ELF file");
}

bool lies_within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

template <class T>
T copy_at(Bytes bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The zero-terminated string at `offset`; empty where there is none.
std::string text_at(Bytes table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const auto* first = reinterpret_cast<const char*>(table.data()) + offset;
  return {first, strnlen(first, table.size() - offset)};
}

struct Wide {
  using Header = Elf64_Ehdr;
  using Section = Elf64_Shdr;
  using Segment = Elf64_Phdr;
  using Symbol = Elf64_Sym;
};
struct Narrow {
  using Header = Elf32_Ehdr;
  using Section = Elf32_Shdr;
  using Segment = Elf32_Phdr;
  using Symbol = Elf32_Sym;
};

void read_notes(Bytes notes, std::vector<RawNote>& out) {
  const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  std::uint64_t at = 0;
  while (lies_within(at, sizeof(Elf64_Nhdr), notes.size())) {
    const auto note = copy_at<Elf64_Nhdr>(notes, at);
    const std::uint64_t name_at = at + sizeof note;
    const std::uint64_t content_at = name_at + padded(note.n_namesz);
    if (!lies_within(name_at, padded(note.n_namesz), notes.size()) ||
        !lies_within(content_at, note.n_descsz, notes.size())) {
      return;
    }
    out.push_back({text_at(notes.subspan(name_at, note.n_namesz), 0), note.n_type,
                   notes.subspan(content_at, note.n_descsz)});
    at = content_at + padded(note.n_descsz);
  }
}

template <class Layout>
Result<RawElf> read(Bytes bytes) {
  using Header = typename Layout::Header;
  using Section = typename Layout::Section;
  using Segment = typename Layout::Segment;
  using Symbol = typename Layout::Symbol;
  if (bytes.size() < sizeof(Header)) {
    return broken_elf("the file ends inside its header");
  }
  const auto header = copy_at<Header>(bytes, 0);
  RawElf elf{.wide = sizeof(Header) == sizeof(Elf64_Ehdr),
             .machine = header.e_machine,
             .flags = header.e_flags};
  const auto table_fits = [&](std::uint64_t offset, std::uint64_t count, std::uint64_t entry,
                              std::uint64_t expected) {
    return count == 0 || (entry == expected && lies_within(offset, count * entry, bytes.size()));
  };
  if (!table_fits(header.e_shoff, header.e_shnum, header.e_shentsize, sizeof(Section)) ||
      !table_fits(header.e_phoff, header.e_phnum, header.e_phentsize, sizeof(Segment))) {
    return broken_elf("the table of sections or segments does not lie inside the file");
  }
  std::vector<Section> headers;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const std::uint64_t at = header.e_shoff + i * sizeof(Section);
    const auto section = copy_at<Section>(bytes, at);
    const bool stored = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
    if (stored && !lies_within(section.sh_offset, section.sh_size, bytes.size())) {
      return broken_elf("a section does not lie inside the file");
    }
    headers.push_back(section);
    elf.sections.push_back(
        {.name = {},
         .type = section.sh_type,
         .info = section.sh_info,
         .address = section.sh_addr,
         .offset = section.sh_offset,
         .size = section.sh_size,
         .size_field_offset = at + offsetof(Section, sh_size),
         .bytes = stored ? bytes.subspan(section.sh_offset, section.sh_size) : Bytes{}});
  }
  const Bytes names =
      header.e_shstrndx < elf.sections.size() ? elf.sections[header.e_shstrndx].bytes : Bytes{};
  for (std::size_t i = 0; i < headers.size(); ++i) {
    elf.sections[i].name = text_at(names, headers[i].sh_name);
  }
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Section& section = headers[i];
    if (section.sh_type == SHT_NOTE) {
      read_notes(elf.sections[i].bytes, elf.notes);
    }
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= elf.sections.size()) {
      continue;
    }
    const Bytes symbols = elf.sections[i].bytes;
    for (std::uint64_t at = 0; lies_within(at, sizeof(Symbol), symbols.size());
         at += sizeof(Symbol)) {
      const auto symbol = copy_at<Symbol>(symbols, at);
      elf.symbols.push_back({text_at(elf.sections[section.sh_link].bytes, symbol.st_name),
                             static_cast<unsigned char>(ELF64_ST_TYPE(symbol.st_info)),
                             symbol.st_shndx, symbol.st_value, symbol.st_size});
    }
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = copy_at<Segment>(bytes, header.e_phoff + i * sizeof(Segment));
    if (segment.p_type == PT_NOTE &&
        lies_within(segment.p_offset, segment.p_filesz, bytes.size())) {
      read_notes(bytes.subspan(segment.p_offset, segment.p_filesz), elf.notes);
    }
  }
  return elf;
}

}  // namespace

const RawSection* RawElf::find(std::string_view name) const {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const RawSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

bool has_elf_magic(std::span<const std::byte> bytes) {
  return bytes.size() > EI_DATA && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

Result<RawElf> read_raw_elf(std::span<const std::byte> bytes) {
  if (!has_elf_magic(bytes) || bytes[EI_DATA] != std::byte{ELFDATA2LSB}) {
    return broken_elf("the file does not begin as a little-endian ELF file does");
  }
  switch (std::to_integer<int>(bytes[EI_CLASS])) {
    case ELFCLASS32: return read<Narrow>(bytes);
    case ELFCLASS64: return read<Wide>(bytes);
    default: return broken_elf("the ELF class is neither 32 nor 64 bits");
  }
}

}  // namespace ww::binpatch
