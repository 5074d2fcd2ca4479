// Two vector instructions in one. RDNA3 ISA, section "Dual issue VALU": both read their sources
// before either writes.
#include <array>
#include <cstring>

#include "machine/alu/alu.hpp"

namespace ww::sim::gpu::exec {
namespace {

void run_both(Wave& w, const MicroOp& op) {
  for (const MicroOp& half : dual_of(op)) half.run(w, half);
}

// The second reads what the first writes: it is given the old value.
void run_crossed(Wave& w, const MicroOp& op) {
  using Lanes = std::array<std::uint32_t, kLanes>;
  const auto& [first, second] = dual_of(op);
  std::uint32_t* const lanes = w.vgpr(first.destination);
  Lanes old;
  Lanes fresh;
  std::memcpy(old.data(), lanes, sizeof old);
  first.run(w, first);
  std::memcpy(fresh.data(), lanes, sizeof fresh);
  std::memcpy(lanes, old.data(), sizeof old);
  second.run(w, second);
  std::memcpy(lanes, fresh.data(), sizeof fresh);
}

}  // namespace

bool lower_dual(const binpatch::isa::Instruction& instruction, MicroOp& op, ConstantPool& pool,
                Isa isa) {
  std::array<MicroOp, 2> both;
  const auto halves = binpatch::isa::dual_halves(instruction);
  for (std::size_t i = 0; i < 2; ++i) {
    both[i].opcode = halves[i].opcode;
    both[i].dwords = op.dwords;
    if (!lower_vector(halves[i], both[i], pool, isa)) return false;
  }
  op.unit = Unit::valu;
  op.vector = VectorFields{};
  op.vector.at[0] = reinterpret_cast<std::uintptr_t>(pool.keep(both));
  op.run = reads_vector(both[1], both[0].destination) ? run_crossed : run_both;
  op.straight = both[0].straight && both[1].straight;
  return true;
}

}  // namespace ww::sim::gpu::exec
