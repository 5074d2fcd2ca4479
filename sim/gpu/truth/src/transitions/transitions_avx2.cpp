// Transition counts for hosts with AVX2; reached only where that exists.
#include <immintrin.h>

#define WW_BITS_IN_FOUR(word) reinterpret_cast<Four>(bits_in_each(reinterpret_cast<__m256i>(word)))

namespace {
// The set bits of each 64-bit lane: looked up for each four bits, then summed over bytes (Mula,
// Kurz and Lemire 2016, "Faster population counts using AVX2 instructions").
inline __m256i bits_in_each(__m256i word) {
  const __m256i bits_of = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                           2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i four = _mm256_set1_epi8(15);
  const __m256i low = _mm256_and_si256(word, four);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi16(word, 4), four);
  const __m256i bytes =
      _mm256_add_epi8(_mm256_shuffle_epi8(bits_of, low), _mm256_shuffle_epi8(bits_of, high));
  return _mm256_sad_epu8(bytes, _mm256_setzero_si256());
}
}  // namespace

#include "transitions/eight_halves.inl"
#include "transitions/transitions.inl"

namespace ww::sim::gpu {
BusDriver avx2_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
