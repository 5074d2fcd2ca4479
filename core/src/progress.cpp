#include "ww/core/progress.hpp"
#include "ww/core/log.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ww {
namespace {

std::atomic<bool> as_json{false};

}  // namespace

void print_progress_as_json() {
  as_json = true;
}

std::string human_duration(double seconds) {
  if (seconds < 1.0) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60.0) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole / 60 % 60);
}

void Pace::report(double time_s, double done) {
  if (!first_time_s_) {
    first_time_s_ = time_s;
    first_done_ = done;
  }
  time_s_ = time_s;
  done_ = done;
}

std::optional<double> Pace::rate() const {
  if (!first_time_s_ || time_s_ <= *first_time_s_ || done_ <= first_done_) return std::nullopt;
  return (done_ - first_done_) / (time_s_ - *first_time_s_);
}

std::optional<double> Pace::seconds_left(double total) const {
  const auto speed = rate();
  if (!speed) return std::nullopt;
  return std::max(0.0, total - done_) / *speed;
}

std::string rate_text(double per_second, const std::string& unit) {
  if (per_second >= 1)
    return fmt::format("{:.{}f} {}/s", per_second, per_second < 10 ? 1 : 0, unit);
  if (per_second * 60 >= 1) return fmt::format("{:.0f} {}/min", per_second * 60, unit);
  return fmt::format("{:.2g} {}/h", per_second * 3600, unit);
}

Progress::Progress(std::string label, std::string unit)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_),
      form_(Form::none) {
  if (as_json) {
    form_ = Form::json;
  } else if (::isatty(STDERR_FILENO) == 1 && log::is_shown(log::Level::info)) {
    form_ = Form::drawn;
  } else if (log::is_shown(log::Level::debug)) {
    form_ = Form::told;
  }
}

Progress::~Progress() {
  finish();
}

std::string Progress::text(double done, double total, const std::string& note) const {
  std::string line = fmt::format("{:3.0f}%", std::clamp(done / total, 0.0, 1.0) * 100.0);
  if (!unit_.empty()) {
    line += fmt::format(" {:.0f} of {:.0f}", done, total);
    if (const auto rate = pace_.rate()) line += ", " + rate_text(*rate, unit_);
  }
  if (const auto left = pace_.seconds_left(total)) line += ", " + human_duration(*left) + " left";
  return note.empty() ? line : line + "  " + note;
}

void Progress::update(double done, double total, const std::string& note) {
  if (form_ == Form::none || total <= 0.0) return;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = now - start_;
  pace_.report(elapsed.count(), done);
  if (form_ == Form::json) {
    if (now - drawn_ < std::chrono::milliseconds(200) && done < total) return;
    drawn_ = now;
    const auto left = pace_.seconds_left(total);
    const nlohmann::ordered_json step{
        {"progress", label_},
        {"done", done},
        {"total", total},
        {"seconds_left", left ? nlohmann::json(*left) : nlohmann::json()},
        {"note", note}};
    // A label may be a file's name.
    fmt::print(stderr, "{}\n",
               step.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  if (form_ == Form::told) {
    if (now - drawn_ < std::chrono::seconds(10)) return;
    drawn_ = now;
    log::debug("{} {}", label_, text(done, total, note));
    return;
  }
  if (elapsed.count() < 1.0 || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  visible_ = true;
  constexpr int width = 24;
  const auto filled = static_cast<std::size_t>(std::clamp(done / total, 0.0, 1.0) * width);
  std::string line = fmt::format("{} [{}{}] {}", label_, std::string(filled, '#'),
                                 std::string(width - filled, '.'), text(done, total, note));
  // A line that wraps could not be taken back.
  winsize window{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1) {
    line.resize(std::min<std::size_t>(line.size(), window.ws_col - 1U));
  }
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

void Progress::finish() {
  if (!visible_) return;
  visible_ = false;
  erase_progress();
}

void erase_progress() {
  if (::isatty(STDERR_FILENO) != 1) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace ww
