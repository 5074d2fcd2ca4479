#include "isa/table.hpp"
#include "isa/tables/rows.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define SOP1(number, name, form, d, s0) \
  {Encoding::sop1, form, number, Opcode::name, d, {s0, 0, 0}, 0},

constexpr TableEntry gfx10_entries[] = {
#include "isa/tables/gfx10_scalar.def"
};
constexpr TableEntry gfx1030_entries[] = {
#include "isa/tables/gfx1030_compare.def"
#include "isa/tables/gfx1030_memory.def"
#include "isa/tables/gfx1030_vector.def"
#include "isa/tables/gfx10_scalar.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
};
constexpr TableEntry gfx11_entries[] = {
#include "isa/tables/gfx11_only.def"
#include "isa/tables/gfx11_scalar.def"
};
constexpr TableEntry gfx1100_entries[] = {
#include "isa/tables/gfx1100_compare.def"
#include "isa/tables/gfx1100_memory.def"
#include "isa/tables/gfx1100_vector.def"
#include "isa/tables/gfx11_only.def"
#include "isa/tables/gfx11_scalar.def"
};
constexpr TableEntry gfx12_entries[] = {
#include "isa/tables/gfx11_scalar.def"
};

// VOP3's numbers of the short forms; gfx1100 has them where gfx1030 does.
constexpr LongFormBases rdna_bases{.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x180};

}  // namespace

const Table& gfx10_table() {
  static const Table& table = *new Table(gfx10_entries, {});
  return table;
}

const Table& gfx1030_table() {
  static const Table& table = *new Table(gfx1030_entries, rdna_bases);
  return table;
}

const Table& gfx11_table() {
  static const Table& table = *new Table(gfx11_entries, {});
  return table;
}

const Table& gfx1100_table() {
  static const Table& table = *new Table(gfx1100_entries, rdna_bases);
  return table;
}

const Table& gfx12_table() {
  static const Table& table = *new Table(gfx12_entries, {});
  return table;
}

}  // namespace ww::binpatch::isa
