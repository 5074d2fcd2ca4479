// Eight 64-bit lanes, one to a group of 64 wires, in one vector of the host (AVX-512).
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ww::sim::gpu {
namespace {

using Eight = std::uint64_t __attribute__((vector_size(64)));

inline Eight load(const void* bytes) {
  Eight word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Loads the first `count` bytes of a word, up to all; the others are as in `held`. The code would
// wait for a word that was put together in memory.
inline Eight load_part(const void* bytes, std::size_t count, const Eight& held) {
  const std::uint64_t there =
      count < sizeof held ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
  return reinterpret_cast<Eight>(
      _mm512_mask_loadu_epi8(reinterpret_cast<__m512i>(held), there, bytes));
}

inline void store(void* bytes, const Eight& word) {
  std::memcpy(bytes, &word, sizeof word);
}

// The set bits of each lane.
inline Eight bits_in(const Eight& word) {
  return reinterpret_cast<Eight>(_mm512_popcnt_epi64(reinterpret_cast<__m512i>(word)));
}

// The lower four lanes all have one value, the upper four another.
// The compiler would put eight numbers together in memory, and wait for them.
inline Eight of_halves(std::uint64_t lower, std::uint64_t upper) {
  const __m512i all_lower = _mm512_set1_epi64(static_cast<long long>(lower));
  return reinterpret_cast<Eight>(
      _mm512_mask_set1_epi64(all_lower, 0xF0, static_cast<long long>(upper)));
}

// The lower four lanes of both, and the upper four.
inline Eight lower_of(const Eight& first, const Eight& second) {
  return __builtin_shufflevector(first, second, 0, 1, 2, 3, 8, 9, 10, 11);
}
inline Eight upper_of(const Eight& first, const Eight& second) {
  return __builtin_shufflevector(first, second, 4, 5, 6, 7, 12, 13, 14, 15);
}

// Spreads in each half what its last lane holds.
inline Eight last_of_halves(const Eight& word) {
  return __builtin_shufflevector(word, word, 3, 3, 3, 3, 7, 7, 7, 7);
}

// Moves each half's lanes up by one; the first lane gets the last of `before`.
inline Eight one_lane_up(const Eight& word, const Eight& before) {
  return __builtin_shufflevector(before, word, 3, 8, 9, 10, 7, 12, 13, 14);
}

// The lower half of the first and the upper half of the second.
inline Eight lower_and_upper(const Eight& first, const Eight& second) {
  return __builtin_shufflevector(first, second, 0, 1, 2, 3, 12, 13, 14, 15);
}

inline Eight shifted_down(const Eight& word) {
  return word >> 1;
}

template <int lower, int upper>
inline Eight shifted_up(const Eight& word) {
  constexpr Eight by = {lower, lower, lower, lower, upper, upper, upper, upper};
  return word << by;
}

// Lane k has what lane k ^ stride holds, shifted right by a bit where k has the stride's bit.
template <int stride>
inline Eight partners(const Eight& word) {
  constexpr int s = stride;
  const Eight partner =
      __builtin_shufflevector(word, word, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s, 4 ^ s, 5 ^ s, 6 ^ s, 7 ^ s);
  const Eight by = {(0 & s) / s, (1 & s) / s, (2 & s) / s, (3 & s) / s,
                    (4 & s) / s, (5 & s) / s, (6 & s) / s, (7 & s) / s};
  return partner >> by;
}

}  // namespace
}  // namespace ww::sim::gpu
