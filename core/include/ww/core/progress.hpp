// Progress with time left, on a terminal only, drawn to stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace ww {

class Progress {
 public:
  // Nothing is drawn unless stderr is a terminal, nor during the first second.
  explicit Progress(std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done and total in any unit; note is a short text shown behind the bar.
  void update(double done, double total, const std::string& note = {});
  void finish();

 private:
  std::string label_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool terminal_{};
  bool visible_{};
};

// "1 m 12 s", "850 ms".
[[nodiscard]] std::string human_duration(double seconds);

}  // namespace ww
