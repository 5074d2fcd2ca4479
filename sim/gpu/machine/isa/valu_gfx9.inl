// Vector semantics that gfx9 adds: sums without carries, three-operand integers, 16-bit integers and
// floats, packed operations; part of valu.inl. Source: AMD Vega ISA and Instinct MI200 ISA, vector
// ALU opcode tables.
//
// A 16-bit operand is the low half of its word; a 16-bit result has a zero above it. Which half of a
// register an operand is, and where the result goes, is settled around the function
// (vector_forms.cpp). Half floats keep their denormals: no compiler asks for another mode.

inline U32 low(U32 a) { return a & 0xFFFFU; }
inline I32 s16(U32 a) { return sx(a << 16) >> 16; }
inline float h(U32 a) { return f16_to_f32(a & 0xFFFFU); }
// A double's nearest half: to a float with the odd rounding that leaves the second one right.
inline U32 f64_to_f16(double x) {
  const float nearest = static_cast<float>(x);
  const U32 b = bits(nearest);
  const double back = double{nearest};
  const bool away = x < 0 ? back < x : back > x;
  const U32 odd = (away ? b - 1U : b) | 1U;
  const bool finite = (b & 0x7FFFFFFFU) < 0x7F800000U;
  return f32_to_f16(f32(finite && back != x ? odd : b));
}
// One NaN for all: which of two NaNs a sum brings is the host compiler's choice.
inline U32 half_of(float x) { return is_nan(x) ? 0x7E00U : f32_to_f16(x); }
inline U32 half_of(double x) { return is_nan(x) ? 0x7E00U : f64_to_f16(x); }

// The sum of two floats that have no more digits than a product of halves; odd in the last place
// where it is not exact, so that its nearest half is that of the exact sum.
inline float odd_sum(float x, float e) {
  const float sum = x + e;
  const float added = sum - x;
  const float error = (x - (sum - added)) + (e - added);
  const U32 b = bits(sum);
  const bool away = ((bits(error) ^ b) & 0x80000000U) != 0;
  const U32 odd = (away ? b - 1U : b) | 1U;
  const bool finite = (b & 0x7FFFFFFFU) < 0x7F800000U;
  return f32(finite && error != 0 ? odd : b);
}

inline U32 class_of_half(U32 x, U32 which) {
  const U32 exponent = x & 0x7C00U;
  return which >> kind_of(exponent == 0x7C00U, exponent == 0, (x & 0x3FFU) == 0, (x & 0x200U) != 0,
                          (x >> 15 & 1U) != 0) & 1U;
}
inline U32 to_u16(float x) { return is_nan(x) || x <= 0 ? 0U : x >= 65535.0F ? 0xFFFFU : U32(x); }
inline U32 to_i16(float x) {
  return is_nan(x) ? 0U : low(x <= -32768.0F ? 0x8000U : x >= 32767.0F ? 0x7FFFU : ux(I32(x)));
}
inline float fract_h(float x) {
  const float r = x - __builtin_floorf(x);
  return r >= 1.0F ? 0.99951171875F : r;  // the greatest half below 1
}
inline U32 div_fixup_h(U32 a, U32 b, U32 c) {
  constexpr U32 kInfinity = 0x7C00U;
  const U32 sign = (b ^ c) & 0x8000U;
  const U32 mb = b & 0x7FFFU;
  const U32 mc = c & 0x7FFFU;
  U32 r = sign | (a & 0x7FFFU);
  r = ((mb == kInfinity) | (mc == 0)) ? sign : r;
  r = ((mb == 0) | (mc == kInfinity)) ? sign | kInfinity : r;
  r = ((mb == 0) & (mc == 0)) | ((mb == kInfinity) & (mc == kInfinity)) ? 0xFE00U : r;
  r = mb > kInfinity ? low(b | 0x200U) : r;
  return mc > kInfinity ? low(c | 0x200U) : r;
}
// Bytes 0 to 3 of c, then 0 to 3 of a; 8 to 11 signs of their halves, 12 zeros, above it ones.
inline U32 permuted(U32 a, U32 c, U32 select) {
  const U64 both = join(c, a);
  U32 result = 0;
  for (int i = 0; i < 4; ++i) {
    const U32 s = select >> (8 * i) & 255U;
    U32 byte = 0;
    if (s < 8) {
      byte = U32(both >> (8 * s)) & 255U;
    } else if (s < 12) {
      byte = (both >> (16 * (s - 8) + 15) & 1U) != 0 ? 255U : 0U;
    } else {
      byte = s == 12 ? 0U : 255U;
    }
    result |= byte << (8 * i);
  }
  return result;
}
inline U32 saturated_u8(U32 half) {
  const I32 x = s16(half);
  return x < 0 ? 0U : x > 255 ? 255U : ux(x);
}
inline U32 saturated_i32(I64 x) {
  return U32(U64(x < -2147483648LL ? -2147483648LL : x > 2147483647LL ? 2147483647LL : x));
}
inline U32 saturated_u32(I64 x) { return x < 0 ? 0U : x > 0xFFFFFFFFLL ? ~0U : U32(U64(x)); }
// Sums of the products of a word's parts.
template <int Bits>
inline I64 dot_signed(U32 a, U32 c) {
  I64 sum = 0;
  for (int at = 0; at < 32; at += Bits) {
    const I64 x = sx(a << (32 - Bits - at)) >> (32 - Bits);
    const I64 y = sx(c << (32 - Bits - at)) >> (32 - Bits);
    sum += x * y;
  }
  return sum;
}
template <int Bits>
inline I64 dot_unsigned(U32 a, U32 c) {
  constexpr U32 kPart = (1U << Bits) - 1U;
  I64 sum = 0;
  for (int at = 0; at < 32; at += Bits) sum += I64{a >> at & kPart} * I64{c >> at & kPart};
  return sum;
}
// The sum's denormals are zeros in every mode (LLVM, SIISelLowering's performFMACombine: fdot2 always
// flushes them). Those of halves are zeros on MI200 and MI300 ("AMD Instinct MI300 ISA", 6.4; PyTorch's
// notes on numerical accuracy, which name MI200 and no other).
template <bool FlushHalves>
inline float dot_factor(U32 a) {
  return FlushHalves && (a & 0x7C00U) == 0 ? f32((a & 0x8000U) << 16) : h(a);
}
template <bool FlushHalves>
inline U32 dot_half(U32 a, U32 c, U32 e) {
  constexpr auto factor = dot_factor<FlushHalves>;
  const float first = __builtin_fmaf(factor(low(a)), factor(low(c)), f32(flushed(e)));
  return out<true>(__builtin_fmaf(factor(a >> 16), factor(c >> 16), first));
}
inline U32 saturated_i16(I32 x) { return low(clamp_i(x, -32768, 32767)); }
inline U32 saturated_u16(I32 x) { return clamp_i(x, 0, 65535); }

// --- shapes ---
// 64 bits with a 32-bit first operand: the shifts with reversed operands.
template <auto F>
void sq(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_LOOP {
    const U64 r = F(a[l], join(b[l], b[kLanes + l]));
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
// A 64-bit number, shifted and added to another: the shift has three bits.
inline void shift_add_64(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_LOOP {
    const U64 r = (join(a[l], a[kLanes + l]) << (b[l] & 7U)) + join(c[l], c[kLanes + l]);
    d[l] = static_cast<U32>(r);
    d[kLanes + l] = static_cast<U32>(r >> 32);
  }
}
// Half floats through floats: one rounding for sums, products, quotients and roots, since a float
// has more than twice a half's digits.
template <auto F>
void h1(U32* d, const U32* a, const U32*, const U32*, LaneContext&) {
  WW_LOOP d[l] = half_of(F(h(a[l])));
}
template <auto F>
void h2(U32* d, const U32* a, const U32* b, const U32*, LaneContext& context) {
  const bool ieee = context.ieee;
  WW_LOOP d[l] = half_of(apply<F>(ieee, h(a[l]), h(b[l])));
}
template <auto F>
void h3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext& context) {
  const bool ieee = context.ieee;
  WW_LOOP d[l] = half_of(apply<F>(ieee, h(a[l]), h(b[l]), h(c[l])));
}
// Both halves of a word.
template <auto F>
void p2(U32* d, const U32* a, const U32* b, const U32*, LaneContext& context) {
  const bool ieee = context.ieee;
  WW_LOOP {
    d[l] = low(apply<F>(ieee, low(a[l]), low(b[l]))) |
           apply<F>(ieee, a[l] >> 16, b[l] >> 16) << 16;
  }
}
template <auto F>
void p3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_LOOP {
    d[l] = low(F(low(a[l]), low(b[l]), low(c[l]))) | F(a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16;
  }
}
// Both halves of a word as floats.
#if !defined(WW_WIDEN)
#define WW_WIDEN(target, words, shift) WW_GROUP_LOOP (target)[i] = h((words)[i] >> (shift))
#define WW_NARROW(target, low, high) \
  WW_GROUP_LOOP (target)[i] = half_of((low)[i]) | half_of((high)[i]) << 16
#endif
template <auto F>
void ph2(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_GROUPS {
    alignas(64) float result[2][kGroup];
    for (unsigned half = 0; half < 2; ++half) {
      alignas(64) float x[kGroup], y[kGroup];
      WW_WIDEN(x, a + g, 16 * half);
      WW_WIDEN(y, b + g, 16 * half);
      WW_GROUP_LOOP result[half][i] = F(x[i], y[i]);
    }
    WW_NARROW(d + g, result[0], result[1]);
  }
}
template <auto F>
void ph3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_GROUPS {
    alignas(64) float result[2][kGroup];
    for (unsigned half = 0; half < 2; ++half) {
      alignas(64) float x[kGroup], y[kGroup], z[kGroup];
      WW_WIDEN(x, a + g, 16 * half);
      WW_WIDEN(y, b + g, 16 * half);
      WW_WIDEN(z, c + g, 16 * half);
      WW_GROUP_LOOP result[half][i] = F(x[i], y[i], z[i]);
    }
    WW_NARROW(d + g, result[0], result[1]);
  }
}
// Two floats in a register pair: one loop, for the sake of NaNs (f2).
template <bool Flush, auto F>
void g2(U32* d, const U32* a, const U32* b, const U32*, LaneContext&) {
  WW_ROLLED for (int l = 0; l < 2 * kLanes; ++l) {
    d[l] = out<Flush>(F(in<Flush>(a[l]), in<Flush>(b[l])));
  }
}
template <bool Flush, auto F>
void g3(U32* d, const U32* a, const U32* b, const U32* c, LaneContext&) {
  WW_ROLLED for (int l = 0; l < 2 * kLanes; ++l) {
    d[l] = out<Flush>(F(in<Flush>(a[l]), in<Flush>(b[l]), in<Flush>(c[l])));
  }
}

#define WW_9U1(name, ...) \
  b.add(Opcode::name, &u1<([](U32 a) -> U32 { return __VA_ARGS__; })>, \
        &u1<([](U32 a) -> U32 { return __VA_ARGS__; })>, 1)
#define WW_9U2(name, ...) \
  b.add(Opcode::name, &u2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>, \
        &u2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>, 2)
#define WW_9U3(name, ...) \
  b.add(Opcode::name, &u3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>, \
        &u3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>, 3)
#define WW_CLAMPED2(...) clamped = &u2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>
#define WW_CLAMPED3(...) clamped = &u3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>
#define WW_H(opcode, function, sources) b.half(Opcode::opcode, function, sources)
#define WW_H1(name, ...) \
  b.half(Opcode::name, &h1<([](float a) -> float { return __VA_ARGS__; })>, 1)
#define WW_H2(name, ...) \
  b.half(Opcode::name, &h2<([](float a, float c) -> float { return __VA_ARGS__; })>, 2)
#define WW_H3(name, ...) \
  b.half(Opcode::name, &h3<([](float a, float c, float e) -> double { return __VA_ARGS__; })>, 3)
#define WW_P2(name, ...) \
  b.add(Opcode::name, &p2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>, \
        &p2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>, 2)
#define WW_P3(name, ...) \
  b.add(Opcode::name, &p3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>, \
        &p3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>, 3)
#define WW_LEAST_PH2(name, ...)                                                         \
  b.half(Opcode::name,                                                                 \
         &p2<([](U32 a, U32 c, bool ieee) -> U32 { return half_of(__VA_ARGS__); })>, 2)
#define WW_LEAST_H2(name, ...) \
  b.half(Opcode::name, &h2<WW_LAMBDA_LEAST2(float, __VA_ARGS__)>, 2)
#define WW_LEAST_H3(name, ...) \
  b.half(Opcode::name, &h3<WW_LAMBDA_LEAST3(float, __VA_ARGS__)>, 3)
#define WW_CLAMPED_P2(...) clamped = &p2<([](U32 a, U32 c) -> U32 { return __VA_ARGS__; })>
#define WW_CLAMPED_P3(...) clamped = &p3<([](U32 a, U32 c, U32 e) -> U32 { return __VA_ARGS__; })>

struct Gfx9Builder {
  Builder& builder;
  VectorEntry& add(Opcode opcode, Fn keep, Fn flush, int sources) {
    return builder.add(opcode, keep, flush, sources);
  }
  VectorEntry& half(Opcode opcode, Fn f, int sources) {
    VectorEntry& entry = add(opcode, f, f, sources);
    entry.float_bits = 16;
    return entry;
  }
  VectorEntry& single(Opcode opcode, Fn keep, Fn flush, int sources) {
    VectorEntry& entry = add(opcode, keep, flush, sources);
    entry.float_bits = 32;
    return entry;
  }
  void same(Opcode opcode, Opcode older) {
    builder.table.vector[static_cast<std::size_t>(opcode)] =
        builder.table.vector[static_cast<std::size_t>(older)];
  }
  void compare(Opcode plain, Opcode writes_exec, Fn f, int float_bits) {
    builder.compare(plain, writes_exec, f, f, float_bits, 0);
  }
};

void build_gfx9_integer(Gfx9Builder& b) {
  // Sums without carries; clamped they saturate.
  WW_9U2(v_add_u32, a + c).WW_CLAMPED2(saturated_u32(I64{a} + c));
  WW_9U2(v_sub_u32, a - c).WW_CLAMPED2(saturated_u32(I64{a} - c));
  WW_9U2(v_subrev_u32, c - a).WW_CLAMPED2(saturated_u32(I64{c} - a));
  WW_9U2(v_add_nc_i32, a + c).WW_CLAMPED2(saturated_i32(I64{sx(a)} + sx(c)));
  WW_9U2(v_sub_nc_i32, a - c).WW_CLAMPED2(saturated_i32(I64{sx(a)} - sx(c)));
  b.same(Opcode::v_add_co_u32, Opcode::v_add_i32);
  b.same(Opcode::v_sub_co_u32, Opcode::v_sub_i32);
  b.same(Opcode::v_subrev_co_u32, Opcode::v_subrev_i32);
  b.same(Opcode::v_addc_co_u32, Opcode::v_addc_u32);
  b.same(Opcode::v_subb_co_u32, Opcode::v_subb_u32);
  b.same(Opcode::v_subbrev_co_u32, Opcode::v_subbrev_u32);
  b.same(Opcode::v_accvgpr_read_b32, Opcode::v_mov_b32);
  b.same(Opcode::v_accvgpr_write_b32, Opcode::v_mov_b32);
  b.same(Opcode::v_accvgpr_mov_b32, Opcode::v_mov_b32);
  WW_9U2(v_xnor_b32, ~(a ^ c));
  WW_9U3(v_lshl_add_u32, (a << (c & 31U)) + e);
  WW_9U3(v_add_lshl_u32, (a + c) << (e & 31U));
  WW_9U3(v_add3_u32, a + c + e);
  WW_9U3(v_lshl_or_b32, (a << (c & 31U)) | e);
  WW_9U3(v_and_or_b32, (a & c) | e);
  WW_9U3(v_xor3_b32, a ^ c ^ e);
  // gfx11: the larger of two, then the smaller of that and a third; and the other way around.
  WW_9U3(v_maxmin_u32, (a > c ? a : c) < e ? (a > c ? a : c) : e);
  WW_9U3(v_minmax_u32, (a < c ? a : c) > e ? (a < c ? a : c) : e);
  WW_9U3(v_maxmin_i32, sx(sx(a) > sx(c) ? a : c) < sx(e) ? (sx(a) > sx(c) ? a : c) : e);
  WW_9U3(v_minmax_i32, sx(sx(a) < sx(c) ? a : c) > sx(e) ? (sx(a) < sx(c) ? a : c) : e);
  WW_9U3(v_or3_b32, a | c | e);
  WW_9U3(v_xad_u32, (a ^ c) + e);
  WW_9U3(v_perm_b32, permuted(a, c, e));
  WW_9U3(v_mad_u32_u16, low(a) * low(c) + e);
  WW_9U3(v_mad_i32_i16, ux(s16(a) * s16(c)) + e);
  WW_9U1(v_sat_pk_u8_i16, saturated_u8(a) | saturated_u8(a >> 16) << 8);
  for (const auto& [opcode, function] :
       {std::pair<Opcode, Fn>{Opcode::v_lshlrev_b64,
                              &sq<([](U32 a, U64 c) -> U64 { return c << (a & 63U); })>},
        {Opcode::v_lshrrev_b64, &sq<([](U32 a, U64 c) -> U64 { return c >> (a & 63U); })>},
        {Opcode::v_ashrrev_i64, &sq<([](U32 a, U64 c) -> U64 { return U64(sx(c) >> (a & 63U)); })>}}) {
    b.builder.wide(opcode, function, 2, 2);
  }

  // 16 bits.
  WW_9U2(v_add_u16, low(a + c)).WW_CLAMPED2(saturated_u16(I32(low(a) + low(c))));
  WW_9U2(v_sub_u16, low(a - c)).WW_CLAMPED2(saturated_u16(I32(low(a)) - I32(low(c))));
  WW_9U2(v_subrev_u16, low(c - a)).WW_CLAMPED2(saturated_u16(I32(low(c)) - I32(low(a))));
  WW_9U2(v_add_i16, low(a + c)).WW_CLAMPED2(saturated_i16(s16(a) + s16(c)));
  WW_9U2(v_sub_i16, low(a - c)).WW_CLAMPED2(saturated_i16(s16(a) - s16(c)));
  WW_9U2(v_mul_lo_u16, low(a * c));
  // gfx11.
  WW_9U1(v_mov_b16, low(a));
  WW_9U1(v_not_b16, low(~a));
  WW_9U1(v_cvt_i32_i16, ux(s16(a)));
  WW_9U1(v_cvt_u32_u16, low(a));
  WW_9U2(v_and_b16, low(a & c));
  WW_9U2(v_or_b16, low(a | c));
  WW_9U2(v_xor_b16, low(a ^ c));
  b.same(Opcode::v_cndmask_b16, Opcode::v_cndmask_b32);
  WW_9U2(v_lshlrev_b16, low(c << (a & 15U)));
  WW_9U2(v_lshrrev_b16, low(c) >> (a & 15U));
  WW_9U2(v_ashrrev_i16, low(ux(s16(c) >> (a & 15U))));
  WW_9U2(v_max_u16, low(a) > low(c) ? low(a) : low(c));
  WW_9U2(v_min_u16, low(a) < low(c) ? low(a) : low(c));
  WW_9U2(v_max_i16, low(s16(a) > s16(c) ? a : c));
  WW_9U2(v_min_i16, low(s16(a) < s16(c) ? a : c));
  for (const Opcode opcode : {Opcode::v_mad_u16, Opcode::v_mad_legacy_u16}) {
    b.add(opcode, &u3<([](U32 a, U32 c, U32 e) -> U32 { return low(a * c + e); })>,
          &u3<([](U32 a, U32 c, U32 e) -> U32 { return low(a * c + e); })>, 3);
  }
  for (const Opcode opcode : {Opcode::v_mad_i16, Opcode::v_mad_legacy_i16}) {
    b.add(opcode, &u3<([](U32 a, U32 c, U32 e) -> U32 { return low(a * c + e); })>,
          &u3<([](U32 a, U32 c, U32 e) -> U32 { return low(a * c + e); })>, 3);
  }
  WW_9U3(v_min3_u16, low(a) < low(c) ? (low(a) < low(e) ? low(a) : low(e)) : (low(c) < low(e) ? low(c) : low(e)));
  WW_9U3(v_max3_u16, low(a) > low(c) ? (low(a) > low(e) ? low(a) : low(e)) : (low(c) > low(e) ? low(c) : low(e)));
  WW_9U3(v_min3_i16, low(s16(a) < s16(c) ? (s16(a) < s16(e) ? a : e) : (s16(c) < s16(e) ? c : e)));
  WW_9U3(v_max3_i16, low(s16(a) > s16(c) ? (s16(a) > s16(e) ? a : e) : (s16(c) > s16(e) ? c : e)));
  WW_9U3(v_med3_i16, low(ux(median(s16(a), s16(c), s16(e)))));
  WW_9U3(v_med3_u16, median(low(a), low(c), low(e)));
#define WW_COMPARE16(name, sign)                                                                \
  b.compare(Opcode::v_cmp_##name##_i16, Opcode::v_cmpx_##name##_i16,                            \
            &c_u32<([](U32 a, U32 c) { return s16(a) sign s16(c); })>, 0);                       \
  b.compare(Opcode::v_cmp_##name##_u16, Opcode::v_cmpx_##name##_u16,                            \
            &c_u32<([](U32 a, U32 c) { return low(a) sign low(c); })>, 0);
  WW_COMPARE16(lt, <)
  WW_COMPARE16(eq, ==)
  WW_COMPARE16(le, <=)
  WW_COMPARE16(gt, >)
  WW_COMPARE16(ne, !=)
  WW_COMPARE16(ge, >=)
  b.compare(Opcode::v_cmp_f_i16, Opcode::v_cmpx_f_i16, &c_u32<([](U32, U32) { return false; })>, 0);
  b.compare(Opcode::v_cmp_f_u16, Opcode::v_cmpx_f_u16, &c_u32<([](U32, U32) { return false; })>, 0);
  b.compare(Opcode::v_cmp_t_i16, Opcode::v_cmpx_t_i16, &c_u32<([](U32, U32) { return true; })>, 0);
  b.compare(Opcode::v_cmp_t_u16, Opcode::v_cmpx_t_u16, &c_u32<([](U32, U32) { return true; })>, 0);
}

void build_gfx9_half(Gfx9Builder& b) {
  WW_H2(v_add_f16, a + c);
  WW_H2(v_sub_f16, a - c);
  WW_H2(v_subrev_f16, c - a);
  WW_H2(v_mul_f16, a * c);
  WW_LEAST_H2(v_max_f16, max_f(a, c, ieee));
  WW_LEAST_H2(v_min_f16, min_f(a, c, ieee));
  // The product of two halves is a float; the sum rounds once more where it is not fused.
  constexpr auto mad = [](float a, float c, float e) -> float {
    return odd_sum(h(half_of(a * c)), e);
  };
  constexpr auto fma = [](float a, float c, float e) -> float { return odd_sum(a * c, e); };
  WW_H(v_mac_f16, &h3<mad>, 3).accumulates = true;
  WW_H(v_fmac_f16, &h3<fma>, 3).accumulates = true;
  for (const Opcode opcode : {Opcode::v_mad_f16, Opcode::v_mad_legacy_f16, Opcode::v_madmk_f16,
                              Opcode::v_madak_f16}) {
    b.half(opcode, &h3<mad>, 3);
  }
  for (const Opcode opcode : {Opcode::v_fma_f16, Opcode::v_fma_legacy_f16, Opcode::v_fmamk_f16,
                              Opcode::v_fmaak_f16}) {
    b.half(opcode, &h3<fma>, 3);
  }
  WW_LEAST_H3(v_min3_f16, min_f(min_f(a, c, ieee), e, ieee));
  WW_LEAST_H3(v_max3_f16, max_f(max_f(a, c, ieee), e, ieee));
  WW_LEAST_H3(v_maxmin_f16, min_f(max_f(a, c, ieee), e, ieee));
  WW_LEAST_H3(v_minmax_f16, max_f(min_f(a, c, ieee), e, ieee));
  WW_LEAST_H3(v_med3_f16, median_f(a, c, e, ieee));
  WW_H(v_ldexp_f16, &u2<([](U32 a, U32 c) -> U32 { return half_of(double{ldexp_f(h(a), s16(c))}); })>, 2);
  WW_H1(v_floor_f16, __builtin_floorf(a));
  WW_H1(v_ceil_f16, __builtin_ceilf(a));
  WW_H1(v_trunc_f16, __builtin_truncf(a));
  WW_H1(v_rndne_f16, __builtin_rintf(a));
  WW_H1(v_fract_f16, fract_h(a));
  WW_H1(v_frexp_mant_f16, frexp_mant_f(a));
  WW_H(v_frexp_exp_i16_f16, &u1<([](U32 a) -> U32 { return low(frexp_exp_f(h(a))); })>, 1);
  WW_H1(v_rcp_f16, 1.0F / a).cycles = 16;
  WW_H1(v_sqrt_f16, __builtin_sqrtf(a)).cycles = 16;
  WW_H1(v_rsq_f16, 1.0F / __builtin_sqrtf(a)).cycles = 16;
  WW_H1(v_exp_f16, exp2_f(a)).cycles = 16;
  WW_H1(v_log_f16, log2_f(a)).cycles = 16;
  WW_H1(v_sin_f16, sin_turns(a)).cycles = 16;
  WW_H1(v_cos_f16, cos_turns(a)).cycles = 16;
  WW_H(v_cvt_f16_u16, &u1<([](U32 a) -> U32 { return f32_to_f16(static_cast<float>(low(a))); })>, 1);
  WW_H(v_cvt_f16_i16, &u1<([](U32 a) -> U32 { return f32_to_f16(static_cast<float>(s16(a))); })>, 1);
  WW_H(v_cvt_u16_f16, &u1<([](U32 a) -> U32 { return to_u16(h(a)); })>, 1);
  WW_H(v_cvt_i16_f16, &u1<([](U32 a) -> U32 { return to_i16(h(a)); })>, 1);
  WW_H(v_cvt_norm_i16_f16, &u1<([](U32 a) -> U32 { return normal_i16(h(a)); })>, 1);
  WW_H(v_cvt_norm_u16_f16, &u1<([](U32 a) -> U32 { return normal_u16(h(a)); })>, 1);
  WW_H(v_cvt_pknorm_i16_f16,
       &u2<([](U32 a, U32 c) -> U32 { return normal_i16(h(a)) | normal_i16(h(c)) << 16; })>, 2);
  WW_H(v_cvt_pknorm_u16_f16,
       &u2<([](U32 a, U32 c) -> U32 { return normal_u16(h(a)) | normal_u16(h(c)) << 16; })>, 2);
  WW_H(v_pack_b32_f16, &u2<([](U32 a, U32 c) -> U32 { return low(a) | c << 16; })>, 2);
  for (const Opcode opcode : {Opcode::v_div_fixup_f16, Opcode::v_div_fixup_legacy_f16}) {
    b.half(opcode, &u3<([](U32 a, U32 c, U32 e) -> U32 { return div_fixup_h(low(a), low(c), low(e)); })>,
           3);
  }
#define WW_COMPARE_HALF(name, ...)                                             \
  b.compare(Opcode::v_cmp_##name##_f16, Opcode::v_cmpx_##name##_f16,           \
            &c_u32<([](U32 x, U32 y) {                                        \
              const float a = h(x);                                            \
              const float c = h(y);                                            \
              return __VA_ARGS__;                                              \
            })>, 16);
  WW_COMPARE_HALF(f, (void(a), void(c), false))
  WW_COMPARE_HALF(lt, a < c)
  WW_COMPARE_HALF(eq, a == c)
  WW_COMPARE_HALF(le, a <= c)
  WW_COMPARE_HALF(gt, a > c)
  WW_COMPARE_HALF(lg, a < c || a > c)
  WW_COMPARE_HALF(ge, a >= c)
  WW_COMPARE_HALF(o, !is_nan(a) && !is_nan(c))
  WW_COMPARE_HALF(u, is_nan(a) || is_nan(c))
  WW_COMPARE_HALF(nge, !(a >= c))
  WW_COMPARE_HALF(nlg, !(a < c || a > c))
  WW_COMPARE_HALF(ngt, !(a > c))
  WW_COMPARE_HALF(nle, !(a <= c))
  WW_COMPARE_HALF(neq, !(a == c))
  WW_COMPARE_HALF(nlt, !(a < c))
  WW_COMPARE_HALF(tru, (void(a), void(c), true))
  b.compare(Opcode::v_cmp_class_f16, Opcode::v_cmpx_class_f16,
            &c_u32<([](U32 a, U32 c) { return class_of_half(a, c) != 0; })>, 16);
}

void build_gfx9_float(Gfx9Builder& b) {
  constexpr auto fma = [](float a, float c, float e) -> float { return __builtin_fmaf(a, c, e); };
  constexpr auto mad = [](float a, float c, float e) -> float { return mad_f(a, c, e); };
  constexpr auto add = [](float a, float c) -> float { return a + c; };
  constexpr auto mul = [](float a, float c) -> float { return a * c; };
  b.single(Opcode::v_fmac_f32, &f3<false, fma>, &f3<true, fma>, 3).accumulates = true;
  VectorEntry& fmac = b.builder.float64(
      Opcode::v_fmac_f64, &d3<([](double a, double c, double e) { return __builtin_fma(a, c, e); })>, 3, 7);
  fmac.accumulates = true;
  // gfx11.
  const auto pack = [&b](Opcode opcode, Fn f) { b.single(opcode, f, f, 2); };
  pack(Opcode::v_cvt_pk_i16_f32, &u2<([](U32 a, U32 c) -> U32 { return to_i16(f32(a)) | to_i16(f32(c)) << 16; })>);
  pack(Opcode::v_cvt_pk_u16_f32, &u2<([](U32 a, U32 c) -> U32 { return to_u16(f32(a)) | to_u16(f32(c)) << 16; })>);
  // Sources are floats by then; the halves of the mixlo and mixhi results are made afterwards.
  for (const Opcode opcode :
       {Opcode::v_fma_mix_f32, Opcode::v_fma_mixlo_f16, Opcode::v_fma_mixhi_f16}) {
    b.single(opcode, &f3<false, fma>, &f3<true, fma>, 3);
  }
  for (const Opcode opcode :
       {Opcode::v_mad_mix_f32, Opcode::v_mad_mixlo_f16, Opcode::v_mad_mixhi_f16}) {
    b.single(opcode, &f3<true, mad>, &f3<true, mad>, 3);
  }
  const auto pair = [&b](Opcode opcode, Fn keep, Fn flush, int sources) {
    VectorEntry& entry = b.single(opcode, keep, flush, sources);
    entry.wide = 7;
    entry.result = Destination::vgpr_pair;
  };
  pair(Opcode::v_pk_fma_f32, &g3<false, fma>, &g3<true, fma>, 3);
  pair(Opcode::v_pk_add_f32, &g2<false, add>, &g2<true, add>, 2);
  pair(Opcode::v_pk_mul_f32, &g2<false, mul>, &g2<true, mul>, 2);
  // The low result of v_pk_mov_b32 is of source 0, its high result of source 1.
  VectorEntry& move = b.add(
      Opcode::v_pk_mov_b32, &q2<([](U64 a, U64 c) -> U64 { return join(U32(a), U32(c >> 32)); })>,
      &q2<([](U64 a, U64 c) -> U64 { return join(U32(a), U32(c >> 32)); })>, 2);
  move.wide = 3;
  move.result = Destination::vgpr_pair;
}

void build_gfx9_dots(Gfx9Builder& b) {
  WW_9U3(v_dot2_i32_i16, U32(U64(dot_signed<16>(a, c))) + e)
      .WW_CLAMPED3(saturated_i32(dot_signed<16>(a, c) + sx(e)));
  WW_9U3(v_dot2_u32_u16, U32(U64(dot_unsigned<16>(a, c))) + e)
      .WW_CLAMPED3(saturated_u32(dot_unsigned<16>(a, c) + e));
  WW_9U3(v_dot4_i32_i8, U32(U64(dot_signed<8>(a, c))) + e)
      .WW_CLAMPED3(saturated_i32(dot_signed<8>(a, c) + sx(e)));
  WW_9U3(v_dot4_u32_u8, U32(U64(dot_unsigned<8>(a, c))) + e)
      .WW_CLAMPED3(saturated_u32(dot_unsigned<8>(a, c) + e));
  WW_9U3(v_dot8_i32_i4, U32(U64(dot_signed<4>(a, c))) + e)
      .WW_CLAMPED3(saturated_i32(dot_signed<4>(a, c) + sx(e)));
  WW_9U3(v_dot8_u32_u4, U32(U64(dot_unsigned<4>(a, c))) + e)
      .WW_CLAMPED3(saturated_u32(dot_unsigned<4>(a, c) + e));
  // Which of both it is goes by the chip, not by its mode (vector_alu.cpp).
  b.single(Opcode::v_dot2_f32_f16, &u3<dot_half<false>>, &u3<dot_half<true>>, 3);
  // The short forms add to their result.
  for (const auto& [opcode, longer] :
       {std::pair<Opcode, Opcode>{Opcode::v_dot2c_f32_f16, Opcode::v_dot2_f32_f16},
        {Opcode::v_dot2c_i32_i16, Opcode::v_dot2_i32_i16},
        {Opcode::v_dot4c_i32_i8, Opcode::v_dot4_i32_i8},
        {Opcode::v_dot8c_i32_i4, Opcode::v_dot8_i32_i4}}) {
    b.same(opcode, longer);
    b.builder.table.vector[static_cast<std::size_t>(opcode)].accumulates = true;
  }
  // Signed or not as neg_lo says: vector_forms.cpp has them.
  b.same(Opcode::v_dot4_i32_iu8, Opcode::v_dot4_i32_i8);
  b.same(Opcode::v_dot8_i32_iu4, Opcode::v_dot8_i32_i4);
}

void build_gfx9_packed(Gfx9Builder& b) {
  WW_P3(v_pk_mad_i16, a * c + e).WW_CLAMPED_P3(saturated_i16(s16(a) * s16(c) + s16(e)));
  WW_P3(v_pk_mad_u16, a * c + e).WW_CLAMPED_P3(a * c + e > 0xFFFFU || a * c > 0xFFFF0000U ? 0xFFFFU : a * c + e);
  WW_P2(v_pk_mul_lo_u16, low(a * c));
  WW_P2(v_pk_add_i16, low(a + c)).WW_CLAMPED_P2(saturated_i16(s16(a) + s16(c)));
  WW_P2(v_pk_sub_i16, low(a - c)).WW_CLAMPED_P2(saturated_i16(s16(a) - s16(c)));
  WW_P2(v_pk_add_u16, low(a + c)).WW_CLAMPED_P2(saturated_u16(I32(a + c)));
  WW_P2(v_pk_sub_u16, low(a - c)).WW_CLAMPED_P2(saturated_u16(I32(a) - I32(c)));
  WW_P2(v_pk_lshlrev_b16, low(c << (a & 15U)));
  WW_P2(v_pk_lshrrev_b16, c >> (a & 15U));
  WW_P2(v_pk_ashrrev_i16, low(ux(s16(c) >> (a & 15U))));
  WW_P2(v_pk_max_i16, s16(a) > s16(c) ? a : c);
  WW_P2(v_pk_min_i16, s16(a) < s16(c) ? a : c);
  WW_P2(v_pk_max_u16, a > c ? a : c);
  WW_P2(v_pk_min_u16, a < c ? a : c);
  b.half(Opcode::v_pk_fma_f16,
         &ph3<([](float a, float c, float e) -> float { return odd_sum(a * c, e); })>, 3);
  b.half(Opcode::v_pk_add_f16, &ph2<([](float a, float c) -> float { return a + c; })>, 2);
  b.half(Opcode::v_pk_mul_f16, &ph2<([](float a, float c) -> float { return a * c; })>, 2);
  WW_LEAST_PH2(v_pk_min_f16, min_f(h(a), h(c), ieee));
  WW_LEAST_PH2(v_pk_max_f16, max_f(h(a), h(c), ieee));
}

// CDNA 3, at the rate of 32-bit instructions (LLVM's SISchedule.td, SIDPGFX940FullSpeedModel).
void build_gfx942(Gfx9Builder& b) {
  constexpr auto fma = [](float a, float c, float e) -> float { return __builtin_fmaf(a, c, e); };
  b.single(Opcode::v_fmamk_f32, &f3<false, fma>, &f3<true, fma>, 3);
  b.single(Opcode::v_fmaak_f32, &f3<false, fma>, &f3<true, fma>, 3);
  b.builder.wide(Opcode::v_lshl_add_u64, &shift_add_64, 3, 5).cycles = 4;
  b.builder.wide(Opcode::v_mov_b64, &q1<([](U64 a) -> U64 { return a; })>, 1, 1).cycles = 4;
}

void build_gfx9(Builder& builder) {
  Gfx9Builder b{builder};
  build_gfx9_integer(b);
  build_gfx9_half(b);
  build_gfx9_float(b);
  build_gfx9_packed(b);
  build_gfx9_dots(b);
  build_gfx942(b);
}
