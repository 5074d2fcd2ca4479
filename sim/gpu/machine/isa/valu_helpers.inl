// Single operations on one lane's values; part of valu.inl.

// Limits of v_div_scale: the scale, the distance of the exponents from which a quotient may
// overflow, and the exponent up to which a numerator is small.
template <class F>
struct ScaleLimits;
template <>
struct ScaleLimits<float> {
  using Word = U32;
  static constexpr Word kNan = 0x7FC00000U;
  static constexpr Word kUp = 0x5F800000U;  // 2^64
  static constexpr Word kDown = 0x1F800000U;
  static constexpr int kFar = 96;
  static constexpr int kSmall = 23;
};
template <>
struct ScaleLimits<double> {
  using Word = U64;
  static constexpr Word kNan = 0x7FF8000000000000U;
  static constexpr Word kUp = 0x47F0000000000000U;  // 2^128
  static constexpr Word kDown = 0x37F0000000000000U;
  static constexpr int kFar = 768;
  static constexpr int kSmall = 53;
};

// Whether a NaN is a signalling one, and the quiet one that becomes of it.
inline bool is_signalling(float x) { return (bits(x) << 1) - 0xFF000001U < 0x7FFFFFU; }
inline bool is_signalling(double x) {
  return (bits(x) << 1) - 0xFFE0000000000001U < 0xFFFFFFFFFFFFFU;
}
inline float quiet(float x) { return f32(bits(x) | 0x400000U); }
inline double quiet(double x) { return f64(bits(x) | 0x8000000000000U); }
// Not every host's way to round makes a NaN quiet.
template <class F>
inline F without_signal(F x) {
  return is_nan(x) ? quiet(x) : x;
}

// Minimum and maximum return the other number where one is a NaN; -0 is less than +0. In IEEE mode
// a signalling NaN is the result, quiet, the first source's before the second's (AMD Vega, MI300 and
// RDNA 3 ISA, V_MIN_F32). Equal numbers have equal bits but for zeros.
template <class F>
inline F or_signalling(F r, F a, F b, bool ieee) {
  r = (ieee & is_signalling(b)) ? quiet(b) : r;
  return (ieee & is_signalling(a)) ? quiet(a) : r;
}
inline float min_f(float a, float b, bool ieee) {
  const float r = is_nan(a) ? b : is_nan(b) ? a : b < a ? b : a;
  return or_signalling(f32(bits(r) | (a == b ? bits(b) : 0U)), a, b, ieee);
}
inline float max_f(float a, float b, bool ieee) {
  const float r = is_nan(a) ? b : is_nan(b) ? a : b > a ? b : a;
  return or_signalling(f32(bits(r) & (a == b ? bits(b) : ~0U)), a, b, ieee);
}
inline double min_d(double a, double b, bool ieee) {
  const double r = is_nan(a) ? b : is_nan(b) ? a : b < a ? b : a;
  return or_signalling(f64(bits(r) | (a == b ? bits(b) : U64{0})), a, b, ieee);
}
inline double max_d(double a, double b, bool ieee) {
  const double r = is_nan(a) ? b : is_nan(b) ? a : b > a ? b : a;
  return or_signalling(f64(bits(r) & (a == b ? bits(b) : ~U64{0})), a, b, ieee);
}
template <class Integer>
inline Integer median(Integer a, Integer b, Integer c) {
  const Integer less = a < b ? a : b;
  const Integer more = a < b ? b : a;
  const Integer of_rest = more < c ? more : c;
  return less < of_rest ? of_rest : less;
}
// V_MED3_F32 says which of two zeros it is: the greatest is left out, and of the others the greater
// taken.
inline float median_f(float a, float b, float c, bool ieee) {
  const float with_nan = min_f(min_f(a, b, ieee), c, ieee);
  const float greater = max_f(a, b, ieee);
  const float greatest = max_f(greater, c, ieee);
  const float without_b = greatest == b ? max_f(a, c, ieee) : greater;
  const float without = greatest == a ? max_f(b, c, ieee) : without_b;
  const U32 nans = U32{is_nan(a)} | U32{is_nan(b)} | U32{is_nan(c)};
  return nans != 0 ? with_nan : without;
}
inline I32 sx(U32 a) { return static_cast<I32>(a); }
inline I64 sx(U64 a) { return static_cast<I64>(a); }
inline U32 ux(I32 a) { return static_cast<U32>(a); }
inline U32 i24(U32 a) { return ux(sx(a << 8) >> 8); }
inline U32 bfe_u(U32 a, U32 b, U32 c) {
  const U32 width = c & 31U;
  return a >> (b & 31U) & ((1U << width) - 1U);
}
inline U32 bfe_i(U32 a, U32 b, U32 c) {
  const U32 width = c & 31U;
  const U32 field = ux(sx(a) >> (b & 31U));
  const U32 shift = (32U - width) & 31U;
  return width == 0 ? 0U : ux(sx(field << shift) >> shift);
}
inline U32 popcount(U32 a) {
  a = a - (a >> 1 & 0x55555555U);
  a = (a & 0x33333333U) + (a >> 2 & 0x33333333U);
  return ((a + (a >> 4)) & 0x0F0F0F0FU) * 0x01010101U >> 24;
}
inline U32 reverse(U32 a) {
  a = (a >> 1 & 0x55555555U) | (a & 0x55555555U) << 1;
  a = (a >> 2 & 0x33333333U) | (a & 0x33333333U) << 2;
  a = (a >> 4 & 0x0F0F0F0FU) | (a & 0x0F0F0F0FU) << 4;
  return __builtin_bswap32(a);
}
inline U32 to_u32(double x) { return is_nan(x) || x <= 0 ? 0U : x >= 4294967295.0 ? ~0U : U32(x); }
inline U32 to_i32(double x) {
  return is_nan(x) ? 0U : x <= -2147483648.0 ? 0x80000000U
                      : x >= 2147483647.0    ? 0x7FFFFFFFU
                                             : ux(I32(x));
}
inline U32 clamp_i(I32 x, I32 low, I32 high) { return ux(x < low ? low : x > high ? high : x); }
// Multiplies in doubles, where the product is exact: it is rounded once.
inline float ldexp_f(float x, I32 e) {
  constexpr I32 kMax = 300;  // beyond which every number is zero or infinite
  const I32 power = e < -kMax ? -kMax : e > kMax ? kMax : e;
  return static_cast<float>(double{x} * f64(U64{ux(power + 1023)} << 52));
}
// The bit of v_cmp_class that stands for a number of this kind.
inline U32 kind_of(bool largest_exponent, bool least_exponent, bool no_fraction, bool quiet,
                   bool negative) {
  const U32 infinity = negative ? 2U : 9U;
  const U32 nan = quiet ? 1U : 0U;
  const U32 zero = negative ? 5U : 6U;
  const U32 denormal = negative ? 4U : 7U;
  const U32 normal = negative ? 3U : 8U;
  const U32 at_most = no_fraction ? infinity : nan;
  const U32 at_least = no_fraction ? zero : denormal;
  return largest_exponent ? at_most : least_exponent ? at_least : normal;
}
inline U32 class_of(float x, U32 which) {
  const U32 b = bits(x);
  const U32 exponent = b & 0x7F800000U;
  return which >> kind_of(exponent == 0x7F800000U, exponent == 0, (b & 0x7FFFFFU) == 0,
                          (b & 0x400000U) != 0, b >> 31 != 0) & 1U;
}
// Classifies a double by the upper word, and whether there is anything in the lower one.
inline U32 class_of(double x, U32 which) {
  const U32 b = static_cast<U32>(bits(x) >> 32);
  const U32 rest = static_cast<U32>(bits(x));
  const U32 exponent = b & 0x7FF00000U;
  return which >> kind_of(exponent == 0x7FF00000U, exponent == 0, ((b & 0xFFFFFU) | rest) == 0,
                          (b & 0x80000U) != 0, b >> 31 != 0) & 1U;
}
// A number's parts, of which the fraction is at least a half and below 1. Denormals are made normal
// first. Zeros, infinities and NaNs have exponent 0 and are their own fraction.
inline U32 frexp_exp_f(float x) {
  const U32 field = bits(x) & 0x7F800000U;
  const U32 of_denormal = bits(x * 0x1p32F) >> 23 & 255U;
  const U32 exponent = field == 0 ? of_denormal - 126U - 32U : (field >> 23) - 126U;
  return ((field == 0x7F800000U) | (x == 0)) ? 0U : exponent;
}
inline U32 frexp_exp_d(double x) {
  const U64 field = bits(x) & 0x7FF0000000000000U;
  const U64 of_denormal = bits(x * 0x1p64) >> 52 & 2047U;
  const U64 exponent = field == 0 ? of_denormal - 1022U - 64U : (field >> 52) - 1022U;
  return static_cast<U32>(((field == 0x7FF0000000000000U) | (x == 0)) ? U64{0} : exponent);
}
inline float frexp_mant_f(float x) {
  const U32 field = bits(x) & 0x7F800000U;
  const U32 normal = bits(field == 0 ? x * 0x1p32F : x);
  const float fraction = f32((normal & 0x807FFFFFU) | 0x3F000000U);
  return ((field == 0x7F800000U) | (x == 0)) ? x + x : fraction;  // a NaN is quiet then
}
inline double frexp_mant_d(double x) {
  const U64 field = bits(x) & 0x7FF0000000000000U;
  const U64 normal = bits(field == 0 ? x * 0x1p64 : x);
  const double fraction = f64((normal & 0x800FFFFFFFFFFFFFU) | 0x3FE0000000000000U);
  return ((field == 0x7FF0000000000000U) | (x == 0)) ? x + x : fraction;
}
// Without branches, so that the loops over lanes become vector code.
inline U32 f32_to_f16(float value) {
  const U32 b = bits(value);
  const U32 sign = b >> 16 & 0x8000U;
  const U32 magnitude = b & 0x7FFFFFFFU;
  const U32 odd = magnitude >> 13 & 1U;
  const U32 normal = (magnitude - 0x38000000U + 0xFFFU + odd) >> 13;
  // Adds one half, which aligns the float's last place with a denormal half's.
  const U32 denormal = bits(f32(magnitude) + 0.5F) - 0x3F000000U;
  const U32 nan = 0x7E00U | (magnitude >> 13 & 0x3FFU);
  U32 half = magnitude < 0x38800000U ? denormal : normal;
  half = magnitude >= 0x477FF000U ? 0x7C00U : half;
  half = magnitude > 0x7F800000U ? nan : half;
  return sign | half;
}
inline U32 f32_to_f16_toward_zero(float value) {
  const U32 b = bits(value);
  const U32 sign = b >> 16 & 0x8000U;
  const U32 magnitude = b & 0x7FFFFFFFU;
  const float least = magnitude < 0x38800000U ? f32(magnitude) : 0.0F;
  U32 half = (magnitude - 0x38000000U) >> 13;
  half = magnitude < 0x38800000U ? static_cast<U32>(static_cast<I32>(least * 16777216.0F)) : half;
  half = magnitude >= 0x47800000U ? 0x7BFFU : half;
  half = magnitude == 0x7F800000U ? 0x7C00U : half;
  half = magnitude > 0x7F800000U ? 0x7E00U | (magnitude >> 13 & 0x3FFU) : half;
  return sign | half;
}
inline float f16_to_f32(U32 h) {
  const U32 sign = (h & 0x8000U) << 16;
  const U32 magnitude = (h & 0x7FFFU) << 13;
  const float denormal = static_cast<float>(I32(h & 0x3FFU)) * (1.0F / 16777216.0F);
  U32 b = magnitude + (112U << 23);
  b = magnitude >= 0x0F800000U ? magnitude + (224U << 23) : b;  // infinities and NaNs
  b = magnitude < 0x00800000U ? bits(denormal) : b;
  return f32(sign | b);
}
inline U32 byte_of(U32 x, int i) { return x >> (8 * i) & 255U; }
inline U32 sad_u8(U32 a, U32 b, U32 c) {
  for (int i = 0; i < 4; ++i) {
    const U32 p = byte_of(a, i);
    const U32 q = byte_of(b, i);
    c += p > q ? p - q : q - p;
  }
  return c;
}
inline U32 msad_u8(U32 a, U32 b, U32 c) {
  for (int i = 0; i < 4; ++i) {
    const U32 p = byte_of(a, i);
    const U32 q = byte_of(b, i);
    if (q != 0) c += p > q ? p - q : q - p;
  }
  return c;
}
inline float fract_f(float x) {
  const float r = x - __builtin_floorf(x);
  return r >= 1.0F ? f32(0x3F7FFFFFU) : r;
}
inline double fract_d(double x) {
  const double r = x - __builtin_floor(x);
  return r >= 1.0 ? f64(0x3FEFFFFFFFFFFFFFU) : r;
}
inline int exponent_of(float x) { return static_cast<int>(bits(x) >> 23 & 255U); }
inline int exponent_of(double x) { return static_cast<int>(bits(x) >> 52 & 2047U); }

// v_div_scale: scales numerator and denominator so that the quotient's steps neither overflow nor
// lose bits; a is the one to scale, b the denominator, c the numerator. Choices alone: loops over
// branches would go lane by lane.
template <class F>
inline auto div_scale(F a, F b, F c, bool& vcc) {
  using Limits = ScaleLimits<F>;
  using Word = typename Limits::Word;
  const int eb = exponent_of(b);
  const int ec = exponent_of(c);
  const bool zero = (b == F{0}) | (c == F{0});
  const bool may_overflow = ec - eb >= Limits::kFar;
  const bool denormal = eb == 0;
  const bool small_reciprocal = exponent_of(F{1} / b) == 0;
  const bool small_quotient = exponent_of(c / b) == 0;
  const Word if_b_up = bits(a) == bits(b) ? Limits::kUp : Word{0};
  const Word if_b_down = bits(a) == bits(b) ? Limits::kDown : Word{0};
  const Word if_c_up = bits(a) == bits(c) ? Limits::kUp : Word{0};
  Word factor = ec <= Limits::kSmall ? Limits::kUp : Word{0};  // 0: none
  factor = small_quotient ? if_c_up : factor;
  factor = small_reciprocal ? (small_quotient ? if_b_down : Limits::kDown) : factor;
  factor = denormal ? Limits::kUp : factor;
  factor = may_overflow ? if_b_up : factor;
  vcc = (!zero) & (may_overflow | ((!denormal) & small_quotient));
  const Word scaled = bits(a * __builtin_bit_cast(F, factor));
  const Word result = factor == 0 ? bits(a) : scaled;
  return zero ? Limits::kNan : result;
}
// v_div_fixup: a is the quotient, b the denominator, c the numerator.
// Choices, the last of which holds. The steps before it make a NaN of a quotient that is too large:
// what is left to cause one here.
inline U32 div_fixup_f(U32 a, U32 b, U32 c) {
  constexpr U32 kInfinity = 0x7F800000U;
  const U32 sign = (b ^ c) & 0x80000000U;
  const U32 ma = a & 0x7FFFFFFFU;
  const U32 mb = b & 0x7FFFFFFFU;
  const U32 mc = c & 0x7FFFFFFFU;
  const bool vanishes = sx(mc >> 23) - sx(mb >> 23) < -150;
  U32 r = sign | (ma > kInfinity ? kInfinity : ma);
  r = (vanishes | (mb == kInfinity) | (mc == 0)) ? sign : r;
  r = ((mb == 0) | (mc == kInfinity)) ? sign | kInfinity : r;
  r = ((mb == 0) & (mc == 0)) | ((mb == kInfinity) & (mc == kInfinity)) ? 0xFFC00000U : r;
  r = mb > kInfinity ? b | 0x400000U : r;
  return mc > kInfinity ? c | 0x400000U : r;
}
inline U64 div_fixup_d(U64 a, U64 b, U64 c) {
  constexpr U64 kInfinity = 0x7FF0000000000000U;
  const U64 sign = (b ^ c) & 0x8000000000000000U;
  const U64 ma = a & 0x7FFFFFFFFFFFFFFFU;
  const U64 mb = b & 0x7FFFFFFFFFFFFFFFU;
  const U64 mc = c & 0x7FFFFFFFFFFFFFFFU;
  const bool vanishes = sx(mc >> 52) - sx(mb >> 52) < -1075;
  U64 r = sign | (ma > kInfinity ? kInfinity : ma);
  r = (vanishes | (mb == kInfinity) | (mc == 0)) ? sign : r;
  r = ((mb == 0) | (mc == kInfinity)) ? sign | kInfinity : r;
  r = ((mb == 0) & (mc == 0)) | ((mb == kInfinity) & (mc == kInfinity)) ? 0xFFF8000000000000U : r;
  r = mb > kInfinity ? b | 0x8000000000000U : r;
  return mc > kInfinity ? c | 0x8000000000000U : r;
}

// 2^-64 (a b + c), or with doubles 2^-128, rounded once: the sum is taken in a wider format, where
// what it loses makes its last bit odd, which no second rounding to half the width mistakes.
template <class Wide, class Bits>
inline Wide odd_sum(Wide p, Wide c) {
  Wide sum = p + c;
  const Wide of_c = sum - p;
  const Wide lost = (p - (sum - of_c)) + (c - of_c);
  Bits pattern = 0;
  std::memcpy(&pattern, &sum, sizeof pattern);
  if (lost != 0 && (pattern & 1U) == 0) {
    pattern += (lost > 0) == (sum > 0) ? Bits{1} : ~Bits{0};
    std::memcpy(&sum, &pattern, sizeof sum);
  }
  return sum;
}
inline U32 small_fmas(float a, float b, float c) {
  const double sum = odd_sum<double, U64>(double{a} * double{b}, double{c});
  return bits(static_cast<float>(sum * (1.0 / 18446744073709551616.0)));
}
inline U64 small_fmas(double a, double b, double c) {
  using Wide = __float128;
  constexpr double kStep = 1.0 / 18446744073709551616.0;
  const Wide sum = odd_sum<Wide, unsigned __int128>(Wide{a} * Wide{b}, Wide{c});
  return bits(static_cast<double>(sum * Wide{kStep} * Wide{kStep}));
}

// Lanes of v_div_fmas that are scaled down, where a result below the normal numbers would be rounded
// twice. Found before the lanes are written, which may be those of a source.
template <class Float, class Word>
struct SmallFmas {
  U64 lanes{};
  Word result[kLanes];

  template <class Source>
  SmallFmas(U64 scaled, int bias, Float least, Source source) {
    for (U64 set = scaled; set != 0; set &= set - 1) {
      const int l = __builtin_ctzll(set);
      const Float a = source(0, l), b = source(1, l), c = source(2, l);
      if (exponent_of(c) > bias) continue;
      result[l] = small_fmas(a, b, c);
      Float value;
      std::memcpy(&value, &result[l], sizeof value);
      if (value < least && value > -least && value != 0) lanes |= U64{1} << l;
    }
  }
};

// v_trig_preop_f64: 53 bits of 2/pi, from where the argument's exponent and the segment say.
constexpr U64 kTwoOverPi[19] = {  // binary fraction, first bits first
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0, 0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484,
    0xE99C7026B45F7E41, 0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D, 0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB};
inline double trig_preop(double x, U32 segment) {
  int shift = static_cast<int>(segment & 31U) * 53;
  const int exponent = exponent_of(x);
  if (exponent > 1077) shift += exponent - 1077;
  constexpr int kBits = 1201;
  constexpr U64 kInLastWord = ~U64{0} << (64 - kBits % 64);
  const auto word = [](int i) {
    if (i >= kBits / 64) return i == kBits / 64 ? kTwoOverPi[i] & kInLastWord : U64{0};
    return kTwoOverPi[i];
  };
  const int from = shift % 64;
  const U64 next = (word(shift / 64 + 1) >> 1) >> (63 - from);
  const U64 window = (word(shift / 64) << from | next) >> 11;
  return __builtin_ldexp(static_cast<double>(window), -53 - shift + (exponent >= 1968 ? 128 : 0));
}
inline float clamp_infinity(float x) {
  return x == f32(0x7F800000U) ? f32(0x7F7FFFFFU) : x == f32(0xFF800000U) ? f32(0xFF7FFFFFU) : x;
}
inline double clamp_infinity(double x) {
  return x == f64(0x7FF0000000000000U)   ? f64(0x7FEFFFFFFFFFFFFFU)
         : x == f64(0xFFF0000000000000U) ? f64(0xFFEFFFFFFFFFFFFFU)
                                         : x;
}
inline float zero_infinity(float x) { return __builtin_isinf(x) ? 0.0F : x; }
inline U32 pack_u8(float a, U32 byte, U32 c) {
  const float r = __builtin_rintf(a);
  const U32 value = r >= 255.0F ? 255U : r > 0.0F ? U32(r) : 0U;
  const U32 shift = 8 * (byte & 3U);
  return (c & ~(255U << shift)) | value << shift;
}
inline U32 normal_i16(float a) {
  const float x = a > 1.0F ? 1.0F : a > -1.0F ? a : a <= -1.0F ? -1.0F : 0.0F;
  return ux(I32(__builtin_rintf(x * 32767.0F))) & 0xFFFFU;
}
inline U32 normal_u16(float a) {
  const float x = a > 1.0F ? 1.0F : a > 0.0F ? a : 0.0F;
  return U32(__builtin_rintf(x * 65535.0F));
}
