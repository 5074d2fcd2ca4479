// What `wirewatt top` shows, for monitoring systems: OpenMetrics text (openmetrics.io,
// version 1.0.0) over HTTP. The device's power is named by OpenTelemetry's conventions for hardware
// (hw.power), the wires' by wirewatt_.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

// The state that one scrape shows. Energies count from the start of the program.
struct MetricsState {
  struct Segment {
    std::string name;  // "L1-L2"
    std::optional<model::Interval> power_w;
    std::optional<model::Interval> energy_j;  // of the refreshes that had a figure
    std::string status;
  };
  std::string device;  // as the user named it: "gpu:0"
  std::string card;    // the card's name
  bool is_virtual{};
  std::string job;  // of the batch system, if there is one
  std::array<Segment, 3> segments;
  std::optional<double> device_w;
  std::uint64_t dispatches{};
};

enum class MetricsForm {
  open_metrics,
  prometheus  // its text format 0.0.4, for scrapers that do not ask for OpenMetrics
};

// The text of a scrape. A figure that is missing has no sample, and its status says why.
[[nodiscard]] std::string metrics_text(const MetricsState& state, MetricsForm form);

class MetricsServer {
 public:
  // `address` is PORT, HOST:PORT or [HOST]:PORT; without a host it listens on loopback only.
  // Errors: invalid_argument; io_error where the port is taken or not allowed.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address);
  virtual ~MetricsServer() = default;
  virtual void publish(const MetricsState& state) = 0;
  [[nodiscard]] virtual std::string url() const = 0;
};

}  // namespace ww::cli
