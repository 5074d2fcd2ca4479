// Host code for instructions on a group of slices, 16 lanes each.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <span>

#include "isa/straight_line.hpp"
#include "translate/operation.hpp"
#include "translate/slice_registers.hpp"

namespace ww::sim::gpu::exec::translate {

inline constexpr std::uint32_t kSign = 0x80000000;  // of a float
inline constexpr std::uint32_t kOne = 0x3F800000;
inline constexpr std::uint8_t kQuietNan = 0x01;  // classes of vfpclass
inline constexpr std::uint8_t kDenormal = 0x20;
inline constexpr std::uint8_t kSignallingNan = 0x80;
// What x86 makes, and what AMD makes; the host registers have them throughout.
inline constexpr Xbyak::Zmm kHostNan = Xbyak::util::zmm30;
inline constexpr Xbyak::Zmm kDeviceNan = Xbyak::util::zmm31;

// Each instruction is written for one slice of the group after the other, with host registers of
// its own for each, so that the host has something to do while a slice waits for its own results.
//
// A group can be done in two ways. The careful one makes of each float what a device would: it has
// its own NaN, and flushes denormals in its own way. The hopeful one leaves these out, which takes
// a few times less, and finds out at the end whether there was anything to do; if so, nothing of
// the wave has changed yet, and the careful way begins anew. A NaN comes through to a result, where
// it is seen, or does not matter. Of denormals the host's own flags tell, of operands and of
// inexact results; exact ones are seen in the results.
class SliceCode {
 public:
  using Zmm = Xbyak::Zmm;
  using Opmask = Xbyak::Opmask;

  // `flush`: the mode of the floats. `masked`: k1 has the enabled lanes, of one slice; otherwise
  // all are.
  // `careful`: where to go on if hope fails; null: careful from the start.
  SliceCode(Xbyak::CodeGenerator& assembler, Literals& literals,
            std::span<const MicroOp* const> code, std::uint32_t slices, bool flush, bool masked,
            Xbyak::Label* careful)
      : a_(assembler),
        literals_(literals),
        registers_(assembler, literals, code, slices, masked, careful != nullptr),
        code_(code),
        slices_(slices),
        mode_flush_(flush),
        masked_(masked),
        careful_(careful) {}

  // Whether hope saves more at the front of the code than its checks take.
  [[nodiscard]] static bool worth_hoping(std::span<const MicroOp* const> code);

  // How many instructions were written, as many as are best done together; 0 where one cannot be
  // translated after all.
  std::size_t write();
  // Whether it did anything that may have to be done again carefully.
  [[nodiscard]] bool may_give_up() const { return may_give_up_; }
  // Clears the host's flags where one of them is set.
  static void clear_flags(Xbyak::CodeGenerator& assembler);

 private:
  static constexpr std::uint8_t kDenormalOperand = 0x02;  // flags of mxcsr
  static constexpr std::uint8_t kUnderflow = 0x10;
  static constexpr std::uint8_t kAllFlags = 0x3F;

  bool instruction(const MicroOp& op);
  bool integer(const MicroOp& op, Operation operation, Zmm r);
  bool with_mask(const MicroOp& op, Operation operation, Zmm r);
  bool shifts(const MicroOp& op, Operation operation, Zmm r);
  bool products(const MicroOp& op, Operation operation, Zmm r);
  bool conversion(const MicroOp& op, Operation operation, Zmm r);
  bool floating(const MicroOp& op, Operation operation, Zmm r);
  bool division(const MicroOp& op, Operation operation, Zmm r);
  void divide_scale(const MicroOp& op, Zmm r);
  bool divide_fused(const MicroOp& op, Zmm r);
  void divide_fix(const MicroOp& op, Zmm r);
  void compare(const MicroOp& op, Operation operation);

  void compare_class(const MicroOp& op);

  // Whether it writes a mask that would be needed to begin anew.
  [[nodiscard]] bool loses_mask(const MicroOp& op) const;
  // On to the careful way if there are such lanes.
  void give_up_where(Opmask lanes);
  // Gives up where a suspected register would be taken as it is: as source of an instruction that
  // has no hopeful way, or at the end.
  void rule_out_sources(const MicroOp& op);
  void rule_out_results();
  // Gives up where a numerator or denominator takes more than the plain steps of a division.
  void rule_out_wild(Zmm x, Zmm y);
  // Lanes of a suspected register that hold what is to be ruled out; it is suspected no longer.
  void find_suspects(Zmm r, Opmask found);
  // Where a result goes on the hopeful way: what disabled lanes hold must not set flags.
  [[nodiscard]] Zmm result(Zmm r) const {
    return hoping_ && masked_ ? r | Xbyak::util::k1 | Xbyak::util::T_z : r;
  }
  // Source i with its modifiers.
  Zmm source(const MicroOp& op, std::size_t i);
  Zmm modified(const MicroOp& op, std::size_t i, Zmm held);
  // The same without denormals where `flush`.
  Zmm number(const MicroOp& op, std::size_t i, bool flush);
  // Source i as a constant without modifiers.
  [[nodiscard]] static bool constant(const MicroOp& op, std::size_t i, std::uint32_t& value);
  // A distance modulo 32.
  Zmm distance(const MicroOp& op, std::size_t i);
  enum class Shift : std::uint8_t { left, right, right_signed };
  // r = value shifted by source i.
  void shift(Shift kind, Zmm r, Zmm value, const MicroOp& op, std::size_t i);
  void flush_denormals(Zmm r);
  void choose_of_two(bool least, Zmm r, Zmm x, Zmm y);
  void finish_float(Zmm r, bool flush);
  // Where the wave has the slice's part.
  [[nodiscard]] Xbyak::Address home(std::uint32_t mask) const;
  Opmask read_mask(std::uint32_t index);
  Opmask new_mask();
  // k4 to k7 are to be used otherwise.
  void forget_masks() { mask_of_.fill({}); }
  void write_mask(std::uint32_t index, Opmask mask);
  void low_24(const MicroOp& op, std::size_t i, bool is_signed, Zmm r);
  // Enabled lanes alone, for what writes a mask.
  [[nodiscard]] Opmask enabled(Opmask mask) const {
    return masked_ ? mask | Xbyak::util::k1 : mask;
  }

  Xbyak::CodeGenerator& a_;
  Literals& literals_;
  SliceRegisters registers_;
  std::span<const MicroOp* const> code_;
  std::uint32_t slices_;
  std::uint32_t slice_{};  // whose code is being written
  bool mode_flush_;
  bool masked_;
  Xbyak::Label* careful_;
  bool hoping_{};         // in this instruction
  std::uint8_t flags_{};  // that would say that hope failed
  bool may_give_up_{};
  RegisterSet masks_read_, masks_written_;
  // Masks of the wave in k4 to k7, by the scalar register where they begin.
  static constexpr std::uint32_t kFirstMask = 4;
  static constexpr std::uint32_t kNoMask = kScalarFile + 2;
  struct HeldMask {
    std::uint32_t index{kNoMask};
    std::uint32_t slice{};
    bool operator==(const HeldMask&) const = default;
  };
  std::array<HeldMask, 4> mask_of_{};
  std::uint32_t next_mask_{};
};

}  // namespace ww::sim::gpu::exec::translate
