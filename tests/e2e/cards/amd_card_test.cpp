// A campaign on an AMD card from the command line, without one: HIP's runtime, or AMD's OpenCL, is
// a stub that executes code objects on the virtual GPU, the card's sensor is a tree of kernel files
// that the chip's own sensor is written into, and the program lives in the chip's time
// (microbench/test_support). What runs is what runs on a card: telemetry, pinning by patch,
// topology, sampler, campaign, fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "pattern.hpp"
#include "process.hpp"
#include "stub_card.hpp"
#include "testing/fake_amd_tree.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using nlohmann::json;
using ::testing::HasSubstr;

// Kinds of cards, by what their files show.
struct Kind {
  const char* name;
  const char* device_id;
  int clock_mhz;
};

class AmdCard : public ::testing::Test {
 protected:
  explicit AmdCard(const Kind& kind = {"AMD FirePro W9100", "0x67a0", 930})
      : tree_(folder_.path() / "sys", {.name = kind.name, .metrics_content = 1}) {
    const std::string mhz = std::to_string(kind.clock_mhz);
    tree_.write(tree_.device() / "device", kind.device_id);
    tree_.write(tree_.device() / "pp_dpm_sclk", "0: 300Mhz\n1: " + mhz + "Mhz *");
    tree_.write(tree_.hwmon() / "freq1_label", "sclk");
    tree_.write(tree_.hwmon() / "freq1_input", mhz + "000000");
  }
  [[nodiscard]] Environment environment() const {
    return stub_card_environment(folder_.path(), chip_);
  }
  // rocprof that lets the stub count, where the program is its own; else whatever `body` does.
  void install_rocprof(const std::string& body) const {
    const auto program = folder_.path() / "bin/rocprof";
    std::filesystem::create_directories(program.parent_path());
    std::ofstream(program) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  static json named(const json& list, const std::string& key, const std::string& name) {
    for (const json& entry : list) {
      if (entry.at(key) == name) return entry;
    }
    return {};
  }

  [[nodiscard]] static std::vector<std::string> calibrate_words(
      const std::string& device, const std::filesystem::path& out,
      const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{wirewatt(), "calibrate",  "--device", device,
                                   "--quick",  "--seed",     "1",        "--no-clock-control",
                                   "--out",    out.string(), "--json"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }
  [[nodiscard]] Finished calibrate(const std::filesystem::path& out,
                                   const std::vector<std::string>& options = {}) const {
    return run(calibrate_words("hip:0", out, options), environment());
  }

  TemporaryFolder folder_;
  std::string chip_{"w9100"};
  FakeAmdTree tree_;
};

// $4 is where rocprof's table goes; the stub writes one of its own dispatches there.
constexpr const char* kCounting = R"(
[ "$1" = -i ] && [ "$3" = -o ] || exit 9
output=$4
shift 6
export WW_STUB_HIP_COUNTERS="$output"
exec "$@"
)";

TEST_F(AmdCard, IsListedAsUsableAndVirtual) {
  const auto finished = run({wirewatt(), "devices", "--json"}, environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json device = named(finished.json()["devices"], "name", "hip:0");
  ASSERT_FALSE(device.is_null()) << finished.out;
  EXPECT_EQ(device["usable"], true) << device;
  EXPECT_EQ(device["virtual"], true);
  EXPECT_THAT(device["description"].get<std::string>(), HasSubstr("amdgpu files"));
}

TEST_F(AmdCard, OfAnUnknownKindIsRefusedByItsPciId) {
  tree_.write(tree_.device() / "device", "0x73bf");
  const auto finished = run({wirewatt(), "calibrate", "--device", "hip:0", "--quick", "--out",
                             (folder_.path() / "run").string()},
                            environment());
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("0x73bf"));
  EXPECT_THAT(finished.err, HasSubstr("Hawaii"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run"));
}

TEST_F(AmdCard, ShowsItsCountersToTheDoctorThroughAProfiler) {
  install_rocprof(kCounting);
  const auto finished = run(
      {wirewatt(), "doctor", "--device", "hip:0", "--no-step-test", "--no-clock-control", "--json"},
      environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  const json mapping = named(report["findings"], "capability", "counters l1_l2");
  EXPECT_EQ(mapping["verdict"], "good") << report["findings"].dump(1);
}

TEST_F(AmdCard, WhoseProfilerContradictsTheStreamsIsRefused) {
  // Streams that were counted double, copies as they are.
  install_rocprof(R"(
output=$4
shift 6
WW_STUB_HIP_COUNTERS="$output" "$@" || exit 7
awk -F, -v OFS=, '/l2_stream/ { for (i = 18; i <= NF; ++i) $i *= 2 } { print }' "$output" > "$output.2"
mv "$output.2" "$output"
)");
  const auto finished = run({wirewatt(), "calibrate", "--device", "hip:0", "--quick",
                             "--no-clock-control", "--out", (folder_.path() / "run").string()},
                            environment());
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("+100."));
}

TEST_F(AmdCard, IsSelftestedAndJudgedAlikeWhenTheFileIsReplayed) {
  const std::string file = (folder_.path() / "test.wwst").string();
  const auto made =
      run({wirewatt(), "selftest", "--device", "hip:0", "-o", file, "--json"}, environment());
  ASSERT_EQ(made.exit_code, 0) << made.err << made.out;
  const auto replayed = run({wirewatt(), "selftest", "--replay", file, "--json"});
  EXPECT_EQ(replayed.out, made.out);
  const json report = made.json();
  for (const char* part : {"pinning", "latency", "sensor power", "step test"}) {
    EXPECT_EQ(named(report["findings"], "capability", part)["verdict"], "good")
        << report["findings"].dump(1);
  }
  // The copies take less time on the stub's clock than the sensor needs for a figure.
  EXPECT_THAT(named(report["findings"], "capability", "stream")["detail"].get<std::string>(),
              HasSubstr("were right"));
  EXPECT_LT(std::filesystem::file_size(file), 800'000u);
}

// A campaign's figure through the virtual GPU's own door, and the figure that can be sensed there:
// wirewatt calibrate --device virtual:CHIP --quick --seed 1, and wirewatt score [fJ/bit/mm, at
// 1.1687 V].
struct Twin {
  double found_fj, sensed_fj;
};

// Both show the requested voltage, and the load line that is assumed, 0.25 mOhm, is steeper than
// the chip's 0.18. A card reports no nominal voltage: the answer is for the one that was read.
void expect_the_twins_figures(const Twin& twin, const Finished& finished,
                              const std::filesystem::path& out, double tolerance_fj) {
  const json result = finished.json();
  EXPECT_EQ(result["virtual"], true);
  const json& energy = result["energy_fj_per_bit_mm"];
  std::ifstream model_file(out / "model.json");
  const json model = parse_json(model_file);
  const double over = 1.1687 / model["reference"]["voltage_v"].get<double>();
  const double at_nominal = over * over;
  EXPECT_NEAR(energy["value"].get<double>() * at_nominal, twin.found_fj, tolerance_fj)
      << result.dump(1);
  EXPECT_LT(energy["low"].get<double>() * at_nominal, twin.sensed_fj) << result.dump(1);
  EXPECT_GT(energy["high"].get<double>() * at_nominal, twin.sensed_fj) << result.dump(1);
  EXPECT_FALSE(model["misfit"]["flagged"].get<bool>()) << model["misfit"].dump(1);
  EXPECT_LT(result["rejected"].get<int>(), result["runs"].get<int>() / 10);
}

// The main job on AMD hardware, from the first launch to the fit.
class AmdCampaign : public AmdCard {
 protected:
  void expect_it_through_hip(const Twin& twin, double tolerance_fj) const {
    install_rocprof(kCounting);
    const auto out = folder_.path() / "run";
    const Finished finished = calibrate(out);
    ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    EXPECT_EQ(finished.json()["device"], "hip:0");
    EXPECT_THAT(finished.json()["traffic"].get<std::string>(), HasSubstr("rocprof agrees"));
    expect_the_twins_figures(twin, finished, out, tolerance_fj);
  }
  // Where there is no HIP, the card's place is all that ties its OpenCL device to its sensor.
  void expect_it_through_opencl(const Twin& twin, double tolerance_fj) const {
    const Environment opencl = stub_opencl_environment(folder_.path(), chip_);
    const json devices = run({wirewatt(), "devices", "--json"}, opencl).json()["devices"];
    const json device = named(devices, "name", "opencl:0.0");
    ASSERT_FALSE(device.is_null()) << devices.dump(1);
    EXPECT_EQ(device["usable"], true) << device;
    EXPECT_EQ(device["virtual"], true) << device;
    EXPECT_THAT(device["description"].get<std::string>(),
                AllOf(HasSubstr("AMD Accelerated Parallel Processing"), HasSubstr("amdgpu files")));
    const auto out = folder_.path() / "run";
    const Finished finished = run(calibrate_words("opencl:0.0", out), opencl);
    ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    EXPECT_EQ(finished.json()["device"], "opencl:0.0");
    expect_the_twins_figures(twin, finished, out, tolerance_fj);
  }
};

// All engines and homes, of four compute units each. The sensor averages over 5 ms for 1 ms, which
// leaves a fifth of the readings.
class AmdSmallChip : public AmdCampaign {
 protected:
  static constexpr Twin kTwin{211.7, 207.4};
  AmdSmallChip() {
    chip_ = write_small_chip(folder_.path(), "w9100", 4, 1 << 20);
    std::ifstream file(chip_);
    std::string text(std::istreambuf_iterator<char>(file), {});
    // A chip file that names a floorplan must have all of its compute units.
    text = replaced(text, "\nfloorplan = [^\n]*", "");
    text = replaced(text, "\n(period|window)_ns = 1000000", "\n$1_ns = 5000000");
    std::ofstream(chip_) << text;
  }
};

TEST_F(AmdSmallChip, IsCalibratedThroughHipByTheSameCampaignAsTheVirtualOne) {
  expect_it_through_hip(kTwin, 5);
}

// Its furnace was compiled from the source and heats the chip otherwise.
TEST_F(AmdSmallChip, IsCalibratedThroughItsOpenClWhereThereIsNoHip) {
  expect_it_through_opencl(kTwin, 10);
}

// A campaign on the chip of virtual:w9100.
class AmdWholeChip : public AmdCampaign {
 protected:
  static constexpr Twin kTwin{214.9, 210.2};
};

TEST_F(AmdWholeChip, IsCalibratedThroughHipByTheSameCampaignAsTheVirtualOne) {
  expect_it_through_hip(kTwin, 4);
}

TEST_F(AmdWholeChip, IsCalibratedThroughItsOpenClWhereThereIsNoHip) {
  expect_it_through_opencl(kTwin, 10);
}

// Cards whose drivers steer channels to slices. No floorplan is used, because the virtual chips
// have none.
struct ByHomes {
  Kind kind;
  const char* chip;    // the virtual one behind the card,
  const char* target;  // whose instructions are now the card's
};
class AmdCardByHomes : public AmdCard, public ::testing::WithParamInterface<ByHomes> {
 protected:
  AmdCardByHomes() : AmdCard(GetParam().kind) {
    twin_ = write_small_chip(folder_.path(), GetParam().chip, 6, 1 << 20);
    std::ifstream file(twin_);
    std::string text(std::istreambuf_iterator<char>(file), {});
    const std::string key = "gfx_target = \"";
    const auto begin = text.find(key) + key.size();
    text.replace(begin, text.find('"', begin) - begin, GetParam().target);
    chip_ = (folder_.path() / "card.toml").string();
    std::ofstream(chip_) << text;
  }
  std::string twin_;  // the chip as it is built in, but for its size
};

TEST_P(AmdCardByHomes, IsCalibratedPerNanosecondAsTheVirtualOneIs) {
  install_rocprof(kCounting);
  const auto out = folder_.path() / "run";
  const Finished finished = calibrate(out, {"--no-floorplan"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json result = finished.json();
  EXPECT_EQ(result["virtual"], true);
  EXPECT_EQ(result["device"], "hip:0");
  EXPECT_TRUE(result["energy_fj_per_bit_mm"]["value"].is_null()) << result.dump(1);
  const auto twin_out = folder_.path() / "twin";
  const Finished on_twin = run({wirewatt(), "calibrate", "--device", "virtual:" + twin_, "--quick",
                                "--seed", "1", "--out", twin_out.string()});
  ASSERT_EQ(on_twin.exit_code, 0) << on_twin.err;
  const auto model_in = [](const std::filesystem::path& folder) {
    std::ifstream file(folder / "model.json");
    return parse_json(file);
  };
  const json model = model_in(out);
  const json twin = model_in(twin_out);
  const auto volt = [](const json& of) { return of["reference"]["voltage_v"].get<double>(); };
  const double over = volt(twin) / volt(model);
  const double expected = twin["energy_fj_per_bit_ns"]["value"].get<double>() / (over * over);
  const json& energy = model["energy_fj_per_bit_ns"];
  EXPECT_LT(energy["low"].get<double>(), expected) << energy.dump(1);
  EXPECT_GT(energy["high"].get<double>(), expected) << energy.dump(1);
  EXPECT_FALSE(model["misfit"]["flagged"].get<bool>()) << model["misfit"].dump(1);
  EXPECT_LT(result["rejected"].get<int>(), result["runs"].get<int>() / 10);
  GTEST_LOG_(INFO) << GetParam().kind.name << ": " << energy["value"] << " [" << energy["low"]
                   << ", " << energy["high"] << "] fJ/bit/ns, of the twin at the same voltage "
                   << expected << "; " << result["runs"] << " runs";
}

INSTANTIATE_TEST_SUITE_P(
    Cards, AmdCardByHomes,
    ::testing::Values(ByHomes{{"AMD Instinct MI50", "0x66a1", 1725}, "vega20", "gfx906"},
                      ByHomes{{"AMD Instinct MI100", "0x738c", 1502}, "mi100", "gfx908"}),
    [](const auto& info) { return std::string(info.param.chip); });

}  // namespace
}  // namespace ww::e2e
