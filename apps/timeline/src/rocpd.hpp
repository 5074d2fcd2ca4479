// A rocpd database (schema 3), as ROCm's profiler writes it and its tools read it: a set of tables
// for each process, and a view of each table over all sets.
#pragma once

#include <filesystem>

#include "trace_content.hpp"

namespace ww::timeline {

// Errors: not_found, permission_denied, io_error; an old file then remains.
Status write_database(const TraceContent& content, const std::filesystem::path& file);

}  // namespace ww::timeline
