#include "isa/table.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define SOP2(number, name, d, s0, s1) \
  {Encoding::sop2, plain, number, Opcode::name, d, {s0, s1, 0}, 0},
#define SOPK(number, name, form, d) {Encoding::sopk, form, number, Opcode::name, d, {}, 0},
#define SOP1(number, name, form, d, s0) \
  {Encoding::sop1, form, number, Opcode::name, d, {s0, 0, 0}, 0},
#define SOPC(number, name, form, s0, s1) \
  {Encoding::sopc, form, number, Opcode::name, 0, {s0, s1, 0}, 0},
#define SOPP(number, name, form) {Encoding::sopp, form, number, Opcode::name, 0, {}, 0},

constexpr TableEntry gfx10_entries[] = {
#include "isa/tables/gfx10_scalar.def"
};
constexpr TableEntry gfx11_entries[] = {
#include "isa/tables/gfx11_only.def"
#include "isa/tables/gfx11_scalar.def"
};
constexpr TableEntry gfx12_entries[] = {
#include "isa/tables/gfx11_scalar.def"
};

}  // namespace

const Table& gfx10_table() {
  static const Table table(gfx10_entries, {});
  return table;
}

const Table& gfx11_table() {
  static const Table table(gfx11_entries, {});
  return table;
}

const Table& gfx12_table() {
  static const Table table(gfx12_entries, {});
  return table;
}

}  // namespace ww::binpatch::isa
