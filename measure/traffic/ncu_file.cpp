// Nsight Compute's --csv: the details page (one row a metric, and rows of its rules) and the raw
// page (one row a kernel, under a row of units).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "counter_forms.hpp"
#include "number_text.hpp"

namespace ww::measure {
namespace {

// Factor to base units (byte, ns, hz, count); nothing where the unit is not known. ncu scales by
// thousands ("Kbyte" is 1000 bytes).
std::optional<double> unit_factor(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 18> times = {{
      {"ns", 1},
      {"nsecond", 1},
      {"us", 1e3},
      {"usecond", 1e3},
      {"ms", 1e6},
      {"msecond", 1e6},
      {"s", 1e9},
      {"second", 1e9},
      {"%", 1},
      {"", 1},
      {"hz", 1},
      {"byte", 1},
      {"sector", 1},
      {"inst", 1},
      {"cycle", 1},
      {"request", 1},
      {"warp", 1},
      {"thread", 1},
  }};
  for (const auto& [name, factor] : times) {
    if (lower(unit) == name) return factor;
  }
  if (unit.size() < 2) return {};
  const double prefix = unit[0] == 'K'   ? 1e3
                        : unit[0] == 'M' ? 1e6
                        : unit[0] == 'G' ? 1e9
                        : unit[0] == 'T' ? 1e12
                                         : 0;
  const auto rest = lower(unit.substr(1));
  for (const std::string_view base : {"byte", "hz", "sector", "inst", "cycle", "request"}) {
    if (prefix > 0 && rest == base) return prefix;
  }
  return {};
}

// "8.0" -> "sm_80".
std::string architecture(std::string_view cc) {
  std::string out = "sm_";
  for (const char c : cc) {
    if (c >= '0' && c <= '9') out += c;
  }
  return out.size() > 4 ? out : std::string{};
}

struct NcuColumns {
  std::size_t id, process, kernel, device, cc;
  explicit NcuColumns(const Header& header)
      : id(header.find({"ID"})),
        process(header.find({"Process ID"})),
        kernel(header.find({"Kernel Name"})),
        device(header.find({"Device"})),
        cc(header.find({"CC"})) {}

  Result<CounterDispatch> dispatch(const CsvRow& row, const std::string& source) const {
    CounterDispatch out;
    const std::string& text = row.fields[id];
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out.id);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
      return at_line(ErrorCode::parse_error, fmt::format("'{}' is no kernel number", text), source,
                     row.line);
    }
    out.kernel = row.fields[kernel];
    if (device != Header::npos) out.agent = row.fields[device];
    if (process != Header::npos) out.process = row.fields[process];
    out.duration_reason = "neither Duration nor gpu__time_duration.sum is in the file";
    return out;
  }

  Status learn_architecture(const CsvRow& row, CounterFile& file) const {
    if (cc == Header::npos) return {};
    const auto here = architecture(row.fields[cc]);
    if (!file.architecture.empty() && !here.empty() && here != file.architecture) {
      return at_line(ErrorCode::unsupported,
                     fmt::format("devices of two architectures ({} and {}) in one file",
                                 file.architecture, here),
                     file.source, row.line);
    }
    if (!here.empty()) file.architecture = here;
    return {};
  }
};

// Whatever has digits, and no letters but an exponent's, is a number.
bool looks_like_number(const std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::any_of(text, digit) &&
         (number(text, Decimal::point).has_value() || number(text, Decimal::comma).has_value());
}

void set_metric(CounterDispatch& dispatch, const std::string& name, const CsvRow& row,
                std::size_t field, const std::string& unit, Decimal mark) {
  const std::string& text = row.fields[field];
  if (is_absent(text)) {
    dispatch.missing[name] = fmt::format("ncu says '{}'", text);
    return;
  }
  const auto value = looks_like_number(text) ? number(text, mark) : std::nullopt;
  if (!value) {
    dispatch.texts[name] = text;
    return;
  }
  if (row.cut_at(field)) {
    dispatch.missing[name] =
        fmt::format("the file ends in '{}' without a line end: digits may be lost", text);
    return;
  }
  if (const auto why = why_no_count(*value); !why.empty() && name.ends_with(".sum")) {
    dispatch.missing[name] = fmt::format("ncu says '{}', and {}", text, why);
    return;
  }
  const auto factor = unit_factor(unit);
  // Rates and ratios in other units stay as they are; a count of bytes must be in bytes.
  const bool rate = unit.find('/') != std::string::npos;
  if (!factor && !rate && name.find("bytes") != std::string::npos) {
    dispatch.missing[name] = fmt::format("its unit '{}' is not known", unit);
    return;
  }
  dispatch.counters[name] = *value * factor.value_or(1.0);
  if (name == "gpu__time_duration.sum" || name == "Duration") {
    if (*value > 0 && factor) {
      dispatch.duration_ns = *value * *factor;
      dispatch.duration_reason.clear();
    } else {
      dispatch.duration_reason = fmt::format("'{} {}' is no duration", text, unit);
    }
  }
}

Result<CounterFile> read_details(const std::vector<CsvRow>& rows, const std::string& source) {
  const Header header(rows.front());
  const NcuColumns columns(header);
  const auto section = header.find({"Section Name"});
  const auto metric = header.find({"Metric Name"});
  const auto unit = header.find({"Metric Unit"});
  const auto value = header.find({"Metric Value"});
  if (unit == Header::npos || value == Header::npos || columns.kernel == Header::npos) {
    return at_line(ErrorCode::parse_error, "no column Kernel Name, Metric Unit or Metric Value",
                   source, rows.front().line);
  }
  const auto needed = std::max({columns.id, columns.kernel, metric, unit, value,
                                columns.process == Header::npos ? 0 : columns.process,
                                columns.cc == Header::npos ? 0 : columns.cc,
                                columns.device == Header::npos ? 0 : columns.device}) +
                      1;
  std::vector<std::string_view> numbers;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    // Rows of metrics leave out the columns of the rules.
    if (rows[r].fields.size() < needed || rows[r].fields.size() > rows[0].fields.size()) {
      return at_line(
          ErrorCode::parse_error,
          fmt::format("{} fields under {} columns", rows[r].fields.size(), rows[0].fields.size()),
          source, rows[r].line);
    }
    if (looks_like_number(rows[r].fields[value])) numbers.push_back(rows[r].fields[value]);
  }
  WW_ASSIGN(mark, decimal_mark(numbers, false, source));
  CounterFile file{CounterForm::ncu_details, source, {}, {}};
  std::map<std::tuple<std::string, std::string, std::uint64_t>, CounterDispatch> dispatches;
  std::map<std::tuple<const CounterDispatch*, std::string, std::string>, std::string> seen;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const CsvRow& row = rows[r];
    WW_ASSIGN(dispatch, columns.dispatch(row, source));
    WW_TRY(columns.learn_architecture(row, file));
    auto& known = dispatches.try_emplace({dispatch.process, dispatch.agent, dispatch.id}, dispatch)
                      .first->second;
    const std::string& name = row.fields[metric];
    if (name.empty()) continue;  // a rule's advice
    const auto where = section == Header::npos ? std::string{} : row.fields[section];
    const auto text = row.fields[value] + " " + row.fields[unit];
    const auto [before, fresh] = seen.try_emplace({&known, where, name}, text);
    if (!fresh && before->second != text) {
      return at_line(ErrorCode::bad_data,
                     fmt::format("the metric {} of kernel {} is '{}' here and '{}' before", name,
                                 known.id, text, before->second),
                     source, row.line);
    }
    // Sections share names ("Memory Throughput" in % and in byte/second).
    const bool taken = fresh && (known.counters.contains(name) || known.texts.contains(name) ||
                                 known.missing.contains(name));
    set_metric(known, taken ? fmt::format("{} [{}]", name, where) : name, row, value,
               row.fields[unit], mark);
  }
  for (auto& [key, dispatch] : dispatches) file.dispatches.push_back(std::move(dispatch));
  WW_TRY(sort_dispatches(file, SameRows::unknown));
  return file;
}

Result<CounterFile> read_raw(const std::vector<CsvRow>& rows, const std::string& source) {
  const auto& names = rows.front().fields;
  const NcuColumns columns{Header(rows.front())};
  if (columns.kernel == Header::npos) {
    return at_line(ErrorCode::parse_error, "no column Kernel Name", source, rows.front().line);
  }
  for (const CsvRow& row : rows) {
    if (row.fields.size() != names.size()) {
      return at_line(ErrorCode::parse_error,
                     fmt::format("{} fields under {} columns", row.fields.size(), names.size()),
                     source, row.line);
    }
  }
  if (rows.size() < 2 || !rows[1].fields[columns.id].empty()) {
    return at_line(ErrorCode::parse_error, "the row of units under the header is missing", source,
                   rows.front().line);
  }
  const auto& units = rows[1].fields;
  // Metrics are the columns with "__" in their names; the others describe the launch.
  std::vector<std::size_t> metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].find("__") == std::string::npos) continue;
    if (std::count(names.begin(), names.end(), names[i]) > 1) {
      return at_line(ErrorCode::bad_data, fmt::format("the metric {} has two columns", names[i]),
                     source, rows.front().line);
    }
    metrics.push_back(i);
  }
  std::vector<std::string_view> numbers;
  for (std::size_t r = 2; r < rows.size(); ++r) {
    for (const auto i : metrics) {
      if (looks_like_number(rows[r].fields[i])) numbers.push_back(rows[r].fields[i]);
    }
  }
  WW_ASSIGN(mark, decimal_mark(numbers, false, source));
  CounterFile file{CounterForm::ncu_raw, source, {}, {}};
  for (std::size_t r = 2; r < rows.size(); ++r) {
    WW_ASSIGN(dispatch, columns.dispatch(rows[r], source));
    WW_TRY(columns.learn_architecture(rows[r], file));
    for (const auto i : metrics) {
      set_metric(dispatch, names[i], rows[r], i, units[i], mark);
    }
    file.dispatches.push_back(std::move(dispatch));
  }
  WW_TRY(sort_dispatches(file, SameRows::unknown));
  return file;
}

}  // namespace

std::size_t ncu_header(std::string_view text) {
  return find_line(text, [](std::string_view line) {
    return (line.starts_with("\"ID\",") || line.starts_with("ID,")) &&
           line.find("Kernel Name") != std::string_view::npos;
  });
}

Result<CounterFile> read_ncu(const std::vector<CsvRow>& rows, const std::string& source) {
  if (rows.empty()) return fail(ErrorCode::parse_error, "ncu's table is empty", source);
  return Header(rows.front()).has("Metric Name") ? read_details(rows, source)
                                                 : read_raw(rows, source);
}

}  // namespace ww::measure
