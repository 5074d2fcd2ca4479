// A card whose accumulators count while a test runs: a thread writes them into a tree of kernel
// files each millisecond, by this machine's clock. The card draws little until a file appears,
// "load" in the tree's folder, and while it is there all of its power.
#pragma once

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "testing/fake_amd_tree.hpp"
#include "ww/core/energy_tick.hpp"

namespace ww::e2e {

// Power [W] of the loaded card and of the parts of its package.
struct GrowingPower {
  double card_w{300}, xcd_w{150}, aid_w{80}, hbm_w{50};
};

class GrowingCard {
 public:
  // Share of the power under load that the card draws at rest.
  static constexpr double kRest = 0.05;

  GrowingCard(const measure::testing::FakeAmdTree& tree, const GrowingPower& power, bool package)
      : load_(tree.device() / "load"),
        thread_([this, &tree, power, package](const std::stop_token& stop) {
          count(stop, tree, power, package);
        }) {}

  [[nodiscard]] const std::filesystem::path& load() const { return load_; }
  // Joules that an accumulator counts in a stretch of `seconds` in which the card was loaded as
  // long as it was up to now. A thread that had to wait for its turn writes late. It catches up
  // while the card rests, so that the sum is exact but for what rests at the ends of the stretch.
  [[nodiscard]] double joules(double loaded_w, double seconds) const {
    return loaded_w * (kRest * seconds + (1 - kRest) * loaded_s_);
  }

 private:
  void count(const std::stop_token& stop, const measure::testing::FakeAmdTree& tree,
             const GrowingPower& power, bool package) {
    const auto begin = std::chrono::steady_clock::now();
    double passed_s = 0, loaded_s = 0;
    for (bool loaded = false; !stop.stop_requested();) {
      const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin;
      if (loaded) loaded_s += now.count() - passed_s;
      passed_s = now.count();
      loaded_s_ = loaded_s;
      loaded = std::filesystem::exists(load_);
      const auto ticks = [&](double watts) {
        const double joules = watts * (kRest * passed_s + (1 - kRest) * loaded_s);
        return std::llround((5'000 + joules) / kJoulesPerTick);
      };
      tree.set_energy(ticks(power.card_w));
      if (package) {
        tree.set_package({std::llround(passed_s * 1e9) + 1'000, ticks(power.card_w),
                          ticks(power.xcd_w), ticks(power.aid_w), ticks(power.hbm_w)});
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::filesystem::path load_;
  std::atomic<double> loaded_s_{0};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace ww::e2e
