// The screen of `wirewatt top`: what one refresh shows, and the terminal that shows it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/interval.hpp"

namespace ww::cli {

struct TopRow {
  std::string name;
  std::optional<model::Interval> power_w;
  std::string status;
  std::deque<double> history;  // oldest first; NaN where there was nothing
};

struct TopFrame {
  std::string title;               // device, and that it is virtual where it is
  std::string source;              // where the segments' figures come from
  std::vector<std::string> lines;  // sensor, kernels
  std::vector<TopRow> rows;
  std::string state;  // "running", "ended (exit code 0)"
};

// "▁▂▃": the last `width` values from 0 to the most among them; a dot where there was nothing.
[[nodiscard]] std::string sparkline(const std::deque<double>& values, std::size_t width);

// A full-screen terminal, given back as it was found when the object goes.
class TopScreen {
 public:
  // Error unsupported: stdout is no terminal, or one that the terminal library does not know.
  static Result<std::unique_ptr<TopScreen>> open();
  virtual ~TopScreen() = default;
  virtual void draw(const TopFrame& frame) = 0;
  // Waits so long for a key, or less; 'q' asks to end. 0 for none.
  virtual int key(int milliseconds) = 0;
};

}  // namespace ww::cli
