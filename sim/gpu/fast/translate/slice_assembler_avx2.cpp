// Slices of 8 lanes; masks are vector registers. Disabled lanes are zero when they are loaded, so
// that they seldom set the host's flags, and keep what memory has when a register is stored.
#include "fast/translate/slice_assembler.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of registers

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;  // of a float
constexpr std::uint32_t kMinNormal = 0x00800000;
constexpr std::uint32_t kMaxSignalling = 0x7FBFFFFF;
constexpr std::uint32_t kHalfWords = 0x47800000;  // 2^16
constexpr std::uint32_t kSignValue = 0x4F000000;  // 2^31
constexpr std::uint32_t kAllWords = 0x4F800000;   // 2^32
constexpr std::uint32_t kOnes = 0xFFFFFFFF;

const Xbyak::Ymm kEnabled = ymm14;
const Xbyak::Ymm kScratch = ymm15;  // within one of the functions below

Xbyak::Ymm ymm(Mask mask) {
  return Xbyak::Ymm(mask.index);
}
Xbyak::Xmm low(Vector vector) {
  return Xbyak::Xmm(vector.getIdx());
}

class Avx2 final : public SliceAssembler {
 public:
  Avx2(Xbyak::CodeGenerator& generator, bool masked)
      : SliceAssembler(generator, HostVectors::avx2, masked) {}

  [[nodiscard]] Vector vector(std::uint32_t index) const override {
    return Xbyak::Ymm(static_cast<int>(index));
  }
  [[nodiscard]] Mask enabled() const override { return {kEnabled.getIdx()}; }
  [[nodiscard]] Vector without_disabled(Vector r) const override { return r; }

  void write_constants() override {}
  void read_enabled(std::uint32_t displacement, Xbyak::Label& none) override {
    a_.cmp(byte[kMasks + displacement], 0);
    a_.jz(none, Xbyak::CodeGenerator::T_NEAR);
    load_mask(enabled(), displacement);
  }
  void clear_mask(std::uint32_t displacement) override { a_.mov(byte[kMasks + displacement], 0); }
  void load(Vector r, const Address& home) override {
    if (masked_) {
      a_.vpand(r, kEnabled, home);
    } else {
      a_.vmovdqa(r, home);
    }
  }
  void store(const Address& home, Vector r) override {
    if (masked_) {
      a_.vmovdqa(kScratch, home);
      a_.vblendvps(kScratch, kScratch, r, kEnabled);
      a_.vmovdqa(home, kScratch);
    } else {
      a_.vmovdqa(home, r);
    }
  }

  void move(Vector r, const Operand& x) override { a_.vmovdqa(r, x); }
  void bit_not(Vector r, Vector x) override { a_.vpxor(r, x, literals_.all_lanes(kOnes)); }
  void bit_and(Vector r, Vector x, const Operand& y) override { a_.vpand(r, x, y); }
  void bit_or(Vector r, Vector x, const Operand& y) override { a_.vpor(r, x, y); }
  void bit_xor(Vector r, Vector x, const Operand& y) override { a_.vpxor(r, x, y); }
  void and_not(Vector r, Vector x, const Operand& y) override { a_.vpandn(r, x, y); }
  void combine(Action action, Vector r, Vector y, Vector z) override {
    switch (action) {
      case Action::bit_xnor:
        a_.vpxor(r, r, y);
        bit_not(r, r);
        return;
      case Action::or_three:
        a_.vpor(r, r, y);
        a_.vpor(r, r, z);
        return;
      case Action::and_or:
        a_.vpand(r, r, y);
        a_.vpor(r, r, z);
        return;
      default:
        a_.vpand(kScratch, r, y);
        a_.vpandn(r, r, z);
        a_.vpor(r, r, kScratch);
        return;
    }
  }
  void all_ones(Vector r) override { a_.vpcmpeqd(r, r, r); }
  void take_odd_lanes(Vector r, Vector x) override { a_.vpblendd(r, r, x, 0xAA); }

  void flush_denormals(Vector r) override {
    a_.vpand(kScratch, r, literals_.all_lanes(kExponent));
    a_.vpcmpeqd(kScratch, kScratch, literals_.all_lanes(0));
    a_.vpand(kScratch, kScratch, literals_.all_lanes(kMagnitude));
    a_.vpandn(r, kScratch, r);
  }
  [[nodiscard]] Value host_nan() override { return literals_.all_lanes(kHostNan); }
  [[nodiscard]] Value device_nan() override { return literals_.all_lanes(kDeviceNan); }
  void make_device_nan(Vector r) override {
    a_.vpcmpeqd(kScratch, r, literals_.all_lanes(kHostNan));
    a_.vblendvps(r, r, literals_.all_lanes(kDeviceNan), kScratch);
  }
  void least_or_most(bool least, Vector target, Vector r, Vector x, Vector y) override {
    // If both are zeros the host takes x, as it does with a NaN.
    a_.vcmpps(kScratch, x, y, least ? Predicate::kEqual : Predicate::kNotEqual);
    if (least) {
      a_.vandps(kScratch, kScratch, y);
      a_.vminps(target, y, x);
      a_.vorps(r, r, kScratch);
    } else {
      a_.vorps(kScratch, kScratch, y);
      a_.vmaxps(target, y, x);
      a_.vandps(r, r, kScratch);
    }
    a_.vcmpps(kScratch, r, r, kUnordered);
    a_.vblendvps(r, r, y, kScratch);
  }
  void round(Vector r, const Operand& x, std::uint8_t way) override { a_.vroundps(r, x, way); }
  // Both halves are exact, and their sum is rounded once.
  void float_of_unsigned(Vector r, Vector x) override {
    a_.vpsrld(kScratch, x, 16);
    a_.vcvtdq2ps(kScratch, kScratch);
    a_.vpand(r, x, literals_.all_lanes(0xFFFF));
    a_.vcvtdq2ps(r, r);
    a_.vfmadd231ps(r, kScratch, literals_.all_lanes(kHalfWords));
  }
  // The host gives 80000000 for what is too large, even without its 2^31.
  void unsigned_of_float(Vector r, Vector spare) override {
    a_.vcmpps(kScratch, r, literals_.all_lanes(kSignValue), kAtLeast);
    a_.vandps(spare, kScratch, literals_.all_lanes(kSignValue));
    a_.vsubps(spare, r, spare);
    a_.vcvttps2dq(spare, spare);
    a_.vpslld(kScratch, kScratch, 31);
    a_.vpxor(spare, spare, kScratch);
    a_.vcmpps(kScratch, r, literals_.all_lanes(kAllWords), kAtLeast);
    a_.vpor(r, spare, kScratch);
  }
  // Scales as ldexp_f() of the lanes does: in doubles, which are exact, four lanes at a time.
  void scale(Vector r, Vector value, Vector power, Vector spare) override {
    constexpr std::uint32_t kMax = 300;
    constexpr std::uint32_t kBias = 1023;
    constexpr std::uint8_t kFraction = 52;
    a_.vpmaxsd(r, power, literals_.all_lanes(0U - kMax));
    a_.vpminsd(r, r, literals_.all_lanes(kMax));
    a_.vpaddd(r, r, literals_.all_lanes(kBias));
    a_.vpmovzxdq(kScratch, low(r));
    a_.vpsllq(kScratch, kScratch, kFraction);
    a_.vcvtps2pd(spare, low(value));
    a_.vmulpd(kScratch, kScratch, spare);
    a_.vcvtpd2ps(low(kScratch), kScratch);
    a_.vextracti128(low(r), ymm({r.getIdx()}), 1);
    a_.vpmovzxdq(r, low(r));
    a_.vpsllq(r, r, kFraction);
    a_.vextractf128(low(spare), ymm({value.getIdx()}), 1);
    a_.vcvtps2pd(spare, low(spare));
    a_.vmulpd(r, r, spare);
    a_.vcvtpd2ps(low(r), r);
    a_.vinsertf128(ymm({r.getIdx()}), kScratch, low(r), 1);
  }

  void compare_unsigned(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    const Xbyak::Ymm r = place(found);
    switch (predicate) {
      case Predicate::kLess:
      case Predicate::kGreaterOrEqual:
        a_.vpmaxud(r, x, y);
        a_.vpcmpeqd(r, r, x);
        break;
      case Predicate::kGreater:
      case Predicate::kLessOrEqual:
        a_.vpminud(r, x, y);
        a_.vpcmpeqd(r, r, x);
        break;
      default: a_.vpcmpeqd(r, x, y); break;
    }
    const bool inverted = predicate == Predicate::kLess || predicate == Predicate::kGreater ||
                          predicate == Predicate::kNotEqual;
    finish(found, inverted);
  }
  void compare_signed(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    const Xbyak::Ymm r = place(found);
    switch (predicate) {
      case Predicate::kGreater:
      case Predicate::kLessOrEqual: a_.vpcmpgtd(r, x, y); break;
      case Predicate::kLess:
      case Predicate::kGreaterOrEqual:
        if (y.isMEM()) {
          a_.vmovdqa(r, y);
          a_.vpcmpgtd(r, r, x);
        } else {
          a_.vpcmpgtd(r, Xbyak::Ymm(y.getIdx()), x);
        }
        break;
      default: a_.vpcmpeqd(r, x, y); break;
    }
    const bool inverted = predicate == Predicate::kLessOrEqual ||
                          predicate == Predicate::kGreaterOrEqual ||
                          predicate == Predicate::kNotEqual;
    finish(found, inverted);
  }
  void compare_equal(Mask found, Vector x, const Operand& y) override {
    a_.vpcmpeqd(place(found), x, y);
    finish(found, false);
  }
  void compare_float(Mask found, Vector x, const Operand& y, std::uint8_t predicate) override {
    a_.vcmpps(place(found), x, y, predicate);
    finish(found, false);
  }
  void find_any_bit(Mask found, Vector x, const Operand& bits) override {
    a_.vpand(place(found), x, bits);
    a_.vpcmpeqd(place(found), place(found), literals_.all_lanes(0));
    finish(found, true);
  }
  void find_no_bit(Mask found, Vector x, const Operand& bits) override {
    a_.vpand(place(found), x, bits);
    a_.vpcmpeqd(place(found), place(found), literals_.all_lanes(0));
    finish(found, false);
  }
  void find_class(Mask found, Vector x, std::uint8_t classes) override {
    const Xbyak::Ymm r = ymm(found);
    a_.vpand(kScratch, x, literals_.all_lanes(kMagnitude));
    switch (classes) {
      case kZeros: a_.vpcmpeqd(r, kScratch, literals_.all_lanes(0)); return;
      case kInfinities: a_.vpcmpeqd(r, kScratch, literals_.all_lanes(kExponent)); return;
      case kQuietNan: a_.vpcmpgtd(r, kScratch, literals_.all_lanes(kMaxSignalling)); return;
      case kSignallingNan:
        a_.vpcmpgtd(r, kScratch, literals_.all_lanes(kExponent));
        a_.vpcmpgtd(kScratch, kScratch, literals_.all_lanes(kMaxSignalling));
        a_.vpandn(r, kScratch, r);
        return;
      default:  // denormals
        a_.vpcmpgtd(r, kScratch, literals_.all_lanes(kMinNormal - 1));
        a_.vpcmpgtd(kScratch, kScratch, literals_.all_lanes(0));
        a_.vpandn(r, r, kScratch);
        return;
    }
  }
  void mask_or(Mask r, Mask x, Mask y) override { a_.vpor(ymm(r), ymm(x), ymm(y)); }
  void mask_and(Mask r, Mask x, Mask y) override { a_.vpand(ymm(r), ymm(x), ymm(y)); }
  void mask_and_not(Mask r, Mask x, Mask y) override { a_.vpandn(ymm(r), ymm(x), ymm(y)); }
  void mask_move(Mask r, Mask x) override { a_.vmovdqa(ymm(r), ymm(x)); }
  void mask_none(Mask r) override { a_.vpxor(ymm(r), ymm(r), ymm(r)); }
  void load_mask(Mask r, std::uint32_t displacement) override {
    a_.vpbroadcastb(ymm(r), byte[kMasks + displacement]);
    a_.vpand(ymm(r), ymm(r), literals_.lane_bits());
    a_.vpcmpeqd(ymm(r), ymm(r), literals_.lane_bits());
  }
  void store_mask(std::uint32_t displacement, Mask x) override {
    a_.vmovmskps(eax, ymm(x));
    a_.mov(byte[kMasks + displacement], al);
  }
  void take_where(Vector r, Mask where, const Operand& x) override {
    a_.vblendvps(r, r, x, ymm(where));
  }
  void take_float_where(Vector r, Mask where, const Operand& x) override {
    take_where(r, where, x);
  }
  void take_or_zero(Vector r, Mask where, const Operand& x) override { a_.vpand(r, ymm(where), x); }
  void zero_where(Vector r, Mask where) override { a_.vpandn(r, ymm(where), r); }
  void choose(Vector r, Mask where, Vector otherwise, const Operand& taken) override {
    a_.vblendvps(r, otherwise, taken, ymm(where));
  }
  void jump_where_any(Mask lanes, Xbyak::Label& label) override {
    a_.vptest(ymm(lanes), ymm(lanes));
    a_.jnz(label, Xbyak::CodeGenerator::T_NEAR);
  }
  // A comparison finds a NaN in either of two registers, and sets the flag of denormal operands.
  void jump_where_suspect(std::span<const Suspect> suspects, Mask spare, Mask /*other*/,
                          Xbyak::Label& label) override {
    const Xbyak::Ymm found = ymm(spare);
    for (std::size_t i = 0; i < suspects.size(); i += 2) {
      const Suspect& second = suspects[i + 1 < suspects.size() ? i + 1 : i];
      a_.vcmpps(i == 0 ? found : kScratch, suspects[i].vector, second.vector, kUnordered);
      if (i != 0) a_.vorps(found, found, kScratch);
    }
    a_.vptest(found, masked_ ? kEnabled : found);
    a_.jnz(label, Xbyak::CodeGenerator::T_NEAR);
  }

 protected:
  [[nodiscard]] Vector begin_where(Vector /*r*/, Mask /*where*/) override { return kScratch; }
  void end_where(Vector r, Mask where) override { a_.vblendvps(r, r, kScratch, ymm(where)); }

 private:
  // Register in which a mask is made that may be within itself.
  [[nodiscard]] static Xbyak::Ymm place(Mask found) {
    return found.within == found.index ? kScratch : ymm(found);
  }
  void finish(Mask found, bool inverted) {
    const Xbyak::Ymm r = place(found);
    if (found.within >= 0) {
      const Xbyak::Ymm lanes(found.within);
      if (inverted) {
        a_.vpandn(ymm(found), r, lanes);
      } else {
        a_.vpand(ymm(found), r, lanes);
      }
    } else if (inverted) {
      bit_not(r, r);
    }
  }
};

}  // namespace

std::unique_ptr<SliceAssembler> make_avx2(Xbyak::CodeGenerator& generator, bool masked) {
  return std::make_unique<Avx2>(generator, masked);
}

}  // namespace ww::sim::gpu::exec::translate
