// Converts Accel-Sim SASS traces (.traceg, .traceg.xz, Accel-Sim 2's .tracez, the tracer's own
// .trace, and the kernelslist that lists them) to .wwt and back. Source: the tracer, its
// post-processing and the trace parser of Accel-Sim, tracer versions 1 to 6, and the format header
// of its .tracez.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/trace/reader.hpp"
#include "ww/sim/trace/trace.hpp"

namespace ww::sim::trace {

struct Converted {
  Totals totals;
  std::uint64_t skipped{};  // instructions that access no global or local memory
  // Instructions that access global memory, and of which Accel-Sim writes no lanes' addresses:
  // textures, surfaces and bulk copies (TMA). Their traffic is missing.
  std::uint64_t without_addresses{};
  // Generic instructions (LD, ST, RED, ATOM) of kernels of which the trace does not say where
  // shared and local memory lie. They are taken for accesses to global memory.
  std::uint64_t generic{};
  std::uint64_t passed_over{};  // lines of a list that are neither kernels nor copies
  std::string first_passed_over{};
  std::uint64_t files{};  // kernel files
};

// Returns remarks for a user of an imported trace, a sentence each.
[[nodiscard]] std::vector<std::string> remarks_on(const Converted& converted);

// Whether a file lists kernels, by its name.
[[nodiscard]] bool is_kernel_list(const std::filesystem::path& file);

// Imports global and local loads, stores and atomics of a kernel file or of a list of them; a copy
// from global to shared memory (LDGSTS) is a load. A warp becomes a wave of which 32 lanes exist.
// Local memory, of which a trace has each thread's own offsets, gets addresses that are interleaved
// by lane, from 2^63 on; a lane's access of more than 4 bytes becomes one access a word there.
// Generic accesses to shared memory are left out. There are no values. Errors: not_found, io_error,
// parse_error with file and line, unsupported (compressed in another way), out_of_range (a .tracez
// that states a dictionary or a chunk of more than 64 MiB).
Result<Converted> import_accelsim(const std::filesystem::path& from,
                                  const std::filesystem::path& to);

// Writes kernelslist.g and kernel-N.traceg into `folder`, which must exist. It writes only memory
// instructions, without registers and values, each wave of 64 lanes as two warps and one of 32 as
// one, for all work-groups. It needs memory for one launch. Errors: those of the reader, io_error,
// out_of_range (more than 2^24 work-groups), parse_error (a wave outside its launch).
Result<Converted> export_accelsim(Reader& reader, const std::filesystem::path& folder);

}  // namespace ww::sim::trace
