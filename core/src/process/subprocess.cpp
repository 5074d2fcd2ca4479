#include "ww/core/subprocess.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "interrupt_signal.hpp"
#include "ww/core/interrupt.hpp"

namespace ww {
namespace {

using SubprocessClock = std::chrono::steady_clock;
constexpr std::size_t kMaxOutput = std::size_t{16} << 20;

// Reads what is there; false at the end of the stream.
bool drain(int end, std::string& into) {
  std::array<char, 16384> chunk{};
  const ssize_t n = ::read(end, chunk.data(), chunk.size());
  if (n < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  if (n == 0) {
    return false;
  }
  const auto room = kMaxOutput - std::min(kMaxOutput, into.size());
  into.append(chunk.data(), std::min(room, static_cast<std::size_t>(n)));
  return true;
}

// How long to wait for output [ms]. Where the end of the program is noticed by a descriptor (Linux
// 5.3 and later), only the deadline and an interrupt, which another thread may get, need a look.
int longest_wait_ms(const Descriptor& end_notice, SubprocessClock::time_point deadline) {
  constexpr int kShort = 20;
  constexpr int kLong = 100;
  const auto left = deadline - SubprocessClock::now();
  return end_notice.open() && left > std::chrono::milliseconds(kLong) ? kLong : kShort;
}

volatile sig_atomic_t foreground_process = 0;
volatile sig_atomic_t last_request = 0;  // the signal that asked to end, or 0

void pass_on(int signal) {
  last_request = signal;
  if (foreground_process > 0) {
    ::kill(foreground_process, signal);
  }
}

void note_typed(int signal) {
  last_request = signal;
}

// Handlers of the signals that ask to end, for as long as a program runs in the foreground.
class ForegroundSignals {
 public:
  ForegroundSignals() {
    foreground_process = 0;
    last_request = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      action.sa_handler = passed_on(i) ? pass_on : note_typed;
      ::sigaction(kSignals[i], &action, &before_[i]);
      if (passed_on(i) && before_[i].sa_handler == SIG_IGN) {  // nohup
        ::sigaction(kSignals[i], &before_[i], nullptr);
      }
    }
  }
  ForegroundSignals(const ForegroundSignals&) = delete;
  ForegroundSignals& operator=(const ForegroundSignals&) = delete;
  ~ForegroundSignals() {
    foreground_process = 0;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      ::sigaction(kSignals[i], &before_[i], nullptr);
    }
  }

  // From now on signals go to `process`. One that came while it was being started goes to it now.
  static void direct_to(const Process& process) {
    foreground_process = process.id();
    if (const int early = last_request; early == SIGTERM || early == SIGHUP) {
      process.signal(early);
    }
  }
  // The signal that asked this process to end; 0 where none did.
  [[nodiscard]] static int request() { return last_request; }

 private:
  static constexpr std::array<int, 4> kSignals{SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  static bool passed_on(std::size_t i) { return i < 2; }

  std::array<struct sigaction, 4> before_{};
};

}  // namespace

Result<ProcessResult> run_process(const ProcessRequest& request) {
  WW_ASSIGN(out, make_pipe());
  WW_ASSIGN(err, make_pipe());
  ProcessSetup setup;
  setup.folder = request.folder;
  setup.environment = request.environment;
  setup.in = kNullStream;
  setup.out = out.write_end.number();
  setup.err = request.shows_errors ? kInheritStream : err.write_end.number();
  setup.own_group = true;  // so that the limit ends what the program starts as well
  setup.signal_at_parents_end = request.ends_with_parent ? SIGKILL : 0;
  WW_ASSIGN(process, Process::start(request.command, setup));
  out.write_end.close();
  err.write_end.close();

  ProcessResult result;
  auto deadline = SubprocessClock::now() + request.limit;
  bool stopped = false;
  bool killed = false;
  Descriptor end_notice(static_cast<int>(::syscall(SYS_pidfd_open, process.id(), 0)));
  // A grandchild may hold the pipes open after the program ended: wait for the program.
  while (!process.poll() || out.read_end.open() || err.read_end.open()) {
    const bool asked_to_stop = interrupted() && !request.despite_interrupt;
    if (!stopped && (SubprocessClock::now() >= deadline || asked_to_stop)) {
      result.timed_out = !asked_to_stop;
      stopped = true;
      deadline = SubprocessClock::now() + request.time_to_end;
      if (request.time_to_end.count() > 0) ::kill(-process.id(), SIGTERM);
    }
    if (stopped && !killed && SubprocessClock::now() >= deadline) {
      ::kill(-process.id(), SIGKILL);  // its group, even where the program itself has ended
      killed = true;
    }
    const bool ended = process.poll().has_value();
    if (ended) end_notice.close();
    std::array<pollfd, 3> wait{{{out.read_end.number(), POLLIN, 0},
                                {err.read_end.number(), POLLIN, 0},
                                {end_notice.number(), POLLIN, 0}}};
    const int ready = ::poll(wait.data(), wait.size(), longest_wait_ms(end_notice, deadline));
    if (ready > 0) {
      if (wait[0].revents != 0 && !drain(out.read_end.number(), result.output)) {
        out.read_end.close();
      }
      if (wait[1].revents != 0 && !drain(err.read_end.number(), result.errors)) {
        err.read_end.close();
      }
    }
    if (ended && ready == 0) {
      break;
    }
  }
  const ProcessEnd end = process.wait();
  if (stopped && !killed) ::kill(-process.id(), SIGKILL);  // what it started and left behind
  if (stopped && !result.timed_out) {
    return fail(ErrorCode::cancelled, "interrupted", request.command.front());
  }
  result.signal = end.signal;
  result.exit_code = end.exit_code;
  return result;
}

Result<ForegroundEnd> run_in_foreground(const std::vector<std::string>& command,
                                        const ProcessSetup& setup) {
  const ForegroundSignals signals;
  WW_ASSIGN(process, Process::start(command, setup));
  ForegroundSignals::direct_to(process);
  ForegroundEnd result;
  result.end = process.wait();
  result.asked_to_end = ForegroundSignals::request() != 0;
  if (result.asked_to_end) note_foreground_signal(ForegroundSignals::request());
  return result;
}

}  // namespace ww
