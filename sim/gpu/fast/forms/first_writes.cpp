#include "fast/forms/first_writes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::uint8_t kTimeWords = 2;  // of s_memtime

enum class Content : std::uint8_t { old, coming, written, read };

// Follows the code and notes the content of each register.
class Registers {
 public:
  Registers(std::uint32_t given, std::uint32_t vgprs) : known_(vgprs, Content::old) {
    write(0, given);
  }
  // Notes a read, also of a register that a load will still write: it may come too early.
  void read(std::size_t first, std::size_t count) {
    for_each(first, count, [](Content& content) {
      if (content != Content::written) content = Content::read;
    });
  }
  void write(std::size_t first, std::size_t count) {
    for_each(first, count, [](Content& content) {
      if (content == Content::old) content = Content::written;
      if (content == Content::coming) content = Content::read;  // in which order is not known
    });
  }
  void load(std::size_t first, std::size_t count) {
    for_each(first, count, [](Content& content) {
      if (content == Content::old) content = Content::coming;
    });
  }
  void loads_end() {
    std::replace(known_.begin(), known_.end(), Content::coming, Content::written);
  }
  void read_the_rest() { read(0, known_.size()); }

  [[nodiscard]] std::vector<RegisterSpan> spans() const {
    std::vector<RegisterSpan> spans;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i] != Content::read) continue;
      if (i == 0 || known_[i - 1] != Content::read) {
        spans.push_back({static_cast<std::uint16_t>(i), 0});
      }
      ++spans.back().count;
    }
    return spans;
  }

 private:
  template <class F>
  void for_each(std::size_t first, std::size_t count, F f) {
    for (std::size_t i = first; i < std::min(first + count, known_.size()); ++i) f(known_[i]);
  }
  std::vector<Content> known_;
};

std::size_t words_written(Destination result) {
  switch (result) {
    case Destination::vgpr: return 1;
    case Destination::vgpr_pair: return 2;
    default: return 0;
  }
}

// A plain one writes all of its registers while all lanes are enabled. False where it may change
// which are.
bool follow_vector(const MicroOp& op, Registers& registers) {
  if (!op.straight || op.plain == Plain::no || op.result == Destination::vgpr_quad) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (op.kind[i] != Source::vgpr) continue;
    registers.read(op.source[i], (op.vector.wide >> i & 1U) != 0 ? 2 : 1);
  }
  registers.write(op.destination, words_written(op.result));
  return op.plain == Plain::lanes || op.destination2 + 1U < kExec;
}

bool follow_scalar(const MicroOp& op) {
  const std::string_view name = binpatch::isa::mnemonic(op.opcode);
  const bool may_enable_lanes = op.destination + 1U >= kExec ||
                                name.find("exec") != std::string_view::npos ||
                                name.find("movrel") != std::string_view::npos;
  return op.straight && !may_enable_lanes;
}

bool follow_memory(const MicroOp& op, Registers& registers) {
  const MemoryFields& m = op.memory;
  if (m.element_bytes == 0) return true;  // for the caches
  constexpr std::size_t kMaxAddressWords = 2;
  if (m.separate) {
    for (unsigned i = 0; i < m.parts; ++i) registers.read(image_address(m, i), 1);
  } else {
    registers.read(m.address, std::max<std::size_t>(kMaxAddressWords, m.parts));
  }
  const std::size_t words = m.element_bytes < 4 ? 1U : m.element_bytes / 4U;
  switch (m.kind) {
    case MemoryKind::load:
      if (m.half != 0) return false;  // leaves the other half
      registers.load(op.destination, words);
      return true;
    case MemoryKind::store: registers.read(op.source[3], words); return true;
    default: return false;
  }
}

}  // namespace

std::vector<RegisterSpan> read_before_written(const MicroOp* code, std::uint32_t code_dwords,
                                              std::uint32_t entry, std::uint32_t given,
                                              std::uint32_t vgprs) {
  Registers registers(given, vgprs);
  bool goes_on = true;
  for (std::uint32_t pc = entry; goes_on && pc < code_dwords; pc += code[pc].dwords) {
    const MicroOp& op = code[pc];
    if (op.opcode == Opcode::s_endpgm) return registers.spans();
    if (op.opcode == Opcode::s_waitcnt) {
      if ((op.immediate & 15) == 0) registers.loads_end();
      continue;
    }
    if (op.opcode == Opcode::s_nop) continue;
    switch (op.unit) {
      case Unit::valu: goes_on = follow_vector(op, registers); break;
      case Unit::salu: goes_on = follow_scalar(op); break;
      case Unit::smem:
        goes_on = op.destination + std::max(op.memory.parts, kTimeWords) < kExec;
        break;
      case Unit::vmem: goes_on = follow_memory(op, registers); break;
      default: goes_on = false; break;
    }
  }
  registers.read_the_rest();
  return registers.spans();
}

}  // namespace ww::sim::gpu::exec
