// Vector semantics for hosts with AVX2 and FMA; compiled with those, reached only where they exist.
#include <immintrin.h>

// The signs of 16 words as bits, and bits as words of ones and zeros.
#define WW_PACK(word) pack_words(word)
#define WW_EXPAND(target, mask) expand_words(target, mask)

#include <cstdint>

namespace {
inline std::uint64_t pack_words(const std::uint32_t* word) {
  std::uint64_t mask = 0;
  for (int i = 0; i < 2; ++i) {
    const __m256 part = _mm256_load_ps(reinterpret_cast<const float*>(word + 8 * i));
    mask |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps(part))) << (8 * i);
  }
  return mask;
}
inline void expand_words(std::uint32_t* target, std::uint64_t mask) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  for (int i = 0; i < 2; ++i) {
    const __m256i part = _mm256_set1_epi32(static_cast<int>(mask >> (8 * i) & 255U));
    const __m256i lanes = _mm256_cmpeq_epi32(_mm256_and_si256(part, bit), bit);
    _mm256_store_si256(reinterpret_cast<__m256i*>(target + 8 * i), lanes);
  }
}
}  // namespace

#include "machine/isa/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_avx2(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
