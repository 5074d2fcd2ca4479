#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <nlohmann/json.hpp>

#include "ww/selftest/selftest.hpp"

namespace ww::selftest {
namespace {

using measure::Finding;
using measure::Verdict;
using ::testing::HasSubstr;

// Six steps from 100 W to 150 W on a sensor that refreshes each millisecond, and a stream of 1 s.
Archive example() {
  Archive archive;
  archive.version = "9.9";
  archive.system = "Linux 6.1 x86_64";
  archive.device = "hip:0";
  archive.name = "a card";
  archive.target = "gfx90a";
  archive.elapsed_s = 61.5;
  archive.libraries = {{"HIP", Verdict::good, "/opt/rocm/lib/libamdhip64.so.7", ""}};
  archive.sensor = "amdgpu files of a card";
  archive.fields = {{"voltage", measure::FieldStatus::missing, "no such file"}};
  constexpr std::int64_t ms = 1'000'000;
  std::int64_t ticks = 1000;
  const auto record = [&](Recording& into, std::int64_t from_ms, std::int64_t to_ms) {
    for (std::int64_t at = from_ms; at < to_ms; ++at) {
      bool on = false;
      for (const auto& step : into.steps)
        on = on || (at * ms >= step.on_ns && at * ms < step.off_ns);
      SensorReading reading;
      reading.time_ns = reading.poll_ns = at * ms;
      const std::int64_t watts = on ? 150 : 100;
      reading.power_uw = watts * 1'000'000;
      ticks += watts * 65536 / 1000;
      reading.energy_ticks = ticks;
      if (at % 100 == 0) reading.temperature_mc = 41'000;
      reading.changed = true;  // the counter moves
      into.readings.push_back(reading);
    }
  };
  for (std::int64_t step = 0; step < 6; ++step) {
    archive.step_test.steps.push_back({(2000 + 4000 * step) * ms, (4000 + 4000 * step) * ms});
  }
  record(archive.step_test, 0, 26'000);
  archive.step_test.rails = {{5 * ms, 70, "aid_energy", "2^-16 J", 100},
                             {105 * ms, 80, "aid_energy", "2^-16 J", 900}};
  archive.stream.steps = {{31'000 * ms, 32'000 * ms}};
  archive.stream.bytes = 32e6;
  record(archive.stream, 30'000, 33'000);
  microbench::Topology topology;
  topology.latency.found = true;
  topology.latency.ticks = {{300, 320}, {320, 300}};
  topology.latency.contrast_ticks = 10;
  topology.latency.noise_ticks = 1;
  archive.topology = topology;
  archive.probes.contentions = {{0, 0, 14.2e-6}, {0, 256, 9.1e-6}};
  archive.probes.ticks = {{{310.5, 322}, {330, 301.25}}, {{311, 323}, {329, 300}}};
  archive.sleeps = microbench::SleepCurve{"s_sleep", {0, 127}, {{16, 20, 18}, {8150, 8144, 8160}}};
  archive.visibility = microbench::Visibility{512, 32, 0, 9000, 1, 2};
  for (std::uint32_t wave = 0; wave < 8; ++wave) {
    archive.waves.push_back(
        {wave, wave / 4, (wave / 4) ^ 0x5EC0DE01U, wave % 2 * 256, 0, static_cast<int>(wave % 2)});
  }
  return archive;
}

Finding of(const Archive& archive, const std::string& capability) {
  for (const Finding& finding : judge(archive)) {
    if (finding.capability == capability) return finding;
  }
  ADD_FAILURE() << capability;
  return {};
}

TEST(Selftest, GivesTheSameJudgementsReplayedAsAtFirst) {
  const Archive archive = example();
  const std::string bytes = archive_bytes(archive);
  EXPECT_LT(bytes.size(), 60'000u);  // 29,000 readings
  const auto replayed = parse_archive(bytes, "x.wwself");
  ASSERT_TRUE(replayed) << replayed.error().text();
  EXPECT_EQ(report(*replayed), report(archive));
  EXPECT_EQ(replayed->step_test.readings.size(), 26'000u);
  EXPECT_EQ(replayed->step_test.readings[7].energy_ticks,
            archive.step_test.readings[7].energy_ticks);
  EXPECT_EQ(replayed->step_test.rails[1].value, 900);
  EXPECT_EQ(replayed->waves[5].id, 256u);
  ASSERT_EQ(replayed->probes.contentions.size(), 2u);
  EXPECT_EQ(replayed->probes.contentions[1].second, 256u);
  EXPECT_NEAR(replayed->probes.contentions[1].seconds, 9.1e-6, 1e-12);
  EXPECT_EQ(replayed->probes.ticks, archive.probes.ticks);
  ASSERT_TRUE(replayed->sleeps);
  EXPECT_EQ(replayed->sleeps->ticks, archive.sleeps->ticks);
  ASSERT_TRUE(replayed->visibility);
  EXPECT_EQ(replayed->visibility->stale_plain, 9000);
}

// Stale lines for the streams' loads are a fault; none for plain loads proves nothing.
TEST(Selftest, JudgesStaleLinesByTheControl) {
  Archive archive = example();
  EXPECT_EQ(of(archive, "loads pass the caches").verdict, Verdict::good);
  archive.visibility->stale_plain = 0;
  EXPECT_EQ(of(archive, "loads pass the caches").verdict, Verdict::limited);
  archive.visibility->stale = 1;
  EXPECT_EQ(of(archive, "loads pass the caches").verdict, Verdict::bad);
  archive.parts.push_back({"sleeps", "done", "", 1});
  EXPECT_THAT(of(archive, "sleeps").detail, HasSubstr("127: 8150"));
}

// Texts that strangers send become cells of a table, and virtual GPUs are no cards.
TEST(Selftest, PageOfCardsHasARowForEachCard) {
  EXPECT_THAT(cards_page({}), HasSubstr("No file has been received yet"));
  Archive stranger = example();
  stranger.name = "a | <b>card</b>\n";
  Archive simulated = example();
  simulated.name = "virtual W9100";
  simulated.is_virtual = true;
  const std::string page = cards_page({stranger, example(), simulated});
  EXPECT_THAT(page, HasSubstr("\n| a \\| \\<b>card\\</b>  | gfx90a | - | good | good | good |"));
  EXPECT_THAT(page, HasSubstr("\n## a card (gfx90a)\n\n- "));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("virtual W9100")));
}

TEST(Selftest, JudgesEveryPartByWhatItShowed) {
  const Archive archive = example();
  EXPECT_EQ(of(archive, "pinning").verdict, Verdict::good);
  EXPECT_EQ(of(archive, "latency").verdict, Verdict::good);
  EXPECT_EQ(of(archive, "sensor power").verdict, Verdict::good);
  EXPECT_EQ(of(archive, "sensor voltage").verdict, Verdict::unavailable);
  EXPECT_THAT(of(archive, "sensor voltage").detail, HasSubstr("no such file"));
  EXPECT_EQ(of(archive, "step test").verdict, Verdict::good);
  EXPECT_THAT(of(archive, "step test").detail, HasSubstr("6 steps of 50.0 W"));
  EXPECT_THAT(of(archive, "stream").detail, HasSubstr("32.0 MB"));
  EXPECT_THAT(of(archive, "stream").detail, HasSubstr("150."));
  EXPECT_THAT(of(archive, "rail aid_energy").detail, HasSubstr("grew by 800"));
}

TEST(Selftest, SaysWhatElseTheSensorMeasures) {
  Archive shared = example();
  shared.fields.push_back({"package", measure::FieldStatus::ok, "power is the whole GPU's"});
  EXPECT_EQ(of(shared, "what is measured").detail, "power is the whole GPU's");
  EXPECT_THAT(of(shared, "stream").detail, HasSubstr("W; power is the whole GPU's"));
}

TEST(Selftest, SaysWhatIsWrong) {
  Archive unpinned = example();
  unpinned.waves[3].unpatched ^= 1;
  EXPECT_EQ(of(unpinned, "pinning").verdict, Verdict::bad);
  Archive one_place = example();
  for (auto& wave : one_place.waves) wave.cu = 7;
  EXPECT_EQ(of(one_place, "pinning").verdict, Verdict::bad);
  Archive frozen = example();
  for (auto& reading : frozen.step_test.readings) reading.power_uw = 100'000'000;
  EXPECT_EQ(of(frozen, "sensor power").verdict, Verdict::bad);
  EXPECT_THAT(of(frozen, "sensor power").detail, HasSubstr("frozen"));
  Archive without = example();
  without.step_test = {};
  without.step_test.absent = "no sensor for the GPU";
  EXPECT_EQ(of(without, "sensor").verdict, Verdict::unavailable);
  EXPECT_THAT(of(without, "sensor").detail, HasSubstr("no sensor for the GPU"));
}

TEST(Selftest, RefusesFilesThatAreNoWholeArchives) {
  const std::string bytes = archive_bytes(example());
  EXPECT_EQ(parse_archive("", "x").error().code, ErrorCode::parse_error);
  EXPECT_EQ(parse_archive("something else", "x").error().code, ErrorCode::parse_error);
  for (const std::size_t size : {bytes.size() / 4, bytes.size() / 2, bytes.size() - 1}) {
    const auto cut = parse_archive(bytes.substr(0, size), "x");
    ASSERT_FALSE(cut) << size;
    EXPECT_THAT(cut.error().message, HasSubstr("damaged"));
  }
  const auto compressed = [](const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
    return out;
  };
  EXPECT_THAT(parse_archive(compressed("{}"), "x").error().message, HasSubstr("no archive"));
  const auto newer =
      parse_archive(compressed(R"({"format":"wirewatt selftest","format_version":2})"), "x");
  EXPECT_EQ(newer.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace ww::selftest
