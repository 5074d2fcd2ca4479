// Rows of `wirewatt top` with their history, and where they go: a screen, or a line of JSON each.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "top/top_screen.hpp"
#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::cli {

class Display {
 public:
  // Errors: those of TopScreen::open.
  static Result<Display> open(bool as_json);

  // Puts a refresh's figures into the rows.
  void take(const model::KernelEstimate& total);
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
  std::unique_ptr<TopScreen> screen_;
  std::string misfit_;  // why the calibration is flagged
};

}  // namespace ww::cli
