#include "common/launch/printf_run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "common/runtime/runtime.hpp"

namespace ww::sim::driver {
namespace {

// Device address of the buffer, 0 before the first kernel that prints.
std::uint64_t& buffer_address() {
  static std::uint64_t address = 0;
  return address;
}

}  // namespace

std::string read_device_string(std::uint64_t address) {
  auto& gpu = Runtime::get().powered_gpu();
  std::string text;
  std::byte byte{};
  while (text.size() < 65536 && gpu.read(address + text.size(), std::span(&byte, 1)) &&
         byte != std::byte{0}) {
    text += static_cast<char>(byte);
  }
  return text;
}

bool place_printf_buffer(const binpatch::Kernel& kernel, std::span<std::byte> kernarg) {
  auto& address = buffer_address();
  if (address == 0) {
    auto allocated = Runtime::get().powered_gpu().allocate(kPrintfBufferBytes);
    if (!allocated) return false;
    address = *allocated;
  }
  for (const auto& argument : kernel.arguments) {
    if (argument.value_kind != "hidden_printf_buffer") continue;
    std::memcpy(kernarg.data() + argument.offset, &address,
                std::min<std::size_t>(sizeof address, argument.size));
  }
  return true;
}

bool clear_printf_buffer() {
  const std::array<std::uint32_t, 2> header{0, kPrintfBufferBytes};
  return Runtime::get()
      .powered_gpu()
      .write(buffer_address(), std::as_bytes(std::span(header)))
      .has_value();
}

std::vector<std::byte> printed_records() {
  auto& gpu = Runtime::get().powered_gpu();
  std::uint32_t used = 0;
  if (!gpu.read(buffer_address(), std::as_writable_bytes(std::span(&used, 1)))) return {};
  std::vector<std::byte> records(
      std::min<std::size_t>(used, kPrintfBufferBytes - kPrintfHeaderBytes));
  if (!gpu.read(buffer_address() + kPrintfHeaderBytes, records)) return {};
  return records;
}

void print_records(std::span<const PrintfFormat> formats) {
  const std::string text = render_records(formats, printed_records(), read_device_string);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace ww::sim::driver
