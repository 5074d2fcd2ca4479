#include "isa/table.hpp"
#include "isa/tables/rows.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define SOP1(number, name, d, s0) {Encoding::sop1, plain, number, Opcode::name, d, {s0, 0, 0}, 0},

constexpr TableEntry gfx9_entries[] = {
#include "isa/tables/gfx8_scalar.def"
#include "isa/tables/gfx9_scalar.def"
};

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
  static const Table& table = *new Table(gfx8_entries, gfx8_bases);
  return table;
}

const Table& gfx9_table() {
  static const Table& table = *new Table(gfx9_entries, {});
  return table;
}

const Table& gfx900_table() {
  static const Table& table = *new Table(gfx900_entries, gfx8_bases);
  return table;
}

const Table& gfx904_table() {
  static const Table& table = *new Table(gfx904_entries, gfx8_bases);
  return table;
}

const Table& gfx906_table() {
  static const Table& table = *new Table(gfx906_entries, gfx8_bases);
  return table;
}

const Table& gfx908_table() {
  static const Table& table = *new Table(gfx908_entries, gfx8_bases);
  return table;
}

const Table& gfx90a_table() {
  static const Table& table = *new Table(gfx90a_entries, gfx8_bases);
  return table;
}

const Table& gfx940_table() {
  static const Table& table = *new Table(gfx940_entries, gfx8_bases);
  return table;
}

}  // namespace ww::binpatch::isa
