// Bounds-checked reading of a 64-bit little-endian AMD GPU ELF file. Nothing is trusted: every
// offset and size is checked against the file before it is used.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

struct ElfSymbol {
  std::string_view name;
  std::uint64_t value{};
  std::uint64_t size{};
  bool defined{};
  unsigned char type{};  // STT_
};

class ElfView {
 public:
  // Reads headers, segments and symbols. The view refers to `bytes`. Errors: parse_error;
  // unsupported for files of another machine, system or kind.
  static Result<ElfView> open(std::span<const std::byte> bytes);

  [[nodiscard]] const Elf64_Ehdr& header() const { return header_; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] const ElfSymbol* find_symbol(std::string_view name) const;
  // Dynamic symbols first; one name may stand in both tables.
  [[nodiscard]] const std::vector<ElfSymbol>& symbols() const { return symbols_; }

  // The file offset of `size` bytes at a virtual address; nothing when no segment holds them all.
  [[nodiscard]] std::optional<std::uint64_t> file_offset(std::uint64_t address,
                                                         std::uint64_t size) const;
  // The content of the note of `owner` and `type`; nothing when there is none.
  [[nodiscard]] Result<std::optional<std::span<const std::byte>>> find_note(
      std::string_view owner, std::uint32_t type) const;
  [[nodiscard]] Result<std::vector<Relocation>> relocations() const;

 private:
  [[nodiscard]] Status read_segments();
  [[nodiscard]] Status read_sections();
  [[nodiscard]] Status read_symbols();
  [[nodiscard]] Result<std::vector<ElfSymbol>> symbols_of(const Elf64_Shdr& section) const;
  [[nodiscard]] Result<std::vector<ElfSymbol>> symbols_at(std::uint64_t offset, std::uint64_t count,
                                                          std::uint64_t entry_size,
                                                          std::span<const std::byte> names) const;
  // Reads what a loader needs from a file without section headers: by PT_DYNAMIC.
  [[nodiscard]] Status read_dynamic();
  [[nodiscard]] Result<std::span<const std::byte>> dynamic_table(std::int64_t tag,
                                                                 std::uint64_t size,
                                                                 std::string_view what) const;
  [[nodiscard]] Status add_relocations(const std::vector<Elf64_Rela>& raw,
                                       const std::vector<ElfSymbol>& symbols,
                                       std::vector<Relocation>& result) const;

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> program_headers_;
  std::vector<Elf64_Shdr> section_headers_;
  std::map<std::int64_t, std::uint64_t> dynamic_;  // by tag; where there are no section headers
  std::vector<Segment> segments_;
  std::vector<ElfSymbol> symbols_;  // dynamic symbols first, then all
};

}  // namespace ww::binpatch
