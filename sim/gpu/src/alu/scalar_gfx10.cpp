// Scalar instructions that gfx10 adds: masks of 32 lanes, a counter for stores, hints. Source: AMD
// RDNA 2 ISA, chapters 5, 6 and 12.
#include "alu/scalar_gfx10.hpp"

#include <algorithm>

#include "alu/scalar_values.hpp"
#include "compute_unit/compute_unit.hpp"
#include "isa/operands.hpp"

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
  // NOLINTBEGIN(bugprone-branch-clone): a line an opcode, and some do alike
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
#undef WW_CASE
    default: return nullptr;
  }
  // NOLINTEND(bugprone-branch-clone)
}

}  // namespace ww::sim::gpu::exec
