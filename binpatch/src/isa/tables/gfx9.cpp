#include "isa/table.hpp"
#include "isa/tables/rows.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define AT(gfx7, gfx8, ...) gfx8
constexpr TableEntry kGfx8Entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
#undef AT

#define AT(gfx7, gfx8, gfx9, ...) gfx9
constexpr TableEntry kGfx9Entries[] = {
#include "isa/tables/scalar.def"
};
constexpr TableEntry kGfx900Entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx900_only.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
constexpr TableEntry kGfx904Entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
constexpr TableEntry kGfx906Entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
constexpr TableEntry kGfx908Entries[] = {
#include "isa/tables/before_gfx90a.def"
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx908_gfx90a.def"
#include "isa/tables/gfx908_only.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};
constexpr TableEntry kGfx90aEntries[] = {
#include "isa/tables/before_gfx940.def"
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx908_gfx90a.def"
#include "isa/tables/gfx90a.def"
#include "isa/tables/gfx90a_only.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};

constexpr TableEntry kGfx940Entries[] = {
#include "isa/tables/gfx8_compare.def"
#include "isa/tables/gfx904.def"
#include "isa/tables/gfx906.def"
#include "isa/tables/gfx908.def"
#include "isa/tables/gfx90a.def"
#include "isa/tables/gfx940.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};

constexpr LongFormBases kGfx8Bases{.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x140};

}  // namespace

const Table& gfx8_table() {
  static const Table& table = *new Table(kGfx8Entries, kGfx8Bases);
  return table;
}

const Table& gfx9_table() {
  static const Table& table = *new Table(kGfx9Entries, {});
  return table;
}

const Table& gfx900_table() {
  static const Table& table = *new Table(kGfx900Entries, kGfx8Bases);
  return table;
}

const Table& gfx904_table() {
  static const Table& table = *new Table(kGfx904Entries, kGfx8Bases);
  return table;
}

const Table& gfx906_table() {
  static const Table& table = *new Table(kGfx906Entries, kGfx8Bases);
  return table;
}

const Table& gfx908_table() {
  static const Table& table = *new Table(kGfx908Entries, kGfx8Bases);
  return table;
}

const Table& gfx90a_table() {
  static const Table& table = *new Table(kGfx90aEntries, kGfx8Bases);
  return table;
}

const Table& gfx940_table() {
  static const Table& table = *new Table(kGfx940Entries, kGfx8Bases);
  return table;
}

}  // namespace ww::binpatch::isa
