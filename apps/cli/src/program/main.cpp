// wirewatt: the one program. Commands live in their own files; program.cpp wires them up.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "program/program.hpp"
#include "ww/core/interrupt.hpp"

namespace {

constexpr int kEnvironment = 3;  // exit code: driver, permission, device, disk

int lost_output(int number) {
  fmt::print(stderr, "error: standard output: cannot write: {}\n", std::strerror(number));
  return kEnvironment;
}

}  // namespace

int main(int argc, char** argv) {
  ww::catch_interrupts();
  int code = 0;
  try {
    code = ww::cli::run_command_line({argv + 1, argv + argc});
  } catch (const std::system_error& error) {  // of fmt::print
    return lost_output(error.code().value());
  }
  // Writes the last lines out now: a full disk would lose them without a word.
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // Without an errno the loss came before, and run_command_line() has reported it.
  const int lost = errno == 0 ? kEnvironment : lost_output(errno);
  return code == 0 ? lost : code;
}
