// Progress with throughput and time left on stderr. It is drawn on a terminal, unless --quiet.
// Elsewhere it is printed as a line now and then, with --verbose. A program that runs wirewatt gets
// it as JSON.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace ww {

// The speed of work over the time since the first report. Work that was done before it, as in a
// resumed run, does not count.
class Pace {
 public:
  // `done` is in any unit, and `time_s` [s] must never decrease.
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

// From now on every Progress prints an object a line, some times a second: "progress" (the label),
// "done", "total", "note", and "seconds_left" (null where it is not known).
void print_progress_as_json();

class Progress {
 public:
  // `unit` names the throughput's unit, for example "runs"; if it is empty, no throughput is shown.
  // Nothing is drawn during the first second.
  explicit Progress(std::string label, std::string unit = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` and `total` are in any unit. `note` is a short text shown behind the bar.
  void update(double done, double total, const std::string& note = {});
  void finish();

 private:
  [[nodiscard]] std::string text(double done, double total, const std::string& note) const;

  std::string label_, unit_;
  Pace pace_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_;
  enum class Form { none, drawn, told, json } form_;
  bool visible_{};
};

// Erases the line of another program's Progress, which was ended while it was drawn; nothing where
// stderr is no terminal.
void erase_progress();

// "1 m 12 s", "850 ms".
[[nodiscard]] std::string human_duration(double seconds);

}  // namespace ww
