// Single operations on one lane's values; part of valu.inl.

// Of v_div_scale: what it scales by, the distance of the exponents from which a quotient may
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

inline float min_f(float a, float b) { return is_nan(a) ? b : is_nan(b) ? a : b < a ? b : a; }
inline float max_f(float a, float b) { return is_nan(a) ? b : is_nan(b) ? a : b > a ? b : a; }
inline double min_d(double a, double b) { return is_nan(a) ? b : is_nan(b) ? a : b < a ? b : a; }
inline double max_d(double a, double b) { return is_nan(a) ? b : is_nan(b) ? a : b > a ? b : a; }
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
// In a double the product is exact: it is rounded once.
inline float ldexp_f(float x, I32 e) {
  constexpr I32 kMost = 300;  // beyond which every number is zero or infinite
  const I32 power = e < -kMost ? -kMost : e > kMost ? kMost : e;
  return static_cast<float>(double{x} * f64(U64{ux(power + 1023)} << 52));
}
inline double ldexp_d(double x, I32 e) { return __builtin_ldexp(x, e); }

inline U32 class_of(float x, U32 which) {
  const U32 b = bits(x);
  const U32 exponent = b >> 23 & 255U;
  const U32 fraction = b & 0x7FFFFFU;
  const bool negative = b >> 31 != 0;
  U32 kind = 0;
  if (exponent == 255) {
    kind = fraction == 0 ? (negative ? 2U : 9U) : (fraction & 0x400000U) != 0 ? 1U : 0U;
  } else if (exponent == 0) {
    kind = fraction == 0 ? (negative ? 5U : 6U) : (negative ? 4U : 7U);
  } else {
    kind = negative ? 3U : 8U;
  }
  return which >> kind & 1U;
}
inline U32 class_of(double x, U32 which) {
  const U64 b = bits(x);
  const U64 exponent = b >> 52 & 2047U;
  const U64 fraction = b & 0xFFFFFFFFFFFFFU;
  const bool negative = b >> 63 != 0;
  U32 kind = 0;
  if (exponent == 2047) {
    kind = fraction == 0 ? (negative ? 2U : 9U) : (fraction >> 51 & 1U) != 0 ? 1U : 0U;
  } else if (exponent == 0) {
    kind = fraction == 0 ? (negative ? 5U : 6U) : (negative ? 4U : 7U);
  } else {
    kind = negative ? 3U : 8U;
  }
  return which >> kind & 1U;
}
inline U32 frexp_exp_f(float x) {
  int e = 0;
  if (is_nan(x) || __builtin_isinf(x) || x == 0) return 0;
  (void)__builtin_frexpf(x, &e);
  return ux(e);
}
inline U32 frexp_exp_d(double x) {
  int e = 0;
  if (is_nan(x) || __builtin_isinf(x) || x == 0) return 0;
  (void)__builtin_frexp(x, &e);
  return ux(e);
}
inline float frexp_mant_f(float x) {
  int e = 0;
  return is_nan(x) || __builtin_isinf(x) ? x : __builtin_frexpf(x, &e);
}
inline double frexp_mant_d(double x) {
  int e = 0;
  return is_nan(x) || __builtin_isinf(x) ? x : __builtin_frexp(x, &e);
}
// Without branches, so that the loops over lanes become vector code.
inline U32 f32_to_f16(float value) {
  const U32 b = bits(value);
  const U32 sign = b >> 16 & 0x8000U;
  const U32 magnitude = b & 0x7FFFFFFFU;
  const U32 odd = magnitude >> 13 & 1U;
  const U32 normal = (magnitude - 0x38000000U + 0xFFFU + odd) >> 13;
  // Of one half and a denormal half, the last place is the denormal's.
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
  if (magnitude > 0x7F800000U) return sign | 0x7E00U | (magnitude >> 13 & 0x3FFU);
  if (magnitude == 0x7F800000U) return sign | 0x7C00U;
  if (magnitude >= 0x47800000U) return sign | 0x7BFFU;
  if (magnitude < 0x38800000U) return sign | U32(f32(magnitude) * 16777216.0F);
  return sign | (magnitude - 0x38000000U) >> 13;
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
// Sines take revolutions.
inline float sin_turns(float x) {
  return __builtin_isinf(x) ? f32(0x7FC00000U)
                            : static_cast<float>(__builtin_sin(double{x} * 6.283185307179586));
}
inline float cos_turns(float x) {
  return __builtin_isinf(x) ? f32(0x7FC00000U)
                            : static_cast<float>(__builtin_cos(double{x} * 6.283185307179586));
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
inline U32 div_fixup_f(U32 a, U32 b, U32 c) {
  const U32 sign = (b ^ c) & 0x80000000U;
  const U32 mb = b & 0x7FFFFFFFU;
  const U32 mc = c & 0x7FFFFFFFU;
  if (mc > 0x7F800000U) return c | 0x400000U;
  if (mb > 0x7F800000U) return b | 0x400000U;
  if (mb == 0 && mc == 0) return 0xFFC00000U;
  if (mb == 0x7F800000U && mc == 0x7F800000U) return 0xFFC00000U;
  if (mb == 0 || mc == 0x7F800000U) return sign | 0x7F800000U;
  if (mb == 0x7F800000U || mc == 0) return sign;
  const int eb = static_cast<int>(mb >> 23);
  const int ec = static_cast<int>(mc >> 23);
  if (ec - eb < -150) return sign;
  if (eb == 255) return sign | 0x7F800000U;
  // The steps before it make a NaN of a quotient that is too large: what is left to cause one here.
  if ((a & 0x7FFFFFFFU) > 0x7F800000U) return sign | 0x7F800000U;
  return sign | (a & 0x7FFFFFFFU);
}
inline U64 div_fixup_d(U64 a, U64 b, U64 c) {
  constexpr U64 kInfinity = 0x7FF0000000000000U;
  const U64 sign = (b ^ c) & 0x8000000000000000U;
  const U64 mb = b & 0x7FFFFFFFFFFFFFFFU;
  const U64 mc = c & 0x7FFFFFFFFFFFFFFFU;
  if (mc > kInfinity) return c | 0x8000000000000U;
  if (mb > kInfinity) return b | 0x8000000000000U;
  if ((mb == 0 && mc == 0) || (mb == kInfinity && mc == kInfinity)) return 0xFFF8000000000000U;
  if (mb == 0 || mc == kInfinity) return sign | kInfinity;
  if (mb == kInfinity || mc == 0) return sign;
  const int eb = static_cast<int>(mb >> 52);
  const int ec = static_cast<int>(mc >> 52);
  if (ec - eb < -1075) return sign;
  if ((a & 0x7FFFFFFFFFFFFFFFU) > kInfinity) return sign | kInfinity;  // as above
  return sign | (a & 0x7FFFFFFFFFFFFFFFU);
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
  U64 window = 0;
  for (int i = 0; i < 53; ++i) {
    const int bit = shift + i;
    const U64 value = bit < 1201 ? kTwoOverPi[bit / 64] >> (63 - bit % 64) & 1U : 0U;
    window = window << 1 | value;
  }
  return ldexp_d(static_cast<double>(window), -53 - shift + (exponent >= 1968 ? 128 : 0));
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
