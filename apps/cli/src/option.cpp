#include "option.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace ww::cli {
namespace {

// Why `text` is no number of the type that the library calls `type`; empty where it may be one.
std::string trouble_with(const std::string& type, const std::string& text) {
  errno = 0;
  bool is_finite = true;
  if (type.starts_with("UINT")) {
    if (text.starts_with('-')) return text + " is below 0";
    static_cast<void>(std::strtoull(text.c_str(), nullptr, 0));
  } else if (type.starts_with("INT")) {
    static_cast<void>(std::strtoll(text.c_str(), nullptr, 0));
  } else if (type.starts_with("FLOAT")) {
    const double value = std::strtod(text.c_str(), nullptr);
    if (std::isnan(value)) return text + " is not a number";
    is_finite = std::isfinite(value);  // numbers that are too small are 0
  } else {
    return {};
  }
  if (errno != ERANGE || (type.starts_with("FLOAT") && is_finite)) return {};
  return text + " is too large a number";
}

}  // namespace

void check_numbers(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    const std::string type = option->get_type_name();
    option->check([type](const std::string& text) { return trouble_with(type, text); });
  }
  for (CLI::App* below : command.get_subcommands(nullptr)) check_numbers(*below);
}

}  // namespace ww::cli
