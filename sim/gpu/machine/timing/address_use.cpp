#include "machine/timing/address_use.hpp"

#include <algorithm>

#include "fast/forms/straight_line.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::timing {
namespace {

using binpatch::isa::Encoding;
using binpatch::isa::Instruction;
using binpatch::isa::Opcode;
using binpatch::isa::Operand;
using binpatch::isa::OperandKind;
using exec::RegisterSet;

bool is_vector(const Operand& operand) {
  return operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
}

// Lane masks are no addresses, and stay out.
std::optional<unsigned> scalar_of(const Operand& operand) {
  const auto index = exec::scalar_index(operand);
  if (!index || *index >= exec::kScalarFile || *index == exec::kVcc || *index == exec::kExec) {
    return std::nullopt;
  }
  return *index;
}

bool has(const RegisterSet& set, const Operand& operand) {
  if (is_vector(operand)) return set.has_vector(exec::vector_index(operand), operand.count);
  const auto scalar = scalar_of(operand);
  return scalar && set.has_scalar(*scalar, operand.count);
}

void change(RegisterSet& set, const Operand& operand, bool add) {
  RegisterSet one;
  if (is_vector(operand)) {
    one.add_vector(exec::vector_index(operand), operand.count);
  } else if (const auto scalar = scalar_of(operand)) {
    one.add_scalar(*scalar, operand.count);
  }
  for (std::size_t i = 0; i < set.vector.size(); ++i) {
    set.vector[i] = add ? set.vector[i] | one.vector[i] : set.vector[i] & ~one.vector[i];
  }
  for (std::size_t i = 0; i < set.scalar.size(); ++i) {
    set.scalar[i] = add ? set.scalar[i] | one.scalar[i] : set.scalar[i] & ~one.scalar[i];
  }
}

bool reads_itself(Opcode opcode) {
  switch (opcode) {
    case Opcode::s_addk_i32:
    case Opcode::s_mulk_i32:
    case Opcode::s_cmovk_i32:
    case Opcode::v_mac_f32:
    case Opcode::v_writelane_b32: return true;
    default: return false;
  }
}

// The operands that make up the address of a global access.
bool address_is_tainted(const Instruction& instruction, const RegisterSet& tainted) {
  const auto traits = binpatch::isa::traits(instruction.opcode);
  if (traits.is_lds) return false;
  if (traits.is_scalar_memory) {
    return has(tainted, instruction.src[0]) || has(tainted, instruction.src[1]);
  }
  if (!traits.is_vector_memory) return false;
  if (instruction.encoding == Encoding::flat) {
    return has(tainted, instruction.src[0]) || has(tainted, instruction.src[2]);
  }
  return has(tainted, instruction.src[0]) || has(tainted, instruction.src[1]) ||
         has(tainted, instruction.src[2]);
}

void apply(const Instruction& instruction, bool marked, RegisterSet& tainted) {
  const auto traits = binpatch::isa::traits(instruction.opcode);
  bool taints = marked;
  if (!traits.is_vector_memory && !traits.is_scalar_memory && !traits.is_lds) {
    for (const Operand& source : instruction.src) taints = taints || has(tainted, source);
    taints = taints || (reads_itself(instruction.opcode) && has(tainted, instruction.dst[0]));
  }
  for (const Operand& destination : instruction.dst) change(tainted, destination, taints);
}

// Adds what is new; whether anything was.
bool merge(RegisterSet& into, const RegisterSet& from) {
  const RegisterSet before = into;
  into.add(from);
  return into.vector != before.vector || into.scalar != before.scalar;
}

}  // namespace

std::optional<std::uint32_t> find_address_use(std::span<const std::byte> code,
                                              binpatch::isa::Generation generation,
                                              std::uint32_t entry, const std::vector<bool>& loads) {
  struct Place {
    RegisterSet tainted;
    bool seen{};
  };
  std::vector<Place> places(code.size() / 4);
  std::vector<std::uint32_t> work;
  std::optional<std::uint32_t> found;
  const auto flow = [&](std::uint32_t to, const RegisterSet& tainted) {
    if (to >= places.size()) return;
    const bool more = merge(places[to].tainted, tainted) || !places[to].seen;
    places[to].seen = true;
    if (more) work.push_back(to);
  };
  flow(entry, {});
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    work.pop_back();
    const auto decoded = binpatch::isa::decode(generation, code.subspan(std::size_t{at} * 4));
    if (!decoded) continue;
    RegisterSet tainted = places[at].tainted;
    if (address_is_tainted(*decoded, tainted)) found = std::min(found.value_or(at), at);
    apply(*decoded, at < loads.size() && loads[at], tainted);
    const auto traits = binpatch::isa::traits(decoded->opcode);
    const std::uint32_t next = at + decoded->size_bytes / 4U;
    if (traits.is_branch && decoded->encoding == Encoding::sopp) {
      flow(next + static_cast<std::uint32_t>(decoded->modifiers.immediate), tainted);
    }
    if (!traits.is_terminator) flow(next, tainted);
  }
  return found;
}

}  // namespace ww::sim::gpu::timing
