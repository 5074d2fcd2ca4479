// Scalar ALU, control flow and the instructions that a wave handles in its own instruction buffer.
// Source: AMD Sea Islands ISA, chapters 4 and 5, and the opcode tables of chapter 12.
#include <bit>

#include "machine/alu/alu.hpp"
#include "machine/alu/scalar_gfx10.hpp"
#include "machine/alu/scalar_gfx9.hpp"
#include "machine/alu/scalar_values.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Encoding;
using binpatch::isa::Instruction;
template <auto F>
void binary32(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = F(read32(w, op, 0), read32(w, op, 1), w.scc);
}
template <auto F>
void binary64(Wave& w, const MicroOp& op) {
  w.set_pair(op.destination, F(read64(w, op, 0), read64(w, op, 1), w.scc));
}
// 64-bit value with a 32-bit second operand (shifts, bit fields).
template <auto F>
void shift64(Wave& w, const MicroOp& op) {
  w.set_pair(op.destination, F(read64(w, op, 0), read32(w, op, 1), w.scc));
}
template <auto F>
void unary32(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = F(read32(w, op, 0), w.scc);
}
template <auto F>
void unary64(Wave& w, const MicroOp& op) {
  w.set_pair(op.destination, F(read64(w, op, 0), w.scc));
}
template <auto F>
void narrow64(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = F(read64(w, op, 0), w.scc);
}
template <auto F>
void compare32(Wave& w, const MicroOp& op) {
  w.scc = F(read32(w, op, 0), read32(w, op, 1));
}
// The old exec mask is saved, the new one is F(source, exec).
template <auto F>
void save_exec(Wave& w, const MicroOp& op) {
  const U64 source = read64(w, op, 0);
  const U64 exec = w.exec();
  w.set_pair(op.destination, exec);
  w.set_pair(kExec, F(source, exec));
  w.scc = w.exec() != 0;
}
// SOPK: the register and the sign-extended immediate.
template <auto F>
void with_immediate(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = F(w.sr[op.destination], static_cast<U32>(op.immediate), w.scc);
}
template <auto F>
void compare_immediate(Wave& w, const MicroOp& op) {
  w.scc = F(read32(w, op, 0), op.immediate);
}
template <auto F>
void branch_if(Wave& w, const MicroOp& op) {
  if (!F(w)) return;
  w.pc = static_cast<U32>(static_cast<I32>(w.pc) + op.immediate);
  w.next = w.now + 16;  // the instruction buffer is refilled
}

// --- hardware registers (s_getreg, s_setreg): id 5:0, offset 10:6, size - 1 15:11 ---
enum HardwareRegister : U32 {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHwId = 4,
  kGprAlloc = 5,
  kLdsAlloc = 6,
  kIbStatus = 7,
  kMemoryBases = 15,
  kXccId = 20,
  kFlatScratchLow = 20,  // gfx10
  kFlatScratchHigh = 21,
  kHwId1 = 23,
  kHwId2 = 24,
  kShaderCycles = 29
};

bool hardware_register(Wave& w, U32 id, U32& value) {
  const LaunchState& launch = w.cu->launch();
  switch (id) {
    case kMode: value = w.mode; return true;
    case kStatus:
      value = (w.scc ? 1U : 0U) | (w.exec() == 0 ? 1U << 9 : 0U) | (w.vcc() == 0 ? 1U << 10 : 0U) |
              (launch.waves_per_group > 1 ? 1U << 11 : 0U) | 1U << 16;
      return true;
    case kTrapStatus: value = 0; return true;
    case kHwId: value = w.cu->hardware_id(w); return true;
    case kGprAlloc: value = (launch.vgprs / 4 - 1) << 8 | (launch.sgprs / 8 - 1) << 24; return true;
    case kLdsAlloc:
      value = w.group->lds_offset / 256 | launch.lds_allocated / 512 << 12;
      return true;
    case kMemoryBases:  // gfx9: bits 63:48 of the flat apertures
      if (launch.isa == Isa::gfx7) return false;
      value = (kFlatLdsApertureHigh & 0xFFFF0000U) | kFlatPrivateApertureHigh >> 16;
      return true;
    case kXccId:  // CDNA 3: the number of the die within the device
      if (launch.isa != Isa::gfx942) return false;
      value = w.cu->die();
      return true;
    case kHwId1:
      if (!is_rdna(launch.isa)) return false;
      value = w.cu->hardware_id1(w);
      return true;
    case kHwId2:  // RDNA: queue, pipe, micro engine and state are 0; the group, the process
      if (!is_rdna(launch.isa)) return false;
      value = (w.group->hardware_slot & 31U) << 16 | 1U << 24;
      return true;
    case kShaderCycles:  // 20 bits, which wrap
      if (!is_rdna(launch.isa)) return false;
      w.cu->read_clock();
      value = static_cast<U32>(launch.clock_base + static_cast<U64>(w.now)) & 0xFFFFFU;
      return true;
    case kIbStatus: value = w.vector_queue.count | w.scalar_queue.count << 8; return true;
    default: return false;
  }
}

void unsupported_register(Wave& w, U32 id, const char* what) {
  w.cu->fault(w, ErrorCode::unsupported,
              std::string(what) + " of hardware register " + std::to_string(id) +
                  " is not possible on the virtual GPU");
}

void get_register(Wave& w, const MicroOp& op) {
  const auto selector = static_cast<U32>(op.immediate);
  const U32 size = (selector >> 11 & 31U) + 1;
  U32 value = 0;
  if (!hardware_register(w, selector & 63U, value)) {
    unsupported_register(w, selector & 63U, "reading");
    return;
  }
  value >>= selector >> 6 & 31U;
  w.sr[op.destination] = size == 32 ? value : value & ((1U << size) - 1U);
}

void set_register(Wave& w, const MicroOp& op) {
  const auto selector = static_cast<U32>(op.immediate);
  const U32 size = (selector >> 11 & 31U) + 1;
  const U32 offset = selector >> 6 & 31U;
  // Flat accesses find the wave's private memory by themselves.
  const U32 id = selector & 63U;
  const bool gfx10 = w.cu->launch().isa == Isa::gfx1030;
  if (gfx10 && (id == kFlatScratchLow || id == kFlatScratchHigh)) return;
  // Compilers for gfx7 clear the sign of a failed access before a barrier of the grid, and repeat
  // the barrier while it is set. Here it never is.
  if (id == kTrapStatus && read32(w, op, 0) == 0) return;
  if (id != kMode) {
    unsupported_register(w, id, "writing");
    return;
  }
  const U32 field = (size == 32 ? ~U32{0} : (1U << size) - 1U) << offset;
  set_mode(w, (w.mode & ~field) | (read32(w, op, 0) << offset & field));
}

// --- program counter ---
void get_pc(Wave& w, const MicroOp& op) {
  w.set_pair(op.destination, w.cu->launch().code_address + U64{w.pc} * 4);
}
void jump(Wave& w, U64 target) {
  const U64 dword = (target - w.cu->launch().code_address) / 4;
  w.pc = dword < w.code_dwords ? static_cast<U32>(dword) : w.code_dwords;
  w.next = w.now + 16;
}
void set_pc(Wave& w, const MicroOp& op) {
  jump(w, read64(w, op, 0));
}
void swap_pc(Wave& w, const MicroOp& op) {
  const U64 target = read64(w, op, 0);
  get_pc(w, op);
  jump(w, target);
}

// --- in the instruction buffer ---
// How long these wait has three bits on gfx7, and later four for NOPs and seven to sleep (AMD, Vega
// ISA and RDNA 2 ISA, SOPP instructions).
std::int32_t count_of(const Wave& w, const MicroOp& op, std::int32_t later) {
  return op.immediate & (w.cu->launch().isa == Isa::gfx7 ? 7 : later);
}
void no_operation(Wave& w, const MicroOp& op) {
  w.next = w.now + 4 * (count_of(w, op, 15) + 1);
}
void no_effect(Wave&, const MicroOp&) {}
void sleep(Wave& w, const MicroOp& op) {
  w.next = w.now + 64 * count_of(w, op, 127) + 4;
}
void barrier(Wave& w, const MicroOp&) {
  w.cu->barrier(w);
}
void trap(Wave& w, const MicroOp&) {
  w.cu->fault(w, ErrorCode::device_error, "the kernel trapped (s_trap)");
}
// A wave that halts waits for the host, which never comes here; a card hangs. The message that goes
// with it would not change that.
void halt(Wave& w, const MicroOp&) {
  w.cu->fault(w, ErrorCode::device_error,
              "a wave halts (s_sethalt, s_sendmsghalt), and would never end");
}
void halt_if_asked(Wave& w, const MicroOp& op) {
  if ((static_cast<U32>(op.immediate) & 1U) != 0) halt(w, op);
}
void end_program(Wave& w, const MicroOp&) {
  w.cu->end_wave(w);
}

// An index that leaves the scalar registers reads s0 and writes nothing (AMD CDNA 4 ISA, 3.6.1).
bool is_past_scalars(const Wave& w, U32 first, U32 count) {
  return first > (is_rdna(w.cu->launch().isa) ? kVcc : kFlatScratch) - count;
}
template <int Words>
void move_relative_source(Wave& w, const MicroOp& op) {
  U32 from = op.source[0] + w.sr[kM0];
  if (is_past_scalars(w, from, Words)) from = 0;
  for (U32 i = 0; i < Words; ++i) w.sr[op.destination + i] = w.sr[from + i];
}
template <int Words>
void move_relative_destination(Wave& w, const MicroOp& op) {
  const U32 to = op.destination + w.sr[kM0];
  if (is_past_scalars(w, to, Words)) return;
  if (Words == 2) {
    w.set_pair(to, read64(w, op, 0));
  } else {
    w.sr[to] = read32(w, op, 0);
  }
}
void conditional_move64(Wave& w, const MicroOp& op) {
  if (w.scc) w.set_pair(op.destination, read64(w, op, 0));
}
void conditional_move32(Wave& w, const MicroOp& op) {
  if (w.scc) w.sr[op.destination] = read32(w, op, 0);
}
void conditional_move_immediate(Wave& w, const MicroOp& op) {
  if (w.scc) w.sr[op.destination] = static_cast<U32>(op.immediate);
}
template <bool Set>
void bit_set32(Wave& w, const MicroOp& op) {
  const U32 bit = 1U << (read32(w, op, 0) & 31U);
  w.sr[op.destination] = Set ? w.sr[op.destination] | bit : w.sr[op.destination] & ~bit;
}
template <bool Set>
void bit_set64(Wave& w, const MicroOp& op) {
  const U64 bit = U64{1} << (read32(w, op, 0) & 63U);
  const U64 old = w.pair(op.destination);
  w.set_pair(op.destination, Set ? old | bit : old & ~bit);
}
template <bool One>
void bit_test64(Wave& w, const MicroOp& op) {
  w.scc = (read64(w, op, 0) >> (read32(w, op, 1) & 63U) & 1U) == (One ? 1U : 0U);
}

// The semantics of an opcode, nullptr where there are none.
Handler semantics(Opcode opcode) {
  // NOLINTBEGIN(bugprone-branch-clone): a line an opcode, and some agree
  switch (opcode) {
#define WW_CASE(name, ...) \
  case Opcode::name: return &__VA_ARGS__;
    WW_CASE(s_add_u32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = a + b < a;
              return a + b;
            })>)
    WW_CASE(s_sub_u32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = a < b;
              return a - b;
            })>)
    WW_CASE(s_add_i32, binary32<add_signed>)
    WW_CASE(s_sub_i32, binary32<sub_signed>)
    WW_CASE(s_addc_u32, binary32<([](U32 a, U32 b, bool& scc) {
              const U64 sum = U64{a} + b + (scc ? 1U : 0U);
              scc = sum >> 32 != 0;
              return static_cast<U32>(sum);
            })>)
    WW_CASE(s_subb_u32, binary32<([](U32 a, U32 b, bool& scc) {
              const U64 difference = U64{a} - b - (scc ? 1U : 0U);
              scc = difference >> 63 != 0;
              return static_cast<U32>(difference);
            })>)
    WW_CASE(s_absdiff_i32, binary32<([](U32 a, U32 b, bool& scc) {
              const U32 d = a - b;
              return non_zero(as_signed(d) < 0 ? 0U - d : d, scc);
            })>)
    WW_CASE(s_min_i32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = as_signed(a) < as_signed(b);
              return scc ? a : b;
            })>)
    WW_CASE(s_min_u32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = a < b;
              return scc ? a : b;
            })>)
    WW_CASE(s_max_i32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = as_signed(a) >= as_signed(b);
              return scc ? a : b;
            })>)
    WW_CASE(s_max_u32, binary32<([](U32 a, U32 b, bool& scc) {
              scc = a >= b;
              return scc ? a : b;
            })>)
    WW_CASE(s_cselect_b32, binary32<([](U32 a, U32 b, bool& scc) { return scc ? a : b; })>)
    WW_CASE(s_cselect_b64, binary64<([](U64 a, U64 b, bool& scc) { return scc ? a : b; })>)
    WW_CASE(s_and_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(a & b, s); })>)
    WW_CASE(s_and_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(a & b, s); })>)
    WW_CASE(s_or_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(a | b, s); })>)
    WW_CASE(s_or_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(a | b, s); })>)
    WW_CASE(s_xor_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(a ^ b, s); })>)
    WW_CASE(s_xor_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(a ^ b, s); })>)
    WW_CASE(s_andn2_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(a & ~b, s); })>)
    WW_CASE(s_andn2_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(a & ~b, s); })>)
    WW_CASE(s_orn2_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(a | ~b, s); })>)
    WW_CASE(s_orn2_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(a | ~b, s); })>)
    WW_CASE(s_nand_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(~(a & b), s); })>)
    WW_CASE(s_nand_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(~(a & b), s); })>)
    WW_CASE(s_nor_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(~(a | b), s); })>)
    WW_CASE(s_nor_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(~(a | b), s); })>)
    WW_CASE(s_xnor_b32, binary32<([](U32 a, U32 b, bool& s) { return non_zero(~(a ^ b), s); })>)
    WW_CASE(s_xnor_b64, binary64<([](U64 a, U64 b, bool& s) { return non_zero(~(a ^ b), s); })>)
    WW_CASE(s_lshl_b32,
            binary32<([](U32 a, U32 b, bool& s) { return non_zero(a << (b & 31U), s); })>)
    WW_CASE(s_lshl_b64,
            shift64<([](U64 a, U32 b, bool& s) { return non_zero(a << (b & 63U), s); })>)
    WW_CASE(s_lshr_b32,
            binary32<([](U32 a, U32 b, bool& s) { return non_zero(a >> (b & 31U), s); })>)
    WW_CASE(s_lshr_b64,
            shift64<([](U64 a, U32 b, bool& s) { return non_zero(a >> (b & 63U), s); })>)
    WW_CASE(s_ashr_i32, binary32<([](U32 a, U32 b, bool& s) {
              return non_zero(static_cast<U32>(as_signed(a) >> (b & 31U)), s);
            })>)
    WW_CASE(s_ashr_i64, shift64<([](U64 a, U32 b, bool& s) {
              return non_zero(static_cast<U64>(as_signed(a) >> (b & 63U)), s);
            })>)
    WW_CASE(s_bfm_b32,
            binary32<([](U32 a, U32 b, bool&) { return ((1U << (a & 31U)) - 1U) << (b & 31U); })>)
    WW_CASE(
        s_bfm_b64,
        binary64<([](U64 a, U64 b, bool&) { return ((U64{1} << (a & 63U)) - 1U) << (b & 63U); })>)
    WW_CASE(s_mul_i32, binary32<([](U32 a, U32 b, bool&) { return a * b; })>)
    WW_CASE(s_bfe_u32, binary32<([](U32 a, U32 b, bool& s) { return bit_field_u(a, b, s); })>)
    WW_CASE(s_bfe_i32, binary32<([](U32 a, U32 b, bool& s) { return bit_field_i(a, b, s); })>)
    WW_CASE(s_bfe_u64, shift64<([](U64 a, U32 b, bool& s) { return bit_field_u(a, b, s); })>)
    WW_CASE(s_bfe_i64, shift64<([](U64 a, U32 b, bool& s) { return bit_field_i(a, b, s); })>)

    WW_CASE(s_mov_b32, unary32<([](U32 a, bool&) { return a; })>)
    WW_CASE(s_mov_b64, unary64<([](U64 a, bool&) { return a; })>)
    WW_CASE(s_cmov_b32, conditional_move32)
    WW_CASE(s_cmov_b64, conditional_move64)
    WW_CASE(s_not_b32, unary32<([](U32 a, bool& s) { return non_zero(~a, s); })>)
    WW_CASE(s_not_b64, unary64<([](U64 a, bool& s) { return non_zero(~a, s); })>)
    WW_CASE(s_wqm_b32, unary32<([](U32 a, bool& s) { return non_zero(whole_quad(a), s); })>)
    WW_CASE(s_wqm_b64, unary64<([](U64 a, bool& s) { return non_zero(whole_quad(a), s); })>)
    WW_CASE(s_quadmask_b32, unary32<([](U32 a, bool& s) { return non_zero(quad_mask(a), s); })>)
    WW_CASE(s_quadmask_b64, unary64<([](U64 a, bool& s) { return non_zero(quad_mask(a), s); })>)
    WW_CASE(s_brev_b32, unary32<([](U32 a, bool&) { return reverse_bits(a); })>)
    WW_CASE(s_brev_b64, unary64<([](U64 a, bool&) { return reverse_bits(a); })>)
    WW_CASE(
        s_bcnt0_i32_b32,
        unary32<([](U32 a, bool& s) { return non_zero(static_cast<U32>(std::popcount(~a)), s); })>)
    WW_CASE(
        s_bcnt0_i32_b64,
        narrow64<([](U64 a, bool& s) { return non_zero(static_cast<U32>(std::popcount(~a)), s); })>)
    WW_CASE(
        s_bcnt1_i32_b32,
        unary32<([](U32 a, bool& s) { return non_zero(static_cast<U32>(std::popcount(a)), s); })>)
    WW_CASE(
        s_bcnt1_i32_b64,
        narrow64<([](U64 a, bool& s) { return non_zero(static_cast<U32>(std::popcount(a)), s); })>)
    WW_CASE(s_ff0_i32_b32, unary32<([](U32 a, bool&) { return first_one(~a); })>)
    WW_CASE(s_ff0_i32_b64, narrow64<([](U64 a, bool&) { return first_one(~a); })>)
    WW_CASE(s_ff1_i32_b32, unary32<([](U32 a, bool&) { return first_one(a); })>)
    WW_CASE(s_ff1_i32_b64, narrow64<([](U64 a, bool&) { return first_one(a); })>)
    WW_CASE(s_flbit_i32_b32, unary32<([](U32 a, bool&) { return leading(a); })>)
    WW_CASE(s_flbit_i32_b64, narrow64<([](U64 a, bool&) { return leading(a); })>)
    WW_CASE(s_flbit_i32, unary32<([](U32 a, bool&) { return leading_signed(a); })>)
    WW_CASE(s_flbit_i32_i64, narrow64<([](U64 a, bool&) { return leading_signed(a); })>)
    WW_CASE(
        s_sext_i32_i8,
        unary32<([](U32 a, bool&) { return static_cast<U32>(I32{static_cast<std::int8_t>(a)}); })>)
    WW_CASE(
        s_sext_i32_i16,
        unary32<([](U32 a, bool&) { return static_cast<U32>(I32{static_cast<std::int16_t>(a)}); })>)
    WW_CASE(s_abs_i32,
            unary32<([](U32 a, bool& s) { return non_zero(as_signed(a) < 0 ? 0U - a : a, s); })>)
    WW_CASE(s_bitset0_b32, bit_set32<false>)
    WW_CASE(s_bitset1_b32, bit_set32<true>)
    WW_CASE(s_bitset0_b64, bit_set64<false>)
    WW_CASE(s_bitset1_b64, bit_set64<true>)
    WW_CASE(s_getpc_b64, get_pc)
    WW_CASE(s_setpc_b64, set_pc)
    WW_CASE(s_swappc_b64, swap_pc)
    WW_CASE(s_and_saveexec_b64, save_exec<([](U64 s, U64 e) { return s & e; })>)
    WW_CASE(s_or_saveexec_b64, save_exec<([](U64 s, U64 e) { return s | e; })>)
    WW_CASE(s_xor_saveexec_b64, save_exec<([](U64 s, U64 e) { return s ^ e; })>)
    WW_CASE(s_andn2_saveexec_b64, save_exec<([](U64 s, U64 e) { return s & ~e; })>)
    WW_CASE(s_orn2_saveexec_b64, save_exec<([](U64 s, U64 e) { return s | ~e; })>)
    WW_CASE(s_nand_saveexec_b64, save_exec<([](U64 s, U64 e) { return ~(s & e); })>)
    WW_CASE(s_nor_saveexec_b64, save_exec<([](U64 s, U64 e) { return ~(s | e); })>)
    WW_CASE(s_xnor_saveexec_b64, save_exec<([](U64 s, U64 e) { return ~(s ^ e); })>)
    WW_CASE(s_movrels_b32, move_relative_source<1>)
    WW_CASE(s_movrels_b64, move_relative_source<2>)
    WW_CASE(s_movreld_b32, move_relative_destination<1>)
    WW_CASE(s_movreld_b64, move_relative_destination<2>)

    WW_CASE(s_cmp_eq_i32, compare32<([](U32 a, U32 b) { return a == b; })>)
    WW_CASE(s_cmp_lg_i32, compare32<([](U32 a, U32 b) { return a != b; })>)
    WW_CASE(s_cmp_gt_i32, compare32<([](U32 a, U32 b) { return as_signed(a) > as_signed(b); })>)
    WW_CASE(s_cmp_ge_i32, compare32<([](U32 a, U32 b) { return as_signed(a) >= as_signed(b); })>)
    WW_CASE(s_cmp_lt_i32, compare32<([](U32 a, U32 b) { return as_signed(a) < as_signed(b); })>)
    WW_CASE(s_cmp_le_i32, compare32<([](U32 a, U32 b) { return as_signed(a) <= as_signed(b); })>)
    WW_CASE(s_cmp_eq_u32, compare32<([](U32 a, U32 b) { return a == b; })>)
    WW_CASE(s_cmp_lg_u32, compare32<([](U32 a, U32 b) { return a != b; })>)
    WW_CASE(s_cmp_gt_u32, compare32<([](U32 a, U32 b) { return a > b; })>)
    WW_CASE(s_cmp_ge_u32, compare32<([](U32 a, U32 b) { return a >= b; })>)
    WW_CASE(s_cmp_lt_u32, compare32<([](U32 a, U32 b) { return a < b; })>)
    WW_CASE(s_cmp_le_u32, compare32<([](U32 a, U32 b) { return a <= b; })>)
    WW_CASE(s_bitcmp0_b32, compare32<([](U32 a, U32 b) { return (a >> (b & 31U) & 1U) == 0; })>)
    WW_CASE(s_bitcmp1_b32, compare32<([](U32 a, U32 b) { return (a >> (b & 31U) & 1U) == 1; })>)
    WW_CASE(s_bitcmp0_b64, bit_test64<false>)
    WW_CASE(s_bitcmp1_b64, bit_test64<true>)

    WW_CASE(s_movk_i32, with_immediate<([](U32, U32 k, bool&) { return k; })>)
    WW_CASE(s_cmovk_i32, conditional_move_immediate)
    WW_CASE(s_addk_i32, with_immediate<add_signed>)
    WW_CASE(s_mulk_i32, with_immediate<([](U32 a, U32 k, bool&) { return a * k; })>)
    WW_CASE(s_cmpk_eq_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) == k; })>)
    WW_CASE(s_cmpk_lg_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) != k; })>)
    WW_CASE(s_cmpk_gt_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) > k; })>)
    WW_CASE(s_cmpk_ge_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) >= k; })>)
    WW_CASE(s_cmpk_lt_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) < k; })>)
    WW_CASE(s_cmpk_le_i32, compare_immediate<([](U32 a, I32 k) { return as_signed(a) <= k; })>)
    // The unsigned forms zero-extend their immediate.
    WW_CASE(s_cmpk_eq_u32,
            compare_immediate<([](U32 a, I32 k) { return a == (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_cmpk_lg_u32,
            compare_immediate<([](U32 a, I32 k) { return a != (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_cmpk_gt_u32, compare_immediate<([](U32 a, I32 k) { return a > (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_cmpk_ge_u32,
            compare_immediate<([](U32 a, I32 k) { return a >= (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_cmpk_lt_u32, compare_immediate<([](U32 a, I32 k) { return a < (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_cmpk_le_u32,
            compare_immediate<([](U32 a, I32 k) { return a <= (U32(k) & 0xFFFFU); })>)
    WW_CASE(s_getreg_b32, get_register)
    WW_CASE(s_setreg_b32, set_register)
    WW_CASE(s_setreg_imm32_b32, set_register)

    WW_CASE(s_branch, branch_if<([](const Wave&) { return true; })>)
    WW_CASE(s_cbranch_scc0, branch_if<([](const Wave& w) { return !w.scc; })>)
    WW_CASE(s_cbranch_scc1, branch_if<([](const Wave& w) { return w.scc; })>)
    WW_CASE(s_cbranch_vccz, branch_if<([](const Wave& w) { return w.vcc() == 0; })>)
    WW_CASE(s_cbranch_vccnz, branch_if<([](const Wave& w) { return w.vcc() != 0; })>)
    WW_CASE(s_cbranch_execz, branch_if<([](const Wave& w) { return w.exec() == 0; })>)
    WW_CASE(s_cbranch_execnz, branch_if<([](const Wave& w) { return w.exec() != 0; })>)
    WW_CASE(s_nop, no_operation)
    WW_CASE(s_sleep, sleep)
    WW_CASE(s_setprio, no_effect)
    WW_CASE(s_icache_inv, no_effect)
    WW_CASE(s_incperflevel, no_effect)
    WW_CASE(s_decperflevel, no_effect)
    WW_CASE(s_ttracedata, no_effect)
    WW_CASE(s_waitcnt, no_effect)  // ComputeUnit::step() waits
    WW_CASE(s_barrier, barrier)
    WW_CASE(s_trap, trap)
    WW_CASE(s_sethalt, halt_if_asked)
    WW_CASE(s_sendmsghalt, halt)
    WW_CASE(s_endpgm, end_program)
#undef WW_CASE
    default: break;
  }
  // NOLINTEND(bugprone-branch-clone)
  if (const Opcode older = name_before_gfx11(opcode); older != opcode) return semantics(older);
  const Handler newer = semantics_gfx9(opcode);
  return newer != nullptr ? newer : semantics_gfx10(opcode);
}

// How wide the sources are: a constant is widened when the instruction is lowered.
int source_bits(Opcode opcode, std::size_t source) {
  const std::string_view name = binpatch::isa::mnemonic(opcode);
  const bool wide = name.ends_with("b64") || name.ends_with("i64") || name.ends_with("u64");
  if (!wide) return 32;
  const bool second_narrow = opcode == Opcode::s_lshl_b64 || opcode == Opcode::s_lshr_b64 ||
                             opcode == Opcode::s_ashr_i64 || opcode == Opcode::s_bfe_u64 ||
                             opcode == Opcode::s_bfe_i64 || opcode == Opcode::s_bitcmp0_b64 ||
                             opcode == Opcode::s_bitcmp1_b64 || opcode == Opcode::s_bfm_b64;
  const bool all_narrow = opcode == Opcode::s_bitset0_b64 || opcode == Opcode::s_bitset1_b64 ||
                          opcode == Opcode::s_bfm_b64;
  return all_narrow || (second_narrow && source == 1) ? 32 : 64;
}

Unit unit_of(Encoding encoding, Opcode opcode) {
  if (binpatch::isa::mnemonic(opcode).starts_with("s_waitcnt")) return Unit::internal;
  if (encoding != Encoding::sopp) {
    const bool jumps = opcode == Opcode::s_setpc_b64 || opcode == Opcode::s_swappc_b64 ||
                       opcode == Opcode::s_call_b64;
    return jumps ? Unit::branch : Unit::salu;
  }
  return binpatch::isa::mnemonic(opcode).find("branch") != std::string_view::npos ? Unit::branch
                                                                                  : Unit::internal;
}

// Which registers an indexed move reaches is not known before. The others ask for the time, the
// program counter or what is on its way.
bool is_straight(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_getreg_b32:
    case Opcode::s_setreg_b32:
    case Opcode::s_setreg_imm32_b32:
    case Opcode::s_getpc_b64:
    case Opcode::s_sendmsg_rtn_b64:
    case Opcode::s_movrels_b32:
    case Opcode::s_movrels_b64:
    case Opcode::s_movreld_b32:
    case Opcode::s_movreld_b64: return false;
    default: return true;
  }
}

}  // namespace

bool lower_scalar(const Instruction& instruction, MicroOp& op) {
  op.run = semantics(instruction.opcode);
  if (op.run == nullptr) return false;
  op.unit = unit_of(instruction.encoding, instruction.opcode);
  op.straight = op.unit == Unit::salu && is_straight(instruction.opcode);
  op.immediate = instruction.modifiers.immediate;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& source = instruction.src[i];
    if (source.kind == binpatch::isa::OperandKind::none) continue;
    if (const auto index = scalar_index(source)) {
      op.kind[i] = Source::scalar;
      op.source[i] = *index;
    } else {
      op.kind[i] = Source::constant;
      op.scalar.constant[i] = constant_value(source, source_bits(instruction.opcode, i), false);
    }
  }
  if (instruction.dst[0].kind != binpatch::isa::OperandKind::none) {
    const auto index = target_index(instruction.dst[0]);
    if (!index) return false;
    op.destination = *index;
  }
  return true;
}

}  // namespace ww::sim::gpu::exec
