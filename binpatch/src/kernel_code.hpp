// A kernel's instructions, decoded from its entry, and what the patcher asks of them.
#pragma once

#include <optional>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch {

struct PlacedInstruction {
  std::uint64_t offset{};  // from the kernel's entry
  isa::Instruction instruction;
};

class KernelCode {
 public:
  // Decodes all of the kernel's code. Error bad_data at an instruction that cannot be decoded.
  static Result<KernelCode> decode(const CodeObject& object, const Kernel& kernel,
                                   isa::Generation generation);

  // Bytes from the entry to the end of the last instruction.
  [[nodiscard]] std::uint64_t extent() const {
    return instructions_.empty()
               ? 0
               : instructions_.back().offset + instructions_.back().instruction.size_bytes;
  }
  [[nodiscard]] const std::vector<PlacedInstruction>& instructions() const { return instructions_; }
  // Decodes `bytes` from their start to where the code ends: behind the last instruction that any
  // branch before it reaches. What follows may be padding, data or other kernels.
  static Result<KernelCode> decode_reachable(std::span<const std::byte> bytes, std::string kernel,
                                             isa::Generation generation);

  // The position of the instruction that begins at `offset` from the entry, if one does.
  [[nodiscard]] std::optional<std::size_t> at_offset(std::uint64_t offset) const;

  // Returns by position whether control comes there from the entry. Where some path cannot be
  // followed (a computed target), every instruction counts as reached.
  [[nodiscard]] std::vector<bool> reached() const;

  // Whether the SCC left by instruction `index` may be read. Follows branches both ways; a path
  // ends where SCC is written or the program ends. Error bad_data when a path leaves the kernel's
  // code or its target is computed.
  [[nodiscard]] Result<bool> scc_is_read_after(std::size_t index) const;

 private:
  // Positions that may follow instruction `index`.
  [[nodiscard]] Result<std::vector<std::size_t>> successors(std::size_t index) const;

  std::string kernel_;
  std::vector<PlacedInstruction> instructions_;
};

}  // namespace ww::binpatch
