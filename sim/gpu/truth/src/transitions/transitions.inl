// The inner loops of the transition counts, compiled once for each vector instruction set of the
// host. The including file chooses how eight lanes are held: eight_whole.inl or
// eight_halves.inl.
#include <cstddef>
#include <cstdint>

#include "transitions/transitions.hpp"

namespace ww::sim::gpu {
namespace {

struct Change {
  Eight toggles, adjacent, opposite;

  void operator+=(const Change& more) {
    toggles += more.toggles;
    adjacent += more.adjacent;
    opposite += more.opposite;
  }
};

// The upper neighbours of each lane's wires: of bit i bit i + 1 of the same lane, or, interleaved,
// bit i of the second lane and bit i + 1 of the first.
template <int stride>
inline Eight neighbours(const Eight& word) {
  if constexpr (stride == 0) {
    return shifted_down(word);
  } else {
    return partners<stride>(word);
  }
}

template <int stride>
inline Change change(const Eight& from, const Eight& to) {
  const Eight toggled = from ^ to;
  const Eight both = toggled & neighbours<stride>(toggled);
  return {bits_in(toggled), bits_in(both), bits_in(both & (to ^ neighbours<stride>(to)))};
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

  static void part(Bus& bus, const void* next, std::size_t bytes) {
    const Eight held = load(bus.word.data());
    const Eight to = load_part(next, bytes, held);
    add(bus, change<stride>(held, to));
    store(bus.word.data(), to);
  }

  // Between two words of the run both buses change equally: that is counted once.
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
  static void halves(Bus& bus, const void* const* next, unsigned count) {
    const Eight held = load(bus.word.data());
    Eight to = load(*next);
    Change sum = change<0>(lower_of(held, to), to);
    for (unsigned i = 1; i < count; ++i) {
      const Eight before = to;
      to = load(next[i]);
      sum += change<0>(lower_of(upper_of(before, before), to), to);
    }
    add(bus, sum);
    store(bus.word.data(), upper_of(to, held));
  }
};

// Word of a lane by the count of a run: the last word again where there are fewer.
alignas(64) constexpr std::uint64_t kWordOfLane[ControlRun::kMax][8] = {{0, 0, 0, 0, 0, 0, 0, 0},
                                                                         {0, 1, 1, 1, 0, 1, 1, 1},
                                                                         {0, 1, 2, 2, 0, 1, 2, 2},
                                                                         {0, 1, 2, 3, 0, 1, 2, 3}};

void drive_control(Bus& bus, const ControlRun& run) {
  const Eight steps = of_halves(~std::uint64_t{0}, 0);
  const Eight index = load(kWordOfLane[run.count - 1]);
  const Eight sequence = (index + of_halves(run.sequence, run.sequence)) & of_halves(0xFF, 0xFF);
  const Eight held = load(bus.word.data());
  Eight to = (of_halves(run.request, run.tag) + (index & steps)) | shifted_up<48, 6>(sequence);
  if (!run.answered) to = lower_and_upper(to, last_of_halves(held));
  add(bus, change<0>(one_lane_up(to, held), to));
  store(bus.word.data(), to);
}

BusDriver driver(int stride) {
  switch (stride) {
    case 1: return {Drive<1>::one, Drive<1>::part, Drive<1>::both, Drive<1>::halves, drive_control};
    case 2: return {Drive<2>::one, Drive<2>::part, Drive<2>::both, Drive<2>::halves, drive_control};
    case 4: return {Drive<4>::one, Drive<4>::part, Drive<4>::both, Drive<4>::halves, drive_control};
    default:
      return {Drive<0>::one, Drive<0>::part, Drive<0>::both, Drive<0>::halves, drive_control};
  }
}

}  // namespace
}  // namespace ww::sim::gpu
