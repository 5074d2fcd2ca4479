// Any words, as code of every generation: decoded and written as text.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ww/binpatch/isa/instruction.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ww::binpatch::isa::Generation;
  for (const auto generation :
       {Generation::gfx6, Generation::gfx7, Generation::gfx8, Generation::gfx9, Generation::gfx900,
        Generation::gfx904, Generation::gfx906, Generation::gfx908, Generation::gfx90a,
        Generation::gfx940, Generation::gfx10, Generation::gfx1030, Generation::gfx11,
        Generation::gfx1100, Generation::gfx12}) {
    auto code = std::as_bytes(std::span(data, size));
    while (code.size() >= 4) {
      const auto decoded = ww::binpatch::isa::decode(generation, code);
      if (decoded) {
        const bool sane = decoded->size_bytes >= 4 && decoded->size_bytes <= code.size();
        if (!sane || ww::binpatch::isa::disassemble(*decoded, generation).empty()) std::abort();
      }
      code = code.subspan(decoded ? decoded->size_bytes : 4);
    }
  }
  return 0;
}
