#include "hip/module/hidden_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "common/launch/printf_run.hpp"
#include "common/print/hip_printf.hpp"
#include "hip/session/session.hpp"

namespace ww::sim::driver::hip {
namespace {

constexpr std::string_view kPrintfBuffer = "hidden_printf_buffer";
// Bytes of the heap's management; all zero at first (clr, rocclr/device/rocm/rocdevice.cpp).
constexpr std::uint64_t kHeapBytes = 128 << 10;
// A block's slab is found by the block's address.
constexpr std::uint64_t kSlabBytes = 2 << 20;

// MGSyncInfo of clr (rocclr/device/device.hpp), and before it the word of all devices' grids.
struct SyncBuffer {
  std::uint32_t devices_met[2];
  std::uint64_t devices;  // address of devices_met; 0: the launch is on one device alone
  std::uint32_t grid;
  std::uint32_t grids;
  std::uint64_t items_before;  // in grids before this one
  std::uint64_t items;         // in all grids
  std::uint32_t blocks_met[2];
  std::uint32_t blocks;
};
constexpr std::uint64_t kSyncInfoAt = offsetof(SyncBuffer, devices);

struct Heaps {
  std::map<int, std::uint64_t> management;  // address, by device
  std::map<std::uint64_t, int> blocks;      // what kernels got, and of which device
  std::uint64_t sync{};                     // address of the sync buffer
  std::uint64_t limit{8 << 20};             // HIP's own, at first
};

Heaps& heaps() {
  static auto& instance = *new Heaps;
  return instance;
}

bool place(std::uint64_t& address, std::uint64_t bytes, std::size_t at,
           std::span<std::byte> kernarg) {
  if (address == 0) {
    const auto made = device().allocate(bytes);
    if (!made) return false;
    address = *made;
  }
  std::memcpy(kernarg.data() + at, &address, sizeof address);
  return true;
}

bool place_sync(Cooperation cooperation, const LaunchShape& shape, std::size_t at,
                std::span<std::byte> kernarg) {
  std::uint64_t& address = heaps().sync;
  if (!place(address, sizeof(SyncBuffer), at, kernarg)) return false;
  SyncBuffer buffer{};
  buffer.blocks = 1;
  buffer.items = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    buffer.blocks *= (shape.global[axis] + shape.local[axis] - 1) / shape.local[axis];
    buffer.items *= shape.global[axis];
  }
  buffer.grids = 1;
  if (cooperation == Cooperation::devices) buffer.devices = address;
  const std::uint64_t info = address + kSyncInfoAt;
  std::memcpy(kernarg.data() + at, &info, sizeof info);
  return device().write(address, std::as_bytes(std::span(&buffer, 1))).has_value();
}

}  // namespace

std::optional<std::size_t> hidden_pointer(const binpatch::Kernel& kernel, std::string_view kind,
                                          std::span<const std::byte> kernarg) {
  const auto found =
      std::ranges::find(kernel.arguments, kind, &binpatch::KernelArgument::value_kind);
  constexpr std::size_t kPointer = sizeof(std::uint64_t);
  if (found == kernel.arguments.end() || kernarg.size() < kPointer ||
      found->offset > kernarg.size() - kPointer) {
    return std::nullopt;
  }
  return found->offset;
}

bool place_hidden_buffers(const binpatch::Kernel& kernel, Cooperation cooperation,
                          const LaunchShape& shape, std::span<std::byte> kernarg) {
  if (const auto at = hidden_pointer(kernel, "hidden_heap_v1", kernarg)) {
    std::uint64_t& address = heaps().management[device().selected_device()];
    if (!place(address, kHeapBytes, *at, kernarg)) return false;
  }
  if (hidden_pointer(kernel, kPrintfBuffer, kernarg) &&
      !(place_printf_buffer(kernel, kernarg) && clear_printf_buffer())) {
    return false;
  }
  if (cooperation == Cooperation::none) return true;
  const auto at = hidden_pointer(kernel, "hidden_multigrid_sync_arg", kernarg);
  return !at || place_sync(cooperation, shape, *at, kernarg);
}

void print_buffer(const binpatch::CodeObject& object, const binpatch::Kernel& kernel) {
  if (std::ranges::find(kernel.arguments, kPrintfBuffer, &binpatch::KernelArgument::value_kind) ==
      kernel.arguments.end()) {
    return;
  }
  const auto& formats = object.printf_formats();
  if (are_formats_of_hip(formats)) {
    const std::string text = render_buffer(formats, printed_records(), read_device_string);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::vector<PrintfFormat> of_opencl;
  for (const std::string& text : formats) {
    if (auto format = parse_printf_format(text)) of_opencl.push_back(std::move(*format));
  }
  print_records(of_opencl);
}

std::uint64_t serve_heap(std::uint64_t address, std::uint64_t bytes) {
  auto& blocks = heaps().blocks;
  if (address == 0) {
    const auto made = device().allocate(bytes, kSlabBytes);
    if (!made) return 0;
    blocks[*made] = device().selected_device();
    return *made;
  }
  if (blocks.erase(address) == 0 || !device().release(address)) {
    print_line(fmt::format("HIP: a kernel frees {:#x}, which malloc did not give it", address));
  }
  return 0;
}

std::uint64_t& heap_limit() {
  return heaps().limit;
}

void reset_heap(int ordinal) {
  if (const auto found = heaps().management.find(ordinal); found != heaps().management.end()) {
    static_cast<void>(device().release(found->second));
    heaps().management.erase(found);
  }
  std::erase_if(heaps().blocks, [ordinal](const auto& block) {
    return block.second == ordinal && device().release(block.first).has_value();
  });
}

}  // namespace ww::sim::driver::hip
