// Shared by both ways of counting: the release of rocprofiler-sdk, the agents and the counters
// that are chosen for each, and the note about how the process was counted.
//
// A collector never ends the process, never throws into it, and says nothing on its streams: what
// went wrong is in the note beside the rows (ww/rocprofiler/counting_files.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ww/rocprofiler/counting_files.hpp"
#include "ww/rocprofiler/sdk.hpp"

namespace ww::collect {

// CLOCK_MONOTONIC and the like.
[[nodiscard]] std::int64_t clock_ns(clockid_t clock);

[[nodiscard]] std::string text_or(const char* text, const char* otherwise);

struct CounterSum {
  std::string name;  // "TCC_EA_RDREQ_sum"
  double value{};
  std::uint32_t instances{};  // 0: no record came, so that there is no value
};

class Collector {
 public:
  // `stem`: the files' name without an ending. `counters`: sums, "TCC_HIT_sum".
  Collector(std::filesystem::path stem, std::vector<std::string> counters);
  virtual ~Collector() = default;

  // Whether counting may begin with this release, whose file and handle are given; writes the note
  // if not.
  [[nodiscard]] bool accept(std::uint32_t version, const std::string& library_file, void* library);
  // Chooses counters for each agent and starts the service. The library calls it before HSA loads.
  virtual void initialize() = 0;
  // Completes the files. Repeating it does nothing.
  virtual void finish() = 0;
  // For the child of a fork, in which the library's threads are gone.
  void abandon() { abandoned_ = true; }

 protected:
  struct AgentState {
    std::uint32_t node{};
    rocprofiler::ConfigId config;
    std::vector<std::size_t> counted;  // of the counters that are wanted
    rocprofiler::CountedAgent note;
  };

  static constexpr std::size_t kNoCounter = static_cast<std::size_t>(-1);

  // Lists the agents and chooses each one's counters; writes the note and returns false where there
  // is none. Needs the lock.
  bool find_agents();
  // Adds the agents to the note, and writes it. Needs the lock.
  void write_agents();
  // Refuses where the status is a failure. Needs the lock.
  bool start_service(const char* what, rocprofiler::Status status);
  [[nodiscard]] bool usable() const;
  // The sum of each counter of an agent over a set of records. Needs the lock.
  [[nodiscard]] std::vector<CounterSum> sums_of(const AgentState& agent,
                                                const rocprofiler::CounterRecord* records,
                                                std::size_t count);
  void write_note() const;
  void refuse(const std::string& reason);

  const std::filesystem::path stem_;
  const std::vector<std::string> counters_;
  rocprofiler::Sdk sdk_;

  std::mutex mutex_;  // of all below
  std::map<std::uint64_t, AgentState> agents_;
  rocprofiler::CountingNote note_;

 private:
  static rocprofiler::Status on_agents(int version, const void** agents, std::size_t count,
                                       void* self);
  void choose_counters(rocprofiler::AgentId agent, AgentState& state);
  rocprofiler::Status make_config(rocprofiler::AgentId agent, AgentState& state,
                                  const std::map<std::string, rocprofiler::CounterId>& known);
  // Which of the wanted counters a record is of, by name: its number may carry the agent or the
  // instance. kNoCounter: none.
  std::size_t counter_of(rocprofiler::InstanceId instance);

  const pid_t process_;
  std::atomic<bool> abandoned_{};
  std::unordered_map<rocprofiler::InstanceId, std::size_t> instances_;
};

}  // namespace ww::collect
