// How the bytes of a memory instruction and the lines of memory meet.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "machine/compute_unit/device_memory.hpp"
#include "machine/compute_unit/private_memory.hpp"
#include "machine/image/image_access.hpp"
#include "machine/isa/lane_table.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {

inline constexpr std::uint64_t kLineBytes = 64;

[[nodiscard]] inline std::uint64_t line_address(std::uint32_t line) {
  return kDeviceBase + std::uint64_t{line} * kLineBytes;
}

// Words of an element in MemoryOperation::data.
[[nodiscard]] inline std::size_t element_words(const MemoryOperation& operation) {
  return operation.element_bytes < 4 ? 1 : operation.element_bytes / 4U;
}

// Words of lanes in a row that are worth a look whether their addresses are in a row, too.
inline constexpr std::uint32_t kWorthARun = 8;

// Calls f(element bytes, host bytes, count) for each run of bytes of the operation in these lines.
template <class F>
void for_bytes_in_lines(MemoryOperation& operation, std::uint32_t line, unsigned lines,
                        std::uint64_t lanes, const DeviceMemory& memory, F&& f) {
  const std::uint64_t begin = line_address(line);
  const std::uint64_t end = begin + lines * kLineBytes;
  auto* const data = reinterpret_cast<std::byte*>(
      operation.into_registers ? operation.wave->vgpr(operation.destination) : operation.data());
  if (operation.contiguous && lanes == 0) {
    std::uint64_t low = operation.base;
    std::uint64_t high = operation.base + std::uint64_t{kLanes} * operation.element_bytes;
    if (operation.exec != ~std::uint64_t{0}) {
      const auto first = static_cast<unsigned>(std::countr_zero(operation.exec));
      const auto last = 64U - static_cast<unsigned>(std::countl_zero(operation.exec));
      low = operation.base + std::uint64_t{first} * operation.element_bytes;
      high = operation.base + std::uint64_t{last} * operation.element_bytes;
    }
    const std::uint64_t from = low > begin ? low : begin;
    const std::uint64_t to = high < end ? high : end;
    f(data + (from - operation.base), memory.host(from), to - from);
    return;
  }
  const std::uint64_t bytes = operation.element_bytes;
  const std::size_t stride = element_words(operation) * 4;
  if (operation.spread && operation.image) [[unlikely]] {
    TapSet& taps = operation.bytes->image->taps;
    for (std::uint64_t set = lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      for_taps(taps, lane, [&](std::size_t tap) {  // texels lie within a line
        const std::uint64_t address = taps.address[tap][lane];
        if (address < begin || address >= end) return;
        auto* const texels = reinterpret_cast<std::byte*>(taps.data[tap]);
        f(texels + lane * stride, memory.host(address), bytes);
      });
    }
    return;
  }
  if (operation.spread) [[unlikely]] {
    for (std::uint64_t set = lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      for_pieces(operation, lane,
                 [&](std::uint64_t at, std::uint64_t address, std::uint64_t count) {
                   const std::uint64_t from = address > begin ? address : begin;
                   const std::uint64_t to = address + count < end ? address + count : end;
                   if (from < to)
                     f(data + lane * stride + at + (from - address), memory.host(from), to - from);
                 });
    }
    return;
  }
  const auto for_lanes = [&](auto&& each) {
    for (std::uint64_t set = lanes; set != 0; set &= set - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(set));
      each(data + lane * stride, operation.address()[lane]);
    }
  };
  const auto part = [&](std::byte* element, std::uint64_t address) {
    const std::uint64_t from = address > begin ? address : begin;
    const std::uint64_t to = address + bytes < end ? address + bytes : end;
    f(element + (from - address), memory.host(from), to - from);
  };
  // Aligned elements of a size that is a power of two: moves of a known size.
  const auto of_size = [&](auto size) {
    for_lanes([&](std::byte* element, std::uint64_t address) {
      if (address % size != 0) [[unlikely]] {
        part(element, address);
      } else {
        f(element, memory.host(address), std::uint64_t{size});
      }
    });
  };
  if (bytes == sizeof(std::uint32_t)) {  // most often
    // A row of a block of work-items is as good as one large element. Without lanes there is none.
    const auto first = static_cast<unsigned>(std::countr_zero(lanes)) % kLanes;
    const std::uint64_t from_first = lanes >> first;
    const auto count = static_cast<std::uint32_t>(std::countr_one(from_first));
    const std::uint64_t* const address = operation.address() + first;
    if (count >= kWorthARun && (from_first & (from_first + 1)) == 0 &&
        *address % sizeof(std::uint32_t) == 0 &&
        exec::lanes().follow_one_another(address, count, sizeof(std::uint32_t))) {
      f(data + first * stride, memory.host(*address), count * sizeof(std::uint32_t));
      return;
    }
    of_size(std::integral_constant<std::uint64_t, 4>());
    return;
  }
  switch (bytes) {
    case 1: of_size(std::integral_constant<std::uint64_t, 1>()); return;
    case 2: of_size(std::integral_constant<std::uint64_t, 2>()); return;
    case 8: of_size(std::integral_constant<std::uint64_t, 8>()); return;
    case 16: of_size(std::integral_constant<std::uint64_t, 16>()); return;
    default: for_lanes(part);
  }
}

// Several threads may do it for different lines of an operation.
inline void load_lines(MemoryOperation& operation, std::uint32_t line, unsigned lines,
                       std::uint64_t lanes, const DeviceMemory& memory) {
  std::atomic_ref(operation.begun).store(true, std::memory_order_relaxed);
  if (lanes == 0 && operation.contiguous &&
      operation.exec == ~std::uint64_t{0}) {  // the common case: lane after lane
    const std::uint64_t first = line_address(line);
    if (operation.base <= first &&
        first + lines * kLineBytes <=
            operation.base + std::uint64_t{kLanes} * operation.element_bytes) {
      auto* target = reinterpret_cast<std::byte*>(operation.into_registers
                                                      ? operation.wave->vgpr(operation.destination)
                                                      : operation.data()) +
                     (first - operation.base);
      exec::lanes().copy_lines(target, memory.host(first), lines);
      return;
    }
  }
  for_bytes_in_lines(operation, line, lines, lanes, memory,
                     [](std::byte* element, const std::byte* host, std::uint64_t count) {
                       if (count == 4 * kLineBytes) {  // known sizes become a few moves
                         std::memcpy(element, host, 4 * kLineBytes);
                       } else if (count == kLineBytes) {
                         std::memcpy(element, host, kLineBytes);
                       } else {
                         std::memcpy(element, host, count);
                       }
                     });
}

// Loads one line's bytes from `delivered` instead of memory.
inline void load_delivered(MemoryOperation& operation, std::uint32_t line, std::uint64_t lanes,
                           const DeviceMemory& memory, const std::byte* delivered) {
  operation.begun = true;
  const std::byte* const begin = memory.host(line_address(line));
  for_bytes_in_lines(operation, line, 1, lanes, memory,
                     [&](std::byte* element, const std::byte* host, std::uint64_t count) {
                       std::memcpy(element, delivered + (host - begin), count);
                     });
}

// One lane's atomic on host memory; returns the old value. `operand` and `compare` as the
// instruction's data registers give them; 4 or 8 bytes.
std::uint64_t atomic_update(AtomicOp op, std::byte* place, int bytes, std::uint64_t operand,
                            std::uint64_t compare);

}  // namespace ww::sim::gpu::exec
