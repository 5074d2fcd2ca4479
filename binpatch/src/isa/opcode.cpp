#include "ww/binpatch/isa/opcode.hpp"

#include <array>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

namespace {
constexpr std::array<std::string_view, kOpcodeCount> names{
    "invalid",
#define WW_OPCODE(name) #name,
#include "ww/binpatch/isa/opcodes.def"
#undef WW_OPCODE
};
}  // namespace

std::string_view mnemonic(Opcode opcode) {
  const auto index = static_cast<std::size_t>(opcode);
  return index < names.size() ? names[index] : names[0];
}

}  // namespace ww::binpatch::isa
