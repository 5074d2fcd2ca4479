// Rows of `wirewatt top` with their history, and where they go: a screen, or a line of JSON each,
// and beside it a monitoring system.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "top/open_metrics.hpp"
#include "top/otlp_export.hpp"
#include "top/top_screen.hpp"
#include "ww/calibration/priced.hpp"
#include "ww/core/result.hpp"
#include "ww/session/device_meter.hpp"

namespace ww::cli {

// Further targets of the figures; an empty one is none.
struct MetricsTargets {
  std::string address;  // where to serve OpenMetrics
  bool web{};           // serve the page; on loopback, any free port, where `address` is empty
  bool open{};          // show it in a browser
  std::string otlp;     // a file, or the address of a collector
};

struct DisplayRequest {
  bool json{};
  MetricsTargets metrics;
  std::string device;        // as the user names it
  calibration::Priced rows;  // what there is to show, before any figure
};

class Display {
 public:
  // Opens a display. With an address for metrics and without a terminal nothing is drawn. Errors:
  // those of TopScreen::open, MetricsServer::start and OtlpExport::open.
  static Result<Display> open(const DisplayRequest& request);

  // Puts a refresh's figures into the rows, of which there are as many as the display was opened
  // with. Their energy is the estimate's own, or, for a program that goes on as it was counted,
  // power times `seconds`.
  void take(const calibration::Priced& figures, std::optional<double> seconds = {});
  // A refresh without figures; `status` says why.
  void take_nothing(const std::string& status);
  // The joules of the device and its rails since the start.
  void take_device(const session::MeterReading& reading);
  // From here on every figure says that its calibration is flagged; nothing where `reason` is
  // empty.
  void mark_misfit(const std::string& reason);
  // Draws, or prints `facts` with the rows added.
  void show(nlohmann::json facts);
  // Whether the user asks to end.
  bool wait(std::chrono::milliseconds time);
  [[nodiscard]] bool on_screen() const { return screen_ != nullptr; }
  // Whether there is something to look at after the program has ended, until the user ends it.
  [[nodiscard]] bool stays() const { return on_screen() || web_; }
  void close() { screen_.reset(); }
  // Prints the joules of the wires since the start, as a table on stdout.
  void print_joules() const;

  TopFrame frame;

 private:
  static void push(TopRow& row, double value);
  static void set(TopRow& row, const std::optional<Interval>& power, const std::string& status);
  Status serve(const MetricsTargets& targets);
  void publish(const nlohmann::json& facts);
  [[nodiscard]] nlohmann::json line_of(nlohmann::json facts) const;

  std::unique_ptr<TopScreen> screen_;
  std::unique_ptr<MetricsServer> server_;
  std::unique_ptr<OtlpExport> otlp_;
  metrics::MetricsState state_;
  std::optional<session::MeterReading> device_;
  bool web_{};
  bool silent_{};       // neither screen nor lines
  std::string misfit_;  // why the calibration is flagged
};

// The joules of a device as `top` and `meter` print them: "energy_j" with status, reason and what
// they follow from, and "rails".
void put_device_joules(nlohmann::json& into, const session::MeterReading& reading);
// The joules of the node that the device sits in, which are the same for all its devices.
[[nodiscard]] nlohmann::json node_json(const session::MeterReading& reading);

}  // namespace ww::cli
