// The lines of an Accel-Sim kernel trace, whichever way the file packs them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "ww/core/result.hpp"

namespace ww::sim::trace {

// Lines from the first to the last.
class KernelLines {
 public:
  KernelLines() = default;
  KernelLines(const KernelLines&) = delete;
  KernelLines& operator=(const KernelLines&) = delete;
  virtual ~KernelLines() = default;

  // Puts the next line into `line`, without its end; false at the end of the file. Errors:
  // io_error, parse_error (the file is damaged), out_of_range (it asks for more memory than a trace
  // needs).
  virtual Result<bool> next(std::string& line) = 0;
};

// Opens by the ending: .traceg (text), .xz (text in an xz stream), .tracez (Accel-Sim 2). Errors:
// not_found, unsupported (.gz and .zst, which Accel-Sim has never written), those of next().
[[nodiscard]] Result<std::unique_ptr<KernelLines>> open_kernel_lines(
    const std::filesystem::path& file);

// Opens a .tracez. Its layout, all numbers little-endian:
//   kernel header as text, then a zero byte
//   u32 bytes of the dictionary, u32 instructions of a chunk (a hint to writers)
//   the dictionary, for zstd; may be empty
//   for each warp: u32 instructions, u32 chunks; for each chunk u32 bytes and a zstd frame of
//   lines,
//     one an instruction as in a .traceg; a frame states its content's size
//   the index: u32 thread blocks; for each, eleven u32 (its place x, y, z; its cluster's; its place
//     in the cluster; its rank there; its warps); for each warp u32 instructions, u32 chunks, u64
//     where it begins in the file, and a u32 for each chunk: its instructions
//   u64 where the index begins
// Lines come as a .traceg has them: the header, then #BEGIN_TB, "thread block = ", "warp = " and
// instructions, #END_TB.
// Source: Accel-Sim 2, util/tracer_nvbit/tracer_tool/tracez_format.h (commit e1c2b67).
[[nodiscard]] Result<std::unique_ptr<KernelLines>> open_tracez(const std::filesystem::path& file);

}  // namespace ww::sim::trace
