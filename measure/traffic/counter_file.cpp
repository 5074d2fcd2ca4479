#include "ww/measure/counter_file.hpp"
#include "ww/core/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

#include "counter_forms.hpp"
#include "number_text.hpp"
#include "rocpd_file.hpp"

namespace ww::measure {
namespace {

// "TCC_HIT[12]" is instance 12 of TCC_HIT.
std::optional<std::pair<std::string, std::size_t>> instance(const std::string& name) {
  const auto open = name.find('[');
  if (open == std::string::npos || !name.ends_with(']')) return {};
  std::size_t index = 0;
  const char* end = name.data() + name.size() - 1;
  const auto parsed = std::from_chars(name.data() + open + 1, end, index);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {};
  return std::pair{name.substr(0, open), index};
}

struct Instances {
  std::set<std::size_t> indices;
  double sum{};
  [[nodiscard]] bool complete() const {
    return !indices.empty() && *indices.rbegin() + 1 == indices.size();
  }
};

Instances instances_of(const CounterDispatch& dispatch, const std::string& name) {
  Instances found;
  const std::string prefix = name + "[";
  for (auto at = dispatch.counters.lower_bound(prefix);
       at != dispatch.counters.end() && at->first.starts_with(prefix); ++at) {
    if (const auto part = instance(at->first)) {
      found.indices.insert(part->second);
      found.sum += at->second;
    }
  }
  for (auto at = dispatch.missing.lower_bound(prefix);
       at != dispatch.missing.end() && at->first.starts_with(prefix); ++at) {
    return {};
  }
  return found;
}

// Recognises SQLite by its first bytes; a database may be larger than memory.
bool is_sqlite_file(const std::string& path) {
  std::array<char, 16> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return is_sqlite({head.data(), static_cast<std::size_t>(file.gcount())});
}

// Whether the table has a row for each counter, by its first line.
bool is_long(std::string_view text, const CsvOptions& options) {
  const auto begin = text.find_first_not_of("\r\n");
  if (begin == std::string_view::npos) return false;
  const auto end = text.find('\n', begin);
  const auto rows = parse_csv(text.substr(0, end), "", options);
  if (!rows || rows->empty()) return false;
  const Header header(rows->front());
  return header.has("Counter_Name") && header.has("Counter_Value");
}

Result<CounterFile> parse_rocprof(std::string_view text, const std::string& source) {
  // The tool's own lines ("RPL: ...", "ROCProfiler: ...") may stand before the table.
  auto start = find_line(text, [](std::string_view line) {
    return line.starts_with("Index,KernelName") || line.starts_with("Dispatch_ID,") ||
           line.starts_with("\"Correlation_Id\",") || line.starts_with("\"Kind\",");
  });
  if (start == std::string_view::npos) start = 0;
  CsvOptions options;
  options.first_line =
      1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, start), '\n'));
  text.remove_prefix(start);
  if (is_long(text, options)) return read_long(text, source, options);
  WW_ASSIGN(rows, parse_csv(text, source, options));
  if (rows.empty()) return fail(ErrorCode::parse_error, "the file is empty", source);
  const CsvRow& first = rows.front();
  if (first.fields.size() == 1 && std::ranges::count(first.fields[0], ';') > 2) {
    return at_line(ErrorCode::unsupported, "fields are separated by ';': save with commas", source,
                   first.line);
  }
  const Header header(first);
  if (header.has("Kind") && header.has("Direction")) {
    return fail(ErrorCode::unsupported, "this is a memory copy trace: it has no kernels", source);
  }
  if (header.has("Kind") && header.has("Kernel_Name")) return read_kernel_trace(rows, source);
  if (header.has("KernelName") && header.has("Index")) {
    return read_wide(rows, CounterForm::rocprof_v1, source);
  }
  if (header.has("Kernel_Name") && header.has("Dispatch_ID")) {
    // rocprofv2 spells Wave_Size and Correlation_ID; v1, as rocprofiler-compute renames it,
    // keeps wave_size and obj.
    const bool v1 = header.has("obj") || std::ranges::count(first.fields, "wave_size") > 0;
    return read_wide(rows, v1 ? CounterForm::rocprof_v1 : CounterForm::rocprof_v2, source);
  }
  if (header.has("gpu_arch") || header.has("gpu_soc")) {
    return fail(ErrorCode::unsupported, "this describes a system: it has no counters", source);
  }
  if (header.has("KernelName") || header.has("Kernel_Name")) {
    return at_line(ErrorCode::unsupported, "kernels without a dispatch column: no profiler's form",
                   source, first.line);
  }
  return at_line(ErrorCode::unsupported,
                 "not a counter file of rocprof v1, rocprofv2, rocprofv3 or ncu --csv", source,
                 first.line);
}

}  // namespace

std::string_view to_string(CounterForm form) {
  switch (form) {
    case CounterForm::rocprof_v1: return "rocprof_v1";
    case CounterForm::rocprof_v2: return "rocprof_v2";
    case CounterForm::rocprof_v3: return "rocprof_v3";
    case CounterForm::rocprof_v3_kernel_trace: return "rocprof_v3_kernel_trace";
    case CounterForm::rocpd: return "rocpd";
    case CounterForm::ncu_details: return "ncu_details";
    case CounterForm::ncu_raw: return "ncu_raw";
  }
  return "unknown";
}

tl::unexpected<Error> at_line(ErrorCode code, std::string message, const std::string& source,
                              std::size_t line) {
  return fail(code, std::move(message), fmt::format("{}:{}", source, line));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::size_t Header::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (std::size_t i = 0; i < row_.fields.size(); ++i) {
      if (lower(row_.fields[i]) == lower(name)) return i;
    }
  }
  return npos;
}

Result<CounterFile> parse_counter_file(std::string_view text, const std::string& source) {
  text = without_bom(text);
  const auto header = ncu_header(text);
  if (header == std::string_view::npos) {
    if (text.starts_with("==") || text.find("\n==") != std::string_view::npos) {
      if (text.find("ERR_NVGPUCTRPERM") != std::string_view::npos) {
        return fail(ErrorCode::permission_denied,
                    "ncu was refused the counters (ERR_NVGPUCTRPERM): run as root or set the "
                    "driver option NVreg_RestrictProfilingToAdminUsers=0",
                    source);
      }
      return fail(ErrorCode::parse_error, "ncu's log has no table: run ncu with --csv", source);
    }
    return parse_rocprof(text, source);
  }
  CsvOptions options;
  options.first_line =
      1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, header), '\n'));
  options.skip_prefix = "==";
  WW_ASSIGN(rows, parse_csv(text.substr(header), source, options));
  return read_ncu(rows, source);
}

Result<CounterFile> read_counter_file(const std::string& path, std::string_view architecture) {
  const auto read = [&path]() -> Result<CounterFile> {
    if (is_sqlite_file(path)) return read_rocpd(path);
    WW_ASSIGN(text, read_file(path));
    return parse_counter_file(text, path);
  };
  WW_ASSIGN(file, read());
  const auto beside = std::filesystem::path(path).parent_path() / "sysinfo.csv";
  std::error_code ignored;
  if (file.architecture.empty() && std::filesystem::exists(beside, ignored)) {
    WW_ASSIGN(info_text, read_file(beside.string()));
    WW_ASSIGN(info, parse_system_info(info_text, beside.string()));
    file.architecture = info.architecture;
  }
  refuse_uncounted(file, file.architecture.empty() ? architecture : file.architecture);
  cut_late_ends(file.dispatches);
  return file;
}

Result<SystemInfo> parse_system_info(std::string_view text, const std::string& source) {
  WW_ASSIGN(rows, parse_csv(text, source));
  if (rows.size() < 2) return fail(ErrorCode::parse_error, "no system described", source);
  const CsvRow& values = rows[1];
  if (values.fields.size() != rows[0].fields.size()) {
    return at_line(
        ErrorCode::parse_error,
        fmt::format("{} fields under {} columns", values.fields.size(), rows[0].fields.size()),
        source, values.line);
  }
  const Header header(rows[0]);
  const auto field = [&](std::initializer_list<std::string_view> names) -> std::string {
    const auto column = header.find(names);
    return column == Header::npos ? std::string{} : values.fields[column];
  };
  SystemInfo info;
  info.architecture = field({"gpu_arch", "gpu_soc"});
  if (info.architecture.empty()) {
    return fail(ErrorCode::parse_error, "no column gpu_arch or gpu_soc", source);
  }
  info.xcds = number(field({"num_xcd"}), Decimal::point);
  info.l2_channels = number(field({"total_l2_chan", "L2Banks"}), Decimal::point);
  info.l2_kib = number(field({"gpu_l2", "L2"}), Decimal::point);
  // gfx942 has 4 MiB a die; some files give one die's, others the sum of all.
  constexpr double die_kib = 4096;
  if (info.architecture.starts_with("gfx94") && info.xcds && info.l2_kib == die_kib) {
    info.l2_kib = die_kib * *info.xcds;
  }
  return info;
}

std::optional<double> counter_total(const CounterDispatch& dispatch, const std::string& name) {
  if (const auto sum = dispatch.counters.find(name + "_sum"); sum != dispatch.counters.end()) {
    return sum->second;
  }
  if (const auto all = instances_of(dispatch, name); all.complete()) return all.sum;
  if (const auto bare = dispatch.counters.find(name); bare != dispatch.counters.end()) {
    return bare->second;
  }
  return {};
}

std::vector<PassDisagreement> pass_disagreements(const CounterDispatch& dispatch) {
  std::vector<PassDisagreement> found;
  for (const auto& [name, value] : dispatch.counters) {
    if (!name.ends_with("_sum")) continue;
    const auto base = name.substr(0, name.size() - 4);
    const auto all = instances_of(dispatch, base);
    if (all.complete() && all.sum != value) found.push_back({base, value, all.sum});
  }
  return found;
}

std::optional<double> elapsed_cycles(const CounterDispatch& dispatch) {
  const auto total = counter_total(dispatch, "TCC_CYCLE");
  if (!total) return {};
  // Any counter of the L2 that is given by channel shows how many there are.
  std::size_t channels = 0;
  for (const auto& [name, value] : dispatch.counters) {
    if (!name.starts_with("TCC_")) continue;
    if (const auto part = instance(name)) channels = std::max(channels, part->second + 1);
  }
  if (channels == 0) return {};
  return *total / static_cast<double>(channels);
}

}  // namespace ww::measure
