// Scalar instructions that gfx10 and gfx11 add: masks of 32 lanes, a counter for stores, hints,
// messages with an answer. Source: AMD RDNA 2 ISA, chapters 5, 6 and 12; RDNA3 ISA, chapters 5 and
// 16.
#include "machine/alu/scalar_gfx10.hpp"

#include <algorithm>

#include "machine/alu/scalar_values.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

// The new exec mask is F(source, exec); the result is the old one, or with `Write` the new one.
template <auto F, bool Write = false>
void mask_exec32(Wave& w, const MicroOp& op) {
  const U32 source = read32(w, op, 0);
  const U32 exec = w.sr[kExec];
  const U32 fresh = F(source, exec);
  w.sr[op.destination] = Write ? fresh : exec;
  w.sr[kExec] = fresh;
  w.scc = fresh != 0;
}

// The waits of one counter each: at most `immediate` are left.
enum class Counted : std::uint8_t { loads, stores, local };
template <Counted What>
void wait_for(Wave& w, const MicroOp& op) {
  const auto most = std::min<unsigned>(static_cast<std::uint16_t>(op.immediate), kCounterDepth);
  const CounterQueue& queue = What == Counted::local ? w.scalar_queue : w.vector_queue;
  const unsigned left =
      What == Counted::local ? most : queue.left_with(most, What == Counted::stores);
  if (queue.count <= left) return;
  constexpr unsigned kAny = kCounterDepth + 1;
  if constexpr (What == Counted::local) {
    w.cu->wait(w, op, kAny, left);
  } else {
    w.cu->wait(w, op, left, kAny);
  }
}

void without_effect(Wave&, const MicroOp&) {}

// The only message that a kernel can do without: it gives back its vector registers as it ends.
void send_message(Wave& w, const MicroOp& op) {
  constexpr U32 kFreeRegisters = 3;
  if ((static_cast<U32>(op.immediate) & 0xFFU) == kFreeRegisters) return;
  w.cu->fault(w, ErrorCode::unsupported, "the virtual GPU cannot send the message of s_sendmsg");
}

void ask_for_time(Wave& w, const MicroOp& op) {
  constexpr std::int32_t kRealtime = 0x83;
  if (op.immediate != kRealtime) {
    w.cu->fault(w, ErrorCode::unsupported,
                "the virtual GPU answers no message of s_sendmsg_rtn but the one for the time");
    return;
  }
  w.cu->read_clock();
  const LaunchState& launch = w.cu->launch();
  w.set_pair(op.destination,
             static_cast<U64>(launch.realtime_base +
                              static_cast<double>(w.now) * launch.realtime_per_cycle));
}

void pack_high_low(Wave& w, const MicroOp& op) {
  w.sr[op.destination] = read32(w, op, 0) >> 16 | read32(w, op, 1) << 16;
}

void set_denormals(Wave& w, const MicroOp& op) {
  w.mode = (w.mode & ~0xF0U) | (static_cast<U32>(op.immediate) & 15U) << 4;
}
void set_rounding(Wave& w, const MicroOp& op) {
  set_mode(w, (w.mode & ~15U) | (static_cast<U32>(op.immediate) & 15U));
}

}  // namespace

void set_mode(Wave& wave, std::uint32_t mode) {
  wave.mode = mode;
  if ((mode & 15U) != 0) {
    wave.cu->fault(wave, ErrorCode::unsupported,
                   "a rounding mode other than to nearest even is not possible on the virtual GPU");
  }
}

Handler semantics_gfx10(Opcode opcode) {
  // NOLINTBEGIN(bugprone-branch-clone): a line an opcode, and some agree
  switch (opcode) {
#define WW_CASE(name, ...) \
  case Opcode::name: return &__VA_ARGS__;
    WW_CASE(s_and_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return s & e; })>)
    WW_CASE(s_or_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return s | e; })>)
    WW_CASE(s_xor_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return s ^ e; })>)
    WW_CASE(s_andn2_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return s & ~e; })>)
    WW_CASE(s_orn2_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return s | ~e; })>)
    WW_CASE(s_nand_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return ~(s & e); })>)
    WW_CASE(s_nor_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return ~(s | e); })>)
    WW_CASE(s_xnor_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return ~(s ^ e); })>)
    WW_CASE(s_andn1_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return ~s & e; })>)
    WW_CASE(s_orn1_saveexec_b32, mask_exec32<([](U32 s, U32 e) { return ~s | e; })>)
    WW_CASE(s_andn1_wrexec_b32, mask_exec32<([](U32 s, U32 e) { return ~s & e; }), true>)
    WW_CASE(s_andn2_wrexec_b32, mask_exec32<([](U32 s, U32 e) { return s & ~e; }), true>)
    WW_CASE(s_waitcnt_vmcnt, wait_for<Counted::loads>)
    WW_CASE(s_waitcnt_vscnt, wait_for<Counted::stores>)
    WW_CASE(s_waitcnt_lgkmcnt, wait_for<Counted::local>)
    WW_CASE(s_waitcnt_expcnt, without_effect)
    WW_CASE(s_waitcnt_depctr, without_effect)
    WW_CASE(s_denorm_mode, set_denormals)
    WW_CASE(s_round_mode, set_rounding)
    WW_CASE(s_version, without_effect)
    WW_CASE(s_clause, without_effect)
    WW_CASE(s_inst_prefetch, without_effect)
    WW_CASE(s_ttracedata_imm, without_effect)
    WW_CASE(s_delay_alu, without_effect)
    WW_CASE(s_set_inst_prefetch_distance, without_effect)
    WW_CASE(s_sendmsg, send_message)
    WW_CASE(s_sendmsg_rtn_b64, ask_for_time)
    WW_CASE(s_pack_hl_b32_b16, pack_high_low)
#undef WW_CASE
    default: return nullptr;
  }
  // NOLINTEND(bugprone-branch-clone)
}

Opcode name_before_gfx11(Opcode opcode) {
  switch (opcode) {
#define WW_NAME(name, older) \
  case Opcode::name: return Opcode::older;
    WW_NAME(s_and_not1_b32, s_andn2_b32)
    WW_NAME(s_and_not1_b64, s_andn2_b64)
    WW_NAME(s_or_not1_b32, s_orn2_b32)
    WW_NAME(s_or_not1_b64, s_orn2_b64)
    WW_NAME(s_ctz_i32_b32, s_ff1_i32_b32)
    WW_NAME(s_ctz_i32_b64, s_ff1_i32_b64)
    WW_NAME(s_clz_i32_u32, s_flbit_i32_b32)
    WW_NAME(s_clz_i32_u64, s_flbit_i32_b64)
    WW_NAME(s_cls_i32, s_flbit_i32)
    WW_NAME(s_cls_i32_i64, s_flbit_i32_i64)
    WW_NAME(s_and_not0_saveexec_b32, s_andn1_saveexec_b32)
    WW_NAME(s_and_not0_saveexec_b64, s_andn1_saveexec_b64)
    WW_NAME(s_and_not1_saveexec_b32, s_andn2_saveexec_b32)
    WW_NAME(s_and_not1_saveexec_b64, s_andn2_saveexec_b64)
    WW_NAME(s_or_not0_saveexec_b32, s_orn1_saveexec_b32)
    WW_NAME(s_or_not0_saveexec_b64, s_orn1_saveexec_b64)
    WW_NAME(s_or_not1_saveexec_b32, s_orn2_saveexec_b32)
    WW_NAME(s_or_not1_saveexec_b64, s_orn2_saveexec_b64)
    WW_NAME(s_and_not0_wrexec_b32, s_andn1_wrexec_b32)
    WW_NAME(s_and_not0_wrexec_b64, s_andn1_wrexec_b64)
    WW_NAME(s_and_not1_wrexec_b32, s_andn2_wrexec_b32)
    WW_NAME(s_and_not1_wrexec_b64, s_andn2_wrexec_b64)
#undef WW_NAME
    default: return opcode;
  }
}

}  // namespace ww::sim::gpu::exec
