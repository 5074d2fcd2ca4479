// Exports the power of on-chip wires to monitoring systems: OpenMetrics text (openmetrics.io,
// version 1.0.0) and OTLP, OpenTelemetry's protocol, as JSON (opentelemetry.io/docs/specs/otlp,
// version 1). The device's power and energy are named by OpenTelemetry's conventions for hardware
// (hw.power, hw.energy), the wires' by wirewatt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ww/model/estimate.hpp"

namespace ww::metrics {

// Figures shown at one moment. Energies count from the start of the program.
struct MetricsState {
  struct Segment {
    std::string name;
    std::optional<model::Interval> power_w;
    std::optional<model::Interval> energy_j;  // of the refreshes that had a figure
    std::string status;
  };
  std::string device;  // as the user named it: "gpu:0"
  std::string card;    // the card's name
  bool is_virtual{};
  std::string job;  // of the batch system, if there is one
  // Names of the wires: by default the segments by model::WireSegment. Crossings of an L2 and
  // the ways between a package's dies have other names.
  std::vector<Segment> segments = wire_segments();
  std::optional<double> device_w;
  std::optional<double> device_j;
  std::string device_of;  // what both cover, where that is more than the device
  // The device that reports the same joules as its own; empty where the sensor is this one's. Under
  // names of their own, they are not added up twice.
  std::string sensor_of;
  // A part of the package, or the node around it, that has an accumulator of its own.
  struct Rail {
    std::string name;  // "aid", "cray_node"
    std::optional<double> energy_j;
  };
  std::vector<Rail> rails{};
  std::vector<Rail> node{};                 // the same for all devices of the node
  std::optional<std::uint64_t> dispatches;  // where the device reports its kernels

  [[nodiscard]] static std::vector<Segment> wire_segments();
};

enum class MetricsForm {
  open_metrics,
  prometheus  // its text format 0.0.4, for scrapers that do not ask for OpenMetrics
};

// The text of a scrape. A figure that is missing has no sample, and its status says why.
[[nodiscard]] std::string metrics_text(const MetricsState& state, MetricsForm form);

// Times of an export, since 1970 [ns].
struct MetricsTimes {
  std::uint64_t start_ns{};  // where the energies begin
  std::uint64_t now_ns{};
};

// An ExportMetricsServiceRequest on one line without its end. `version` is this program's.
[[nodiscard]] std::string otlp_json(const MetricsState& state, const MetricsTimes& times,
                                    const std::string& version);

}  // namespace ww::metrics
