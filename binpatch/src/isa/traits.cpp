#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

namespace {

using enum Opcode;

// Sea Islands ISA, chapter "Scalar ALU": the instructions whose description ends in "SCC = ...".
bool writes_scc(Opcode opcode) {
  switch (opcode) {
    case s_add_u32:
    case s_sub_u32:
    case s_add_i32:
    case s_sub_i32:
    case s_addc_u32:
    case s_subb_u32:
    case s_min_i32:
    case s_min_u32:
    case s_max_i32:
    case s_max_u32:
    case s_and_b32:
    case s_and_b64:
    case s_or_b32:
    case s_or_b64:
    case s_xor_b32:
    case s_xor_b64:
    case s_andn2_b32:
    case s_andn2_b64:
    case s_orn2_b32:
    case s_orn2_b64:
    case s_nand_b32:
    case s_nand_b64:
    case s_nor_b32:
    case s_nor_b64:
    case s_xnor_b32:
    case s_xnor_b64:
    case s_lshl_b32:
    case s_lshl_b64:
    case s_lshr_b32:
    case s_lshr_b64:
    case s_ashr_i32:
    case s_ashr_i64:
    case s_bfe_u32:
    case s_bfe_i32:
    case s_bfe_u64:
    case s_bfe_i64:
    case s_absdiff_i32:
    case s_addk_i32:
    case s_not_b32:
    case s_not_b64:
    case s_wqm_b32:
    case s_wqm_b64:
    case s_bcnt0_i32_b32:
    case s_bcnt0_i32_b64:
    case s_bcnt1_i32_b32:
    case s_bcnt1_i32_b64:
    case s_quadmask_b32:
    case s_quadmask_b64:
    case s_and_saveexec_b64:
    case s_or_saveexec_b64:
    case s_xor_saveexec_b64:
    case s_andn2_saveexec_b64:
    case s_orn2_saveexec_b64:
    case s_nand_saveexec_b64:
    case s_nor_saveexec_b64:
    case s_xnor_saveexec_b64:
    case s_andn1_saveexec_b64:
    case s_orn1_saveexec_b64:
    case s_andn1_wrexec_b64:
    case s_andn2_wrexec_b64:
    case s_lshl1_add_u32:
    case s_lshl2_add_u32:
    case s_lshl3_add_u32:
    case s_lshl4_add_u32:
    case s_and_saveexec_b32:
    case s_or_saveexec_b32:
    case s_xor_saveexec_b32:
    case s_andn2_saveexec_b32:
    case s_orn2_saveexec_b32:
    case s_nand_saveexec_b32:
    case s_nor_saveexec_b32:
    case s_xnor_saveexec_b32:
    case s_andn1_saveexec_b32:
    case s_orn1_saveexec_b32:
    case s_andn1_wrexec_b32:
    case s_andn2_wrexec_b32:
    case s_and_not1_b32:
    case s_and_not1_b64:
    case s_or_not1_b32:
    case s_or_not1_b64:
    case s_and_not0_saveexec_b32:
    case s_and_not0_saveexec_b64:
    case s_or_not0_saveexec_b32:
    case s_or_not0_saveexec_b64:
    case s_and_not1_saveexec_b32:
    case s_and_not1_saveexec_b64:
    case s_or_not1_saveexec_b32:
    case s_or_not1_saveexec_b64:
    case s_and_not0_wrexec_b32:
    case s_and_not0_wrexec_b64:
    case s_and_not1_wrexec_b32:
    case s_and_not1_wrexec_b64:
    case s_abs_i32:
    case s_cmp_eq_i32:
    case s_cmp_lg_i32:
    case s_cmp_gt_i32:
    case s_cmp_ge_i32:
    case s_cmp_lt_i32:
    case s_cmp_le_i32:
    case s_cmp_eq_u32:
    case s_cmp_lg_u32:
    case s_cmp_gt_u32:
    case s_cmp_ge_u32:
    case s_cmp_lt_u32:
    case s_cmp_le_u32:
    case s_cmp_eq_u64:
    case s_cmp_lg_u64:
    case s_bitcmp0_b32:
    case s_bitcmp1_b32:
    case s_bitcmp0_b64:
    case s_bitcmp1_b64:
    case s_cmpk_eq_i32:
    case s_cmpk_lg_i32:
    case s_cmpk_gt_i32:
    case s_cmpk_ge_i32:
    case s_cmpk_lt_i32:
    case s_cmpk_le_i32:
    case s_cmpk_eq_u32:
    case s_cmpk_lg_u32:
    case s_cmpk_gt_u32:
    case s_cmpk_ge_u32:
    case s_cmpk_lt_u32:
    case s_cmpk_le_u32: return true;
    default: return false;
  }
}

bool reads_scc(Opcode opcode) {
  switch (opcode) {
    case s_addc_u32:
    case s_subb_u32:
    case s_cselect_b32:
    case s_cselect_b64:
    case s_cmov_b32:
    case s_cmov_b64:
    case s_cmovk_i32:
    case s_cbranch_scc0:
    case s_cbranch_scc1: return true;
    default: return false;
  }
}

bool is_branch(Opcode opcode) {
  switch (opcode) {
    case s_branch:
    case s_cbranch_scc0:
    case s_cbranch_scc1:
    case s_cbranch_vccz:
    case s_cbranch_vccnz:
    case s_cbranch_execz:
    case s_cbranch_execnz:
    case s_cbranch_cdbgsys:
    case s_cbranch_cdbguser:
    case s_cbranch_cdbgsys_or_user:
    case s_cbranch_cdbgsys_and_user:
    case s_cbranch_g_fork:
    case s_cbranch_i_fork:
    case s_cbranch_join:
    case s_setpc_b64:
    case s_swappc_b64:
    case s_call_b64:
    case s_subvector_loop_begin:
    case s_subvector_loop_end:
    case s_rfe_b64:
    case s_rfe_restore_b64: return true;
    default: return false;
  }
}

bool is_terminator(Opcode opcode) {
  switch (opcode) {
    case s_endpgm:
    case s_endpgm_saved:
    case s_endpgm_ordered_ps_done:
    case s_code_end:
    case s_branch:
    case s_setpc_b64:
    case s_swappc_b64:
    case s_call_b64:
    case s_rfe_b64:
    case s_rfe_restore_b64: return true;
    default: return false;
  }
}

}  // namespace

OpcodeTraits traits(Opcode opcode) {
  const std::string_view name = mnemonic(opcode);
  OpcodeTraits out;
  out.reads_scc = reads_scc(opcode);
  out.writes_scc = writes_scc(opcode);
  out.is_branch = is_branch(opcode);
  out.is_terminator = is_terminator(opcode);
  out.is_vector_memory = name.starts_with("buffer_") || name.starts_with("tbuffer_") ||
                         name.starts_with("flat_") || name.starts_with("global_") ||
                         name.starts_with("scratch_") || name.starts_with("image_");
  out.is_scalar_memory = name.starts_with("s_load_") || name.starts_with("s_buffer_load_") ||
                         name.starts_with("s_dcache_") || name.starts_with("s_store_") ||
                         name.starts_with("s_buffer_store_") || opcode == s_memtime ||
                         opcode == s_memrealtime;
  out.is_lds = name.starts_with("ds_");
  return out;
}

HardwareRegisterField hardware_register_field(const Instruction& instruction) {
  const auto raw = static_cast<std::uint32_t>(instruction.modifiers.immediate);
  return {.id = static_cast<std::uint8_t>(raw & 0x3f),
          .offset = static_cast<std::uint8_t>((raw >> 6) & 0x1f),
          .size = static_cast<std::uint8_t>(((raw >> 11) & 0x1f) + 1)};
}

}  // namespace ww::binpatch::isa
