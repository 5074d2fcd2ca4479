// The host's vector registers while a group of slices goes through a stretch of instructions: which
// of them holds what. A vector register of the wave is loaded when it is first
// read, and written back at the end or when its place is needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fast/translate/slice_assembler.hpp"
#include "fast/translate/slice_group.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

// Names a host register's value: a vector register of the wave, a scalar register or constant in
// all lanes, or, where masks are in vector registers, the slice's part of one.
struct RegisterValue {
  Source kind{};
  std::uint32_t number{};  // of the register; a constant's value
  bool flushed{};          // a copy without denormals
  std::uint32_t slice{};   // of a vector register or mask; all slices share the others
  bool mask{};             // `number` is the first of its scalar registers
  bool operator==(const RegisterValue&) const = default;
};
// Returns the value of source i, or of its second register.
[[nodiscard]] RegisterValue source_of(const MicroOp& op, std::size_t i, unsigned word = 0);

class SliceRegisters {
 public:
  // `retained`: the wave's registers keep what they held until write_back(); the caller ends where
  // they are crowded(). A read() and the like of a vector register is that of the slice which began
  // last. Throws Xbyak::Error where an instruction needs more than the host has.
  SliceRegisters(SliceAssembler& host, std::span<const MicroOp* const> code, std::uint32_t slices,
                 bool retained)
      : host_(host),
        code_(code),
        slices_(slices),
        count_(registers_of(host.vectors(), host.masked())),
        retained_(retained) {}

  // Instruction `at` of the code begins on a slice: registers of what came before it may be given
  // away.
  void begin(std::size_t at, std::uint32_t slice);
  // Ends the code, where no instruction follows.
  void end() { begin(code_.size(), slice_); }
  // Returns a register that may be read and not be changed.
  [[nodiscard]] Vector read(RegisterValue value);
  // A copy that read() gave before, and still has; nothing where it has not.
  [[nodiscard]] std::optional<Vector> find(RegisterValue value);
  // Allocates a register as allocate() does, to be filled with `value`.
  [[nodiscard]] Vector allocate_for(RegisterValue value);
  // Allocates a host register with undefined contents.
  [[nodiscard]] Vector allocate();
  // The caller needs it no longer, which came from read(), find() or allocate_for(). Of use where
  // there are few registers.
  void release(Vector vector);
  // `result` is now the wave's vector register; it came from allocate().
  void bind(std::uint32_t vector, Vector result, bool flushed);
  // `target`, which read() gave, was changed in some lanes.
  void changed(Vector target, bool flushed);
  // `mask`, which came from allocate(), is now that of the scalar register.
  void bind_mask(std::uint32_t scalar, Vector mask);
  // Whether an instruction on all slices may not find enough registers whose contents need not be
  // written back.
  [[nodiscard]] bool crowded(const MicroOp& op) const;
  // Classes of vfpclass that have to be ruled out before the register's values may be used by all
  // instructions.
  void suspect(Vector vector, std::uint8_t classes) { place_of(vector).suspected |= classes; }
  [[nodiscard]] std::uint8_t suspected(Vector vector) const { return place_of(vector).suspected; }
  // Lists the suspected registers that write_back() will write.
  [[nodiscard]] std::vector<Suspect> suspects() const;
  void ruled_out(Vector vector) { place_of(vector).suspected = 0; }
  // Whether denormals cannot be there.
  [[nodiscard]] bool flushed(Vector vector) const { return place_of(vector).flushed; }
  void write_back();

 private:
  struct Place {
    RegisterValue value;
    bool taken{};
    bool dirty{};
    bool flushed{};
    std::uint8_t pinned{};  // how often the present instruction uses it
    std::uint8_t suspected{};
  };
  [[nodiscard]] Place& place_of(Vector vector) {
    return place_[static_cast<std::size_t>(vector.getIdx())];
  }
  [[nodiscard]] const Place& place_of(Vector vector) const {
    return place_[static_cast<std::size_t>(vector.getIdx())];
  }
  [[nodiscard]] RegisterValue of_this_slice(RegisterValue value) const;
  [[nodiscard]] Xbyak::Address spill_slot(RegisterValue vector) const;
  [[nodiscard]] std::size_t next_use(RegisterValue value) const;
  std::uint32_t free_place();

  SliceAssembler& host_;
  std::span<const MicroOp* const> code_;
  std::uint32_t slices_;
  std::uint32_t count_;
  bool retained_;
  std::size_t at_{};
  std::uint32_t slice_{};
  std::array<Place, registers_of(HostVectors::avx512, false)> place_{};
};

}  // namespace ww::sim::gpu::exec::translate
