#include "ww/core/interrupt.hpp"

#include "interrupt_signal.hpp"

#include <csignal>

namespace ww {
namespace {
volatile std::sig_atomic_t interrupt_flag = 0;
int foreground_signal = 0;

void on_signal(int signal) {
  if (interrupt_flag != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupt_flag = signal;
}
}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() {
  return interrupt_flag != 0;
}

int interrupt_signal() {
  return interrupt_flag != 0 ? interrupt_flag : foreground_signal;
}

void note_foreground_signal(int signal) {
  foreground_signal = signal;
}

}  // namespace ww
