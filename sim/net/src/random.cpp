#include "ww/sim/net/random.hpp"

#include "ww/core/split_mix.hpp"
#include "ww/sim/net/draws.hpp"

namespace ww::sim::net {

Random::Random(std::uint64_t seed) {
  SplitMix seeds(seed);
  for (std::uint64_t& word : state_) word = seeds.next();
}

namespace {

class NativeDraws final : public Draws {
 public:
  explicit NativeDraws(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t bound) override { return random_.below(bound); }

 private:
  Random random_;
};

}  // namespace

std::shared_ptr<Draws> native_draws(std::uint64_t seed) {
  return std::make_shared<NativeDraws>(seed);
}

}  // namespace ww::sim::net
