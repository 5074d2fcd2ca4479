// Vector semantics over 64 lanes, included by one file for each host instruction set, which defines
// WW_LANES_NAME. Everything here has internal linkage and uses no inline function of a library, so
// that code for one instruction set never leaks into a build for another.
//
// Source: AMD Sea Islands ISA, chapter 6 and the opcode tables of chapter 12. Floating point is
// IEEE 754 to nearest even; multiplication and addition are fused in v_fma alone; v_mad and v_mac
// flush denormals whatever the mode says.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {
namespace {

using U32 = std::uint32_t;
using I32 = std::int32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

#ifdef __clang__  // the fuzzers' compiler: fast enough without
#define WW_IVDEP
#define WW_ROLLED
#else
#define WW_IVDEP _Pragma("GCC ivdep")
// Short loops: unrolled before they are vectorised, they would stay scalar.
#define WW_ROLLED _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
#define WW_LOOP WW_IVDEP for (int l = 0; l < kLanes; ++l)
#define WW_ROLLED_LOOP WW_ROLLED for (int l = 0; l < kLanes; ++l)

// --- bits and floats ---
inline float f32(U32 x) { return __builtin_bit_cast(float, x); }
inline U32 bits(float x) { return __builtin_bit_cast(U32, x); }
inline double f64(U64 x) { return __builtin_bit_cast(double, x); }
inline U64 bits(double x) { return __builtin_bit_cast(U64, x); }
inline U32 flushed(U32 x) { return (x & 0x7F800000U) == 0 ? x & 0x80000000U : x; }
template <bool Flush>
inline float in(U32 x) {
  return f32(Flush ? flushed(x) : x);
}
// Multiply-add that is not fused is an addition after a multiplication: both flush denormals.
inline float mad_f(float a, float c, float e) { return f32(flushed(bits(a * c))) + e; }
// x86 makes negative NaNs where AMD makes positive ones.
template <bool Flush>
inline U32 out(float x) {
  U32 r = bits(x);
  r = r == 0xFFC00000U ? 0x7FC00000U : r;
  return Flush ? flushed(r) : r;
}
inline U64 out64(double x) {
  const U64 r = bits(x);
  return r == 0xFFF8000000000000U ? 0x7FF8000000000000U : r;
}
inline U64 join(U32 low, U32 high) { return U64{low} | U64{high} << 32; }
inline bool is_nan(float x) { return x != x; }
inline bool is_nan(double x) { return x != x; }

// --- loop shapes; the operations are captureless lambdas ---
using Fn = LaneFunction;

// An operation that asks for MODE.IEEE gets it last.
template <auto F, class... Sources>
[[gnu::always_inline]] inline auto apply(bool ieee, Sources... sources) {
  if constexpr (std::is_invocable_v<decltype(F), Sources..., bool>) {
    return F(sources..., ieee);
  } else {
    return F(sources...);
  }
}

// Applies F to one source. With S the first source is one word for all lanes.
template <auto F, bool S = false>
void u1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  const U32 all = a[0];
  WW_LOOP d[l] = F(S ? all : a[l]);
}
template <auto F, bool S = false>
void u2(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  const U32 all = a[0];
  WW_LOOP d[l] = F(S ? all : a[l], b[l]);
}
template <auto F, bool S = false>
void u3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  const U32 all = a[0];
  WW_LOOP d[l] = F(S ? all : a[l], b[l], c[l]);
}
template <bool Flush, auto F>
void f1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP d[l] = out<Flush>(F(in<Flush>(a[l])));
}
// Rolled: of two NaNs the host compiler chooses for each copy of the loop's body which one a sum or a
// product brings, and all lanes are to have the same one.
template <bool Flush, auto F, bool S = false>
void f2(U32* d, const U32* a, const U32* b, const U32*, LaneContext& context) {
  const U32 all = a[0];
  const bool ieee = context.ieee;
  WW_ROLLED_LOOP d[l] = out<Flush>(apply<F>(ieee, in<Flush>(S ? all : a[l]), in<Flush>(b[l])));
}
template <bool Flush, auto F, bool S = false>
void f3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& context) {
  const U32 all = a[0];
  const bool ieee = context.ieee;
  WW_ROLLED_LOOP {
    d[l] = out<Flush>(
        apply<F>(ieee, in<Flush>(S ? all : a[l]), in<Flush>(b[l]), in<Flush>(c[l])));
  }
}
// 64-bit values in register pairs.
template <auto F>
void q1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = F(join(a[l], a[kLanes + l]));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
template <auto F>
void q2(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = F(join(a[l], a[kLanes + l]), join(b[l], b[kLanes + l]));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
template <auto F>
void q3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_LOOP {
    const U64 r = F(join(a[l], a[kLanes + l]), join(b[l], b[kLanes + l]),
                    join(c[l], c[kLanes + l]));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
template <auto F>
void d1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = out64(F(f64(join(a[l], a[kLanes + l]))));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
// Rolled for the same reason as f2().
template <auto F>
void d2(U32* d, const U32* a, const U32* b, const U32*, LaneContext& context) {
  const bool ieee = context.ieee;
  WW_ROLLED_LOOP {
    const U64 r = out64(
        apply<F>(ieee, f64(join(a[l], a[kLanes + l])), f64(join(b[l], b[kLanes + l]))));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
template <auto F>
void d3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_ROLLED_LOOP {
    const U64 r = out64(F(f64(join(a[l], a[kLanes + l])), f64(join(b[l], b[kLanes + l])),
                          f64(join(c[l], c[kLanes + l]))));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
// 64-bit with a 32-bit second operand (shifts, ldexp).
template <auto F>
void qs(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = F(join(a[l], a[kLanes + l]), b[l]);
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
// 64-bit shifts by halves, which hosts shift in half the time and need not put together.
void shift_left(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U32 by = b[l] & 31U;
    const bool far = (b[l] & 32U) != 0;
    const U32 low = a[l] << by;
    const U32 high = a[kLanes + l] << by | (a[l] >> 1) >> (31U - by);
    d[l] = far ? 0U : low;
    d[kLanes + l] = far ? low : high;
  }
}
void shift_right(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U32 by = b[l] & 31U;
    const bool far = (b[l] & 32U) != 0;
    const U32 high = a[kLanes + l] >> by;
    const U32 low = a[l] >> by | (a[kLanes + l] << 1) << (31U - by);
    d[l] = far ? high : low;
    d[kLanes + l] = far ? 0U : high;
  }
}
// 64 bits to 32, and 32 to 64.
template <auto F>
void n1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP d[l] = F(f64(join(a[l], a[kLanes + l])));
}
template <auto F>
void w1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = bits(F(a[l]));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}

// Masks are made and used sixteen lanes at a time, so that the words between stay in registers.
constexpr int kGroup = 16;
#define WW_GROUPS for (int g = 0; g < kLanes; g += kGroup)
#define WW_GROUP_LOOP WW_ROLLED for (int i = 0; i < kGroup; ++i)

template <auto F, bool S = false>
void c_u32(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  const U32 all = a[0];
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP word[i] = F(S ? all : a[g + i], b[g + i]) ? ~U32{0} : 0U;
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <bool Flush, auto F, bool S = false>
void c_f32(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  const U32 all = a[0];
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP word[i] = F(in<Flush>(S ? all : a[g + i]), in<Flush>(b[g + i])) ? ~U32{0} : 0U;
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <auto F>
void c_u64(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      word[i] = F(join(a[g + i], a[kLanes + g + i]), join(b[g + i], b[kLanes + g + i])) ? ~U32{0} : 0U;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <auto F>
void c_f64(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      word[i] = F(f64(join(a[g + i], a[kLanes + g + i])), f64(join(b[g + i], b[kLanes + g + i]))) ? ~U32{0} : 0U;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <auto F>
constexpr Fn c_u32_scalar_first = &c_u32<F, true>;
template <auto F>
constexpr Fn c_u64_scalar_first = nullptr;
// d = F(a, b, carry in); the carry out is found beside it.
template <auto F, auto Carry, bool S = false>
void carry(U32* d, const U32* a, const U32* b, const U32*, LaneContext& x) {
  const U32 all = a[0];
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    alignas(64) U32 carry_in[kGroup];
    WW_EXPAND(carry_in, x.mask_in >> g);
    WW_GROUP_LOOP {
      const U32 first = S ? all : a[g + i];
      const U32 in = carry_in[i] & 1U;
      const U32 result = F(first, b[g + i], in);
      word[i] = Carry(first, b[g + i], in) ? ~U32{0} : 0U;
      d[g + i] = result;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <auto F, auto Carry, bool S = false>
void carry_only_out(U32* d, const U32* a, const U32* b, const U32*, LaneContext& x) {
  const U32 all = a[0];
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      const U32 first = S ? all : a[g + i];
      const U32 result = F(first, b[g + i]);
      word[i] = Carry(first, b[g + i]) ? ~U32{0} : 0U;
      d[g + i] = result;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}

#include "machine/isa/valu_functions.inl"
#include "machine/isa/valu_helpers.inl"

// --- operations with a mask, or with a shape of their own ---
template <bool Flush>
void div_scale32(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      bool vcc = false;
      d[g + i] = div_scale(in<Flush>(a[g + i]), in<Flush>(b[g + i]), in<Flush>(c[g + i]), vcc);
      word[i] = vcc ? ~U32{0} : 0U;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
// Whether none of a wave's divisions needs a scale, as most often: by the exponents, which leave
// quotient and reciprocal far from the ends of their range.
bool divides_plainly(const U32* b, const U32* c) {
  using Limits = ScaleLimits<double>;
  constexpr I32 kMaxNormal = 2044;  // a denominator's whose reciprocal is no denormal
  constexpr I32 kMinQuotient = -1000;
  U32 wild = 0;
  WW_LOOP {
    const I32 eb = sx(b[kLanes + l] >> 20 & 2047U);
    const I32 ec = sx(c[kLanes + l] >> 20 & 2047U);
    const bool in_range = (eb > 0) & (eb <= kMaxNormal) & (ec > Limits::kSmall) &
                          (ec - eb < Limits::kFar) & (ec - eb > kMinQuotient);
    wild |= in_range ? 0U : 1U;
  }
  return wild == 0;
}
void div_scale64(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  if (divides_plainly(b, c)) {
    std::memmove(d, a, 2 * kLanes * sizeof(U32));
    x.mask_out = 0;
    return;
  }
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      const int l = g + i;
      bool vcc = false;
      const U64 r = div_scale(f64(join(a[l], a[kLanes + l])), f64(join(b[l], b[kLanes + l])),
                              f64(join(c[l], c[kLanes + l])), vcc);
      d[l] = static_cast<U32>(r);
      d[kLanes + l] = static_cast<U32>(r >> 32);
      word[i] = vcc ? ~U32{0} : 0U;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
template <bool Flush>
void div_fmas32(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  const U32* const from[3] = {a, b, c};
  const SmallFmas<float, U32> small(Flush ? 0 : x.mask_in, 127, 0x1p-126F,
                                    [&](int i, int l) { return f32(from[i][l]); });
  constexpr float kScale = 18446744073709551616.0F;
  alignas(64) float sum[kLanes];  // the lanes' own may be those of c, which gives the scale
  WW_ROLLED_LOOP sum[l] = __builtin_fmaf(in<Flush>(a[l]), in<Flush>(b[l]), in<Flush>(c[l]));
  for (U64 set = x.mask_in; set != 0; set &= set - 1) {  // few, most often none
    const int l = __builtin_ctzll(set);
    sum[l] *= exponent_of(in<Flush>(c[l])) > 127 ? kScale : 1.0F / kScale;
  }
  WW_LOOP d[l] = out<Flush>(sum[l]);
  for (U64 set = small.lanes; set != 0; set &= set - 1) {
    const int l = __builtin_ctzll(set);
    d[l] = small.result[l];
  }
}
void div_fmas64(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  constexpr double kScale = 18446744073709551616.0 * 18446744073709551616.0;
  const U32* const from[3] = {a, b, c};
  const SmallFmas<double, U64> small(x.mask_in, 1023, 0x1p-1022, [&](int i, int l) {
    return f64(join(from[i][l], from[i][kLanes + l]));
  });
  alignas(64) double sum[kLanes];
  WW_LOOP {
    sum[l] = __builtin_fma(f64(join(a[l], a[kLanes + l])), f64(join(b[l], b[kLanes + l])),
                           f64(join(c[l], c[kLanes + l])));
  }
  for (U64 set = x.mask_in; set != 0; set &= set - 1) {
    const int l = __builtin_ctzll(set);
    sum[l] *= exponent_of(f64(join(c[l], c[kLanes + l]))) > 1023 ? kScale : 1.0 / kScale;
  }
  WW_LOOP {
    const U64 result = out64(sum[l]);
    d[l] = static_cast<U32>(result);
    d[kLanes + l] = static_cast<U32>(result >> 32);
  }
  for (U64 set = small.lanes; set != 0; set &= set - 1) {
    const int l = __builtin_ctzll(set);
    d[l] = static_cast<U32>(small.result[l]);
    d[kLanes + l] = static_cast<U32>(small.result[l] >> 32);
  }
}
// Scales in three products, of which one at most is rounded: on the way down those before the last
// leave 53 bits above the denormals.
void ldexp64(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  constexpr I32 kBias = 1023;
  constexpr I32 kUp = 1023;
  constexpr I32 kDown = 1022;
  constexpr I32 kStepDown = kDown - 53;
  alignas(64) U32 exponent[3][kLanes];
  WW_LOOP {
    const I32 power = sx(b[l]);
    const I32 first = power > kUp ? kUp : power < -kDown ? -kStepDown : 0;
    const I32 left = power - first;
    const I32 second = left > kUp ? kUp : left < -kDown ? -kStepDown : 0;
    const I32 rest = left - second;
    exponent[0][l] = ux(first + kBias);
    exponent[1][l] = ux(second + kBias);
    exponent[2][l] = ux((rest > kUp ? kUp : rest < -kDown ? -kDown : rest) + kBias);
  }
  WW_LOOP {
    double x = f64(join(a[l], a[kLanes + l]));
    x *= f64(U64{exponent[0][l]} << 52);
    x *= f64(U64{exponent[1][l]} << 52);
    const U64 r = bits(x * f64(U64{exponent[2][l]} << 52));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
template <bool S = false>
void cndmask(U32* d, const U32* a, const U32* b, const U32*, LaneContext& x) {
  const U32 all = a[0];
  WW_GROUPS {
    alignas(64) U32 take[kGroup];
    WW_EXPAND(take, x.mask_in >> g);
    WW_GROUP_LOOP d[g + i] = (b[g + i] & take[i]) | ((S ? all : a[g + i]) & ~take[i]);
  }
}
void mbcnt_lo(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U32 below = l >= 32 ? ~U32{0} : (1U << l) - 1U;
    d[l] = popcount(a[l] & below) + b[l];
  }
}
void mbcnt_hi(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U32 below = l <= 32 ? 0U : (1U << (l - 32)) - 1U;
    d[l] = popcount(a[l] & below) + b[l];
  }
}
void mad_u64_u32(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      const U32 product = a[g + i] * b[g + i];
      const U32 product_high = static_cast<U32>(U64{a[g + i]} * b[g + i] >> 32);
      const U32 r = product + c[g + i];
      const U32 high = product_high + c[kLanes + g + i];
      const U32 with_carry = high + (r < product ? 1U : 0U);
      word[i] = ((high < product_high) | (with_carry < high)) ? ~U32{0} : 0U;
      d[g + i] = r;
      d[kLanes + g + i] = with_carry;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
void mad_i64_i32(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& x) {
  U64 mask = 0;
  for (int l = 0; l < kLanes; ++l) {
    I64 r = 0;
    const bool overflow = __builtin_add_overflow(I64{sx(a[l])} * I64{sx(b[l])},
                                                 sx(join(c[l], c[kLanes + l])), &r);
    mask |= U64{overflow != (r < 0)} << l;  // bit 64 of the exact sum, which is its sign
    d[l] = static_cast<U32>(static_cast<U64>(r));
    d[kLanes + l] = static_cast<U32>(static_cast<U64>(r) >> 32);
  }
  x.mask_out = mask;
}
template <bool Flush>
void class32(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP word[i] = class_of(in<Flush>(a[g + i]), b[g + i]) != 0 ? ~U32{0} : 0U;
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
void class64(U32*, const U32* a, const U32* b, const U32*, LaneContext& x) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    WW_GROUP_LOOP {
      word[i] = class_of(f64(join(a[g + i], a[kLanes + g + i])), b[g + i]) != 0 ? ~U32{0} : 0U;
    }
    mask |= WW_PACK(word) << g;
  }
  x.mask_out = mask;
}
void nothing(U32*, const U32*, const U32*, const U32*, LaneContext&) {}

void take_lanes(U32* d, const U32* s, const U32* address, U32 offset, U32 row) {
  WW_LOOP {
    const U32 other = (address[l] + offset) / 4;
    d[l] = s[(other & (row - 1)) | (static_cast<U32>(l) & ~(row - 1))];
  }
}

// --- support of the emulator ---
void blend(U32* d, const U32* s, const U32* mask, int words) {
  for (int w = 0; w < words; ++w, d += kLanes, s += kLanes) {
    WW_LOOP d[l] = (s[l] & mask[l]) | (d[l] & ~mask[l]);
  }
}
template <int Words>
void unpack_n(U32* registers, const U32* elements) {
  for (int w = 0; w < Words; ++w) {
    WW_LOOP registers[w * kLanes + l] = elements[l * Words + w];
  }
}
void unpack(U32* registers, const U32* elements, int words) {
  switch (words) {
    case 1: std::memcpy(registers, elements, kLanes * sizeof(U32)); return;
    case 2: return unpack_n<2>(registers, elements);
    case 3: return unpack_n<3>(registers, elements);
    default: return unpack_n<4>(registers, elements);
  }
}
template <int Words>
void pack_n(U32* elements, const U32* registers) {
  for (int w = 0; w < Words; ++w) {
    WW_LOOP elements[l * Words + w] = registers[w * kLanes + l];
  }
}
void pack(U32* elements, const U32* registers, int words) {
  switch (words) {
    case 1: std::memcpy(elements, registers, kLanes * sizeof(U32)); return;
    case 2: return pack_n<2>(elements, registers);
    case 3: return pack_n<3>(elements, registers);
    default: return pack_n<4>(elements, registers);
  }
}
U64 smallest_of_row(U64* lowest) {
  for (int half = 4; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) {
      lowest[i] = lowest[i + half] < lowest[i] ? lowest[i + half] : lowest[i];
    }
  }
  return lowest[0];
}
template <int Rows>
U64 smallest_of_rows(const U64* keys, U64 key) {
  U64 lowest[8];
  for (int i = 0; i < 8; ++i) lowest[i] = ~U64{0};
  for (int row = 0; row < 8 * Rows; row += 8) {
    WW_ROLLED for (int i = 0; i < 8; ++i) {
      const U64 other = keys[row + i] > key ? keys[row + i] : ~U64{0};
      lowest[i] = other < lowest[i] ? other : lowest[i];
    }
  }
  return smallest_of_row(lowest);
}
U64 smallest_above(const U64* keys, U64 key, int rows) {
  switch (rows) {
    case 1: return smallest_of_rows<1>(keys, key);
    case 2: return smallest_of_rows<2>(keys, key);
    case 3: return smallest_of_rows<3>(keys, key);
    case 4: return smallest_of_rows<4>(keys, key);
    default: return smallest_of_rows<5>(keys, key);
  }
}
// Searches a table with 16 rows of four columns, as many words at a time as a vector of the host
// has. All stays in vector registers, for a value that was stored word by word would be waited for.
// A vector wider than the host's would be taken apart by the compiler.
#if defined(__AVX512F__)
constexpr int kRowWords = 16;
#elif defined(__AVX2__)
constexpr int kRowWords = 8;
#else
constexpr int kRowWords = 4;
#endif
using Rows = U32 __attribute__((vector_size(kRowWords * sizeof(U32))));
inline void load_rows(Rows& rows, const U32* words) { std::memcpy(&rows, words, sizeof rows); }
inline U64 equal_words(const U32* words, const Rows& wanted) {
  U64 mask = 0;
  WW_GROUPS {
    alignas(64) U32 word[kGroup];
    for (int i = 0; i < kGroup; i += kRowWords) {
      Rows rows;
      load_rows(rows, words + g + i);
      const auto equal = rows == wanted;
      std::memcpy(word + i, &equal, sizeof equal);
    }
    mask |= WW_PACK(word) << g;
  }
  return mask;
}
U64 equal_by_column(const U32* words, U32 first, U32 step) {
  Rows column;
  for (int i = 0; i < kRowWords; ++i) column[i] = static_cast<U32>(i) % 4;
  return equal_words(words, first + step * column);
}
U64 least_by_column(const U32* words) {
  Rows least;
  load_rows(least, words);
  const auto take = [&least](const Rows& other) { least = other < least ? other : least; };
  for (int g = kRowWords; g < kLanes; g += kRowWords) {
    Rows rows;
    load_rows(rows, words + g);
    take(rows);
  }
#if defined(__AVX512F__)
  take(__builtin_shufflevector(least, least, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  take(__builtin_shufflevector(least, least, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
#elif defined(__AVX2__)
  take(__builtin_shufflevector(least, least, 4, 5, 6, 7, 0, 1, 2, 3));
#endif
  return equal_words(words, least);
}
void modify_source(U32* d, const U32* s, int float_bits, bool abs, bool neg) {
  const U32 clear = abs ? 0x7FFFFFFFU : ~U32{0};
  const U32 flip = neg ? 0x80000000U : 0U;
  if (float_bits == 32) {
    WW_LOOP d[l] = (s[l] & clear) ^ flip;
    return;
  }
  WW_LOOP {
    d[l] = s[l];
    d[kLanes + l] = (s[kLanes + l] & clear) ^ flip;
  }
}
// Where omod acts, denormals become zeros, and zeros have no sign. A NaN clamps to 0 (DX10_CLAMP).
template <class F>
inline F changed(F x, F factor, F least_normal, ResultChange change) {
  const F scaled = x * factor;
  const bool vanishes = (scaled < least_normal) & (scaled > -least_normal);
  const F of_omod = vanishes ? F{0} : scaled;
  const F y = change.omod != 0 ? of_omod : x;
  const F clamped = y > F{0} ? (y < F{1} ? y : F{1}) : F{0};
  const bool stays = (!change.clamp) | (change.keeps_nan & is_nan(y));
  return stays ? y : clamped;
}
void modify_result(U32* d, int float_bits, ResultChange change) {
  constexpr float kFactor[4] = {1.0F, 2.0F, 4.0F, 0.5F};
  const float factor = kFactor[change.omod & 3U];
  if (float_bits == 32) {
    WW_LOOP d[l] = bits(changed(f32(d[l]), factor, 0x1p-126F, change));
    return;
  }
  WW_LOOP {
    const double x = f64(join(d[l], d[kLanes + l]));
    const U64 r = bits(changed(x, double{factor}, 0x1p-1022, change));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
bool addresses(U64* target, const U32* low, const U32* high, U64 offset, U64 exec, const U32* mask,
               U32 stride, U64* base) {
  if (exec == ~U64{0}) {
    // The common case without 64-bit arithmetic, and without writing addresses that nobody needs.
    U32 differs = 0;
    WW_LOOP differs |= (low[l] - low[0] - static_cast<U32>(l) * stride) | (high[l] ^ high[0]);
    const U64 start = join(low[0], high[0]);
    if (differs == 0 && low[63] >= low[0]) {
      *base = start + offset;
      return true;
    }
  }
  WW_LOOP target[l] = join(low[l], high[l]) + offset;
  if (exec == 0) return false;
  const int first = __builtin_ctzll(exec);
  const U64 start = target[first] - static_cast<U64>(first) * stride;
  U64 differs = 0;
  if (exec == ~U64{0}) {
    WW_LOOP differs |= target[l] ^ (start + static_cast<U64>(l) * stride);
  } else {
    for (int l = 0; l < kLanes; ++l) {
      const U64 enabled = static_cast<U64>(static_cast<I64>(static_cast<I32>(mask[l])));
      differs |= (target[l] ^ (start + static_cast<U64>(l) * stride)) & enabled;
    }
  }
  *base = start;
  return differs == 0;
}
AddressRange address_range(const U64* address, U64 exec) {
  AddressRange range;
  WW_GROUPS {
    alignas(64) U32 on[kGroup];
    WW_EXPAND(on, exec >> g);
    WW_GROUP_LOOP {
      const U64 enabled = static_cast<U64>(static_cast<I64>(static_cast<I32>(on[i])));
      const U64 low = address[g + i] | ~enabled;
      const U64 high = address[g + i] & enabled;
      range.least = low < range.least ? low : range.least;
      range.most = high > range.most ? high : range.most;
    }
  }
  return range;
}
bool line_numbers(U32* line, const U64* address, U64 base, U32 bytes, U64 exec) {
  U32 over = 0;
  WW_GROUPS {
    alignas(64) U32 on[kGroup];
    WW_EXPAND(on, exec >> g);
    WW_GROUP_LOOP {
      const U64 offset = address[g + i] - base;
      line[g + i] = static_cast<U32>(offset >> 6);
      const U32 end = (static_cast<U32>(offset) & 63U) + bytes;
      over |= (end > 64U ? ~U32{0} : 0U) & on[i];
    }
  }
  return over == 0;
}
bool follow_one_another(const U64* address, U32 count, U64 step) {
  U64 differs = 0;
  WW_IVDEP for (U32 i = 0; i < count; ++i) differs |= address[i] - address[0] - i * step;
  return differs == 0;
}
LocalSpan local_span(const U32* address, U32 offset, const U32* mask) {
  constexpr int kHalf = kLanes / 2;
  LocalSpan span;
  U32 differs = 0;
  U32 first = ~U32{0};
  U32 last = 0;
  WW_LOOP {
    const U32 at = address[l] + offset;
    differs |= address[l] - address[0] - 4U * static_cast<U32>(l);
    const U32 low = at | ~mask[l];
    const U32 high = at & mask[l];
    first = low < first ? low : first;
    last = high > last ? high : last;
  }
  for (int half = 0; half < 2; ++half) {
    U32 banks = 0;
    WW_IVDEP for (int l = half * kHalf; l < (half + 1) * kHalf; ++l) {
      banks |= (1U << ((address[l] + offset) >> 2 & 31U)) & mask[l];
    }
    span.banks[half] = banks;
  }
  span.first = first;
  span.last = last;
  span.in_row = differs == 0;
  return span;
}
bool all_apart(const U32* a, const U32* b, U32 distance, const U32* mask) {
  U32 differs = 0;
  WW_LOOP differs |= (a[l] - b[l] - distance) & mask[l];
  return differs == 0;
}
void copy_lines(std::byte* to, const std::byte* from, unsigned lines) {
  if (lines == 4) {  // most often
    std::memcpy(to, from, 256);
    return;
  }
  for (; lines != 0; --lines, to += 64, from += 64) std::memcpy(to, from, 64);
}
void expand_mask(U32* mask, U64 exec) {
  WW_GROUPS WW_EXPAND(mask + g, exec >> g);
}
void broadcast(U32* d, U32 value) {
  WW_LOOP d[l] = value;
}
void pair_halves(U32* d, const U32* s, U32 low, U32 high, U32 signs) {
  WW_LOOP d[l] = ((s[l] >> low & 0xFFFFU) | (s[l] >> high & 0xFFFFU) << 16) ^ signs;
}
void count_up(U32* d, U32 first, U32 step) {
  WW_LOOP d[l] = first + static_cast<U32>(l) * step;
}

#include "machine/isa/valu_table.inl"

}  // namespace
}  // namespace ww::sim::gpu::exec
