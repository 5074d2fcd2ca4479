#include <algorithm>
#include <iterator>

#include "isa/table.hpp"
#include "isa/tables/rows.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Form;

#define SMRD(number, name, d, base) \
  {Encoding::smrd, plain, number, Opcode::name, d, {base, 0, 0}, 0},
#define MTBUF(number, name, form, data) {Encoding::mtbuf, form, number, Opcode::name, data, {}, 0},

#define AT(gfx7, ...) gfx7
constexpr TableEntry kEntries[] = {
#include "isa/tables/gfx7_compare.def"
#include "isa/tables/gfx7_only.def"
#include "isa/tables/image_levels.def"
#include "isa/tables/images.def"
#include "isa/tables/memory.def"
#include "isa/tables/scalar.def"
#include "isa/tables/vector.def"
};

constexpr LongFormBases kLongFormBases{.vopc = 0x000, .vop2 = 0x100, .vop1 = 0x180};

// Whether Sea Islands added it: flat addressing and these. All else has gfx6's numbers.
bool since_gfx7(const TableEntry& entry) {
  switch (entry.opcode) {
    case Opcode::buffer_wbinvl1_vol:
    case Opcode::ds_condxchg32_rtn_b64:
    case Opcode::ds_gws_sema_release_all:
    case Opcode::ds_nop:
    case Opcode::ds_read_b96:
    case Opcode::ds_read_b128:
    case Opcode::ds_wrap_rtn_b32:
    case Opcode::ds_write_b96:
    case Opcode::ds_write_b128:
    case Opcode::s_dcache_inv_vol:
    case Opcode::v_ceil_f64:
    case Opcode::v_floor_f64:
    case Opcode::v_rndne_f64:
    case Opcode::v_trunc_f64:
    case Opcode::v_exp_legacy_f32:
    case Opcode::v_log_legacy_f32:
    case Opcode::v_mad_i64_i32:
    case Opcode::v_mad_u64_u32:
    case Opcode::v_mqsad_u32_u8:
    case Opcode::v_qsad_pk_u16_u8: return true;
    default: return entry.encoding == Encoding::flat;
  }
}

}  // namespace

const Table& gfx7_table() {
  static const Table& table = *new Table(kEntries, kLongFormBases);
  return table;
}

const Table& gfx6_table() {
  static const Table& table = *[] {
    std::vector<TableEntry> older;
    std::remove_copy_if(std::begin(kEntries), std::end(kEntries), std::back_inserter(older),
                        since_gfx7);
    older.push_back({Encoding::mubuf, buffer_control, 0x70, Opcode::buffer_wbinvl1_sc, 0, {}, 0});
    return new Table(older, kLongFormBases);
  }();
  return table;
}

}  // namespace ww::binpatch::isa
