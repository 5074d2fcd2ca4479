#include "recordings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <unordered_map>
#include <vector>

#include "ww/core/streamed_file.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::icd {
namespace {

// rocprofv3's counter collection file, the form with timestamps.
constexpr std::string_view kHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string csv_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string recording_name(std::string name) {
  const auto process = std::to_string(::getpid());
  for (auto at = name.find("%p"); at != std::string::npos; at = name.find("%p", at)) {
    name.replace(at, 2, process);
    at += process.size();
  }
  return name;
}

Recordings::~Recordings() = default;

Result<std::unique_ptr<Recordings>> Recordings::open(const Settings& settings) {
  auto recordings = std::unique_ptr<Recordings>(new Recordings);
  recordings->process_ = ::getpid();
  recordings->counters_file_ = settings.counters_file;
  if (!settings.counters_file.empty()) {
    // A folder that cannot be written to is better told now than after an hour.
    WW_TRY(StreamedFile::create(settings.counters_file));
  }
  if (!settings.trace_file.empty()) {
    WW_ASSIGN(writer, trace::Writer::create(settings.trace_file, "virtual:" + settings.chip.chip));
    recordings->trace_ = std::move(writer);
  }
  return recordings;
}

Status Recordings::save_counters(const gpu::VirtualGpu& gpu) {
  if (counters_file_.empty() || ::getpid() != process_) return {};
  const std::uint64_t dispatches = gpu.dispatch_count();
  if (saved_ && dispatches == saved_dispatches_) return {};
  WW_ASSIGN(file, StreamedFile::create(counters_file_));
  WW_TRY(file.write(kHeader));
  const auto& names = gpu.counter_names();
  std::vector<double> values(names.size());
  std::unordered_map<std::string, std::size_t> kernels;
  std::string rows;
  for (std::uint64_t id = 0; id < dispatches; ++id) {
    WW_ASSIGN(dispatch, gpu.dispatch(id));
    WW_TRY(gpu.counters(id, values));
    const std::size_t kernel =
        kernels.try_emplace(dispatch.kernel, kernels.size() + 1).first->second;
    // Agents, queues and dispatches count from 1, as rocprofv3 does; agent 1 is the virtual GPU.
    const auto head = fmt::format(
        "{0},{0},\"Agent 1\",1,{1},{1},{2},{3},{4},{5},{6},{7},{8},0,{9}", id + 1, process_,
        dispatch.grid_size, kernel, csv_text(dispatch.kernel), dispatch.workgroup_size,
        dispatch.lds_bytes, dispatch.scratch_bytes, dispatch.vgprs, dispatch.sgprs);
    rows.clear();
    for (std::size_t i = 0; i < names.size(); ++i) {
      fmt::format_to(std::back_inserter(rows), "{},\"{}\",{:.17g},{},{}\n", head, names[i],
                     values[i], dispatch.start_ns, dispatch.end_ns);
    }
    WW_TRY(file.write(rows));
  }
  WW_TRY(file.keep());
  saved_ = true;
  saved_dispatches_ = dispatches;
  return {};
}

Status Recordings::finish_trace() {
  if (trace_ == nullptr || ::getpid() != process_) return {};
  return trace_->finish();
}

}  // namespace ww::sim::icd
