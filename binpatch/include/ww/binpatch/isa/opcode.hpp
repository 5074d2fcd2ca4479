// The opcodes of all generations' tables, one per mnemonic.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ww::binpatch::isa {

// `invalid` is 0, so that a default-constructed Instruction is none.
enum class Opcode : std::uint16_t {
  invalid = 0,
#define WW_OPCODE(name) name,
#include "ww/binpatch/isa/opcodes.def"
#undef WW_OPCODE
  count_,  // not an opcode: their number, for tables indexed by opcode
};

inline constexpr std::size_t kOpcodeCount = static_cast<std::size_t>(Opcode::count_);

}  // namespace ww::binpatch::isa
