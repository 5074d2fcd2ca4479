// Reports how far a launch is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

class Teller {
 public:
  using Tell = std::function<void(const LaunchProgress&)>;

  // How many instructions all waves have issued so far.
  using Instructions = std::function<std::uint64_t()>;

  // Reports on a launch of `groups` work-groups. With an empty `tell` it reports nothing.
  Teller(const Tell& tell, std::chrono::milliseconds between, const std::string& kernel,
         std::uint64_t groups, Instructions instructions)
      : tell_(tell),
        between_(between),
        kernel_(kernel),
        groups_(groups),
        instructions_(std::move(instructions)),
        next_(tell_ ? Clock::now() + between_ : Clock::time_point::max()) {}
  ~Teller() {
    if (told_) tell(true);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  // Counts `ended` work-groups that ended since the last call.
  void look(std::uint64_t ended) {
    if (!tell_) return;
    ended_ += ended;
    if (++looks_ % kLooksBetweenClocks != 0) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + between_;
    told_ = true;
    tell(false);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kLooksBetweenClocks = 16;

  void tell(bool ended) const { tell_({kernel_, ended_, groups_, instructions_(), ended}); }

  const Tell& tell_;
  std::chrono::milliseconds between_;
  const std::string& kernel_;
  std::uint64_t groups_;
  Instructions instructions_;
  std::uint64_t ended_{};
  std::uint64_t looks_{};
  bool told_{};
  Clock::time_point next_;
};

}  // namespace ww::sim::gpu::exec
