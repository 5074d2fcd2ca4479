// Slices of 16 lanes: k1 has the enabled lanes, the other mask registers are the caller's.
#include "fast/translate/slice_assembler.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers and operands

// vpternlog: bits of the result for first, second and third source.
constexpr std::uint8_t kSelect = 0xCA;
constexpr std::uint8_t kXnor = 0xC3;
constexpr std::uint8_t kOrThree = 0xFE;
constexpr std::uint8_t kAndOr = 0xEA;
constexpr std::uint8_t kNotThird = 0x55;
constexpr std::uint8_t kAllOnes = 0xFF;

const Xbyak::Zmm kHostNans = zmm30;
const Xbyak::Zmm kDeviceNans = zmm31;

Xbyak::Opmask opmask(Mask mask) {
  return Xbyak::Opmask(mask.index);
}
// Returns the mask with the lanes that it is within.
Xbyak::Opmask found_in(Mask mask) {
  return mask.within < 0 ? opmask(mask) : opmask(mask) | Xbyak::Opmask(mask.within);
}

class Avx512 final : public SliceAssembler {
 public:
  Avx512(Xbyak::CodeGenerator& generator, bool masked)
      : SliceAssembler(generator, HostVectors::avx512, masked) {}

  [[nodiscard]] Vector vector(std::uint32_t index) const override {
    return Xbyak::Zmm(static_cast<int>(index));
  }
  [[nodiscard]] Mask enabled() const override { return {k1.getIdx()}; }
  [[nodiscard]] Vector without_disabled(Vector r) const override { return r | k1 | T_z; }

  void write_constants() override {
    a_.vbroadcastss(kHostNans, literals_.word(kHostNan));
    a_.vbroadcastss(kDeviceNans, literals_.word(kDeviceNan));
  }
  void read_enabled(std::uint32_t displacement, Xbyak::Label& none) override {
    a_.movzx(eax, word[kMasks + displacement]);
    a_.test(eax, eax);
    a_.jz(none, Xbyak::CodeGenerator::T_NEAR);
    a_.kmovw(k1, eax);
  }
  void clear_mask(std::uint32_t displacement) override { a_.mov(word[kMasks + displacement], 0); }
  void load(Vector r, const Address& home) override { a_.vmovdqa32(r, home); }
  void store(const Address& home, Vector r) override { a_.vmovdqa32(home, r); }

  void move(Vector r, const Operand& x) override { a_.vmovdqa32(r, x); }
  void bit_not(Vector r, Vector x) override { a_.vpternlogd(r, x, x, kNotThird); }
  void bit_and(Vector r, Vector x, const Operand& y) override { a_.vpandd(r, x, y); }
  void bit_or(Vector r, Vector x, const Operand& y) override { a_.vpord(r, x, y); }
  void bit_xor(Vector r, Vector x, const Operand& y) override { a_.vpxord(r, x, y); }
  void and_not(Vector r, Vector x, const Operand& y) override { a_.vpandnd(r, x, y); }
  void combine(Action action, Vector r, Vector y, Vector z) override {
    switch (action) {
      case Action::bit_xnor: a_.vpternlogd(r, y, z, kXnor); return;
      case Action::or_three: a_.vpternlogd(r, y, z, kOrThree); return;
      case Action::and_or: a_.vpternlogd(r, y, z, kAndOr); return;
      default: a_.vpternlogd(r, y, z, kSelect); return;
    }
  }
  void all_ones(Vector r) override { a_.vpternlogd(r, r, r, kAllOnes); }
  void take_odd_lanes(Vector r, Vector x) override {
    a_.mov(eax, 0xAAAA);
    a_.kmovw(k2, eax);
    a_.vmovdqa32(r | k2, x);
  }

  void flush_denormals(Vector r) override {
    a_.vfpclassps(k2, r, kDenormal);
    a_.vpandd(r | k2, r, literals_.all_lanes(kSign));
  }
  [[nodiscard]] Value host_nan() override { return kHostNans; }
  [[nodiscard]] Value device_nan() override { return kDeviceNans; }
  void make_device_nan(Vector r) override {
    a_.vpcmpeqd(k2, r, kHostNans);
    a_.vmovdqa32(r | k2, kDeviceNans);
  }
  void least_or_most(bool least, Vector target, Vector r, Vector x, Vector y) override {
    a_.vcmpps(k2, x, x, kUnordered);
    a_.vcmpps(k3, x, y, Predicate::kEqual);
    if (least) {
      a_.vminps(target, y, x);
      a_.vorps(r | k3, r, y);
    } else {
      a_.vmaxps(target, y, x);
      a_.vandps(r | k3, r, y);
    }
    a_.vmovaps(r | k2, y);
  }
  void round(Vector r, const Operand& x, std::uint8_t way) override { a_.vrndscaleps(r, x, way); }
  void float_of_unsigned(Vector r, Vector x) override { a_.vcvtudq2ps(r, x); }
  void unsigned_of_float(Vector r, Vector /*spare*/) override { a_.vcvttps2udq(r, r); }
  void scale(Vector r, Vector value, Vector power, Vector spare) override {
    a_.vcvtdq2ps(spare, power);
    a_.vscalefps(r, value, spare);
  }

  void compare_unsigned(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    a_.vpcmpud(found_in(found), x, y, predicate);
  }
  void compare_signed(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    a_.vpcmpd(found_in(found), x, y, predicate);
  }
  void compare_equal(Mask found, Vector x, const Operand& y) override {
    a_.vpcmpeqd(found_in(found), x, y);
  }
  void compare_float(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    a_.vcmpps(found_in(found), x, y, predicate);
  }
  void find_any_bit(Mask found, Vector x, const Operand& bits) override {
    a_.vptestmd(found_in(found), x, bits);
  }
  void find_no_bit(Mask found, Vector x, const Operand& bits) override {
    a_.vptestnmd(found_in(found), x, bits);
  }
  void find_class(Mask found, Vector x, std::uint8_t classes) override {
    a_.vfpclassps(found_in(found), x, classes);
  }
  void mask_or(Mask r, Mask x, Mask y) override { a_.korw(opmask(r), opmask(x), opmask(y)); }
  void mask_and(Mask r, Mask x, Mask y) override { a_.kandw(opmask(r), opmask(x), opmask(y)); }
  void mask_and_not(Mask r, Mask x, Mask y) override { a_.kandnw(opmask(r), opmask(x), opmask(y)); }
  void mask_move(Mask r, Mask x) override { a_.kmovw(opmask(r), opmask(x)); }
  void mask_none(Mask r) override { a_.kxorw(opmask(r), opmask(r), opmask(r)); }
  void load_mask(Mask r, std::uint32_t displacement) override {
    a_.kmovw(opmask(r), word[kMasks + displacement]);
  }
  void store_mask(std::uint32_t displacement, Mask x) override {
    a_.kmovw(word[kMasks + displacement], opmask(x));
  }
  void take_where(Vector r, Mask where, const Operand& x) override {
    a_.vmovdqa32(r | opmask(where), x);
  }
  void take_float_where(Vector r, Mask where, const Operand& x) override {
    a_.vmovaps(r | opmask(where), x);
  }
  void take_or_zero(Vector r, Mask where, const Operand& x) override {
    a_.vmovdqa32(r | opmask(where) | T_z, x);
  }
  void zero_where(Vector r, Mask where) override { a_.vpxord(r | opmask(where), r, r); }
  void choose(Vector r, Mask where, Vector otherwise, const Operand& taken) override {
    a_.vpblendmd(r | opmask(where), otherwise, taken);
  }
  void jump_where_any(Mask lanes, Xbyak::Label& label) override {
    a_.kortestw(opmask(lanes), opmask(lanes));
    a_.jnz(label, Xbyak::CodeGenerator::T_NEAR);
  }
  void jump_where_suspect(std::span<const Suspect> suspects, Mask spare, Mask other,
                          Xbyak::Label& label) override {
    bool first = true;
    for (const Suspect& suspect : suspects) {
      const Xbyak::Opmask found = opmask(first ? spare : other);
      a_.vfpclassps(masked_ ? found | k1 : found, suspect.vector, suspect.classes);
      if (!first) a_.korw(opmask(spare), opmask(spare), found);
      first = false;
    }
    jump_where_any(spare, label);
  }

 protected:
  [[nodiscard]] Vector begin_where(Vector r, Mask where) override { return r | opmask(where); }
  void end_where(Vector /*r*/, Mask /*where*/) override {}
};

}  // namespace

std::unique_ptr<SliceAssembler> make_avx512(Xbyak::CodeGenerator& generator, bool masked) {
  return std::make_unique<Avx512>(generator, masked);
}

}  // namespace ww::sim::gpu::exec::translate
