// wirewatt-compile-worker: compiles OpenCL C and HIP for the virtual GPU's driver, in a process of
// its own because LLVM aborts on some inputs. It speaks the protocol of protocol.hpp on descriptor
// 0 and ends when the driver closes its end. With --compile it compiles one file for any AMD
// target: the HIP host's way to a code object.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <span>
#include <thread>

#include "clang.hpp"
#include "comgr.hpp"
#include "ww/core/atomic_file.hpp"

namespace {

// A source that swells beyond reason (macros that double and double) ends this process, not its
// neighbours. Sanitizers reserve more than any limit; GCC reports them by macros, clang by
// features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WW_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WW_SANITIZED
#endif
#endif
void limit_memory() {
#ifndef WW_SANITIZED
  constexpr rlim_t kBytes = rlim_t{8} << 30;
  const rlimit limit{kBytes, kBytes};
  ::setrlimit(RLIMIT_DATA, &limit);
#endif
}

// The driver removes the folder of temporary files, unless its program ended without it. Both
// threads may come here then; the process must not end before the one that removes it is done.
void remove_folder() {
  static std::once_flag removed;
  std::call_once(removed, [] {
    namespace fs = std::filesystem;
    const char* const named = std::getenv("TMPDIR");
    if (named == nullptr) return;
    const fs::path folder = named;
    std::error_code ec;
    if (folder.filename().string().starts_with(ww::sim::driver::kWorkerFolder)) {
      fs::remove_all(folder, ec);
    }
  });
}

// A compilation may take for ever, and the program that asked for it may be killed meanwhile: the
// compiler must not go on alone.
void end_with_the_driver(int socket) {
  std::thread([socket] {
    pollfd other_end{socket, POLLRDHUP, 0};
    while (::poll(&other_end, 1, -1) < 0 && errno == EINTR) {
    }
    remove_folder();
    ::_exit(0);
  }).detach();
}

// AMD's compiler library, and the program clang-19 for targets that the library is too old for.
class Compilers {
 public:
  ww::sim::driver::CompileAnswer run(const ww::sim::driver::CompileRequest& request) {
    using ww::sim::driver::CompileAnswer;
    using ww::sim::driver::CompileOperation;
    using ww::sim::driver::CompileStatus;
    const auto none = [](const std::string& why) {
      return CompileAnswer{CompileStatus::no_compiler, "error: " + why + "\n", {}};
    };
    if (is_of_hip(request.operation)) {
      return clang_ ? clang_->run(request) : none(clang_.error().text());
    }
    // Not clang-19 in its place: a chip's code, and so its energies, would depend on what is there.
    if (!comgr_) return none(comgr_.error().text());
    if (comgr_->knows(request.isa)) return comgr_->run(request);
    if (clang_) return clang_->run(request);
    return none("AMD's compiler library is too old for " + request.isa + ", and " +
                clang_.error().text());
  }

 private:
  ww::Result<ww::sim::driver::Comgr> comgr_ = ww::sim::driver::Comgr::load();
  ww::Result<ww::sim::driver::Clang> clang_ = ww::sim::driver::Clang::find();
};

// --compile ISA SOURCE OUTPUT [OPTION...]. The log goes to stderr. Exit codes: 0 done, 1 the build
// failed, 3 there is no compiler.
int compile_file(const char* isa, const char* source, const char* output,
                 std::span<const char* const> more_options) {
  using namespace ww::sim::driver;
  ::prctl(PR_SET_DUMPABLE, 0);
  const auto say = [](const std::string& text) { std::fputs((text + "\n").c_str(), stderr); };
  Compilers compilers;
  CompileRequest request;
  request.isa = isa;
  auto text = ww::read_file(source);
  if (!text) {
    say(text.error().text());
    return 1;
  }
  request.source = std::move(*text);
  request.options = {"-cl-std=CL1.2", "-O3"};
  request.options.insert(request.options.end(), more_options.begin(), more_options.end());
  const CompileAnswer answer = compilers.run(request);
  std::fputs(answer.log.c_str(), stderr);
  if (answer.status != CompileStatus::success) {
    return answer.status == CompileStatus::no_compiler ? 3 : 1;
  }
  if (const auto written = ww::write_file_atomically(output, answer.output); !written) {
    say(written.error().text());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace ww::sim::driver;
  constexpr int words_of_compile = 5;
  if (argc >= words_of_compile && std::strcmp(argv[1], "--compile") == 0) {
    const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    return compile_file(argv[2], argv[3], argv[4], words.subspan(words_of_compile));
  }
  constexpr int socket = 0;
  struct stat status {};
  if (::fstat(socket, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    std::fputs(
        "wirewatt-compile-worker is started by the virtual GPU's OpenCL driver and speaks to it "
        "through descriptor 0; by itself: --compile ISA SOURCE OUTPUT [OPTION...]\n",
        stderr);
    return 2;
  }
  // The terminal's interrupt goes to the whole group; the program decides, not the worker.
  std::signal(SIGINT, SIG_IGN);
  ::prctl(PR_SET_DUMPABLE, 0);  // an abort of the compiler is an answer, not a core file

  limit_memory();
  end_with_the_driver(socket);

  Compilers compilers;
  for (;;) {
    auto frame = receive_frame(socket, -1);
    if (!frame) {
      remove_folder();
      // Not through exit(): the other thread may still look on.
      ::_exit(frame.error().code == ww::ErrorCode::not_found ? 0 : 1);
    }
    CompileAnswer answer;
    if (auto request = decode_request(*frame); !request) {
      answer = {CompileStatus::failed, "error: " + request.error().text() + "\n", {}};
    } else {
      answer = compilers.run(*request);
    }
    if (!send_frame(socket, encode(answer), -1)) return 1;
  }
}
