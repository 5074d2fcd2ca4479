// Numbers for things that come and go: a slot is used again once it was given back.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim::net {

template <class T>
class Slots {
 public:
  std::uint64_t take(const T& value) {
    if (free_.empty()) {
      values_.push_back(value);
      return values_.size() - 1;
    }
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    values_[slot] = value;
    return slot;
  }
  void give_back(std::uint64_t slot) { free_.push_back(slot); }
  // Precondition: taken, and not given back.
  [[nodiscard]] const T& at(std::uint64_t slot) const { return values_[slot]; }

 private:
  std::vector<T> values_;
  std::vector<std::uint64_t> free_;
};

}  // namespace ww::sim::net
