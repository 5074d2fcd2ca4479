#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <fstream>
#include <vector>

#include "kernel_lines.hpp"

namespace ww::sim::trace {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are read as they lie in the file");

// Bytes of one kernel's header, dictionary and of a chunk's lines: far above what Accel-Sim writes
// (dictionaries of some 100 KiB, chunks of some hundred instructions), far below a machine's
// memory.
constexpr std::uint64_t kLargestHeader = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargestDictionary = std::uint64_t{64} << 20;
constexpr std::uint64_t kLargestChunk = std::uint64_t{64} << 20;

struct DecoderDeleter {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};

class TracezLines final : public KernelLines {
 public:
  explicit TracezLines(const std::filesystem::path& file)
      : name_(file.string()), stream_(file, std::ios::binary | std::ios::ate) {
    size_ = stream_ ? static_cast<std::uint64_t>(stream_.tellg()) : 0;
  }

  [[nodiscard]] bool open() const { return stream_.is_open(); }

  // Reads the header, the dictionary, and where the index is.
  Status begin() {
    WW_TRY(read_header());
    std::uint64_t index = 0;
    if (size_ < sizeof index) {
      return damaged("it is too short");
    }
    WW_TRY(read_at(size_ - sizeof index, index));
    index_ = index;
    WW_TRY(read_at(index_, blocks_left_));
    index_ += sizeof blocks_left_;
    return {};
  }

  Result<bool> next(std::string& line) override {
    for (;;) {
      const auto end = text_.find('\n', at_);
      if (end != std::string::npos || at_ < text_.size()) {
        line.assign(text_, at_, end == std::string::npos ? end : end - at_);
        at_ = end == std::string::npos ? text_.size() : end + 1;
        return true;
      }
      text_.clear();
      at_ = 0;
      WW_ASSIGN(more, advance());
      if (!more) {
        return false;
      }
    }
  }

 private:
  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& how) const {
    return fail(ErrorCode::parse_error, "a .tracez that is damaged: " + how, name_);
  }

  Status read_bytes(std::uint64_t offset, char* into, std::uint64_t bytes) {
    if (offset > size_ || bytes > size_ - offset) {
      return damaged("something lies beyond its end");
    }
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(into, static_cast<std::streamsize>(bytes));
    if (!stream_) {
      return fail(ErrorCode::io_error, "cannot read", name_);
    }
    return {};
  }

  template <std::unsigned_integral Number>
  Status read_at(std::uint64_t offset, Number& into) {
    std::array<char, sizeof(Number)> bytes{};
    WW_TRY(read_bytes(offset, bytes.data(), bytes.size()));
    std::memcpy(&into, bytes.data(), sizeof into);
    return {};
  }

  // Reads a number of the index, and stands behind it.
  template <std::unsigned_integral Number>
  Status take(Number& into) {
    WW_TRY(read_at(index_, into));
    index_ += sizeof into;
    return {};
  }

  Status read_header() {
    stream_.clear();
    stream_.seekg(0);
    if (!std::getline(stream_, text_, '\0') || stream_.eof() || text_.size() > kLargestHeader) {
      return damaged("its header does not end");
    }
    text_ += '\n';
    std::uint64_t offset = text_.size();
    std::uint32_t dictionary_bytes = 0;
    WW_TRY(read_at(offset, dictionary_bytes));
    offset += 2 * sizeof dictionary_bytes;  // and the instructions of a chunk
    if (dictionary_bytes > kLargestDictionary) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("its dictionary has {} bytes", dictionary_bytes), name_);
    }
    if (dictionary_bytes > 0) {
      std::vector<char> bytes(dictionary_bytes);
      WW_TRY(read_bytes(offset, bytes.data(), bytes.size()));
      dictionary_.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
      if (dictionary_ == nullptr) {
        return damaged("its dictionary is none of zstd's");
      }
    }
    decoder_.reset(ZSTD_createDCtx());
    return {};
  }

  // Puts the next lines into `text_`: a block's beginning or end, a warp's, or a chunk.
  Result<bool> advance() {
    if (chunks_left_ > 0) {
      WW_TRY(read_chunk());
      return true;
    }
    if (instructions_left_ != 0) {
      return damaged("a warp has fewer instructions than it states");
    }
    if (warps_left_ > 0) {
      WW_TRY(begin_warp());
      return true;
    }
    if (in_block_) {
      in_block_ = false;
      text_ = "#END_TB\n";
      return true;
    }
    if (blocks_left_ == 0) {
      return false;
    }
    --blocks_left_;
    std::array<std::uint32_t, 11> block{};
    for (std::uint32_t& number : block) {
      WW_TRY(take(number));
    }
    warps_left_ = block.back();
    warp_ = 0;
    in_block_ = true;
    text_ = fmt::format("#BEGIN_TB\nthread block = {},{},{}\n", block[0], block[1], block[2]);
    return true;
  }

  Status begin_warp() {
    --warps_left_;
    std::uint32_t instructions = 0;
    std::uint32_t chunks = 0;
    std::uint64_t begin = 0;
    WW_TRY(take(instructions));
    WW_TRY(take(chunks));
    WW_TRY(take(begin));
    // The chunks' instructions are for random access; here every line is read.
    index_ += std::uint64_t{chunks} * sizeof(std::uint32_t);
    std::uint32_t stated = 0;
    WW_TRY(read_at(begin, stated));
    if (stated != instructions) {
      return damaged("a warp and the index differ in its instructions");
    }
    WW_TRY(read_at(begin + sizeof stated, stated));
    if (stated != chunks) {
      return damaged("a warp and the index differ in its chunks");
    }
    chunk_ = begin + 2 * sizeof stated;
    chunks_left_ = chunks;
    instructions_left_ = instructions;
    text_ = fmt::format("warp = {}\ninsts = {}\n", warp_++, instructions);
    return {};
  }

  Status read_chunk() {
    --chunks_left_;
    std::uint32_t bytes = 0;
    WW_TRY(read_at(chunk_, bytes));
    chunk_ += sizeof bytes;
    if (bytes > size_) {
      return damaged("something lies beyond its end");
    }
    packed_.resize(bytes);
    WW_TRY(read_bytes(chunk_, packed_.data(), bytes));
    chunk_ += bytes;
    const auto content = ZSTD_getFrameContentSize(packed_.data(), packed_.size());
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN) {
      return damaged("a chunk is no zstd frame, or does not state its size");
    }
    if (content > kLargestChunk) {
      return fail(ErrorCode::out_of_range, fmt::format("a chunk states {} bytes", content), name_);
    }
    text_.resize(content);
    const std::size_t got =
        ZSTD_decompress_usingDDict(decoder_.get(), text_.data(), text_.size(), packed_.data(),
                                   packed_.size(), dictionary_.get());
    if (ZSTD_isError(got) != 0 || got != content) {
      return damaged("a chunk does not decompress");
    }
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(text_, '\n')) +
                       (text_.empty() || text_.back() == '\n' ? 0 : 1);
    if (lines > instructions_left_) {
      return damaged("a warp has more instructions than it states");
    }
    instructions_left_ -= lines;
    return {};
  }

  std::string name_;
  std::ifstream stream_;
  std::uint64_t size_{};
  std::unique_ptr<ZSTD_DDict, DecoderDeleter> dictionary_;
  std::unique_ptr<ZSTD_DCtx, DecoderDeleter> decoder_;
  std::uint64_t index_{};  // where the next number of the index is
  std::uint64_t chunk_{};  // where the warp's next chunk is
  std::uint32_t blocks_left_{};
  std::uint32_t warps_left_{};   // of the block
  std::uint32_t chunks_left_{};  // of the warp
  std::uint64_t instructions_left_{};
  std::uint32_t warp_{};
  bool in_block_{};
  std::string packed_;
  std::string text_;
  std::size_t at_{};
};

}  // namespace

Result<std::unique_ptr<KernelLines>> open_tracez(const std::filesystem::path& file) {
  auto lines = std::make_unique<TracezLines>(file);
  if (!lines->open()) {
    return fail(ErrorCode::not_found, "cannot read", file.string());
  }
  WW_TRY(lines->begin());
  return lines;
}

}  // namespace ww::sim::trace
