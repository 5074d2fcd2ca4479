// A queue in one block of memory that grows and then stays: no allocation in steady state.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace ww::sim::net {

template <class T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  [[nodiscard]] const T& operator[](std::size_t i) const {
    return items_[(head_ + i) & (items_.size() - 1)];
  }
  [[nodiscard]] const T& front() const { return items_[head_]; }
  void push(T item) {
    if (size_ == items_.size()) {
      std::vector<T> larger(items_.empty() ? 16 : 2 * items_.size());
      for (std::size_t i = 0; i < size_; ++i) {
        larger[i] = std::move((*this)[i]);
      }
      items_ = std::move(larger);
      head_ = 0;
    }
    (*this)[size_++] = std::move(item);
  }
  void pop() {
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
  }
  // Takes out item i; those before it move up. For small i.
  void erase(std::size_t i) {
    for (; i > 0; --i) {
      (*this)[i] = std::move((*this)[i - 1]);
    }
    pop();
  }

 private:
  std::vector<T> items_;  // a power of two
  std::size_t head_{};
  std::size_t size_{};
};

}  // namespace ww::sim::net
