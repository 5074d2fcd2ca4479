#include "ww/core/log.hpp"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace ww::log {
namespace {

spdlog::level::level_enum of_spdlog(Level level) {
  switch (level) {
    case Level::debug: return spdlog::level::debug;
    case Level::info: return spdlog::level::info;
    case Level::warning: return spdlog::level::warn;
    case Level::error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void set_up(Verbosity verbosity) {
  auto logger = spdlog::get("wirewatt");
  if (!logger) logger = spdlog::stderr_color_mt("wirewatt");
  const char* wish = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  const bool no_color = wish != nullptr && *wish != '\0';
  logger->set_pattern(no_color ? "%l: %v" : "%^%l%$: %v");
  logger->set_level(verbosity == Verbosity::quiet     ? spdlog::level::err
                    : verbosity == Verbosity::verbose ? spdlog::level::debug
                                                      : spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

bool is_shown(Level level) {
  return spdlog::should_log(of_spdlog(level));
}

void write(Level level, std::string_view text) {
  spdlog::default_logger_raw()->log(of_spdlog(level),
                                    spdlog::string_view_t(text.data(), text.size()));
}

void write(Level level, fmt::string_view format, fmt::format_args arguments) {
  if (is_shown(level)) write(level, fmt::vformat(format, arguments));
}

}  // namespace ww::log
