#include "ww/core/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ww {

std::string human_duration(double seconds) {
  if (seconds < 1.0) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60.0) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
}

Progress::Progress(std::string label)
    : label_(std::move(label)),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  finish();
}

void Progress::update(double done, double total, const std::string& note) {
  if (!terminal_ || total <= 0.0) return;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = now - start_;
  if (elapsed.count() < 1.0 || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  visible_ = true;
  const double share = std::clamp(done / total, 0.0, 1.0);
  constexpr int width = 24;
  const auto filled = static_cast<std::size_t>(share * width);
  const std::string left =
      share > 0.0 ? human_duration(elapsed.count() * (1.0 - share) / share) + " left" : "";
  fmt::print(stderr, "\r\x1b[K{} [{}{}] {:3.0f}% {} {}", label_, std::string(filled, '#'),
             std::string(width - filled, '.'), share * 100.0, left, note);
  std::fflush(stderr);
}

void Progress::finish() {
  if (!visible_) return;
  visible_ = false;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace ww
