#include "fast/translate/slice_assembler.hpp"

#include <algorithm>

namespace ww::sim::gpu::exec::translate {

using namespace Xbyak::util;  // the names of registers and operands
using Xbyak::Address;

namespace {

// Bytes from the first of `all` to the one that is `wanted`, which is added where it is not there.
template <class T>
int offset_of(std::vector<T>& all, const T& wanted) {
  const auto found = std::ranges::find(all, wanted);
  const auto index = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(wanted);
  return static_cast<int>(index * sizeof wanted);
}

}  // namespace

Address Literals::word(std::uint32_t value) {
  return ptr[rip + words_label_ + offset_of(words_, value)];
}

Address Literals::all_lanes(std::uint32_t value) {
  if (vectors_ == HostVectors::avx512) {
    return ptr_b[rip + words_label_ + offset_of(words_, value)];
  }
  Lanes lanes{};
  lanes.fill(value);
  return ptr[rip + lanes_label_ + offset_of(lanes_, lanes)];
}

Address Literals::lane_bits() {
  constexpr Lanes kBits{1, 2, 4, 8, 16, 32, 64, 128};
  return ptr[rip + lanes_label_ + offset_of(lanes_, kBits)];
}

void Literals::write() {
  if (!lanes_.empty()) assembler_.align(sizeof(Lanes));
  assembler_.L(lanes_label_);
  for (const Lanes& lanes : lanes_) {
    for (const std::uint32_t value : lanes) assembler_.dd(value);
  }
  assembler_.align(sizeof(std::uint32_t));
  assembler_.L(words_label_);
  for (const std::uint32_t value : words_) assembler_.dd(value);
}

}  // namespace ww::sim::gpu::exec::translate
