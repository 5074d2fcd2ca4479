// The text of a HIP kernel's printf: format and strings come whole, each other value in 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "common/print/printf.hpp"

namespace ww::sim::driver::hip {

// Renders the words behind the control word: the zero-terminated format, padded to whole words, and
// its arguments in order. What the words do not hold is rendered as it stands in the format.
[[nodiscard]] std::string render_message(std::span<const std::uint64_t> words);

// The other way, of code that was compiled with -mprintf-kind=buffered: records in a buffer that
// the program reads when the kernel has ended (LLVM, AMDGPUEmitPrintf.cpp). A record begins with 32
// bits: its size in bytes above bit 1, and whether the number of its format follows (bit 1), or the
// format itself. Arguments are as in messages. With a format in the record, %s is an address.
//
// Whether a code object's formats ("amdhsa.printf") are of that kind, and not OpenCL's.
[[nodiscard]] bool are_formats_of_hip(std::span<const std::string> formats);
// Renders the used part of the buffer, header excluded. A damaged record ends the text.
[[nodiscard]] std::string render_buffer(std::span<const std::string> formats,
                                        std::span<const std::byte> records,
                                        const StringReader& read_string);

}  // namespace ww::sim::driver::hip
