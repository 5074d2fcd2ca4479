#include "ww/sim/gpu/chip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "builtin_chips.hpp"
#include "test_chip.hpp"
#include "truth.hpp"
#include "ww/sim/gpu/chip_catalog.hpp"
#include "ww/sim/gpu/data_sheet.hpp"

namespace ww::sim::gpu {
namespace {

// Line of the first occurrence, counted from 1.
std::string line_of(const std::string& text, const std::string& what) {
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(what)), '\n');
  return ":" + std::to_string(lines + 1);
}

void expect_error(const std::string& text, ErrorCode code, const std::string& key,
                  const std::string& line) {
  const auto chip = load_text(text);
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, code) << chip.error().text();
  EXPECT_NE(chip.error().message.find(key), std::string::npos) << chip.error().text();
  EXPECT_NE(chip.error().context.find(".toml" + line), std::string::npos) << chip.error().text();
}

TEST(Chip, LoadsTheW9100ByName) {
  const Chip chip = Chip::load({}).value();
  const Architecture& architecture = chip.architecture();
  EXPECT_EQ(architecture.name, "w9100");
  EXPECT_EQ(architecture.compute_units(), 44);  // IISWC'16, Table I
  EXPECT_EQ(architecture.l2_channels, 16);
  EXPECT_EQ(architecture.l2_bytes, 1 << 20);
  const DvfsState& state =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)];
  EXPECT_DOUBLE_EQ(state.voltage_v, 1.1687);
  EXPECT_DOUBLE_EQ(state.clock_hz, 930e6);
  EXPECT_EQ(chip.request().seed, 0U);
}

TEST(ChipSheet, IsTheArchitectureOfTheChipWhetherBuiltInOrDrawn) {
  for (const ChipRequest& request :
       {ChipRequest{.chip = "mi210"}, ChipRequest{.chip = "random", .seed = 7},
        ChipRequest{.chip = "random", .seed = 7, .chip_class = ChipClass::strong}}) {
    const auto text = chip_sheet(request);
    ASSERT_TRUE(text) << text.error().text();
    const auto sheet = parse_data_sheet(*text, "sheet");
    ASSERT_TRUE(sheet) << sheet.error().text();
    const Architecture chip = Chip::load(request).value().architecture();
    EXPECT_EQ(to_toml({sheet->title, chip}), *text);
    EXPECT_EQ(sheet->architecture.compute_units(), chip.compute_units());
  }
  EXPECT_EQ(chip_sheet({.chip = "no-such-chip"}).error().code, ErrorCode::not_found);
}

TEST(BuiltinChips, AreDescribedForPeople) {
  const auto chips = builtin_chips();
  ASSERT_FALSE(chips.empty());
  EXPECT_EQ(chips.front().name, "w9100");
  EXPECT_EQ(chips.front().description, "AMD FirePro W9100, gfx701, 4 engines of 11 CUs");
}

TEST(Chip, EveryFileOfTheFolderIsBuiltIn) {
  const std::string names = ", " + std::string(builtin_chip_names()) + ", ";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(std::getenv("WW_SOURCE_DIR")) / "sim/gpu/chips")) {
    if (entry.path().extension() != ".toml") {
      continue;
    }
    ++files;
    const std::string name = entry.path().stem().string();
    EXPECT_NE(names.find(", " + name + ", "), std::string::npos) << name << " is not in the list";
    const auto chip = Chip::load({.chip = name});
    ASSERT_TRUE(chip) << chip.error().text();
    EXPECT_EQ(chip->architecture().name, name);
  }
  EXPECT_GT(files, 0);
}

TEST(Chip, AnUnknownNameIsAnsweredWithThoseThatThereAre) {
  const auto chip = Chip::load({.chip = "w9200"});
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, ErrorCode::not_found);
  EXPECT_NE(chip.error().message.find(builtin_chip_names()), std::string::npos)
      << chip.error().text();
}

TEST(Chip, PublishesAFloorplanThatIsNotItsTrueGeometry) {
  const Chip chip = Chip::load({}).value();
  const auto published = parse_published_floorplan(chip.public_floorplan_toml(), "w9100");
  ASSERT_TRUE(published) << published.error().text();
  EXPECT_TRUE(published->estimated);
  EXPECT_NEAR(
      published->geometry.mean_distance_mm(0, 3) - published->geometry.mean_distance_mm(0, 0), 10.5,
      1e-9);
  EXPECT_NE(published->geometry.l2_channels[0].x_mm, chip.truth().geometry.l2_channels[0].x_mm);
}

TEST(Chip, FarChannelsTakeLonger) {
  const Chip chip = Chip::load({}).value();
  const Architecture& chip_has = chip.architecture();
  const Truth& truth = chip.truth();
  std::set<int> seen;
  for (int engine = 0; engine < chip_has.shader_engines; ++engine) {
    for (int cu = 0; cu < chip_has.cus_per_engine; ++cu) {
      std::vector<std::pair<double, int>> ways;  // length [mm], cycles
      for (int channel = 0; channel < chip_has.l2_channels; ++channel) {
        const auto trunk = static_cast<std::size_t>(engine * chip_has.l2_channels + channel);
        const auto leg = static_cast<std::size_t>(engine * chip_has.cus_per_engine + cu);
        ways.emplace_back(truth.trunks[trunk].length_mm + truth.legs[leg].length_mm,
                          chip.crossbar_cycles(engine, cu, channel));
        seen.insert(ways.back().second);
      }
      std::ranges::sort(ways);
      EXPECT_TRUE(std::ranges::is_sorted(ways, {}, &std::pair<double, int>::second))
          << engine << ", " << cu;
      EXPECT_GT(ways.back().second, ways.front().second) << engine << ", " << cu;
    }
  }
  EXPECT_GT(seen.size(), 3U);
}

TEST(Chip, CopiesShareTheirTruth) {
  const Chip chip = Chip::load({}).value();
  const Chip copy = chip;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&copy.truth(), &chip.truth());
}

TEST(Chip, PublishesTheTrueGeometryWhenNoFloorplanIsNamed) {
  std::string text = w9100_text({});
  const auto at = text.find("floorplan = \"w9100\"\n");
  text.erase(at, std::string("floorplan = \"w9100\"\n").size());
  const Chip chip = load_text(text).value();
  EXPECT_NEAR(chip.truth().published.geometry.l2_channels[3].x_mm,
              chip.truth().geometry.l2_channels[3].x_mm, 1e-4);
}

TEST(ChipFile, UnknownNamesAreNotFound) {
  EXPECT_EQ(Chip::load({.chip = "w9200"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(Chip::load({.chip = "/nowhere/chip.toml"}).error().code, ErrorCode::not_found);
}

TEST(ChipFile, UnknownKeysNameFileLineAndKey) {
  const std::string text = w9100_text({{"flop_pitch_mm", "3.7\nflop_pitch_inch = 0.1"}});
  expect_error(text, ErrorCode::parse_error, "wires.flop_pitch_inch",
               line_of(text, "flop_pitch_inch"));
}

TEST(ChipFile, MissingKeysNameTheirTable) {
  std::string text = w9100_text({});
  const auto at = text.find("gain = ");
  text.erase(at, text.find('\n', at) - at + 1);
  expect_error(text, ErrorCode::parse_error, "sensor.gain", line_of(text, "[sensor]"));
}

TEST(ChipFile, AbsurdValuesAreOutOfRange) {
  const std::string text = w9100_text({{"reference_w", "-3.0"}});
  expect_error(text, ErrorCode::out_of_range, "leakage.reference_w", line_of(text, "reference_w"));
  expect_error(w9100_text({{"gain", "nan"}}), ErrorCode::out_of_range, "sensor.gain", ":");
}

TEST(ChipFile, WrongTypesAreParseErrors) {
  const std::string text = w9100_text({{"period_ns", "\"soon\""}});
  expect_error(text, ErrorCode::parse_error, "sensor.period_ns", line_of(text, "period_ns"));
}

TEST(ChipFile, DamagedTomlNamesItsLine) {
  const std::string text = w9100_text({{"efold_c", "= ="}});
  expect_error(text, ErrorCode::parse_error, "", line_of(text, "efold_c"));
}

TEST(ChipFile, ShapesMustAgree) {
  const auto chip = load_text(w9100_text({{"cus_per_engine", "10"}}));
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, ErrorCode::out_of_range);
  EXPECT_NE(chip.error().text().find("11 CUs in an engine, 10 expected"), std::string::npos)
      << chip.error().text();
}

TEST(ChipFile, ATagOfTheL2IsForLinesOfOneChannel) {
  for (const char* interleave : {"256\nl2_line_bytes = 96", "64\nl2_line_bytes = 128"}) {
    const auto chip = load_text(w9100_text({{"channel_interleave_bytes", interleave}}));
    ASSERT_FALSE(chip) << interleave;
    EXPECT_NE(chip.error().text().find("a tag of the L2"), std::string::npos)
        << chip.error().text();
  }
}

TEST(ChipFile, AScalarCacheHasWholeSets) {
  const auto chip = load_text(w9100_text({{"l1_ways", "4\nscalar_cache_bytes = 1000"}}));
  ASSERT_FALSE(chip);
  EXPECT_NE(chip.error().text().find("1000 are no whole sets"), std::string::npos)
      << chip.error().text();
}

// Lines are of 64 bytes.
TEST(ChipFile, MemoryHasNoMoreLinesThanNumbers) {
  const std::string large = w9100_text({{"memory_bytes", "274877906944"}});  // 256 GiB
  expect_error(large, ErrorCode::out_of_range, "architecture.memory_bytes",
               line_of(large, "memory_bytes = "));
  EXPECT_TRUE(load_text(w9100_text({{"memory_bytes", "206158430208"}})));  // 192 GiB
}

// The chip's lines are those that the instruction set's counters are taken for.
TEST(ChipFile, LinesOfTheL1AreThoseOfTheInstructionSet) {
  for (const auto& [key, value] :
       {std::pair{"gfx_target", "\"gfx942\""}, {"l1_ways", "4\nl1_line_bytes = 128"}}) {
    const auto chip = load_text(w9100_text({{key, value}}));
    ASSERT_FALSE(chip) << key;
    EXPECT_EQ(chip.error().code, ErrorCode::out_of_range);
    EXPECT_NE(chip.error().text().find("set l1_line_bytes"), std::string::npos)
        << chip.error().text();
  }
  EXPECT_EQ(Chip::load({.chip = "mi300x_cpx"}).value().architecture().l1_line_bytes, 128);
}

// RDNA: an engine of a file is one of the two arrays of what programs see as an engine.
TEST(ChipFile, EnginesOfRdnaArePairsOfArrays) {
  EXPECT_EQ(Chip::load({.chip = "rx6800"}).value().architecture().arrays_per_engine(), 2);
  EXPECT_EQ(Chip::load({}).value().architecture().arrays_per_engine(), 1);
  auto toml = std::string(*builtin_chip_toml("rx6800"));
  const std::string arrays = "shader_engines = 6";
  toml.replace(toml.find(arrays), arrays.size(), "shader_engines = 5");
  const auto chip = load_text(toml);
  ASSERT_FALSE(chip);
  EXPECT_EQ(chip.error().code, ErrorCode::out_of_range);
  EXPECT_NE(chip.error().text().find("two shader arrays make an engine"), std::string::npos)
      << chip.error().text();
}

TEST(ChipFile, ReadsPairSpecificTerms) {
  const std::string text = w9100_text(
      {{"flop_pitch_mm", "3.7\npair_extra_pf = [[0,1,2,3],[0,0,0,0],[0,0,0,0],[0,0,0,9]]"}});
  const Chip chip = load_text(text).value();
  EXPECT_DOUBLE_EQ(chip.truth().wires.pair_extra_f[15], 9e-12);
  const std::string bad =
      w9100_text({{"flop_pitch_mm", "3.7\npair_extra_pf = [[0,1,2,3],[0,0,0,0]]"}});
  expect_error(bad, ErrorCode::out_of_range, "wires.pair_extra_pf", line_of(bad, "pair_extra_pf"));
}

TEST(ChipClass, NamesRoundTrip) {
  for (const ChipClass chip_class : {ChipClass::nested, ChipClass::mild, ChipClass::strong}) {
    EXPECT_EQ(chip_class_from_string(to_string(chip_class)).value(), chip_class);
  }
  EXPECT_EQ(chip_class_from_string("medium").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ww::sim::gpu
