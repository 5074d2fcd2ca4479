// Counts what a card moves while a program runs on it, from inside the program and without making
// its kernels wait for one another: AMD's device counting, by wirewatt's tool library.
//
// The counts are of the whole card: those of other processes are in them, and so are copies.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/process.hpp"
#include "ww/core/result.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/counter_file.hpp"

namespace ww::measure {

// The counters that a device counts at once: of its blocks' places, those that give the bytes
// between L1 and L2 and at the memory come first. Empty for parts whose counters are not known.
[[nodiscard]] std::vector<std::string> device_counters(std::string_view architecture);

// The name that a stretch of a card has in the place of a kernel's.
inline constexpr const char* kWholeCard = "whole card";

struct DeviceNews {
  // The card's counts, each from one sample to the next (CLOCK_MONOTONIC).
  std::vector<CounterDispatch> stretches;
  std::string trouble;  // why nothing more is counted at present; empty: it is
};

struct DeviceCountRequest {
  std::string architecture;        // "gfx90a"
  std::vector<std::string> cards;  // PCI addresses, "0000:03:00.0"; empty: all of the part
  std::chrono::milliseconds interval{1000};
};

class DeviceCounting {
 public:
  // Errors: unsupported (no counters are known for it), those of tool_library and of
  // ScratchFolder::create.
  static Result<DeviceCounting> prepare(const CountingSdk& sdk, DeviceCountRequest request);

  // For the program and its children.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& environment() const {
    return environment_;
  }
  // For programs that run already: a process of this one opens the device and rests, and the tool
  // library in it counts the card. It ends with this object. Call it before threads are started.
  // Errors: those of Process::fork.
  Status start_host();
  // Has the device sampled now, where this process itself is counted (its environment is the one
  // above), so that poll() returns what was counted up to here. Errors: missing_dependency (no
  // runtime of AMD has loaded the tool library here so far), device_error (no sample came).
  [[nodiscard]] Status sample_now() const;
  // Returns the counts since the last call. Errors: those of reading.
  [[nodiscard]] Result<DeviceNews> poll();
  // After the program's end: what may be wrong with the counts, or that there are none.
  [[nodiscard]] Result<std::vector<std::string>> warnings();
  // Processor time of the threads that took the samples, in processes that have ended [s].
  [[nodiscard]] double cpu_s() const { return cpu_s_; }
  [[nodiscard]] const std::string& release() const { return release_; }

 private:
  struct Table {
    std::uint64_t read{};  // bytes
    std::uint64_t rows{};
    std::vector<std::string> counters;
  };
  DeviceCounting(ScratchFolder folder, DeviceCountRequest request)
      : folder_(std::move(folder)), request_(std::move(request)) {}

  // Agents of the cards by their name in the rows, with why counters are missing.
  using Missing = std::map<std::string, std::string>;
  Result<std::map<std::string, Missing>> agents_of(const std::filesystem::path& note_file,
                                                   std::string& trouble);
  Status read_rows(const std::filesystem::path& stem, const std::map<std::string, Missing>& agents,
                   DeviceNews& news);

  std::optional<Process> host_;
  ScratchFolder folder_;
  DeviceCountRequest request_;
  std::string release_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::map<std::string, Table> tables_;  // by stem
  double total_{};                       // of all counters
  double cpu_s_{};
};

}  // namespace ww::measure
