#include "common/runtime/recordings.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/sim/gpu/sealed_columns.hpp"
#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::driver {
namespace {

// rocprofv3's counter collection file, the form with timestamps.
constexpr std::string_view kHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

// Sensor readings of the idle chip before the first launch and after the last.
constexpr std::int64_t kIdleReadings = 40;

// Kernels too short for the sensor are launched again until it has seen this many readings of them.
constexpr std::int64_t kBusyReadings = 100;
constexpr std::int64_t kMaxLaunches = 100'000;

constexpr auto kBetweenMistakes = std::chrono::milliseconds(100);  // that go to the disk

std::int64_t repeats_for(const gpu::VirtualGpu& gpu) {
  std::int64_t busy_ns = 0;
  const auto count = static_cast<std::int64_t>(gpu.dispatch_count());
  for (std::int64_t id = 0; id < count; ++id) {
    const auto dispatch = gpu.dispatch(static_cast<std::uint64_t>(id));
    if (dispatch) busy_ns += dispatch->end_ns - dispatch->start_ns;
  }
  if (busy_ns <= 0) return 0;
  const std::int64_t wanted = kBusyReadings * gpu.sensor_info().period_ns / busy_ns;
  return std::min(wanted, kMaxLaunches / count);
}

// Adds a number with all its digits. Nearly all counters are whole numbers.
void add_number(std::string& text, double value) {
  constexpr double kWhole = 1e15;
  if (std::abs(value) < kWhole && value == std::trunc(value)) {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), static_cast<std::int64_t>(value));
  } else {
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), value);
  }
}

std::string csv_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

Recordings::~Recordings() = default;

Result<std::unique_ptr<Recordings>> Recordings::open(const Settings& settings) {
  auto recordings = std::unique_ptr<Recordings>(new Recordings);
  recordings->process_ = ::getpid();
  recordings->counters_file_ = settings.counters_file;
  if (!settings.counters_file.empty()) recordings->counters_aside_ = settings.passed.counters_aside;
  recordings->samples_file_ = settings.samples_file;
  recordings->sealed_file_ = settings.passed.sealed_energy;
  recordings->timing_file_ = settings.passed.timing_report;
  recordings->mistakes_file_ = settings.passed.mistakes;
  recordings->watched_ = !settings.passed.live.empty();
  for (const auto& file :
       {settings.counters_file, settings.passed.timing_report, settings.passed.mistakes}) {
    // A folder that cannot be written to is better reported now than after an hour.
    if (!file.empty()) WW_TRY(StreamedFile::create(file));
  }
  if (!settings.trace_file.empty()) {
    WW_ASSIGN(writer,
              trace::Writer::create(settings.trace_file, virtual_device_name(settings.chip.chip),
                                    settings.passed.trace_aside));
    recordings->trace_ = std::move(writer);
    if (!settings.passed.trace_values) recordings->trace_->leave_out_values();
  }
  return recordings;
}

Status Recordings::add_counters(const gpu::VirtualGpu& gpu) {
  if (counters_aside_.empty() || ::getpid() != process_) return {};
  if (gpu.dispatch_count() == (aside_ ? dispatches_aside_ : saved_dispatches_)) return {};
  const auto add = [&]() -> Status {
    if (!aside_) {
      WW_ASSIGN(file, StreamedFile::create(counters_file_, counters_aside_));
      aside_.emplace(std::move(file));
      dispatches_aside_ = 0;
    }
    WW_TRY(write_counters(gpu, dispatches_aside_, *aside_));
    dispatches_aside_ = gpu.dispatch_count();
    return aside_->flush();
  };
  Status added = add();
  if (!added) {
    aside_.reset();
    counters_aside_.clear();
  }
  return added;
}

void Recordings::add_accesses() {
  if (trace_ != nullptr && ::getpid() == process_) trace_->save_ahead();
}

Status Recordings::save_counters(const gpu::VirtualGpu& gpu) {
  if (counters_file_.empty() || ::getpid() != process_) return {};
  const std::uint64_t dispatches = gpu.dispatch_count();
  if (saved_ && dispatches == saved_dispatches_) return {};
  if (aside_ && dispatches_aside_ == dispatches) {
    WW_TRY(aside_->keep());
    aside_.reset();
  } else {
    WW_ASSIGN(file, StreamedFile::create(counters_file_));
    WW_TRY(write_counters(gpu, 0, file));
    WW_TRY(file.keep());
  }
  saved_ = true;
  saved_dispatches_ = dispatches;
  return {};
}

Status Recordings::write_counters(const gpu::VirtualGpu& gpu, std::uint64_t first,
                                  StreamedFile& file) {
  if (first == 0) WW_TRY(file.write(kHeader));
  const auto& names = gpu.counter_names();
  std::vector<double> values(names.size());
  constexpr std::size_t kRowBytes = 192;  // about
  std::string rows;
  rows.reserve(names.size() * kRowBytes);
  const std::uint64_t dispatches = gpu.dispatch_count();
  for (std::uint64_t id = first; id < dispatches; ++id) {
    WW_ASSIGN(dispatch, gpu.dispatch(id));
    WW_TRY(gpu.counters(id, values));
    const std::size_t kernel =
        kernel_ids_.try_emplace(dispatch.kernel, kernel_ids_.size() + 1).first->second;
    // Agents, queues and dispatches count from 1, as rocprofv3 does; agent 1 is the virtual GPU.
    const auto head = fmt::format(
        "{0},{0},\"Agent 1\",1,{1},{1},{2},{3},{4},{5},{6},{7},{8},0,{9},\"", id + 1, process_,
        dispatch.grid_size, kernel, csv_text(dispatch.kernel), dispatch.workgroup_size,
        dispatch.lds_bytes, dispatch.scratch_bytes, dispatch.vgprs, dispatch.sgprs);
    rows.clear();
    const auto times = fmt::format(",{},{}\n", dispatch.start_ns, dispatch.end_ns);
    for (std::size_t i = 0; i < names.size(); ++i) {
      rows += head;
      rows += names[i];
      rows += "\",";
      add_number(rows, values[i]);
      rows += times;
    }
    WW_TRY(file.write(rows));
  }
  return {};
}

void Recordings::rest(gpu::VirtualGpu& gpu) const {
  if (!rests() || ::getpid() != process_) return;
  gpu.idle_until(gpu.now_ns() + kIdleReadings * gpu.sensor_info().period_ns);
}

Status Recordings::save_power(gpu::VirtualGpu& gpu) {
  if (::getpid() != process_) return {};
  if (!samples_file_.empty()) {
    const std::int64_t repeats = repeats_for(gpu);
    if (repeats > 0) {
      gpu.repeat_launches(repeats);
      rest(gpu);
    }
    WW_ASSIGN(file, StreamedFile::create(samples_file_));
    WW_TRY(file.write(
        "time_ns,power_uw,energy_ticks,temperature_mc,voltage_uv,clock_khz,valid,launched\n"));
    std::vector<ww_vgpu_sample> samples(4096);
    std::uint64_t next = 0;
    std::string rows;
    while (const auto count = gpu.samples_since(next, samples)) {
      rows.clear();
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto& s = samples[i];
        const bool counted = (s.flags & WW_VGPU_SAMPLE_NO_ENERGY) == 0;
        fmt::format_to(std::back_inserter(rows), "{},{},{},{},{},{},{},{}\n", s.time_ns, s.power_uw,
                       counted ? std::to_string(s.energy_ticks) : "", s.temperature_mc,
                       s.voltage_uv, s.clock_khz, s.flags & WW_VGPU_SAMPLE_VALID, 1 + repeats);
      }
      WW_TRY(file.write(rows));
      next = samples[count - 1].index + 1;
    }
    WW_TRY(file.keep());
  }
  if (sealed_file_.empty()) return {};
  WW_ASSIGN(file, StreamedFile::create(sealed_file_));
  const bool linked = gpu.chip().architecture().xgmi_links != 0;
  std::string header = "Kernel_Name";
  for (const std::string_view column : gpu::kCoreColumns) header += fmt::format(",{}", column);
  for (const std::string_view column : gpu::kOtherRailsColumns)
    header += fmt::format(",{}", column);
  if (linked) header += fmt::format(",{}", gpu::kLinkColumn);
  WW_TRY(file.write(header + "\n"));
  for (std::uint64_t id = 0; id < gpu.dispatch_count(); ++id) {
    WW_ASSIGN(dispatch, gpu.dispatch(id));
    WW_ASSIGN(parts, gpu.sealed_energy_j(id));
    WW_ASSIGN(ways, gpu.sealed_ways_j(id));
    const std::array joules{parts.crossbar_wires + parts.crossbar_control,
                            parts.registers_l1,
                            parts.l2_memory,
                            parts.caches,
                            parts.alu,
                            parts.clock,
                            parts.crossbar_arbiters,
                            ways.compute_die_and_cache,
                            ways.row_hop,
                            ways.column_hop,
                            ways.across,
                            ways.memory_phy,
                            ways.memory,
                            ways.die_link,
                            ways.infinity_cache};
    std::string row = csv_text(dispatch.kernel);
    for (const double value : joules) fmt::format_to(std::back_inserter(row), ",{:.9g}", value);
    if (linked) row += fmt::format(",{:.9g}", ways.xgmi);
    WW_TRY(file.write(row + "\n"));
  }
  return file.keep();
}

Status Recordings::save_timing(const gpu::VirtualGpu& gpu) const {
  const gpu::TimingReport* report = gpu.timing_report();
  if (timing_file_.empty() || report == nullptr || ::getpid() != process_) return {};
  return write_file_atomically(timing_file_, gpu::to_json_text(*report));
}

Status Recordings::save_new_mistakes(const LaunchMistakes& mistakes) {
  const bool stopped = mistakes.stopped_launches != saved_mistakes_.stopped_launches;
  const bool more = mistakes.memory_mistakes != saved_mistakes_.memory_mistakes;
  const auto now = std::chrono::steady_clock::now();
  if (!stopped && (!more || now < mistakes_saved_at_ + kBetweenMistakes)) return {};
  return save_mistakes(mistakes);
}

Status Recordings::save_mistakes(const LaunchMistakes& mistakes) {
  if (mistakes_file_.empty() || ::getpid() != process_) return {};
  saved_mistakes_ = mistakes;
  mistakes_saved_at_ = std::chrono::steady_clock::now();
  return write_file_atomically(
      mistakes_file_,
      fmt::format(R"({{"stopped_launches": {}, "unknown_instructions": {}, "memory_mistakes": {}}})"
                  "\n",
                  mistakes.stopped_launches, mistakes.unknown_instructions,
                  mistakes.memory_mistakes));
}

Status Recordings::finish_trace() {
  if (trace_ == nullptr || ::getpid() != process_) return {};
  return trace_->finish();
}

}  // namespace ww::sim::driver
