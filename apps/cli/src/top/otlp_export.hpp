// Sends what `wirewatt top` shows to OpenTelemetry: a line of OTLP in a file, or a request to a
// collector, for each refresh.
#pragma once

#include <memory>
#include <string>

#include "ww/core/result.hpp"
#include "ww/metrics/metrics.hpp"

namespace ww::cli {

class OtlpExport {
 public:
  // `target` is a file, to which lines are appended, or a collector's address: http://HOST:PORT,
  // and a path where it is not /v1/metrics. Errors: invalid_argument; io_error where the file
  // cannot be written. A collector that does not answer is no error.
  static Result<std::unique_ptr<OtlpExport>> open(const std::string& target);
  virtual ~OtlpExport() = default;
  // Waits at most a second or two for a collector. The first failure of several is warned of.
  virtual void publish(const metrics::MetricsState& state) = 0;
};

}  // namespace ww::cli
