// wirewatt: the one program. Commands live in their own files; program.cpp wires them up.
#include "program/program.hpp"
#include "ww/core/interrupt.hpp"

int main(int argc, char** argv) {
  ww::catch_interrupts();
  return ww::cli::run_command_line({argv + 1, argv + argc});
}
