// Vector semantics for hosts with AVX-512 F, DQ, BW and VL; reached only where they exist.
#include <immintrin.h>

// The signs of 16 words as bits, and bits as words of ones and zeros.
#define WW_PACK(word) pack_words(word)
#define WW_EXPAND(target, mask) expand_words(target, mask)

#include <cstdint>

namespace {
inline std::uint64_t pack_words(const std::uint32_t* word) {
  return _mm512_movepi32_mask(_mm512_load_si512(word));
}
inline void expand_words(std::uint32_t* target, std::uint64_t mask) {
  _mm512_store_si512(target, _mm512_movm_epi32(static_cast<__mmask16>(mask)));
}
}  // namespace

#include "isa/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_avx512(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
