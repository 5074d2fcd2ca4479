// A process that this one starts: another program, or a function of this program in a child.
//
// This is the one place that forks for work that this process waits for. For a program whose output
// is wanted as text, or that takes the terminal over, see ww/core/subprocess.hpp.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"

namespace ww {

// A file descriptor that is closed when its owner goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }  // below 0: none
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_{-1};
};

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
// Both ends are closed in programs that this process starts. Error io_error.
[[nodiscard]] Result<Pipe> make_pipe();

// Values of a child's standard stream that is no descriptor of this process.
inline constexpr int kInheritStream = -1;
inline constexpr int kNullStream = -2;  // /dev/null

// For the environment of a program with much memory, where the user has not set this variable: what
// glibc's malloc() gets from the kernel may lie in pages of 2 MB (from 2.35 on; older ones and
// other libraries ignore the value). On a virtual machine the first use of a page can take 10 us
// and more.
struct EnvironmentVariable {
  const char* name;
  const char* value;
};
inline constexpr EnvironmentVariable kMallocInLargePages{"GLIBC_TUNABLES",
                                                         "glibc.malloc.hugetlb=1"};

struct ProcessSetup {
  std::filesystem::path folder{};  // working directory; empty: this process's own
  std::vector<std::pair<std::string, std::string>> environment{};  // added to this process's
  int in{kInheritStream};
  int out{kInheritStream};
  int err{kInheritStream};
  // The child leads a process group, so that a signal reaches all that it starts. A Ctrl-C at the
  // terminal then does not reach it.
  bool own_group{};
  // The signal that the child gets when the thread that started it ends, however it ends; 0: none.
  int signal_at_parents_end{};
};

struct ProcessEnd {
  int signal{};     // that ended it; 0: it ended by itself
  int exit_code{};  // 128 + signal where a signal ended it
};

class Process {
 public:
  // Starts a program, which is looked for on PATH; no shell. Errors: invalid_argument (no command),
  // not_found (no such program), permission_denied (it may not be run), io_error (no process to be
  // had, or no such folder).
  [[nodiscard]] static Result<Process> start(const std::vector<std::string>& command,
                                             const ProcessSetup& setup = {});
  // Runs `body` in a forked child that ends with its value as exit code, without this process's
  // destructors. The child has one thread: no other may hold a lock that `body` needs. Error
  // io_error.
  [[nodiscard]] static Result<Process> fork(const std::function<int()>& body,
                                            const ProcessSetup& setup = {});

  Process(Process&& other) noexcept
      : id_(std::exchange(other.id_, -1)), own_group_(other.own_group_), end_(other.end_) {}
  Process& operator=(Process&&) = delete;
  ~Process();  // kills it, with its group where it leads one, and waits for it

  [[nodiscard]] pid_t id() const { return id_; }
  // Sends a signal to it, or to the group that it leads. Nothing once it was waited for.
  void signal(int number) const;
  // How it ended, if it has; does not wait.
  [[nodiscard]] std::optional<ProcessEnd> poll();
  // Waits for its end.
  ProcessEnd wait();

 private:
  Process(pid_t id, bool own_group) : id_(id), own_group_(own_group) {}

  pid_t id_{-1};
  bool own_group_{};
  std::optional<ProcessEnd> end_;
};

// The program's path as PATH has it, or empty.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

// The file of the program that runs. Error io_error.
[[nodiscard]] Result<std::filesystem::path> own_program();

}  // namespace ww
