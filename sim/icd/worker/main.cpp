// wirewatt-compile-worker: compiles OpenCL C for the virtual GPU's driver, in a process of its own
// because LLVM aborts on some inputs. It speaks the protocol of protocol.hpp on descriptor 0 and
// ends when the driver closes its end.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdio>

#include "comgr.hpp"

namespace {

// A source that swells beyond reason (macros that double and double) ends this process, not its
// neighbours. Sanitizers reserve more than any limit.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kBytes = rlim_t{8} << 30;
  const rlimit limit{kBytes, kBytes};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

}  // namespace

int main() {
  using namespace ww::sim::icd;
  constexpr int socket = 0;
  struct stat status {};
  if (::fstat(socket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fputs(
        "wirewatt-compile-worker is started by the virtual GPU's OpenCL driver and speaks to it "
        "through descriptor 0; it is of no use by itself\n",
        stderr);
    return 2;
  }
  // The terminal's interrupt goes to the whole group; the program decides, not the worker.
  std::signal(SIGINT, SIG_IGN);
  ::prctl(PR_SET_DUMPABLE, 0);  // an abort of the compiler is an answer, not a core file

  limit_memory();

  const auto comgr = Comgr::load();
  for (;;) {
    auto frame = receive_frame(socket, -1);
    if (!frame) return frame.error().code == ww::ErrorCode::not_found ? 0 : 1;
    CompileAnswer answer;
    if (auto request = decode_request(*frame); !request) {
      answer = {CompileStatus::failed, "error: " + request.error().text() + "\n", {}};
    } else if (!comgr) {
      answer = {CompileStatus::no_compiler, "error: " + comgr.error().text() + "\n", {}};
    } else {
      answer = comgr->run(*request);
    }
    if (!send_frame(socket, encode(answer), -1)) return 1;
  }
}
