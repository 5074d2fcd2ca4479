// The command line as a function, for main and for what runs commands within this process.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::cli {

// Runs one command line, without the program's name, and gives its exit code.
int run_command_line(const std::vector<std::string>& arguments);

// Whether the command line would be taken, without running it: command, options, their forms and
// the values they are limited to. Error invalid_argument, as the command would say it.
[[nodiscard]] Status check_command_line(const std::vector<std::string>& arguments);

// Names, without dashes, of the options of a command ("workloads run") whose values name files that
// it reads. Empty where there is no such command.
[[nodiscard]] std::vector<std::string> input_files_of(const std::vector<std::string>& command);

}  // namespace ww::cli
