#include "experiment/latency_pass.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "homes/home_device.hpp"
#include "ww/model/latency_witness.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kPlacesOfEngine = 4;
constexpr std::size_t kLinesOfChannel = 2;

// Lines of the quadrants' channels, quadrant by quadrant: offsets from the prober's first page.
Result<std::vector<std::uint32_t>> lines_of_quadrants(const Device& device) {
  if (device.homes) {
    std::vector<std::uint32_t> lines;
    for (std::size_t q = 0; q < device.quadrants.size(); ++q) {
      WW_ASSIGN(own, lines_of_home(*device.homes, static_cast<int>(q), kProbePage,
                                   kLinesOfChannel * device.quadrants[q].size(),
                                   static_cast<std::size_t>(device.chip.interleave_bytes)));
      for (const std::uint32_t offset : own) {
        lines.push_back(offset - static_cast<std::uint32_t>(device.homes->aligned));
      }
    }
    return lines;
  }
  const auto interleave = static_cast<std::uint32_t>(device.chip.interleave_bytes);
  const auto stripe = interleave * static_cast<std::uint32_t>(device.chip.channels);
  std::vector<std::uint32_t> lines;
  for (const std::vector<int>& channels : device.quadrants) {
    for (std::uint32_t line = 0; line < kLinesOfChannel; ++line) {
      for (const int channel : channels) {
        lines.push_back(line * stripe + static_cast<std::uint32_t>(channel) * interleave);
      }
    }
  }
  return lines;
}

// Some places of every engine, spread over it: a mean over all of them would show little more.
std::vector<TopologyPlace> some_places(const std::vector<TopologyPlace>& all,
                                       const Device& device) {
  std::vector<TopologyPlace> chosen;
  for (int engine = 0; engine < device.chip.engines; ++engine) {
    const int number = device.number_of(engine);
    std::vector<TopologyPlace> own;
    std::ranges::copy_if(all, std::back_inserter(own),
                         [number](const TopologyPlace& place) { return place.engine == number; });
    const std::size_t count = std::min(kPlacesOfEngine, own.size());
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(own[i * own.size() / count]);
  }
  return chosen;
}

}  // namespace

LatencyPass::LatencyPass(Bench& bench)
    : bench_(bench), prober_(*bench.device().host, &bench.pinning(), {}) {}

Result<std::unique_ptr<LatencyPass>> LatencyPass::create(Bench& bench) {
  const Device& device = bench.device();
  if (dies_repeat_ids(device.chip.target)) {
    return fail(ErrorCode::unsupported,
                "the dies of this part repeat the same hardware ids, so a latency has no one place",
                device.name);
  }
  if (device.chip.interleave_bytes <= 0 || device.chip.channels <= 0) {
    return fail(ErrorCode::unsupported, "how addresses go to channels is not known", device.name);
  }
  std::unique_ptr<LatencyPass> pass(new LatencyPass(bench));
  // Where homes were found, lines are known in that memory alone.
  if (bench.device().homes) {
    HomeMemory& memory = *bench.device().homes;
    WW_TRY(pass->prober_.set_up_on(*memory.buffer, memory.aligned));
  } else {
    WW_TRY(pass->prober_.set_up());
  }
  int compute_units = 0;
  for (int e = 0; e < device.chip.engines; ++e) compute_units += device.cus_of(e);
  WW_ASSIGN(places, pass->prober_.places(compute_units));
  pass->places_ = some_places(places, device);
  for (int e = 0; e < device.chip.engines; ++e) {
    if (std::ranges::none_of(pass->places_, [number = device.number_of(e)](const auto& p) {
          return p.engine == number;
        })) {
      return fail(ErrorCode::unsupported, fmt::format("no wavefront came to engine {}", e),
                  device.name);
    }
  }
  WW_ASSIGN(lines, lines_of_quadrants(device));
  pass->lines_ = std::move(lines);
  return pass;
}

Status LatencyPass::time_all() {
  const Device& device = bench_.device();
  WW_ASSIGN(table, prober_.latencies(places_, lines_));
  const auto engines = static_cast<std::size_t>(device.chip.engines);
  ticks_.assign(engines, std::vector<double>(device.quadrants.size(), 0));
  std::vector<double> probed(engines, 0);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const auto engine = static_cast<std::size_t>(*device.engine_named(places_[p].engine));
    probed[engine] += 1;
    auto line = table[p].begin();
    for (std::size_t q = 0; q < device.quadrants.size(); ++q) {
      const std::size_t count = kLinesOfChannel * device.quadrants[q].size();
      for (std::size_t i = 0; i < count; ++i) {
        ticks_[engine][q] += *line++ / static_cast<double>(count);
      }
    }
  }
  for (std::size_t e = 0; e < engines; ++e) {
    for (double& ticks : ticks_[e]) ticks /= probed[e];
  }
  return {};
}

Status LatencyPass::perform(const PlannedRun& planned, StoredRun& run) {
  run.start_ns = bench_.device().sensor->now_ns();
  if (planned.repeat != repeat_) {
    WW_TRY(time_all());
    repeat_ = planned.repeat;
    run.launches = std::ssize(places_);
  }
  run.end_ns = bench_.device().sensor->now_ns();
  run.engine = planned.engine;
  run.quadrant = planned.quadrant;
  run.counters[model::kLatencyCounter] = ticks_.at(static_cast<std::size_t>(planned.engine))
                                             .at(static_cast<std::size_t>(planned.quadrant));
  return {};
}

}  // namespace ww::microbench
