// Reads .wwt files, in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/trace/trace.hpp"

namespace ww::sim::trace {

class Reader {
 public:
  // Errors: not_found, permission_denied, parse_error (not a trace), unsupported (a later version).
  static Result<Reader> open(const std::filesystem::path& file);
  // A whole file's bytes.
  static Result<Reader> from_bytes(std::string bytes);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  // Reads the next access; false at the end of the trace. Errors: parse_error with the chunk's
  // offset (truncated, damaged, contradictory), io_error. After an error, each call returns it
  // again.
  Result<bool> next(Access& access);

  [[nodiscard]] const std::string& producer() const;
  // Launches (instructions) that an access has named so far, at least; all of them at the end.
  [[nodiscard]] const std::vector<Launch>& launches() const;
  [[nodiscard]] const std::vector<Instruction>& instructions() const;
  // Totals of the accesses read so far.
  [[nodiscard]] const Totals& totals() const;
  [[nodiscard]] std::uint64_t file_bytes() const;

  // How much of a file is whole, for one whose writer was killed.
  struct Whole {
    std::uint64_t bytes{};   // up to the end of the last whole chunk
    std::uint32_t chunks{};  // whole chunks
    bool cut{};              // next() failed because the chunk after them is not whole
  };
  [[nodiscard]] Whole whole() const;

 private:
  Reader();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::trace
