// A clock for programs under test, put before the C library's by LD_PRELOAD: once a simulated card
// attaches (ww_chip_clock_attach), CLOCK_MONOTONIC is the card's time. It stands still while the
// program computes and moves when the program waits for the card or sleeps, so that minutes of a
// card's time pass in seconds and equally on every machine. One other thread (the sampler) may
// sleep until a time: whoever moves the clock stops at that time, shows the card's registers as
// they were then, and lets the thread run until it sleeps again. Before a card attaches, and for
// other clocks, everything is as ever.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "testing/board_step.hpp"

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr int kSpins = 100'000;  // some tens of microseconds

int real_clock(clockid_t clock, timespec* time) {
  return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
}

// Time that a thread other than the card's has spent since it last slept; it holds up nobody.
thread_local std::int64_t spent_ns = 0;
// Work of a thread in the card's time. Its real
// time depends on the machine and is not counted.
thread_local std::int64_t worked_ns = 0;

// Apart from the rest: it is asked before any constructor has run.
constinit std::atomic<bool> attached{false};

using ww::measure::testing::BoardStep;

struct Clock {
  std::atomic<std::int64_t> now_ns{0};
  pthread_t owner{};
  void (*show)(std::int64_t){};
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::int64_t> sleeper_due;  // of the other thread, while it sleeps
  std::optional<pthread_t> sleeper;         // the other thread, once it has slept
  std::atomic<bool> sleeper_runs{false};    // woken, and not asleep again yet
  std::optional<pthread_t> joined;          // the owner waits for its end
  std::mutex board_mutex;
  // Board steps by PCI bus, for a stub sensor; times do not fall.
  std::map<unsigned, std::vector<BoardStep>> boards;
};

Clock& the_clock() {
  static Clock* clock = new Clock;  // outlives every thread
  return *clock;
}

void advance(std::int64_t to_ns) {
  Clock& clock = the_clock();
  std::unique_lock lock(clock.mutex);
  for (;;) {
    // Mostly it sleeps again within microseconds; to give the processor up for that costs more on
    // a busy machine.
    lock.unlock();
    for (int i = 0; i < kSpins && clock.sleeper_runs; ++i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    lock.lock();
    clock.changed.wait(lock, [&] { return !clock.sleeper_runs; });
    if (!clock.sleeper_due || *clock.sleeper_due > to_ns) break;
    const std::int64_t due = std::max(*clock.sleeper_due, clock.now_ns.load());
    clock.show(due);
    clock.now_ns = due;
    clock.sleeper_due.reset();
    clock.sleeper_runs = true;
    clock.changed.notify_all();
  }
  clock.now_ns = std::max(to_ns, clock.now_ns.load());
}

// Puts the other thread to sleep.
void sleep_until(std::int64_t due_ns) {
  Clock& clock = the_clock();
  const auto is_joined = [&] {
    return clock.joined && pthread_equal(*clock.joined, pthread_self()) != 0;
  };
  std::unique_lock lock(clock.mutex);
  clock.sleeper = pthread_self();
  clock.sleeper_due = due_ns;
  clock.sleeper_runs = false;
  clock.changed.notify_all();
  clock.changed.wait(lock, [&] { return clock.sleeper_runs || is_joined(); });
  clock.sleeper_due.reset();
}

std::int64_t ns_of(const timespec& time) {
  return std::int64_t{time.tv_sec} * kSecondNs + time.tv_nsec;
}

void sleep_to(std::int64_t due_ns) {
  Clock& clock = the_clock();
  spent_ns = 0;
  if (pthread_equal(pthread_self(), clock.owner) != 0) {
    advance(due_ns);
  } else {
    sleep_until(due_ns);
  }
}

}  // namespace

extern "C" {

// `show`: called with the clock's lock held whenever another thread is about to look at the card.
// Gives the time at which the clock now stands.
std::int64_t ww_chip_clock_attach(void (*show)(std::int64_t)) {
  Clock& clock = the_clock();
  timespec now{};
  real_clock(CLOCK_MONOTONIC, &now);
  clock.owner = pthread_self();
  clock.show = show;
  // Starts at a whole second, so that a sensor's refreshes come at the same times in each run.
  clock.now_ns = (ns_of(now) / kSecondNs + 1) * kSecondNs;
  attached = true;
  return clock.now_ns;
}
std::int64_t ww_chip_clock_now() {
  return the_clock().now_ns;
}
void ww_chip_clock_advance(std::int64_t to_ns) {
  advance(to_ns);
}

// The calling thread works for so long, as in a call to a driver.
void ww_chip_clock_spend(std::int64_t length_ns) {
  if (!attached) return;
  worked_ns += length_ns;
  if (pthread_equal(pthread_self(), the_clock().owner) != 0) {
    advance(the_clock().now_ns + length_ns);
  } else {
    spent_ns += length_ns;
  }
}

// Sets the board's power from this time on. A step that is not past yet gives way to a later call
// at the same time, so a queue without gaps draws one power.
void ww_chip_clock_board(unsigned bus, const BoardStep* step) {
  Clock& clock = the_clock();
  const std::lock_guard lock(clock.board_mutex);
  auto& board = clock.boards[bus];
  if (!board.empty() && board.back().time_ns == step->time_ns && step->time_ns >= clock.now_ns) {
    board.pop_back();
  }
  if (!board.empty() && board.back().watts == step->watts &&
      board.back().celsius == step->celsius && board.back().clock_hz == step->clock_hz) {
    return;
  }
  board.push_back(*step);
}
// Step number `index`, where it lies before the clock's time; 0 where there is none yet.
int ww_chip_clock_board_step(unsigned bus, std::size_t index, BoardStep* step) {
  Clock& clock = the_clock();
  const std::lock_guard lock(clock.board_mutex);
  const auto& board = clock.boards[bus];
  if (index >= board.size() || board[index].time_ns >= clock.now_ns) return 0;
  *step = board[index];
  return 1;
}

int clock_gettime(clockid_t id, timespec* time) {
  if (id == CLOCK_THREAD_CPUTIME_ID && attached) {
    *time = {worked_ns / kSecondNs, worked_ns % kSecondNs};
    return 0;
  }
  if (id != CLOCK_MONOTONIC || !attached) return real_clock(id, time);
  const std::int64_t now = the_clock().now_ns + spent_ns;
  *time = {now / kSecondNs, now % kSecondNs};
  return 0;
}

int clock_nanosleep(clockid_t id, int flags, const timespec* until, timespec* left) {
  if (id != CLOCK_MONOTONIC || !attached) {
    const long code = syscall(SYS_clock_nanosleep, id, flags, until, left);
    return code == 0 ? 0 : errno;
  }
  sleep_to((flags & TIMER_ABSTIME) != 0 ? ns_of(*until)
                                        : the_clock().now_ns + spent_ns + ns_of(*until));
  return 0;
}

int nanosleep(const timespec* length, timespec* left) {
  if (!attached) {
    return static_cast<int>(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, length, left));
  }
  sleep_to(the_clock().now_ns + spent_ns + ns_of(*length));
  return 0;
}

int pthread_join(pthread_t thread, void** result) {
  using Join = int (*)(pthread_t, void**);
  static const auto real = reinterpret_cast<Join>(dlsym(RTLD_NEXT, "pthread_join"));
  Clock& clock = the_clock();
  if (!attached) return real(thread, result);
  {
    const std::lock_guard lock(clock.mutex);
    clock.joined = thread;
  }
  clock.changed.notify_all();
  const int code = real(thread, result);
  const std::lock_guard lock(clock.mutex);
  clock.joined.reset();
  // The end of another thread, as of a fit's, leaves the sampler asleep until its time.
  if (clock.sleeper && pthread_equal(*clock.sleeper, thread) != 0) {
    clock.sleeper.reset();
    clock.sleeper_runs = false;
    clock.sleeper_due.reset();
  }
  return code;
}

// A child has this thread alone and no card.
pid_t fork() {
  using Fork = pid_t (*)();
  static const auto real = reinterpret_cast<Fork>(dlsym(RTLD_NEXT, "fork"));
  const pid_t child = real();
  if (child == 0) attached = false;
  return child;
}

}  // extern "C"
