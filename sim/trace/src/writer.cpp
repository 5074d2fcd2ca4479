#include "ww/sim/trace/writer.hpp"

#include <zstd.h>

#include <bit>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "column_compressor.hpp"
#include "columns.hpp"
#include "format.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/sim/trace/reader.hpp"

namespace ww::sim::trace {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // of columns, before compression
// A chunk's head, which is known last, comes before what it describes: two sizes a column.
constexpr std::size_t kHeadRoom = (2 * kColumns + 1) * 10;

using Key = std::tuple<std::uint64_t, std::string, Operation, std::uint8_t, std::uint8_t>;

}  // namespace

void count(Totals& totals, const Instruction& instruction, std::uint64_t lanes) {
  const auto lane_count = static_cast<std::uint64_t>(std::popcount(lanes));
  ++totals.wave_accesses;
  totals.lane_accesses += lane_count;
  const std::uint64_t bytes = lane_count * instruction.element_bytes;
  switch (instruction.operation) {
    case Operation::load: totals.loaded_bytes += bytes; break;
    case Operation::store: totals.stored_bytes += bytes; break;
    default: totals.atomic_bytes += bytes; break;
  }
}

struct Writer::Impl {
  explicit Impl(StreamedFile&& opened) : file(std::move(opened)) {}

  void chunk(ChunkKind kind, std::string_view payload) {
    if (!status) return;
    const std::string head = chunk_head(kind, chunks++, payload);
    if (ahead != nullptr) {
      ahead->append(head).append(payload);
      return;
    }
    status = file.write(head);
    if (status) status = file.write(payload);
    if (status && has_aside) status = file.flush();
  }
  void put_definitions();
  void put_accesses();
  void put_columns();  // of `full`

  StreamedFile file;
  bool has_aside{};
  bool without_values{};
  std::string* ahead{};                              // takes the chunks in place of the file
  std::chrono::steady_clock::time_point next_ahead;  // the earliest time of save_ahead()
  Status status;
  std::uint32_t chunks{};
  ColumnWriter columns;
  ColumnCompressor compressor;
  Columns full;
  std::string packed;       // a chunk of them; keeps its memory, which is new to the host only once
  std::uint64_t pending{};  // accesses in `columns`
  std::vector<Instruction> instructions;
  std::map<Key, std::uint32_t> known;
  std::size_t instructions_put{};
  std::vector<Launch> new_launches;
  Totals totals;
};

// Writes the definitions that the next chunk's accesses may name before it.
void Writer::Impl::put_definitions() {
  std::string payload;
  if (instructions_put < instructions.size()) {
    put_varint(payload, instructions.size() - instructions_put);
    for (; instructions_put < instructions.size(); ++instructions_put) {
      const Instruction& one = instructions[instructions_put];
      put_varint(payload, one.address);
      put_text(payload, one.name);
      payload.push_back(static_cast<char>(one.operation));
      payload.push_back(static_cast<char>(one.element_bytes));
      payload.push_back(static_cast<char>(one.value_bytes));
    }
    chunk(ChunkKind::instructions, payload);
  }
  if (!new_launches.empty()) {
    payload.clear();
    put_varint(payload, new_launches.size());
    for (const Launch& one : new_launches) {
      put_varint(payload, one.dispatch);
      put_text(payload, one.kernel);
      for (const auto extent : one.groups) put_varint(payload, extent);
      for (const auto extent : one.local) put_varint(payload, extent);
    }
    new_launches.clear();
    chunk(ChunkKind::launches, payload);
  }
}

void Writer::Impl::put_accesses() {
  put_definitions();
  if (pending == 0) return;
  columns.take(full);
  put_columns();
  pending = 0;
}

void Writer::Impl::put_columns() {
  std::size_t bound = kHeadRoom;
  for (const auto& column : full) bound += ColumnCompressor::bound(column.size());
  if (packed.size() < bound) packed.resize(bound);
  std::string head;
  std::size_t end = kHeadRoom;
  put_varint(head, pending);
  for (const auto& column : full) {
    put_varint(head, column.size());
    std::size_t size = 0;
    if (!column.empty()) {
      size = compressor.compress(column, packed.data() + end, packed.size() - end);
      if (ZSTD_isError(size) != 0) {
        if (status)
          status = fail(ErrorCode::io_error, ZSTD_getErrorName(size), file.target().string());
        return;
      }
    }
    end += size;
    put_varint(head, size);
  }
  const std::size_t begin = kHeadRoom - head.size();
  head.copy(packed.data() + begin, head.size());
  chunk(ChunkKind::accesses, std::string_view(packed).substr(begin, end - begin));
}

Writer::Writer() = default;
Writer::~Writer() = default;

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& file,
                                               const std::string& producer,
                                               const std::filesystem::path& aside) {
  WW_ASSIGN(opened, aside.empty() ? StreamedFile::create(file) : StreamedFile::create(file, aside));
  auto writer = std::unique_ptr<Writer>(new Writer);
  writer->impl_ = std::make_unique<Impl>(std::move(opened));
  writer->impl_->has_aside = !aside.empty();
  WW_TRY(writer->impl_->file.write(file_head()));
  std::string payload;
  put_text(payload, producer);
  writer->impl_->chunk(ChunkKind::producer, payload);
  WW_TRY(writer->impl_->status);
  return writer;
}

std::uint32_t Writer::instruction(const Instruction& instruction) {
  Impl& impl = *impl_;
  const auto [place, is_new] =
      impl.known.try_emplace(Key{instruction.address, instruction.name, instruction.operation,
                                 instruction.element_bytes, instruction.value_bytes},
                             static_cast<std::uint32_t>(impl.instructions.size()));
  if (is_new) {
    impl.instructions.push_back(instruction);
    ++impl.totals.instructions;
  }
  return place->second;
}

void Writer::launch(const Launch& launch) {
  impl_->new_launches.push_back(launch);
  ++impl_->totals.launches;
}

void Writer::leave_out_values() {
  impl_->without_values = true;
}

void Writer::access(const AccessView& access) {
  Impl& impl = *impl_;
  if (access.lanes == 0 || !impl.status || impl.totals.launches == 0) return;
  const Instruction& instruction = impl.instructions[access.instruction];
  count(impl.totals, instruction, access.lanes);
  const auto launch = static_cast<std::uint32_t>(impl.totals.launches - 1);
  if (impl.without_values) {
    AccessView addresses = access;
    addresses.values = nullptr;
    impl.columns.add(addresses, instruction, launch);
  } else {
    impl.columns.add(access, instruction, launch);
  }
  ++impl.pending;
  if (impl.columns.bytes() >= kChunkBytes) impl.put_accesses();
}

void Writer::save_ahead() {
  constexpr int kOneIn = 20;  // of the program's time
  Impl& impl = *impl_;
  const auto start = std::chrono::steady_clock::now();
  if (!impl.has_aside || !impl.status || start < impl.next_ahead) return;
  // The chunks as they would be if the trace ended here. What they change is put back, so that the
  // trace's own chunks come out as without this call.
  std::string chunks;
  const auto number = impl.chunks;
  const auto instructions_put = impl.instructions_put;
  const auto new_launches = impl.new_launches;
  impl.ahead = &chunks;
  impl.put_definitions();
  if (impl.pending != 0) {
    impl.full = impl.columns.present();
    impl.put_columns();
  }
  impl.ahead = nullptr;
  impl.chunks = number;
  impl.instructions_put = instructions_put;
  impl.new_launches = new_launches;
  if (impl.status) impl.status = impl.file.write_ahead(chunks);
  const auto end = std::chrono::steady_clock::now();
  impl.next_ahead = end + kOneIn * (end - start);
}

Status Writer::finish() {
  Impl& impl = *impl_;
  impl.put_accesses();
  std::string payload;
  put_totals(payload, impl.totals);
  impl.chunk(ChunkKind::end, payload);
  WW_TRY(impl.status);
  return impl.file.keep();
}

const Totals& Writer::totals() const {
  return impl_->totals;
}
std::uint64_t Writer::file_bytes() const {
  return impl_->file.size();
}

Result<Totals> rescue(const std::filesystem::path& aside, const std::filesystem::path& file) {
  std::error_code failed;
  if (std::filesystem::is_empty(aside, failed) && !failed) {
    std::filesystem::remove(aside, failed);
    if (failed) return fail(ErrorCode::io_error, failed.message(), aside.string());
    return Totals{};
  }
  WW_ASSIGN(reader, Reader::open(aside));
  Access access;
  Result<bool> more = true;
  while (more && *more) more = reader.next(access);
  const Reader::Whole whole = reader.whole();
  if (!more && !whole.cut) return tl::unexpected(more.error());
  failed.clear();
  if (whole.cut) {
    std::filesystem::resize_file(aside, whole.bytes, failed);
    std::string payload;
    put_totals(payload, reader.totals());
    std::ofstream end(aside, std::ios::binary | std::ios::app);
    end << chunk_head(ChunkKind::end, whole.chunks, payload) << payload;
    end.close();
    if (!failed && !end) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(aside, file, failed);
  if (failed) return fail(ErrorCode::io_error, failed.message(), aside.string());
  return reader.totals();
}

}  // namespace ww::sim::trace
