// Options of one form: those that show their default in a group of the help, and files that are
// read or written.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace ww::cli {

// The type of an option whose value names a file, or files, that the command reads: what is in them
// is part of what a sweep's point depends on.
inline constexpr const char* kInputFile = "FILE";
inline CLI::Option* as_input_file(CLI::Option* option) {
  return option->type_name(kInputFile);
}

// Numbers of an option; the library's own checks print ranges of 300 digits.
inline const CLI::Validator kAboveZero(
    [](std::string& text) {
      double value = 0;
      const bool is_number = CLI::detail::lexical_cast(text, value);
      return is_number && value > 0 ? std::string() : text + " is not above 0";
    },
    "POSITIVE");
inline const CLI::Validator kAtLeastZero(
    [](std::string& text) {
      double value = 0;
      const bool is_number = CLI::detail::lexical_cast(text, value);
      return is_number && value >= 0 ? std::string() : text + " is not 0 or above";
    },
    "NONNEGATIVE");

// A length in nanometres, as people write the names of technology nodes: "7" or "7nm".
inline const CLI::Validator kNanometres(
    [](std::string& text) {
      if (text.ends_with("nm")) text.resize(text.size() - std::string_view("nm").size());
      return std::string();
    },
    "");

// Lets every option of the command, and of those below it, refuse numbers that its type does not
// hold. The library wraps a count below 0 round, and cuts what is too large.
void check_numbers(CLI::App& command);

// The types of options whose value names what the command writes. program/output_files.hpp checks
// them before any command runs.
inline constexpr const char* kOutputFile = "OUTPUT";
inline constexpr const char* kOutputFolder = "FOLDER";
inline constexpr const char* kOutputModel = "MODEL";  // may replace the calibration of its campaign
// A file or a folder by another option, an address, or a file for which there is another place: the
// command itself says where it cannot be.
inline constexpr const char* kOutputAny = "PATH";
inline CLI::Option* as_output_file(CLI::Option* option) {
  return option->type_name(kOutputFile);
}
// A picture that is written as SVG, under a name that says so.
inline CLI::Option* as_svg_file(CLI::Option* option) {
  return as_output_file(option)->check([](const std::string& name) {
    const bool is_file = name.find('.', name.find_last_of('/') + 1) != std::string::npos;
    return !is_file || name.ends_with(".svg")
               ? std::string()
               : "'" + name +
                     "': pictures are written as SVG: give a name that ends in .svg (the "
                     "pages of 'wirewatt report' save PNG, too)";
  });
}
inline CLI::Option* as_any_output(CLI::Option* option) {
  return option->type_name(kOutputAny);
}
inline CLI::Option* as_output_folder(CLI::Option* option) {
  return option->type_name(kOutputFolder);
}

template <class T>
CLI::Option* add_shown(CLI::App& command, const char* group, const std::string& name, T& value,
                       const char* help) {
  return command.add_option(name, value, help)->group(group)->capture_default_str();
}

}  // namespace ww::cli
