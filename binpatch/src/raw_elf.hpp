// Sections, symbols and notes of any little-endian ELF file, 32 or 64 bits, of whatever machine:
// the two layers of a Catalyst binary are such. Every offset is checked before use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::binpatch {

struct RawSection {
  std::string name;
  std::uint32_t type{};
  std::uint32_t info{};
  std::uint64_t address{};
  std::uint64_t offset{};
  std::uint64_t size{};
  std::uint64_t size_field_offset{};  // where the header keeps `size`
  std::span<const std::byte> bytes;   // empty for SHT_NOBITS
};

struct RawSymbol {
  std::string name;
  unsigned char type{};  // STT_
  std::uint16_t section{};
  std::uint64_t value{};
  std::uint64_t size{};
};

struct RawNote {
  std::string owner;
  std::uint32_t type{};
  std::span<const std::byte> content;
};

struct RawElf {
  bool wide{};  // 64 bits
  std::uint16_t machine{};
  std::uint32_t flags{};
  std::vector<RawSection> sections{};
  std::vector<RawSymbol> symbols{};
  std::vector<RawNote> notes{};

  // The section of that name; null when there is none.
  [[nodiscard]] const RawSection* find(std::string_view name) const;
};

[[nodiscard]] bool has_elf_magic(std::span<const std::byte> bytes);
// Views into `bytes`. Error parse_error naming the part.
[[nodiscard]] Result<RawElf> read_raw_elf(std::span<const std::byte> bytes);

}  // namespace ww::binpatch
