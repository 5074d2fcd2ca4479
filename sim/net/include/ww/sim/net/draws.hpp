// The random numbers that routers draw their ways from, where a routing leaves a choice.
#pragma once

#include <cstdint>
#include <memory>

namespace ww::sim::net {

class Draws {
 public:
  virtual ~Draws() = default;

  // Uniform in [0, bound). Precondition: 0 < bound.
  virtual std::uint32_t below(std::uint32_t bound) = 0;
};

// Numbers of our own for a seed.
[[nodiscard]] std::shared_ptr<Draws> native_draws(std::uint64_t seed);

}  // namespace ww::sim::net
