#include "ww/core/interrupt.hpp"

#include "interrupt_signal.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace ww {
namespace {
volatile std::sig_atomic_t interrupt_flag = 0;
int foreground_signal = 0;
constexpr std::int64_t kOneRequestNs = 500'000'000;
std::atomic<std::int64_t> first_ns{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler uses it");

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void on_signal(int signal) {
  const std::int64_t now = now_ns();
  if (interrupt_flag == 0) {
    first_ns = now;
    interrupt_flag = signal;
  } else if (now - first_ns >= kOneRequestNs) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
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
