// Sixteen routers in the lanes of one AVX-512 register: a word of a lane is a mask over the virtual
// channels of its router.
#pragma once

// Clang has no pragma that gives functions a target.
#if defined(__x86_64__) && !defined(__clang__)
#define WW_HAS_LANES
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512cd,bmi,bmi2,lzcnt,popcnt")

namespace ww::sim::net::lanes {

constexpr std::size_t kLanes = 16;
constexpr std::uint32_t kStride = 32;  // channels of a router

using Vec = std::uint32_t __attribute__((vector_size(64), may_alias));
using LooseVec = std::uint32_t __attribute__((vector_size(64), may_alias, aligned(4)));

// Not std::array, which would drop the attributes of Vec.
template <std::size_t kCount>
struct Vecs {
  [[gnu::always_inline]] Vec& operator[](std::size_t n) { return items[n]; }
  [[nodiscard]] static constexpr std::size_t size() { return kCount; }
  Vec items[kCount];
};

struct alignas(64) Row {
  std::array<std::uint32_t, kLanes> lane{};
};

[[gnu::always_inline]] inline Vec get(const Row& row) {
  return *reinterpret_cast<const Vec*>(&row);
}
[[gnu::always_inline]] inline void put(Row& row, Vec value) {
  *reinterpret_cast<Vec*>(&row) = value;
}
[[gnu::always_inline]] inline Vec get(const std::uint32_t* words) {
  return *reinterpret_cast<const LooseVec*>(words);
}
[[gnu::always_inline]] inline void put(std::uint32_t* words, Vec value) {
  *reinterpret_cast<LooseVec*>(words) = value;
}
[[gnu::always_inline]] inline Vec all(std::uint32_t word) {
  return Vec{} + word;
}
// The lanes in which two masks meet.
[[gnu::always_inline]] inline __mmask16 meet(Vec a, Vec b) {
  return _mm512_test_epi32_mask(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b));
}
[[gnu::always_inline]] inline __mmask16 nonzero(Vec a) {
  return meet(a, a);
}
[[gnu::always_inline]] inline Vec only(__mmask16 lanes, Vec a) {
  return reinterpret_cast<Vec>(_mm512_maskz_mov_epi32(lanes, reinterpret_cast<__m512i>(a)));
}
// a in `lanes`, b in the others.
[[gnu::always_inline]] inline Vec choose(__mmask16 lanes, Vec a, Vec b) {
  return reinterpret_cast<Vec>(
      _mm512_mask_mov_epi32(reinterpret_cast<__m512i>(b), lanes, reinterpret_cast<__m512i>(a)));
}
[[gnu::always_inline]] inline Vec or_in(__mmask16 lanes, Vec a, Vec b) {
  return reinterpret_cast<Vec>(_mm512_mask_or_epi32(reinterpret_cast<__m512i>(a), lanes,
                                                    reinterpret_cast<__m512i>(a),
                                                    reinterpret_cast<__m512i>(b)));
}
// The first set bit at or after a pointer, cyclically; `after` is the mask from the pointer on.
[[gnu::always_inline]] inline Vec first_bit(Vec mask, Vec after) {
  const Vec above = mask & after;
  const Vec from = choose(nonzero(above), above, mask);
  return from & -from;
}
template <class Act>
[[gnu::always_inline]] inline void for_each_set(std::uint32_t mask, const Act& act) {
  for (; mask != 0; mask &= mask - 1) {
    act(static_cast<std::uint32_t>(__builtin_ctz(mask)));
  }
}

// Calls act(channel) for each set bit of the masks over VCs of sixteen routers. A list comes first:
// loops over a few bits each would end where nobody predicts it.
template <class Act>
[[gnu::always_inline]] inline void for_each_channel(Vec masks, std::size_t first_router,
                                                    const Act& act) {
  __mmask16 lanes = nonzero(masks);
  if (lanes == 0) {
    return;
  }
  constexpr Vec kLaneChannels{0,
                              kStride,
                              2 * kStride,
                              3 * kStride,
                              4 * kStride,
                              5 * kStride,
                              6 * kStride,
                              7 * kStride,
                              8 * kStride,
                              9 * kStride,
                              10 * kStride,
                              11 * kStride,
                              12 * kStride,
                              13 * kStride,
                              14 * kStride,
                              15 * kStride};
  const Vec last = kLaneChannels + (static_cast<std::uint32_t>(first_router) * kStride + 31);
  std::array<std::uint32_t, kLanes*(kStride + 1)> list;
  std::uint32_t* end = list.data();
  for (; lanes != 0; lanes = nonzero(masks)) {
    const Vec below = masks & -masks;
    masks ^= below;
    const Vec channels =
        last - reinterpret_cast<Vec>(_mm512_lzcnt_epi32(reinterpret_cast<__m512i>(below)));
    put(end, reinterpret_cast<Vec>(
                 _mm512_maskz_compress_epi32(lanes, reinterpret_cast<__m512i>(channels))));
    end += __builtin_popcount(lanes);
  }
  for (const std::uint32_t* channel = list.data(); channel != end; ++channel) {
    act(*channel);
  }
}

// Masks over the routers' VCs of the latest cycles. Rows end in zeros, so that a router at the rim
// finds nothing behind it.
class DelayLine {
 public:
  DelayLine(int longest, std::size_t routers, std::size_t width)
      : rim_((width + kLanes + kLanes - 1) / kLanes * kLanes),
        stride_(routers + 2 * rim_),
        mask_(std::bit_ceil(static_cast<std::size_t>(longest) + 1) - 1),
        words_((mask_ + 1) * stride_) {}
  [[nodiscard]] std::uint32_t* at(std::int64_t cycle) {
    return words_.data() + (static_cast<std::size_t>(cycle) & mask_) * stride_ + rim_;
  }
  [[nodiscard]] const std::uint32_t* at(std::int64_t cycle) const {
    return words_.data() + (static_cast<std::size_t>(cycle) & mask_) * stride_ + rim_;
  }
  [[nodiscard]] std::int64_t cycles() const { return static_cast<std::int64_t>(mask_) + 1; }

 private:
  std::size_t rim_;
  std::size_t stride_;
  std::size_t mask_;
  std::vector<std::uint32_t> words_;
};

}  // namespace ww::sim::net::lanes

#pragma GCC pop_options
#endif
