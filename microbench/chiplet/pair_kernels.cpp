#include "chiplet/pair_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "ww/core/hash.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

constexpr const char* kKernel = "part_stream";
constexpr int kParts = 2;

int part_of(const model::ChipletPoint& point) {
  return point.dies == model::ChipletDies::odd ? 1 : 0;
}

}  // namespace

Result<std::unique_ptr<PackageKernels>> PairKernels::create(Device& device, const Pinning& pinning,
                                                            std::uint64_t seed) {
  if (device.host->parts() != kParts) {
    return fail(ErrorCode::unsupported,
                fmt::format("the ways between its dies cannot be measured: the package is divided "
                            "into {} devices, and a device of some dies does not reach the others' "
                            "homes at the rate of all",
                            device.host->parts()),
                device.name);
  }
  std::unique_ptr<PairKernels> made(new PairKernels(device, pinning));
  WW_TRY(made->load(seed));
  return made;
}

Status PairKernels::load(std::uint64_t seed) {
  const int units = device_.host->facts().compute_units;
  if (units <= 0) {
    return fail(ErrorCode::unsupported, "the driver does not say how many compute units a part has",
                device_.name);
  }
  groups_ = kGroupsPerCu * static_cast<std::size_t>(units);
  pages_ =
      static_cast<std::uint32_t>(groups_ * kGroupSize / pinning_.target().wave_size) * kPagesOfWave;
  kernels::Macros macros;
  macros.target = pinning_.target();
  macros.group_size = kGroupSize;
  WW_ASSIGN(source, kernels::find_source(kKernel));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device_.host->build(text, kKernel));
  hash_ = hash_text(binary);
  WW_ASSIGN(stream, device_.host->load(binary, kKernel));
  stream_ = std::move(stream);
  WW_ASSIGN(output, device_.host->create_buffer(64));
  output_ = std::move(output);
  SplitMix random(seed);
  std::vector<std::uint64_t> bits(std::size_t{pages_} * kPageBytes / 8);
  std::ranges::generate(bits, [&] { return random.next(); });
  for (int part = 0; part < kParts; ++part) {
    WW_TRY(device_.host->use_part(part));
    WW_ASSIGN(memory, device_.host->create_buffer(std::size_t{pages_} * kPageBytes));
    WW_TRY(memory->write(0, std::as_bytes(std::span(bits))));
    memory_[part] = std::move(memory);
  }
  return device_.host->use_part(0);
}

nlohmann::json PairKernels::setup() const {
  return {{"parts", kParts}, {"pages_of_list", pages_}};
}

Status PairKernels::select(const model::ChipletPoint& point, const Pace& pace) {
  const int part = part_of(point);
  const int home = point.way == model::ChipletWay::xgmi ? 1 - part : part;
  const auto wave = static_cast<std::uint32_t>(pinning_.target().wave_size);
  WW_TRY(device_.host->use_part(part));
  WW_TRY(stream_->set(0, *memory_[home]));
  WW_TRY(stream_->set(1, pages_));
  WW_TRY(stream_->set(2, static_cast<std::uint32_t>(groups_ * kGroupSize / wave)));
  WW_TRY(stream_->set(3, pace.passes));
  WW_TRY(stream_->set(4, pace.waits));
  WW_TRY(stream_->set(5, point.traffic ? kPageBytes / (wave * 16) : 0U));
  WW_TRY(stream_->set(6, std::uint32_t{point.serial ? 1U : 0U}));
  return stream_->set(7, *output_);
}

Status PairKernels::launch() {
  return stream_->launch(groups_, kGroupSize);
}

}  // namespace ww::microbench
