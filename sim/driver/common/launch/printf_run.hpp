// The device's printf buffer: one for the process, because commands run one at a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/print/printf.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver {

// Writes the buffer's address into the kernel's hidden argument; false when there is no memory.
[[nodiscard]] bool place_printf_buffer(const binpatch::Kernel& kernel,
                                       std::span<std::byte> kernarg);
// Empties the buffer before a launch.
[[nodiscard]] bool clear_printf_buffer();
// Returns the records that a launch left in it, without the header.
[[nodiscard]] std::vector<std::byte> printed_records();
// A zero-terminated string in device memory; at most 64 KiB of it.
[[nodiscard]] std::string read_device_string(std::uint64_t address);
// Prints what a launch left in it to stdout, in the order of the records.
void print_records(std::span<const PrintfFormat> formats);

}  // namespace ww::sim::driver
