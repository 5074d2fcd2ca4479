#include "traffic/rocpd_file.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "traffic/counter_forms.hpp"
#include "traffic/number_text.hpp"

namespace ww::measure {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

tl::unexpected<Error> rocpd_error(sqlite3* database, const std::string& source) {
  const int code = sqlite3_errcode(database) & 0xFF;
  const bool not_there = code == SQLITE_CANTOPEN;
  return fail(
      not_there ? ErrorCode::io_error : ErrorCode::parse_error,
      fmt::format("{}: {}", not_there ? "cannot open" : "not a rocpd database that can be read",
                  sqlite3_errmsg(database)),
      source);
}

// Rows of one statement. Text and numbers are taken as they are; NULL is absent.
class Query {
 public:
  static Result<Query> prepare(sqlite3* database, const std::string& sql,
                               const std::string& source) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
    Query query(database, statement, source);
    if (code != SQLITE_OK) return rocpd_error(database, source);
    return query;
  }
  // Steps to the next row; false behind the last one.
  Result<bool> next() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    return rocpd_error(database_, source_);
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    return bytes == nullptr ? std::string()
                            : std::string(reinterpret_cast<const char*>(bytes), length);
  }
  [[nodiscard]] std::optional<std::int64_t> integer(int column) const {
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) return {};
    return sqlite3_column_int64(statement_.get(), column);
  }
  [[nodiscard]] std::optional<double> real(int column) const {
    const int type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return {};
    return sqlite3_column_double(statement_.get(), column);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  Query(sqlite3* database, sqlite3_stmt* statement, std::string source)
      : database_(database), statement_(statement), source_(std::move(source)) {}
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string source_;
};

// A table's name within a statement; the database chooses its suffixes.
std::string quoted(const std::string& table) {
  std::string out = "\"";
  for (const char c : table) {
    out += c;
    if (c == '"') out += c;
  }
  return out + '"';
}

constexpr std::string_view kDispatchTable = "rocpd_kernel_dispatch";

// The suffixes of the sets of tables, one set for each process. Views, which have none, join with
// columns that may be NULL and lose rows.
Result<std::vector<std::string>> table_sets(sqlite3* database, const std::string& source) {
  WW_ASSIGN(tables, Query::prepare(
                        database, "SELECT name FROM sqlite_master WHERE type='table' ORDER BY name",
                        source));
  std::vector<std::string> suffixes;
  bool any = false;
  while (true) {
    WW_ASSIGN(more, tables.next());
    if (!more) break;
    const std::string name = tables.text(0);
    any = any || name.starts_with("rocpd_");
    if (name.starts_with(kDispatchTable)) suffixes.push_back(name.substr(kDispatchTable.size()));
  }
  if (suffixes.empty()) {
    return fail(any ? ErrorCode::parse_error : ErrorCode::unsupported,
                any ? "the database has no table of kernel dispatches: was a program profiled?"
                    : "this SQLite file is not rocprofv3's (rocpd): it has no tables rocpd_*",
                source);
  }
  return suffixes;
}

// Refuses schemas whose dispatches are stored otherwise. Databases of version 3 carry it as "3" or
// "3.0.3".
Status check_schema(sqlite3* database, const std::string& suffix, const std::string& source) {
  WW_ASSIGN(rows, Query::prepare(database,
                                 "SELECT value FROM " + quoted("rocpd_metadata" + suffix) +
                                     " WHERE tag='schema_version'",
                                 source));
  WW_ASSIGN(any, rows.next());
  const std::string version = any ? rows.text(0) : "";
  if (version == "3" || version.starts_with("3.")) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("rocpd schema version '{}' is not known (known: 3); convert it: rocpd "
                          "convert -i FILE --output-format csv",
                          version),
              source);
}

Result<std::set<std::string>> columns_of(sqlite3* database, const std::string& table,
                                         const std::string& source) {
  WW_ASSIGN(rows, Query::prepare(database, "PRAGMA table_info(" + quoted(table) + ")", source));
  std::set<std::string> names;
  while (true) {
    WW_ASSIGN(more, rows.next());
    if (!more) return names;
    names.insert(rows.text(1));
  }
}

class SetReader {
 public:
  SetReader(sqlite3* database, std::string suffix, std::string source)
      : database_(database), suffix_(std::move(suffix)), source_(std::move(source)) {}

  // Adds the set's dispatches to the file, which may have those of earlier sets.
  Status read(CounterFile& file) {
    WW_TRY(check_schema(database_, suffix_, source_));
    WW_TRY(read_dispatches(file, file.architecture));
    WW_TRY(read_counters());
    std::ranges::move(dispatches_, std::back_inserter(file.dispatches));
    return {};
  }

 private:
  [[nodiscard]] std::string table(const char* name) const { return quoted(name + suffix_); }

  // Processes of several containers may have the same number.
  [[nodiscard]] std::string process_name(const std::string& number, const CounterFile& file) const {
    const bool taken = std::ranges::find(file.dispatches, number, &CounterDispatch::process) !=
                       file.dispatches.end();
    return taken ? number + suffix_ : number;
  }

  Status read_dispatches(const CounterFile& file, std::string& architecture) {
    WW_ASSIGN(columns, columns_of(database_, "rocpd_kernel_dispatch" + suffix_, source_));
    const std::string sql = fmt::format(
        "SELECT k.id, k.dispatch_id, k.pid, k.start, k.\"end\", k.grid_size_x, k.grid_size_y, "
        "k.grid_size_z, s.display_name, s.kernel_name, a.absolute_index, a.name, p.pid, {} "
        "FROM {} k LEFT JOIN {} s ON s.id=k.kernel_id LEFT JOIN {} a ON a.id=k.agent_id "
        "LEFT JOIN {} p ON p.id=k.pid ORDER BY k.id",
        columns.contains("queue_id") ? "k.queue_id" : "NULL", table("rocpd_kernel_dispatch"),
        table("rocpd_info_kernel_symbol"), table("rocpd_info_agent"), table("rocpd_info_process"));
    WW_ASSIGN(rows, Query::prepare(database_, sql, source_));
    while (true) {
      WW_ASSIGN(more, rows.next());
      if (!more) return {};
      const auto row = rows.integer(0), number = rows.integer(1);
      if (!row || !number || *number < 0) {
        return fail(ErrorCode::bad_data, "a kernel dispatch without a number", source_);
      }
      CounterDispatch dispatch;
      dispatch.id = static_cast<std::uint64_t>(*number);
      dispatch.kernel = plain_kernel_name(rows.text(rows.text(8).empty() ? 9 : 8));
      dispatch.agent = "Agent " + rows.text(10);
      dispatch.process = process_name(rows.text(12).empty() ? rows.text(2) : rows.text(12), file);
      dispatch.queue = rows.text(13);
      set_duration(dispatch, rows.integer(3), rows.integer(4));
      const auto x = rows.real(5), y = rows.real(6), z = rows.real(7);
      if (x && y && z) dispatch.grid_size = *x * *y * *z;
      const std::string gpu = rows.text(11);
      if (!architecture.empty() && !gpu.empty() && gpu != architecture) {
        return fail(ErrorCode::bad_data,
                    fmt::format("kernels ran on {} and on {}: profile one GPU at a time "
                                "(ROCR_VISIBLE_DEVICES)",
                                architecture, gpu),
                    source_);
      }
      if (!gpu.empty()) architecture = gpu;
      index_[*row] = dispatches_.size();
      dispatches_.push_back(std::move(dispatch));
    }
  }

  static void set_duration(CounterDispatch& dispatch, std::optional<std::int64_t> start,
                           std::optional<std::int64_t> end) {
    if (start && end && *start >= 0 && *end > *start) {
      dispatch.duration_ns = static_cast<double>(*end - *start);
      dispatch.start_ns = *start;
    } else if (start && end) {
      dispatch.duration_reason =
          fmt::format("the kernel does not end after it begins ({} and {})", *start, *end);
    } else {
      dispatch.duration_reason = "the database has no times of it";
    }
  }

  Status read_counters() {
    WW_ASSIGN(columns, columns_of(database_, "rocpd_pmc_event" + suffix_, source_));
    // Samples during a kernel have a number; the counters of the whole kernel have none.
    const char* whole = columns.contains("sample_id") ? " WHERE e.sample_id IS NULL" : "";
    std::string place = "''";
    for (const char* part : {"xcc", "shader_engine", "shader_array", "wgp", "instance"}) {
      if (columns.contains(part)) place += fmt::format("||'.'||ifnull(e.{}, '')", part);
    }
    const std::string sql = fmt::format(
        "SELECT k.id, c.name, e.value, c.is_derived, c.expression, {} FROM {} e JOIN {} k ON "
        "k.event_id=e.event_id JOIN {} c ON c.id=e.pmc_id{} ORDER BY k.id, c.id, e.id",
        place, table("rocpd_pmc_event"), table("rocpd_kernel_dispatch"), table("rocpd_info_pmc"),
        whole);
    WW_ASSIGN(rows, Query::prepare(database_, sql, source_));
    std::map<std::string, CounterRows> of_dispatch;
    CounterDispatch* dispatch = nullptr;
    std::optional<std::int64_t> last;
    while (true) {
      WW_ASSIGN(more, rows.next());
      if (!more) break;
      const auto row = rows.integer(0);
      const auto found = row ? index_.find(*row) : index_.end();
      if (found == index_.end()) continue;
      if (last != row && dispatch != nullptr) settle(*dispatch, std::exchange(of_dispatch, {}));
      last = row;
      dispatch = &dispatches_[found->second];
      const std::string name = rows.text(1);
      const bool derived = rows.integer(3).value_or(0) != 0;
      const std::string expression = rows.text(4);
      CounterRows& all = of_dispatch[name];
      all.ratio = derived && expression.find('/') != std::string::npos;
      all.one_a_pass = is_sum(name) || (derived && expression.find("reduce(") == 0);
      all.add(rows.text(5), rows.real(2));
    }
    if (dispatch != nullptr) settle(*dispatch, of_dispatch);
    return {};
  }

  // The rows of one counter on one event.
  struct CounterRows {
    bool ratio{};
    bool one_a_pass{};
    std::vector<std::pair<std::string, double>> values;  // by their place on the chip
    std::string refused;

    void add(const std::string& place, std::optional<double> value) {
      if (!value || !std::isfinite(*value)) {
        refused = "the database has no number for it";
      } else if (const auto why = why_no_count(*value); !why.empty()) {
        refused = fmt::format("the database says '{}', and {}", *value, why);
      } else if (ratio && !values.empty()) {
        refused = "it is a ratio, given for each instance: ratios have no sum";
      } else {
        values.emplace_back(place, *value);
      }
    }
    // Whether the writer says of which instance each row is.
    [[nodiscard]] bool has_places() const {
      return std::ranges::any_of(
          values, [this](const auto& row) { return row.first != values.front().first; });
    }
    // A sum has a row for each pass that counted it. Other counters have a row for each instance,
    // and the instances alone distinguish their passes.
    [[nodiscard]] std::vector<double> passes() const {
      const bool by_place = !one_a_pass && has_places();
      std::map<std::string, std::size_t> rows_at;
      std::vector<double> sums;
      for (const auto& [place, value] : values) {
        const std::size_t pass = one_a_pass || by_place ? rows_at[by_place ? place : ""]++ : 0;
        if (sums.size() <= pass) sums.resize(pass + 1);
        sums[pass] += value;
      }
      return sums;
    }
  };

  static void settle(CounterDispatch& dispatch, const std::map<std::string, CounterRows>& rows) {
    RepeatedCounters repeated;
    bool several_passes = false;
    for (const auto& [name, all] : rows) {
      if (!all.refused.empty()) {
        dispatch.missing[name] = all.refused;
        continue;
      }
      const auto passes = all.passes();
      several_passes = several_passes || passes.size() > 1;
      for (const double value : passes) repeated.add(name, value);
    }
    repeated.settle(dispatch);
    if (!several_passes) return;
    forget_times_of_passes(dispatch);
    for (const auto& [name, all] : rows) {
      if (all.one_a_pass || all.values.size() < 2 || all.has_places()) continue;
      dispatch.remarks[name] = fmt::format(
          "the {} rows of {} are added up as its instances, but some may be of other passes",
          all.values.size(), name);
    }
  }

  sqlite3* database_;
  std::string suffix_, source_;
  std::vector<CounterDispatch> dispatches_;
  std::map<std::int64_t, std::size_t> index_;  // row of the table: place in the set
};

Result<CounterFile> read_database(sqlite3* database, const std::string& source) {
  // A database that came by mail runs nothing of its own.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  WW_ASSIGN(check, Query::prepare(database, "PRAGMA quick_check(1)", source));
  WW_ASSIGN(checked, check.next());
  if (!checked || check.text(0) != "ok") {
    return fail(ErrorCode::parse_error, "the database is damaged: " + check.text(0), source);
  }
  WW_ASSIGN(suffixes, table_sets(database, source));
  CounterFile file{CounterForm::rocpd, source, {}, {}};
  for (const std::string& suffix : suffixes) {
    WW_TRY(SetReader(database, suffix, source).read(file));
  }
  WW_TRY(sort_dispatches(file, SameRows::passes));
  return file;
}

}  // namespace

bool is_sqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

Result<CounterFile> read_rocpd(const std::string& path) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  const Database database(opened);
  if (code != SQLITE_OK) return rocpd_error(opened, path);
  return read_database(opened, path);
}

Result<CounterFile> parse_rocpd(std::span<const std::byte> bytes, const std::string& source) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  const Database database(opened);
  if (code != SQLITE_OK) return rocpd_error(opened, source);
  // SQLite wants memory of its own kind, which the database then owns.
  auto* copy =
      static_cast<unsigned char*>(sqlite3_malloc64(std::max<std::size_t>(bytes.size(), 1)));
  if (copy == nullptr) return fail(ErrorCode::io_error, "not enough memory", source);
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  if (sqlite3_deserialize(opened, "main", copy, size, size,
                          SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY) !=
      SQLITE_OK) {
    return rocpd_error(opened, source);
  }
  return read_database(opened, source);
}

}  // namespace ww::measure
