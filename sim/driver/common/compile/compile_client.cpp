#include "common/compile/compile_client.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "ww/core/process.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every libc's headers

namespace ww::sim::driver {
namespace {

constexpr std::size_t kMaxMessages = 64 * 1024;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* name = ::strsignal(number);
    return "the compiler ended with signal " + std::to_string(number) + " (" +
           (name != nullptr ? name : "?") + ")";
  }
  if (WIFEXITED(status)) {
    return "the compile worker exited with status " + std::to_string(WEXITSTATUS(status));
  }
  return "the compile worker ended";
}

// A folder for what the compiler writes aside; empty where none can be made: it then uses the
// system's.
std::string make_folder() {
  std::error_code ec;
  std::string name =
      (std::filesystem::temp_directory_path(ec) / (std::string(kWorkerFolder) + "XXXXXX")).string();
  return ec || ::mkdtemp(name.data()) == nullptr ? std::string() : name;
}

// Returns this process's environment, but for TMPDIR. A compiler has much memory.
std::vector<std::string> environment_with(const std::string& folder) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (folder.empty() || std::strncmp(*entry, "TMPDIR=", 7) != 0) all.emplace_back(*entry);
  }
  if (!folder.empty()) all.push_back("TMPDIR=" + folder);
  if (std::getenv(kMallocInLargePages.name) == nullptr) {
    all.push_back(std::string(kMallocInLargePages.name) + "=" + kMallocInLargePages.value);
  }
  return all;
}

}  // namespace

std::string compile_worker_path() {
  if (const char* path = std::getenv("WIREWATT_COMPILE_WORKER"); path != nullptr && *path != '\0') {
    return path;
  }
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&compile_worker_path), &info) == 0 ||
      info.dli_fname == nullptr) {
    return "wirewatt-compile-worker";
  }
  // Under its real name: HIP programs load the library by a link in another folder.
  std::error_code unresolved;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, unresolved);
  const std::string library = unresolved ? std::string(info.dli_fname) : real.string();
  const auto slash = library.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : library.substr(0, slash);
  return folder + "/../libexec/wirewatt/wirewatt-compile-worker";
}

CompileClient::CompileClient(std::string worker_path, int timeout_ms)
    : worker_path_(std::move(worker_path)), timeout_ms_(timeout_ms) {}

CompileClient::~CompileClient() {
  stop();
}

Status CompileClient::start() {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return fail(ErrorCode::io_error, std::string("socketpair: ") + std::strerror(errno));
  }
  messages_ = ::memfd_create("wirewatt-compile-worker", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // dup2 onto itself would keep close-on-exec; the parent's 0..2 may be closed, so move up first.
  int theirs = ::fcntl(sockets[1], F_DUPFD_CLOEXEC, 3);
  int output = messages_ >= 0 ? ::fcntl(messages_, F_DUPFD_CLOEXEC, 3) : -1;
  ::posix_spawn_file_actions_adddup2(&actions, theirs, 0);
  if (output >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, output, 1);
    ::posix_spawn_file_actions_adddup2(&actions, output, 2);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGABRT, SIGSEGV, SIGBUS, SIGTERM, SIGCHLD}) {
    ::sigaddset(&defaults, signal);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::string name = worker_path_;
  char* arguments[] = {name.data(), nullptr};
  folder_ = make_folder();
  std::vector<std::string> variables = environment_with(folder_);
  std::vector<char*> environment;
  environment.reserve(variables.size() + 1);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const int error = ::posix_spawn(&pid_, worker_path_.c_str(), &actions, &attributes, arguments,
                                  environment.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  close_fd(theirs);
  close_fd(output);
  close_fd(sockets[1]);
  if (error != 0) {
    pid_ = -1;
    close_fd(sockets[0]);
    close_fd(messages_);
    drop_folder();
    return fail(ErrorCode::io_error,
                std::string("cannot start the compile worker: ") + std::strerror(error) +
                    " (WIREWATT_COMPILE_WORKER names another place)",
                worker_path_);
  }
  socket_ = sockets[0];
  owner_ = ::getpid();
  return {};
}

// A compiler that was stopped, or that aborted, leaves its files.
void CompileClient::drop_folder() {
  std::error_code ec;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ec);
  folder_.clear();
}

std::string CompileClient::stop() {
  std::string said;
  close_fd(socket_);
  if (pid_ > 0 && owner_ == ::getpid()) {
    // The worker may have died by itself: its own end is worth more than ours.
    int status = 0;
    pid_t ended = 0;
    for (int tries = 0; tries < 20 && ended == 0; ++tries) {
      ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == 0) ::usleep(1000);
    }
    if (ended == 0) {
      ::kill(pid_, SIGKILL);
      while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
      }
    } else if (ended == pid_) {
      said = how_it_ended(status);
    }
    drop_folder();
  }
  pid_ = -1;
  if (messages_ >= 0) {
    std::string text(kMaxMessages, '\0');
    const ssize_t got = ::pread(messages_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    if (!text.empty()) said += (said.empty() ? "" : "\n") + text;
  }
  close_fd(messages_);
  return said;
}

CompileAnswer CompileClient::broken(const Error& error) {
  const bool late = error.code == ErrorCode::cancelled;
  if (late && pid_ > 0) ::kill(pid_, SIGKILL);
  std::string log = "error: the build failed: ";
  std::string said = stop();
  if (late) {
    log += "the compiler gave no answer within " + std::to_string(timeout_ms_) +
           " ms and was stopped (WIREWATT_COMPILE_TIMEOUT_MS allows more)\n";
  } else {
    log += said.empty() ? error.text() : said;
    if (log.back() != '\n') log += '\n';
  }
  return {CompileStatus::worker_failed, std::move(log), {}};
}

CompileAnswer CompileClient::run(const CompileRequest& request) {
  if (pid_ > 0 && owner_ != ::getpid()) {
    // Inherited through fork: the worker belongs to the other process.
    close_fd(socket_);
    close_fd(messages_);
    folder_.clear();
    pid_ = -1;
  }
  const std::string frame = encode(request);
  // A worker that died while idle is no fault of this request: ask a fresh one.
  for (int attempt = 0;; ++attempt) {
    const bool reused = pid_ > 0;
    if (!reused) {
      if (auto started = start(); !started) {
        CompileAnswer answer = broken(started.error());
        answer.status = CompileStatus::no_compiler;
        return answer;
      }
    }
    if (messages_ >= 0) {
      if (::ftruncate(messages_, 0) == 0) ::lseek(messages_, 0, SEEK_SET);
    }
    auto sent = send_frame(socket_, frame, timeout_ms_);
    if (!sent) {
      if (reused && attempt == 0 && sent.error().code == ErrorCode::io_error) {
        stop();
        continue;
      }
      return broken(sent.error());
    }
    auto received = receive_frame(socket_, timeout_ms_);
    if (!received) return broken(received.error());
    auto answer = decode_answer(*received);
    if (!answer) return broken(answer.error());
    return std::move(*answer);
  }
}

}  // namespace ww::sim::driver
