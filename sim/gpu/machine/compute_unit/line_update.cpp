#include "machine/compute_unit/line_update.hpp"

#include <iterator>

namespace ww::sim::gpu::exec {
namespace {

// Returns how many elements a lane's operands are.
std::size_t operands_of(const MemoryOperation& operation) {
  const bool two = operation.atomic == AtomicOp::cmpswap || operation.atomic == AtomicOp::fcmpswap;
  return two ? 2 : 1;
}

// Copies `bytes` of each lane's words, which are `stride` apart.
std::size_t gather(const std::uint32_t* words, std::size_t stride, std::size_t bytes,
                   std::uint64_t lanes, std::byte* out) {
  std::size_t size = 0;
  for (std::uint64_t set = lanes; set != 0; set &= set - 1, size += bytes) {
    std::memcpy(out + size, words + static_cast<std::size_t>(std::countr_zero(set)) * stride,
                bytes);
  }
  return size;
}

template <class Word>
AtomicUpdate update_words(MemoryOperation& operation, std::uint64_t lanes,
                          const DeviceMemory& memory) {
  const std::size_t words = element_words(operation);
  AtomicUpdate update;
  const bool two = operands_of(operation) == 2;
  for (std::uint64_t set = lanes; set != 0; set &= set - 1, ++update.served) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    const std::uint64_t address = operation.address()[lane];
    std::byte* const place = memory.host(address);
    const std::uint32_t* const data = operation.data() + lane * words * (two ? 2 : 1);
    Word operand = 0;
    Word compare = 0;
    std::memcpy(&operand, data, sizeof operand);
    if (two) std::memcpy(&compare, data + words, sizeof compare);
    const auto old =
        static_cast<Word>(atomic_update(operation.atomic, place, sizeof(Word), operand, compare));
    Word now = 0;
    std::memcpy(&now, place, sizeof now);
    update.line.changed |= now != old;
    std::memcpy(operation.old() + lane * words, &old, sizeof old);
    if (update.words + words <= std::size(update.operands)) {
      std::memcpy(update.operands + update.words, &operand, sizeof operand);
      std::memcpy(update.old_values + update.words, &old, sizeof old);
      update.words += words;
    }
    update.line.written |= bytes_at(address % kLineBytes, sizeof(Word));
  }
  return update;
}

}  // namespace

std::size_t stored_bytes(MemoryOperation& operation, std::uint32_t line, std::uint64_t lanes,
                         const DeviceMemory& memory, std::byte* out) {
  std::byte image[kLineBytes];
  std::uint64_t written = 0;
  const std::byte* const begin = memory.host(line_address(line));
  for_bytes_in_lines(operation, line, 1, lanes, memory,
                     [&](const std::byte* element, const std::byte* host, std::uint64_t count) {
                       const auto at = static_cast<unsigned>(host - begin);
                       std::memcpy(image + at, element, count);
                       written |= bytes_at(at, count);
                     });
  return pack_line(image, written, out);
}

std::size_t atomic_operands(const MemoryOperation& operation, std::uint64_t lanes, std::byte* out) {
  const std::size_t count = operands_of(operation);
  return gather(operation.data(), count * element_words(operation), count * operation.element_bytes,
                lanes, out);
}

std::size_t old_values(const MemoryOperation& operation, std::uint64_t lanes, std::byte* out) {
  return gather(operation.old(), element_words(operation), operation.element_bytes, lanes, out);
}

AtomicUpdate update_line(MemoryOperation& operation, std::uint64_t lanes,
                         const DeviceMemory& memory) {
  return operation.element_bytes == sizeof(std::uint64_t)
             ? update_words<std::uint64_t>(operation, lanes, memory)
             : update_words<std::uint32_t>(operation, lanes, memory);
}

}  // namespace ww::sim::gpu::exec
