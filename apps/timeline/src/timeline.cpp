#include "ww/timeline/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "perfetto.hpp"
#include "rocpd.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/figure.hpp"
#include "ww/measure/csv.hpp"
#include "ww/model/segment_names.hpp"
#include "ww/session/traffic.hpp"

namespace ww::timeline {
namespace {

// `part` of a sum: of the kernel's figure `whole`, where the parts come to `sum`. Parts that all
// are 0 share by time.
double shared(double whole, double part, double sum, double share_of_time) {
  return sum > 0 ? whole * (part / sum) : whole * share_of_time;
}

// The number at the end of a profiler's name of a GPU: "Agent 4", "2".
std::int32_t agent_number(const std::string& name) {
  const auto digits = name.find_last_not_of("0123456789") + 1;
  std::int32_t number = 0;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return number;
}

struct KernelSums {
  double duration_ns{};
  std::array<model::Interval, 3> joules;
};

}  // namespace

std::int32_t process_number(const std::string& name, std::int32_t otherwise) {
  std::int32_t number = otherwise;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  return parsed.ec == std::errc{} && number > 0 ? number : otherwise;
}

void Timeline::place(const measure::CounterDispatch& launch, const SegmentJoules& energy_j) {
  const auto length = static_cast<std::int64_t>(launch.duration_ns.value_or(0));
  if (!launch.start_ns || length <= 0) {
    if (untimed_++ == 0) {
      untimed_reason_ = fmt::format(
          "{}: {}", launch.kernel,
          launch.duration_reason.empty() ? "the file has no start times" : launch.duration_reason);
    }
    return;
  }
  const auto kernel = kernel_index_.try_emplace(launch.kernel, kernels_.size());
  if (kernel.second) kernels_.push_back(launch.kernel);
  Stretch stretch{kernel.first->second,      launch.id, *launch.start_ns,
                  *launch.start_ns + length, energy_j,  agent_number(launch.agent),
                  launch.grid_size};
  stretch.counters.reserve(launch.counters.size());
  for (const auto& [name, value] : launch.counters) {
    const auto counter = counter_index_.try_emplace(name, counters_.size());
    if (counter.second) counters_.push_back(name);
    stretch.counters.push_back({counter.first->second, value});
  }
  domains_[launch.process].stretches.push_back(std::move(stretch));
}

void Timeline::note(const std::array<model::SegmentEstimate, 3>& segments) {
  has_energy_ = true;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s].energy_j) {
      status_[s] = to_string(segments[s].status);
    } else if (no_power_[s].empty()) {
      no_power_[s] = fmt::format("{}: {}", to_string(segments[s].status), segments[s].reason);
    }
  }
}

void Timeline::add_launches(std::span<const measure::CounterDispatch> launches) {
  for (const auto& launch : launches) place(launch, {});
}

Status Timeline::add_launches(std::span<const measure::CounterDispatch> launches,
                              const EnergySource& energy) {
  std::vector<SegmentJoules> own(launches.size());
  std::map<std::string, KernelSums> sums;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    WW_ASSIGN(traffic, session::count_traffic(launches.subspan(i, 1), energy.architecture));
    WW_ASSIGN(estimate, model::estimate(energy.model, traffic.kernels, energy.options));
    KernelSums& sum = sums[launches[i].kernel];
    sum.duration_ns += launches[i].duration_ns.value_or(0);
    for (std::size_t s = 0; s < own[i].size(); ++s) {
      own[i][s] = estimate.total.segments[s].energy_j;
      if (own[i][s]) sum.joules[s] = model::together(sum.joules[s], *own[i][s]);
    }
  }
  std::map<std::string, const model::KernelEstimate*> wholes;
  for (const auto& kernel : energy.whole.kernels) wholes[kernel.kernel] = &kernel;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto whole = wholes.find(launches[i].kernel);
    if (whole == wholes.end()) {
      return fail(ErrorCode::invalid_argument, "the estimate is not of these launches",
                  launches[i].kernel);
    }
    const KernelSums& sum = sums[launches[i].kernel];
    const double time =
        sum.duration_ns > 0 ? launches[i].duration_ns.value_or(0) / sum.duration_ns : 0;
    SegmentJoules joules;
    for (std::size_t s = 0; s < joules.size(); ++s) {
      const auto& all = whole->second->segments[s].energy_j;
      if (!all || !own[i][s]) continue;
      const model::Interval& part = *own[i][s];
      const model::Interval& parts = sum.joules[s];
      joules[s] = model::Interval{shared(all->value, part.value, parts.value, time),
                                  shared(all->low, part.low, parts.low, time),
                                  shared(all->high, part.high, parts.high, time)};
    }
    place(launches[i], joules);
  }
  note(energy.whole.total.segments);
  return {};
}

void Timeline::add_stretch(std::int64_t start_ns, std::int64_t end_ns,
                           const model::KernelEstimate& estimate) {
  if (end_ns <= start_ns) return;
  const double seconds = static_cast<double>(end_ns - start_ns) * 1e-9;
  SegmentJoules joules;
  for (std::size_t s = 0; s < joules.size(); ++s) {
    const auto& power = estimate.segments[s].power_w;
    if (power) joules[s] = power->times(seconds);
  }
  domains_[""].stretches.push_back({Stretch::kNoKernel, 0, start_ns, end_ns, joules, 0, {}});
  note(estimate.segments);
}

void Timeline::add_reading(const std::string& process, const SensorPoint& reading) {
  domains_[process].readings.push_back(reading);
}

Status Timeline::add_sensor_file(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  const std::string process = name.substr(0, name.find('.'));
  WW_ASSIGN(text, read_file(file));
  std::int64_t last_launch = 0;
  if (const auto known = domains_.find(process); known != domains_.end()) {
    for (const Stretch& stretch : known->second.stretches) {
      last_launch = std::max(last_launch, stretch.end_ns);
    }
  }
  std::optional<measure::CsvColumns> columns;
  return measure::each_csv_row(text, file.string(), {}, [&](measure::CsvRow& row) -> Status {
    if (!columns) {
      columns.emplace(row, file.string());
      return {};
    }
    WW_ASSIGN(time_ns, columns->integer(row, "time_ns"));
    WW_ASSIGN(valid, columns->integer(row, "valid"));
    WW_ASSIGN(launched, columns->integer(row, "launched"));
    if (valid == 0 || (launched > 1 && time_ns > last_launch)) return {};
    WW_ASSIGN(power_uw, columns->number(row, "power_uw"));
    WW_ASSIGN(temperature_mc, columns->number(row, "temperature_mc"));
    WW_ASSIGN(clock_khz, columns->number(row, "clock_khz"));
    add_reading(process, {time_ns, power_uw * 1e-6, temperature_mc * 1e-3, clock_khz * 1e-3});
    return {};
  });
}

std::vector<std::string> Timeline::gaps() const {
  std::vector<std::string> found;
  if (untimed_ > 0) {
    found.push_back(fmt::format("{} launches are left out, because they have no place in time ({})",
                                untimed_, untimed_reason_));
    if (has_energy_) {
      found.push_back(
          "there is no power of any segment, because it would lack that of those launches");
    }
  }
  if (!has_energy_ || untimed_ > 0) return found;
  for (std::size_t s = 0; s < no_power_.size(); ++s) {
    if (!no_power_[s].empty()) {
      found.push_back(fmt::format("{} has no power track, because it is {}",
                                  model::kSegmentNames[s], no_power_[s]));
    }
  }
  return found;
}

TraceContent Timeline::content() const {
  TraceContent content{device_.name, device_.architecture, {}, kernels_, counters_, domains_};
  if (device_.is_virtual) content.title += " (virtual, not a measurement)";
  if (!device_.misfit.empty()) {
    content.title += " (MISFIT, rely on no power of a segment: " + device_.misfit + ")";
  }
  for (std::size_t s = 0; s < model::kSegmentNames.size(); ++s) {
    // A track without some launches' energy would be too low, and that cannot be seen in it.
    if (!has_energy_ || untimed_ > 0 || !no_power_[s].empty()) continue;
    content.tracks[s] = status_[s] == "ok" || status_[s].empty()
                            ? model::kSegmentNames[s]
                            : fmt::format("{}, {}", model::kSegmentNames[s], status_[s]);
  }
  return content;
}

Status Timeline::write(const std::filesystem::path& file) const {
  return write_trace(content(), file);
}

Status Timeline::write_rocpd(const std::filesystem::path& file) const {
  return write_database(content(), file);
}

}  // namespace ww::timeline
