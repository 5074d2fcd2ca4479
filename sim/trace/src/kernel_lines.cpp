#include "kernel_lines.hpp"

#include <fmt/format.h>
#include <lzma.h>

#include <array>
#include <fstream>
#include <vector>

namespace ww::sim::trace {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;

tl::unexpected<Error> too_long(const std::string& file) {
  return fail(ErrorCode::parse_error, "a line of more than a MiB: this is no trace", file);
}

class PlainLines final : public KernelLines {
 public:
  explicit PlainLines(const std::filesystem::path& file) : name_(file.string()), stream_(file) {}

  [[nodiscard]] bool open() const { return stream_.is_open(); }

  Result<bool> next(std::string& line) override {
    line.clear();
    for (;;) {
      stream_.getline(part_.data(), static_cast<std::streamsize>(part_.size()));
      const bool ends_here = stream_.good();  // its '\n' was taken, too
      line.append(part_.data(), static_cast<std::size_t>(stream_.gcount()) - (ends_here ? 1 : 0));
      if (stream_) {
        return true;
      }
      if (stream_.bad()) {
        return fail(ErrorCode::io_error, "cannot read", name_);
      }
      if (stream_.eof()) {
        return !line.empty();
      }
      if (line.size() > kLongestLine) {
        return too_long(name_);
      }
      stream_.clear();  // the line goes on
    }
  }

 private:
  std::string name_;
  std::ifstream stream_;
  std::array<char, 1 << 16> part_{};
};

// Text in one or several xz streams, as 'xz' and its concatenations make them.
class XzLines final : public KernelLines {
 public:
  explicit XzLines(const std::filesystem::path& file)
      : name_(file.string()), stream_(file, std::ios::binary) {
    // Levels of xz need 65 MiB at most.
    constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;
    ready_ = lzma_stream_decoder(&decoder_, kMemory, LZMA_CONCATENATED) == LZMA_OK;
  }
  ~XzLines() override { lzma_end(&decoder_); }

  [[nodiscard]] bool open() const { return stream_.is_open(); }

  Result<bool> next(std::string& line) override {
    line.clear();
    if (!ready_) {
      return fail(ErrorCode::io_error, "no memory for liblzma", name_);
    }
    for (;;) {
      const auto end = text_.find('\n', at_);
      if (end != std::string::npos) {
        line.append(text_, at_, end - at_);
        at_ = end + 1;
        return true;
      }
      line.append(text_, at_, std::string::npos);
      text_.clear();
      at_ = 0;
      if (line.size() > kLongestLine) {
        return too_long(name_);
      }
      if (ended_) {
        return !line.empty();
      }
      WW_TRY(decode());
    }
  }

 private:
  // Fills `text_` from the file.
  Status decode() {
    if (decoder_.avail_in == 0 && !stream_.eof()) {
      stream_.read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
      if (stream_.bad()) {
        return fail(ErrorCode::io_error, "cannot read", name_);
      }
      decoder_.next_in = reinterpret_cast<const std::uint8_t*>(packed_.data());
      decoder_.avail_in = static_cast<std::size_t>(stream_.gcount());
    }
    text_.resize(packed_.size());
    decoder_.next_out = reinterpret_cast<std::uint8_t*>(text_.data());
    decoder_.avail_out = text_.size();
    const lzma_ret result = lzma_code(&decoder_, stream_.eof() ? LZMA_FINISH : LZMA_RUN);
    text_.resize(text_.size() - decoder_.avail_out);
    if (result == LZMA_STREAM_END) {
      ended_ = true;
      return {};
    }
    if (result == LZMA_OK || (result == LZMA_BUF_ERROR && !text_.empty())) {
      return {};
    }
    return fail(ErrorCode::parse_error,
                result == LZMA_BUF_ERROR ? "the file ends within its xz stream: it is truncated"
                                         : "this is no xz stream, or it is damaged",
                name_);
  }

  std::string name_;
  std::ifstream stream_;
  lzma_stream decoder_ = LZMA_STREAM_INIT;
  bool ready_{};
  bool ended_{};
  std::array<char, 1 << 16> packed_{};
  std::string text_;
  std::size_t at_{};
};

template <class Lines>
Result<std::unique_ptr<KernelLines>> opened(const std::filesystem::path& file) {
  auto lines = std::make_unique<Lines>(file);
  if (!lines->open()) {
    return fail(ErrorCode::not_found, "cannot read", file.string());
  }
  return lines;
}

}  // namespace

Result<std::unique_ptr<KernelLines>> open_kernel_lines(const std::filesystem::path& file) {
  const auto ending = file.extension();
  if (ending == ".zst" || ending == ".gz") {
    return fail(ErrorCode::unsupported,
                "Accel-Sim compresses traces as .xz and .tracez; decompress this one first",
                file.string());
  }
  if (ending == ".tracez") {
    return open_tracez(file);
  }
  return ending == ".xz" ? opened<XzLines>(file) : opened<PlainLines>(file);
}

}  // namespace ww::sim::trace
