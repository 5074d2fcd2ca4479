#include "rails.hpp"

#include <algorithm>
#include <cmath>

#include "ww/core/energy_tick.hpp"

namespace ww::sim::gpu {
namespace {

// Names as measure's reader of pm_metrics has them.
constexpr std::array<const char*, 4> kNames{"socket_energy", "xcd_energy", "aid_energy",
                                            "hbm_energy"};
static_assert(kNames.size() <= WW_VGPU_MOST_RAILS);

}  // namespace

Rails::Rails(const Truth& truth, std::uint64_t seed)
    : truth_(truth.rails), draw_(seed), gain_{truth_.xcd_gain, truth_.aid_gain, truth_.hbm_gain} {
  if (truth_.period_ns == 0) return;
  const std::int64_t tick_ns = truth.sensor.period_ns;
  ticks_to_refresh_ = std::max<std::int64_t>(1, (truth_.period_ns + tick_ns / 2) / tick_ns);
  const double period_s = static_cast<double>(ticks_to_refresh_ * tick_ns) * 1e-9;
  wander_pull_ = std::exp(-period_s / truth.sensor.wander_tau_s);
  wander_kick_ = truth_.wander_relative * std::sqrt(1.0 - wander_pull_ * wander_pull_);
  for (double& wander : wander_) wander = truth_.wander_relative * draw_.normal();
}

std::span<const char* const> Rails::names() const {
  return truth_.period_ns == 0 ? std::span<const char* const>{} : std::span(kNames);
}

void Rails::add(const Energies& energies) {
  fresh_j_[0] += energies.xcd_j;
  fresh_j_[1] += energies.aid_j;
  fresh_j_[2] += energies.hbm_j;
}

void Rails::tick(std::int64_t time_ns, std::int64_t socket_ticks) {
  if (truth_.period_ns == 0 || ++ticks_ % ticks_to_refresh_ != 0) return;
  ww_vgpu_rail_sample sample{};
  sample.index = samples_.size();
  sample.time_ns = time_ns;
  sample.energy_ticks[0] = socket_ticks;
  for (std::size_t rail = 0; rail < gain_.size(); ++rail) {
    wander_[rail] = wander_[rail] * wander_pull_ + wander_kick_ * draw_.normal();
    sum_j_[rail] += gain_[rail] * fresh_j_[rail] * (1.0 + wander_[rail]) *
                    (1.0 + truth_.noise_relative * draw_.normal());
    fresh_j_[rail] = 0;
    sample.energy_ticks[rail + 1] =
        static_cast<std::int64_t>(std::floor(sum_j_[rail] / kJoulesPerTick));
  }
  samples_.push_back(sample);
}

}  // namespace ww::sim::gpu
