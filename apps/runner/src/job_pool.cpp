#include "ww/runner/job_pool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <thread>

#include "ww/core/interrupt.hpp"
#include "ww/runner/child.hpp"

namespace ww::runner {
namespace {

int run_one(const Job& job) {
  std::vector<char*> arguments;
  for (const auto& word : job.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return 127;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    const int log = ::open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (log >= 0) {
      ::dup2(log, STDOUT_FILENO);
      ::dup2(log, STDERR_FILENO);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child_exit_code(status);
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
