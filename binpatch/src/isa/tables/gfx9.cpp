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

constexpr TableEntry gfx9_entries[] = {
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx9_scalar.def"
};

#define VOP2(number, name, form, d, s0, s1, modifiers) \
  {Encoding::vop2, form, number, Opcode::name, d, {s0, s1, 0}, modifiers},
#define VOP1(number, name, form, d, s0, modifiers) \
  {Encoding::vop1, form, number, Opcode::name, d, {s0, 0, 0}, modifiers},
#define VOP3(number, name, form, d, s0, s1, s2, modifiers) \
  {Encoding::vop3a, form, number, Opcode::name, d, {s0, s1, s2}, modifiers},
#define VOP3P(number, name, form, d, s0, s1, s2, modifiers) \
  {Encoding::vop3p, form, number, Opcode::name, d, {s0, s1, s2}, modifiers},
#define VOPC(number, name, s0, s1, modifiers) \
  {Encoding::vopc, plain, number, Opcode::name, 0, {s0, s1, 0}, modifiers},
#define DS(number, name, form, d, address, data0, data1) \
  {Encoding::ds, form, number, Opcode::name, d, {address, data0, data1}, 0},
#define MUBUF(number, name, form, data) {Encoding::mubuf, form, number, Opcode::name, data, {}, 0},
#define FLAT(number, name, form, data) {Encoding::flat, form, number, Opcode::name, data, {}, 0},
#define SCRATCH(number, name, form, data) FLAT(number + flat_segment, name, form, data)
#define GLOBAL(number, name, form, data) FLAT(number + 2 * flat_segment, name, form, data)
#define MIMG(number, name, form, address, sampler) \
  {Encoding::mimg, form, number, Opcode::name, 0, {address, sampler, 0}, 0},
#define SMEM(number, name, form, data, base) \
  {Encoding::smem, form, number, Opcode::name, data, {base, 0, 0}, 0},

constexpr TableEntry gfx8_entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_only.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx900_entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx900_only.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx904_entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx906_entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx908_entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx908_gfx90a.def"
#include "isa/tables/gfx908_only.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx90a_entries[] = {
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx908_gfx90a.def"
#include "isa/tables/gfx90a.def"
#include "isa/tables/gfx90a_only.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
#include "isa/tables/images.def"
};

constexpr TableEntry gfx940_entries[] = {
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx8_memory.def"
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx8_vector.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx90a.def"
#include "isa/tables/gfx940.def"
#include "isa/tables/gfx9_memory.def"
#include "isa/tables/gfx9_scalar.def"
#include "isa/tables/gfx9_vector.def"
};

constexpr LongFormBases gfx8_bases{.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x140};

}  // namespace

const Table& gfx8_table() {
  static const Table table(gfx8_entries, gfx8_bases);
  return table;
}

const Table& gfx9_table() {
  static const Table table(gfx9_entries, {});
  return table;
}

const Table& gfx900_table() {
  static const Table table(gfx900_entries, gfx8_bases);
  return table;
}

const Table& gfx904_table() {
  static const Table table(gfx904_entries, gfx8_bases);
  return table;
}

const Table& gfx906_table() {
  static const Table table(gfx906_entries, gfx8_bases);
  return table;
}

const Table& gfx908_table() {
  static const Table table(gfx908_entries, gfx8_bases);
  return table;
}

const Table& gfx90a_table() {
  static const Table table(gfx90a_entries, gfx8_bases);
  return table;
}

const Table& gfx940_table() {
  static const Table table(gfx940_entries, gfx8_bases);
  return table;
}

}  // namespace ww::binpatch::isa
