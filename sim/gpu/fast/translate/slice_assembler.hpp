// Declares host instructions on a slice of a wave that each
// instruction set has in its own way. The generator writes those that
// all sets share: an instruction of AVX2 takes wider registers, too.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "fast/translate/host_vectors.hpp"
#include "fast/translate/operation.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

inline constexpr std::uint32_t kSign = 0x80000000;      // of a float
inline constexpr std::uint32_t kExponent = 0x7F800000;  // its bits, and infinity
inline constexpr std::uint32_t kOne = 0x3F800000;
inline constexpr std::uint32_t kQuietBit = 0x00400000;   // of a NaN
inline constexpr std::uint32_t kHostNan = 0xFFC00000;    // what x86 makes
inline constexpr std::uint32_t kDeviceNan = 0x7FC00000;  // what AMD makes
// Classes of floats, by bit; the numbers of vfpclass.
inline constexpr std::uint8_t kQuietNan = 0x01;
inline constexpr std::uint8_t kZeros = 0x06;
inline constexpr std::uint8_t kInfinities = 0x18;
inline constexpr std::uint8_t kDenormal = 0x20;
inline constexpr std::uint8_t kSignallingNan = 0x80;
inline constexpr std::uint8_t kUnordered = 3;  // predicates of vcmpps
inline constexpr std::uint8_t kFloatEqualOrdered = 0;
inline constexpr std::uint8_t kAtLeast = 0x1D;

// How a wave is cut into slices.
struct SliceShape {
  std::uint32_t lanes{};
  [[nodiscard]] constexpr std::uint32_t slices() const { return kLanes / lanes; }
  [[nodiscard]] constexpr std::uint32_t bytes() const { return lanes * sizeof(std::uint32_t); }
  [[nodiscard]] constexpr std::uint32_t mask_bytes() const { return lanes / 8; }
};
[[nodiscard]] constexpr SliceShape shape_of(HostVectors vectors) {
  return {vectors == HostVectors::avx512 ? 16U : 8U};
}
// Host registers that a slice's values may be in; the others are used otherwise.
[[nodiscard]] constexpr std::uint32_t registers_of(HostVectors vectors, bool masked) {
  return vectors == HostVectors::avx512 ? 30 : masked ? 14 : 15;
}

// Where the code of a group of slices finds the wave: vector registers from the first slice's lanes
// on, scalar registers, and the first slice's part of the masks among the latter.
inline constexpr Xbyak::Reg64 kVectors = Xbyak::util::rdi;
inline constexpr Xbyak::Reg64 kScalars = Xbyak::util::rsi;
inline constexpr Xbyak::Reg64 kMasks = Xbyak::util::rdx;
inline constexpr std::uint32_t kRegisterStep = kLanes * sizeof(std::uint32_t);

// A vector register of the host's width.
using Vector = Xbyak::Xmm;

// Lanes: a mask register, or a vector register with ones and zeros in each lane.
struct Mask {
  int index{};
  int within{-1};  // of another one: what is found in other lanes is zero
};
[[nodiscard]] inline Mask within(Mask found, Mask lanes) {
  return {found.index, lanes.index};
}

// A source that may be in a register or in memory.
class Value {
 public:
  Value(const Vector& vector) : place_(vector) {}          // NOLINT(google-explicit-constructor)
  Value(const Xbyak::Address& memory) : place_(memory) {}  // NOLINT(google-explicit-constructor)
  operator const Xbyak::Operand&() const {                 // NOLINT(google-explicit-constructor)
    return std::visit([](const Xbyak::Operand& place) -> const Xbyak::Operand& { return place; },
                      place_);
  }

 private:
  std::variant<Vector, Xbyak::Address> place_;
};

// The classes of floats in a register that hope rules out.
struct Suspect {
  Vector vector;
  std::uint8_t classes{};
};

// Words that the code reads, behind it. Where the host does not spread a word over all lanes as it
// reads it, such a word is there once for each lane.
class Literals {
 public:
  Literals(Xbyak::CodeGenerator& assembler, HostVectors vectors)
      : assembler_(assembler), vectors_(vectors) {}
  [[nodiscard]] Xbyak::Address word(std::uint32_t value);
  [[nodiscard]] Xbyak::Address all_lanes(std::uint32_t value);
  // Lane i has bit i, of eight lanes.
  [[nodiscard]] Xbyak::Address lane_bits();
  void write();

 private:
  using Lanes = std::array<std::uint32_t, 8>;

  Xbyak::CodeGenerator& assembler_;
  HostVectors vectors_;
  Xbyak::Label words_label_;
  Xbyak::Label lanes_label_;
  std::vector<std::uint32_t> words_;
  std::vector<Lanes> lanes_;
};

class SliceAssembler {
 public:
  using Operand = Xbyak::Operand;
  using Address = Xbyak::Address;

  // `masked`: only the lanes of enabled() count.
  SliceAssembler(Xbyak::CodeGenerator& generator, HostVectors vectors, bool masked)
      : a_(generator), literals_(generator, vectors), vectors_(vectors), masked_(masked) {}
  virtual ~SliceAssembler() = default;
  SliceAssembler(const SliceAssembler&) = delete;
  SliceAssembler& operator=(const SliceAssembler&) = delete;

  [[nodiscard]] Xbyak::CodeGenerator& generator() { return a_; }
  [[nodiscard]] Literals& literals() { return literals_; }
  [[nodiscard]] HostVectors vectors() const { return vectors_; }
  [[nodiscard]] SliceShape shape() const { return shape_of(vectors_); }
  [[nodiscard]] bool masked() const { return masked_; }
  // Masks are in vector registers, of which there are few: what is in memory is better read there,
  // and disabled lanes keep what they hold when registers are stored, not before.
  [[nodiscard]] bool is_narrow() const { return vectors_ == HostVectors::avx2; }

  [[nodiscard]] virtual Vector vector(std::uint32_t index) const = 0;
  // The enabled lanes, where `masked`.
  [[nodiscard]] virtual Mask enabled() const = 0;
  // Register of a result whose disabled lanes must not set the host's flags.
  [[nodiscard]] virtual Vector without_disabled(Vector r) const = 0;

  // Writes the constants that stay in registers all the time.
  virtual void write_constants() = 0;
  // Masks are at a displacement [bytes] from kMasks. Reads the enabled lanes; jumps if none is.
  virtual void read_enabled(std::uint32_t displacement, Xbyak::Label& none) = 0;
  virtual void clear_mask(std::uint32_t displacement) = 0;
  virtual void load(Vector r, const Address& home) = 0;
  virtual void store(const Address& home, Vector r) = 0;

  // Bits.
  virtual void move(Vector r, const Operand& x) = 0;
  virtual void bit_not(Vector r, Vector x) = 0;
  virtual void bit_and(Vector r, Vector x, const Operand& y) = 0;
  virtual void bit_or(Vector r, Vector x, const Operand& y) = 0;
  virtual void bit_xor(Vector r, Vector x, const Operand& y) = 0;
  virtual void and_not(Vector r, Vector x, const Operand& y) = 0;  // y without the bits of x
  // r = bit_xnor, or_three, and_or or bit_select of r, y and z; bit_xnor of r and y.
  virtual void combine(Action action, Vector r, Vector y, Vector z) = 0;
  virtual void all_ones(Vector r) = 0;
  // The odd lanes of x.
  virtual void take_odd_lanes(Vector r, Vector x) = 0;

  // Floats.
  virtual void flush_denormals(Vector r) = 0;
  [[nodiscard]] virtual Value host_nan() = 0;
  [[nodiscard]] virtual Value device_nan() = 0;
  // A NaN that x86 made becomes what AMD makes.
  virtual void make_device_nan(Vector r) = 0;
  // Does as min_f() and max_f() of the lanes: the other one where one is a NaN, and -0 below +0.
  // `r` is `target`, perhaps without_disabled().
  virtual void least_or_most(bool least, Vector target, Vector r, Vector x, Vector y) = 0;
  virtual void round(Vector r, const Operand& x, std::uint8_t way) = 0;
  virtual void float_of_unsigned(Vector r, Vector x) = 0;
  // Converts floats that are not less than zero; all ones for what is too large.
  virtual void unsigned_of_float(Vector r, Vector spare) = 0;
  // r = value times two to the power of a whole number.
  virtual void scale(Vector r, Vector value, Vector power, Vector spare) = 0;

  // Lanes.
  virtual void compare_unsigned(Mask found, Vector x, const Operand& y, std::uint8_t predicate) = 0;
  virtual void compare_signed(Mask found, Vector x, const Operand& y, std::uint8_t predicate) = 0;
  virtual void compare_equal(Mask found, Vector x, const Operand& y) = 0;
  virtual void compare_float(Mask found, Vector x, const Operand& y, std::uint8_t predicate) = 0;
  virtual void find_any_bit(Mask found, Vector x, const Operand& bits) = 0;
  virtual void find_no_bit(Mask found, Vector x, const Operand& bits) = 0;
  virtual void find_class(Mask found, Vector x, std::uint8_t classes) = 0;
  virtual void mask_or(Mask r, Mask x, Mask y) = 0;
  virtual void mask_and(Mask r, Mask x, Mask y) = 0;
  virtual void mask_and_not(Mask r, Mask x, Mask y) = 0;  // y without the lanes of x
  virtual void mask_move(Mask r, Mask x) = 0;
  virtual void mask_none(Mask r) = 0;
  virtual void load_mask(Mask r, std::uint32_t displacement) = 0;
  virtual void store_mask(std::uint32_t displacement, Mask x) = 0;
  // r in some lanes.
  virtual void take_where(Vector r, Mask where, const Operand& x) = 0;
  virtual void take_float_where(Vector r, Mask where, const Operand& x) = 0;
  virtual void take_or_zero(Vector r, Mask where, const Operand& x) = 0;
  virtual void zero_where(Vector r, Mask where) = 0;
  // Runs `write` on the register that it gets and keeps its result in the lanes of `where`.
  template <class Write>
  void change_where(Vector r, Mask where, Write write) {
    write(begin_where(r, where));
    end_where(r, where);
  }
  virtual void choose(Vector r, Mask where, Vector otherwise, const Operand& taken) = 0;
  virtual void jump_where_any(Mask lanes, Xbyak::Label& label) = 0;
  // Jumps where an enabled lane has what is ruled out. Denormals may set the host's flag of
  // denormal operands instead.
  virtual void jump_where_suspect(std::span<const Suspect> suspects, Mask spare, Mask other,
                                  Xbyak::Label& label) = 0;

 protected:
  [[nodiscard]] virtual Vector begin_where(Vector r, Mask where) = 0;
  virtual void end_where(Vector r, Mask where) = 0;

  Xbyak::CodeGenerator& a_;
  Literals literals_;
  HostVectors vectors_;
  bool masked_;
};

[[nodiscard]] std::unique_ptr<SliceAssembler> make_avx2(Xbyak::CodeGenerator& generator,
                                                        bool masked);
[[nodiscard]] std::unique_ptr<SliceAssembler> make_avx512(Xbyak::CodeGenerator& generator,
                                                          bool masked);

}  // namespace ww::sim::gpu::exec::translate
