#include "common/compile/protocol.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace ww::sim::driver {
namespace {

CompileRequest sample_request() {
  CompileRequest request;
  request.operation = CompileOperation::link;
  request.isa = "amdgcn-amd-amdhsa--gfx701";
  request.source = std::string("with\0zero", 9);
  request.headers = {{"a.h", "#define A"}, {"", ""}};
  request.options = {"-O3", "-DNAME=a b"};
  request.working_directory = "/somewhere";
  request.bitcodes = {"BC", ""};
  return request;
}

struct SocketPair {
  SocketPair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~SocketPair() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  int ends[2]{-1, -1};
};

TEST(Protocol, RequestSurvivesTheRoundTrip) {
  const auto request = sample_request();
  const auto back = decode_request(encode(request));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->operation, request.operation);
  EXPECT_EQ(back->isa, request.isa);
  EXPECT_EQ(back->source, request.source);
  ASSERT_EQ(back->headers.size(), 2u);
  EXPECT_EQ(back->headers[0].name, "a.h");
  EXPECT_EQ(back->headers[0].text, "#define A");
  EXPECT_EQ(back->options, request.options);
  EXPECT_EQ(back->working_directory, request.working_directory);
  EXPECT_EQ(back->bitcodes, request.bitcodes);
}

TEST(Protocol, AnswerSurvivesTheRoundTrip) {
  const CompileAnswer answer{CompileStatus::no_compiler,
                             "log\n",
                             std::string("\x7f"
                                         "ELF\0",
                                         5),
                             {"a compiler", "a library"}};
  const auto back = decode_answer(encode(answer));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->status, answer.status);
  EXPECT_EQ(back->log, answer.log);
  EXPECT_EQ(back->output, answer.output);
  EXPECT_EQ(back->made_with, answer.made_with);
}

TEST(Protocol, RefusesEveryTruncationOfARequest) {
  const std::string frame = encode(sample_request());
  for (std::size_t size = 0; size < frame.size(); ++size) {
    EXPECT_FALSE(decode_request(std::string_view(frame).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_request(frame + "x"));
}

// A text whose length is there and whose bytes are all missing is no empty text.
TEST(Protocol, RefusesFramesThatEndBehindTheLengthOfTheirLastText) {
  CompileRequest request = sample_request();
  request.bitcodes = {"BC"};
  const std::string asked = encode(request);
  for (std::size_t size = 0; size < asked.size(); ++size) {
    EXPECT_FALSE(decode_request(std::string_view(asked).substr(0, size))) << size;
  }
  CompileAnswer answer;
  answer.made_with = {"a compiler"};
  const std::string answered = encode(answer);
  for (std::size_t size = 0; size < answered.size(); ++size) {
    EXPECT_FALSE(decode_answer(std::string_view(answered).substr(0, size))) << size;
  }
}

// The frame's first eight bytes name its kind and operation, and every list and text has its length
// before it. Such a byte is refused; any other is part of a text and arrives as it is.
TEST(Protocol, RefusesEveryFlippedByteThatIsNotText) {
  const CompileRequest request = sample_request();
  const std::string frame = encode(request);
  std::size_t text = request.isa.size() + request.source.size() + request.working_directory.size();
  for (const auto& header : request.headers) text += header.name.size() + header.text.size();
  for (const auto& option : request.options) text += option.size();
  for (const auto& bitcode : request.bitcodes) text += bitcode.size();
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    std::string bad = frame;
    bad[i] = static_cast<char>(bad[i] ^ 0xff);
    EXPECT_FALSE(decode_answer(bad)) << i;
    const auto decoded = decode_request(bad);
    if (!decoded) continue;
    ++accepted;
    EXPECT_EQ(encode(*decoded), bad) << i;
  }
  EXPECT_EQ(accepted, text);
}

TEST(Protocol, AnAnswerIsNoRequest) {
  EXPECT_FALSE(decode_request(encode(CompileAnswer{})));
  EXPECT_FALSE(decode_answer(encode(CompileRequest{})));
}

TEST(Protocol, FrameLargerThanTheSocketBufferArrivesWhole) {
  SocketPair pair;
  const std::string sent(5 << 20, 'x');
  std::thread sender([&] { EXPECT_TRUE(send_frame(pair.ends[0], sent, -1)); });
  const auto received = receive_frame(pair.ends[1], 10'000);
  sender.join();
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, sent);
}

TEST(Protocol, EndOfStreamBetweenFramesIsNotAnErrorWithinOne) {
  SocketPair pair;
  ::close(std::exchange(pair.ends[0], -1));
  const auto clean = receive_frame(pair.ends[1], 1000);
  ASSERT_FALSE(clean);
  EXPECT_EQ(clean.error().code, ErrorCode::not_found);

  SocketPair cut;
  const std::uint64_t size = 100;
  ASSERT_EQ(::write(cut.ends[0], &size, sizeof size), static_cast<ssize_t>(sizeof size));
  ::close(std::exchange(cut.ends[0], -1));
  const auto broken = receive_frame(cut.ends[1], 1000);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::io_error);
}

TEST(Protocol, SilenceEndsWithTheTimeAllowed) {
  SocketPair pair;
  const auto nothing = receive_frame(pair.ends[1], 20);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::cancelled);
}

TEST(Protocol, SendingToAClosedEndIsAnErrorAndNoSignal) {
  SocketPair pair;
  ::close(std::exchange(pair.ends[1], -1));
  const auto sent = send_frame(pair.ends[0], std::string(1 << 20, 'x'), 1000);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::io_error);
}

TEST(Protocol, ImpossibleLengthIsRefusedBeforeItIsAllocated) {
  SocketPair pair;
  const std::uint64_t size = kMaxFrameBytes + 1;
  ASSERT_EQ(::write(pair.ends[0], &size, sizeof size), static_cast<ssize_t>(sizeof size));
  const auto frame = receive_frame(pair.ends[1], 1000);
  ASSERT_FALSE(frame);
  EXPECT_EQ(frame.error().code, ErrorCode::parse_error);
}

}  // namespace
}  // namespace ww::sim::driver
