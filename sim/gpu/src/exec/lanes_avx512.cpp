// Vector semantics for hosts with AVX-512 F, DQ, BW and VL; reached only where they exist.
#include <immintrin.h>

#define WW_PACK(word) pack_words(word)
#define WW_EXPAND(target, mask) expand_words(target, mask)

#include <cstdint>

namespace {
inline std::uint64_t pack_words(const std::uint32_t* word) {
  std::uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m512i part = _mm512_load_si512(word + 16 * i);
    mask |= static_cast<std::uint64_t>(_mm512_movepi32_mask(part)) << (16 * i);
  }
  return mask;
}
inline void expand_words(std::uint32_t* target, std::uint64_t mask) {
  for (int i = 0; i < 4; ++i) {
    _mm512_store_si512(target + 16 * i,
                       _mm512_movm_epi32(static_cast<__mmask16>(mask >> (16 * i))));
  }
}
}  // namespace

#include "exec/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_avx512(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
