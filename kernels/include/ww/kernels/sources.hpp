// The OpenCL C sources of the microbenchmarks, embedded when the program is built.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::kernels {

struct Source {
  std::string_view name;  // "l2_stream": the kernel function's name, too
  std::string_view text;  // OpenCL C 1.2; needs the macros that its head names
  bool pinned{};          // holds the marker that ww::binpatch rewrites
};

[[nodiscard]] std::span<const Source> sources();
// Error not_found names the sources that there are.
[[nodiscard]] Result<Source> find_source(std::string_view name);

// The kernels of single classes of work (cl/classes.cl): one text with a kernel for each. The
// device's driver compiles it; there is no PTX and no code object of it.
[[nodiscard]] Source class_source();

// How a target expresses what OpenCL C cannot. `portable` has no marker: its wavefronts report
// their work-group with the marker's xor, and nothing is pinned.
enum class Dialect { amd, nvidia, portable };

// The dialect of a target, and the bits of its hardware id that contain the place.
struct PinTarget {
  Dialect dialect{Dialect::amd};
  unsigned engine_shift{13};  // HW_ID on GCN
  unsigned engine_mask{3};
  unsigned cu_shift{8};
  unsigned cu_mask{15};
  unsigned wave_size{64};
  // Bits that WW_CLOCK reads; the rest of its word means nothing. The compiler's cycle counter is
  // SHADER_CYCLES on gfx10.3 (LLVM 15) and gfx11: 20 bits, which wrap every 0.4 ms at 2.5 GHz.
  unsigned clock_bits{32};
};

// How AMD's kernels wait between loads when they stream below the full rate.
enum class Wait {
  sleep,  // s_sleep: nothing issues
  nops,   // s_nop, as in IISWC'16 (Fig. 9): as long, one instruction every 32 cycles
};

// Values that the host fixes when it builds a kernel.
struct Macros {
  PinTarget target;
  Wait wait{Wait::sleep};  // the other dialects have one way alone
  unsigned group_size{256};
  unsigned interleave_bytes{256};
  unsigned channels{16};
  unsigned quadrant_channels{4};
  unsigned stripes{128};  // power of two
  unsigned unroll{4};     // loads an iteration
  unsigned list{};        // l2_stream follows lists of this many runs; 0: channels in address order
  bool count_waves{};     // l2_stream counts its working wavefronts, where no counter can
};
// Returns macro definitions, the shared head and the kernel's text, for clCreateProgramWithSource.
// Definitions are in the text and not in options, because a quoted constraint does not survive
// every driver's option parser. Error invalid_argument names the macro that makes no sense.
[[nodiscard]] Result<std::string> program_text(const Source& source, const Macros& macros);

// Returns what a compiler of OpenCL C must be asked for beside the text, as words of its command
// line: RDNA (gfx10 to gfx12) runs wavefronts of 32 or 64, as the code was compiled, and compilers
// take 32 unless they are asked. Empty for every other target.
[[nodiscard]] std::vector<std::string> compiler_options(std::string_view text,
                                                        std::string_view target);

// Returns a kernel as PTX, which was compiled when the program was built, for hosts without a
// compiler of OpenCL C (CUDA's driver API). `text` is the result of program_text for the nvidia
// dialect; its values replace their names in the PTX. Error unsupported: text that is not one of
// these kernels, or values other than those fixed at build time (group size 256, wave size 32, 4
// loads an iteration, whole ids).
[[nodiscard]] Result<std::string> ptx_for(std::string_view name, std::string_view text);
// Values that the PTX was compiled with.
inline constexpr unsigned kPtxGroupSize = 256;
inline constexpr unsigned kPtxUnroll = 4;

// Returns a kernel as AMD's code object, which was compiled when wirewatt was built, for hosts
// whose driver takes no source (HIP). `text` is the result of program_text for the amd dialect; its
// values are written into the code. `target` is the device's: "gfx90a:sramecc+:xnack-", whose
// features do not matter. The object may contain more kernels than this one. Error unsupported: a
// target that the compiler did not have, text that is not one of these kernels, values other than
// those fixed at build time (group size 256, 4 loads an iteration, lists of up to 2048 entries; on
// RDNA wavefronts of 32, or of 64 for a campaign's kernels, whose streams follow lists), or a
// wirewatt that was built without the compiler.
[[nodiscard]] Result<std::vector<std::byte>> code_object_for(std::string_view name,
                                                             std::string_view text,
                                                             std::string_view target);
inline constexpr unsigned kPrecompiledGroupSize = 256;
inline constexpr unsigned kPrecompiledUnroll = 4;
inline constexpr unsigned kPrecompiledList = 2048;  // the longest

// Every target that was compiled for, with its object of all kernels, in which values of the host
// are not yet written.
struct PrecompiledTarget {
  std::string_view name;  // "gfx90a", "gfx11-generic"
  std::span<const std::byte> object;
};
[[nodiscard]] std::vector<PrecompiledTarget> precompiled_targets();
// The compiler and its version, "clang 19.1.7"; empty where there was none.
[[nodiscard]] std::string_view precompiled_by();

}  // namespace ww::kernels
