#include "host/call_deadline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::microbench {
namespace {

// Longer than any launch of ours and than a driver's compiler; drivers that reset a hung device do
// so within seconds.
constexpr unsigned kDeadlineS = 300;
constexpr const char* kDeadlineVariable = "WIREWATT_DRIVER_DEADLINE_S";

}  // namespace

unsigned driver_deadline_s() {
  static const unsigned seconds = [] {
    const char* set = std::getenv(kDeadlineVariable);
    const std::string_view text = set != nullptr ? set : "";
    unsigned value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
    return whole && value > 0 ? value : kDeadlineS;
  }();
  return seconds;
}

namespace {

// Made before the handler may need it, which can call nothing but write and _exit.
const std::string& last_words() {
  static const std::string words = fmt::format(
      "error: the GPU's driver has not come back from a call within {} s, so it hangs: see the "
      "kernel's log (dmesg), and reset the card or restart the machine. What was finished is kept. "
      "{}=SECONDS allows more time\n",
      driver_deadline_s(), kDeadlineVariable);
  return words;
}

void on_deadline(int) {
  const std::string& words = last_words();
  const ssize_t written = write(STDERR_FILENO, words.data(), words.size());
  static_cast<void>(written);
  _exit(exit_code(ErrorCode::device_error));
}

bool prepare() {
  last_words();
  struct sigaction action {};
  action.sa_handler = on_deadline;
  return sigaction(SIGALRM, &action, nullptr) == 0;
}

}  // namespace

CallDeadline::CallDeadline() {
  static const bool prepared = prepare();
  if (prepared) alarm(driver_deadline_s());
}

CallDeadline::~CallDeadline() {
  alarm(0);
}

}  // namespace ww::microbench
