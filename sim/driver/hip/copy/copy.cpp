// Copies and fills.
#include <algorithm>
#include <cstring>
#include <vector>

#include "common/runtime/chip_time.hpp"
#include "hip/memory/array_table.hpp"
#include "hip/memory/memory_table.hpp"
#include "hip/memory/registered_host.hpp"
#include "hip/module/module.hpp"
#include "hip/session/device_pointer.hpp"
#include "hip/stream/stream.hpp"
#include "hip/stream/work.hpp"

namespace ww::sim::driver::hip {
namespace {

std::uint64_t address(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

bool on_device(const void* pointer) {
  return device().is_device_address(address(pointer));
}

// The host's address of bytes on either side; null where they are not inside one allocation, or
// leave memory that was registered.
std::byte* host_side(const void* pointer, std::size_t bytes) {
  if (!on_device(pointer)) {
    const auto range = find_registered(address(pointer));
    if (range && bytes > range->address + range->bytes - address(pointer)) return nullptr;
    return static_cast<std::byte*>(const_cast<void*>(pointer));
  }
  if (std::byte* host = host_behind_twin(address(pointer), bytes)) return host;
  const auto place = device().host_pointer(address(pointer), bytes);
  return place ? *place : nullptr;
}

// Returns the host's side of bytes that are to be written: null, too, where the program has made
// the memory read-only.
std::byte* host_side_to_write(const void* pointer, std::size_t bytes) {
  if (on_device(pointer)) {
    const auto found = find_allocation(address(pointer));
    if (found && found->kind == MemoryKind::mapped && found->flags == kAccessRead) return nullptr;
  }
  return host_side(pointer, bytes);
}

// Whether the bytes begin inside an allocation and end behind it.
bool exceeds_allocation(const void* pointer, std::size_t bytes) {
  const auto found = find_allocation(address(pointer));
  return found && bytes > found->address + found->bytes - address(pointer);
}

int check_ordinals(int to, int from) {
  return guarded(
      [&]() -> int { return is_ordinal(to) && is_ordinal(from) ? kSuccess : kInvalidDevice; });
}

// Whether HIP knows memory there: it is the chip's, or was registered.
bool is_known(const void* pointer) {
  return on_device(pointer) || find_registered(address(pointer)).has_value();
}

int check_kind(const void* to, const void* from, int kind) {
  if ((kind < kHostToHost || kind > kDefaultKind) && kind != kDeviceToDeviceNoCu) {
    return kInvalidMemcpyDirection;
  }
  return to == nullptr || from == nullptr ? kInvalidValue : kSuccess;
}

// In copies of plain bytes AMD's library believes the addresses, and not the kind, unless it knows
// neither side.
int check_sides(const void* to, const void* from, int kind) {
  if (const int bad = check_kind(to, from, kind); bad != kSuccess) return bad;
  if (kind == kHostToHost || kind == kDefaultKind) return kSuccess;
  return is_known(to) || is_known(from) ? kSuccess : kInvalidValue;
}

// In copies that a graph notes the kind has to name the side that is the host's.
int check_noted_sides(const void* to, const void* from, int kind) {
  if (const int bad = check_sides(to, from, kind); bad != kSuccess) return bad;
  if (kind == kDefaultKind || is_known(to) == is_known(from)) return kSuccess;
  return kind == (is_known(to) ? kHostToDevice : kDeviceToHost) ? kSuccess : kInvalidValue;
}

// In copies of rows AMD's library believes the kind where that names a device.
int check_sides_of_rows(const void* to, const void* from, int kind) {
  if (const int bad = check_kind(to, from, kind); bad != kSuccess) return bad;
  if (kind == kHostToHost || kind == kDefaultKind) return kSuccess;
  const bool good =
      (kind == kDeviceToHost || is_known(to)) && (kind == kHostToDevice || is_known(from));
  return good ? kSuccess : kInvalidValue;
}

int copy_bytes(void* to, const void* from, std::size_t bytes) {
  std::byte* target = host_side_to_write(to, bytes);
  const std::byte* source = host_side(from, bytes);
  if (target == nullptr || source == nullptr) return kInvalidValue;
  if (std::memcmp(target, source, bytes) == 0) return kSuccess;  // so that launches can be replayed
  std::memmove(target, source, bytes);
  if (on_device(to)) device().host_wrote();
  return kSuccess;
}

// The time that a copy takes passes on the chip; copies within the host take none of it.
void charge_copy(const void* to, const void* from, std::size_t bytes) {
  Timing timing{};
  if (on_device(to) && on_device(from)) {
    charge(timing, device_transfer_ns(bytes));
  } else if (on_device(to) || on_device(from)) {
    charge(timing, host_transfer_ns(bytes));
  }
}

int copy(void* to, const void* from, std::size_t bytes, int kind) {
  if (bytes == 0) return kSuccess;
  if (const int bad = check_sides(to, from, kind); bad != kSuccess) return bad;
  if (const int bad = copy_bytes(to, from, bytes); bad != kSuccess) return bad;
  charge_copy(to, from, bytes);
  return kSuccess;
}

int copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
              std::size_t width, std::size_t rows, int kind) {
  if (width == 0 || rows == 0) return kSuccess;
  if (width > to_pitch || width > from_pitch) return kInvalidPitchValue;
  if (const int bad = check_sides_of_rows(to, from, kind); bad != kSuccess) return bad;
  // Checks that both sides have every row before it copies the first one.
  if (rows - 1 > (SIZE_MAX - width) / std::max(to_pitch, from_pitch)) return kInvalidValue;
  if (host_side_to_write(to, (rows - 1) * to_pitch + width) == nullptr ||
      host_side(from, (rows - 1) * from_pitch + width) == nullptr) {
    return kInvalidValue;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    static_cast<void>(copy_bytes(static_cast<std::byte*>(to) + row * to_pitch,
                                 static_cast<const std::byte*>(from) + row * from_pitch, width));
  }
  charge_copy(to, from, width * rows);
  return kSuccess;
}

template <class Word>
int fill(void* to, Word value, std::size_t count) {
  if (count == 0) return kSuccess;
  if (to == nullptr || count > SIZE_MAX / sizeof(Word) || address(to) % sizeof(Word) != 0) {
    return kInvalidValue;
  }
  const std::size_t bytes = count * sizeof(Word);
  std::byte* host = host_behind_twin(address(to), bytes);
  if (!on_device(to)) {
    const auto range = find_registered(address(to));
    if (!range || bytes > range->address + range->bytes - address(to)) return kInvalidValue;
    host = static_cast<std::byte*>(to);
  }
  if (host != nullptr) {
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(host + i * sizeof value, &value, sizeof value);
    return kSuccess;
  }
  if (host_side_to_write(to, bytes) == nullptr ||
      !device().fill(address(to), bytes, std::as_bytes(std::span<const Word, 1>(&value, 1)))) {
    return kInvalidValue;
  }
  Timing timing{};
  charge(timing, device_transfer_ns(bytes));
  return kSuccess;
}

int fill_rows(void* to, std::size_t pitch, int value, std::size_t width, std::size_t rows) {
  if (width == 0 || rows == 0) return kSuccess;
  if (to == nullptr || width > pitch || rows - 1 > (SIZE_MAX - width) / pitch) return kInvalidValue;
  if (!is_known(to) || host_side_to_write(to, (rows - 1) * pitch + width) == nullptr) {
    return kInvalidValue;
  }
  const std::vector<std::byte> row(width, static_cast<std::byte>(value));
  for (std::size_t i = 0; i < rows; ++i) {
    static_cast<void>(copy_bytes(static_cast<std::byte*>(to) + i * pitch, row.data(), width));
  }
  Timing timing{};
  charge(timing, device_transfer_ns(width * rows));
  return kSuccess;
}

// Copies to or from a variable of the program: `run` gets its place on the device.
template <class Run>
int with_symbol(const void* symbol, std::size_t bytes, std::size_t offset, Run&& run) {
  const auto variable = variable_of_symbol(symbol);
  if (!variable) return variable.error();
  if (offset > variable->size || bytes > variable->size - offset) return kInvalidValue;
  return run(device_pointer(variable->address + offset));
}

int copy_to_symbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                   int kind) {
  if (kind != kHostToDevice && kind != kDeviceToDevice && kind != kDefaultKind) {
    return kInvalidMemcpyDirection;
  }
  return with_symbol(symbol, bytes, offset,
                     [&](void* place) { return copy(place, from, bytes, kind); });
}

int copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                     int kind) {
  if (kind != kDeviceToHost && kind != kDeviceToDevice && kind != kDefaultKind) {
    return kInvalidMemcpyDirection;
  }
  return with_symbol(symbol, bytes, offset,
                     [&](void* place) { return copy(to, place, bytes, kind); });
}

// A call that names a stream.
template <class Body>
int copy_on(void* stream, Body&& body, NodeKind kind = NodeKind::copy) {
  return guarded_work([&] { return submit(stream, kind, std::forward<Body>(body)); });
}
template <class Body>
int fill_on(void* stream, Body&& body) {
  return guarded_work([&] { return submit(stream, NodeKind::fill, std::forward<Body>(body)); });
}

// Rows as a copy of a box, and elements as a fill of rows.
Memcpy3dParameters box_of_rows(void* to, std::size_t to_pitch, const void* from,
                               std::size_t from_pitch, std::size_t width, std::size_t rows,
                               int kind) {
  Memcpy3dParameters box{};
  box.from = {const_cast<void*>(from), from_pitch, width, rows};
  box.to = {to, to_pitch, width, rows};
  box.extent = {width, rows, 1};
  box.kind = kind;
  return box;
}
template <class Word>
int fill_elements_on(void* stream, void* to, Word value, std::size_t count) {
  return guarded_work([&] {
    return submit(
        stream, NodeKind::fill, [=] { return fill(to, value, count); },
        MemsetParameters{to, unsigned{sizeof value}, 1, count * sizeof value,
                         static_cast<unsigned>(value), count});
  });
}

std::byte* place_of(const PitchedPointer& memory, const Position& at) {
  return static_cast<std::byte*>(memory.pointer) + (at.z * memory.height + at.y) * memory.pitch +
         at.x;
}

// Whether a box between memory without arrays lies inside what its two sides say of themselves.
int check_box(const Memcpy3dParameters& box) {
  const auto& [width, height, depth] = box.extent;
  for (const auto& [memory, at] :
       {std::pair{box.from, box.from_at}, std::pair{box.to, box.to_at}}) {
    // Slices lie `height` rows apart, unless there is one alone.
    const std::size_t rows = depth > 1 || at.z > 0 ? memory.height : at.y + height;
    if (memory.pointer == nullptr || at.x > memory.pitch || width > memory.pitch - at.x) {
      return kInvalidValue;
    }
    if (at.y > rows || height > rows - at.y || at.z > SIZE_MAX - depth) return kInvalidValue;
    if (rows > SIZE_MAX / memory.pitch || at.z + depth > SIZE_MAX / (rows * memory.pitch)) {
      return kInvalidValue;
    }
  }
  return kSuccess;
}

// A box of bytes between memory without arrays, slice by slice.
int copy_box(const Memcpy3dParameters& box) {
  const auto& [width, height, depth] = box.extent;
  if (width == 0 || height == 0 || depth == 0) return kSuccess;
  if (const int bad = check_box(box); bad != kSuccess) return bad;
  for (std::size_t z = 0; z < depth; ++z) {
    const Position to_at{box.to_at.x, box.to_at.y, box.to_at.z + z};
    const Position from_at{box.from_at.x, box.from_at.y, box.from_at.z + z};
    const int code = copy_rows(place_of(box.to, to_at), box.to.pitch, place_of(box.from, from_at),
                               box.from.pitch, width, height, box.kind);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

// Checks a copy that is only noted, with what is known of the memory now.
int check_noted_box(const Memcpy3dParameters& box) {
  if (const int bad = check_sides_of_rows(box.to.pointer, box.from.pointer, box.kind);
      bad != kSuccess) {
    return bad;
  }
  const auto& [width, height, depth] = box.extent;
  if (width == 0 || height == 0 || depth == 0) return kSuccess;
  if (width > box.to.pitch || width > box.from.pitch) return kInvalidPitchValue;
  if (const int bad = check_box(box); bad != kSuccess) return bad;
  for (const auto& [memory, at] :
       {std::pair{box.from, box.from_at}, std::pair{box.to, box.to_at}}) {
    const std::byte* const first = place_of(memory, at);
    const std::byte* const last =
        place_of(memory, {at.x, at.y + height - 1, at.z + depth - 1}) + width;
    if (exceeds_allocation(first, static_cast<std::size_t>(last - first))) return kInvalidValue;
  }
  return kSuccess;
}

int fill_box(const PitchedPointer& memory, int value, const Extent& extent) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return kSuccess;
  if (memory.pointer == nullptr || extent.height > memory.height) return kInvalidValue;
  if (memory.height > SIZE_MAX / extent.depth / std::max<std::size_t>(memory.pitch, 1)) {
    return kInvalidValue;
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const int code =
        fill_rows(place_of(memory, {0, 0, z}), memory.pitch, value, extent.width, extent.height);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

// A memset node's elements have 1, 2 or 4 bytes.
int fill_elements(const MemsetParameters& memset) {
  for (std::size_t row = 0; row < memset.height; ++row) {
    void* to = static_cast<std::byte*>(memset.to) + row * memset.pitch;
    int code = kInvalidValue;
    if (memset.element_bytes == 1) {
      code = fill(to, static_cast<std::uint8_t>(memset.value), memset.width);
    } else if (memset.element_bytes == 2) {
      code = fill(to, static_cast<std::uint16_t>(memset.value), memset.width);
    } else if (memset.element_bytes == 4) {
      code = fill(to, std::uint32_t{memset.value}, memset.width);
    }
    if (code != kSuccess) return code;
  }
  return kSuccess;
}

}  // namespace

tl::expected<NodeWork, int> copy_work(void* to, const void* from, std::size_t bytes, int kind) {
  if (const int bad = check_noted_sides(to, from, kind); bad != kSuccess) {
    return tl::unexpected<int>(bad);
  }
  if (exceeds_allocation(to, bytes) || exceeds_allocation(from, bytes)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return NodeWork{[=] { return copy(to, from, bytes, kind); },
                  box_of_rows(to, bytes, from, bytes, bytes, 1, kind), nullptr};
}
tl::expected<NodeWork, int> copy_work(const Memcpy3dParameters& parameters) {
  auto box = without_arrays(parameters);
  if (!box) return tl::unexpected<int>(box.error());
  if (const int bad = check_noted_box(*box); bad != kSuccess) return tl::unexpected<int>(bad);
  return NodeWork{[box = *box] { return copy_box(box); }, parameters, nullptr};
}
tl::expected<NodeWork, int> copy_to_symbol_work(const void* symbol, const void* from,
                                                std::size_t bytes, std::size_t offset, int kind) {
  const int bad = with_symbol(symbol, bytes, offset, [&](const void* place) {
    return check_noted_sides(place, from, kind);
  });
  if (bad != kSuccess) return tl::unexpected<int>(bad);
  return NodeWork{[=] { return copy_to_symbol(symbol, from, bytes, offset, kind); },
                  SymbolCopy{kind}, nullptr};
}
tl::expected<NodeWork, int> copy_from_symbol_work(void* to, const void* symbol, std::size_t bytes,
                                                  std::size_t offset, int kind) {
  const int bad = with_symbol(
      symbol, bytes, offset, [&](const void* place) { return check_noted_sides(to, place, kind); });
  if (bad != kSuccess) return tl::unexpected<int>(bad);
  return NodeWork{[=] { return copy_from_symbol(to, symbol, bytes, offset, kind); },
                  SymbolCopy{kind}, nullptr};
}
tl::expected<NodeWork, int> fill_work(const MemsetParameters& parameters) {
  const auto& [to, bytes, height, pitch, value, width] = parameters;
  if (to == nullptr || (bytes != 1 && bytes != 2 && bytes != 4)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  if (width == 0 || height == 0 || width > SIZE_MAX / bytes) {
    return tl::unexpected<int>(kInvalidValue);
  }
  if (height > 1 && (pitch < width * bytes || height - 1 > (SIZE_MAX - width * bytes) / pitch)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  if (exceeds_allocation(to, (height - 1) * pitch + width * bytes)) {
    return tl::unexpected<int>(kInvalidValue);
  }
  return NodeWork{[=] { return fill_elements(parameters); }, parameters, nullptr};
}

WW_HIP_EXPORT int hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return copy_on(nullptr, [=] { return copy(to, from, bytes, kind); });
}
WW_HIP_EXPORT int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                 void* stream) {
  return guarded_work([&] {
    return submit(
        stream, NodeKind::copy, [=] { return copy(to, from, bytes, kind); },
        box_of_rows(to, bytes, from, bytes, bytes, 1, kind));
  });
}
WW_HIP_EXPORT int hipMemcpyWithStream(void* to, const void* from, std::size_t bytes, int kind,
                                      void* stream) {
  return hipMemcpyAsync(to, from, bytes, kind, stream);
}
WW_HIP_EXPORT int hipMemcpyHtoD(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, kHostToDevice);
}
WW_HIP_EXPORT int hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, kDeviceToHost);
}
WW_HIP_EXPORT int hipMemcpyDtoD(void* to, void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, kDeviceToDevice);
}
WW_HIP_EXPORT int hipMemcpyHtoDAsync(void* to, void* from, std::size_t bytes, void* stream) {
  return hipMemcpyAsync(to, from, bytes, kHostToDevice, stream);
}
WW_HIP_EXPORT int hipMemcpyDtoHAsync(void* to, void* from, std::size_t bytes, void* stream) {
  return hipMemcpyAsync(to, from, bytes, kDeviceToHost, stream);
}
WW_HIP_EXPORT int hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes, void* stream) {
  return hipMemcpyAsync(to, from, bytes, kDeviceToDevice, stream);
}
WW_HIP_EXPORT int hipMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                std::size_t bytes) {
  if (const int bad = check_ordinals(to_device, from_device); bad != kSuccess) return bad;
  return hipMemcpy(to, from, bytes, kDeviceToDevice);
}
WW_HIP_EXPORT int hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                     std::size_t bytes, void* stream) {
  if (const int bad = check_ordinals(to_device, from_device); bad != kSuccess) return bad;
  return hipMemcpyAsync(to, from, bytes, kDeviceToDevice, stream);
}
WW_HIP_EXPORT int hipMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              int kind) {
  return copy_on(nullptr,
                 [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
}
WW_HIP_EXPORT int hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   int kind, void* stream) {
  return guarded_work([&] {
    return submit(
        stream, NodeKind::copy,
        [=] { return copy_rows(to, to_pitch, from, from_pitch, width, height, kind); },
        box_of_rows(to, to_pitch, from, from_pitch, width, height, kind));
  });
}
WW_HIP_EXPORT int hipMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, int kind) {
  return copy_on(nullptr, [=] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}
WW_HIP_EXPORT int hipMemcpyToSymbolAsync(const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, int kind, void* stream) {
  return copy_on(
      stream, [=] { return copy_to_symbol(symbol, from, bytes, offset, kind); },
      NodeKind::copy_to_symbol);
}
WW_HIP_EXPORT int hipMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, int kind) {
  return copy_on(nullptr, [=] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}
WW_HIP_EXPORT int hipMemcpyFromSymbolAsync(void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, int kind, void* stream) {
  return copy_on(
      stream, [=] { return copy_from_symbol(to, symbol, bytes, offset, kind); },
      NodeKind::copy_from_symbol);
}
WW_HIP_EXPORT int hipGetSymbolAddress(void** pointer, const void* symbol) {
  return guarded([&]() -> int {
    if (pointer == nullptr) return kInvalidValue;
    return with_symbol(symbol, 0, 0, [&](void* place) {
      *pointer = place;
      return int{kSuccess};
    });
  });
}
WW_HIP_EXPORT int hipGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return guarded([&]() -> int {
    if (bytes == nullptr) return kInvalidValue;
    const auto variable = variable_of_symbol(symbol);
    if (!variable) return variable.error();
    *bytes = variable->size;
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipMemcpy3DAsync(const Memcpy3dParameters* parameters, void* stream) {
  return guarded_work([&]() -> int {
    if (parameters == nullptr) return kInvalidValue;
    auto box = without_arrays(*parameters);
    if (!box) return box.error();
    return submit(
        stream, NodeKind::copy, [box = *box] { return copy_box(box); }, *parameters);
  });
}
WW_HIP_EXPORT int hipMemcpy3D(const Memcpy3dParameters* parameters) {
  return hipMemcpy3DAsync(parameters, nullptr);
}
WW_HIP_EXPORT int hipMemset3D(PitchedPointer memory, int value, Extent extent) {
  return fill_on(nullptr, [=] { return fill_box(memory, value, extent); });
}
WW_HIP_EXPORT int hipMemset3DAsync(PitchedPointer memory, int value, Extent extent, void* stream) {
  return fill_on(stream, [=] { return fill_box(memory, value, extent); });
}

WW_HIP_EXPORT int hipMemset(void* to, int value, std::size_t bytes) {
  return fill_on(nullptr, [=] { return fill(to, static_cast<std::uint8_t>(value), bytes); });
}
WW_HIP_EXPORT int hipMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  return fill_elements_on(stream, to, static_cast<std::uint8_t>(value), bytes);
}
WW_HIP_EXPORT int hipMemsetD8(void* to, unsigned char value, std::size_t count) {
  return fill_on(nullptr, [=] { return fill(to, value, count); });
}
WW_HIP_EXPORT int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, void* stream) {
  return fill_elements_on(stream, to, value, count);
}
WW_HIP_EXPORT int hipMemsetD16(void* to, unsigned short value, std::size_t count) {
  return fill_on(nullptr, [=] { return fill(to, value, count); });
}
WW_HIP_EXPORT int hipMemsetD16Async(void* to, unsigned short value, std::size_t count,
                                    void* stream) {
  return fill_elements_on(stream, to, value, count);
}
WW_HIP_EXPORT int hipMemsetD32(void* to, int value, std::size_t count) {
  return fill_on(nullptr, [=] { return fill(to, value, count); });
}
WW_HIP_EXPORT int hipMemsetD32Async(void* to, int value, std::size_t count, void* stream) {
  return fill_elements_on(stream, to, value, count);
}
WW_HIP_EXPORT int hipMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
  return fill_on(nullptr, [=] { return fill_rows(to, pitch, value, width, height); });
}
WW_HIP_EXPORT int hipMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height, void* stream) {
  return guarded_work([&] {
    return submit(
        stream, NodeKind::fill, [=] { return fill_rows(to, pitch, value, width, height); },
        MemsetParameters{to, 1, height, pitch, static_cast<std::uint8_t>(value), width});
  });
}

}  // namespace ww::sim::driver::hip
