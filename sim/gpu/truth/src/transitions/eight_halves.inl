// Eight 64-bit lanes, one to a group of 64 wires, as two vectors of four: for hosts without vectors
// of 64 bytes, for which compilers take such a vector apart lane by lane. Where the host counts the
// set bits of four lanes at once, the including file says how, as WW_BITS_IN_FOUR(word).
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ww::sim::gpu {
namespace {

using Four = std::uint64_t __attribute__((vector_size(32)));

struct Eight {
  Four low, high;

  void operator+=(const Eight& other) {
    low += other.low;
    high += other.high;
  }
};

inline Eight operator+(const Eight& a, const Eight& b) {
  return {a.low + b.low, a.high + b.high};
}
inline Eight operator|(const Eight& a, const Eight& b) {
  return {a.low | b.low, a.high | b.high};
}
inline Eight operator^(const Eight& a, const Eight& b) {
  return {a.low ^ b.low, a.high ^ b.high};
}
inline Eight operator&(const Eight& a, const Eight& b) {
  return {a.low & b.low, a.high & b.high};
}

inline Eight load(const void* bytes) {
  Eight word;
  std::memcpy(&word.low, bytes, sizeof word.low);
  std::memcpy(&word.high, static_cast<const unsigned char*>(bytes) + sizeof word.low,
              sizeof word.high);
  return word;
}

inline void store(void* bytes, const Eight& word) {
  std::memcpy(bytes, &word.low, sizeof word.low);
  std::memcpy(static_cast<unsigned char*>(bytes) + sizeof word.low, &word.high, sizeof word.high);
}

// Loads the first `count` bytes of a word, up to all; the others are as in `held`.
inline Eight load_part(const void* bytes, std::size_t count, const Eight& held) {
  unsigned char whole[sizeof held];
  store(whole, held);
  std::memcpy(whole, bytes, count);
  return load(whole);
}

#ifndef WW_BITS_IN_FOUR
// Neighbouring bits are added, then neighbouring sums: such a host counts no bits of vectors.
inline Four bits_in_four(Four word) {
  word -= word >> 1 & std::uint64_t{0x5555555555555555};
  constexpr std::uint64_t kPairs = 0x3333333333333333;
  word = (word & kPairs) + (word >> 2 & kPairs);
  word = (word + (word >> 4)) & std::uint64_t{0x0F0F0F0F0F0F0F0F};
  word += word >> 8;
  word += word >> 16;
  return (word + (word >> 32)) & std::uint64_t{0x7F};
}
#define WW_BITS_IN_FOUR(word) bits_in_four(word)
#endif

// The set bits of each lane.
inline Eight bits_in(const Eight& word) {
  return {WW_BITS_IN_FOUR(word.low), WW_BITS_IN_FOUR(word.high)};
}

// The lower four lanes all have one value, the upper four another.
inline Eight of_halves(std::uint64_t lower, std::uint64_t upper) {
  return {Four{lower, lower, lower, lower}, Four{upper, upper, upper, upper}};
}

// The lower four lanes of both, and the upper four.
inline Eight lower_of(const Eight& first, const Eight& second) {
  return {first.low, second.low};
}
inline Eight upper_of(const Eight& first, const Eight& second) {
  return {first.high, second.high};
}

// Spreads in each half what its last lane holds.
inline Eight last_of_halves(const Eight& word) {
  return {__builtin_shufflevector(word.low, word.low, 3, 3, 3, 3),
          __builtin_shufflevector(word.high, word.high, 3, 3, 3, 3)};
}

// Moves each half's lanes up by one; the first lane gets the last of `before`.
inline Eight one_lane_up(const Eight& word, const Eight& before) {
  return {__builtin_shufflevector(before.low, word.low, 3, 4, 5, 6),
          __builtin_shufflevector(before.high, word.high, 3, 4, 5, 6)};
}

// The lower half of the first and the upper half of the second.
inline Eight lower_and_upper(const Eight& first, const Eight& second) {
  return {first.low, second.high};
}

inline Eight shifted_down(const Eight& word) {
  return {word.low >> 1, word.high >> 1};
}

template <int lower, int upper>
inline Eight shifted_up(const Eight& word) {
  return {word.low << lower, word.high << upper};
}

// Lane k has what lane k ^ stride holds, shifted right by a bit where k has the stride's bit.
template <int stride>
inline Eight partners(const Eight& word) {
  if constexpr (stride == 4) {
    return {word.high, word.low >> 1};
  } else {
    constexpr int s = stride;
    constexpr Four by = {(0 & s) / s, (1 & s) / s, (2 & s) / s, (3 & s) / s};
    return {__builtin_shufflevector(word.low, word.low, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s) >> by,
            __builtin_shufflevector(word.high, word.high, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s) >> by};
  }
}

}  // namespace
}  // namespace ww::sim::gpu
