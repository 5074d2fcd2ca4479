// The inner loops of the transition counts, compiled once for each vector instruction set of the
// host. Where that counts the set bits of all lanes at once, the including file says how, as
// WW_BITS_IN(word).
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "transitions/transitions.hpp"

namespace ww::sim::gpu {
namespace {

// Eight 64-bit lanes, one to a group of 64 wires.
using Eight = std::uint64_t __attribute__((vector_size(64)));

#ifndef WW_BITS_IN
// One lane after the other.
inline Eight bits_in(const Eight& word) {
  Eight count{};
  for (int lane = 0; lane < 8; ++lane) {
    count[lane] = static_cast<std::uint64_t>(std::popcount(std::uint64_t{word[lane]}));
  }
  return count;
}
#define WW_BITS_IN(word) bits_in(word)
#endif

struct Change {
  Eight toggles, adjacent, opposite;

  void operator+=(const Change& more) {
    toggles += more.toggles;
    adjacent += more.adjacent;
    opposite += more.opposite;
  }
};

inline Eight load(const void* bytes) {
  Eight word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

inline void store(void* bytes, const Eight& word) {
  std::memcpy(bytes, &word, sizeof word);
}

// The upper neighbours of each lane's wires: of bit i bit i + 1 of the same lane, or, interleaved,
// bit i of the second lane and bit i + 1 of the first.
template <int stride>
inline Eight neighbours(const Eight& word) {
  if constexpr (stride == 0) {
    return word >> 1;
  } else {
    constexpr int s = stride;
    const Eight partner =
        __builtin_shufflevector(word, word, 0 ^ s, 1 ^ s, 2 ^ s, 3 ^ s, 4 ^ s, 5 ^ s, 6 ^ s, 7 ^ s);
    const Eight by = {(0 & s) / s, (1 & s) / s, (2 & s) / s, (3 & s) / s,
                      (4 & s) / s, (5 & s) / s, (6 & s) / s, (7 & s) / s};
    return partner >> by;
  }
}

template <int stride>
inline Change change(const Eight& from, const Eight& to) {
  const Eight toggled = from ^ to;
  const Eight both = toggled & neighbours<stride>(toggled);
  return {WW_BITS_IN(toggled), WW_BITS_IN(both), WW_BITS_IN(both & (to ^ neighbours<stride>(to)))};
}

inline void add(Bus& bus, const Change& sum) {
  store(bus.toggles.data(), load(bus.toggles.data()) + sum.toggles);
  store(bus.adjacent.data(), load(bus.adjacent.data()) + sum.adjacent);
  store(bus.opposite.data(), load(bus.opposite.data()) + sum.opposite);
}

template <int stride>
struct Drive {
  static void one(Bus& bus, const void* next) {
    const Eight to = load(next);
    add(bus, change<stride>(load(bus.word.data()), to));
    store(bus.word.data(), to);
  }

  // Between two words of the run both buses change alike: that is counted once.
  static void both(Bus& first, Bus& second, const void* words, unsigned count) {
    const auto* next = static_cast<const unsigned char*>(words);
    Eight word = load(next);
    Change one = change<stride>(load(first.word.data()), word);
    Change other = change<stride>(load(second.word.data()), word);
    for (unsigned i = 1; i < count; ++i) {
      next += sizeof word;
      const Eight to = load(next);
      const Change same = change<stride>(word, to);
      one += same;
      other += same;
      word = to;
    }
    add(first, one);
    add(second, other);
    store(first.word.data(), word);
    store(second.word.data(), word);
  }

  // The first half's change is counted in the lower four lanes, the second's in the upper four. The
  // bus is stored as it is loaded, whole: parts of a word just written would be waited for.
  static void halves(Bus& bus, const void* next) {
    const Eight to = load(next);
    const Eight held = load(bus.word.data());
    add(bus, change<0>(__builtin_shufflevector(held, to, 0, 1, 2, 3, 8, 9, 10, 11), to));
    store(bus.word.data(), __builtin_shufflevector(to, held, 4, 5, 6, 7, 12, 13, 14, 15));
  }
};

// By the count of a run, which of its words a lane has: the last one again where there are fewer.
alignas(64) constexpr std::uint64_t kWordOfLane[ControlRun::kMost][8] = {{0, 0, 0, 0, 0, 0, 0, 0},
                                                                         {0, 1, 1, 1, 0, 1, 1, 1},
                                                                         {0, 1, 2, 2, 0, 1, 2, 2},
                                                                         {0, 1, 2, 3, 0, 1, 2, 3}};

void drive_control(Bus& bus, const ControlRun& run) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  constexpr Eight steps = {all, all, all, all, 0, 0, 0, 0};
  constexpr Eight sequence_at = {48, 48, 48, 48, 6, 6, 6, 6};
  const std::uint64_t r = run.request;
  const std::uint64_t t = run.tag;
  const Eight first = {r, r, r, r, t, t, t, t};
  const Eight index = load(kWordOfLane[run.count - 1]);
  const Eight sequence = (index + run.sequence) & std::uint64_t{0xFF};
  const Eight held = load(bus.word.data());
  Eight to = (first + (index & steps)) | (sequence << sequence_at);
  if (!run.answered) to = __builtin_shufflevector(to, held, 0, 1, 2, 3, 15, 15, 15, 15);
  const Eight from = __builtin_shufflevector(held, to, 3, 8, 9, 10, 7, 12, 13, 14);
  add(bus, change<0>(from, to));
  store(bus.word.data(), to);
}

BusDriver driver(int stride) {
  switch (stride) {
    case 1: return {Drive<1>::one, Drive<1>::both, Drive<1>::halves, drive_control};
    case 2: return {Drive<2>::one, Drive<2>::both, Drive<2>::halves, drive_control};
    case 4: return {Drive<4>::one, Drive<4>::both, Drive<4>::halves, drive_control};
    default: return {Drive<0>::one, Drive<0>::both, Drive<0>::halves, drive_control};
  }
}

}  // namespace
}  // namespace ww::sim::gpu
