// Host code for instructions on 16 lanes.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <span>

#include "translate/operation.hpp"
#include "translate/slice_registers.hpp"

namespace ww::sim::gpu::exec::translate {

inline constexpr std::uint32_t kSign = 0x80000000;  // of a float
inline constexpr std::uint32_t kOne = 0x3F800000;
inline constexpr std::uint8_t kDenormal = 0x20;  // a class of vfpclass
// What x86 makes, and what AMD makes; the host registers have them throughout.
inline constexpr Xbyak::Zmm kHostNan = Xbyak::util::zmm30;
inline constexpr Xbyak::Zmm kDeviceNan = Xbyak::util::zmm31;

class SliceCode {
 public:
  using Zmm = Xbyak::Zmm;
  using Opmask = Xbyak::Opmask;

  // `flush`: the mode of the floats. `masked`: k1 has the enabled lanes; otherwise all are.
  SliceCode(Xbyak::CodeGenerator& assembler, Literals& literals,
            std::span<const MicroOp* const> code, bool flush, bool masked)
      : a_(assembler),
        literals_(literals),
        registers_(assembler, literals, code, masked),
        code_(code),
        mode_flush_(flush),
        masked_(masked) {}

  // What stays in registers over all slices.
  void write_constants();
  // False where an instruction cannot be translated after all.
  bool write();

 private:
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
  Opmask read_mask(std::uint32_t index);
  Opmask new_mask();
  // k4 to k7 are to be used otherwise.
  void forget_masks() { mask_of_.fill(kNoMask); }
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
  bool mode_flush_;
  bool masked_;
  // Masks of the wave in k4 to k7, by the scalar register where they begin.
  static constexpr std::uint32_t kFirstMask = 4;
  static constexpr std::uint32_t kNoMask = ~0U;
  std::array<std::uint32_t, 4> mask_of_{kNoMask, kNoMask, kNoMask, kNoMask};
  std::uint32_t next_mask_{};
};

}  // namespace ww::sim::gpu::exec::translate
