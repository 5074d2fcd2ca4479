// Writes .wwt files (docs/files.md).
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ww/core/result.hpp"
#include "ww/sim/trace/trace.hpp"

namespace ww::sim::trace {

// An access as its producer has it, without a copy.
struct AccessView {
  std::uint32_t instruction{};  // from Writer::instruction()
  std::uint32_t group{};
  std::uint32_t wave{};
  std::uint64_t lanes{};
  const std::uint64_t* address{};  // [64]; null: lane i at base + i * stride
  std::uint64_t base{};
  std::int64_t stride{};
  const std::byte* values{};  // lane i's at i * value_stride; null: not known
  std::size_t value_stride{};
};

// Writes one trace. Threading: one producer in one thread. The same calls give the same bytes.
// Errors of the disk are returned by finish(); after such an error the other calls do nothing.
class Writer {
 public:
  // `producer` names what made the trace ("virtual:w9100"). Errors: not_found, permission_denied,
  // io_error.
  static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& file,
                                                const std::string& producer);
  ~Writer();  // drops a file that finish() did not put in place

  // Index of an instruction; the same content gives the same index.
  std::uint32_t instruction(const Instruction& instruction);
  // The accesses that follow belong to this launch.
  void launch(const Launch& launch);
  // Accesses without lanes are left out.
  void access(const AccessView& access);
  // Puts the file in place. Errors: io_error, permission_denied.
  Status finish();

  [[nodiscard]] const Totals& totals() const;
  [[nodiscard]] std::uint64_t file_bytes() const;

 private:
  Writer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::trace
