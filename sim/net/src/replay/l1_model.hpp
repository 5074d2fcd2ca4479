// Tags of one core's L1: least recently used goes, writes do not allocate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ww::sim::net {

class L1Model {
 public:
  enum class Found { miss, under_way, there };

  L1Model(int sets, int ways)
      : sets_(static_cast<std::size_t>(sets)),
        ways_(static_cast<std::size_t>(ways)),
        ways_in_use_(sets_ * ways_) {}

  // Looks a line up; a hit makes it the most recent.
  Found find(std::uint64_t line) {
    Way* way = locate(line);
    if (way == nullptr) {
      return Found::miss;
    }
    way->last_use = ++clock_;
    return way->filled ? Found::there : Found::under_way;
  }
  // Takes the least recent way of the line's set; its data is under way. Precondition: a miss.
  void allocate(std::uint64_t line) {
    Way* first = set_of(line);
    Way* victim = std::min_element(
        first, first + ways_, [](const Way& a, const Way& b) { return a.last_use < b.last_use; });
    *victim = Way{line, ++clock_, false};
  }
  // The line's data has come; it may have been displaced meanwhile.
  void fill(std::uint64_t line) {
    if (Way* way = locate(line)) {
      way->filled = true;
    }
  }
  void invalidate(std::uint64_t line) {
    if (Way* way = locate(line)) {
      *way = Way{};
    }
  }
  void invalidate_all() { std::fill(ways_in_use_.begin(), ways_in_use_.end(), Way{}); }

 private:
  struct Way {
    std::uint64_t line{~std::uint64_t{0}};
    std::uint64_t last_use{};  // 0: empty
    bool filled{};
  };

  Way* set_of(std::uint64_t line) { return &ways_in_use_[line % sets_ * ways_]; }
  Way* locate(std::uint64_t line) {
    Way* first = set_of(line);
    Way* end = first + ways_;
    Way* found = std::find_if(
        first, end, [&](const Way& way) { return way.last_use != 0 && way.line == line; });
    return found == end ? nullptr : found;
  }

  std::size_t sets_;
  std::size_t ways_;
  std::vector<Way> ways_in_use_;  // [set][way]
  std::uint64_t clock_{};
};

}  // namespace ww::sim::net
