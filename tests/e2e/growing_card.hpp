// A card whose accumulators count while a test runs: a thread writes them into a tree of kernel
// files each millisecond, by this machine's clock.
#pragma once

#include <chrono>
#include <cmath>
#include <thread>

#include "testing/fake_amd_tree.hpp"
#include "ww/core/energy_tick.hpp"

namespace ww::e2e {

// Power [W] of the card and of the parts of its package.
struct GrowingPower {
  double card_w{300}, xcd_w{150}, aid_w{80}, hbm_w{50};
};

class GrowingCard {
 public:
  GrowingCard(const measure::testing::FakeAmdTree& tree, const GrowingPower& power, bool package)
      : thread_([&tree, power, package](const std::stop_token& stop) {
          const auto begin = std::chrono::steady_clock::now();
          while (!stop.stop_requested()) {
            const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
            const auto ticks = [&](double watts) {
              return std::llround((5'000 + watts * passed.count()) / kJoulesPerTick);
            };
            tree.set_energy(ticks(power.card_w));
            if (package) {
              tree.set_package({std::llround(passed.count() * 1e9) + 1'000, ticks(power.card_w),
                                ticks(power.xcd_w), ticks(power.aid_w), ticks(power.hbm_w)});
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace ww::e2e
