// Compressed offload bundles ("CCOB").
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "ww/binpatch/bundle.hpp"

namespace ww::binpatch {

namespace {

// No bundle comes near; a header that asks for more is broken.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kOutputStep = 1 << 20;

tl::unexpected<Error> broken(std::string message) {
  return fail(ErrorCode::parse_error, std::move(message), "offload bundle");
}

struct Header {
  std::uint64_t bytes{};  // of the header
  std::uint16_t method{};
  std::uint64_t packed{};  // of the whole bundle; 0: the data say themselves where they end
  std::uint64_t plain{};
};

Result<Header> read_header(const std::byte* packed, std::uint64_t available) {
  const auto read = [&](std::uint64_t at, auto value) {
    if (at <= available && sizeof value <= available - at) {
      std::memcpy(&value, packed + at, sizeof value);
    }
    return value;
  };
  const auto version = read(4, std::uint16_t{});
  Header header;
  header.method = read(6, std::uint16_t{});
  switch (version) {  // magic, version and method; then sizes, and 8 bytes of a hash
    case 1:
      header.bytes = 20;
      header.plain = read(8, std::uint32_t{});
      break;
    case 2:
      header.bytes = 24;
      header.packed = read(8, std::uint32_t{});
      header.plain = read(12, std::uint32_t{});
      break;
    case 3:
      header.bytes = 32;
      header.packed = read(8, std::uint64_t{});
      header.plain = read(16, std::uint64_t{});
      break;
    default:
      return fail(ErrorCode::unsupported,
                  fmt::format("a compressed bundle of version {}; 1 to 3 are read", version),
                  "offload bundle");
  }
  const bool sized = version == 1 || (header.packed >= header.bytes && header.packed <= kMaxBytes);
  if (!sized || header.plain > kMaxBytes || available < std::max(header.bytes, header.packed)) {
    return broken("the header of the compressed bundle is broken, or the file is cut short");
  }
  return header;
}

// One step of either decompressor: from `input` to `output`, which move on. False on damage.
enum class Step { more, done, damaged };

class Zstd {
 public:
  Step step(std::span<const std::byte>& input, std::span<std::byte>& output) {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
    input = input.subspan(in.pos);
    output = output.subspan(out.pos);
    if (ZSTD_isError(left) != 0) return Step::damaged;
    return left == 0 ? Step::done : Step::more;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
};

class Zlib {
 public:
  Zlib() { good_ = inflateInit(&stream_) == Z_OK; }
  ~Zlib() { inflateEnd(&stream_); }
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;

  Step step(std::span<const std::byte>& input, std::span<std::byte>& output) {
    if (!good_) return Step::damaged;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    input = input.last(stream_.avail_in);
    output = output.last(stream_.avail_out);
    if (code == Z_STREAM_END) return Step::done;
    return code == Z_OK || code == Z_BUF_ERROR ? Step::more : Step::damaged;
  }

 private:
  z_stream stream_{};
  bool good_{};
};

// The data behind the header. The input is handed over page by page, as it may lie in the program's
// own memory, and no one knows where that ends.
template <class Method>
Result<UnpackedBundle> unpack(const Header& header, const std::byte* packed,
                              std::uint64_t available) {
  const std::uint64_t end = header.packed != 0 ? header.packed : available;
  UnpackedBundle bundle;
  Method method;
  Step state = Step::more;
  std::uint64_t at = header.bytes;
  while (state == Step::more) {
    const auto address = reinterpret_cast<std::uintptr_t>(packed + at);
    const std::uint64_t here = std::min(end - at, kPageBytes - address % kPageBytes);
    std::span<const std::byte> input(packed + at, here);
    const std::size_t before = bundle.bytes.size();
    bundle.bytes.resize(std::min<std::uint64_t>(before + kOutputStep, header.plain));
    std::span<std::byte> output = std::span(bundle.bytes).subspan(before);
    state = method.step(input, output);
    const bool moved = input.size() != here || output.size() != bundle.bytes.size() - before;
    at += here - input.size();
    bundle.bytes.resize(bundle.bytes.size() - output.size());
    if (state == Step::more && !moved) state = Step::damaged;
  }
  if (state == Step::damaged || bundle.bytes.size() != header.plain) {
    return broken("the compressed bundle is damaged");
  }
  bundle.packed_size = header.packed != 0 ? header.packed : at;
  return bundle;
}

}  // namespace

Result<UnpackedBundle> unpack_bundle(const std::byte* packed, std::uint64_t available) {
  constexpr std::uint16_t zlib = 0;
  constexpr std::uint16_t zstd = 1;
  WW_ASSIGN(header, read_header(packed, available));
  switch (header.method) {
    case zlib: return unpack<Zlib>(header, packed, available);
    case zstd: return unpack<Zstd>(header, packed, available);
    default:
      return fail(ErrorCode::unsupported,
                  fmt::format("a bundle compressed by method {}; zlib (0) and zstd (1) are read",
                              header.method),
                  "offload bundle");
  }
}

}  // namespace ww::binpatch
