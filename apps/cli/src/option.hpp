// Options of one form: those that show their default in a group of the help, and files that are
// read.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

// The type of an option whose value names a file, or files, that the command reads: what is in them
// is part of what a sweep's point depends on.
inline constexpr const char* kInputFile = "FILE";
inline CLI::Option* as_input_file(CLI::Option* option) {
  return option->type_name(kInputFile);
}

template <class T>
CLI::Option* add_shown(CLI::App& command, const char* group, const std::string& name, T& value,
                       const char* help) {
  return command.add_option(name, value, help)->group(group)->capture_default_str();
}

}  // namespace ww::cli
