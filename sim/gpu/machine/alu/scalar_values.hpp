// Arithmetic of the scalar ALU on plain values.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace ww::sim::gpu::exec {

using U32 = std::uint32_t;
using I32 = std::int32_t;
using U64 = std::uint64_t;
using I64 = std::int64_t;

inline I32 as_signed(U32 x) {
  return static_cast<I32>(x);
}
inline I64 as_signed(U64 x) {
  return static_cast<I64>(x);
}

inline U32 add_signed(U32 a, U32 b, bool& scc) {
  I32 sum = 0;
  scc = __builtin_add_overflow(as_signed(a), as_signed(b), &sum);
  return static_cast<U32>(sum);
}
inline U32 sub_signed(U32 a, U32 b, bool& scc) {
  I32 difference = 0;
  scc = __builtin_sub_overflow(as_signed(a), as_signed(b), &difference);
  return static_cast<U32>(difference);
}
inline U32 bit_field_u(U32 a, U32 b, bool& scc) {
  const U32 offset = b & 31U;
  const U32 width = b >> 16 & 127U;
  const U32 field = width == 0 ? 0 : width >= 32 ? a >> offset : a >> offset & ((1U << width) - 1U);
  scc = field != 0;
  return field;
}
inline U32 bit_field_i(U32 a, U32 b, bool& scc) {
  const U32 offset = b & 31U;
  const U32 width = b >> 16 & 127U;
  U32 field = 0;
  if (width != 0) {
    field = static_cast<U32>(as_signed(a) >> offset);
    if (width < 32) field = static_cast<U32>(as_signed(field << (32 - width)) >> (32 - width));
  }
  scc = field != 0;
  return field;
}
inline U64 bit_field_u(U64 a, U32 b, bool& scc) {
  const U32 offset = b & 63U;
  const U32 width = b >> 16 & 127U;
  const U64 field = width == 0    ? 0
                    : width >= 64 ? a >> offset
                                  : a >> offset & ((U64{1} << width) - 1U);
  scc = field != 0;
  return field;
}
inline U64 bit_field_i(U64 a, U32 b, bool& scc) {
  const U32 offset = b & 63U;
  const U32 width = b >> 16 & 127U;
  U64 field = 0;
  if (width != 0) {
    field = static_cast<U64>(as_signed(a) >> offset);
    if (width < 64) field = static_cast<U64>(as_signed(field << (64 - width)) >> (64 - width));
  }
  scc = field != 0;
  return field;
}
template <class T>
T reverse_bits(T x) {
  T result = 0;
  for (int i = 0; i < std::numeric_limits<T>::digits; ++i, x >>= 1) {
    result = static_cast<T>(result << 1 | (x & 1U));
  }
  return result;
}
template <class T>
inline U32 first_one(T x) {
  return x == 0 ? ~U32{0} : static_cast<U32>(std::countr_zero(x));
}
template <class T>
inline U32 leading(T x) {
  return x == 0 ? ~U32{0} : static_cast<U32>(std::countl_zero(x));
}
// Position below the sign of the first bit that differs from it.
template <class T>
inline U32 leading_signed(T x) {
  const T folded = as_signed(x) < 0 ? static_cast<T>(~x) : x;
  return folded == 0 ? ~U32{0} : static_cast<U32>(std::countl_zero(folded));
}
template <class T>
T whole_quad(T x) {
  T result = 0;
  for (int i = 0; i < std::numeric_limits<T>::digits; i += 4) {
    if ((x >> i & 15U) != 0) result |= static_cast<T>(T{15} << i);
  }
  return result;
}
template <class T>
T quad_mask(T x) {
  T result = 0;
  for (int i = 0; i < std::numeric_limits<T>::digits; i += 4) {
    if ((x >> i & 15U) != 0) result |= static_cast<T>(T{1} << (i / 4));
  }
  return result;
}
template <class T>
T non_zero(T result, bool& scc) {
  scc = result != 0;
  return result;
}

}  // namespace ww::sim::gpu::exec
