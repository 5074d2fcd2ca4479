#include "experiment/classes/class_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "ww/core/hash.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

using kernels::Pattern;

constexpr std::size_t kClassGroupSize = 256;
constexpr std::size_t kClassPieceBytes = 16;
// Data this many times the size of the L2 miss it nearly always.
constexpr std::size_t kClassBeyondL2 = 8;
constexpr std::size_t kMinClassBytes = 4096;

// The first one is the load of the step test. Each class has a partner of equal work on other data,
// of fewer lanes, or of fewer wavefronts. On a part of the compute units, the clocks of a unit at
// work can be separated from those of the whole chip. Local memory has few wavefronts: with all of
// them a chip would leave the range of power, and of supply voltage, in which programs run.
constexpr std::array kClassPoints{
    ClassPoint{"integer", Pattern::random},
    ClassPoint{"integer", Pattern::zeros},
    ClassPoint{"integer", Pattern::ones},
    ClassPoint{"integer", Pattern::half_random},
    ClassPoint{.kernel = "integer", .lanes = 16},
    ClassPoint{.kernel = "integer", .lanes = 1},
    ClassPoint{.kernel = "integer", .groups_per_cu = 1},
    ClassPoint{.kernel = "integer", .groups_per_cu = 1, .one_cu_of = 4},
    ClassPoint{"float", Pattern::random},
    ClassPoint{"float", Pattern::zeros},
    ClassPoint{"double", Pattern::random},
    ClassPoint{"double", Pattern::zeros},
    ClassPoint{"special", Pattern::random},
    ClassPoint{"special", Pattern::zeros},
    ClassPoint{"scalar", Pattern::random},
    ClassPoint{.kernel = "scalar", .groups_per_cu = 2},
    ClassPoint{"scalar_load", Pattern::random, Reach::l1},
    ClassPoint{.kernel = "local", .groups_per_cu = 1},
    ClassPoint{.kernel = "local", .pattern = Pattern::zeros, .groups_per_cu = 1},
    ClassPoint{.kernel = "local", .lanes = 16, .groups_per_cu = 1},
    ClassPoint{.kernel = "local_atomic", .groups_per_cu = 1},
    ClassPoint{.kernel = "local_atomic", .pattern = Pattern::zeros, .groups_per_cu = 1},
    ClassPoint{"l1", Pattern::random, Reach::l1},
    ClassPoint{"l1", Pattern::zeros, Reach::l1},
    ClassPoint{"l1_word", Pattern::random, Reach::l1},
    ClassPoint{"read", Pattern::random, Reach::l2},
    ClassPoint{"read", Pattern::zeros, Reach::l2},
    ClassPoint{"read", Pattern::random, Reach::memory},
    ClassPoint{"read", Pattern::zeros, Reach::memory},
    ClassPoint{"write", Pattern::random, Reach::l2},
    ClassPoint{"write", Pattern::random, Reach::memory},
    ClassPoint{"atomic", Pattern::random, Reach::l2},
    ClassPoint{"wait", Pattern::zeros},
    ClassPoint{.kernel = "wait", .pattern = Pattern::zeros, .groups_per_cu = 1},
    ClassPoint{.kernel = "wait", .pattern = Pattern::zeros, .groups_per_cu = 1, .one_cu_of = 4},
    ClassPoint{.kernel = "wait", .pattern = Pattern::zeros, .groups_per_cu = 1, .one_cu_of = 16},
};

}  // namespace

std::span<const ClassPoint> class_points() {
  return kClassPoints;
}

std::string ClassPoint::name() const {
  const ClassPoint usual;
  std::string text = fmt::format("{}, {}", kernel, kernels::to_string(pattern));
  if (reach == Reach::memory) text += ", memory";
  if (lanes != usual.lanes) text += fmt::format(", {} lanes", lanes);
  if (groups_per_cu != usual.groups_per_cu) text += fmt::format(", {} groups", groups_per_cu);
  if (one_cu_of != usual.one_cu_of) text += fmt::format(", 1 of {} CUs", one_cu_of);
  return text;
}

// A power of two, because addresses are masked. Half of a cache's size leaves room for the rest.
std::size_t ClassKernels::bytes_within(Reach reach) const {
  const auto l1 = static_cast<std::size_t>(std::max<std::int64_t>(device_.chip.l1_bytes, 0));
  const auto l2 = static_cast<std::size_t>(std::max<std::int64_t>(device_.chip.l2_bytes, 0));
  switch (reach) {
    case Reach::l1: return std::bit_floor(std::max(l1 / 2, kMinClassBytes));
    case Reach::l2: return std::bit_floor(std::max(l2 / 2, kMinClassBytes));
    case Reach::memory: break;
  }
  return std::bit_floor(std::max(kClassBeyondL2 * l2, kMinClassBytes));
}

Result<std::unique_ptr<ClassKernels>> ClassKernels::create(Device& device, const Pinning& pinning,
                                                           std::uint64_t seed) {
  std::unique_ptr<ClassKernels> made(new ClassKernels(device));
  kernels::Macros macros;
  macros.target = pinning.target();
  macros.group_size = kClassGroupSize;
  made->wave_size_ = macros.target.wave_size;
  WW_ASSIGN(text, kernels::program_text(kernels::class_source(), macros));
  WW_ASSIGN(binary, device.host->build(text, "classes"));
  made->binary_ = std::move(binary);
  made->hash_ = hash_text(made->binary_);
  const std::size_t bytes = made->bytes_within(Reach::memory);
  std::vector<std::byte> content(bytes);
  for (const ClassPoint& point : class_points()) {
    auto& data = made->data_[point.pattern];
    if (data) continue;
    WW_ASSIGN(buffer, device.host->create_buffer(bytes));
    data = std::move(buffer);
    kernels::fill(content, point.pattern, seed ^ 0xC1A55E5C1A55E5u);
    WW_TRY(data->write(0, content));
  }
  WW_ASSIGN(target, device.host->create_buffer(bytes));
  made->target_ = std::move(target);
  WW_ASSIGN(output, device.host->create_buffer(256));
  made->output_ = std::move(output);
  return made;
}

Result<LoadedKernel*> ClassKernels::kernel_of(const ClassPoint& point) {
  const std::string function = fmt::format("class_{}", point.kernel);
  auto& kernel = kernels_[function];
  if (!kernel) {
    WW_ASSIGN(loaded, device_.host->load(binary_, function));
    kernel = std::move(loaded);
    WW_TRY(kernel->set(2, *target_));
    WW_TRY(kernel->set(5, *output_));
  }
  return kernel.get();
}

Status ClassKernels::select(const ClassPoint& point, std::uint32_t loops) {
  WW_ASSIGN(kernel, kernel_of(point));
  const std::size_t pieces = bytes_within(point.reach) / kClassPieceBytes;
  WW_TRY(kernel->set(0, loops));
  WW_TRY(kernel->set(1, *data_.at(point.pattern)));
  WW_TRY(kernel->set(3, static_cast<std::uint32_t>(pieces - 1)));
  return kernel->set(4, std::min(point.lanes, wave_size_));
}

Status ClassKernels::launch(const ClassPoint& point) {
  WW_ASSIGN(kernel, kernel_of(point));
  const auto cus = static_cast<std::size_t>(device_.chip.engines * device_.chip.cus_per_engine);
  const std::size_t busy =
      std::max<std::size_t>(cus / static_cast<std::size_t>(point.one_cu_of), 1);
  return kernel->launch(busy * static_cast<std::size_t>(point.groups_per_cu), kClassGroupSize);
}

}  // namespace ww::microbench
