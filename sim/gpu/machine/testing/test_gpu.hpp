// A virtual GPU with the test kernels loaded, for tests and the benchmark.
#pragma once

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "fast/tricks.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/core/hash.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::test {

// Counts and hashes what the emulator reports, instead of its energy.
class CountingObserver final : public ActivityObserver {
 public:
  static constexpr std::size_t kMax = 64;  // engines, and channels of a die
  struct Totals {
    std::uint64_t reads{}, writes{}, atomics{}, payload_bytes{}, fills{}, writebacks{};
    std::uint64_t hash{};
    bool ordered{true};
    std::vector<CuActivity> cus;
    std::vector<ChannelActivity> channels;
    IoDieActivity io_dies;
    std::vector<std::uint64_t> channel_bytes = std::vector<std::uint64_t>(kMax);
    std::vector<std::uint64_t> engine_bytes = std::vector<std::uint64_t>(kMax);
  };
  // Hashes every payload if `payloads`; else counts as fast as can be.
  CountingObserver(Totals& totals, bool payloads) : totals_(totals), payloads_(payloads) {}

  void begin_launch() override {
    totals_ = {};
    engines_.assign(kMax, {});
    memories_.assign(kMax * kMax, {});
  }
  void crossbar(const CrossbarTransfer& t) override {
    OfEngine& engine = engines_[t.engine];
    switch (t.kind) {
      case TransferKind::read: ++engine.reads; break;
      case TransferKind::write: ++engine.writes; break;
      case TransferKind::atomic: ++engine.atomics; break;
    }
    engine.channel_bytes[t.channel] += t.bytes;
    if (!payloads_) return;
    std::int64_t& latest = engine.latest[t.channel];
    engine.ordered = engine.ordered && t.cycle >= latest;
    latest = t.cycle;
    const std::uint64_t place[4] = {
        static_cast<std::uint64_t>(t.cycle), t.address,
        std::uint64_t{t.engine} << 32 | std::uint64_t{t.cu} << 16 | t.channel,
        hash64({t.payload, t.bytes})};
    engine.hash = followed_by(engine.hash, hash64(std::as_bytes(std::span(place))));
  }
  void crossbar_lines(const CrossbarTransfer& t, unsigned lines, std::int64_t cycles) override {
    if (payloads_) {
      ActivityObserver::crossbar_lines(t, lines, cycles);
      return;
    }
    OfEngine& engine = engines_[t.engine];
    engine.reads += lines;
    engine.channel_bytes[t.channel] += std::uint64_t{t.bytes} * lines;
  }
  void memory(const MemoryTransfer& t) override {
    OfMemory& memory = memories_[t.channel];
    (t.write ? memory.writebacks : memory.fills)++;
    if (payloads_) {
      memory.hash =
          memory.hash * 31 + static_cast<std::uint64_t>(t.cycle) + hash64({t.payload, 64});
    }
  }
  void io_dies(const IoDieActivity& activity) override { totals_.io_dies = activity; }
  LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                            std::span<const ChannelActivity> channels) override {
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      const OfEngine& engine = engines_[i];
      totals_.reads += engine.reads;
      totals_.writes += engine.writes;
      totals_.atomics += engine.atomics;
      totals_.ordered = totals_.ordered && engine.ordered;
      totals_.hash = followed_by(totals_.hash, engine.hash);
      for (std::size_t channel = 0; channel < kMax; ++channel) {
        totals_.engine_bytes[i] += engine.channel_bytes[channel];
        totals_.channel_bytes[channel] += engine.channel_bytes[channel];
        totals_.payload_bytes += engine.channel_bytes[channel];
      }
    }
    for (const OfMemory& memory : memories_) {
      totals_.fills += memory.fills;
      totals_.writebacks += memory.writebacks;
      totals_.hash = followed_by(totals_.hash, memory.hash);
    }
    totals_.cus.assign(cus.begin(), cus.end());
    totals_.channels.assign(channels.begin(), channels.end());
    LaunchActivity activity;
    activity.cycles = cycles;
    activity.payload_bits = totals_.payload_bytes * 8;
    activity.capacitance_f.assign(zones_, 0.0);
    return activity;
  }
  void set_zones(std::size_t zones) { zones_ = zones; }

 private:
  // Counts of one engine; several threads write to their own at once.
  struct alignas(64) OfEngine {
    std::uint64_t reads{}, writes{}, atomics{}, hash{};
    bool ordered{true};
    std::array<std::uint64_t, kMax> channel_bytes{};
    std::array<std::int64_t, kMax> latest{};  // by channel
  };
  struct alignas(64) OfMemory {
    std::uint64_t fills{}, writebacks{}, hash{};
  };
  static std::uint64_t followed_by(std::uint64_t hash, std::uint64_t next) {
    return hash * 0x9E3779B97F4A7C15U + next;
  }

  Totals& totals_;
  bool payloads_;
  std::size_t zones_{9};
  std::vector<OfEngine> engines_{kMax};
  std::vector<OfMemory> memories_;  // channels of all dies
};

inline binpatch::CodeObject read_object(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  auto object = binpatch::CodeObject::parse(std::as_bytes(std::span<const char>(text)));
  if (!object) throw std::runtime_error(path + ": " + object.error().text());
  return std::move(*object);
}

#ifndef WW_EMULATOR_KERNELS  // the header read by itself, not in a test
#define WW_EMULATOR_KERNELS ""
#endif

// Returns the kernels; those of other optimisation levels where the environment names them.
inline std::string kernels_path() {
  const char* other = std::getenv("WW_EMULATOR_OTHER_KERNELS");
  return other != nullptr ? other : WW_EMULATOR_KERNELS;
}

inline binpatch::CodeObject read_kernels() {
  return read_object(kernels_path());
}

using exec::TrickOptions;

// Returns the options; with threads that share every commit where the environment asks for it.
inline TrickOptions as_asked_for(TrickOptions options) {
  if (const char* threads = std::getenv("WW_EMULATOR_SHARING_THREADS")) {
    options.threads = static_cast<unsigned>(std::strtoul(threads, nullptr, 10));
    options.tricks.share_commits = true;
    options.tricks.parallel_commit_min_requests = 0;
  }
  return options;
}

inline std::unique_ptr<VirtualGpu> create(Chip chip, const TrickOptions& options,
                                          std::unique_ptr<ActivityObserver> observer = nullptr) {
  auto gpu = VirtualGpu::create(std::move(chip), options, options.tricks, std::move(observer));
  if (!gpu) throw std::runtime_error(gpu.error().text());
  return std::move(*gpu);
}

// The kernels on images that were built beside them.
inline binpatch::CodeObject read_images() {
  static constexpr std::string_view kName = "emulator_kernels";
  std::string path = kernels_path();
  return read_object(path.replace(path.rfind(kName), kName.size(), "emulator_images"));
}

inline Chip load_chip(const std::string& name) {
  auto chip = Chip::load({.chip = name});
  if (!chip) throw std::runtime_error(chip.error().text());
  return std::move(*chip);
}

inline Chip load_w9100() {
  return load_chip("w9100");
}

// The built-in chip that executes this code.
inline Chip chip_for(const binpatch::CodeObject& object) {
  const std::string target = binpatch::to_string(object.target());
  return load_chip(target == "gfx1100"   ? "rx7900"
                   : target == "gfx1030" ? "rx6800"
                   : target == "gfx942"  ? "mi300x_cpx"
                   : target == "gfx90a"  ? "mi210"
                   : target == "gfx900"  ? "vega10"
                                         : "w9100");
}

// Throws on any error: a test that expects one uses gpu() directly.
class TestGpu {
 public:
  // `chip_name`: instead of the chip that goes with the kernels.
  explicit TestGpu(const Options& options = Options{.threads = 1}, bool payloads = true,
                   const std::string& chip_name = {})
      : TestGpu(options, payloads, chip_name, read_kernels()) {}
  TestGpu(const Options& options, bool payloads, const std::string& chip_name,
          const binpatch::CodeObject& kernels)
      : TestGpu(TrickOptions{options, exec::Tricks::of(options.speed)}, payloads, chip_name,
                kernels) {}
  explicit TestGpu(const TrickOptions& options, bool payloads = true,
                   const std::string& chip_name = {})
      : TestGpu(options, payloads, chip_name, read_kernels()) {}
  TestGpu(const TrickOptions& options, bool payloads, const std::string& chip_name,
          const binpatch::CodeObject& kernels) {
    auto observer = std::make_unique<CountingObserver>(totals, payloads);
    Chip chip = chip_name.empty() ? chip_for(kernels) : load_chip(chip_name);
    observer->set_zones(static_cast<std::size_t>(chip.architecture().shader_engines) + 5);
    gpu_ = create(std::move(chip), as_asked_for(options), std::move(observer));
    auto program = gpu_->load(kernels);
    if (!program) throw std::runtime_error(program.error().text());
    program_ = *program;
  }
  VirtualGpu& gpu() { return *gpu_; }
  [[nodiscard]] ProgramId program() const { return program_; }

  std::uint64_t buffer(std::uint64_t bytes) {
    auto address = gpu_->allocate(bytes);
    if (!address) throw std::runtime_error(address.error().text());
    return *address;
  }
  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    const std::uint64_t address = buffer(values.size() * sizeof(T));
    if (!gpu_->write(address, std::as_bytes(std::span<const T>(values))))
      throw std::runtime_error("write");
    return address;
  }
  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    if (!gpu_->read(address, std::as_writable_bytes(std::span<T>(values))))
      throw std::runtime_error("read");
    return values;
  }

  // Kernarg segment: explicit arguments by their natural alignment, then zeroed hidden ones.
  template <class... Args>
  static std::vector<std::byte> arguments(Args... args) {
    std::vector<std::byte> bytes;
    const auto add = [&bytes](const auto& value) {
      const std::size_t at = (bytes.size() + sizeof value - 1) / sizeof value * sizeof value;
      bytes.resize(at + sizeof value);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    (add(args), ...);
    bytes.resize((bytes.size() + 7) / 8 * 8 + 56);
    return bytes;
  }
  template <class... Args>
  Result<LaunchResult> try_launch(const std::string& kernel, const Grid& grid, Args... args) {
    return gpu_->launch(program_, kernel, grid, arguments(args...), lds_bytes);
  }
  template <class... Args>
  LaunchResult launch(const std::string& kernel, std::uint32_t global, std::uint32_t local,
                      Args... args) {
    auto result = try_launch(kernel, Grid{1, {global, 1, 1}, {local, 1, 1}}, args...);
    if (!result) throw std::runtime_error(result.error().text());
    return *result;
  }
  double counter(const std::string& name) {
    const auto& names = gpu_->counter_names();
    std::vector<double> values(names.size());
    if (!gpu_->counters(gpu_->dispatch_count() - 1, values)) throw std::runtime_error("counters");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return values[i];
    }
    throw std::runtime_error("no counter " + name);
  }
  std::vector<double> counters(std::uint64_t dispatch) {
    std::vector<double> values(gpu_->counter_names().size());
    if (!gpu_->counters(dispatch, values)) throw std::runtime_error("counters");
    return values;
  }

  CountingObserver::Totals totals;
  std::uint32_t lds_bytes{};

 private:
  std::unique_ptr<VirtualGpu> gpu_;
  ProgramId program_{};
};

// A TestGpu with the kernels on images.
class ImageGpu : public TestGpu {
 public:
  explicit ImageGpu(const Options& options = Options{.threads = 1}, bool payloads = true,
                    const std::string& chip_name = {})
      : TestGpu(options, payloads, chip_name, read_images()) {}
  explicit ImageGpu(const TrickOptions& options, bool payloads = true,
                    const std::string& chip_name = {})
      : TestGpu(options, payloads, chip_name, read_images()) {}
};

}  // namespace ww::sim::gpu::test
