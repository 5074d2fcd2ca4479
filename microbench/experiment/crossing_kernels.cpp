#include "experiment/crossing_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "latency/latency_map.hpp"
#include "latency/latency_structure.hpp"
#include "ww/core/hash.hpp"
#include "ww/core/log.hpp"
#include "ww/microbench/crossing.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kMaxPlaces = 4096;  // the kernel's mask has a bit for each
// Places whose side may differ between sessions: a latency within the noise of the threshold.
constexpr double kMinAgreement = 0.9;

Result<std::unique_ptr<DeviceBuffer>> buffer_of(ComputeHost& host,
                                                const std::vector<std::uint32_t>& words) {
  WW_ASSIGN(buffer, host.create_buffer(std::max<std::size_t>(1, words.size()) * 4));
  WW_TRY(buffer->write(0, std::as_bytes(std::span(words))));
  return buffer;
}

Error other_card(const std::string& device) {
  return {ErrorCode::bad_data,
          "the sides of the L2 are not those that the recording began with: it is of another card, "
          "or latencies are disturbed; choose another folder or stop other programs",
          device};
}

// Gives the sides the numbers that they had; places at the middle are of neither. Error bad_data
// where they are other sides.
Status number_as_before(Sides& sides, std::vector<int>& side_of_line,
                        const std::vector<int>& before, const std::string& device) {
  const std::vector<int>& now = sides.side_of_place;
  if (now.size() != before.size()) return tl::unexpected(other_card(device));
  double both = 0;
  double alike = 0;
  double sided = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    sided += before[i] >= 0 ? 1 : 0;
    if (now[i] < 0 || before[i] < 0) continue;
    both += 1;
    alike += now[i] == before[i] ? 1 : 0;
  }
  const double share = both > 0 ? alike / both : 0;
  if (both < kMinAgreement * sided || std::max(share, 1 - share) < kMinAgreement) {
    return tl::unexpected(other_card(device));
  }
  if (share < 0.5) {
    for (int& side : side_of_line) side = side < 0 ? side : 1 - side;
  }
  sides.side_of_place = before;
  return {};
}

}  // namespace

std::string CrossingPoint::pattern() const {
  if (empty) return crossing_patterns::waits;
  if (half != 0) return half == 1 ? crossing_patterns::kHalf1 : crossing_patterns::kHalf2;
  return random ? crossing_patterns::random : crossing_patterns::zeros;
}

Result<std::unique_ptr<CrossingKernels>> CrossingKernels::create(Device& device,
                                                                 const Pinning& pinning,
                                                                 int groups_per_place,
                                                                 const CrossingSplit& before) {
  std::unique_ptr<CrossingKernels> made(new CrossingKernels(device, pinning));
  log::info("looking for the two sides of the L2 of {}", device.host->device_name());
  WW_TRY(made->prober_.set_up());
  WW_TRY(made->find_sides(before));
  WW_ASSIGN(done, device.host->create_buffer(kMaxPlaces * 4));
  made->done_ = std::move(done);
  WW_ASSIGN(binary, made->prober_.binary("cross", true));
  made->hash_ = hash_text(binary);
  WW_ASSIGN(kernel, device.host->load(binary, "cross"));
  made->kernel_ = std::move(kernel);
  WW_TRY(made->kernel_->set(0, made->prober_.region()));
  WW_TRY(made->kernel_->set(7, *made->done_));
  WW_ASSIGN(furnace, made->prober_.kernel("furnace", false));
  made->furnace_ = std::move(furnace);
  WW_ASSIGN(output, device.host->create_buffer(64));
  made->furnace_output_ = std::move(output);
  WW_TRY(made->furnace_->set(1, *made->furnace_output_));
  made->groups_ = made->places_.size() * static_cast<std::size_t>(groups_per_place);
  return made;
}

Status CrossingKernels::find_sides(const CrossingSplit& before) {
  WW_ASSIGN(places, prober_.places(device_.host->facts().compute_units));
  places_ = std::move(places);
  const auto offsets = lines_for_sides();
  std::vector<std::vector<std::vector<double>>> tables;
  for (int repeat = 0; repeat < kLatencyRepeats; ++repeat) {
    WW_ASSIGN(table, prober_.latencies(places_, offsets));
    tables.push_back(std::move(table));
  }
  WW_ASSIGN(latency, latency_map(tables));
  std::vector<int> side_of_line;
  sides_ = microbench::find_sides(latency, side_of_line);
  if (!sides_.found) {
    const LatencyStructure structure = latency_structure(latency);
    if (!structure.found) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("no two sides of the L2 were found, so nothing crosses: {}; and latency "
                      "tells no near from far either: {}",
                      sides_.reason, structure.reason),
          device_.host->device_name());
    }
    log::info("no two sides ({}): comparing the ends of the latencies", sides_.reason);
    sides_ = ends_of(latency, structure, side_of_line);
    split_.by_latency = true;
    split_.difference_error_ticks = difference_error_ticks(structure, sides_, side_of_line);
    split_.additive_r2 = structure.additive_r2;
    split_.product_r2 = structure.with_product_r2;
  }
  if (!before.side_of_place.empty()) {
    if (before.by_latency != split_.by_latency) return tl::unexpected(other_card(device_.name));
    WW_TRY(number_as_before(sides_, side_of_line, before.side_of_place, device_.name));
  }
  split_.side_of_place = sides_.side_of_place;
  for (const int side : {0, 1}) {
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (side_of_line[i] == side) words.push_back(prober_.word(offsets[i]));
    }
    WW_TRY(set_lines(side, std::move(words)));
    WW_TRY(set_places(side));
  }
  return {};
}

Status CrossingKernels::set_lines(int side, std::vector<std::uint32_t> words) {
  const auto index = static_cast<std::size_t>(side);
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  line_counts_[index] = static_cast<std::uint32_t>(words.size());
  WW_ASSIGN(lines, buffer_of(*device_.host, words));
  lines_[index] = std::move(lines);
  for (std::size_t half = 0; side == 0 && half < 2; ++half) {
    std::vector<std::uint32_t> every_other;
    for (std::size_t i = half; i < words.size(); i += 2) every_other.push_back(words[i]);
    WW_ASSIGN(part, buffer_of(*device_.host, every_other));
    halves_[half] = std::move(part);
  }
  return {};
}

Status CrossingKernels::set_places(int side) {
  std::vector<std::uint32_t> mask(kMaxPlaces / 32);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::uint32_t id = places_[i].id;
    if (sides_.side_of_place[i] == side && id < kMaxPlaces) mask[id / 32] |= 1u << id % 32;
  }
  WW_ASSIGN(bits, buffer_of(*device_.host, mask));
  masks_[static_cast<std::size_t>(side)] = std::move(bits);
  return {};
}

Status CrossingKernels::select(const CrossingPoint& point, std::uint32_t loops) {
  // Uses as many lines on either side, and in either half.
  std::uint32_t count = std::min(line_counts_[0], line_counts_[1]);
  if (point.half != 0) count /= 2;
  if (point.empty) count = 0;
  const DeviceBuffer& lines = point.half != 0 ? *halves_[static_cast<std::size_t>(point.half - 1)]
                                              : *lines_[static_cast<std::size_t>(point.line_side)];
  WW_TRY(kernel_->set(1, lines));
  WW_TRY(kernel_->set(2, count));
  WW_TRY(kernel_->set(3, loops));
  WW_TRY(kernel_->set(4, point.random ? 0xFFFFFFFFu : 0u));
  WW_TRY(kernel_->set(5, point.wait));
  WW_TRY(kernel_->set(6, *masks_[static_cast<std::size_t>(point.place_side)]));
  WW_TRY(device_.host->finish());  // earlier launches still count
  const std::vector<std::uint32_t> zeros(kMaxPlaces);
  return done_->write(0, std::as_bytes(std::span(zeros)));
}

Result<double> CrossingKernels::iterations() {
  std::vector<std::uint32_t> counts(kMaxPlaces);
  WW_TRY(done_->read(0, std::as_writable_bytes(std::span(counts))));
  double sum = 0;
  for (const std::uint32_t count : counts) sum += count;
  return sum;
}

}  // namespace ww::microbench
