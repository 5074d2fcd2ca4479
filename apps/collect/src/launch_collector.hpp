// Counts the launches of the process that it lives in, one at a time, through rocprofiler-sdk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <unordered_map>

#include "collector.hpp"
#include "row_table.hpp"

namespace ww::collect {

class LaunchCollector : public Collector {
 public:
  // `kernels`: a regular expression of the names of those that are counted; empty: all. One that
  // is none counts all: whoever gives it has read it before.
  LaunchCollector(std::filesystem::path stem, std::vector<std::string> counters,
                  const std::string& kernels);
  void initialize() override;
  // Waits for records that are under way, and completes the files.
  void finish() override;

 private:
  struct Pending {
    std::uint64_t agent{};
    Launch launch;
  };

  static void on_dispatch(rocprofiler::DispatchData data, rocprofiler::ConfigId* config,
                          rocprofiler::UserData* user_data, void* self);
  static void on_records(rocprofiler::DispatchData data, rocprofiler::CounterRecord* records,
                         std::size_t count, rocprofiler::UserData user_data, void* self);
  static void on_code_object(rocprofiler::TracingRecord record, rocprofiler::UserData* user_data,
                             void* self);

  bool start_services();
  [[nodiscard]] bool wanted(const std::string& kernel);
  void add_kernel(const rocprofiler::TracingRecord& record);
  void prepare(const rocprofiler::DispatchData& data, rocprofiler::ConfigId* config);
  void add_records(const rocprofiler::DispatchData& data, const rocprofiler::CounterRecord* records,
                   std::size_t count);
  [[nodiscard]] bool has_rows();

  std::optional<std::regex> kernels_wanted_;
  std::int64_t boot_offset_ns_{};

  // Under the lock.
  std::condition_variable recorded_;
  bool done_{};
  std::unordered_map<std::uint64_t, std::string> kernels_;
  std::unordered_map<std::string, bool> wanted_;  // by name
  std::map<std::uint64_t, Pending> pending_;      // by dispatch
  std::optional<RowTable> rows_;
};

}  // namespace ww::collect
