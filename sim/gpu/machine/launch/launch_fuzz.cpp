// Damaged code objects, loaded and launched on every instruction set and in timing mode: whatever
// their headers, notes and code hold, the virtual GPU answers with a result or an error; the
// watchdog ends loops. Under libFuzzer run it with -len_control=0 -max_len=67: launches are slow,
// and inputs that grow with the number of runs would for long be too short to hold a change.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>

#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/image.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace {

using namespace ww::sim::gpu;
using ww::binpatch::CodeObject;

struct Target {
  const char* chip;
  const char* kernels;
  MemoryChecks checks;
  bool timing;
};

constexpr Target kTargets[] = {
    {"w9100", WW_EMULATOR_KERNELS, {}, false},
    {"w9100", WW_EMULATOR_KERNELS, {.memory = true, .races = true}, false},
    {"vega10", WW_EMULATOR_KERNELS_GFX900, {.memory = true}, false},
    {"mi210", WW_EMULATOR_KERNELS_GFX90A, {}, false},
    {"w9100", WW_EMULATOR_KERNELS, {}, true},
    {"w9100", WW_EMULATOR_IMAGES, {.memory = true}, false},
    {"vega10", WW_EMULATOR_IMAGES_GFX900, {}, false},
    {"mi210", WW_EMULATOR_IMAGES_GFX90A, {}, false},
    {"w9100", WW_EMULATOR_IMAGES, {}, true},
};

std::vector<std::byte> bytes_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct Device {
  explicit Device(const Target& target) : original(bytes_of(target.kernels)) {
    Chip chip = test::load_chip(target.chip);
    test::TrickOptions options{{.threads = 1, .watchdog_cycles = 5000}, {.replay = false}};
    options.watchdog_instructions = 20'000;
    options.on_fault = OnFault::report;
    options.checks = target.checks;
    options.most_dispatches = 4;
    options.keep_energies = false;
    if (target.timing) {
      options.timing = std::make_shared<const TimingConfig>(default_timing(chip.architecture()));
    }
    auto observer = std::make_unique<test::CountingObserver>(totals, false);
    observer->set_zones(static_cast<std::size_t>(chip.architecture().shader_engines) + 5);
    gpu = test::create(std::move(chip), options, std::move(observer));
    for (auto& buffer : buffers) buffer = *gpu->allocate(1 << 16);
    object = std::move(*CodeObject::parse(original));
  }
  // Writes what kernels on images find where their arguments point: an image in the third buffer,
  // and a sampler. The input chooses their kinds; the code's damage reaches the words.
  void describe_image(std::uint8_t choice) {
    const ImageFormat format = image_formats()[choice % image_formats().size()];
    const auto kind = static_cast<ImageKind>(choice % 6);
    ImageLayout layout{.kind = kind, .format = format, .width = 7, .address = buffers[2]};
    if (kind >= ImageKind::image_2d) layout.height = 5;
    if (kind == ImageKind::image_3d) layout.depth = 3;
    if (kind == ImageKind::image_1d_array || kind == ImageKind::image_2d_array) layout.layers = 3;
    layout.row_pitch = image_row_pitch(kind, format, layout.width);
    layout.slice_pitch = layout.row_pitch * layout.height;
    if (const auto words = image_descriptor(layout, gpu->chip().architecture().gfx_target)) {
      (void)gpu->write(buffers[0], std::as_bytes(std::span(*words)));
    }
    const auto sampler = sampler_descriptor(choice % 2 != 0, static_cast<Addressing>(choice % 5),
                                            static_cast<Filter>(choice / 128));
    (void)gpu->write(buffers[1], std::as_bytes(std::span(sampler)));
  }
  test::CountingObserver::Totals totals;
  std::unique_ptr<VirtualGpu> gpu;
  std::uint64_t buffers[3]{};
  std::vector<std::byte> original;
  std::optional<CodeObject> object;
};

// One change: a kind, two bytes of place, a value.
void damage(std::vector<std::byte>& bytes, const ww::binpatch::Kernel& kernel,
            const std::uint8_t* change) {
  const std::size_t place = change[1] | std::size_t{change[2]} << 8;
  const std::size_t words = std::max<std::size_t>(kernel.code_size / 4, 1);
  const std::size_t at = kernel.entry_file_offset + place % words * 4;
  switch (change[0] % 8) {
    case 0:  // anywhere: headers, notes, descriptors, other kernels
      bytes[(place * 251 + change[0]) % bytes.size()] ^= static_cast<std::byte>(change[3]);
      break;
    case 1:  // an instruction or a part of one in the place of another
    case 2: {
      const std::size_t from = kernel.entry_file_offset + (place / words + change[3]) % words * 4;
      std::memmove(bytes.data() + at, bytes.data() + from, 4);
      break;
    }
    default:  // a byte of an instruction
      bytes[at + change[0] % 4] ^= static_cast<std::byte>(change[3]);
  }
}

void run(Device& device, const std::vector<std::byte>& bytes, std::size_t choice,
         std::uint32_t group) {
  const auto object = CodeObject::parse(bytes);
  if (!object || object->kernels().empty()) return;
  const auto program = device.gpu->load(*object);
  if (!program) return;
  const auto& kernel = object->kernels()[choice % object->kernels().size()];
  const auto& b = device.buffers;
  (void)device.gpu->launch(*program, kernel.name, Grid{1, {2 * group, 1, 1}, {group, 1, 1}},
                           test::TestGpu::arguments(b[0], b[1], b[2], 3U), 1024);
  device.gpu->unload(*program);
}

}  // namespace

// Input: target, kernel, shape, then changes of four bytes; few of them, so that the code still
// runs. The last byte chooses the image that the arguments may be.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static auto& devices = *new std::array<std::unique_ptr<Device>, std::size(kTargets)>;
  if (size < 3) return 0;
  const std::size_t target = data[0] % std::size(kTargets);
  if (!devices[target]) devices[target] = std::make_unique<Device>(kTargets[target]);
  Device& device = *devices[target];
  const auto& kernels = device.object->kernels();
  const std::size_t choice = data[1] % kernels.size();
  std::vector<std::byte> bytes = device.original;
  const std::size_t changes = std::min<std::size_t>((size - 3) / 4, 1U + data[2] / 2 % 16);
  for (std::size_t i = 0; i < changes; ++i) damage(bytes, kernels[choice], data + 3 + 4 * i);
  if (data[2] >= 0xfc) bytes.resize(bytes.size() * data[1] / 256);
  device.describe_image(data[size - 1]);
  run(device, bytes, choice, data[2] % 2 == 0 ? 64 : 128);
  return 0;
}
