// The emulator's shortcuts, one by one. Options::speed chooses among them; tests may choose finer.
#pragma once

#include <cstdint>

#include "ww/sim/gpu/speed.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

struct Tricks {
  bool replay{true};
  bool run_ahead{true};
  bool translate{true};               // needs run_ahead, and a host with AVX-512 or AVX2
  std::uint32_t translate_after{64};  // executions of a run
  bool share_commits{true};
  // Requests in a quantum from which on threads share its commit, if they are awake and it is worth
  // sharing; 0: they share every quantum.
  std::uint32_t parallel_commit_min_requests{48};

  [[nodiscard]] static constexpr Tricks none() { return {false, false, false, 64, false}; }
  [[nodiscard]] static constexpr Tricks of(Speed speed) {
    if (speed == Speed::all) return {};
    Tricks tricks = none();
    tricks.translate = speed == Speed::translate;
    tricks.translate_after = 0;
    tricks.run_ahead = speed == Speed::run_ahead || tricks.translate;
    tricks.share_commits = speed == Speed::share_commits;
    tricks.parallel_commit_min_requests = 0;
    tricks.replay = speed == Speed::replay;
    return tricks;
  }
};

// Options with the shortcuts chosen one by one; Options::speed is without effect then.
struct TrickOptions : Options {
  Tricks tricks;
};

}  // namespace ww::sim::gpu::exec
