// The caches of a chip's shader arrays (GL1): read-only, between the L1s of an array and the L2, in
// lines of 128 bytes, least recent first out. A line keeps the bytes that it had when it came, so
// that a program sees them, as on a card, where another array has written to the line since.
//
// Loads whose bits ask for it (RDNA 2: DLC; RDNA 3: GLC; LLVM, "Memory Model GFX10-GFX11"), stores
// and atomics bypass it and throw the line out; a chip's `gl1_ignores_bits` makes loads stay in it.
// Each launch begins with empty caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "machine/compute_unit/l1_cache.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

class Gl1Caches {
 public:
  explicit Gl1Caches(const Architecture& architecture)
      : hit_cycles_(architecture.gl1_hit_cycles),
        bytes_per_clock_(architecture.gl1_bytes_per_clock) {
    if (architecture.gl1_bytes == 0) return;
    for (int array = 0; array < architecture.shader_engines; ++array) {
      L1Cache tags(architecture.gl1_bytes, architecture.gl1_ways, kLine);
      const std::size_t bytes = std::size_t{tags.slots()} * kLine;
      arrays_.push_back({std::move(tags), std::vector<std::byte>(bytes), 0});
    }
  }

  [[nodiscard]] bool any() const { return !arrays_.empty(); }
  void begin_launch() {
    for (Array& array : arrays_) {
      array.tags.invalidate_all();
      array.free = 0;
    }
  }
  void empty(std::uint32_t array) { arrays_[array].tags.invalidate_all(); }

  // When the data of `pairs` aligned pairs of lines of 64 bytes, the first of which is line 2 *
  // `pair`, are at the compute unit that asked at `departure`; nothing where the array lacks one.
  std::optional<std::int64_t> read(std::uint32_t array, std::uint32_t pair, unsigned pairs,
                                   std::int64_t departure) {
    L1Cache& tags = arrays_[array].tags;
    std::int64_t ready = 0;
    for (unsigned i = 0; i < pairs; ++i) {
      const std::uint32_t slot = tags.find(pair + i);
      if (slot == L1Cache::kNone) return {};
      ready = std::max(ready, tags.ready(slot));
    }
    // Times of the port in bytes that it could have sent since the launch began.
    std::int64_t& free = arrays_[array].free;
    const std::int64_t begin = std::max(free, departure * bytes_per_clock_);
    free = begin + std::int64_t{pairs} * kLine;
    return std::max(begin / bytes_per_clock_ + hit_cycles_, ready);
  }
  // Enters the lines that were asked for at `departure` and come at `ready`.
  void keep(std::uint32_t array, std::uint32_t pair, unsigned pairs, std::int64_t departure,
            std::int64_t ready, const DeviceMemory& memory) {
    Array& own = arrays_[array];
    for (unsigned i = 0; i < pairs; ++i) {
      const L1Cache::Found found = own.tags.find_or_allocate(pair + i, departure);
      if (found.hit) continue;
      own.tags.filled(found.slot, pair + i, departure, ready);
      std::memcpy(&own.bytes[std::size_t{found.slot} * kLine],
                  memory.host(line_address(2 * (pair + i))), kLine);
    }
  }
  // The bytes of a line of 64 bytes that was read just now.
  [[nodiscard]] const std::byte* data(std::uint32_t array, std::uint32_t line) {
    Array& own = arrays_[array];
    const std::size_t slot = own.tags.find(line / 2);
    return &own.bytes[slot * kLine + line % 2 * kLineBytes];
  }
  void evict(std::uint32_t array, std::uint32_t pair, unsigned pairs) {
    for (unsigned i = 0; i < pairs; ++i) arrays_[array].tags.invalidate(pair + i);
  }

 private:
  static constexpr int kLine = 128;
  struct Array {
    L1Cache tags;
    std::vector<std::byte> bytes;  // by slot
    std::int64_t free{};
  };
  std::vector<Array> arrays_;
  std::int64_t hit_cycles_;
  std::int64_t bytes_per_clock_;
};

}  // namespace ww::sim::gpu::exec
