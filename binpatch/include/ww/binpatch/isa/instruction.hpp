// Decoded AMD instructions: one vocabulary for decoder, disassembler, patcher and emulator.
//
// Opcodes are keyed by mnemonic across generations (s_add_i32 is one Opcode, though its number
// differs); the generation's table (isa/tables) maps encodings to Opcodes. The emulator in
// sim/gpu keeps its semantics by the same keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/isa/opcode.hpp"  // enum class Opcode : std::uint16_t, from opcodes.def
#include "ww/core/result.hpp"

namespace ww::binpatch::isa {

// The gfx9 whose vector and memory instructions have tables: Vega 10 and its kin (gfx900 to
// gfx903, gfx909, gfx90c), Vega 12 (gfx904), Vega 20 (gfx906), and CDNA 1 to 3 (gfx908, gfx90a,
// gfx940 to gfx942). gfx9 is any other. Likewise gfx1030 is RDNA 2 (gfx1030 to gfx1036), gfx1100
// is RDNA 3 (gfx1100 to gfx1103), and gfx10 and gfx11 are any others. In the order of their years,
// which code compares.
enum class Generation : std::uint8_t {
  gfx6,
  gfx7,
  gfx8,
  gfx9,
  gfx900,
  gfx904,
  gfx906,
  gfx908,
  gfx90a,
  gfx940,
  gfx10,
  gfx1030,
  gfx11,
  gfx1100,
  gfx12
};
// Error unsupported for targets without a table.
[[nodiscard]] Result<Generation> generation_of(GfxTarget target);

// Work-items of a wave. From gfx10 on a kernel's descriptor chooses, and with it how many scalar
// registers a mask of lanes takes; compilers choose 32 where they are not asked.
enum class WaveSize : std::uint8_t { usual = 0, lanes32 = 32, lanes64 = 64 };

enum class Encoding : std::uint8_t {
  sop2,
  sopk,
  sop1,
  sopc,
  sopp,
  smrd,
  smem,
  vop2,
  vop1,
  vopc,
  vop3a,
  vop3b,
  vop3p,
  vintrp,
  ds,
  mubuf,
  mtbuf,
  mimg,
  exp,
  flat,
  vopd,  // gfx11: two vector instructions in one
};

enum class OperandKind : std::uint8_t {
  none,
  sgpr,          // index: first register
  vgpr,          // index: first register
  special,       // index: SpecialRegister
  inline_int,    // value: the integer
  inline_float,  // value: the bits as a 32-bit float (widen per operand size)
  literal,       // value: the 32-bit literal that follows the instruction
  agpr,          // index: first accumulation register (gfx908 and later)
};

// Hardware encodings of scalar operands that are not general registers (gfx7 numbering).
enum class SpecialRegister : std::uint16_t {
  flat_scratch_lo,
  flat_scratch_hi,
  vcc_lo,
  vcc_hi,
  tba_lo,
  tba_hi,
  tma_lo,
  tma_hi,
  ttmp0,  // ttmp1.. follow as ttmp0 + n, n < 16
  m0 = 64,
  exec_lo,
  exec_hi,
  vccz,
  execz,
  scc,
  lds_direct,
  xnack_mask_lo,
  xnack_mask_hi,
  src_shared_base,
  src_shared_limit,
  src_private_base,
  src_private_limit,  // gfx9
  src_pops_exiting_wave_id,
  null,  // gfx10 and later: reads as zero, writes are dropped
};

struct Operand {
  OperandKind kind{OperandKind::none};
  std::uint8_t count{1};  // consecutive 32-bit registers
  std::uint16_t index{};  // register number
  std::uint32_t value{};  // inline or literal value
  bool operator==(const Operand&) const = default;
};

// Fields that some encodings carry beside their operands; unused ones are 0.
struct Modifiers {
  std::uint8_t abs{};   // bit i: |src i|
  std::uint8_t neg{};   // bit i: -src i
  std::uint8_t omod{};  // 0 none, 1 *2, 2 *4, 3 /2
  bool clamp{};
  bool glc{}, slc{}, tfe{}, lds{}, gds{};  // gfx940 spells glc sc0 and slc nt
  bool sc1{};                              // gfx940
  bool dlc{};                              // gfx10
  bool offen{}, idxen{}, addr64{};
  // DS offset0 | offset1<<8 or 16 bits; MUBUF 12 bits; SMRD; SMEM and FLAT (gfx9) in bytes, signed
  std::uint32_t offset{};
  std::int32_t immediate{};  // SOPK simm16, SOPP simm16 (branch offset in dwords, waitcnt bits)
  bool scalar_offset_is_immediate{};  // SMRD/SMEM imm bit
  std::uint8_t dmask{};               // MIMG: bit i, channel i
  bool unorm{}, da{}, d16{};          // MIMG
  bool a16{};                         // MIMG of gfx9 and later: two addresses a word
  std::uint8_t dim{};                 // MIMG of gfx10 and later, in place of da
  // MIMG of gfx10 and later: addresses after src[0]; byte i of extra_dword is the register of the
  // one after that
  std::uint8_t separate_addresses{};
  // VOP3P; VOP3 of gfx9 and all of gfx1100's: bit i source i, bit 3 the result
  std::uint8_t op_sel{}, op_sel_hi{};
  // gfx8+ sub-dword and data-parallel forms; present only where sdwa or dpp is set
  bool sdwa{}, dpp{};
  std::uint32_t extra_dword{};                 // the raw SDWA or DPP word
  std::array<std::uint32_t, 3> more_dwords{};  // Opcode::unlisted of more than two words (gfx10+)
};

struct Instruction {
  Opcode opcode{};
  Encoding encoding{};
  // 4 or 8; 12 with a literal in gfx1030's long forms or separate addresses of an image; up to 20
  // for Opcode::unlisted of gfx10+
  std::uint8_t size_bytes{};
  // dst[0] main destination; dst[1] second (VOP3B carry, s_getreg has one only)
  std::array<Operand, 2> dst{};
  // Sources in the order of the assembly text. MUBUF: vaddr, srsrc, soffset (store: vdata first in
  // src[3]). FLAT: vaddr, vdata. DS: addr, data0, data1. SMRD: sbase, soffset.
  //
  // Absent operands are `none` and keep their place (MUBUF without vaddr: src[0] is none).
  // Implicit operands that the text names are listed: vcc of VOP2's carries and v_cndmask_b32 and
  // of VOPC's result, as special vcc_lo with count 2, or 1 in waves of 32. Not listed: exec, scc,
  // m0, vcc of v_div_fmas, exec as v_cmpx's second result (its only one from gfx10 on, which leaves
  // dst[0] none). Read as well as written, and listed once as dst[0]:
  // s_addk_i32, s_mulk_i32, s_cmovk_i32, s_cmov, s_bitset, v_mac, v_cvt_pkaccum, v_writelane_b32.
  // SOPK compares and s_setreg_b32: the register is src[0]; s_setreg_imm32_b32: src[0] is the
  // literal. SOPK and SOPP immediates are sign-extended to Modifiers::immediate.
  // SMRD (gfx7): an immediate offset is Modifiers::offset in dwords and src[1] is none; else src[1]
  // is a register (bytes) or a literal (dwords).
  // v_madmk_f32: src is S0, literal, S1. v_madak_f32: S0, S1, literal (as the text has them).
  // MUBUF and FLAT atomics: data in src[3] and src[1]; dst[0] only with glc. Buffer loads with lds
  // have no dst; with tfe, dst[0] has one register more. MTBUF: Modifiers::immediate is
  // dfmt | nfmt << 4. s_set_gpr_idx_on: Modifiers::immediate is the mode.
  // s_sendmsg_rtn: Modifiers::immediate is the message.
  // SMEM: src[0] base, src[1] the register of the offset or none, src[2] a store's data;
  // Modifiers::offset (bytes) where scalar_offset_is_immediate.
  // FLAT of gfx9 and later: src[2] is the scalar address (s[n:n+1] of global_, s[n] of scratch_) or
  // none.
  // SDWA and DPP: src[0] is the register that the second word names; Modifiers::extra_dword is that
  // word. VOP3P: Modifiers::neg is neg_lo, abs is neg_hi (of v_mad_mix and v_fma_mix: abs).
  // v_swap_b32: dst[0] and src[0] are both read and written.
  // v_dual: dst[0], src[0] and src[1] are the first half's, dst[1], src[2] and src[3] the second's;
  // dual_halves has both as instructions of their own.
  // Opcode::unlisted (what no table names: image and graphics of all, vector and memory of some):
  // Modifiers::offset, extra_dword and more_dwords are the raw words.
  std::array<Operand, 4> src{};
  Modifiers modifiers{};
};

// The bits of a hardware register that s_getreg_b32 and s_setreg name: `size` bits from `offset`.
struct HardwareRegisterField {
  std::uint8_t id{};
  std::uint8_t offset{};
  std::uint8_t size{};  // 1 to 32
  bool operator==(const HardwareRegisterField&) const = default;
};
[[nodiscard]] HardwareRegisterField hardware_register_field(const Instruction& instruction);

// Decodes the instruction at the start of `code`. Errors: parse_error when truncated,
// unsupported with the encoding word when no table entry fits. Never throws, reads only `code`.
[[nodiscard]] Result<Instruction> decode(Generation generation, std::span<const std::byte> code,
                                         WaveSize wave = WaveSize::usual);

// Text that llvm-mc assembles back to the same bytes. `address` resolves branch targets, which are
// written as numbers (the simm16), as llvm-mc takes them.
[[nodiscard]] std::string disassemble(const Instruction& instruction, Generation generation);

// The two instructions that a v_dual (VOPD) is, X and Y, as VOP1 and VOP2 would have them. Both
// read their sources before either writes.
[[nodiscard]] std::array<Instruction, 2> dual_halves(const Instruction& instruction);

[[nodiscard]] std::string_view mnemonic(Opcode opcode);

// Which operands of a vector instruction have 16 bits, and are half a register where it says which:
// bit i source i, bit 3 the result. Two packed values are a whole register.
[[nodiscard]] unsigned halves_of(Opcode opcode);

// Facts that the patcher's safety check and the emulator's scheduler need.
struct OpcodeTraits {
  bool reads_scc{};
  bool writes_scc{};
  bool is_branch{};      // may change the program counter
  bool is_terminator{};  // s_endpgm and unconditional jumps: code after it is reached otherwise
  bool is_vector_memory{};
  bool is_scalar_memory{};
  bool is_lds{};
};
[[nodiscard]] OpcodeTraits traits(Opcode opcode);

}  // namespace ww::binpatch::isa
