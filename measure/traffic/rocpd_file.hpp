// Reads rocpd, the SQLite database that rocprofv3 writes by default since ROCm 7.0.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ww/measure/counter_file.hpp"

namespace ww::measure {

// Whether a file begins as SQLite's do.
[[nodiscard]] bool is_sqlite(std::string_view head);

// Reads the dispatches and their counters from the tables of every process in the file (a merged
// database has a set of tables for each). The database stores a row for each instance of a counter;
// they are added up. Sets that hold other counters of the same dispatches are passes of one program
// and are joined; others are processes of their own. Errors: parse_error (not a database, damaged,
// tables or columns missing), unsupported (a newer schema, by its version), bad_data (dispatches on
// GPUs of different architectures).
[[nodiscard]] Result<CounterFile> read_rocpd(const std::string& path);
// Reads a database from memory. `source` names it in errors.
[[nodiscard]] Result<CounterFile> parse_rocpd(std::span<const std::byte> bytes,
                                              const std::string& source);

}  // namespace ww::measure
