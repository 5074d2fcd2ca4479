#include "ww/runner/job_pool.hpp"

#include <fcntl.h>
#include <signal.h>

#include <cstdlib>
#include <mutex>
#include <thread>

#include "ww/core/interrupt.hpp"
#include "ww/core/process.hpp"

namespace ww::runner {
namespace {

// A variable of the virtual GPU's driver (docs/driver.md).
constexpr const char* kThreadsVariable = "WIREWATT_THREADS";

int run_one(const Job& job) {
  const Descriptor log(::open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  ProcessSetup setup;
  if (log.open()) {
    setup.out = setup.err = log.number();
  }
  setup.signal_at_parents_end = SIGTERM;
  setup.environment = job.environment;
  // Jobs side by side fill the cores. Threads within them would mostly wait for each other.
  if (std::getenv(kThreadsVariable) == nullptr) {
    setup.environment.emplace_back(kThreadsVariable, "1");
  }
  // A simulation in timing mode looks at other lines of its tens of megabytes in each cycle, and
  // spends a tenth of its time on the addresses of small pages.
  if (std::getenv(kMallocInLargePages.name) == nullptr) {
    setup.environment.emplace_back(kMallocInLargePages.name, kMallocInLargePages.value);
  }
  auto process = Process::start(job.command, setup);
  return process ? process->wait().exit_code : 127;
}

}  // namespace

Status run_jobs(const std::vector<Job>& jobs, unsigned at_once,
                const std::function<bool(std::size_t, int)>& done) {
  std::mutex lock;
  std::size_t next = 0;
  bool stop = false;
  const auto work = [&] {
    for (;;) {
      std::size_t mine = 0;
      {
        const std::lock_guard guard(lock);
        if (stop || next == jobs.size() || interrupted()) return;
        mine = next++;
      }
      const int code = run_one(jobs[mine]);
      const std::lock_guard guard(lock);
      if (interrupted() || !done(mine, code)) stop = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < at_once; ++i) threads.emplace_back(work);
    work();
  }
  if (interrupted()) return fail(ErrorCode::cancelled, "interrupted", "");
  return {};
}

}  // namespace ww::runner
