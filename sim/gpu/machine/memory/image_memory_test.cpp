// The way of image instructions through the machine: lines, counters, time, traces, findings, and
// descriptors that no driver would write.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "machine/testing/test_gpu.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/gpu/image.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/trace/reader.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::gpu::image_memory_test {
namespace {

using test::ImageGpu;
using test::TestGpu;

constexpr std::uint32_t kSide = 64;
constexpr std::uint32_t kItems = kSide * kSide;
using Positions = std::vector<std::array<std::int32_t, 4>>;

struct Scene {
  std::uint64_t image{};  // descriptors
  std::uint64_t sampler{};
  std::uint64_t whole{};  // each texel's position, row by row
  std::uint64_t between{};
  std::uint64_t out{};
  std::uint64_t texels{};
  ImageDescriptor words{};
};

ImageLayout square(ImageFormat format, std::uint64_t address) {
  ImageLayout layout{.format = format, .width = kSide, .height = kSide};
  layout.row_pitch = image_row_pitch(layout.kind, format, kSide);
  layout.slice_pitch = layout.row_pitch * kSide;
  layout.address = address;
  return layout;
}

template <std::size_t N>
std::uint64_t put(TestGpu& test, const std::array<std::uint32_t, N>& words) {
  return test.buffer(std::vector<std::uint32_t>(words.begin(), words.end()));
}

Scene make_scene(TestGpu& test, ImageFormat format, Filter filter) {
  Scene scene;
  ImageLayout layout = square(format, 0);
  std::vector<std::uint32_t> texels(image_bytes(layout) / 4);
  for (std::size_t i = 0; i < texels.size(); ++i) {
    texels[i] = 0x3F000000U + static_cast<std::uint32_t>(i * 2654435761U >> 9);
  }
  scene.texels = layout.address = test.buffer(texels);
  scene.words = *image_descriptor(layout, test.gpu().chip().architecture().gfx_target);
  scene.image = put(test, scene.words);
  scene.sampler = put(test, sampler_descriptor(false, Addressing::clamp_to_edge, filter));
  Positions whole(kItems);
  std::vector<std::array<float, 4>> between(kItems);
  for (std::uint32_t i = 0; i < kItems; ++i) {
    const std::uint32_t x = i % kSide, y = i / kSide;
    whole[i] = {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), 0, 0};
    between[i] = {static_cast<float>(x) + 0.75F, static_cast<float>(y) + 0.25F, 0, 0};
  }
  scene.whole = test.buffer(whole);
  scene.between = test.buffer(between);
  scene.out = test.buffer(kItems * 16);
  return scene;
}

constexpr ImageFormat kFloats{ChannelOrder::rgba, ChannelType::single_float};
constexpr ImageFormat kFloat{ChannelOrder::r, ChannelType::single_float};

TEST(ImageMemory, TexelsAreLinesLikeOtherBytes) {
  ImageGpu test;
  const Scene scene = make_scene(test, kFloat, Filter::nearest);
  test.launch("load_2d", kItems, 64, scene.image, scene.whole, scene.out);
  // A wave's row: 256 bytes of texels, 1024 of positions, 1024 of results.
  constexpr auto kWaves = kItems / 64;
  EXPECT_EQ(test.totals.reads, kWaves * (4 + 16));
  EXPECT_EQ(test.totals.writes, kWaves * 16U);
  EXPECT_EQ(test.counter("SQ_INSTS_VMEM_RD"), kWaves * 2.0);
}

TEST(ImageMemory, AnyNumberOfThreadsGivesTheSame) {
  std::vector<std::uint64_t> hashes;
  std::vector<std::vector<std::uint32_t>> results;
  for (const unsigned threads : {1U, 2U, 2U}) {
    ImageGpu test(Options{.threads = threads});
    const Scene scene = make_scene(test, kFloats, Filter::linear);
    test.launch("sample_2d", kItems, 256, scene.image, scene.sampler, scene.between, scene.out);
    hashes.push_back(test.totals.hash);
    test.launch("store_2d", kItems, 256, scene.image, scene.whole, scene.out);
    hashes.back() ^= test.totals.hash;
    results.push_back(test.read<std::uint32_t>(scene.texels, kItems * 4));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[1], hashes[2]);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[1], results[2]);
}

TEST(ImageMemory, TimingModeReadsAndWritesTheSame) {
  std::vector<std::vector<std::uint32_t>> results;
  for (const bool timing : {false, true}) {
    Options options{.threads = 1};
    if (timing) {
      options.timing =
          std::make_shared<const TimingConfig>(default_timing(test::load_w9100().architecture()));
    }
    ImageGpu test(options, true, "w9100");
    for (const Filter filter : {Filter::nearest, Filter::linear}) {
      const Scene scene = make_scene(test, kFloats, filter);
      test.launch("sample_2d", kItems, 64, scene.image, scene.sampler, scene.between, scene.out);
      results.push_back(test.read<std::uint32_t>(scene.out, kItems * 4));
      test.launch("store_2d", kItems, 64, scene.image, scene.whole, scene.out);
      results.push_back(test.read<std::uint32_t>(scene.texels, kItems * 4));
    }
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i], results[4 + i]) << i;
}

TEST(ImageMemory, AStoreIsAChangeThatReplayMayNotLeaveOut) {
  ImageGpu test;
  const Scene scene = make_scene(test, kFloats, Filter::nearest);
  const auto load = [&] {
    return test.launch("load_2d", kItems, 64, scene.image, scene.whole, scene.out).replayed;
  };
  load();
  load();
  EXPECT_TRUE(load());
  const std::vector<float> value(kItems * 4, 3.0F);
  const auto values = test.buffer(value);
  EXPECT_FALSE(test.launch("store_2d", kItems, 64, scene.image, scene.whole, values).replayed);
  EXPECT_FALSE(load());
  EXPECT_EQ(test.read<float>(scene.out, kItems * 4), value);
}

// Cycles that a CU is busy for waves that sample so often.
double busy_cycles(Filter filter, std::uint32_t waves, std::uint32_t samples) {
  ImageGpu test(Options{.threads = 1}, false);
  const Scene scene = make_scene(test, kFloats, filter);
  const auto cus = static_cast<std::uint32_t>(test.gpu().chip().architecture().compute_units());
  const std::uint32_t items = cus * waves * 64;
  const auto out = test.buffer(std::uint64_t{items} * 16);
  test.launch("sample_often", items, 64, scene.image, scene.sampler, out, samples);
  std::uint64_t busy = 0;
  for (const auto& cu : test.totals.cus) busy += cu.busy_cycles;
  return static_cast<double>(busy) / cus;
}

// A wave takes the texture units 16 cycles for a nearest texel, 64 for a filtered one of 16 bytes.
TEST(ImageMemory, FilteringTakesTheTextureUnits) {
  constexpr std::uint32_t kWaves = 20;
  constexpr std::uint32_t kFew = 4;
  constexpr std::uint32_t kMany = 14;
  for (const auto& [filter, cycles] : {std::pair{Filter::nearest, 16}, {Filter::linear, 64}}) {
    const double more = busy_cycles(filter, kWaves, kMany) - busy_cycles(filter, kWaves, kFew);
    EXPECT_NEAR(more / (kWaves * (kMany - kFew)), cycles, 0.1 * cycles);
  }
}

TEST(ImageMemory, TheTraceHasTheTexels) {
  const auto folder = ScratchFolder::create("image");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto file = folder->path() / "trace";
  Scene scene;
  {
    auto writer = trace::Writer::create(file, "test");
    ASSERT_TRUE(writer);
    ImageGpu test(Options{.threads = 1, .trace = writer->get()});
    scene = make_scene(test, kFloats, Filter::linear);
    test.launch("sample_2d", kItems, 64, scene.image, scene.sampler, scene.between, scene.out);
    ASSERT_TRUE((*writer)->finish());
    const auto texels = test.read<std::uint32_t>(scene.texels, kItems * 4);
    auto reader = trace::Reader::open(file);
    ASSERT_TRUE(reader);
    std::vector<int> seen(kItems);
    trace::Access access;
    while (*reader->next(access)) {
      const auto& instruction = reader->instructions()[access.instruction];
      if (!instruction.name.starts_with("image_")) continue;
      EXPECT_EQ(instruction.element_bytes, 16);
      EXPECT_EQ(instruction.operation, trace::Operation::load);
      for (auto set = access.lanes; set != 0; set &= set - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(set));
        const std::uint64_t place = (access.address[lane] - scene.texels) / 16;
        ASSERT_LT(place, kItems);
        ++seen[place];
        ASSERT_EQ(std::memcmp(access.value.data() + lane * trace::kMaxValueBytes,
                              texels.data() + place * 4, 16),
                  0);
      }
    }
    // Four texels a sample, within the image; those at the edges stand for what lies beyond.
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), static_cast<int>(kItems * 4));
    EXPECT_EQ(seen[kSide + 1], 4);
  }
}

TEST(ImageMemory, ImagesOutsideOfAllocationsAreFound) {
  for (const OnFault on_fault : {OnFault::stop, OnFault::report}) {
    for (const Filter filter : {Filter::nearest, Filter::linear}) {
      ImageGpu test(Options{.threads = 1, .on_fault = on_fault});
      const Scene scene = make_scene(test, kFloats, filter);
      ImageLayout far = square(kFloats, 0x7000'0000'0000);
      const auto image =
          put(test, *image_descriptor(far, test.gpu().chip().architecture().gfx_target));
      const Grid grid{1, {64, 1, 1}, {64, 1, 1}};
      for (const auto& result :
           {test.try_launch("sample_2d", grid, image, scene.sampler, scene.between, scene.out),
            test.try_launch("store_2d", grid, image, scene.whole, scene.out)}) {
        EXPECT_EQ(result.has_value(), on_fault == OnFault::report);
        if (!result) {
          EXPECT_NE(result.error().message.find("memory fault"), std::string::npos);
        }
        ASSERT_FALSE(test.gpu().findings().empty());
        EXPECT_EQ(test.gpu().findings()[0].kind, FindingKind::out_of_bounds);
      }
    }
  }
}

TEST(ImageMemory, DescriptorsThatMeanNothingEndTheLaunchByName) {
  ImageGpu test;
  const Scene scene = make_scene(test, kFloats, Filter::nearest);
  const Grid grid{1, {64, 1, 1}, {64, 1, 1}};
  const auto nothing = test.buffer(std::vector<std::uint32_t>(16));
  auto result =
      test.try_launch("sample_2d", grid, nothing, scene.sampler, scene.between, scene.out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  EXPECT_NE(result.error().message.find("type 0"), std::string::npos);
  // Still in order behind it.
  EXPECT_TRUE(
      test.try_launch("sample_2d", grid, scene.image, scene.sampler, scene.between, scene.out));
}

// Whatever the words are: an answer or an error.
TEST(ImageMemory, NoDescriptorIsTooHostile) {
  test::TrickOptions options{{.threads = 1}, {.replay = false}};
  options.on_fault = OnFault::report;
  ImageGpu test(options, false);
  const Scene scene = make_scene(test, kFloats, Filter::linear);
  std::uint64_t state = 99;
  const auto random = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state >> 32);
  };
  const Grid grid{1, {64, 1, 1}, {64, 1, 1}};
  int ran = 0;
  for (int i = 0; i < 400; ++i) {
    ImageDescriptor image = scene.words;
    SamplerDescriptor sampler = sampler_descriptor(true, Addressing::repeat, Filter::linear);
    for (int changes = 0; changes < 1 + i % 6; ++changes) {
      image[random() % 8] ^= 1U << random() % 32;
      sampler[random() % 4] ^= i % 3 == 0 ? 1U << random() % 32 : 0U;
    }
    std::vector<std::uint32_t> at(64 * 4);
    for (auto& word : at) word = random() >> random() % 32;
    const auto image_address = put(test, image);
    const auto sampler_address = put(test, sampler);
    const auto positions = test.buffer(at);
    for (const char* kernel : {"sample_2d", "sample_3d", "sample_1d_array"}) {
      ran += test.try_launch(kernel, grid, image_address, sampler_address, positions, scene.out)
                 ? 1
                 : 0;
    }
    for (const char* kernel : {"load_2d_array", "store_3d", "load_1d_buffer", "store_1d_buffer"}) {
      ran += test.try_launch(kernel, grid, image_address, positions, scene.out) ? 1 : 0;
    }
    for (const auto address : {image_address, sampler_address, positions}) {
      ASSERT_TRUE(test.gpu().release(address));
    }
  }
  EXPECT_GT(ran, 400);
}

}  // namespace
}  // namespace ww::sim::gpu::image_memory_test
