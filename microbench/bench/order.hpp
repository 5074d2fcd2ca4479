// Orders of conditions that do not let slow drift look like a difference between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace ww::microbench {

// Shuffles by Fisher and Yates. By hand, because the standard library's shuffle differs between
// libraries. `next`: uniform 64-bit integers; the bias of % is below 2^-50 for any list here.
template <typename T, typename Next>
void shuffle(std::vector<T>& list, Next&& next) {
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1], list[static_cast<std::size_t>(next() % i)]);
  }
}

// The list and then its mirror image (ABBA): both visits of an entry have the same mean place, so
// whatever drifts linearly cancels. Without `mirror` the list is repeated instead, as a control.
template <typename T>
[[nodiscard]] std::vector<T> twice(const std::vector<T>& list, bool mirror = true) {
  std::vector<T> both = list;
  both.insert(both.end(), list.begin(), list.end());
  if (mirror) std::reverse(both.begin() + std::ssize(list), both.end());
  return both;
}

}  // namespace ww::microbench
