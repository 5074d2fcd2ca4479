// Small code objects made in memory, so that tests need no compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ww::binpatch::testing {

using Bytes = std::vector<std::byte>;

// The given 32-bit words, little-endian.
[[nodiscard]] Bytes words(const std::vector<std::uint32_t>& values);

struct ObjectSpec {
  std::uint32_t machine{0x23};   // EF_AMDGPU_MACH: gfx701
  unsigned char abi_version{2};  // code object version 4
  std::string kernel{"k"};
  Bytes code;
  std::vector<std::string> printf_formats{};
  bool with_metadata{true};
  bool with_function{true};  // the symbol with the code's size
  bool with_symbols{true};
  bool note_in_section{false};  // and in no segment, as the first linkers left it
};

// A linked code object with one kernel: descriptor, code, dynamic symbols, metadata note.
[[nodiscard]] Bytes build_object(const ObjectSpec& spec);

}  // namespace ww::binpatch::testing
