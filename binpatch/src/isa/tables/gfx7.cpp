#include "isa/table.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

constexpr TableEntry entries[] = {
#define SOP2(number, name, d, s0, s1) \
  {Encoding::sop2, plain, number, Opcode::name, d, {s0, s1, 0}, 0},
#define SOPK(number, name, form, d) {Encoding::sopk, form, number, Opcode::name, d, {}, 0},
#define SOP1(number, name, d, s0) {Encoding::sop1, plain, number, Opcode::name, d, {s0, 0, 0}, 0},
#define SOPC(number, name, s0, s1) {Encoding::sopc, plain, number, Opcode::name, 0, {s0, s1, 0}, 0},
#define SOPP(number, name, form) {Encoding::sopp, form, number, Opcode::name, 0, {}, 0},
#define SMRD(number, name, d, base) \
  {Encoding::smrd, plain, number, Opcode::name, d, {base, 0, 0}, 0},
#include "isa/tables/gfx7_scalar.def"
#define VOP2(number, name, form, d, s0, s1, modifiers) \
  {Encoding::vop2, form, number, Opcode::name, d, {s0, s1, 0}, modifiers},
#define VOP1(number, name, form, d, s0, modifiers) \
  {Encoding::vop1, form, number, Opcode::name, d, {s0, 0, 0}, modifiers},
#define VOP3(number, name, form, d, s0, s1, s2, modifiers) \
  {Encoding::vop3a, form, number, Opcode::name, d, {s0, s1, s2}, modifiers},
#include "isa/tables/gfx7_vector.def"
#define VOPC(number, name, s0, s1, modifiers) \
  {Encoding::vopc, plain, number, Opcode::name, 0, {s0, s1, 0}, modifiers},
#include "isa/tables/gfx7_compare.def"
#define DS(number, name, form, d, address, data0, data1) \
  {Encoding::ds, form, number, Opcode::name, d, {address, data0, data1}, 0},
#define MUBUF(number, name, form, data) {Encoding::mubuf, form, number, Opcode::name, data, {}, 0},
#define MTBUF(number, name, form, data) {Encoding::mtbuf, form, number, Opcode::name, data, {}, 0},
#define FLAT(number, name, form, data) {Encoding::flat, form, number, Opcode::name, data, {}, 0},
#include "isa/tables/gfx7_memory.def"
};

}  // namespace

const Table& gfx7_table() {
  static const Table table(entries, {.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x180});
  return table;
}

}  // namespace ww::binpatch::isa
