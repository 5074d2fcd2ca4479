#include "launch_collector.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "ww/core/atomic_file.hpp"
#include "ww/rocprofiler/pass_plan.hpp"

namespace ww::collect {
namespace {

using rocprofiler::kSuccess;

// Records may come long after their launch, but never long after one another.
constexpr std::chrono::seconds kPatience{2};
constexpr std::int64_t kSleepNs = 1000;  // more between the clocks: the machine slept

// CLOCK_BOOTTIME, in which the library's times are, minus CLOCK_MONOTONIC, in which the sensors'
// are. Of several readings, the one between the closest two of the other clock.
std::int64_t boot_offset_ns() {
  constexpr int kTries = 16;
  std::int64_t offset = 0;
  std::int64_t tightest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t boot = clock_ns(CLOCK_BOOTTIME);
    const std::int64_t after = clock_ns(CLOCK_MONOTONIC);
    if (after - before >= tightest) continue;
    tightest = after - before;
    offset = boot - before - (after - before) / 2;
  }
  return offset;
}

std::uint64_t product(const rocprofiler::Size3& size) {
  return std::uint64_t{size.x} * size.y * size.z;
}

LaunchCollector& collector(void* self) {
  return *static_cast<LaunchCollector*>(self);
}

}  // namespace

LaunchCollector::LaunchCollector(std::filesystem::path stem, std::vector<std::string> counters,
                                 const std::string& kernels)
    : Collector(std::move(stem), std::move(counters)) {
  if (kernels.empty()) return;
  try {
    kernels_wanted_.emplace(kernels, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error&) {  // all are counted
  }
}

bool LaunchCollector::wanted(const std::string& kernel) {
  if (!kernels_wanted_) return true;
  const auto [known, is_new] = wanted_.try_emplace(kernel, false);
  if (!is_new) return known->second;
  known->second = std::regex_search(kernel, *kernels_wanted_);
  constexpr std::size_t kMaxNamed = 6;
  if (!known->second && note_.left_out.size() < kMaxNamed) note_.left_out.push_back(kernel);
  return known->second;
}

void LaunchCollector::initialize() {
  const std::lock_guard lock(mutex_);
  if (!find_agents() || !start_services()) return;
  boot_offset_ns_ = boot_offset_ns();
  write_agents();
}

bool LaunchCollector::start_services() {
  // Kernels have their names from the code objects that are loaded, from the first one on, in a
  // context that never stops.
  rocprofiler::ContextId names{};
  rocprofiler::ContextId counts{};
  return start_service("makes no context", sdk_.create_context(&names)) &&
         start_service("does not name kernels", sdk_.configure_callback_tracing_service(
                                                    names, rocprofiler::kCodeObjectTracing, nullptr,
                                                    0, &on_code_object, this)) &&
         start_service("does not name kernels", sdk_.start_context(names)) &&
         start_service("makes no context", sdk_.create_context(&counts)) &&
         start_service("does not count launches",
                       sdk_.configure_callback_dispatch_counting_service(counts, &on_dispatch, this,
                                                                         &on_records, this)) &&
         start_service("does not count launches", sdk_.start_context(counts));
}

void LaunchCollector::on_code_object(rocprofiler::TracingRecord record, rocprofiler::UserData*,
                                     void* self) {
  try {
    collector(self).add_kernel(record);
  } catch (...) {  // no memory: the name stays unknown
  }
}

void LaunchCollector::add_kernel(const rocprofiler::TracingRecord& record) {
  if (!usable()) return;
  const auto operation = rocprofiler::operation_of(record, sdk_.version);
  if (operation.kind != rocprofiler::kCodeObjectTracing ||
      operation.operation != rocprofiler::kKernelSymbolOperation ||
      operation.phase != rocprofiler::kLoadPhase || operation.payload == nullptr) {
    return;
  }
  const auto& symbol = *static_cast<const rocprofiler::KernelSymbol*>(operation.payload);
  std::string name = text_or(symbol.name, "?");
  constexpr std::string_view kDescriptor = ".kd";
  if (name.ends_with(kDescriptor)) name.resize(name.size() - kDescriptor.size());
  const std::lock_guard lock(mutex_);
  kernels_[symbol.kernel] = std::move(name);
}

void LaunchCollector::on_dispatch(rocprofiler::DispatchData data, rocprofiler::ConfigId* config,
                                  rocprofiler::UserData*, void* self) {
  try {
    collector(self).prepare(data, config);
  } catch (...) {  // no memory: the launch is not counted
  }
}

void LaunchCollector::prepare(const rocprofiler::DispatchData& data,
                              rocprofiler::ConfigId* config) {
  if (!usable()) return;
  const rocprofiler::DispatchInfo& info = data.info;
  const std::lock_guard lock(mutex_);
  const auto agent = agents_.find(info.agent.handle);
  if (done_ || agent == agents_.end() || agent->second.config.handle == 0) return;
  const auto found = kernels_.find(info.kernel);
  const std::string kernel = found == kernels_.end() ? "?" : found->second;
  if (!wanted(kernel)) return;
  pending_[info.dispatch] = {
      info.agent.handle,
      {info.dispatch, agent->second.node, info.queue, info.kernel, kernel, product(info.grid),
       product(info.workgroup), info.group_bytes, info.private_bytes}};
  ++note_.dispatches;
  *config = agent->second.config;
}

void LaunchCollector::on_records(rocprofiler::DispatchData data,
                                 rocprofiler::CounterRecord* records, std::size_t count,
                                 rocprofiler::UserData, void* self) {
  try {
    collector(self).add_records(data, records, count);
  } catch (...) {  // no memory: the launch stays without its counters
  }
}

bool LaunchCollector::has_rows() {
  if (!rows_) {
    auto table = RowTable::create(stem_);
    if (table) rows_.emplace(std::move(*table));
  }
  return rows_.has_value();
}

void LaunchCollector::add_records(const rocprofiler::DispatchData& data,
                                  const rocprofiler::CounterRecord* records, std::size_t count) {
  if (!usable()) return;
  const std::lock_guard lock(mutex_);
  const auto pending = pending_.find(data.info.dispatch);
  if (done_ || pending == pending_.end()) return;
  const auto sums = sums_of(agents_[pending->second.agent], records, count);
  const LaunchTimes times{static_cast<std::int64_t>(data.start_ns) - boot_offset_ns_,
                          static_cast<std::int64_t>(data.end_ns) - boot_offset_ns_};
  if (!has_rows() || !rows_->add(pending->second.launch, times, sums)) {
    note_.refusal = "the rows cannot be written: is the disk full?";
    return;
  }
  ++note_.records;
  pending_.erase(pending);
  recorded_.notify_all();
}

void LaunchCollector::finish() {
  if (!usable()) return;
  std::unique_lock lock(mutex_);
  if (done_ || note_.agents.empty()) return;
  std::uint64_t before = 0;
  do {
    before = note_.records;
    recorded_.wait_for(lock, kPatience,
                       [&] { return pending_.empty() || note_.records != before; });
  } while (!pending_.empty() && note_.records != before);
  done_ = true;
  for (const auto& [dispatch, lost] : pending_) {
    std::vector<CounterSum> none;
    for (const std::size_t counter : agents_[lost.agent].counted) {
      none.push_back({counters_[counter], 0, 0});
    }
    if (has_rows()) (void)rows_->add(lost.launch, std::nullopt, none);
  }
  if (rows_ && !rows_->finish()) note_.refusal = "the rows cannot be written: is the disk full?";
  note_.slept = std::abs(boot_offset_ns() - boot_offset_ns_) > kSleepNs;
  note_.finished = true;
  write_note();
}

}  // namespace ww::collect
