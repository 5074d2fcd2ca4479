// The driver's end of the compile worker: starts it, asks it, survives it.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/compile/protocol.hpp"

namespace ww::sim::driver {

// Path of the worker: $WIREWATT_COMPILE_WORKER, or <folder of this library>/../libexec/wirewatt/
// wirewatt-compile-worker.
[[nodiscard]] std::string compile_worker_path();

// A restartable worker process. Not thread-safe; the driver's lock guards it.
class CompileClient {
 public:
  CompileClient(std::string worker_path, int timeout_ms);
  ~CompileClient();
  CompileClient(const CompileClient&) = delete;
  CompileClient& operator=(const CompileClient&) = delete;

  // Sends the request and waits for the answer, starting the worker if none runs. A worker that
  // dies or hangs beyond the time allowed gives status worker_failed and a log with what it said
  // last; the next request starts a fresh one. One that cannot be started gives no_compiler.
  CompileAnswer run(const CompileRequest& request);

  // The worker's process id, or -1.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Status start();
  std::string stop();  // ends the worker; how it ended and what it wrote to stderr
  CompileAnswer broken(const Error& error);
  void drop_folder();

  std::string worker_path_;
  int timeout_ms_;
  pid_t pid_{-1};
  pid_t owner_{-1};  // the process that started it: a fork of the program needs its own
  int socket_{-1};
  std::string folder_;  // the worker's TMPDIR
  int messages_{-1};    // a memory file: the worker's stdout and stderr
};

}  // namespace ww::sim::driver
