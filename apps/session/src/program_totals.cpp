#include "ww/session/program_totals.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ww/measure/counter_map.hpp"
#include "ww/measure/csv.hpp"

namespace ww::session {

Status ProgramTotals::add(std::string_view csv, const std::string& source) {
  std::optional<measure::CsvColumns> columns;
  std::string last_dispatch;
  KernelTotals* kernel = nullptr;  // the last dispatch's
  return measure::each_csv_row(csv, source, {}, [&](measure::CsvRow& row) -> Status {
    if (!columns) {
      columns.emplace(row, source);
      return {};
    }
    WW_ASSIGN(start_ns, columns->integer(row, "Start_Timestamp"));
    WW_ASSIGN(end_ns, columns->integer(row, "End_Timestamp"));
    WW_ASSIGN(value, columns->number(row, "Counter_Value"));
    WW_ASSIGN(name, columns->text(row, "Counter_Name"));
    WW_ASSIGN(kernel_name, columns->text(row, "Kernel_Name"));
    WW_ASSIGN(dispatch, columns->text(row, "Dispatch_Id"));
    if (kernel == nullptr || dispatch != last_dispatch) {
      last_dispatch = dispatch;
      kernel = &kernels[std::string(kernel_name)];
      ++kernel->dispatches;
      kernel->chip_time_ns += end_ns - start_ns;
    }
    const auto [counter, is_new] = kernel->counters.try_emplace(std::string(name), 0.0);
    counter->second += value;
    if (is_new && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    return {};
  });
}

KernelTotals ProgramTotals::sum() const {
  KernelTotals sum;
  for (const auto& [name, kernel] : kernels) {
    sum.dispatches += kernel.dispatches;
    sum.chip_time_ns += kernel.chip_time_ns;
    for (const auto& [counter, value] : kernel.counters) sum.counters[counter] += value;
  }
  return sum;
}

CacheTraffic ProgramTotals::traffic(const KernelTotals& kernel) const {
  measure::CounterDispatch all;
  all.counters = kernel.counters;
  const auto segments = measure::segment_bytes(architecture, all);
  const auto bytes_of = [&](measure::Segment segment) {
    return std::ranges::find(segments, segment, &measure::SegmentBytes::segment)->bytes.value_or(0);
  };
  using enum measure::Segment;
  return {bytes_of(l1_l2), bytes_of(l2_memory_read), bytes_of(l2_memory_write)};
}

void Fidelity::count_instructions(const KernelTotals& sum) {
  const auto value = [&sum](const char* name) {
    const auto found = sum.counters.find(name);
    return found == sum.counters.end() ? 0 : static_cast<std::uint64_t>(found->second);
  };
  for (const char* name : {"SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM_RD",
                           "SQ_INSTS_VMEM_WR", "SQ_INSTS_LDS"}) {
    instructions += value(name);
  }
  approximated = value("WW_INSTS_APPROXIMATED_sum");
}

Status Fidelity::add_mistakes(std::string_view json, const std::string& source) {
  const auto report = nlohmann::json::parse(json, nullptr, false);
  if (!report.is_object()) return fail(ErrorCode::parse_error, "not JSON", source);
  stopped_launches += report.value("stopped_launches", std::uint64_t{0});
  unknown_instructions += report.value("unknown_instructions", std::uint64_t{0});
  memory_mistakes += report.value("memory_mistakes", std::uint64_t{0});
  return {};
}

}  // namespace ww::session
