// Rows of `wirewatt top` with their history, and where they go: a screen, or a line of JSON each,
// and beside it a monitoring system.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "top/open_metrics.hpp"
#include "top/top_screen.hpp"
#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

struct DisplayRequest {
  bool json{};
  std::string metrics_address;  // empty: none
  std::string device;           // as the user names it
};

class Display {
 public:
  // With an address for metrics and without a terminal nothing is drawn. Errors: those of
  // TopScreen::open and MetricsServer::start.
  static Result<Display> open(const DisplayRequest& request);

  // Puts a refresh's figures into the rows. Their energy is the estimate's own, or, for a program
  // that goes on as it was counted, power times `seconds`.
  void take(const model::KernelEstimate& total, std::optional<double> seconds = {});
  // A refresh without figures; `status` says why.
  void take_nothing(const std::string& status);
  // From here on every figure says that its calibration is flagged; nothing where `reason` is
  // empty.
  void mark_misfit(const std::string& reason);
  // Draws, or prints `facts` with the rows added.
  void show(nlohmann::json facts);
  // Whether the user asks to end.
  bool wait(std::chrono::milliseconds time);
  [[nodiscard]] bool on_screen() const { return screen_ != nullptr; }
  void close() { screen_.reset(); }

  TopFrame frame;

 private:
  static void push(TopRow& row, double value);
  static void set(TopRow& row, const std::optional<model::Interval>& power,
                  const std::string& status);
  void publish(const nlohmann::json& facts);

  std::unique_ptr<TopScreen> screen_;
  std::unique_ptr<MetricsServer> server_;
  MetricsState state_;
  bool silent_{};       // neither screen nor lines
  std::string misfit_;  // why the calibration is flagged
};

}  // namespace ww::cli
