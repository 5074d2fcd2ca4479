// printf of kernels: the compiler puts the format strings into the code object's metadata and makes
// the kernel append records (format number, argument bytes) to a buffer; the driver prints them
// when the kernel has ended.
//
// Buffer (ROCm device libraries, opencl/src/misc/printf_alloc.cl): uint32 bytes used beyond the
// header, uint32 bytes of the whole buffer, then the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sim::driver {

inline constexpr std::size_t kPrintfBufferBytes = 1024 * 1024;  // CL_DEVICE_PRINTF_BUFFER_SIZE
inline constexpr std::size_t kPrintfHeaderBytes = 8;

struct PrintfFormat {
  std::uint32_t id{};
  std::vector<std::uint32_t> sizes;  // of the arguments in a record [bytes]
  std::string text;
};

// Reads "id:count:size:...:text" with its escapes. Errors: parse_error.
[[nodiscard]] Result<PrintfFormat> parse_printf_format(std::string_view metadata);

// The zero-terminated string at a device address, for %s.
using StringReader = std::function<std::string(std::uint64_t address)>;

// Renders one format with its argument bytes, vectors and length modifiers of OpenCL C included.
[[nodiscard]] std::string render_printf(const PrintfFormat& format,
                                        std::span<const std::byte> arguments,
                                        const StringReader& read_string);

// Renders the records of a buffer's used part, header excluded. A record with an unknown number
// ends the text: what follows cannot be parsed.
[[nodiscard]] std::string render_records(std::span<const PrintfFormat> formats,
                                         std::span<const std::byte> records,
                                         const StringReader& read_string);

}  // namespace ww::sim::driver
