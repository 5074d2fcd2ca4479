// Any bytes: the reader must answer with accesses or an error. Checksums would stop most inputs at
// the door, so the columns are also read from the input directly.
#include "columns.hpp"
#include "ww/sim/trace/reader.hpp"

namespace {

using namespace ww::sim::trace;

void read_columns(std::string_view input) {
  static const std::vector<Instruction> instructions{
      {0, "load", Operation::load, 4, 4},
      {4, "store", Operation::store, 16, 16},
      {8, "byte", Operation::load, 1, 1},
      {12, "cmpswap", Operation::atomic_return, 8, 16}};
  std::array<std::string_view, kColumns> columns;
  const std::size_t part = input.size() / kColumns;
  for (std::size_t i = 0; i < kColumns; ++i) columns[i] = input.substr(i * part, part);
  static ColumnReader reader;
  reader.start(columns);
  static Access access;
  for (int i = 0; i < 1000; ++i) {
    if (reader.next(access, instructions, 3) != nullptr) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read_columns(input);
  if (auto reader = Reader::from_bytes(std::string(input))) {
    Access access;
    for (auto more = reader->next(access); more && *more; more = reader->next(access)) {
    }
  }
  return 0;
}
