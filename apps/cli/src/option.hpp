// An option in a group of the help that shows its default.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

template <class T>
CLI::Option* add_shown(CLI::App& command, const char* group, const std::string& name, T& value,
                       const char* help) {
  return command.add_option(name, value, help)->group(group)->capture_default_str();
}

}  // namespace ww::cli
