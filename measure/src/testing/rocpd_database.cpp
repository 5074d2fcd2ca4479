#include "testing/rocpd_database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdlib>
#include <cstring>
#include <map>

namespace ww::measure::testing {
namespace {

// {0} is the suffix. More columns than a reader needs would test nothing.
constexpr const char* kTables = R"sql(
CREATE TABLE "rocpd_metadata{0}"(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE "rocpd_info_process{0}"(id INTEGER PRIMARY KEY, pid INTEGER);
CREATE TABLE "rocpd_info_agent{0}"(id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER,
  name TEXT);
CREATE TABLE "rocpd_info_kernel_symbol{0}"(id INTEGER PRIMARY KEY, kernel_name TEXT,
  display_name TEXT);
CREATE TABLE "rocpd_info_pmc{0}"(id INTEGER PRIMARY KEY, name TEXT, expression TEXT,
  is_derived INTEGER);
CREATE TABLE "rocpd_kernel_dispatch{0}"(id INTEGER PRIMARY KEY, pid INTEGER, agent_id INTEGER,
  kernel_id INTEGER, dispatch_id INTEGER, start BIGINT, "end" BIGINT, grid_size_x INTEGER,
  grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER, queue_id INTEGER);
CREATE TABLE "rocpd_pmc_event{0}"(id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER,
  value REAL);
INSERT INTO "rocpd_metadata{0}"(tag, value) VALUES('schema_version', '3');
INSERT INTO "rocpd_info_process{0}" VALUES(1, {1});
INSERT INTO "rocpd_info_agent{0}" VALUES(1, 'CPU', 0, 'EPYC');
INSERT INTO "rocpd_info_agent{0}" VALUES(2, 'GPU', 4, '{2}');
)sql";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\'') out += c;
  }
  return out;
}

}  // namespace

RocpdDatabase::RocpdDatabase() {
  if (sqlite3_open(":memory:", &database_) != SQLITE_OK) std::abort();
}

RocpdDatabase::~RocpdDatabase() {
  sqlite3_close(database_);
}

void RocpdDatabase::execute(const std::string& sql) {
  if (sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
}

void RocpdDatabase::add_process(const std::string& suffix, std::int64_t pid,
                                const std::string& architecture,
                                const std::vector<RocpdDispatch>& dispatches) {
  execute(fmt::format(fmt::runtime(kTables), suffix, pid, architecture));
  std::map<std::string, int> kernels, counters;
  int event = 0;
  std::string sql = "BEGIN;";
  for (const RocpdDispatch& dispatch : dispatches) {
    const auto kernel = kernels.try_emplace(dispatch.kernel, kernels.size() + 1);
    if (kernel.second) {
      sql += fmt::format("INSERT INTO \"rocpd_info_kernel_symbol{}\" VALUES({}, '{}.kd', '{}');",
                         suffix, kernel.first->second, escaped(dispatch.kernel),
                         escaped(dispatch.kernel));
    }
    sql += fmt::format(
        "INSERT INTO \"rocpd_kernel_dispatch{}\" VALUES(NULL, 1, 2, {}, {}, {}, {}, {}, 1, 1, {}, "
        "1);",
        suffix, kernel.first->second, dispatch.id, dispatch.start_ns, dispatch.end_ns,
        dispatch.grid, ++event);
    for (const RocpdCounter& counter : dispatch.counters) {
      const auto known = counters.try_emplace(counter.name, counters.size() + 1);
      if (known.second) {
        sql +=
            fmt::format("INSERT INTO \"rocpd_info_pmc{}\" VALUES({}, '{}', '{}', {});", suffix,
                        known.first->second, escaped(counter.name),
                        counter.ratio ? "reduce(A,sum)/reduce(B,sum)" : "", counter.ratio ? 1 : 0);
      }
      for (const double value : counter.instances) {
        sql += fmt::format("INSERT INTO \"rocpd_pmc_event{}\" VALUES(NULL, {}, {}, {:.17g});",
                           suffix, event, known.first->second, value);
      }
    }
  }
  execute(sql + "COMMIT;");
}

std::vector<std::byte> RocpdDatabase::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* copy = sqlite3_serialize(database_, "main", &size, 0);
  if (copy == nullptr) std::abort();
  std::vector<std::byte> out(static_cast<std::size_t>(size));
  std::memcpy(out.data(), copy, out.size());
  sqlite3_free(copy);
  return out;
}

}  // namespace ww::measure::testing
