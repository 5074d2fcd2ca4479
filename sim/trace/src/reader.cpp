#include "ww/sim/trace/reader.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "columns.hpp"
#include "format.hpp"
#include "ww/core/file_system.hpp"

namespace ww::sim::trace {
namespace {

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

bool is_element(unsigned bytes) {
  constexpr unsigned kElements[] = {1, 2, 4, 8, 12, 16, 32, 64};
  return std::ranges::find(kElements, bytes) != std::end(kElements);
}

}  // namespace

struct Reader::Impl {
  Status start();
  Result<bool> next(Access& access);
  Status next_chunk();
  Status take(ChunkKind kind, std::string_view payload);
  const char* take_launches(Cursor& cursor);
  const char* take_instructions(Cursor& cursor);
  const char* take_accesses(std::string_view payload);

  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& what) const {
    return fail(ErrorCode::parse_error,
                fmt::format("{} (chunk {} at byte {})", what, chunks, chunk_at), name);
  }
  // Exactly `count` bytes; fewer at the end of the file.
  Result<std::string> take_bytes(std::size_t count) {
    std::string bytes(std::min<std::uint64_t>(count, size - at), '\0');
    stream->read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<std::size_t>(stream->gcount()) != bytes.size()) {
      return fail(ErrorCode::io_error, "cannot read", name);
    }
    at += bytes.size();
    return bytes;
  }

  std::unique_ptr<std::istream> stream;
  std::string name;
  std::uint64_t size{};
  std::uint64_t at{};
  std::uint64_t chunk_at{};
  std::uint32_t chunks{};
  std::unique_ptr<ZSTD_DCtx, FreeContext> context{ZSTD_createDCtx()};
  std::string producer;
  std::vector<Launch> launches;
  std::vector<Instruction> instructions;
  Totals totals;
  Columns columns;
  ColumnReader reader;
  std::uint64_t left{};  // accesses of the present chunk
  bool ended{};
  bool cut{};  // the chunk that was tried last is not whole
  std::optional<Error> error;
};

Status Reader::Impl::start() {
  WW_ASSIGN(head, take_bytes(kFileHead));
  if (head.size() < kFileHead || !head.starts_with(kMagic)) {
    return fail(ErrorCode::parse_error, "not a memory trace (.wwt)", name);
  }
  if (get_fixed<std::uint64_t>(head, 24) != checksum(head.substr(0, 24))) {
    return fail(ErrorCode::parse_error, "the file's head is damaged", name);
  }
  if (const auto version = get_fixed<std::uint32_t>(head, 8); version < 1 || version > kVersion) {
    return fail(ErrorCode::unsupported,
                fmt::format("the trace has version {}; this program reads versions 1 to {}",
                            version, kVersion),
                name);
  }
  WW_TRY(next_chunk());
  return {};
}

Status Reader::Impl::next_chunk() {
  chunk_at = at;
  cut = true;
  WW_ASSIGN(head, take_bytes(kChunkHead));
  if (head.size() < kChunkHead) return damaged("the trace is truncated");
  if (get_fixed<std::uint64_t>(head, 24) != checksum(std::string_view(head).substr(0, 24))) {
    return damaged("a chunk's head is damaged");
  }
  const auto bytes = get_fixed<std::uint32_t>(head, 4);
  if (bytes > kMaxPayload) return damaged("a chunk that is too large");
  if (get_fixed<std::uint64_t>(head, 8) != chunks) return damaged("a chunk is missing");
  WW_ASSIGN(payload, take_bytes(bytes));
  if (payload.size() < bytes) return damaged("the trace is truncated");
  if (get_fixed<std::uint64_t>(head, 16) != checksum(payload)) {
    return damaged("a chunk is damaged: its checksum is wrong");
  }
  cut = false;
  const auto kind = static_cast<ChunkKind>(get_fixed<std::uint32_t>(head, 0));
  if ((chunks == 0) != (kind == ChunkKind::producer)) return damaged("a chunk out of order");
  WW_TRY(take(kind, payload));
  ++chunks;
  return {};
}

Status Reader::Impl::take(ChunkKind kind, std::string_view payload) {
  Cursor cursor(payload);
  const char* wrong = nullptr;
  switch (kind) {
    case ChunkKind::producer: producer = cursor.text(); break;
    case ChunkKind::launches: wrong = take_launches(cursor); break;
    case ChunkKind::instructions: wrong = take_instructions(cursor); break;
    case ChunkKind::accesses:
      if ((wrong = take_accesses(payload)) != nullptr) return damaged(wrong);
      return {};
    case ChunkKind::end:
      if (get_totals(cursor) != totals) wrong = "the accesses are not those that were written";
      if (at != size) wrong = "bytes behind the end";
      ended = true;
      break;
    default: wrong = "a chunk of an unknown kind";
  }
  if (wrong == nullptr && (!cursor.ok() || !cursor.empty())) wrong = "a chunk of the wrong length";
  if (wrong != nullptr) return damaged(wrong);
  return {};
}

const char* Reader::Impl::take_launches(Cursor& cursor) {
  for (auto count = cursor.varint(); count != 0 && cursor.ok(); --count) {
    Launch launch;
    launch.dispatch = cursor.varint();
    launch.kernel = cursor.text();
    for (auto* extents : {&launch.groups, &launch.local}) {
      for (auto& extent : *extents) {
        const auto value = cursor.varint();
        if (value == 0 || value > 0xFFFFFFFFU) return "a launch of an impossible size";
        extent = static_cast<std::uint32_t>(value);
      }
    }
    launches.push_back(std::move(launch));
    ++totals.launches;
  }
  return nullptr;
}

const char* Reader::Impl::take_instructions(Cursor& cursor) {
  for (auto count = cursor.varint(); count != 0 && cursor.ok(); --count) {
    Instruction instruction;
    instruction.address = cursor.varint();
    instruction.name = cursor.text();
    const unsigned operation = cursor.byte();
    instruction.element_bytes = cursor.byte();
    instruction.value_bytes = cursor.byte();
    const bool plain = instruction.value_bytes == instruction.element_bytes;
    const bool pair = instruction.value_bytes == 2 * instruction.element_bytes;
    if (operation > static_cast<unsigned>(Operation::atomic_return) ||
        !is_element(instruction.element_bytes) || instruction.value_bytes > kMaxValueBytes ||
        (!plain && !pair && instruction.value_bytes != 0)) {
      return "an instruction of an unknown kind";
    }
    instruction.operation = static_cast<Operation>(operation);
    instructions.push_back(std::move(instruction));
    ++totals.instructions;
  }
  return nullptr;
}

const char* Reader::Impl::take_accesses(std::string_view payload) {
  Cursor cursor(payload);
  left = cursor.varint();
  struct Sizes {
    std::uint64_t raw, stored;
  };
  std::array<Sizes, kColumns> sizes{};
  for (auto& size_of : sizes) {
    size_of.raw = cursor.varint();
    size_of.stored = cursor.varint();
    if (size_of.raw > kMaxColumn) return "a column that is too large";
  }
  std::array<std::string_view, kColumns> views;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const auto stored = cursor.bytes(sizes[i].stored);
    if (!cursor.ok()) return "a column that ends too early";
    columns[i].resize(sizes[i].raw);
    views[i] = columns[i];
    if (sizes[i].raw == 0 && stored.empty()) continue;
    const std::size_t got = ZSTD_decompressDCtx(context.get(), columns[i].data(), columns[i].size(),
                                                stored.data(), stored.size());
    if (ZSTD_isError(got) != 0 || got != sizes[i].raw) return "a column that does not decompress";
  }
  if (!cursor.empty() || left == 0) return "a chunk of the wrong length";
  reader.start(views);
  return nullptr;
}

Result<bool> Reader::Impl::next(Access& access) {
  while (left == 0) {
    if (ended) return false;
    WW_TRY(next_chunk());
  }
  if (const char* wrong = reader.next(access, instructions, launches.size())) return damaged(wrong);
  count(totals, instructions[access.instruction], access.lanes);
  if (--left == 0 && !reader.at_end()) return damaged("a column that is too long");
  return true;
}

Reader::Reader() : impl_(std::make_unique<Impl>()) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::filesystem::path& file) {
  Reader reader;
  Impl& impl = *reader.impl_;
  impl.name = file.string();
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  std::error_code ec;
  if (!*stream || std::filesystem::is_directory(file, ec)) {
    const int number = std::filesystem::is_directory(file, ec) ? EISDIR : errno;
    return tl::unexpected(errno_error(number, "cannot read", file));
  }
  impl.size = std::filesystem::file_size(file, ec);
  if (ec) return tl::unexpected(errno_error(ec, "cannot read", file));
  impl.stream = std::move(stream);
  WW_TRY(impl.start());
  return reader;
}

Result<Reader> Reader::from_bytes(std::string bytes) {
  Reader reader;
  Impl& impl = *reader.impl_;
  impl.name = "trace";
  impl.size = bytes.size();
  impl.stream = std::make_unique<std::istringstream>(std::move(bytes));
  WW_TRY(impl.start());
  return reader;
}

Result<bool> Reader::next(Access& access) {
  if (impl_->error) return tl::unexpected<Error>(*impl_->error);
  auto result = impl_->next(access);
  if (!result) impl_->error = result.error();
  return result;
}

const std::string& Reader::producer() const {
  return impl_->producer;
}
const std::vector<Launch>& Reader::launches() const {
  return impl_->launches;
}
const std::vector<Instruction>& Reader::instructions() const {
  return impl_->instructions;
}
const Totals& Reader::totals() const {
  return impl_->totals;
}
std::uint64_t Reader::file_bytes() const {
  return impl_->size;
}
Reader::Whole Reader::whole() const {
  return {impl_->cut ? impl_->chunk_at : impl_->at, impl_->chunks, impl_->cut};
}

}  // namespace ww::sim::trace
