#include "worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "host.hpp"
#include "process_memory.hpp"
#include "ww/core/interrupt.hpp"

namespace ww::sweep {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{64} << 20;

// Comes before stdout's and stderr's bytes.
struct Reply {
  std::int32_t exit_code{};
  double wall_s{};
  double cpu_s{};
  double peak_mib{};
  std::uint64_t out{};
  std::uint64_t err{};
};

std::string content_of(int file) {
  const auto size = ::lseek(file, 0, SEEK_END);
  std::string text(size > 0 ? std::min(static_cast<std::size_t>(size), kMaxOutput) : 0, '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const auto got = ::pread(file, text.data() + at, text.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  text.resize(at);
  return text;
}

}  // namespace

Status Worker::start(const PoolOptions& options, const RunCommand& run,
                     const std::vector<int>& others) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(ErrorCode::io_error, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  Descriptor mine(ends[0]);
  Descriptor childs(ends[1]);
  out_ = Descriptor(::memfd_create("wirewatt-out", MFD_CLOEXEC));
  err_ = Descriptor(::memfd_create("wirewatt-err", MFD_CLOEXEC));
  if (!out_.open() || !err_.open()) {
    return fail(ErrorCode::io_error,
                fmt::format("cannot make a file in memory: {}", std::strerror(errno)));
  }
  ProcessSetup setup;
  setup.folder = options.folder;
  setup.in = kNullStream;
  setup.out = out_.number();
  setup.err = err_.number();
  setup.own_group = true;
  setup.signal_at_parents_end = SIGKILL;
  std::fflush(nullptr);  // or the child would print it again
  const auto serve = [&]() -> int {
    for (const int fd : others) ::close(fd);
    mine.close();
    return serve_jobs(childs.number(), out_.number(), err_.number(), run);
  };
  WW_ASSIGN(process, Process::fork(serve, setup));
  process_.emplace(std::move(process));
  socket_ = std::move(mine);
  died_ = false;
  completed_ = 0;
  seen_mib_ = 0;
  timed_out = false;
  over_memory = false;
  return {};
}

Status Worker::send(QueuedJob job) {
  std::string words;
  for (const auto& word : job.job.arguments) words.append(word).push_back('\0');
  const auto size = static_cast<std::uint32_t>(words.size());
  std::string frame(reinterpret_cast<const char*>(&size), sizeof size);
  frame += words;
  if (queue_.empty()) {
    started_ = Clock::now();
    started_ms_ = now_ms();
  }
  queue_.push_back(std::move(job));
  std::string_view rest = frame;
  while (!rest.empty()) {
    const auto sent = ::send(socket_.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail(ErrorCode::io_error, "a worker process ended unexpectedly");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

std::vector<Finished> Worker::receive() {
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto got = ::recv(socket_.number(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      inbox_.append(chunk.data(), static_cast<std::size_t>(got));
      continue;
    }
    died_ = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    break;
  }
  std::vector<Finished> endings;
  std::size_t at = 0;
  while (inbox_.size() - at >= sizeof(Reply) && !queue_.empty()) {
    Reply reply;
    std::memcpy(&reply, inbox_.data() + at, sizeof reply);
    if (inbox_.size() - at - sizeof reply < reply.out + reply.err) break;
    at += sizeof reply;
    Finished one;
    one.id = queue_.front().job.id;
    one.attempts = queue_.front().attempts + 1;
    one.wall_s = reply.wall_s;
    one.cpu_s = reply.cpu_s;
    one.peak_mib = std::max(reply.peak_mib, std::exchange(seen_mib_, 0));
    one.started_ms = started_ms_;
    one.ending.exit_code = reply.exit_code;
    one.ending.out = inbox_.substr(at, reply.out);
    one.ending.err = inbox_.substr(at + reply.out, reply.err);
    at += reply.out + reply.err;
    queue_.pop_front();
    ++completed_;
    started_ = Clock::now();
    started_ms_ = now_ms();
    endings.push_back(std::move(one));
  }
  inbox_.erase(0, at);
  return endings;
}

void Worker::retire() {
  socket_.close();
  process_->wait();
  process_.reset();
  close_all();
}

void Worker::end() const {
  process_->signal(SIGKILL);
}

void Worker::kill() {
  if (!process_) return;
  end();
  retire();
}

double Worker::look_at_memory() {
  const double now = memory_of_tree_mib(process_->id());
  seen_mib_ = std::max(seen_mib_, now);
  return now;
}

Ending Worker::bury() {
  Ending ending;
  ending.timed_out = timed_out;
  ending.over_memory = over_memory;
  ending.out = content_of(out_.number());
  ending.err = content_of(err_.number());
  end();  // what it started, and itself if only its socket closed
  const ProcessEnd end = process_->wait();
  process_.reset();
  ending.signal = end.signal;
  ending.exit_code = end.exit_code;
  close_all();
  return ending;
}

void Worker::close_all() {
  socket_.close();
  out_.close();
  err_.close();
  inbox_.clear();
}

namespace {

bool read_all(int socket, void* into, std::size_t size) {
  auto* bytes = static_cast<char*>(into);
  while (size > 0) {
    const auto got = ::read(socket, bytes, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// CPU of this process and of what it has waited for.
double cpu_now(double& peak_mib) {
  rusage own{};
  rusage children{};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  peak_mib = static_cast<double>(std::max(own.ru_maxrss, children.ru_maxrss)) / 1024;
  return seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

}  // namespace

int serve_jobs(int socket, int out, int err, const RunCommand& run) {
  std::uint32_t size = 0;
  while (read_all(socket, &size, sizeof size)) {
    std::string words(size, '\0');
    if (!read_all(socket, words.data(), words.size())) break;
    std::vector<std::string> arguments;
    for (std::size_t at = 0; at < words.size();) {
      arguments.emplace_back(words.c_str() + at);
      at += arguments.back().size() + 1;
    }
    for (const int file : {out, err}) {
      if (::ftruncate(file, 0) != 0 || ::lseek(file, 0, SEEK_SET) < 0) return 126;
    }
    Reply reply;
    const double cpu = cpu_now(reply.peak_mib);
    const auto start = std::chrono::steady_clock::now();
    reply.exit_code = run(arguments);
    // An interrupted point has not ended: the parent sees a kill, as one from outside.
    if (interrupted()) ::raise(SIGKILL);
    std::fflush(nullptr);
    reply.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    reply.cpu_s = cpu_now(reply.peak_mib) - cpu;
    const std::string printed = content_of(out);
    const std::string said = content_of(err);
    reply.out = printed.size();
    reply.err = said.size();
    const std::string_view head(reinterpret_cast<const char*>(&reply), sizeof reply);
    if (!write_all(socket, head) || !write_all(socket, printed) || !write_all(socket, said)) break;
  }
  return 0;
}

}  // namespace ww::sweep
