// Counts the launches of the process that it lives in, one at a time, through rocprofiler-sdk.
//
// It never ends the process, never throws into it, and says nothing on its streams: what went wrong
// is in the note beside the rows (ww/rocprofiler/counting_files.hpp).
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "row_table.hpp"
#include "ww/rocprofiler/counting_files.hpp"
#include "ww/rocprofiler/sdk.hpp"

namespace ww::collect {

class Collector {
 public:
  // `stem`: the files' name without an ending. `counters`: sums, "TCC_HIT_sum".
  Collector(std::filesystem::path stem, std::vector<std::string> counters);

  // Whether counting may begin with this release, whose file and handle are given; writes the note
  // if not.
  [[nodiscard]] bool accept(std::uint32_t version, const std::string& library_file, void* library);
  // Chooses counters for each agent and starts the service. The library calls it before HSA loads.
  void initialize();
  // Waits for records that are under way, and completes the files. Repeating it does nothing.
  void finish();
  // For the child of a fork, in which the library's threads are gone.
  void abandon() { abandoned_ = true; }

 private:
  struct AgentState {
    std::uint32_t node{};
    rocprofiler::ConfigId config;
    std::vector<std::size_t> counted;  // of the counters that are wanted
    rocprofiler::CountedAgent note;
  };
  struct Pending {
    std::uint64_t agent{};
    Launch launch;
  };

  static constexpr std::size_t kNoCounter = static_cast<std::size_t>(-1);

  static rocprofiler::Status on_agents(int version, const void** agents, std::size_t count,
                                       void* self);
  static void on_dispatch(rocprofiler::DispatchData data, rocprofiler::ConfigId* config,
                          rocprofiler::UserData* user_data, void* self);
  static void on_records(rocprofiler::DispatchData data, rocprofiler::CounterRecord* records,
                         std::size_t count, rocprofiler::UserData user_data, void* self);
  static void on_code_object(rocprofiler::TracingRecord record, rocprofiler::UserData* user_data,
                             void* self);

  void choose_counters(rocprofiler::AgentId agent, AgentState& state);
  rocprofiler::Status make_config(rocprofiler::AgentId agent, AgentState& state,
                                  const std::map<std::string, rocprofiler::CounterId>& known);
  bool start_services();
  bool start_service(const char* what, rocprofiler::Status status);
  [[nodiscard]] bool usable() const;
  void add_kernel(const rocprofiler::TracingRecord& record);
  void prepare(const rocprofiler::DispatchData& data, rocprofiler::ConfigId* config);
  void add_records(const rocprofiler::DispatchData& data, const rocprofiler::CounterRecord* records,
                   std::size_t count);
  // Which of the wanted counters a record is of, by name: its number may carry the agent or the
  // instance. kNoCounter: none.
  std::size_t counter_of(rocprofiler::InstanceId instance);
  [[nodiscard]] bool has_rows();
  void write_note() const;
  void refuse(const std::string& reason);

  const std::filesystem::path stem_;
  const std::vector<std::string> counters_;
  const pid_t process_;
  rocprofiler::Sdk sdk_;
  std::int64_t boot_offset_ns_{};
  std::atomic<bool> abandoned_{};

  std::mutex mutex_;  // of all below
  std::condition_variable recorded_;
  bool done_{};
  std::map<std::uint64_t, AgentState> agents_;
  std::unordered_map<std::uint64_t, std::string> kernels_;
  std::unordered_map<rocprofiler::InstanceId, std::size_t> instances_;
  std::map<std::uint64_t, Pending> pending_;  // by dispatch
  std::optional<RowTable> rows_;
  rocprofiler::CountingNote note_;
};

}  // namespace ww::collect
