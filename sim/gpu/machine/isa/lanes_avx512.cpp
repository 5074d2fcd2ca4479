// Vector semantics for hosts with AVX-512 F, DQ, BW and VL; reached only where they exist.
#include <immintrin.h>

// The signs of 16 words as bits, and bits as words of ones and zeros.
#define WW_PACK(word) pack_words(word)
#define WW_EXPAND(target, mask) expand_words(target, mask)
// The halves of 16 words that begin at that bit as floats, and two floats as the halves of a word:
// the nearest ones, and one NaN for all.
#define WW_WIDEN(target, words, shift) widen_halves(target, words, shift)
#define WW_NARROW(target, low, high) narrow_halves(target, low, high)

#include <cstdint>

namespace {
inline std::uint64_t pack_words(const std::uint32_t* word) {
  return _mm512_movepi32_mask(_mm512_load_si512(word));
}
inline void expand_words(std::uint32_t* target, std::uint64_t mask) {
  _mm512_store_si512(target, _mm512_movm_epi32(static_cast<__mmask16>(mask)));
}
// GCC 12 warns of the functions without a mask, which leave a value undefined.
constexpr __mmask16 kAllWords = 0xFFFF;
inline void widen_halves(float* target, const std::uint32_t* words, unsigned shift) {
  const __m512i moved = _mm512_maskz_srli_epi32(kAllWords, _mm512_loadu_si512(words), shift);
  const __m256i halves = _mm512_maskz_cvtepi32_epi16(kAllWords, moved);
  _mm512_store_ps(target, _mm512_maskz_cvtph_ps(kAllWords, halves));
}
inline __m512i nearest_halves(const float* source) {
  const __m512 x = _mm512_load_ps(source);
  const __m256i half = _mm512_maskz_cvtps_ph(kAllWords, x, _MM_FROUND_TO_NEAREST_INT);
  const __m512i word = _mm512_maskz_cvtepu16_epi32(kAllWords, half);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_mask_mov_epi32(word, nan, _mm512_set1_epi32(0x7E00));
}
inline void narrow_halves(std::uint32_t* target, const float* low, const float* high) {
  const __m512i above = _mm512_maskz_slli_epi32(kAllWords, nearest_halves(high), 16);
  _mm512_storeu_si512(target, _mm512_or_si512(nearest_halves(low), above));
}
}  // namespace

#include "machine/isa/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_avx512(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
