// Transition counts for any host.
#include <bit>
#include <cstdint>

// One lane after the other.
#define WW_BITS_IN(word) bits_in<decltype((word) + 0)>(word)
template <class Word>
inline Word bits_in(const Word& word) {
  Word count{};
  for (int lane = 0; lane < 8; ++lane) {
    count[lane] = static_cast<std::uint64_t>(std::popcount(std::uint64_t{word[lane]}));
  }
  return count;
}

#include "transitions.inl"

namespace ww::sim::gpu {
BusDriver portable_bus_driver(int stride) {
  return driver(stride);
}
}  // namespace ww::sim::gpu
