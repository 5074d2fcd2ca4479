#include "ww/sim/net/random.hpp"

#include "ww/core/split_mix.hpp"

namespace ww::sim::net {

Random::Random(std::uint64_t seed) {
  SplitMix seeds(seed);
  for (std::uint64_t& word : state_) word = seeds.next();
}

}  // namespace ww::sim::net
