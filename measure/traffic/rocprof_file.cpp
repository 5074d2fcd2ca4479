// rocprof v1 and rocprofv2: one row a dispatch, counters in columns. rocprofv3: one row a dispatch
// and counter, and a trace of kernels with their times.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "counter_forms.hpp"
#include "number_text.hpp"

namespace ww::measure {
namespace {

// Columns that identify a dispatch and say how it was launched, in lower case; all others
// count.
constexpr auto kIdColumns = std::to_array<std::string_view>({"index",
                                                             "dispatch_id",
                                                             "kernelname",
                                                             "kernel_name",
                                                             "gpu-id",
                                                             "gpu_id",
                                                             "agent_id",
                                                             "queue-id",
                                                             "queue_id",
                                                             "queue-index",
                                                             "pid",
                                                             "tid",
                                                             "process_id",
                                                             "thread_id",
                                                             "grd",
                                                             "wgr",
                                                             "grid_size",
                                                             "workgroup_size",
                                                             "lds",
                                                             "lds_per_workgroup",
                                                             "lds_block_size",
                                                             "scr",
                                                             "scratch_size",
                                                             "scratch_per_workitem",
                                                             "vgpr",
                                                             "arch_vgpr",
                                                             "accum_vgpr",
                                                             "vgpr_count",
                                                             "accum_vgpr_count",
                                                             "sgpr",
                                                             "sgpr_count",
                                                             "fbar",
                                                             "wave_size",
                                                             "sig",
                                                             "obj",
                                                             "dispatchns",
                                                             "beginns",
                                                             "endns",
                                                             "completens",
                                                             "start_timestamp",
                                                             "end_timestamp",
                                                             "correlation_id",
                                                             "xcc_index",
                                                             "kernel_id",
                                                             "node",
                                                             "kind",
                                                             "context",
                                                             "stream",
                                                             "unnamed: 0"});

// Joined passes repeat the columns of a dispatch with a suffix: "wave_size_1", "obj.2".
bool is_id_column(std::string_view name) {
  const auto is = [](std::string_view text) {
    return std::ranges::find(kIdColumns, lower(text)) != kIdColumns.end();
  };
  if (is(name)) return true;
  const auto cut = name.find_last_of("_.");
  if (cut == std::string_view::npos || cut + 1 == name.size()) return false;
  const auto suffix = name.substr(cut + 1);
  const bool counted = suffix.find_first_not_of("0123456789") == std::string_view::npos;
  return (counted || suffix == "x" || suffix == "y") && is(name.substr(0, cut));
}

template <class T>
std::optional<T> integer(std::string_view text) {
  T value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return {};
  return value;
}

void set_duration(CounterDispatch& dispatch, std::string_view start, std::string_view end) {
  const auto begun = integer<std::int64_t>(start);
  const auto ended = integer<std::int64_t>(end);
  if (begun && ended && *ended > *begun && *begun >= 0) {
    dispatch.duration_ns = static_cast<double>(*ended - *begun);
    dispatch.start_ns = *begun;
  } else if (begun && ended) {
    dispatch.duration_reason =
        fmt::format("the kernel does not end after it begins ({} and {})", start, end);
  } else if (start.find_first_of("eE") != std::string_view::npos) {
    dispatch.duration_reason =
        fmt::format("the times were rounded to '{}': a spreadsheet has been at the file", start);
  } else {
    dispatch.duration_reason = fmt::format("'{}' and '{}' are no times in ns", start, end);
  }
}

Status check_width(const CsvRow& row, std::size_t width, const std::string& source) {
  if (row.fields.size() == width) return {};
  return at_line(ErrorCode::parse_error,
                 fmt::format("{} fields under {} columns (is a kernel's name with commas not "
                             "quoted, or the file cut off?)",
                             row.fields.size(), width),
                 source, row.line);
}

Status set_counter(CounterDispatch& dispatch, const std::string& name, const CsvRow& row,
                   std::size_t field, Decimal mark, const std::string& source) {
  const std::string& text = row.fields[field];
  if (is_absent(text)) {
    dispatch.missing[name] = fmt::format("the file says '{}'", text);
    return {};
  }
  if (row.cut_at(field)) {
    dispatch.missing[name] =
        fmt::format("the file ends in '{}' without a line end: digits may be lost", text);
    return {};
  }
  const auto value = number(text, mark);
  if (!value) {
    return at_line(ErrorCode::parse_error,
                   fmt::format("the counter {} is '{}', which is not a number", name, text), source,
                   row.line);
  }
  if (const auto why = why_no_count(*value); !why.empty()) {
    dispatch.missing[name] = fmt::format("the file says '{}', and {}", text, why);
    return {};
  }
  dispatch.counters[name] = *value;
  return {};
}

struct LongColumns {
  std::size_t id, kernel, agent, grid, start, end, process, queue;
  explicit LongColumns(const Header& header)
      : id(header.find({"Dispatch_ID", "Index"})),
        kernel(header.find({"Kernel_Name", "KernelName"})),
        agent(header.find({"Agent_Id", "GPU_ID", "gpu-id"})),
        grid(header.find({"Grid_Size", "grd"})),
        start(header.find({"Start_Timestamp", "BeginNs"})),
        end(header.find({"End_Timestamp", "EndNs"})),
        process(header.find({"Process_Id", "PID"})),
        queue(header.find({"Queue_Id", "queue-id"})) {}

  Result<CounterDispatch> dispatch(const CsvRow& row, const std::string& source) const {
    CounterDispatch out;
    const auto number_of = integer<std::uint64_t>(row.fields[id]);
    if (!number_of) {
      return at_line(ErrorCode::parse_error,
                     fmt::format("'{}' is no dispatch number", row.fields[id]), source, row.line);
    }
    out.id = *number_of;
    out.kernel = plain_kernel_name(row.fields[kernel]);
    if (agent != Header::npos) out.agent = row.fields[agent];
    if (process != Header::npos) out.process = row.fields[process];
    if (queue != Header::npos) out.queue = row.fields[queue];
    if (grid != Header::npos) out.grid_size = number(row.fields[grid], Decimal::point);
    if (start == Header::npos || end == Header::npos) {
      out.duration_reason = "the file has no times";
    } else if (row.cut_at(start) || row.cut_at(end)) {
      out.duration_reason = "the file ends in this time, without a line end: digits may be lost";
    } else {
      set_duration(out, row.fields[start], row.fields[end]);
    }
    return out;
  }
};

// Rows of one launch, at one time.
struct PassRows {
  CounterDispatch dispatch;
  RepeatedCounters values;         // of counters that have several rows
  std::set<std::string> repeated;  // their names

  // Passes that the file does not keep apart repeat sums, but never all counters.
  Status join(const std::string& source) {
    if (repeated.empty()) return {};
    const auto is_repeated = [this](const auto& counter) {
      return repeated.contains(counter.first);
    };
    if (std::ranges::all_of(dispatch.counters, is_repeated) &&
        std::ranges::all_of(dispatch.missing, is_repeated)) {
      return fail(ErrorCode::bad_data,
                  fmt::format("dispatch {} of agent {} appears twice, with every counter: is the "
                              "table in the file twice, or are there two processes in it?",
                              dispatch.id, dispatch.agent),
                  source);
    }
    values.settle(dispatch);
    forget_times_of_passes(dispatch);
    return {};
  }
};

// A table with a row for each launch and counter, taken row by row.
class LongTable {
 public:
  LongTable(Decimal mark, std::string source) : mark_(mark), source_(std::move(source)) {}

  Status take(CsvRow& row) {
    if (!columns_) return begin(row);
    WW_TRY(check_width(row, width_, source_));
    evidence_.see(row.fields[value_]);
    WW_ASSIGN(known, pass_of(row));
    return add(*known, row);
  }

  // The mark that the numbers agree on: where it is another, the table has to be taken again.
  [[nodiscard]] Result<Decimal> mark() const { return evidence_.settle(true, source_); }

  Result<CounterFile> finish() {
    if (no_number_) return tl::unexpected(*no_number_);
    CounterFile file{CounterForm::rocprof_v3, source_, {}, {}};
    for (auto& [pass, rows_of_pass] : passes_) {
      WW_TRY(rows_of_pass.join(source_));
      file.dispatches.push_back(std::move(rows_of_pass.dispatch));
    }
    WW_TRY(sort_dispatches(file, SameRows::unknown));
    return file;
  }

 private:
  // Passes of a launch have times of their own.
  using Pass = std::tuple<std::string, std::string, std::uint64_t, std::optional<std::int64_t>,
                          std::optional<double>>;

  Status begin(const CsvRow& header) {
    const Header names(header);
    columns_.emplace(names);
    width_ = header.fields.size();
    name_ = names.find({"Counter_Name"});
    value_ = names.find({"Counter_Value"});
    if (columns_->id == Header::npos || columns_->kernel == Header::npos) {
      return at_line(ErrorCode::parse_error, "no column Dispatch_Id or Kernel_Name", source_,
                     header.line);
    }
    return {};
  }

  // The rows of a launch mostly stand together: what says which launch it is, is read once.
  Result<PassRows*> pass_of(const CsvRow& row) {
    const auto is_last = [&](std::size_t i) {
      return i == name_ || i == value_ || row.fields[i] == last_fields_[i];
    };
    bool same = last_ != nullptr && !row.cut;
    for (std::size_t i = 0; same && i < width_; ++i) same = is_last(i);
    if (same) return last_;
    WW_ASSIGN(dispatch, columns_->dispatch(row, source_));
    const Pass pass{dispatch.process, dispatch.agent, dispatch.id, dispatch.start_ns,
                    dispatch.duration_ns};
    PassRows& known = passes_.try_emplace(pass, PassRows{dispatch, {}, {}}).first->second;
    if (known.dispatch.kernel != dispatch.kernel) {
      return at_line(ErrorCode::bad_data,
                     fmt::format("dispatch {} is kernel '{}' here and '{}' before", dispatch.id,
                                 dispatch.kernel, known.dispatch.kernel),
                     source_, row.line);
    }
    last_ = &known;
    last_fields_ = row.fields;
    return last_;
  }

  Status add(PassRows& known, const CsvRow& row) {
    const std::string& counter = row.fields[name_];
    auto& counters = known.dispatch.counters;
    const auto found = counters.find(counter);
    if (found != counters.end() || known.dispatch.missing.contains(counter)) {
      if (!is_sum(counter)) {
        return at_line(ErrorCode::bad_data,
                       fmt::format("the counter {} appears twice for dispatch {}: instances or "
                                   "repeated passes, the file does not say; import one pass and "
                                   "use sums",
                                   counter, known.dispatch.id),
                       source_, row.line);
      }
      if (known.repeated.insert(counter).second && found != counters.end()) {
        known.values.add(counter, found->second);
      }
    }
    if (auto set = set_counter(known.dispatch, counter, row, value_, mark_, source_); !set) {
      if (!no_number_) no_number_ = set.error();  // by this mark: the file may have the other
      return {};
    }
    if (!known.repeated.empty() && known.repeated.contains(counter)) {
      const auto set = counters.find(counter);
      if (set != counters.end()) known.values.add(counter, set->second);
    }
    return {};
  }

  Decimal mark_;
  std::string source_;
  std::optional<LongColumns> columns_;
  std::size_t width_{}, name_{}, value_{};
  DecimalMark evidence_;
  std::optional<Error> no_number_;
  std::map<Pass, PassRows> passes_;
  PassRows* last_{};
  std::vector<std::string> last_fields_;
};

}  // namespace

std::string plain_kernel_name(std::string_view text) {
  for (const std::string_view suffix : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (text.ends_with(suffix)) {
      text.remove_suffix(suffix.size());
      break;
    }
  }
  return std::string(text);
}

Result<CounterFile> read_wide(const std::vector<CsvRow>& rows, CounterForm form,
                              const std::string& source) {
  const auto& names = rows.front().fields;
  const Header header(rows.front());
  const LongColumns columns(header);
  std::vector<std::size_t> counting;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || is_id_column(names[i])) continue;
    if (!seen.insert(names[i]).second) {
      return at_line(ErrorCode::bad_data,
                     fmt::format("the counter {} has two columns: which pass is meant?", names[i]),
                     source, rows.front().line);
    }
    counting.push_back(i);
  }
  std::vector<std::string_view> numbers;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    WW_TRY(check_width(rows[r], names.size(), source));
    for (const auto i : counting) numbers.push_back(rows[r].fields[i]);
  }
  WW_ASSIGN(mark, decimal_mark(numbers, true, source));
  CounterFile file{form, source, {}, {}};
  for (std::size_t r = 1; r < rows.size(); ++r) {
    WW_ASSIGN(dispatch, columns.dispatch(rows[r], source));
    for (const auto i : counting) {
      WW_TRY(set_counter(dispatch, names[i], rows[r], i, mark, source));
    }
    file.dispatches.push_back(std::move(dispatch));
  }
  WW_TRY(sort_dispatches(file, SameRows::unknown));
  return file;
}

Result<CounterFile> read_long(std::string_view text, const std::string& source,
                              const CsvOptions& options) {
  for (const Decimal mark : {Decimal::point, Decimal::comma}) {
    LongTable table(mark, source);
    WW_TRY(each_csv_row(text, source, options, [&](CsvRow& row) { return table.take(row); }));
    WW_ASSIGN(agreed, table.mark());
    if (agreed == mark) return table.finish();
  }
  return fail(ErrorCode::bad_data, "the numbers do not use one decimal mark", source);
}

Result<CounterFile> read_kernel_trace(const std::vector<CsvRow>& rows, const std::string& source) {
  const LongColumns columns{Header(rows.front())};
  if (columns.id == Header::npos || columns.kernel == Header::npos) {
    return at_line(ErrorCode::parse_error, "no column Dispatch_Id or Kernel_Name", source,
                   rows.front().line);
  }
  const Header header(rows.front());
  const std::array<std::size_t, 3> sizes = {
      header.find({"Grid_Size_X"}), header.find({"Grid_Size_Y"}), header.find({"Grid_Size_Z"})};
  CounterFile file{CounterForm::rocprof_v3_kernel_trace, source, {}, {}};
  for (std::size_t r = 1; r < rows.size(); ++r) {
    WW_TRY(check_width(rows[r], rows.front().fields.size(), source));
    WW_ASSIGN(dispatch, columns.dispatch(rows[r], source));
    double items = 1;
    bool sized = true;
    for (const auto size : sizes) {
      const auto side =
          size == Header::npos ? std::nullopt : number(rows[r].fields[size], Decimal::point);
      sized = sized && side.has_value();
      items *= side.value_or(0);
    }
    if (sized) dispatch.grid_size = items;
    file.dispatches.push_back(std::move(dispatch));
  }
  WW_TRY(sort_dispatches(file, SameRows::unknown));
  return file;
}

}  // namespace ww::measure
