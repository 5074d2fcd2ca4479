// The table of vector semantics; part of valu.inl.

struct Builder {
  LaneTable& table;

  VectorEntry& add(Opcode opcode, Fn keep, Fn flush, int sources) {
    VectorEntry& entry = table.vector[static_cast<std::size_t>(opcode)];
    entry.function[0] = keep;
    entry.function[1] = flush;
    entry.sources = static_cast<std::uint8_t>(sources);
    return entry;
  }
  VectorEntry& integer(Opcode opcode, Fn f, int sources, Fn scalar_first = nullptr) {
    VectorEntry& entry = add(opcode, f, f, sources);
    entry.scalar_first[0] = entry.scalar_first[1] = scalar_first;
    return entry;
  }
  VectorEntry& float32(Opcode opcode, Fn keep, Fn flush, int sources, Fn scalar_keep = nullptr,
                       Fn scalar_flush = nullptr) {
    VectorEntry& entry = add(opcode, keep, flush, sources);
    entry.scalar_first[0] = scalar_keep;
    entry.scalar_first[1] = scalar_flush;
    entry.float_bits = 32;
    return entry;
  }
  VectorEntry& float64(Opcode opcode, Fn f, int sources, int wide) {
    VectorEntry& entry = add(opcode, f, f, sources);
    entry.float_bits = 64;
    entry.wide = static_cast<std::uint8_t>(wide);
    entry.result = Destination::vgpr_pair;
    entry.cycles = 16;
    return entry;
  }
  VectorEntry& wide(Opcode opcode, Fn f, int sources, int wide_sources) {
    VectorEntry& entry = add(opcode, f, f, sources);
    entry.wide = static_cast<std::uint8_t>(wide_sources);
    entry.result = Destination::vgpr_pair;
    entry.cycles = 16;
    return entry;
  }
  void compare(Opcode plain, Opcode writes_exec, Fn keep, Fn flush, int float_bits, int wide_sources,
               Fn scalar_keep = nullptr, Fn scalar_flush = nullptr) {
    for (const Opcode opcode : {plain, writes_exec}) {
      VectorEntry& entry = add(opcode, keep, flush, 2);
      entry.scalar_first[0] = scalar_keep;
      entry.scalar_first[1] = scalar_flush;
      entry.float_bits = static_cast<std::uint8_t>(float_bits);
      entry.wide = static_cast<std::uint8_t>(wide_sources);
      entry.result = Destination::mask;
      entry.writes_exec = opcode == writes_exec;
      if (wide_sources != 0) entry.cycles = 16;
    }
  }
};

#define WW_LAMBDA1(type, result, ...) ([](type a) -> result { return __VA_ARGS__; })
#define WW_LAMBDA2(type, result, ...) ([](type a, type c) -> result { return __VA_ARGS__; })
#define WW_LAMBDA3(type, result, ...) ([](type a, type c, type e) -> result { return __VA_ARGS__; })
#define WW_LAMBDA_LEAST2(type, ...) \
  ([](type a, type c, bool ieee) -> type { return __VA_ARGS__; })
#define WW_LAMBDA_LEAST3(type, ...) \
  ([](type a, type c, type e, bool ieee) -> type { return __VA_ARGS__; })
#define WW_U1(name, ...)                                                 \
  b.integer(Opcode::name, &u1<WW_LAMBDA1(U32, U32, __VA_ARGS__)>, 1, \
            &u1<WW_LAMBDA1(U32, U32, __VA_ARGS__), true>);
#define WW_U2(name, ...)                                                 \
  b.integer(Opcode::name, &u2<WW_LAMBDA2(U32, U32, __VA_ARGS__)>, 2, \
            &u2<WW_LAMBDA2(U32, U32, __VA_ARGS__), true>);
#define WW_U3(name, ...)                                                 \
  b.integer(Opcode::name, &u3<WW_LAMBDA3(U32, U32, __VA_ARGS__)>, 3, \
            &u3<WW_LAMBDA3(U32, U32, __VA_ARGS__), true>);
#define WW_F1(name, ...)                                                   \
  b.float32(Opcode::name, &f1<false, WW_LAMBDA1(float, float, __VA_ARGS__)>, \
            &f1<true, WW_LAMBDA1(float, float, __VA_ARGS__)>, 1)
#define WW_F2(name, ...)                                                     \
  b.float32(Opcode::name, &f2<false, WW_LAMBDA2(float, float, __VA_ARGS__)>,   \
            &f2<true, WW_LAMBDA2(float, float, __VA_ARGS__)>, 2,               \
            &f2<false, WW_LAMBDA2(float, float, __VA_ARGS__), true>,           \
            &f2<true, WW_LAMBDA2(float, float, __VA_ARGS__), true>)
#define WW_F3(name, ...)                                                     \
  b.float32(Opcode::name, &f3<false, WW_LAMBDA3(float, float, __VA_ARGS__)>,   \
            &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__)>, 3,               \
            &f3<false, WW_LAMBDA3(float, float, __VA_ARGS__), true>,           \
            &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__), true>)
// Minimum and maximum, which MODE.IEEE changes.
#define WW_LEAST2(name, ...)                                                          \
  b.float32(Opcode::name, &f2<false, WW_LAMBDA_LEAST2(float, __VA_ARGS__)>,             \
            &f2<true, WW_LAMBDA_LEAST2(float, __VA_ARGS__)>, 2,                         \
            &f2<false, WW_LAMBDA_LEAST2(float, __VA_ARGS__), true>,                     \
            &f2<true, WW_LAMBDA_LEAST2(float, __VA_ARGS__), true>)
#define WW_LEAST3(name, ...)                                                          \
  b.float32(Opcode::name, &f3<false, WW_LAMBDA_LEAST3(float, __VA_ARGS__)>,             \
            &f3<true, WW_LAMBDA_LEAST3(float, __VA_ARGS__)>, 3,                         \
            &f3<false, WW_LAMBDA_LEAST3(float, __VA_ARGS__), true>,                     \
            &f3<true, WW_LAMBDA_LEAST3(float, __VA_ARGS__), true>)
// Reciprocals, roots, exponentials and logarithms of 32 bits flush denormals in every mode ("AMD
// Instinct MI300 ISA", V_EXP_F32 to V_SQRT_F32: "denormals are flushed"; RDNA 4 ISA, 7.2.4).
#define WW_ELEMENTARY(name, ...)                                                       \
  b.float32(Opcode::name, &f1<true, WW_LAMBDA1(float, float, __VA_ARGS__)>,             \
            &f1<true, WW_LAMBDA1(float, float, __VA_ARGS__)>, 1)                        \
      .cycles = 16
// Multiply-add that is not fused flushes denormals in every mode.
#define WW_MAD(name, ...)                                                     \
  b.float32(Opcode::name, &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__)>,     \
            &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__)>, 3,                \
            &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__), true>,             \
            &f3<true, WW_LAMBDA3(float, float, __VA_ARGS__), true>)
#define WW_D1(name, ...) \
  b.float64(Opcode::name, &d1<([](double a) -> double { return __VA_ARGS__; })>, 1, 1);
#define WW_D2(name, ...) \
  b.float64(Opcode::name, &d2<([](double a, double c) -> double { return __VA_ARGS__; })>, 2, 3);
#define WW_TO_INT(name, ...)                                                       \
  b.float32(Opcode::name, &u1<([](U32 x) -> U32 { const float a = in<false>(x); return __VA_ARGS__; })>, \
            &u1<([](U32 x) -> U32 { const float a = in<true>(x); return __VA_ARGS__; })>, 1)
#define WW_N1(name, ...)                                                               \
  {                                                                                    \
    VectorEntry& entry =                                                               \
        b.float64(Opcode::name, &n1<([](double a) -> U32 { return __VA_ARGS__; })>, 1, 1); \
    entry.result = Destination::vgpr;                                                  \
  }
#define WW_COMPARE_INT(kind, suffix, type, cast, shape, wide_sources)                             \
  b.compare(Opcode::v_cmp_f_##suffix, Opcode::v_cmpx_f_##suffix,                                  \
            &shape<([](type, type) { return false; })>, &shape<([](type, type) { return false; })>, 0, \
            wide_sources);                                                                        \
  b.compare(Opcode::v_cmp_t_##suffix, Opcode::v_cmpx_t_##suffix,                                  \
            &shape<([](type, type) { return true; })>, &shape<([](type, type) { return true; })>, 0,   \
            wide_sources);                                                                        \
  WW_COMPARE_INT1(lt, <, suffix, type, cast, shape, wide_sources)                                 \
  WW_COMPARE_INT1(eq, ==, suffix, type, cast, shape, wide_sources)                                \
  WW_COMPARE_INT1(le, <=, suffix, type, cast, shape, wide_sources)                                \
  WW_COMPARE_INT1(gt, >, suffix, type, cast, shape, wide_sources)                                 \
  WW_COMPARE_INT1(ne, !=, suffix, type, cast, shape, wide_sources)                                \
  WW_COMPARE_INT1(ge, >=, suffix, type, cast, shape, wide_sources)
#define WW_COMPARE_INT1(name, sign, suffix, type, cast, shape, wide_sources)                \
  b.compare(Opcode::v_cmp_##name##_##suffix, Opcode::v_cmpx_##name##_##suffix,              \
            &shape<([](type a, type c) { return cast(a) sign cast(c); })>,                    \
            &shape<([](type a, type c) { return cast(a) sign cast(c); })>, 0, wide_sources,   \
            shape##_scalar_first<([](type a, type c) { return cast(a) sign cast(c); })>,      \
            shape##_scalar_first<([](type a, type c) { return cast(a) sign cast(c); })>);
// The quiet and the signalling forms differ in exceptions alone, which nobody sees here.
#define WW_COMPARE_FLOAT(name, ...)                                                               \
  b.compare(Opcode::v_cmp_##name##_f32, Opcode::v_cmpx_##name##_f32,                              \
            &c_f32<false, ([](float a, float c) { return __VA_ARGS__; })>,                          \
            &c_f32<true, ([](float a, float c) { return __VA_ARGS__; })>, 32, 0,                    \
            &c_f32<false, ([](float a, float c) { return __VA_ARGS__; }), true>,                    \
            &c_f32<true, ([](float a, float c) { return __VA_ARGS__; }), true>);                    \
  b.compare(Opcode::v_cmps_##name##_f32, Opcode::v_cmpsx_##name##_f32,                            \
            &c_f32<false, ([](float a, float c) { return __VA_ARGS__; })>,                          \
            &c_f32<true, ([](float a, float c) { return __VA_ARGS__; })>, 32, 0,                    \
            &c_f32<false, ([](float a, float c) { return __VA_ARGS__; }), true>,                    \
            &c_f32<true, ([](float a, float c) { return __VA_ARGS__; }), true>);                    \
  b.compare(Opcode::v_cmp_##name##_f64, Opcode::v_cmpx_##name##_f64,                              \
            &c_f64<([](double a, double c) { return __VA_ARGS__; })>,                               \
            &c_f64<([](double a, double c) { return __VA_ARGS__; })>, 64, 3);                       \
  b.compare(Opcode::v_cmps_##name##_f64, Opcode::v_cmpsx_##name##_f64,                            \
            &c_f64<([](double a, double c) { return __VA_ARGS__; })>,                               \
            &c_f64<([](double a, double c) { return __VA_ARGS__; })>, 64, 3);

void build_integer(Builder& b) {
  b.add(Opcode::v_nop, nothing, nothing, 0).result = Destination::none;
  b.add(Opcode::v_clrexcp, nothing, nothing, 0).result = Destination::none;
  WW_U1(v_mov_b32, a)
  WW_U1(v_not_b32, ~a)
  WW_U1(v_bfrev_b32, reverse(a))
  WW_U1(v_ffbh_u32, a == 0 ? ~0U : U32(__builtin_clz(a)))
  WW_U1(v_ffbl_b32, a == 0 ? ~0U : U32(__builtin_ctz(a)))
  WW_U1(v_ffbh_i32, (sx(a) < 0 ? ~a : a) == 0 ? ~0U : U32(__builtin_clz(sx(a) < 0 ? ~a : a)))
  WW_U2(v_and_b32, a & c)
  WW_U2(v_or_b32, a | c)
  WW_U2(v_xor_b32, a ^ c)
  WW_U2(v_lshl_b32, a << (c & 31U))
  WW_U2(v_lshlrev_b32, c << (a & 31U))
  WW_U2(v_lshr_b32, a >> (c & 31U))
  WW_U2(v_lshrrev_b32, c >> (a & 31U))
  WW_U2(v_ashr_i32, ux(sx(a) >> (c & 31U)))
  WW_U2(v_ashrrev_i32, ux(sx(c) >> (a & 31U)))
  WW_U2(v_min_i32, sx(a) < sx(c) ? a : c)
  WW_U2(v_max_i32, sx(a) > sx(c) ? a : c)
  WW_U2(v_min_u32, a < c ? a : c)
  WW_U2(v_max_u32, a > c ? a : c)
  WW_U2(v_mul_i32_i24, i24(a) * i24(c))
  WW_U2(v_mul_hi_i32_i24, U32(U64(I64{sx(i24(a))} * sx(i24(c))) >> 32))
  WW_U2(v_mul_u32_u24, (a & 0xFFFFFFU) * (c & 0xFFFFFFU))
  WW_U2(v_mul_hi_u32_u24, U32(U64{a & 0xFFFFFFU} * (c & 0xFFFFFFU) >> 32))
  WW_U2(v_bfm_b32, ((1U << (a & 31U)) - 1U) << (c & 31U))
  WW_U2(v_bcnt_u32_b32, popcount(a) + c)
  b.integer(Opcode::v_mbcnt_lo_u32_b32, mbcnt_lo, 2);
  b.integer(Opcode::v_mbcnt_hi_u32_b32, mbcnt_hi, 2);
  WW_U2(v_mul_lo_u32, a * c)
  WW_U2(v_mul_lo_i32, a * c)
  WW_U2(v_mul_hi_u32, U32(U64{a} * c >> 32))
  WW_U2(v_mul_hi_i32, U32(U64(I64{sx(a)} * sx(c)) >> 32))
  for (const Opcode slow : {Opcode::v_mul_lo_u32, Opcode::v_mul_lo_i32, Opcode::v_mul_hi_u32,
                            Opcode::v_mul_hi_i32}) {
    b.table.vector[static_cast<std::size_t>(slow)].cycles = 16;
  }
  WW_U2(v_cvt_pk_u16_u32, (a > 0xFFFFU ? 0xFFFFU : a) | (c > 0xFFFFU ? 0xFFFFU : c) << 16)
  WW_U2(v_cvt_pk_i16_i32, (clamp_i(sx(a), -32768, 32767) & 0xFFFFU) |
                              clamp_i(sx(c), -32768, 32767) << 16)
  WW_U3(v_mad_i32_i24, i24(a) * i24(c) + e)
  WW_U3(v_mad_u32_u24, (a & 0xFFFFFFU) * (c & 0xFFFFFFU) + e)
  WW_U3(v_bfe_u32, bfe_u(a, c, e))
  WW_U3(v_bfe_i32, bfe_i(a, c, e))
  WW_U3(v_bfi_b32, (a & c) | (~a & e))
  WW_U3(v_alignbit_b32, U32(join(c, a) >> (e & 31U)))
  WW_U3(v_alignbyte_b32, U32(join(c, a) >> (8U * (e & 3U))))
  WW_U3(v_min3_i32, ux(sx(a) < sx(c) ? (sx(a) < sx(e) ? sx(a) : sx(e)) : (sx(c) < sx(e) ? sx(c) : sx(e))))
  WW_U3(v_max3_i32, ux(sx(a) > sx(c) ? (sx(a) > sx(e) ? sx(a) : sx(e)) : (sx(c) > sx(e) ? sx(c) : sx(e))))
  WW_U3(v_min3_u32, a < c ? (a < e ? a : e) : (c < e ? c : e))
  WW_U3(v_max3_u32, a > c ? (a > e ? a : e) : (c > e ? c : e))
  WW_U3(v_med3_i32, ux(median(sx(a), sx(c), sx(e))))
  WW_U3(v_med3_u32, median(a, c, e))
  WW_U3(v_sad_u32, (a > c ? a - c : c - a) + e)
  WW_U3(v_sad_u8, sad_u8(a, c, e))
  WW_U3(v_msad_u8, msad_u8(a, c, e))
  WW_U3(v_sad_hi_u8, (sad_u8(a, c, 0) << 16) + e)
  WW_U3(v_sad_u16, ((a & 0xFFFFU) > (c & 0xFFFFU) ? (a & 0xFFFFU) - (c & 0xFFFFU)
                                                 : (c & 0xFFFFU) - (a & 0xFFFFU)) +
                       (a >> 16 > c >> 16 ? (a >> 16) - (c >> 16) : (c >> 16) - (a >> 16)) + e)
  WW_U3(v_lerp_u8, ((byte_of(a, 0) + byte_of(c, 0) + (e & 1U)) >> 1) |
                       ((byte_of(a, 1) + byte_of(c, 1) + (e >> 8 & 1U)) >> 1) << 8 |
                       ((byte_of(a, 2) + byte_of(c, 2) + (e >> 16 & 1U)) >> 1) << 16 |
                       ((byte_of(a, 3) + byte_of(c, 3) + (e >> 24 & 1U)) >> 1) << 24)

  // Sums with carries.
  const auto with_carry = [&b](Opcode opcode, Fn f, Fn scalar_first, bool carry_in) {
    VectorEntry& entry = b.integer(opcode, f, 2, scalar_first);
    entry.carry_out = true;
    entry.mask_in = carry_in;
  };
#define WW_CARRY_OUT(name, sum, overflow)                                                     \
  with_carry(Opcode::name,                                                                    \
             &carry_only_out<WW_LAMBDA2(U32, U32, sum), WW_LAMBDA2(U32, bool, overflow)>,       \
             &carry_only_out<WW_LAMBDA2(U32, U32, sum), WW_LAMBDA2(U32, bool, overflow), true>, \
             false);
// e is the carry in.
#define WW_CARRY(name, sum, overflow)                                                \
  with_carry(Opcode::name,                                                           \
             &carry<WW_LAMBDA3(U32, U32, sum), WW_LAMBDA3(U32, bool, overflow)>,       \
             &carry<WW_LAMBDA3(U32, U32, sum), WW_LAMBDA3(U32, bool, overflow), true>, \
             true);
  WW_CARRY_OUT(v_add_i32, a + c, a + c < a)
  WW_CARRY_OUT(v_sub_i32, a - c, a < c)
  WW_CARRY_OUT(v_subrev_i32, c - a, c < a)
  WW_CARRY(v_addc_u32, a + c + e, a + c < a || a + c + e < e)
  WW_CARRY(v_subb_u32, a - c - e, a < c || a - c < e)
  WW_CARRY(v_subbrev_u32, c - a - e, c < a || c - a < e)
  b.integer(Opcode::v_cndmask_b32, cndmask<false>, 2, cndmask<true>).mask_in = true;

  // 64 bits.
  b.wide(Opcode::v_lshl_b64, shift_left, 2, 1);
  b.wide(Opcode::v_lshr_b64, shift_right, 2, 1);
  b.wide(Opcode::v_ashr_i64, &qs<([](U64 a, U32 c) { return U64(sx(a) >> (c & 63U)); })>, 2, 1);
  b.wide(Opcode::v_mad_u64_u32, mad_u64_u32, 3, 4).carry_out = true;
  b.wide(Opcode::v_mad_i64_i32, mad_i64_i32, 3, 4).carry_out = true;

  WW_COMPARE_INT(i32, i32, U32, sx, c_u32, 0)
  WW_COMPARE_INT(u32, u32, U32, U32, c_u32, 0)
  WW_COMPARE_INT(i64, i64, U64, sx, c_u64, 3)
  WW_COMPARE_INT(u64, u64, U64, U64, c_u64, 3)
}

void build_compare(Builder& b) {
  WW_COMPARE_FLOAT(f, (void(a), void(c), false))
  WW_COMPARE_FLOAT(lt, a < c)
  WW_COMPARE_FLOAT(eq, a == c)
  WW_COMPARE_FLOAT(le, a <= c)
  WW_COMPARE_FLOAT(gt, a > c)
  WW_COMPARE_FLOAT(lg, a < c || a > c)
  WW_COMPARE_FLOAT(ge, a >= c)
  WW_COMPARE_FLOAT(o, !is_nan(a) && !is_nan(c))
  WW_COMPARE_FLOAT(u, is_nan(a) || is_nan(c))
  WW_COMPARE_FLOAT(nge, !(a >= c))
  WW_COMPARE_FLOAT(nlg, !(a < c || a > c))
  WW_COMPARE_FLOAT(ngt, !(a > c))
  WW_COMPARE_FLOAT(nle, !(a <= c))
  WW_COMPARE_FLOAT(neq, !(a == c))
  WW_COMPARE_FLOAT(nlt, !(a < c))
  WW_COMPARE_FLOAT(tru, (void(a), void(c), true))
  b.compare(Opcode::v_cmp_class_f32, Opcode::v_cmpx_class_f32, class32<false>, class32<true>, 32, 0);
  b.compare(Opcode::v_cmp_class_f64, Opcode::v_cmpx_class_f64, class64, class64, 64, 1);
}

void build_float32(Builder& b) {
  WW_F2(v_add_f32, a + c);
  WW_F2(v_sub_f32, a - c);
  WW_F2(v_subrev_f32, c - a);
  WW_F2(v_mul_f32, a * c);
  WW_F2(v_mul_legacy_f32, a == 0.0F || c == 0.0F ? 0.0F : a * c);
  WW_LEAST2(v_min_f32, min_f(a, c, ieee));
  WW_LEAST2(v_max_f32, max_f(a, c, ieee));
  WW_F2(v_min_legacy_f32, a < c ? a : c);
  WW_F2(v_max_legacy_f32, a >= c ? a : c);
  WW_MAD(v_mac_f32, mad_f(a, c, e)).accumulates = true;
  WW_MAD(v_mac_legacy_f32, a == 0.0F || c == 0.0F ? 0.0F + e : mad_f(a, c, e)).accumulates = true;
  WW_MAD(v_mad_f32, mad_f(a, c, e));
  WW_MAD(v_mad_legacy_f32, a == 0.0F || c == 0.0F ? 0.0F + e : mad_f(a, c, e));
  // madmk multiplies by its literal (source 1), madak adds it (source 2).
  WW_MAD(v_madmk_f32, mad_f(a, c, e));
  WW_MAD(v_madak_f32, mad_f(a, c, e));
  WW_F3(v_fma_f32, __builtin_fmaf(a, c, e));
  WW_LEAST3(v_min3_f32, min_f(min_f(a, c, ieee), e, ieee));
  WW_LEAST3(v_max3_f32, max_f(max_f(a, c, ieee), e, ieee));
  WW_LEAST3(v_maxmin_f32, min_f(max_f(a, c, ieee), e, ieee));
  WW_LEAST3(v_minmax_f32, max_f(min_f(a, c, ieee), e, ieee));
  WW_LEAST3(v_med3_f32, median_f(a, c, e, ieee));
  WW_F1(v_fract_f32, fract_f(a));
  WW_F1(v_trunc_f32, without_signal(__builtin_truncf(a)));
  WW_F1(v_ceil_f32, without_signal(__builtin_ceilf(a)));
  WW_F1(v_rndne_f32, without_signal(__builtin_rintf(a)));
  WW_F1(v_floor_f32, without_signal(__builtin_floorf(a)));
  WW_F1(v_frexp_mant_f32, frexp_mant_f(a));
  WW_TO_INT(v_frexp_exp_i32_f32, frexp_exp_f(a));
  WW_TO_INT(v_cvt_u32_f32, to_u32(double{a}));
  WW_TO_INT(v_cvt_i32_f32, to_i32(double{a}));
  WW_TO_INT(v_cvt_rpi_i32_f32, to_i32(__builtin_floor(double{a} + 0.5)));
  WW_TO_INT(v_cvt_flr_i32_f32, to_i32(__builtin_floor(double{a})));
  WW_TO_INT(v_cvt_f16_f32, f32_to_f16(a));
  b.float32(Opcode::v_cvt_pkrtz_f16_f32,
            &u2<([](U32 a, U32 c) { return f32_to_f16_toward_zero(f32(a)) | f32_to_f16_toward_zero(f32(c)) << 16; })>,
            &u2<([](U32 a, U32 c) { return f32_to_f16_toward_zero(f32(a)) | f32_to_f16_toward_zero(f32(c)) << 16; })>,
            2);
  WW_U1(v_cvt_f32_i32, bits(static_cast<float>(sx(a))))
  WW_U1(v_cvt_f32_u32, bits(static_cast<float>(a)))
  WW_U1(v_cvt_f32_f16, bits(without_signal(f16_to_f32(a & 0xFFFFU))))
  WW_U1(v_cvt_f32_ubyte0, bits(static_cast<float>(byte_of(a, 0))))
  WW_U1(v_cvt_f32_ubyte1, bits(static_cast<float>(byte_of(a, 1))))
  WW_U1(v_cvt_f32_ubyte2, bits(static_cast<float>(byte_of(a, 2))))
  WW_U1(v_cvt_f32_ubyte3, bits(static_cast<float>(byte_of(a, 3))))
  WW_U1(v_cvt_off_f32_i4, bits(static_cast<float>(sx(a << 28) >> 28) * 0.0625F))
  for (const Opcode opcode :
       {Opcode::v_cvt_f32_i32, Opcode::v_cvt_f32_u32, Opcode::v_cvt_f32_f16,
        Opcode::v_cvt_f32_ubyte0, Opcode::v_cvt_f32_ubyte1, Opcode::v_cvt_f32_ubyte2,
        Opcode::v_cvt_f32_ubyte3}) {
    b.table.vector[static_cast<std::size_t>(opcode)].float_bits = 32;
  }
  // Within one unit in the last place, as the hardware is; the nearest where the host gives it.
  WW_ELEMENTARY(v_rcp_f32, 1.0F / a);
  WW_ELEMENTARY(v_rcp_iflag_f32, 1.0F / a);
  WW_ELEMENTARY(v_rsq_f32, 1.0F / __builtin_sqrtf(a));
  WW_ELEMENTARY(v_sqrt_f32, __builtin_sqrtf(a));
  WW_ELEMENTARY(v_exp_f32, exp2_f(a));
  WW_ELEMENTARY(v_log_f32, log2_f(a));
  WW_ELEMENTARY(v_exp_legacy_f32, exp2_f(a));
  WW_ELEMENTARY(v_log_legacy_f32, log2_f(a));
  WW_F1(v_sin_f32, sin_turns(a)).cycles = 16;
  WW_F1(v_cos_f32, cos_turns(a)).cycles = 16;
  WW_ELEMENTARY(v_rcp_clamp_f32, clamp_infinity(1.0F / a));
  WW_ELEMENTARY(v_rcp_legacy_f32, zero_infinity(1.0F / a));
  WW_ELEMENTARY(v_rsq_clamp_f32, clamp_infinity(1.0F / __builtin_sqrtf(a)));
  WW_ELEMENTARY(v_rsq_legacy_f32, zero_infinity(1.0F / __builtin_sqrtf(a)));
  WW_ELEMENTARY(v_log_clamp_f32, clamp_infinity(log2_f(a)));
  constexpr auto pack_byte = [](U32 a, U32 c, U32 e) { return pack_u8(f32(a), c, e); };
  b.float32(Opcode::v_cvt_pk_u8_f32, &u3<pack_byte>, &u3<pack_byte>, 3);
  constexpr auto pack_i16 = [](U32 a, U32 c) {
    return normal_i16(f32(a)) | normal_i16(f32(c)) << 16;
  };
  b.float32(Opcode::v_cvt_pknorm_i16_f32, &u2<pack_i16>, &u2<pack_i16>, 2);
  constexpr auto pack_u16 = [](U32 a, U32 c) {
    return normal_u16(f32(a)) | normal_u16(f32(c)) << 16;
  };
  b.float32(Opcode::v_cvt_pknorm_u16_f32, &u2<pack_u16>, &u2<pack_u16>, 2);
  b.float32(Opcode::v_ldexp_f32, &u2<([](U32 a, U32 c) { return bits(ldexp_f(in<false>(a), sx(c))); })>,
            &u2<([](U32 a, U32 c) { return flushed(bits(ldexp_f(in<true>(a), sx(c)))); })>, 2);
  VectorEntry& scale = b.float32(Opcode::v_div_scale_f32, div_scale32<false>, div_scale32<true>, 3);
  scale.carry_out = true;
  VectorEntry& fmas = b.float32(Opcode::v_div_fmas_f32, div_fmas32<false>, div_fmas32<true>, 3);
  fmas.mask_in = true;
  b.float32(Opcode::v_div_fixup_f32, &u3<([](U32 a, U32 c, U32 e) { return div_fixup_f(a, c, e); })>,
            &u3<([](U32 a, U32 c, U32 e) { return div_fixup_f(flushed(a), flushed(c), flushed(e)); })>, 3);
}

void build_float64(Builder& b) {
  WW_D2(v_add_f64, a + c)
  WW_D2(v_mul_f64, a * c)
  b.float64(Opcode::v_min_f64, &d2<WW_LAMBDA_LEAST2(double, min_d(a, c, ieee))>, 2, 3);
  b.float64(Opcode::v_max_f64, &d2<WW_LAMBDA_LEAST2(double, max_d(a, c, ieee))>, 2, 3);
  b.float64(Opcode::v_fma_f64, &d3<([](double a, double c, double e) { return __builtin_fma(a, c, e); })>, 3, 7);
  WW_D1(v_fract_f64, fract_d(a))
  WW_D1(v_trunc_f64, without_signal(__builtin_trunc(a)))
  WW_D1(v_ceil_f64, without_signal(__builtin_ceil(a)))
  WW_D1(v_rndne_f64, without_signal(__builtin_rint(a)))
  WW_D1(v_floor_f64, without_signal(__builtin_floor(a)))
  WW_D1(v_rcp_f64, 1.0 / a)
  WW_D1(v_rsq_f64, 1.0 / __builtin_sqrt(a))
  WW_D1(v_sqrt_f64, __builtin_sqrt(a))
  WW_D1(v_rcp_clamp_f64, clamp_infinity(1.0 / a))
  WW_D1(v_rsq_clamp_f64, clamp_infinity(1.0 / __builtin_sqrt(a)))
  constexpr auto preop = [](U64 a, U32 c) { return bits(trig_preop(f64(a), c)); };
  b.float64(Opcode::v_trig_preop_f64, &qs<preop>, 2, 1);
  WW_D1(v_frexp_mant_f64, frexp_mant_d(a))
  WW_N1(v_frexp_exp_i32_f64, frexp_exp_d(a))
  WW_N1(v_cvt_u32_f64, to_u32(a))
  WW_N1(v_cvt_i32_f64, to_i32(a))
  // The result's denormals follow the mode of 32-bit floats.
  VectorEntry& narrow = b.add(Opcode::v_cvt_f32_f64, &n1<([](double a) { return out<false>(float(a)); })>,
                              &n1<([](double a) { return out<true>(float(a)); })>, 1);
  narrow.wide = 1;
  narrow.float_bits = 64;
  narrow.cycles = 16;
  VectorEntry& widen = b.add(Opcode::v_cvt_f64_f32, &w1<([](U32 a) { return double{in<false>(a)}; })>,
                             &w1<([](U32 a) { return double{in<true>(a)}; })>, 1);
  widen.float_bits = 32;
  widen.result = Destination::vgpr_pair;
  widen.cycles = 16;
  b.wide(Opcode::v_cvt_f64_i32, &w1<([](U32 a) { return double(sx(a)); })>, 1, 0);
  b.wide(Opcode::v_cvt_f64_u32, &w1<([](U32 a) { return double(a); })>, 1, 0);
  b.float64(Opcode::v_ldexp_f64, ldexp64, 2, 1);
  b.float64(Opcode::v_div_scale_f64, div_scale64, 3, 7).carry_out = true;
  b.float64(Opcode::v_div_fmas_f64, div_fmas64, 3, 7).mask_in = true;
  b.float64(Opcode::v_div_fixup_f64,
            &q3<([](U64 a, U64 c, U64 e) { return div_fixup_d(a, c, e); })>, 3, 7);
}

#include "machine/isa/valu_gfx9.inl"

void build(LaneTable& table) {
  Builder b{table};
  build_integer(b);
  build_compare(b);
  build_float32(b);
  build_float64(b);
  build_gfx9(b);
  table.blend = blend;
  table.unpack = unpack;
  table.pack = pack;
  table.smallest_above = smallest_above;
  table.equal_by_column = equal_by_column;
  table.least_by_column = least_by_column;
  table.modify_source = modify_source;
  table.modify_result = modify_result;
  table.addresses = addresses;
  table.expand_mask = expand_mask;
  table.broadcast = broadcast;
  table.pair_halves = pair_halves;
  table.address_range = address_range;
  table.line_numbers = line_numbers;
  table.take_lanes = take_lanes;
  table.follow_one_another = follow_one_another;
  table.local_span = local_span;
  table.all_apart = all_apart;
  table.copy_lines = copy_lines;
  table.count_up = count_up;
}
