#include "ww/core/units.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace ww {
namespace {

TEST(Units, EnergyPerBitTimesDistanceIsEnergy) {
  const FemtojoulePerBitMillimetre per_bit_mm{200.0};
  const Picojoule energy = per_bit_mm * Millimetre{10.0};
  EXPECT_DOUBLE_EQ(energy.value(), 2.0);
}

TEST(Units, PowerTimesTimeIsEnergy) {
  const Joule energy = Watt{4.0} * Second{2.5};
  EXPECT_DOUBLE_EQ(energy.value(), 10.0);
}

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

TEST(Counts, OfDifferentThingsDoNotMix) {
  static_assert(Addable<Bytes, Bytes>);
  static_assert(!Addable<Bytes, Cycles>);
  static_assert(!std::convertible_to<std::uint64_t, Bytes>);
  EXPECT_EQ((Bytes{3} + Bytes{4}).value(), 7U);
}

}  // namespace
}  // namespace ww
