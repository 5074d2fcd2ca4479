#include "isa/table.hpp"
#include "isa/tables/rows.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define AT(gfx7, gfx8, gfx9, gfx10, ...) gfx10
constexpr TableEntry kGfx10Entries[] = {
#include "isa/tables/scalar.def"
};
constexpr TableEntry kGfx1030Entries[] = {
#include "isa/tables/gfx1030_compare.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
#undef AT

#define AT(gfx7, gfx8, gfx9, gfx10, gfx11, ...) gfx11
constexpr TableEntry kGfx11Entries[] = {
#include "isa/tables/scalar.def"
};
constexpr TableEntry kGfx1100Entries[] = {
#include "isa/tables/gfx1100_compare.def"
#include "isa/tables/gfx1100_images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
#undef AT

#define AT(gfx7, gfx8, gfx9, gfx10, gfx11, gfx12) gfx12
constexpr TableEntry kGfx12Entries[] = {
#include "isa/tables/scalar.def"
};

// VOP3's numbers of the short forms; gfx1100 has them where gfx1030 does.
constexpr LongFormBases kRdnaBases{.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x180};

}  // namespace

const Table& gfx10_table() {
  static const Table& table = *new Table(kGfx10Entries, {});
  return table;
}

const Table& gfx1030_table() {
  static const Table& table = *new Table(kGfx1030Entries, kRdnaBases);
  return table;
}

const Table& gfx11_table() {
  static const Table& table = *new Table(kGfx11Entries, {});
  return table;
}

const Table& gfx1100_table() {
  static const Table& table = *new Table(kGfx1100Entries, kRdnaBases);
  return table;
}

const Table& gfx12_table() {
  static const Table& table = *new Table(kGfx12Entries, {});
  return table;
}

}  // namespace ww::binpatch::isa
