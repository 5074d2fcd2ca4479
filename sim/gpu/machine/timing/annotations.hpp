// Records which lines of device memory hold approximable data: what programs declare of buffers.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::gpu::timing {

struct Annotation {
  net::WordType type{};
  float threshold{};  // below 0: the program says none
};

class Annotations {
 public:
  // A buffer's bytes; instead of what was said of any of them before. WordType::exact takes it
  // back.
  void set(std::uint64_t address, std::uint64_t bytes, Annotation annotation) {
    forget(address, bytes);
    if (annotation.type != net::WordType::exact) ranges_[address] = {address + bytes, annotation};
  }
  // Forgets all annotations that overlap these bytes.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    latest_ = {};
    auto range = ranges_.upper_bound(address);
    if (range != ranges_.begin() && std::prev(range)->second.end > address) --range;
    while (range != ranges_.end() && range->first < address + bytes) range = ranges_.erase(range);
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  // Returns the annotation of the 64 bytes from `line` on, if all their variables are approximable:
  // a buffer's last line may reach beyond it, where nothing lies. Null where they are not.
  [[nodiscard]] const Annotation* find(std::uint64_t line) {
    if (line >= latest_.begin && line < latest_.end) return latest_.annotation;
    auto after = ranges_.upper_bound(line);
    if (after == ranges_.begin()) return nullptr;
    const auto& [begin, range] = *std::prev(after);
    if (line >= range.end) return nullptr;
    latest_ = {begin, range.end, &range.annotation};
    return latest_.annotation;
  }

 private:
  struct Range {
    std::uint64_t end{};
    Annotation annotation;
  };
  struct Latest {
    std::uint64_t begin{};
    std::uint64_t end{};
    const Annotation* annotation{};
  };
  std::map<std::uint64_t, Range> ranges_;  // by first address
  Latest latest_;
};

}  // namespace ww::sim::gpu::timing
