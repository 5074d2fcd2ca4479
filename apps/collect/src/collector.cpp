#include "collector.hpp"

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

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  constexpr std::int64_t kSecond = 1'000'000'000;
  return now.tv_sec * kSecond + now.tv_nsec;
}

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

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr && *text != '\0' ? text : otherwise;
}

std::string description_of(const rocprofiler::Agent& agent) {
  const std::uint32_t bus = agent.location_id >> 8;
  const std::uint32_t device = agent.location_id >> 3 & 31;
  return fmt::format("{}, {}, PCI {:04x}:{:02x}:{:02x}.{}", text_or(agent.name, "unknown part"),
                     text_or(agent.product_name, "unnamed"), agent.domain, bus & 255, device,
                     agent.location_id & 7);
}

Collector& collector(void* self) {
  return *static_cast<Collector*>(self);
}

}  // namespace

Collector::Collector(std::filesystem::path stem, std::vector<std::string> counters)
    : stem_(std::move(stem)), counters_(std::move(counters)), process_(::getpid()) {
  const char* definitions = std::getenv("ROCPROFILER_METRICS_PATH");
  if (definitions != nullptr) note_.metrics_path = definitions;
}

bool Collector::usable() const {
  return !abandoned_ && ::getpid() == process_;
}

void Collector::write_note() const {
  auto file = stem_;
  // A folder that is gone is no concern of the program.
  (void)write_file_atomically(file += rocprofiler::kNote, to_text(note_));
}

void Collector::refuse(const std::string& reason) {
  note_.refusal = reason;
  write_note();
}

bool Collector::accept(std::uint32_t version, const std::string& library_file, void* library) {
  note_.version = version;
  note_.library = library_file;
  note_.rocm_release = rocprofiler::rocm_release_of(library_file);
  if (const auto usable = rocprofiler::check_release(version, note_.rocm_release); !usable) {
    refuse(usable.error().message);
    return false;
  }
  auto found = rocprofiler::find_functions(library, version);
  if (!found) {
    refuse(found.error().message);
    return false;
  }
  sdk_ = *found;
  return true;
}

rocprofiler::Status Collector::on_agents(int /*version*/, const void** agents, std::size_t count,
                                         void* self) {
  auto& states = collector(self).agents_;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& agent = *static_cast<const rocprofiler::Agent*>(agents[i]);
    if (agent.type != rocprofiler::kGpuAgent) continue;
    AgentState& state = states[agent.id.handle];
    state.node = agent.node_id;
    state.note.id = fmt::format("Agent {}", agent.node_id);
    state.note.part = text_or(agent.name, "");
    state.note.description = description_of(agent);
  }
  return kSuccess;
}

void Collector::initialize() {
  const std::lock_guard lock(mutex_);
  const auto listed = sdk_.query_available_agents(rocprofiler::kAgentInfoVersion0, &on_agents,
                                                  rocprofiler::kAgentSize, this);
  if (listed != kSuccess) return refuse("lists no agents: " + sdk_.status_text(listed));
  if (agents_.empty()) return refuse("there is no GPU that it could count on");
  for (auto& [handle, state] : agents_) choose_counters({handle}, state);
  if (!start_services()) return;
  boot_offset_ns_ = boot_offset_ns();
  for (const auto& [handle, state] : agents_) note_.agents.push_back(state.note);
  write_note();
}

void Collector::choose_counters(rocprofiler::AgentId agent, AgentState& state) {
  struct Known {
    const rocprofiler::Sdk* sdk;
    std::map<std::string, rocprofiler::CounterId> counters;
  } known{&sdk_, {}};
  const auto add = [](rocprofiler::AgentId, rocprofiler::CounterId* ids, std::size_t count,
                      void* data) -> rocprofiler::Status {
    auto& all = *static_cast<Known*>(data);
    for (std::size_t i = 0; i < count; ++i) {
      rocprofiler::CounterInfo info{};
      if (all.sdk->query_counter_info(ids[i], rocprofiler::kCounterInfoVersion0, &info) !=
          kSuccess) {
        continue;
      }
      if (info.name != nullptr) all.counters.emplace(info.name, ids[i]);
    }
    return kSuccess;
  };
  const auto listed = sdk_.iterate_agent_supported_counters(agent, add, &known);
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (known.counters.contains(std::string(rocprofiler::base_of(counters_[i])))) {
      state.counted.push_back(i);
    } else {
      state.note.missing[counters_[i]] =
          listed == kSuccess ? "rocprofiler-sdk has no such counter on this part"
                             : "rocprofiler-sdk lists no counters: " + sdk_.status_text(listed);
    }
  }
  while (!state.counted.empty()) {
    const auto made = make_config(agent, state, known.counters);
    if (made == kSuccess) return;
    if (made == rocprofiler::kExceedsHardwareLimit && state.counted.size() > 1) {
      state.note.crowded_out.push_back(counters_[state.counted.back()]);
      state.counted.pop_back();
      continue;
    }
    const std::string why = "rocprofiler-sdk refuses it: " + sdk_.status_text(made);
    for (const std::size_t counter : state.counted) state.note.missing[counters_[counter]] = why;
    state.counted.clear();
  }
}

rocprofiler::Status Collector::make_config(
    rocprofiler::AgentId agent, AgentState& state,
    const std::map<std::string, rocprofiler::CounterId>& known) {
  std::vector<rocprofiler::CounterId> ids;
  ids.reserve(state.counted.size());
  for (const std::size_t counter : state.counted) {
    ids.push_back(known.at(std::string(rocprofiler::base_of(counters_[counter]))));
  }
  state.config = {};  // what is not 0 would be extended
  return sdk_.create_counter_config(agent, ids.data(), ids.size(), &state.config);
}

bool Collector::start_service(const char* what, rocprofiler::Status status) {
  if (status == kSuccess) return true;
  refuse(fmt::format("{}: {}", what, sdk_.status_text(status)));
  return false;
}

bool Collector::start_services() {
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

void Collector::on_code_object(rocprofiler::TracingRecord record, rocprofiler::UserData*,
                               void* self) {
  try {
    collector(self).add_kernel(record);
  } catch (...) {  // no memory: the name stays unknown
  }
}

void Collector::add_kernel(const rocprofiler::TracingRecord& record) {
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

void Collector::on_dispatch(rocprofiler::DispatchData data, rocprofiler::ConfigId* config,
                            rocprofiler::UserData*, void* self) {
  try {
    collector(self).prepare(data, config);
  } catch (...) {  // no memory: the launch is not counted
  }
}

void Collector::prepare(const rocprofiler::DispatchData& data, rocprofiler::ConfigId* config) {
  if (!usable()) return;
  const rocprofiler::DispatchInfo& info = data.info;
  const std::lock_guard lock(mutex_);
  const auto agent = agents_.find(info.agent.handle);
  if (done_ || agent == agents_.end() || agent->second.config.handle == 0) return;
  const auto kernel = kernels_.find(info.kernel);
  pending_[info.dispatch] = {info.agent.handle,
                             {info.dispatch, agent->second.node, info.queue, info.kernel,
                              kernel == kernels_.end() ? "?" : kernel->second, product(info.grid),
                              product(info.workgroup), info.group_bytes, info.private_bytes}};
  ++note_.dispatches;
  *config = agent->second.config;
}

void Collector::on_records(rocprofiler::DispatchData data, rocprofiler::CounterRecord* records,
                           std::size_t count, rocprofiler::UserData, void* self) {
  try {
    collector(self).add_records(data, records, count);
  } catch (...) {  // no memory: the launch stays without its counters
  }
}

std::size_t Collector::counter_of(rocprofiler::InstanceId instance) {
  const auto [known, is_new] = instances_.try_emplace(instance, kNoCounter);
  if (!is_new) return known->second;
  rocprofiler::CounterId counter{};
  rocprofiler::CounterInfo info{};
  if (sdk_.query_record_counter_id(instance, &counter) != kSuccess ||
      sdk_.query_counter_info(counter, rocprofiler::kCounterInfoVersion0, &info) != kSuccess) {
    return kNoCounter;
  }
  const std::string name = text_or(info.name, "");
  const auto wanted = std::ranges::find(counters_, name, rocprofiler::base_of);
  if (wanted != counters_.end()) {
    known->second = static_cast<std::size_t>(wanted - counters_.begin());
  }
  return known->second;
}

bool Collector::has_rows() {
  if (!rows_) {
    auto table = RowTable::create(stem_);
    if (table) rows_.emplace(std::move(*table));
  }
  return rows_.has_value();
}

void Collector::add_records(const rocprofiler::DispatchData& data,
                            const rocprofiler::CounterRecord* records, std::size_t count) {
  if (!usable()) return;
  const std::lock_guard lock(mutex_);
  const auto pending = pending_.find(data.info.dispatch);
  if (done_ || pending == pending_.end()) return;
  std::vector<CounterSum> all(counters_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t counter = counter_of(records[i].id);
    if (counter == kNoCounter || !std::isfinite(records[i].value)) continue;
    all[counter].value += records[i].value;
    ++all[counter].instances;
  }
  std::vector<CounterSum> sums;
  for (const std::size_t counter : agents_[pending->second.agent].counted) {
    sums.push_back({counters_[counter], all[counter].value, all[counter].instances});
  }
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

void Collector::finish() {
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
