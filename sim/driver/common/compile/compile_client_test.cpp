#include "common/compile/compile_client.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "common/compile/compiler.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSaxpy =
    "__kernel void saxpy(__global const float* x, __global float* y, float a) {\n"
    "  int i = get_global_id(0);\n  y[i] = a * x[i] + y[i];\n}\n";

CompileRequest build_request(std::string source, std::vector<std::string> options = {"-O3"}) {
  CompileRequest request;
  request.isa = "amdgcn-amd-amdhsa--gfx701";
  request.source = std::move(source);
  request.options = std::move(options);
  return request;
}

bool is_elf(const std::string& bytes) {
  return bytes.substr(0, 4) ==
         "\x7f"
         "ELF";
}

TEST(CompileWorker, TurnsSourceIntoACodeObject) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  const auto answer = client.run(build_request(kSaxpy));
  ASSERT_EQ(answer.status, CompileStatus::success) << answer.log;
  EXPECT_TRUE(is_elf(answer.output));
}

TEST(CompileWorker, SameSourceGivesTheSameBytes) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  const auto first = client.run(build_request(kSaxpy));
  CompileClient other(WW_COMPILE_WORKER, 60'000);
  EXPECT_EQ(first.output, other.run(build_request(kSaxpy)).output);
}

TEST(CompileWorker, SyntaxErrorComesBackInTheCompilersOwnWords) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  const auto answer =
      client.run(build_request("__kernel void k(__global int* o) { o[0] = nope; }"));
  EXPECT_EQ(answer.status, CompileStatus::failed);
  EXPECT_THAT(answer.log, HasSubstr("error: use of undeclared identifier 'nope'"));
  EXPECT_TRUE(answer.output.empty());
}

TEST(CompileWorker, MissingFunctionIsALinkErrorThatNamesIt) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  const auto answer =
      client.run(build_request("int f(int); __kernel void k(__global int* o) { o[0] = f(1); }"));
  EXPECT_EQ(answer.status, CompileStatus::failed);
  EXPECT_THAT(answer.log, HasSubstr("undefined"));
  EXPECT_THAT(answer.log, HasSubstr("f"));
}

// LLVM aborts where it shall stop behind a pass that it has not.
TEST(CompileWorker, AbortOfTheCompilerIsAFailedBuildAndTheNextOneWorks) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  const auto aborted = client.run(build_request(kSaxpy, {"-mllvm", "-stop-after=nothing"}));
  EXPECT_EQ(aborted.status, CompileStatus::worker_failed);
  EXPECT_THAT(aborted.log, HasSubstr("signal 6"));
  EXPECT_THAT(aborted.log, HasSubstr("LLVM ERROR"));
  EXPECT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
}

// Kills a worker of this process and waits until it has ended, without asking how.
void kill_and_wait(pid_t worker) {
  ASSERT_EQ(::kill(worker, SIGKILL), 0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker), &info, WEXITED | WNOWAIT), 0);
}

TEST(CompileWorker, WorkerKilledInTheMiddleIsAFailedBuildAndTheNextOneWorks) {
  CompileClient client(WW_COMPILE_WORKER, 120'000);
  ASSERT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
  std::string slow = "__kernel void k(__global float* o) { float x = o[0];\n";
  for (int i = 0; i < 4000; ++i) slow += "x = sin(x) + pow(x, " + std::to_string(i) + ".5f);\n";
  slow += "o[0] = x; }";
  const pid_t worker = client.pid();
  ASSERT_GT(worker, 0);
  std::thread killer([worker] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::kill(worker, SIGKILL);
  });
  const auto killed = client.run(build_request(slow));
  killer.join();
  EXPECT_EQ(killed.status, CompileStatus::worker_failed);
  EXPECT_THAT(killed.log, HasSubstr("signal 9"));
  EXPECT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
}

TEST(CompileWorker, LeavesNoTemporaryFilesHoweverItEnds) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("folders-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", folder.c_str(), 1);
  {
    CompileClient client(WW_COMPILE_WORKER, 120'000);
    EXPECT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
    EXPECT_FALSE(fs::is_empty(folder));
    // Without a worker its number is -1, and the signal would go to every process of the user.
    ASSERT_GT(client.pid(), 0);
    kill_and_wait(client.pid());
    EXPECT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
  }
  EXPECT_TRUE(fs::is_empty(folder));
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
  fs::remove_all(folder);
}

TEST(CompileWorker, EndsWithTheProgramThatWasKilledDuringACompilation) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // an orphan becomes ours to wait for
  int report[2];
  ASSERT_EQ(::pipe(report), 0);
  const pid_t program = ::fork();
  if (program == 0) {
    CompileClient client(WW_COMPILE_WORKER, 600'000);
    (void)client.run(build_request(kSaxpy));
    const pid_t worker = client.pid();
    (void)!::write(report[1], &worker, sizeof worker);
    std::string endless = "#define A0 x += x * 3;\n";
    for (int i = 1; i <= 40; ++i) {
      const std::string inner = " A" + std::to_string(i - 1);
      endless.append("#define A")
          .append(std::to_string(i))
          .append(inner)
          .append(inner)
          .append("\n");
    }
    (void)client.run(build_request(endless + "__kernel void k(int x) { A40 }"));
    ::_exit(0);
  }
  pid_t worker = 0;
  ASSERT_EQ(::read(report[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_GT(worker, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(program, SIGKILL);
  ASSERT_EQ(::waitpid(program, nullptr, 0), program);
  pid_t ended = 0;
  for (int i = 0; i < 200 && ended == 0; ++i) {
    ended = ::waitpid(worker, nullptr, WNOHANG);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(ended, worker);
  if (ended == 0) ::kill(worker, SIGKILL);
  for (int end : report) ::close(end);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(CompileWorker, WorkerThatDiedBetweenTwoBuildsIsReplacedSilently) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  ASSERT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
  const pid_t first = client.pid();
  ASSERT_GT(first, 0);
  kill_and_wait(first);
  EXPECT_EQ(client.run(build_request(kSaxpy)).status, CompileStatus::success);
  EXPECT_NE(client.pid(), first);
}

TEST(CompileWorker, SilentWorkerIsStoppedAfterTheTimeAllowed) {
  CompileClient client("/bin/cat", 200);  // reads everything, answers nothing
  const auto answer = client.run(build_request(kSaxpy));
  EXPECT_EQ(answer.status, CompileStatus::worker_failed);
  EXPECT_THAT(answer.log, HasSubstr("within 200 ms"));
  EXPECT_EQ(client.pid(), -1);
}

TEST(CompileWorker, AbsentWorkerIsAFailedBuildThatNamesThePath) {
  CompileClient client("/nowhere/worker", 1000);
  const auto answer = client.run(build_request(kSaxpy));
  EXPECT_EQ(answer.status, CompileStatus::no_compiler);
  EXPECT_THAT(answer.log, HasSubstr("/nowhere/worker"));
}

TEST(CompileWorker, HeadersOfTheRequestAreFound) {
  CompileClient client(WW_COMPILE_WORKER, 60'000);
  auto request = build_request(
      "#include \"sub/answer.h\"\n__kernel void k(__global int* o)"
      " { o[0] = ANSWER; }");
  request.operation = CompileOperation::compile;
  request.headers = {{"sub/answer.h", "#define ANSWER 42\n"}};
  const auto compiled = client.run(request);
  ASSERT_EQ(compiled.status, CompileStatus::success) << compiled.log;

  CompileRequest link;
  link.operation = CompileOperation::link;
  link.isa = request.isa;
  link.options = {"-O3"};
  link.bitcodes = {compiled.output};
  const auto linked = client.run(link);
  ASSERT_EQ(linked.status, CompileStatus::success) << linked.log;
  EXPECT_TRUE(is_elf(linked.output));
}

// Compiles as two processes, of which the second has no worker that could compile.
TEST(CompilerTest, CompilesOnceWhatIsAskedForTwice) {
  const auto scratch = ScratchFolder::create("compiler-test").value();
  namespace fs = std::filesystem;
  const fs::path worker = scratch.path() / "worker";
  fs::create_symlink(WW_COMPILE_WORKER, worker);
  ::setenv("WIREWATT_COMPILE_CACHE", (scratch.path() / "entries").c_str(), 1);
  const CompileAnswer first = Compiler(worker, 60'000).run(build_request(kSaxpy));
  ASSERT_EQ(first.status, CompileStatus::success) << first.log;
  const CompileAnswer second = Compiler(worker, 0).run(build_request(kSaxpy));
  EXPECT_EQ(second.status, CompileStatus::success) << second.log;
  EXPECT_EQ(second.output, first.output);
  EXPECT_NE(Compiler(worker, 0).run(build_request(kSaxpy, {"-O1"})).status, CompileStatus::success);
  ::unsetenv("WIREWATT_COMPILE_CACHE");
}

}  // namespace
}  // namespace ww::sim::driver
