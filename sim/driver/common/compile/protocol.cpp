#include "common/compile/protocol.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>

namespace ww::sim::driver {
namespace {

constexpr std::uint32_t kRequestMagic = 0x57575132;  // "WWQ2": change with the layout
constexpr std::uint32_t kAnswerMagic = 0x57574132;   // "WWA2"

class Writer {
 public:
  void number(std::uint32_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    const std::uint64_t size = value.size();
    bytes_.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes_.append(value);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t number() { return fixed<std::uint32_t>(); }
  std::string text() {
    const auto size = fixed<std::uint64_t>();
    if (size > rest_.size()) {
      good_ = false;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  // A count of entries of at least eight bytes each; a longer list cannot fit in what is left.
  std::uint32_t count() {
    const std::uint32_t value = number();
    if (value > rest_.size() / sizeof(std::uint64_t)) good_ = false;
    return good_ ? value : 0;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool finished() const { return good_ && rest_.empty(); }

 private:
  template <class T>
  T fixed() {
    T value{};
    if (rest_.size() < sizeof value) {
      good_ = false;
      rest_ = {};
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view rest_;
  bool good_{true};
};

using Clock = std::chrono::steady_clock;

struct Deadline {
  explicit Deadline(int timeout_ms)
      : unlimited(timeout_ms < 0), end(Clock::now() + std::chrono::milliseconds(timeout_ms)) {}
  [[nodiscard]] int left_ms() const {
    if (unlimited) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    return left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0;
  }
  bool unlimited;
  Clock::time_point end;
};

// Waits until the socket is ready for `events`.
Status wait_for(int socket, short events, const Deadline& deadline) {
  for (;;) {
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, deadline.left_ms());
    if (ready > 0) return {};
    if (ready == 0) return fail(ErrorCode::cancelled, "no answer within the time allowed");
    if (errno != EINTR) return fail(ErrorCode::io_error, std::strerror(errno));
  }
}

Status send_all(int socket, const char* data, std::size_t size, const Deadline& deadline) {
  while (size > 0) {
    WW_TRY(wait_for(socket, POLLOUT, deadline));
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return fail(ErrorCode::io_error, std::strerror(errno));
    }
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return {};
}

Status receive_all(int socket, char* data, std::size_t size, const Deadline& deadline) {
  std::size_t done = 0;
  while (done < size) {
    WW_TRY(wait_for(socket, POLLIN, deadline));
    const ssize_t got = ::recv(socket, data + done, size - done, MSG_DONTWAIT);
    if (got == 0) {
      return done == 0 ? fail(ErrorCode::not_found, "the stream ended")
                       : fail(ErrorCode::io_error, "the stream ended within a message");
    }
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return fail(ErrorCode::io_error, std::strerror(errno));
    }
    done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

std::string encode(const CompileRequest& request) {
  Writer out;
  out.number(kRequestMagic);
  out.number(static_cast<std::uint32_t>(request.operation));
  out.text(request.isa);
  out.text(request.source);
  out.text(request.working_directory);
  out.number(static_cast<std::uint32_t>(request.headers.size()));
  for (const auto& header : request.headers) {
    out.text(header.name);
    out.text(header.text);
  }
  out.number(static_cast<std::uint32_t>(request.options.size()));
  for (const auto& option : request.options) out.text(option);
  out.number(static_cast<std::uint32_t>(request.bitcodes.size()));
  for (const auto& bitcode : request.bitcodes) out.text(bitcode);
  return out.take();
}

std::string encode(const CompileAnswer& answer) {
  Writer out;
  out.number(kAnswerMagic);
  out.number(static_cast<std::uint32_t>(answer.status));
  out.text(answer.log);
  out.text(answer.output);
  out.number(static_cast<std::uint32_t>(answer.made_with.size()));
  for (const auto& file : answer.made_with) out.text(file);
  return out.take();
}

Result<CompileRequest> decode_request(std::string_view frame) {
  Reader in(frame);
  if (in.number() != kRequestMagic) {
    return fail(ErrorCode::parse_error, "not a request of this build of the driver");
  }
  CompileRequest request;
  const std::uint32_t operation = in.number();
  if (operation > static_cast<std::uint32_t>(CompileOperation::link_hip)) {
    return fail(ErrorCode::parse_error, "unknown operation");
  }
  request.operation = static_cast<CompileOperation>(operation);
  request.isa = in.text();
  request.source = in.text();
  request.working_directory = in.text();
  for (std::uint32_t n = in.count(); n > 0 && in.good(); --n) {
    CompileHeader header;
    header.name = in.text();
    header.text = in.text();
    request.headers.push_back(std::move(header));
  }
  for (std::uint32_t n = in.count(); n > 0 && in.good(); --n) request.options.push_back(in.text());
  for (std::uint32_t n = in.count(); n > 0 && in.good(); --n) request.bitcodes.push_back(in.text());
  if (!in.finished()) return fail(ErrorCode::parse_error, "truncated or overlong request");
  return request;
}

Result<CompileAnswer> decode_answer(std::string_view frame) {
  Reader in(frame);
  if (in.number() != kAnswerMagic) {
    return fail(ErrorCode::parse_error, "not an answer of this build of the worker");
  }
  CompileAnswer answer;
  const std::uint32_t status = in.number();
  if (status > static_cast<std::uint32_t>(CompileStatus::worker_failed)) {
    return fail(ErrorCode::parse_error, "unknown status");
  }
  answer.status = static_cast<CompileStatus>(status);
  answer.log = in.text();
  answer.output = in.text();
  for (std::uint32_t n = in.count(); n > 0 && in.good(); --n) answer.made_with.push_back(in.text());
  if (!in.finished()) return fail(ErrorCode::parse_error, "truncated or overlong answer");
  return answer;
}

Status send_frame(int socket, std::string_view frame, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  const std::uint64_t size = frame.size();
  WW_TRY(send_all(socket, reinterpret_cast<const char*>(&size), sizeof size, deadline));
  return send_all(socket, frame.data(), frame.size(), deadline);
}

Result<std::string> receive_frame(int socket, int timeout_ms) {
  const Deadline deadline(timeout_ms);
  std::uint64_t size{};
  WW_TRY(receive_all(socket, reinterpret_cast<char*>(&size), sizeof size, deadline));
  if (size > kMaxFrameBytes) return fail(ErrorCode::parse_error, "a message of impossible length");
  std::string frame(size, '\0');
  if (auto got = receive_all(socket, frame.data(), size, deadline); !got) {
    auto error = std::move(got).error();
    if (error.code == ErrorCode::not_found) error.code = ErrorCode::io_error;
    return tl::unexpected<Error>(std::move(error));
  }
  return frame;
}

}  // namespace ww::sim::driver
