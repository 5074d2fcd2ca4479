#include "ww/core/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdlib>

namespace ww::log {

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

}  // namespace ww::log
