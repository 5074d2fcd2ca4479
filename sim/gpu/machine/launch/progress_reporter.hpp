// Reports how far a launch is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

class ProgressReporter {
 public:
  using Report = std::function<void(const LaunchProgress&)>;

  // How many instructions all waves have issued so far.
  using Instructions = std::function<std::uint64_t()>;

  // Reports on a launch of `groups` work-groups. With an empty `report` it reports nothing.
  ProgressReporter(const Report& report, std::chrono::milliseconds between,
                   const std::string& kernel, std::uint64_t groups, Instructions instructions)
      : report_(report),
        between_(between),
        kernel_(kernel),
        groups_(groups),
        instructions_(std::move(instructions)),
        next_(report_ ? Clock::now() + between_ : Clock::time_point::max()) {}
  ~ProgressReporter() {
    if (reported_) report(true);
  }
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  // Counts `ended` work-groups that ended since the last call.
  void count(std::uint64_t ended) {
    if (!report_) return;
    ended_ += ended;
    if (++calls_ % kCallsBetweenClocks != 0) return;
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + between_;
    reported_ = true;
    report(false);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kCallsBetweenClocks = 16;

  void report(bool ended) const { report_({kernel_, ended_, groups_, instructions_(), ended}); }

  const Report& report_;
  std::chrono::milliseconds between_;
  const std::string& kernel_;
  std::uint64_t groups_;
  Instructions instructions_;
  std::uint64_t ended_{};
  std::uint64_t calls_{};
  bool reported_{};
  Clock::time_point next_;
};

}  // namespace ww::sim::gpu::exec
