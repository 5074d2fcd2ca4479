#include "ww/sweep/store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "ww/core/file_system.hpp"
#include "ww/core/log.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/sweep/result_files.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;

constexpr auto kApplicationId = static_cast<int>(kSweepApplicationId);

constexpr const char* kSchema = R"sql(
CREATE TABLE fact(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE point(idx INTEGER PRIMARY KEY, hash TEXT NOT NULL, configuration TEXT NOT NULL,
  status TEXT NOT NULL, reason TEXT NOT NULL, result TEXT NOT NULL);
CREATE TABLE run(hash TEXT PRIMARY KEY, wall_s REAL NOT NULL, cpu_s REAL NOT NULL,
  peak_mib REAL NOT NULL, host TEXT NOT NULL, started_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL, timings TEXT NOT NULL) WITHOUT ROWID;
CREATE TEMP TABLE found(hash TEXT PRIMARY KEY, final INTEGER, status TEXT, reason TEXT, result TEXT,
  wall_s REAL, cpu_s REAL, peak_mib REAL, host TEXT, started_ms INTEGER, attempts INTEGER,
  timings TEXT);
)sql";

// Keeps the better of two records of one hash: the final one, else the later one.
constexpr const char* kKeepBetter = R"sql(
INSERT INTO found VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(hash) DO UPDATE SET
  final=excluded.final, status=excluded.status, reason=excluded.reason, result=excluded.result,
  wall_s=excluded.wall_s, cpu_s=excluded.cpu_s, peak_mib=excluded.peak_mib, host=excluded.host,
  started_ms=excluded.started_ms, attempts=excluded.attempts, timings=excluded.timings
WHERE (excluded.final, excluded.started_ms) > (final, started_ms)
)sql";

constexpr const char* kFillRuns = R"sql(
INSERT INTO run SELECT hash, wall_s, cpu_s, peak_mib, host, started_ms, attempts, timings FROM found
)sql";

constexpr const char* kFillPoint = R"sql(
INSERT INTO point SELECT ?1, ?2, ?3, coalesce(status,'missing'),
  coalesce(reason,'no worker has finished it'), coalesce(result,'')
FROM (SELECT 1) LEFT JOIN found ON found.hash = ?2
)sql";

Error of_sqlite(const SQLite::Exception& error, const fs::path& file) {
  const bool full = error.getErrorCode() == 13;
  return {ErrorCode::io_error,
          fmt::format("{}{}", error.what(), full ? ": free some space and try again" : ""),
          file.string()};
}

void add_facts(SQLite::Database& db, const Plan& plan, std::string_view program_hash) {
  SQLite::Statement fact(db, "INSERT INTO fact VALUES(?,?)");
  const auto put = [&](const char* key, const std::string& value) {
    fact.reset();
    fact.bind(1, key);
    fact.bind(2, value);
    fact.exec();
  };
  put("name", plan.name);
  put("command", fmt::format("{}", fmt::join(plan.command, " ")));
  put("axes", nlohmann::json(plan.varying()).dump());
  put("program_hash", std::string(program_hash));
  put("plan", plan.text);
  put("collected_utc", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr))));
}

Status add_records(SQLite::Database& db, const Points& points, const fs::path& results) {
  std::unordered_set<PointHash, PointHasher> wanted;
  wanted.reserve(points.unique());
  for (const auto first : points.firsts()) wanted.insert(points.hash(first));
  SQLite::Statement insert(db, kKeepBetter);
  return read_records(results, [&](Record&& record) -> Status {
    if (!wanted.contains(record.hash)) return {};
    insert.reset();
    insert.bind(1, record.hash.text());
    insert.bind(2, is_final(record.status) ? 1 : 0);
    insert.bind(3, std::string(to_string(record.status)));
    insert.bind(4, record.reason);
    insert.bind(5, record.result);
    insert.bind(6, record.wall_s);
    insert.bind(7, record.cpu_s);
    insert.bind(8, record.peak_mib);
    insert.bind(9, record.host);
    insert.bind(10, record.started_ms);
    insert.bind(11, record.attempts);
    insert.bind(12, record.timings);
    insert.exec();
    return {};
  });
}

StatusCounts count(const SQLite::Database& db) {
  StatusCounts counts;
  SQLite::Statement query(db, "SELECT status, count(*) FROM point GROUP BY status");
  while (query.executeStep()) {
    const auto status = point_status_from_string(query.getColumn(0).getString());
    if (status) counts.of[*status] = static_cast<std::size_t>(query.getColumn(1).getInt64());
  }
  return counts;
}

Result<StatusCounts> fill(const fs::path& aside, const Plan& plan, const Points& points,
                          std::string_view program_hash, const fs::path& results) {
  SQLite::Database db(aside.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  // Nobody else knows the file yet, and a half-made one is thrown away.
  db.exec("PRAGMA journal_mode=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=OFF;");
  db.exec(fmt::format("PRAGMA application_id={}; PRAGMA user_version=1;", kApplicationId));
  db.exec(kSchema);
  SQLite::Transaction transaction(db);
  add_facts(db, plan, program_hash);
  WW_TRY(add_records(db, points, results));
  db.exec(kFillRuns);
  SQLite::Statement insert(db, kFillPoint);
  for (std::size_t i = 0; i < points.size(); ++i) {
    insert.reset();
    insert.bind(1, static_cast<std::int64_t>(i));
    insert.bind(2, points.hash(i).text());
    insert.bind(3, points.configuration(i));
    insert.exec();
  }
  transaction.commit();
  return count(db);
}

}  // namespace

std::size_t StatusCounts::total() const {
  std::size_t sum = 0;
  for (const auto& [status, n] : of) sum += n;
  return sum;
}

std::size_t StatusCounts::at(PointStatus status) const {
  const auto found = of.find(status);
  return found == of.end() ? 0 : found->second;
}

Result<StatusCounts> write_store(const fs::path& file, const Plan& plan, const Points& points,
                                 std::string_view program_hash, const fs::path& results) {
  std::string aside = (file.parent_path() / ".sweep.db.XXXXXX").string();
  const int fd = ::mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0) {
    return tl::unexpected(errno_error(errno, "cannot write in this folder", file.parent_path()));
  }
  Result<StatusCounts> counts;
  try {
    counts = fill(aside, plan, points, program_hash, results);
  } catch (const SQLite::Exception& error) {
    counts = tl::unexpected(of_sqlite(error, file));
  }
  const bool whole = counts && ::fchmod(fd, 0644) == 0 && ::fsync(fd) == 0 &&
                     ::rename(aside.c_str(), file.c_str()) == 0;
  const int number = errno;
  ::close(fd);
  if (whole) return counts;
  ::unlink(aside.c_str());
  if (!counts) return counts;
  return tl::unexpected(errno_error(number, "cannot put the file in place", file));
}

struct Store::Impl {
  explicit Impl(const fs::path& file) : path(file), db(file.string(), SQLite::OPEN_READONLY) {}
  fs::path path;
  SQLite::Database db;
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return fail(ErrorCode::not_found, "no such file; a sweep leaves it in its folder",
                file.string());
  }
  try {
    auto impl = std::make_unique<Impl>(file);
    if (impl->db.execAndGet("PRAGMA application_id").getInt() != kApplicationId) {
      return fail(ErrorCode::parse_error, "not the results of a sweep", file.string());
    }
    return Store(std::move(impl));
  } catch (const SQLite::Exception& error) {
    return fail(ErrorCode::parse_error, fmt::format("not the results of a sweep: {}", error.what()),
                file.string());
  }
}

Result<std::map<std::string, std::string>> Store::facts() const {
  try {
    std::map<std::string, std::string> facts;
    SQLite::Statement query(impl_->db, "SELECT key, value FROM fact");
    while (query.executeStep()) facts[query.getColumn(0)] = query.getColumn(1).getString();
    return facts;
  } catch (const SQLite::Exception& error) {
    return tl::unexpected(of_sqlite(error, impl_->path));
  }
}

Result<StatusCounts> Store::counts() const {
  try {
    return count(impl_->db);
  } catch (const SQLite::Exception& error) {
    return tl::unexpected(of_sqlite(error, impl_->path));
  }
}

Status Store::each(const std::function<Status(StoredPoint&&)>& visit, std::size_t from,
                   std::optional<std::size_t> limit) const {
  try {
    SQLite::Statement query(
        impl_->db,
        "SELECT idx, point.hash, configuration, status, reason, result, wall_s, "
        "host FROM point LEFT JOIN run ON run.hash = point.hash "
        "WHERE idx >= ? ORDER BY idx LIMIT ?");
    query.bind(1, static_cast<std::int64_t>(from));
    query.bind(2, limit ? static_cast<std::int64_t>(*limit) : -1);
    while (query.executeStep()) {
      StoredPoint point;
      point.index = static_cast<std::size_t>(query.getColumn(0).getInt64());
      point.hash = query.getColumn(1).getString();
      point.configuration = query.getColumn(2).getString();
      WW_ASSIGN(status, point_status_from_string(query.getColumn(3).getString()));
      point.status = status;
      point.reason = query.getColumn(4).getString();
      point.result = query.getColumn(5).getString();
      if (!query.getColumn(6).isNull()) point.wall_s = query.getColumn(6).getDouble();
      point.host = query.getColumn(7).getString();
      WW_TRY(visit(std::move(point)));
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return tl::unexpected(of_sqlite(error, impl_->path));
  }
}

namespace {

// "a.b.0" as SQLite's $."a"."b"[0].
std::string json_path(const std::string& dotted) {
  std::string path = "$";
  for (std::size_t at = 0; at <= dotted.size();) {
    const auto end = std::min(dotted.find('.', at), dotted.size());
    const auto part = dotted.substr(at, end - at);
    const bool index = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    path += index ? fmt::format("[{}]", part) : fmt::format(".\"{}\"", part);
    at = end + 1;
  }
  return path;
}

}  // namespace

Status Store::numbers(const std::vector<std::string>& settings,
                      const std::vector<std::string>& metrics,
                      const std::function<Status(std::size_t, const std::vector<std::string>&,
                                                 const std::vector<std::optional<double>>&)>& visit,
                      std::optional<std::size_t> limit) const {
  try {
    std::string sql = "SELECT idx";
    int parameter = 0;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      // A flag would be extracted as 1 or 0.
      sql += fmt::format(
          ", CASE json_type(configuration, ?{0}) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' "
          "ELSE json_extract(configuration, ?{0}) END",
          ++parameter);
    }
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      sql +=
          fmt::format(", CASE WHEN result <> '' THEN json_extract(result, ?{}) END", ++parameter);
    }
    SQLite::Statement query(impl_->db,
                            fmt::format("{} FROM point ORDER BY idx LIMIT ?{}", sql, ++parameter));
    int place = 0;
    for (const auto& name : settings) query.bind(++place, json_path(name));
    for (const auto& name : metrics) query.bind(++place, json_path(name));
    query.bind(++place, limit ? static_cast<std::int64_t>(*limit) : -1);
    std::vector<std::string> texts(settings.size());
    std::vector<std::optional<double>> values(metrics.size());
    while (query.executeStep()) {
      int column = 0;
      for (auto& text : texts) text = query.getColumn(++column).getString();
      for (auto& value : values) {
        const auto cell = query.getColumn(++column);
        value = cell.isInteger() || cell.isFloat() ? std::optional(cell.getDouble()) : std::nullopt;
      }
      WW_TRY(visit(static_cast<std::size_t>(query.getColumn(0).getInt64()), texts, values));
    }
    return {};
  } catch (const SQLite::Exception& error) {
    return tl::unexpected(of_sqlite(error, impl_->path));
  }
}

}  // namespace ww::sweep
