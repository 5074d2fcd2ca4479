// Several child processes at a time.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::runner {

struct Job {
  std::vector<std::string> command;
  std::string log;  // what it prints, stdout and stderr; written anew
  std::vector<std::pair<std::string, std::string>> environment{};  // added to this process's
};

// Runs the jobs in order, `at_once` at a time; `done(job, exit code)` is called after each, from
// one thread at a time, and says whether to go on. Children end with this process. A job that
// cannot be started has exit code 127. A virtual GPU in a job simulates with one thread, and
// malloc() uses huge pages, unless the environment says otherwise (WIREWATT_THREADS,
// GLIBC_TUNABLES). Error cancelled when interrupted (Ctrl-C).
Status run_jobs(const std::vector<Job>& jobs, unsigned at_once,
                const std::function<bool(std::size_t, int)>& done);

}  // namespace ww::runner
