// Host code for instructions on a group of slices.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <span>

#include "fast/forms/straight_line.hpp"
#include "fast/translate/operation.hpp"
#include "fast/translate/slice_assembler.hpp"
#include "fast/translate/slice_masks.hpp"
#include "fast/translate/slice_registers.hpp"

namespace ww::sim::gpu::exec::translate {

// Each instruction is written for one slice of the group after the other, with host registers of
// its own for each, so that the host has something to do while a slice waits for its own results.
//
// A group can be done in two ways. The careful one makes of each float what a device would: it has
// its own NaN, and flushes denormals in its own way. The hopeful one leaves these out, which takes
// a few times less, and finds out at the end whether there was anything to do; if so, nothing of
// the wave has changed yet, and the careful way begins anew. A NaN comes through to a result, where
// it is seen, or does not matter. The host's own flags report denormals of operands and of inexact
// results; exact ones are seen in the results.
class SliceCode {
 public:
  // `mode`: of the floats. Where the host's lanes are masked, the enabled ones of one
  // slice have been read. `careful`: where to go on if hope fails; null: careful from the start.
  SliceCode(SliceAssembler& host, std::span<const MicroOp* const> code, std::uint32_t slices,
            FloatMode mode, Xbyak::Label* careful)
      : host_(host),
        a_(host.generator()),
        literals_(host.literals()),
        registers_(host, code, slices, careful != nullptr),
        masks_(host, registers_),
        code_(code),
        slices_(slices),
        mode_flush_(mode.flush),
        mode_ieee_(mode.ieee),
        masked_(host.masked()),
        careful_(careful) {}

  // Whether hope saves more at the front of the code than its checks take.
  [[nodiscard]] static bool worth_hoping(std::span<const MicroOp* const> code, HostVectors vectors,
                                         std::uint32_t slices);

  // How many instructions were written, as many as are best done together; 0 where one cannot be
  // translated after all.
  std::size_t write();
  // Whether it did anything that may have to be done again carefully.
  [[nodiscard]] bool may_give_up() const { return may_give_up_; }
  // Clears the host's flags where one of them is set.
  static void clear_flags(Xbyak::CodeGenerator& assembler);

 private:
  static constexpr std::uint8_t kInvalid = 0x01;
  static constexpr std::uint8_t kDenormalOperand = 0x02;  // flags of mxcsr
  static constexpr std::uint8_t kUnderflow = 0x10;
  static constexpr std::uint8_t kAllFlags = 0x3F;

  bool instruction(const MicroOp& op);
  bool integer(const MicroOp& op, Operation operation, Vector r);
  bool with_mask(const MicroOp& op, Operation operation, Vector r);
  bool shifts(const MicroOp& op, Operation operation, Vector r);
  bool products(const MicroOp& op, Operation operation, Vector r);
  bool conversion(const MicroOp& op, Operation operation, Vector r);
  bool floating(const MicroOp& op, Operation operation, Vector r);
  bool division(const MicroOp& op, Operation operation, Vector r);
  bool doubles(const MicroOp& op, Operation operation);
  void divide_scale(const MicroOp& op, Vector r);
  bool divide_fused(const MicroOp& op, Vector r);
  void divide_fix(const MicroOp& op, Vector r);
  void compare(const MicroOp& op, Operation operation);

  void compare_class(const MicroOp& op);

  // Whether it writes a mask that would be needed to begin anew.
  [[nodiscard]] bool loses_mask(const MicroOp& op) const;
  // Jumps to the careful way if there are such lanes.
  void give_up_where(Mask lanes);
  void give_up_at(std::span<const Suspect> suspects);
  // Gives up where a suspected register would be taken as it is: as source of an instruction that
  // has no hopeful way, or at the end.
  void rule_out_sources(const MicroOp& op);
  void rule_out_results();
  // Gives up where a numerator or denominator takes more than the plain steps of a division.
  void rule_out_wild(Vector x, Vector y);
  // Register of a result on the hopeful way: what disabled lanes hold must not set flags.
  [[nodiscard]] Vector result(Vector r) const {
    return hoping_ && masked_ ? host_.without_disabled(r) : r;
  }
  // The slice's doubles, half of them in each of two registers, so that the words of each are side
  // by side.
  struct Doubles {
    Vector first;
    Vector second;
  };
  // Source i with its modifiers, in registers of its own.
  Doubles double_source(const MicroOp& op, std::size_t i);
  // Computes the operation's result of its sources, in `x`; false where it cannot be translated.
  // `spare`: registers whose contents are no longer needed.
  bool double_result(const MicroOp& op, Action action, Doubles& x, Doubles& spare);
  // `result` is the wave's vector register from now on, in enabled lanes.
  void set_vector(std::uint32_t vector, Vector result, bool flushed, std::uint8_t suspected);
  // Source i with its modifiers.
  Vector source(const MicroOp& op, std::size_t i);
  Vector modified(const MicroOp& op, std::size_t i, Vector held);
  // Returns source i with its modifiers, without denormals where `flush`.
  Vector number(const MicroOp& op, std::size_t i, bool flush);
  // Returns source i, perhaps in memory: where there are few registers, a constant is read there,
  // as it is without denormals and with its modifiers.
  Value value(const MicroOp& op, std::size_t i) { return number_value(op, i, false); }
  Value number_value(const MicroOp& op, std::size_t i, bool flush);
  // A source in a register and one that may be in memory.
  struct TwoSources {
    Vector x;
    Value y;
  };
  // The first two of an instruction to which their order is nothing.
  TwoSources either_order(const MicroOp& op);
  // Sources i and j, of which either may come first unless both are NaNs: then it is i.
  TwoSources two_numbers(const MicroOp& op, std::size_t i, std::size_t j, bool flush);
  [[nodiscard]] bool is_in_memory(const MicroOp& op, std::size_t i) const {
    return host_.is_narrow() && op.kind[i] == Source::constant;
  }
  // Either of it and another number may come first.
  [[nodiscard]] bool may_come_last(const MicroOp& op, std::size_t i) const {
    return is_in_memory(op, i) && (constant_of(op, i) & ~kSign) <= kExponent;
  }
  // Source i as a constant without modifiers.
  [[nodiscard]] static bool constant(const MicroOp& op, std::size_t i, std::uint32_t& value);
  // A distance modulo 32.
  Vector distance(const MicroOp& op, std::size_t i);
  enum class Shift : std::uint8_t { left, right, right_signed };
  // r = value shifted by source i.
  void shift(Shift kind, Vector r, Vector value, const MicroOp& op, std::size_t i);
  // One that is read now and then: where there are few registers, it stays in memory.
  [[nodiscard]] Value constant_value(std::uint32_t value);
  void choose_of_two(bool least, Vector r, Vector x, Vector y);
  void finish_float(Vector r, bool flush);
  // Place of the slice's part in the wave, from kMasks on.
  [[nodiscard]] std::uint32_t home(std::uint32_t mask) const;
  Mask read_mask(std::uint32_t index);
  void write_mask(std::uint32_t index, Mask mask);
  void low_24(const MicroOp& op, std::size_t i, bool is_signed, Vector r);
  // Enabled lanes alone, for what writes a mask.
  [[nodiscard]] Mask enabled(Mask mask) const {
    return masked_ ? within(mask, host_.enabled()) : mask;
  }

  SliceAssembler& host_;
  Xbyak::CodeGenerator& a_;
  Literals& literals_;
  SliceRegisters registers_;
  SliceMasks masks_;
  std::span<const MicroOp* const> code_;
  std::uint32_t slices_;
  std::uint32_t slice_{};  // whose code is being written
  bool mode_flush_;
  bool mode_ieee_;
  bool masked_;
  Xbyak::Label* careful_;
  bool hoping_{};         // in this instruction
  std::uint8_t flags_{};  // that would say that hope failed
  bool may_give_up_{};
  RegisterSet masks_read_, masks_written_;
};

}  // namespace ww::sim::gpu::exec::translate
