#include "isa/table.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define SOP2(number, name, d, s0, s1) \
  {Encoding::sop2, plain, number, Opcode::name, d, {s0, s1, 0}, 0},
#define SOPK(number, name, form, d) {Encoding::sopk, form, number, Opcode::name, d, {}, 0},
#define SOP1(number, name, d, s0) {Encoding::sop1, plain, number, Opcode::name, d, {s0, 0, 0}, 0},
#define SOPC(number, name, form, s0, s1) \
  {Encoding::sopc, form, number, Opcode::name, 0, {s0, s1, 0}, 0},
#define SOPP(number, name, form) {Encoding::sopp, form, number, Opcode::name, 0, {}, 0},

constexpr TableEntry gfx8_entries[] = {
#include "isa/tables/gfx8_scalar.def"
};
constexpr TableEntry gfx9_entries[] = {
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx9_scalar.def"
};

}  // namespace

const Table& gfx8_table() {
  static const Table table(gfx8_entries, {});
  return table;
}

const Table& gfx9_table() {
  static const Table table(gfx9_entries, {});
  return table;
}

}  // namespace ww::binpatch::isa
