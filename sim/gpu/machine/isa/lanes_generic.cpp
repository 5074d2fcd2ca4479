// Vector semantics for any x86-64 (or other) host.
#include <cstdint>

// The signs of 16 words as bits, and bits as words of ones and zeros.
#define WW_PACK(word) pack_words(word)
#define WW_EXPAND(target, mask) expand_words(target, mask)

namespace {
inline std::uint64_t pack_words(const std::uint32_t* word) {
  std::uint64_t mask = 0;
  for (int i = 0; i < 16; ++i) mask |= std::uint64_t{word[i] >> 31} << i;
  return mask;
}
inline void expand_words(std::uint32_t* target, std::uint64_t mask) {
  for (int i = 0; i < 16; ++i) target[i] = (mask >> i & 1U) != 0 ? ~std::uint32_t{0} : 0U;
}
}  // namespace

#include "machine/isa/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_generic(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
