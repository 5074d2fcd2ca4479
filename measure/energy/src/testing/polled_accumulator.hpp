// Simulates polls of an energy accumulator, for tests of the rules and of their users.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "ww/energy/energy.hpp"

namespace ww::energy::testing {

struct PolledAccumulator {
  EnergySeries series;

  // Polls every `poll_s`, each late by up to `late_s`, of an accumulator that is refreshed every
  // `refresh_s` while `power` watts flow.
  PolledAccumulator(double seconds, double poll_s, double refresh_s, double late_s,
                    const std::function<double(double)>& power) {
    double energy = 3.0;
    double refreshed = 0;
    std::int64_t ticks = std::llround(energy / kJoulesPerTick);
    std::uint32_t random = 7;
    for (double due = 0.5e-3; due < seconds; due += poll_s) {
      random = random * 1664525u + 1013904223u;
      const double now = due + late_s * static_cast<double>(random >> 8) / 16777216.0;
      while (refreshed + refresh_s <= now) {
        energy += power(refreshed + refresh_s / 2) * refresh_s;
        refreshed += refresh_s;
        ticks = static_cast<std::int64_t>(energy / kJoulesPerTick);
      }
      series.readings.push_back({std::llround(now * 1e9), ticks, kAbsent});
    }
  }

  // Mean of the readings between two times.
  [[nodiscard]] double mean(const EnergySteps& steps, double from_s, double to_s) const {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < series.readings.size(); ++i) {
      const double at = static_cast<double>(series.readings[i].time_ns) * 1e-9;
      if (at < from_s || at > to_s) continue;
      sum += static_cast<double>(steps.power_w[i]);
      ++count;
    }
    return sum / count;
  }
};

}  // namespace ww::energy::testing
