#include "attribute/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "commands/resume.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"

namespace ww::cli {
namespace {

constexpr std::string_view kVoltageColumn = "voltage_v";
constexpr std::string_view kTemperatureColumn = "temperature_c";

// Counters of AMD's cards, by part. Where two names mean one count, a card has one of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kCardTerms{{
    {"clocks/cus", "SQ_BUSY_CU_CYCLES"},
    {"clocks/waves", "SQ_WAVE_CYCLES"},
    {"alu/vector", "SQ_INSTS_VALU"},
    {"alu/lanes", "SQ_THREAD_CYCLES_VALU"},
    {"alu/scalar", "SQ_INSTS_SALU"},
    {"alu/scalar_loads", "SQ_INSTS_SMEM"},
    {"alu/addresses", "SQ_INSTS_VMEM_RD"},
    {"caches/lds", "SQ_INSTS_LDS"},
    {"caches/l1", "TCP_TOTAL_CACHE_ACCESSES_sum"},
    {"caches/l2", "TCC_REQ_sum"},
    {"caches/misses", "TCC_MISS_sum"},
    {"caches/writebacks", "TCC_MC_WRREQ_sum"},
    {"caches/writebacks", "TCC_EA_WRREQ_sum"},
}};

Result<microbench::ClassRecording> recorded_classes(const std::filesystem::path& file) {
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  return microbench::class_runs(store);
}

// Whether a recording is there and whole.
Result<bool> is_whole_recording(const std::filesystem::path& file, const CLI::App& command) {
  WW_ASSIGN(store, CampaignStore::open_read_only(file));
  WW_TRY(refuse_other_recording(store, command));
  WW_ASSIGN(finished, store.get(campaign_keys::finished));
  return finished == "true";
}

// Whether every run has what the telemetry may show.
bool all_have(const microbench::ClassRecording& recording,
              std::optional<double> microbench::ClassRun::*field) {
  return std::ranges::all_of(recording.runs,
                             [&](const auto& run) { return (run.*field).has_value(); });
}

std::string class_table_text(const microbench::ClassRecording& recording,
                             const std::set<std::string>& counters) {
  std::string text = "run,app,device,power_w,seconds,active";
  std::vector<std::optional<double> microbench::ClassRun::*> shown;
  if (all_have(recording, &microbench::ClassRun::voltage_v)) {
    text += fmt::format(",{}", kVoltageColumn);
    shown.push_back(&microbench::ClassRun::voltage_v);
  }
  if (all_have(recording, &microbench::ClassRun::temperature_c)) {
    text += fmt::format(",{}", kTemperatureColumn);
    shown.push_back(&microbench::ClassRun::temperature_c);
  }
  for (const auto& name : counters) text += "," + name;
  for (const auto& run : recording.runs) {
    text +=
        fmt::format("\n\"{}\",\"{}\",\"{}{}\",{},{},{}", run.run, run.kind, recording.device,
                    recording.is_virtual ? " (virtual)" : "", run.power_w, run.seconds, run.active);
    for (const auto field : shown) text += fmt::format(",{}", *(run.*field));
    for (const auto& name : counters) {
      const auto found = run.counters.find(name);
      text += fmt::format(",{}", found == run.counters.end() ? 0 : found->second);
    }
  }
  return text + "\n";
}

}  // namespace

Result<RecordedTable> record_classes(microbench::ClassesRequest request, const CLI::App& command) {
  const auto file = request.folder / "classes.db";
  bool whole = false;
  std::error_code none;
  if (std::filesystem::exists(file, none)) {
    WW_ASSIGN(found, is_whole_recording(file, command));
    whole = found;
    request.resume = true;
  }
  if (!whole) {
    Progress progress("measuring classes of work");
    const auto summary =
        microbench::run_classes(request, [&](const microbench::CampaignProgress& step) {
          progress.update(step.done, step.total, step.note);
        });
    progress.finish();
    if (!summary) return tl::unexpected(summary.error());
    if (!summary->complete) {
      return fail(ErrorCode::cancelled,
                  fmt::format("interrupted after {} runs; the same command goes on", summary->runs),
                  file.string());
    }
  }
  WW_ASSIGN(recording, recorded_classes(file));
  std::set<std::string> counters;
  std::set<std::string> counted;  // by some run
  for (const auto& run : recording.runs) {
    for (const auto& [name, value] : run.counters) {
      counters.insert(name);
      if (value > 0) counted.insert(name);
    }
  }
  RecordedTable table;
  table.path = (request.folder / "classes.csv").string();
  WW_TRY(write_file_atomically(table.path, class_table_text(recording, counters)));
  table.levels = {"active"};
  if (all_have(recording, &microbench::ClassRun::voltage_v)) table.voltage = kVoltageColumn;
  table.terms = {"clocks/chip=active"};
  // Leakage grows with the temperature, and the chip is warmer after a busy run.
  if (all_have(recording, &microbench::ClassRun::temperature_c)) {
    table.terms.push_back(fmt::format("leakage/heat={}", kTemperatureColumn));
    table.levels.emplace_back(kTemperatureColumn);
  }
  for (const auto& [name, counter] : kCardTerms) {
    if (counted.contains(std::string(counter)))
      table.terms.push_back(fmt::format("{}={}", name, counter));
  }
  return table;
}

}  // namespace ww::cli
