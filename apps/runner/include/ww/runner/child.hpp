// Runs a program and waits for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::runner {

// The folder that a file lies in or will lie in.
[[nodiscard]] std::filesystem::path folder_of(const std::string& file);

// Runs the command and waits for it; signals that ask this process to end go to it. Gives the
// status as waitpid does. With `quiet`, what it prints on stdout is thrown away. Errors: not_found,
// permission_denied, io_error.
[[nodiscard]] Result<int> run_child(const std::vector<std::string>& command, bool quiet = false);

// Whether a signal asked this process to end while a child ran; it was passed on to the child.
[[nodiscard]] bool asked_to_end_during_child();

// 128 + n where signal n ended it, else its exit code.
[[nodiscard]] int child_exit_code(int status);

}  // namespace ww::runner
