#include "ww/core/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> in_shell(const std::string& text) {
  return {"sh", "-c", text};
}

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Whether a process with this id comes to its end within 10 s.
bool ends(pid_t id) {
  for (int i = 0; i < 1000; ++i) {
    if (::kill(id, 0) != 0 && errno == ESRCH) {
      return true;
    }
    const std::string state = content("/proc/" + std::to_string(id) + "/stat");
    if (const auto name_end = state.rfind(')'); name_end + 2 < state.size()) {
      if (state[name_end + 2] == 'Z') {  // ended; its parent has not looked yet
        return true;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Process, ConnectsItsStreamsToFilesOfItsParent) {
  const auto scratch = ScratchFolder::create("process-test");
  ASSERT_TRUE(scratch);
  std::ofstream(scratch->path() / "in") << "from a file";
  const Descriptor in(::open((scratch->path() / "in").c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor out(
      ::open((scratch->path() / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ProcessSetup setup;
  setup.in = in.number();
  setup.out = out.number();
  setup.err = out.number();
  auto process = Process::start(in_shell("cat; echo , and an error >&2"), setup);
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_EQ(process->wait().exit_code, 0);
  EXPECT_EQ(content(scratch->path() / "out"), "from a file, and an error\n");
}

TEST(Process, SaysThatItRunsUntilItHasEnded) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ProcessSetup setup;
  setup.in = pipe->read_end.number();
  auto process = Process::start(in_shell("read line; exit 7"), setup);
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_FALSE(process->poll());
  pipe->read_end.close();
  pipe->write_end.close();
  EXPECT_EQ(process->wait().exit_code, 7);
  ASSERT_TRUE(process->poll());
  EXPECT_EQ(process->poll()->exit_code, 7);
}

TEST(Process, ReachesWhatItStartsByASignalToItsGroup) {
  const auto scratch = ScratchFolder::create("process-test");
  ASSERT_TRUE(scratch);
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  ProcessSetup setup;
  setup.folder = scratch->path();
  setup.out = pipe->write_end.number();
  setup.own_group = true;
  auto process = Process::start(in_shell("sleep 1000 & echo $! >child; echo; wait"), setup);
  ASSERT_TRUE(process) << process.error().text();
  char byte = 0;
  ASSERT_EQ(::read(pipe->read_end.number(), &byte, 1), 1);
  const pid_t grandchild = std::atoi(content(scratch->path() / "child").c_str());
  ASSERT_GT(grandchild, 0);
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait().signal, SIGTERM);
  EXPECT_TRUE(ends(grandchild));
}

TEST(Process, IsKilledWhenItsOwnerGoes) {
  pid_t id = 0;
  {
    const auto process = Process::start({"sleep", "1000"});
    ASSERT_TRUE(process) << process.error().text();
    id = process->id();
    EXPECT_EQ(::kill(id, 0), 0);
  }
  EXPECT_EQ(::kill(id, 0), -1);
}

TEST(Process, EndsWithTheThreadThatStartedItWhereThatWasAsked) {
  std::optional<Process> process;
  std::thread([&] {
    ProcessSetup setup;
    setup.signal_at_parents_end = SIGTERM;
    if (auto started = Process::start({"sleep", "1000"}, setup)) {
      process.emplace(std::move(*started));
    }
  }).join();
  ASSERT_TRUE(process);
  EXPECT_EQ(process->wait().signal, SIGTERM);
}

TEST(Process, RunsAScriptWithoutAnInterpreterLine) {
  const auto scratch = ScratchFolder::create("process-test");
  ASSERT_TRUE(scratch);
  const auto script = scratch->path() / "script";
  std::ofstream(script) << "exit 5\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  auto process = Process::start({script.string()});
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_EQ(process->wait().exit_code, 5);
}

TEST(Process, RunsAFunctionInAChild) {
  ProcessSetup setup;
  setup.folder = "/usr";
  setup.environment = {{"WW_PROCESS_TEST", "there"}};
  const pid_t parent = ::getpid();
  const auto body = [&] {
    const char* value = std::getenv("WW_PROCESS_TEST");
    const bool as_asked = std::filesystem::current_path() == "/usr" && value != nullptr &&
                          std::string(value) == "there" && ::getppid() == parent;
    return as_asked ? 42 : 1;
  };
  auto process = Process::fork(body, setup);
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_EQ(process->wait().exit_code, 42);
}

TEST(Process, LetsAForkedFunctionStartProgramsOfItsOwn) {
  auto process = Process::fork([] {
    auto inner = Process::start(in_shell("exit 9"));
    return inner ? inner->wait().exit_code : 1;
  });
  ASSERT_TRUE(process) << process.error().text();
  EXPECT_EQ(process->wait().exit_code, 9);
}

TEST(Process, RefusesAFolderThatIsMissing) {
  ProcessSetup setup;
  setup.folder = "/no/such/folder";
  EXPECT_EQ(Process::start({"true"}, setup).error().code, ErrorCode::io_error);
  EXPECT_EQ(Process::fork([] { return 0; }, setup).error().code, ErrorCode::io_error);
}

TEST(Foreground, PassesATerminationOnToTheProgram) {
  const auto result = run_in_foreground(in_shell("kill -TERM $PPID; exec sleep 1000"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->end.signal, SIGTERM);
  EXPECT_TRUE(result->asked_to_end);
}

TEST(Foreground, NotesACtrlCWithoutSendingItAgain) {
  const auto result = run_in_foreground(in_shell("kill -INT $PPID; exit 4"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->end.exit_code, 4);
  EXPECT_TRUE(result->asked_to_end);
}

TEST(Foreground, LeavesThisProcessAsItWas) {
  struct sigaction before {};
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &before);
  const auto result = run_in_foreground({"true"});
  ::sigaction(SIGTERM, nullptr, &after);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_FALSE(result->asked_to_end);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST(OwnProgram, IsTheFileThatRuns) {
  const auto program = own_program();
  ASSERT_TRUE(program) << program.error().text();
  EXPECT_THAT(program->filename().string(), HasSubstr("core_test"));
}

}  // namespace
}  // namespace ww
