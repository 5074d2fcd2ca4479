// Damaged code objects, loaded and launched: whatever their headers, notes and code hold, the
// virtual GPU answers with a result or an error; the watchdog ends loops.
#include <cstdint>
#include <memory>

#include "exec/test_gpu.hpp"

namespace {

using namespace ww::sim::gpu;
using ww::binpatch::CodeObject;

struct Device {
  Device() {
    Options options{.threads = 1, .replay = false, .watchdog_cycles = 5000};
    options.watchdog_instructions = 100'000;
    options.on_fault = OnFault::report;
    options.checks = {.memory = true, .races = true};
    gpu = std::move(*VirtualGpu::create(test::load_w9100(), options,
                                        std::make_unique<test::CountingObserver>(totals, false)));
    for (auto& buffer : buffers) buffer = *gpu->allocate(1 << 16);
    const CodeObject object = test::read_kernels();
    original.assign(object.bytes().begin(), object.bytes().end());
  }
  test::CountingObserver::Totals totals;
  std::unique_ptr<VirtualGpu> gpu;
  std::uint64_t buffers[3]{};
  std::vector<std::byte> original;
};

void run(Device& device, const std::vector<std::byte>& bytes, unsigned choice) {
  const auto object = CodeObject::parse(bytes);
  if (!object) return;
  const auto program = device.gpu->load(*object);
  if (!program) return;
  const auto& kernels = object->kernels();
  if (!kernels.empty()) {
    const auto& kernel = kernels[choice % kernels.size()];
    const auto& b = device.buffers;
    (void)device.gpu->launch(*program, kernel.name, Grid{1, {256, 1, 1}, {128, 1, 1}},
                             test::TestGpu::arguments(b[0], b[1], b[2], 3U), 1024);
  }
  device.gpu->unload(*program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Device& device = *new Device;
  if (size < 2) return 0;
  // A list of changes to a valid object: three bytes of place, one of value; then perhaps an end.
  std::vector<std::byte> bytes = device.original;
  for (std::size_t i = 2; i + 3 < size && i < 66; i += 4) {
    const std::size_t at = data[i] | std::size_t{data[i + 1]} << 8 | std::size_t{data[i + 2]} << 16;
    bytes[at % bytes.size()] ^= static_cast<std::byte>(data[i + 3]);
  }
  if (data[1] % 16 == 0) bytes.resize(bytes.size() * data[1] / 256);
  run(device, bytes, data[0]);
  return 0;
}
