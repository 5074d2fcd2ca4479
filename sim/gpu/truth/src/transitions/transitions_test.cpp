#include "transitions/transitions.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "transitions/wire_by_wire.hpp"

namespace ww::sim::gpu {
namespace {

using Word = WireWord;

Bus bus_at(const Word& word) {
  Bus bus{};
  bus.word = word;
  return bus;
}

Word random_word() {
  Word word;
  for (auto& lane : word) {
    lane = *rc::gen::arbitrary<std::uint64_t>() ^ (*rc::gen::arbitrary<std::uint64_t>() << 17);
  }
  return word;
}

// Drivers of every instruction set that this host has; the portable version comes first.
std::vector<BusDriver> versions(int stride) {
  std::vector<BusDriver> all{portable_bus_driver(stride)};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") != 0) all.push_back(avx2_bus_driver(stride));
  if (__builtin_cpu_supports("avx512vpopcntdq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512bw") != 0) {
    all.push_back(avx512_bus_driver(stride));
  }
#endif
  return all;
}

RC_GTEST_PROP(Transitions, AgreeWithAWireByWireCount, ()) {
  const Word before = random_word();
  const Word after = random_word();
  for (const int stride : {0, 1, 2, 4}) {
    const WireCount slow = count_wire_by_wire(before, after, stride);
    for (const BusDriver driver : versions(stride)) {
      Bus bus = bus_at(before);
      driver.one(bus, after.data());
      const TransitionCounts counts = bus.counts();
      RC_ASSERT(static_cast<std::int64_t>(counts.toggles) == slow.toggles);
      RC_ASSERT(static_cast<std::int64_t>(counts.adjacent) == slow.adjacent);
      RC_ASSERT(static_cast<std::int64_t>(counts.opposite) == slow.opposite);
      RC_ASSERT(2 * slow.toggles - 2 * slow.adjacent + 4 * slow.opposite == slow.squares);
      RC_ASSERT(bus.word == after);
    }
  }
}

// Lane by lane.
RC_GTEST_PROP(Transitions, AreTheSameOnEveryInstructionSet, ()) {
  const Word before = random_word();
  const Word after = random_word();
  for (const int stride : {0, 1, 2, 4}) {
    Bus portable = bus_at(before);
    portable_bus_driver(stride).one(portable, after.data());
    for (const BusDriver driver : versions(stride)) {
      Bus bus = bus_at(before);
      driver.one(bus, after.data());
      RC_ASSERT(bus.toggles == portable.toggles);
      RC_ASSERT(bus.adjacent == portable.adjacent);
      RC_ASSERT(bus.opposite == portable.opposite);
    }
  }
}

RC_GTEST_PROP(Transitions, OfAPartAreThoseOfAWordThatHoldsTheRest, ()) {
  const Word before = random_word();
  const Word after = random_word();
  const auto bytes = *rc::gen::inRange<std::size_t>(0, sizeof(Word) + 1);
  Word whole = before;
  std::memcpy(whole.data(), after.data(), bytes);
  for (const int stride : {0, 1, 2, 4}) {
    for (const BusDriver driver : versions(stride)) {
      Bus bus = bus_at(before);
      driver.part(bus, after.data(), bytes);
      Bus expected = bus_at(before);
      driver.one(expected, whole.data());
      RC_ASSERT(bus.word == whole);
      RC_ASSERT(bus.toggles == expected.toggles);
      RC_ASSERT(bus.adjacent == expected.adjacent);
      RC_ASSERT(bus.opposite == expected.opposite);
    }
  }
}

RC_GTEST_PROP(Transitions, CostNothingWhenNothingChanges, ()) {
  const Word word = random_word();
  Bus bus = bus_at(word);
  bus_driver(0).one(bus, word.data());
  RC_ASSERT(bus.counts().capacitance_f(1.0, 1.0) == 0.0);
}

RC_GTEST_PROP(Transitions, NeverCostLessWithAnotherIsolatedToggle, ()) {
  // One more toggling wire whose neighbours are quiet.
  Word before = random_word();
  Word after = random_word();
  const auto lane = static_cast<unsigned>(*rc::gen::inRange(0, 8));
  const auto bit = static_cast<unsigned>(*rc::gen::inRange(1, 63));
  const std::uint64_t around = 7ULL << (bit - 1);
  after[lane] = (after[lane] & ~around) | (before[lane] & around);
  Word more = after;
  more[lane] ^= 1ULL << bit;
  Bus fewer_bus = bus_at(before);
  Bus more_bus = bus_at(before);
  bus_driver(0).one(fewer_bus, after.data());
  bus_driver(0).one(more_bus, more.data());
  const double ground = 200;
  const double coupling = 170;
  RC_ASSERT(more_bus.counts().capacitance_f(ground, coupling) >
            fewer_bus.counts().capacitance_f(ground, coupling));
}

RC_GTEST_PROP(Transitions, NeverCostLessThanTheirGroundCapacitance, ()) {
  const Word before = random_word();
  const Word after = random_word();
  Bus bus = bus_at(before);
  bus_driver(0).one(bus, after.data());
  const TransitionCounts counts = bus.counts();
  RC_ASSERT(counts.capacitance_f(200, 170) >= 100.0 * static_cast<double>(counts.toggles));
}

RC_GTEST_PROP(Transitions, OfARunOnTwoBusesAreThoseOfItsWordsOneByOne, ()) {
  std::vector<Word> words(*rc::gen::inRange<std::size_t>(1, 9));
  for (auto& word : words) word = random_word();
  for (const int stride : {0, 1, 2, 4}) {
    for (const BusDriver driver : versions(stride)) {
      Bus together[2] = {bus_at(random_word()), bus_at(random_word())};
      Bus alone[2] = {together[0], together[1]};
      driver.both(together[0], together[1], words.data(), static_cast<unsigned>(words.size()));
      for (int i = 0; i < 2; ++i) {
        for (const Word& word : words) driver.one(alone[i], word.data());
        RC_ASSERT(together[i].word == alone[i].word);
        RC_ASSERT(together[i].toggles == alone[i].toggles);
        RC_ASSERT(together[i].adjacent == alone[i].adjacent);
        RC_ASSERT(together[i].opposite == alone[i].opposite);
      }
    }
  }
}

RC_GTEST_PROP(Transitions, OfTwoHalvesAreThoseOfEachOnTheLowerWires, ()) {
  std::vector<Word> words(*rc::gen::inRange<std::size_t>(1, 9));
  std::vector<const void*> places;
  for (auto& word : words) {
    word = random_word();
    places.push_back(word.data());
  }
  const Word before = random_word();
  for (const BusDriver driver : versions(0)) {
    Bus together = bus_at(before);
    driver.halves(together, places.data(), static_cast<unsigned>(places.size()));
    Bus alone = bus_at(before);
    for (const Word& halves : words) {
      for (std::size_t half : {0U, 4U}) {
        Word next = alone.word;
        std::copy_n(halves.begin() + static_cast<std::ptrdiff_t>(half), 4, next.begin());
        driver.one(alone, next.data());
      }
    }
    RC_ASSERT(together.word == alone.word);
    const TransitionCounts a = together.counts();
    const TransitionCounts b = alone.counts();
    RC_ASSERT(a.toggles == b.toggles && a.adjacent == b.adjacent && a.opposite == b.opposite);
  }
}

RC_GTEST_PROP(Transitions, OfAControlRunAreThoseOfItsWordsOneByOneOnTwoBuses, ()) {
  for (const BusDriver driver : versions(0)) {
    Bus together = bus_at(Word{});
    Bus requests = together;
    Bus tags = together;
    ControlRun run{.request = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 48),
                   .tag = *rc::gen::inRange<std::uint64_t>(0, 64),
                   .sequence = *rc::gen::arbitrary<std::uint32_t>()};
    for (int runs = 0; runs < 5; ++runs) {
      run.count = *rc::gen::inRange(1U, ControlRun::kMax + 1);
      run.answered = *rc::gen::arbitrary<bool>();
      driver.control(together, run);
      for (std::uint64_t i = 0; i < run.count; ++i) {
        const std::uint64_t sequence = (run.sequence + i) & 0xFF;
        const Word request{(run.request + i) | sequence << 48};
        portable_bus_driver(0).one(requests, request.data());
        const Word tag{run.tag | sequence << 6};
        if (run.answered) portable_bus_driver(0).one(tags, tag.data());
      }
      run.sequence += run.count;
    }
    TransitionCounts alone = requests.counts();
    alone += tags.counts();
    RC_ASSERT(together.counts().toggles == alone.toggles);
    RC_ASSERT(together.counts().adjacent == alone.adjacent);
    RC_ASSERT(together.counts().opposite == alone.opposite);
  }
}

}  // namespace
}  // namespace ww::sim::gpu
