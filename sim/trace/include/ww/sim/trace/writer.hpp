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
  // Until finish(), the bytes have the name `aside` in the same folder, if one is given: a killed
  // process leaves them there for rescue().
  static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& file,
                                                const std::string& producer,
                                                const std::filesystem::path& aside = {});
  ~Writer();  // drops a file that finish() did not put in place

  // Index of an instruction; the same content gives the same index.
  std::uint32_t instruction(const Instruction& instruction);
  // The accesses that follow belong to this launch.
  void launch(const Launch& launch);
  // Leaves out the values of the accesses that follow: a trace for caches needs addresses alone.
  void leave_out_values();
  // Accesses without lanes are left out.
  void access(const AccessView& access);
  // Puts into `aside` what is not yet written. It costs up to a twentieth of the time: calls that
  // come too soon after another do nothing. The finished trace does not depend on these calls.
  void save_ahead();
  // Puts the file in place. Errors: io_error, permission_denied.
  Status finish();

  [[nodiscard]] const Totals& totals() const;
  [[nodiscard]] std::uint64_t file_bytes() const;

 private:
  Writer();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Completes what a killed writer left in `aside` to a whole trace, and renames it to `file`, in the
// same folder. Returns the totals of the accesses that had reached `aside`. If the writer was
// killed before its first bytes reached the disk, `aside` is empty: it is removed, and no `file` is
// made. Errors: parse_error (no whole chunk, or an access that is damaged), not_found,
// permission_denied, io_error; `file` is then as it was.
Result<Totals> rescue(const std::filesystem::path& aside, const std::filesystem::path& file);

}  // namespace ww::sim::trace
