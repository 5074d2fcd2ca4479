#include "collector.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ww/core/atomic_file.hpp"
#include "ww/rocprofiler/pass_plan.hpp"

namespace ww::collect {
namespace {

using rocprofiler::kSuccess;

std::string pci_of(const rocprofiler::Agent& agent) {
  const std::uint32_t bus = agent.location_id >> 8;
  const std::uint32_t device = agent.location_id >> 3 & 31;
  return fmt::format("{:04x}:{:02x}:{:02x}.{}", agent.domain, bus & 255, device,
                     agent.location_id & 7);
}

std::string description_of(const rocprofiler::Agent& agent) {
  return fmt::format("{}, {}, PCI {}", text_or(agent.name, "unknown part"),
                     text_or(agent.product_name, "unnamed"), pci_of(agent));
}

}  // namespace

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  constexpr std::int64_t kSecond = 1'000'000'000;
  return now.tv_sec * kSecond + now.tv_nsec;
}

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr && *text != '\0' ? text : otherwise;
}

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
  auto& states = static_cast<Collector*>(self)->agents_;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& agent = *static_cast<const rocprofiler::Agent*>(agents[i]);
    if (agent.type != rocprofiler::kGpuAgent) continue;
    AgentState& state = states[agent.id.handle];
    state.node = agent.node_id;
    state.note.id = fmt::format("Agent {}", agent.node_id);
    state.note.pci = pci_of(agent);
    state.note.part = text_or(agent.name, "");
    state.note.description = description_of(agent);
  }
  return kSuccess;
}

bool Collector::find_agents() {
  const auto listed = sdk_.query_available_agents(rocprofiler::kAgentInfoVersion0, &on_agents,
                                                  rocprofiler::kAgentSize, this);
  if (listed != kSuccess) {
    refuse("lists no agents: " + sdk_.status_text(listed));
    return false;
  }
  if (agents_.empty()) {
    refuse("there is no GPU that it could count on");
    return false;
  }
  for (auto& [handle, state] : agents_) choose_counters({handle}, state);
  return true;
}

void Collector::write_agents() {
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

std::vector<CounterSum> Collector::sums_of(const AgentState& agent,
                                           const rocprofiler::CounterRecord* records,
                                           std::size_t count) {
  std::vector<CounterSum> all(counters_.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t counter = counter_of(records[i].id);
    if (counter == kNoCounter || !std::isfinite(records[i].value)) continue;
    all[counter].value += records[i].value;
    ++all[counter].instances;
  }
  std::vector<CounterSum> sums;
  for (const std::size_t counter : agent.counted) {
    sums.push_back({counters_[counter], all[counter].value, all[counter].instances});
  }
  return sums;
}

}  // namespace ww::collect
