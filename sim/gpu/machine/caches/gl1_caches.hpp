// The caches of a chip's shader arrays (GL1): read-only, between the L1s of an array and the L2, in
// lines of 128 bytes, least recent first out. Tags only: data always comes from device memory, so
// that no program sees a line that another array has written since, as it could on a card.
//
// Loads whose bits ask for it (RDNA 2: DLC; RDNA 3: GLC; LLVM, "Memory Model GFX10-GFX11"), stores
// and atomics bypass it and throw the line out. Each launch begins with empty caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/compute_unit/l1_cache.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::sim::gpu::exec {

class Gl1Caches {
 public:
  explicit Gl1Caches(const Architecture& architecture)
      : hit_cycles_(architecture.gl1_hit_cycles),
        bytes_per_clock_(architecture.gl1_bytes_per_clock) {
    if (architecture.gl1_bytes == 0) return;
    for (int array = 0; array < architecture.shader_engines; ++array) {
      arrays_.push_back({L1Cache(architecture.gl1_bytes, architecture.gl1_ways, kLine), 0});
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
            std::int64_t ready) {
    L1Cache& tags = arrays_[array].tags;
    for (unsigned i = 0; i < pairs; ++i) {
      const L1Cache::Found found = tags.find_or_allocate(pair + i, departure);
      if (!found.hit) tags.filled(found.slot, pair + i, departure, ready);
    }
  }
  void evict(std::uint32_t array, std::uint32_t pair, unsigned pairs) {
    for (unsigned i = 0; i < pairs; ++i) arrays_[array].tags.invalidate(pair + i);
  }

 private:
  static constexpr int kLine = 128;
  struct Array {
    L1Cache tags;
    std::int64_t free{};
  };
  std::vector<Array> arrays_;
  std::int64_t hit_cycles_;
  std::int64_t bytes_per_clock_;
};

}  // namespace ww::sim::gpu::exec
