#include "fast/translate/slice_group.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "fast/translate/operation.hpp"
#include "fast/translate/slice_assembler.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

// Shorter chains are done while other slices' are, although these come behind them.
constexpr std::uint32_t kMinChain = 24;
// Where a part is this long, loading and storing its registers takes little of its time; and if
// hope fails, not too much has to be done again.
constexpr std::size_t kMaxInstructions = 128;

std::uint32_t time_of(Action action) {
  switch (action) {
    case Action::float_multiply_add:
    case Action::double_add:
    case Action::double_multiply:
    case Action::double_fused: return 2;
    case Action::float_reciprocal:
    case Action::float_root: return 4;
    case Action::float_reciprocal_root:
    case Action::double_reciprocal:
    case Action::double_root: return 8;
    case Action::double_reciprocal_root: return 16;
    default: return 1;
  }
}

// Registers that instructions need beside sources and result.
std::uint32_t temporaries_of(Action action) {
  switch (action) {
    case Action::float_add:
    case Action::float_subtract:
    case Action::float_multiply:
    case Action::float_multiply_add:
    case Action::float_fused:
    case Action::float_least:
    case Action::float_most: return 0;
    case Action::double_add:
    case Action::double_multiply:
    case Action::double_fused:
    case Action::double_reciprocal:
    case Action::double_reciprocal_root:
    case Action::double_root: return 6;  // both halves of three sources, or of one and a constant
    case Action::compare_class: return 8;
    case Action::divide_scale:
    case Action::divide_fused:
    case Action::divide_fix: return 6;
    default: return 4;
  }
}

// Temporaries where masks are in vector registers, and constants in memory.
std::uint32_t narrow_temporaries_of(const MicroOp& op, Operation operation) {
  switch (operation.action) {
    case Action::add_carry:
    case Action::compare_class:
    case Action::float_median: return 4;
    case Action::extract_signed: return 3;
    case Action::align_bits:
    case Action::extract:
    case Action::multiply_high: return 2;
    case Action::divide_scale:
    case Action::divide_fused:
    case Action::divide_fix: return can_hope(op, operation) ? 4 : 10;
    case Action::bit_and:
    case Action::bit_or:
    case Action::bit_xor:
    case Action::add:
    case Action::subtract: return 0;
    default: return std::min(temporaries_of(operation.action), 1U);
  }
}

// Adds vectors that have to be in registers all the time. Where there are few registers, these are
// the written ones alone: the others are read again.
void add_vectors(const MicroOp& op, HostVectors host, std::vector<std::uint32_t>& vectors) {
  const auto add = [&](std::uint32_t number) {
    if (std::ranges::find(vectors, number) == vectors.end()) vectors.push_back(number);
  };
  for (std::size_t i = 0; host != HostVectors::avx2 && i < sources_of(op); ++i) {
    for (unsigned word = 0; op.kind[i] == Source::vgpr && word < words_of(op, i); ++word) {
      add(op.source[i] + word);
    }
  }
  for (unsigned word = 0; word < results_of(op); ++word) add(op.destination + word);
}

}  // namespace

void Chain::add(const MicroOp& op) {
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < sources_of(op); ++i) {
    for (unsigned word = 0; op.kind[i] == Source::vgpr && word < words_of(op, i); ++word) {
      begin = std::max(begin, until_[op.source[i] + word]);
    }
  }
  const std::uint32_t end = begin + time_of(operation_of(op.opcode).action);
  for (unsigned word = 0; word < results_of(op); ++word) until_[op.destination + word] = end;
  length_ = std::max(length_, end);
}

// Two are for the result and for what disabled lanes keep. A source may be in three: as the wave
// has it, with its modifiers and, of a float that is not hoped for, without denormals.
std::uint32_t registers_for(const MicroOp& op, HostVectors vectors) {
  const Operation operation = operation_of(op.opcode);
  const bool doubles = is_double(operation.action);
  const bool flushes =
      operation.action >= Action::compare_float && !doubles && !can_hope(op, operation);
  const int modified = std::popcount((op.vector.abs | op.vector.neg) & 7U);
  std::uint32_t sources = 0;
  for (std::size_t i = 0; i < sources_of(op); ++i) sources += words_of(op, i);
  // Sources are read one after the other, each into two registers.
  if (vectors == HostVectors::avx2 && doubles) return 10;
  if (vectors == HostVectors::avx2) return 2 + narrow_temporaries_of(op, operation) + sources + 1;
  return 2 + temporaries_of(operation.action) + static_cast<std::uint32_t>(modified) +
         (flushes ? 2 * sources : sources);
}

std::uint32_t registers_for_all(const MicroOp& op, HostVectors vectors, std::uint32_t slices) {
  return registers_for(op, vectors) + (slices - 1) * register_count(op.result);
}

Group group_for(std::span<const MicroOp* const> code, HostVectors vectors) {
  const std::uint32_t registers = registers_of(vectors, false);
  const std::size_t most = std::min(kMaxInstructions, code.size());
  for (std::uint32_t slices = shape_of(vectors).slices(); slices > 1; slices /= 2) {
    std::vector<std::uint32_t> used;
    Chain chain;
    std::size_t count = 0;
    for (; count < most; ++count) {
      const MicroOp& op = *code[count];
      add_vectors(op, vectors, used);
      // Scalars and constants have what is left: all slices share them, and they are read again at
      // little cost.
      if (slices * used.size() + registers_for_all(op, vectors, slices) > registers) break;
      chain.add(op);
    }
    // If a slice has few lanes, what each group takes beside its instructions counts as well.
    const bool is_all = vectors == HostVectors::avx2 && count == code.size();
    if (chain.length() >= kMinChain || is_all) return {slices, count};
  }
  return {1, code.size()};
}

}  // namespace ww::sim::gpu::exec::translate
