// Logging to stderr; data goes to stdout and files, never here. Formatting and the logger itself
// are compiled once, in log.cpp: each file that formats by spdlog's own templates takes two seconds
// more.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace ww::log {

enum class Verbosity { quiet, normal, verbose };
enum class Level { debug, info, warning, error };

// Sets up the process-wide logger: stderr, "warning: text" without time stamps, coloured on a
// terminal unless NO_COLOR is set.
void set_up(Verbosity verbosity);

[[nodiscard]] bool is_shown(Level level);
void write(Level level, std::string_view text);
void write(Level level, fmt::string_view format, fmt::format_args arguments);

// A text alone is shown as it is; with arguments it is a format.
inline void debug(std::string_view text) {
  write(Level::debug, text);
}
inline void info(std::string_view text) {
  write(Level::info, text);
}
inline void warn(std::string_view text) {
  write(Level::warning, text);
}
inline void error(std::string_view text) {
  write(Level::error, text);
}
template <class First, class... Rest>
void debug(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  write(Level::debug, format, fmt::make_format_args(first, rest...));
}
template <class First, class... Rest>
void info(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  write(Level::info, format, fmt::make_format_args(first, rest...));
}
template <class First, class... Rest>
void warn(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  write(Level::warning, format, fmt::make_format_args(first, rest...));
}
template <class First, class... Rest>
void error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  write(Level::error, format, fmt::make_format_args(first, rest...));
}

}  // namespace ww::log
