// Serves what `wirewatt top` shows over HTTP: OpenMetrics text at /metrics, a page at / with its
// figures at /now.json.
#pragma once

#include <memory>
#include <string>

#include "ww/core/result.hpp"
#include "ww/metrics/metrics.hpp"

namespace ww::cli {

class MetricsServer {
 public:
  // `address` is PORT, HOST:PORT or [HOST]:PORT; without a host it listens on loopback only.
  // Errors: invalid_argument; io_error where the port is taken or not allowed.
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address);
  virtual ~MetricsServer() = default;
  virtual void publish(const metrics::MetricsState& state) = 0;
  // The line that `top --json` prints, for the page.
  virtual void publish_line(const std::string& line) = 0;
  // "http://127.0.0.1:9477/"
  [[nodiscard]] virtual std::string url() const = 0;
};

}  // namespace ww::cli
