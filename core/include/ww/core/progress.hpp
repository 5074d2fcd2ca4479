// Progress with throughput and time left on stderr: drawn on a terminal, unless --quiet; elsewhere
// a line now and then, with --verbose.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ww {

// How fast work goes: over the time since the first report, so that what was done before it, as by
// a run that is resumed, does not count.
class Pace {
 public:
  // `done` in any unit, at a time [s] that never goes back.
  void report(double time_s, double done);
  // Units a second; absent until some were done.
  [[nodiscard]] std::optional<double> rate() const;
  [[nodiscard]] std::optional<double> seconds_left(double total) const;

 private:
  std::optional<double> first_time_s_;
  double first_done_{}, time_s_{}, done_{};
};

// "3.2 runs/s", "40 runs/min", "12 runs/h".
[[nodiscard]] std::string rate_text(double per_second, const std::string& unit);

class Progress {
 public:
  // `unit` as "runs", for the throughput; empty: none is shown. Nothing is drawn during the first
  // second.
  explicit Progress(std::string label, std::string unit = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done and total in any unit; note is a short text shown behind the bar.
  void update(double done, double total, const std::string& note = {});
  void finish();

 private:
  [[nodiscard]] std::string text(double done, double total, const std::string& note) const;

  std::string label_, unit_;
  Pace pace_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  bool terminal_{};  // to be drawn on
  bool told_{};      // now and then, as lines
  bool visible_{};
};

// "1 m 12 s", "850 ms".
[[nodiscard]] std::string human_duration(double seconds);

}  // namespace ww
