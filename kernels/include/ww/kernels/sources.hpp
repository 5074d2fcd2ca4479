// The OpenCL C sources of the microbenchmarks, embedded when the program is built.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

// How a target spells what OpenCL C cannot say, and where its hardware id keeps the place.
struct PinTarget {
  bool amd{true};             // false: portable spelling, unpinned
  unsigned engine_shift{13};  // HW_ID on GCN
  unsigned engine_mask{3};
  unsigned cu_shift{8};
  unsigned cu_mask{15};
  unsigned wave_size{64};
};

// What the host fixes when it builds a kernel.
struct Macros {
  PinTarget target;
  unsigned group_size{256};
  unsigned interleave_bytes{256};
  unsigned channels{16};
  unsigned quadrant_channels{4};
  unsigned stripes{128};  // power of two
  unsigned unroll{4};     // loads an iteration
};
// Macro definitions, the shared head and the kernel's text: what goes to clCreateProgramWithSource.
// Definitions travel in the text, not as options, because a quoted constraint does not survive
// every driver's option parser. Error invalid_argument names the macro that makes no sense.
[[nodiscard]] Result<std::string> program_text(const Source& source, const Macros& macros);

}  // namespace ww::kernels
