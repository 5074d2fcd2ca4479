// Launches that are kept to some compute units: which ones a mask names, and where waves find
// themselves.
#include "machine/dispatch/cu_mask.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::cu_mask_test {
namespace {

using test::TestGpu;

Architecture architecture_of(const std::string& chip) {
  auto loaded = Chip::load({.chip = chip});
  if (!loaded) throw std::runtime_error(loaded.error().text());
  return loaded->architecture();
}

// Engine (of all dies) and compute unit.
using Place = std::pair<int, int>;

std::set<Place> places_of(const Architecture& architecture,
                          std::initializer_list<std::uint32_t> mask, int device = 0,
                          int cus_in_use = 0) {
  const auto named =
      exec::cus_of_mask(architecture, device, cus_in_use, {mask.begin(), mask.end()});
  if (!named) throw std::runtime_error(named.error().text());
  std::set<Place> places;
  for (int place = 0; place < architecture.cu_places(); ++place) {
    if (!(*named)[static_cast<std::size_t>(place)]) continue;
    places.emplace(place / architecture.cus_per_engine, place % architecture.cus_per_engine);
  }
  return places;
}

using testing::UnorderedElementsAre;

TEST(CuMask, GoesRoundTheEnginesOfADie) {
  const Architecture w9100 = architecture_of("w9100");  // four engines of eleven
  EXPECT_THAT(places_of(w9100, {0x1}), UnorderedElementsAre(Place(0, 0)));
  EXPECT_THAT(places_of(w9100, {0x32}),
              UnorderedElementsAre(Place(1, 0), Place(0, 1), Place(1, 1)));
  EXPECT_THAT(places_of(w9100, {0, 0x800}), UnorderedElementsAre(Place(3, 10)));
  EXPECT_EQ(places_of(w9100, {UINT32_MAX, UINT32_MAX, UINT32_MAX}).size(), 44U);
}

TEST(CuMask, SkipsUnitsThatAreOff) {
  const Architecture mi210 = architecture_of("mi210");  // eight engines of 14, eight units off
  ASSERT_EQ(mi210.compute_units(), 104);
  EXPECT_EQ(places_of(mi210, {~0U, ~0U, ~0U, ~0U}).size(), 104U);
  std::set<Place> last;
  for (int engine = 0; engine < 8; ++engine) last.emplace(engine, 12);
  EXPECT_EQ(places_of(mi210, {0, 0, 0, 0xFF}), last);
  EXPECT_FALSE(exec::cus_of_mask(mi210, 0, 0, std::vector<std::uint32_t>{0, 0, 0, 0xFF00}))
      << "bits of units that are off";
}

TEST(CuMask, KeepsNeighboursOfRdnaTogether) {
  const Architecture rx6800 = architecture_of("rx6800");  // six shader arrays of ten
  EXPECT_THAT(places_of(rx6800, {0x2}), UnorderedElementsAre(Place(0, 0), Place(0, 1)));
  EXPECT_THAT(places_of(rx6800, {0x4}), UnorderedElementsAre(Place(2, 0), Place(2, 1)))
      << "the first array of the second engine";
  EXPECT_THAT(places_of(rx6800, {0x40}), UnorderedElementsAre(Place(1, 0), Place(1, 1)))
      << "the second array of the first engine";
  EXPECT_THAT(places_of(rx6800, {0x1000}), UnorderedElementsAre(Place(0, 2), Place(0, 3)));
}

TEST(CuMask, GoesRoundTheDiesFirst) {
  const Architecture mi300x = architecture_of("mi300x");  // eight dies of four engines
  const std::set<Place> first = places_of(mi300x, {0xFF});
  std::set<Place> expected;
  for (int die = 0; die < 8; ++die) expected.emplace(4 * die, 0);
  EXPECT_EQ(first, expected);
  const auto missing = exec::cus_of_mask(mi300x, 0, 0, std::vector<std::uint32_t>{0x7F});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::out_of_range);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("none on die 7"));
}

TEST(CuMask, IsOfOneDeviceOfThePackage) {
  const Architecture mi250x = architecture_of("mi250x");
  EXPECT_THAT(places_of(mi250x, {0x1}, 1), UnorderedElementsAre(Place(8, 0)));
}

TEST(CuMask, LeavesOutWhatGetsNoWorkAnyway) {
  const Architecture w9100 = architecture_of("w9100");
  EXPECT_THAT(places_of(w9100, {0x11}, 0, 1), UnorderedElementsAre(Place(0, 0)));
  EXPECT_FALSE(exec::cus_of_mask(w9100, 0, 1, std::vector<std::uint32_t>{0x10}));
}

TEST(CuMask, KeepsWorkGroupsToItsUnits) {
  TestGpu test;
  const auto out = test.buffer(200 * 64 * 4);
  const auto places = [&](std::vector<std::uint32_t> mask) {
    const Grid grid{1, {200 * 64, 1, 1}, {64, 1, 1}, false, std::move(mask)};
    const auto done = test.try_launch("where_am_i", grid, out);
    if (!done) throw std::runtime_error(done.error().text());
    std::set<Place> found;
    for (const std::uint32_t id : test.read<std::uint32_t>(out, 200 * 64)) {
      found.emplace(id >> 13 & 3U, id >> 8 & 15U);
    }
    return found;
  };
  EXPECT_EQ(places({}).size(), 44U);
  EXPECT_THAT(places({0x32}), UnorderedElementsAre(Place(1, 0), Place(0, 1), Place(1, 1)));
  // Another mask is another launch, though all else is the same.
  EXPECT_THAT(places({0x8}), UnorderedElementsAre(Place(3, 0)));
  EXPECT_EQ(places({}).size(), 44U);
}

}  // namespace
}  // namespace ww::sim::gpu::cu_mask_test
