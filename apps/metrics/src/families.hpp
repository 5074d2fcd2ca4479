// The metrics, each named once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ww/metrics/metrics.hpp"

namespace ww::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  double value{};
  Labels labels{};  // besides those of the device
};

enum class Unit { none, watt, joule, kernel };

struct Family {
  std::string name;  // OpenTelemetry's: "wirewatt.wire.energy.lower"
  Unit unit{};
  bool counts{};  // since the start, and never down
  std::string help;
  std::vector<Sample> samples;
};

[[nodiscard]] std::vector<Family> families(const MetricsState& state);

// The labels of every sample, by OpenTelemetry's names: "hw.id".
[[nodiscard]] Labels device_labels(const MetricsState& state);

}  // namespace ww::metrics
