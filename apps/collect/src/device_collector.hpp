// Counts what the whole device moves while the process that it lives in runs, by samples of
// rocprofiler-sdk's sums. No launch waits for it.
//
// One of several processes that use a device counts it: the packets that start a second count
// would end the first. Another takes over when that one has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collector.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::collect {

class DeviceCollector : public Collector {
 public:
  // `interval`: between two samples.
  DeviceCollector(std::filesystem::path stem, std::vector<std::string> counters,
                  std::chrono::milliseconds interval);
  void initialize() override;
  // Takes a last sample, and completes the files.
  void finish() override;
  // Has the thread take a sample, and waits for it, but for two seconds at most. Returns whether
  // its rows are written.
  bool sample_now();

 private:
  struct Service {
    DeviceCollector* self{};
    std::uint64_t agent{};
    rocprofiler::ContextId context;
    int lock{-1};  // a file's, which the process that counts the device holds
    bool counts{};
    std::int64_t since_ns{};        // CLOCK_MONOTONIC of the last whole sample
    std::vector<CounterSum> known;  // of that sample, by the agent's counters
  };

  static void on_start(rocprofiler::ContextId context, rocprofiler::AgentId agent,
                       rocprofiler::SetConfig set_config, void* service);
  void configure(Service& service);
  [[nodiscard]] rocprofiler::BufferId make_buffer(rocprofiler::ContextId context);
  // Starts the count of a device that no other process counts. Without the lock, as the library
  // may not return.
  void start(Service& service);
  [[nodiscard]] bool take_lock(Service& service) const;
  void start_thread();
  void run();
  void sample_all(bool may_start);
  void sample(Service& service);
  // Writes what was counted since the last whole sample. Needs the lock.
  void add(Service& service, std::vector<CounterSum> sums, std::int64_t now_ns);
  // Notes why there is no sample, or none of that. Needs the lock.
  void say(const std::string& trouble);
  Status write(const std::string& line);
  [[nodiscard]] std::string header() const;

  const std::chrono::milliseconds interval_;
  std::map<std::uint64_t, Service> services_;        // by agent; fixed once the thread runs
  std::vector<rocprofiler::CounterRecord> records_;  // the thread's alone
  bool whole_{};  // the thread's alone: the newest samples lack no instance

  // Under the lock.
  std::condition_variable changed_;
  bool ending_{}, done_{};
  std::uint64_t asked_{}, answered_{};  // samples
  bool ended_{true};                    // there is no thread, or it has
  std::optional<StreamedFile> file_;
};

}  // namespace ww::collect
