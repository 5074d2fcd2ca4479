#include "ww/core/campaign_store.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "campaign_samples.hpp"
#include "packed_readings.hpp"
#include "sqlite_error.hpp"
#include "ww/core/named_file.hpp"
#include "ww/core/owned_file.hpp"

namespace ww {
namespace {

constexpr auto kApplicationId = static_cast<int>(kCampaignApplicationId);
constexpr int schema_version = 3;  // version 2 packs readings without their steps
constexpr int kOldestVersion = 1;  // its readings are rows of a table of their own, as in `sample`

constexpr const char* kSchema = R"sql(
CREATE TABLE fact(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE session(id INTEGER PRIMARY KEY, started_utc TEXT NOT NULL);
CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES session(id),
  block INTEGER NOT NULL, position INTEGER NOT NULL,
  kind TEXT NOT NULL, engine INTEGER, quadrant INTEGER, pattern TEXT NOT NULL,
  throttle INTEGER NOT NULL, dvfs_state INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, launches INTEGER NOT NULL,
  payload_bits REAL NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  kernel_hash TEXT NOT NULL, counters TEXT NOT NULL,
  UNIQUE(block, position));
CREATE TABLE wave(run INTEGER NOT NULL REFERENCES run(id), hw_id INTEGER NOT NULL,
  waves INTEGER NOT NULL, PRIMARY KEY(run, hw_id)) WITHOUT ROWID;
)sql";

// The readings of a run (packed_readings.hpp).
constexpr const char* kReadingsSchema = R"sql(
CREATE TABLE IF NOT EXISTS readings(run INTEGER PRIMARY KEY REFERENCES run(id),
  count INTEGER NOT NULL, differences TEXT NOT NULL, compressed BLOB NOT NULL);
)sql";

// Came later; campaigns without it have no lock_in runs.
constexpr const char* kSlotSchema = R"sql(
CREATE TABLE IF NOT EXISTS slot(run INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,
  engine INTEGER NOT NULL, quadrant INTEGER NOT NULL, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, payload_bits REAL NOT NULL, PRIMARY KEY(run, sequence)) WITHOUT ROWID;
)sql";

// Came later, too; campaigns without it are of cards whose sensors give no rails.
constexpr const char* kRailSchema = R"sql(
CREATE TABLE IF NOT EXISTS rail(run INTEGER NOT NULL REFERENCES run(id), sequence INTEGER NOT NULL,
  poll_ns INTEGER NOT NULL, source_ns INTEGER, rail TEXT NOT NULL, unit TEXT NOT NULL,
  value INTEGER NOT NULL, PRIMARY KEY(run, sequence)) WITHOUT ROWID;
)sql";

template <class E>
using Names = std::array<std::pair<E, std::string_view>, 9>;

constexpr Names<RunKind> kKindNames{{{RunKind::idle, "idle"},
                                     {RunKind::heat, "heat"},
                                     {RunKind::cooldown, "cooldown"},
                                     {RunKind::step_test, "step_test"},
                                     {RunKind::stream, "stream"},
                                     {RunKind::known_bytes, "known_bytes"},
                                     {RunKind::latency, "latency"},
                                     {RunKind::lock_in, "lock_in"},
                                     {RunKind::beyond_l2, "beyond_l2"}}};

constexpr std::array<std::pair<RunStatus, std::string_view>, 3> status_names{
    {{RunStatus::ok, "ok"}, {RunStatus::rejected, "rejected"}, {RunStatus::failed, "failed"}}};

template <class Table, class E>
std::string_view name_of(const Table& table, E value) {
  for (const auto& [entry, name] : table) {
    if (entry == value) return name;
  }
  return "unknown";
}

template <class E, class Table>
Result<E> value_of(const Table& table, std::string_view text, const char* what) {
  for (const auto& [entry, name] : table) {
    if (name == text) return entry;
  }
  return fail(ErrorCode::parse_error,
              std::string("unknown ") + what + " '" + std::string(text) + "'");
}

template <class T>
void bind_optional(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  if (value) {
    statement.bind(index, static_cast<std::int64_t>(*value));
  } else {
    statement.bind(index);
  }
}

template <class T>
std::optional<T> optional_column(const SQLite::Column& column) {
  if (column.isNull()) return std::nullopt;
  return static_cast<T>(column.getInt64());
}

}  // namespace

std::string_view to_string(RunKind kind) {
  return name_of(kKindNames, kind);
}
Result<RunKind> run_kind_from_string(std::string_view text) {
  return value_of<RunKind>(kKindNames, text, "run kind");
}
std::string_view to_string(RunStatus status) {
  return name_of(status_names, status);
}
Result<RunStatus> run_status_from_string(std::string_view text) {
  return value_of<RunStatus>(status_names, text, "run status");
}

struct CampaignStore::Impl {
  std::string file;
  mutable SQLite::Database database;
  bool writes;
  Impl(std::string path, int flags)
      : file(std::move(path)),
        database(file, flags, 2000),
        writes((flags & SQLite::OPEN_READWRITE) != 0) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  // A campaign that nobody writes is one plain file: a reader of a database in WAL mode would leave
  // an index and an empty log beside it, and could not read it where no file may be made.
  ~Impl() {
    if (!writes) return;
    sqlite3_busy_timeout(database.getHandle(), 0);  // where somebody else has it open, it stays
    sqlite3_exec(database.getHandle(), "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  }

  // Runs `body`, turning SQLite's exceptions into errors.
  template <class F>
  auto guarded(F body) const -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& e) {
      return tl::unexpected(sqlite_error(e, file));
    } catch (const nlohmann::json::exception& e) {
      return fail(ErrorCode::parse_error, std::string("damaged campaign: ") + e.what(), file);
    }
  }
};

CampaignStore::CampaignStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CampaignStore::CampaignStore(CampaignStore&&) noexcept = default;
CampaignStore& CampaignStore::operator=(CampaignStore&&) noexcept = default;
CampaignStore::~CampaignStore() = default;

Result<CampaignStore> CampaignStore::create(const std::filesystem::path& file) {
  if (std::error_code ec; std::filesystem::exists(file, ec)) {
    return fail(ErrorCode::io_error,
                "a campaign is here already; pass --resume to continue it or choose another folder",
                file.string());
  }
  // Made aside and put in place whole: whoever is killed meanwhile leaves no campaign, not half of
  // one that nobody can resume.
  auto aside = file;
  aside += ".new";
  try {
    std::error_code absent;
    std::filesystem::remove(aside, absent);
    std::filesystem::remove(aside.string() + "-journal", absent);
    {
      SQLite::Database db(aside.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      SQLite::Transaction transaction(db);
      db.exec(kSchema);
      db.exec(kReadingsSchema);
      db.exec(kSlotSchema);
      db.exec(kRailSchema);
      db.exec("PRAGMA application_id=" + std::to_string(kApplicationId));
      db.exec("PRAGMA user_version=" + std::to_string(schema_version));
      transaction.commit();
    }
    if (std::error_code ec; std::filesystem::rename(aside, file, ec), ec) {
      return fail(ErrorCode::io_error, "cannot put the file in place: " + ec.message(),
                  file.string());
    }
    auto impl = std::make_unique<Impl>(file.string(), SQLite::OPEN_READWRITE);
    impl->database.exec("PRAGMA journal_mode=WAL");
    impl->database.exec("PRAGMA synchronous=NORMAL");
    return CampaignStore(std::move(impl));
  } catch (const SQLite::Exception& e) {
    return tl::unexpected(sqlite_error(e, file.string()));
  }
}

namespace {

Status check_header(SQLite::Database& db, const std::string& file) {
  SQLite::Statement id(db, "PRAGMA application_id");
  id.executeStep();
  if (id.getColumn(0).getInt() != kApplicationId) {
    return fail(ErrorCode::parse_error,
                "this SQLite file was not written by wirewatt; give a campaign.db", file);
  }
  SQLite::Statement version(db, "PRAGMA user_version");
  version.executeStep();
  const int found = version.getColumn(0).getInt();
  if (found < kOldestVersion || found > schema_version) {
    return fail(ErrorCode::parse_error,
                fmt::format("campaign of schema version {}, this wirewatt reads versions {} to {}",
                            found, kOldestVersion, schema_version),
                file);
  }
  return {};
}

Result<std::filesystem::path> campaign_file(const std::filesystem::path& path) {
  return named_file(path, "campaign.db",
                    "'wirewatt calibrate --out FOLDER' writes one into FOLDER");
}

}  // namespace

Result<CampaignStore> CampaignStore::open(const std::filesystem::path& path) {
  WW_ASSIGN(file, campaign_file(path));
  try {
    auto impl = std::make_unique<Impl>(file.string(), SQLite::OPEN_READWRITE);
    impl->writes = false;  // another program's database is left as it is
    WW_TRY(check_header(impl->database, file.string()));
    WW_TRY(check_pages(file.string()));
    impl->writes = true;
    impl->database.exec("PRAGMA journal_mode=WAL");
    impl->database.exec("PRAGMA synchronous=NORMAL");
    impl->database.exec(kReadingsSchema);
    impl->database.exec(kSlotSchema);
    impl->database.exec(kRailSchema);
    // An earlier version cannot read the tables that are added to its file.
    impl->database.exec("PRAGMA user_version=" + std::to_string(schema_version));
    return CampaignStore(std::move(impl));
  } catch (const SQLite::Exception& e) {
    return tl::unexpected(sqlite_error(e, file.string()));
  }
}

Result<CampaignStore> CampaignStore::open_read_only(const std::filesystem::path& path) {
  WW_ASSIGN(file, campaign_file(path));
  try {
    // Files of before are in WAL mode. Only who may write removes its log and index at the end.
    const bool may_write = ::access(file.c_str(), W_OK) == 0;
    auto impl = std::make_unique<Impl>(file.string(),
                                       may_write ? SQLite::OPEN_READWRITE : SQLite::OPEN_READONLY);
    impl->writes = false;
    impl->database.exec("PRAGMA query_only=ON");
    WW_TRY(check_header(impl->database, file.string()));
    return CampaignStore(std::move(impl));
  } catch (const SQLite::Exception& e) {
    return tl::unexpected(sqlite_error(e, file.string()));
  }
}

std::filesystem::path CampaignStore::file() const {
  return impl_->file;
}

Status CampaignStore::put(std::string_view key, std::string_view value) {
  return impl_->guarded([&]() -> Status {
    SQLite::Statement statement(impl_->database, "INSERT OR REPLACE INTO fact VALUES(?,?)");
    statement.bind(1, std::string(key));
    statement.bind(2, std::string(value));
    statement.exec();
    return {};
  });
}

Result<std::optional<std::string>> CampaignStore::get(std::string_view key) const {
  return impl_->guarded([&]() -> Result<std::optional<std::string>> {
    SQLite::Statement statement(impl_->database, "SELECT value FROM fact WHERE key=?");
    statement.bind(1, std::string(key));
    if (!statement.executeStep()) return std::optional<std::string>{};
    return std::optional<std::string>{statement.getColumn(0).getString()};
  });
}

Result<std::map<std::string, std::string>> CampaignStore::facts() const {
  return impl_->guarded([&]() -> Result<std::map<std::string, std::string>> {
    std::map<std::string, std::string> facts;
    SQLite::Statement statement(impl_->database, "SELECT key, value FROM fact");
    while (statement.executeStep()) {
      facts[statement.getColumn(0).getString()] = statement.getColumn(1).getString();
    }
    return facts;
  });
}

Result<std::int64_t> CampaignStore::begin_session() {
  return impl_->guarded([&]() -> Result<std::int64_t> {
    SQLite::Statement next(impl_->database, "SELECT coalesce(max(id)+1,0) FROM session");
    next.executeStep();
    const std::int64_t id = next.getColumn(0).getInt64();
    SQLite::Statement insert(impl_->database, "INSERT INTO session VALUES(?, datetime('now'))");
    insert.bind(1, id);
    insert.exec();
    return id;
  });
}

Status CampaignStore::add(const StoredRun& run) {
  WW_ASSIGN(present, contains(run.block, run.position));
  if (present) {
    return fail(ErrorCode::invalid_argument,
                "run " + std::to_string(run.block) + "/" + std::to_string(run.position) +
                    " is in the campaign already",
                impl_->file);
  }
  return impl_->guarded([&]() -> Status {
    auto& db = impl_->database;
    SQLite::Transaction transaction(db);
    SQLite::Statement insert(
        db,
        "INSERT INTO run(session,block,position,kind,engine,quadrant,pattern,"
        "throttle,dvfs_state,start_ns,end_ns,launches,payload_bits,status,"
        "reason,kernel_hash,counters) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    int column = 0;
    insert.bind(++column, run.session);
    insert.bind(++column, run.block);
    insert.bind(++column, run.position);
    insert.bind(++column, std::string(to_string(run.kind)));
    bind_optional(insert, ++column, run.engine);
    bind_optional(insert, ++column, run.quadrant);
    insert.bind(++column, run.pattern);
    insert.bind(++column, run.throttle);
    insert.bind(++column, run.dvfs_state);
    insert.bind(++column, run.start_ns);
    insert.bind(++column, run.end_ns);
    insert.bind(++column, run.launches);
    insert.bind(++column, run.payload_bits);
    insert.bind(++column, std::string(to_string(run.status)));
    insert.bind(++column, run.reason);
    insert.bind(++column, run.kernel_hash);
    insert.bind(++column, nlohmann::json(run.counters).dump());
    insert.exec();
    const std::int64_t id = db.getLastInsertRowid();

    SQLite::Statement wave(db, "INSERT INTO wave VALUES(?,?,?)");
    for (const auto& entry : run.waves) {
      wave.bind(1, id);
      wave.bind(2, static_cast<std::int64_t>(entry.hw_id));
      wave.bind(3, static_cast<std::int64_t>(entry.waves));
      wave.exec();
      wave.reset();
    }
    std::int64_t sequence = 0;
    if (!run.samples.empty()) {
      SQLite::Statement readings(db, "INSERT INTO readings VALUES(?,?,?,?)");
      const PackedReadings packed = pack_readings(run.samples);
      readings.bind(1, id);
      readings.bind(2, packed.count);
      readings.bind(3, packed.differences);
      readings.bind(4, packed.compressed.data(), static_cast<int>(packed.compressed.size()));
      readings.exec();
    }
    SQLite::Statement slot(db, "INSERT INTO slot VALUES(?,?,?,?,?,?,?)");
    for (const auto& entry : run.slots) {
      slot.bind(1, id);
      slot.bind(2, sequence++);
      slot.bind(3, entry.engine);
      slot.bind(4, entry.quadrant);
      slot.bind(5, entry.start_ns);
      slot.bind(6, entry.end_ns);
      slot.bind(7, entry.payload_bits);
      slot.exec();
      slot.reset();
    }
    SQLite::Statement rail(db, "INSERT INTO rail VALUES(?,?,?,?,?,?,?)");
    sequence = 0;
    for (const auto& entry : run.rails) {
      rail.bind(1, id);
      rail.bind(2, sequence++);
      rail.bind(3, entry.poll_ns);
      bind_optional(rail, 4, entry.source_ns);
      rail.bind(5, entry.rail);
      rail.bind(6, entry.unit);
      rail.bind(7, entry.value);
      rail.exec();
      rail.reset();
    }
    transaction.commit();
    return {};
  });
}

Result<bool> CampaignStore::contains(std::int64_t block, std::int64_t position) const {
  return impl_->guarded([&]() -> Result<bool> {
    SQLite::Statement statement(impl_->database, "SELECT 1 FROM run WHERE block=? AND position=?");
    statement.bind(1, block);
    statement.bind(2, position);
    return statement.executeStep();
  });
}

Result<std::int64_t> CampaignStore::run_count() const {
  return impl_->guarded([&]() -> Result<std::int64_t> {
    SQLite::Statement statement(impl_->database, "SELECT count(*) FROM run");
    statement.executeStep();
    return statement.getColumn(0).getInt64();
  });
}

Result<std::vector<StoredRun>> CampaignStore::runs() const {
  return impl_->guarded([&]() -> Result<std::vector<StoredRun>> {
    auto& db = impl_->database;
    std::vector<StoredRun> runs;
    std::vector<std::int64_t> ids;
    SQLite::Statement row(db,
                          "SELECT id,session,block,position,kind,engine,quadrant,pattern,throttle,"
                          "dvfs_state,start_ns,end_ns,launches,payload_bits,status,reason,"
                          "kernel_hash,counters FROM run ORDER BY session,start_ns,id");
    while (row.executeStep()) {
      StoredRun run;
      ids.push_back(row.getColumn(0).getInt64());
      run.session = row.getColumn(1).getInt64();
      run.block = row.getColumn(2).getInt64();
      run.position = row.getColumn(3).getInt64();
      WW_ASSIGN(kind, run_kind_from_string(row.getColumn(4).getString()));
      run.kind = kind;
      run.engine = optional_column<std::int32_t>(row.getColumn(5));
      run.quadrant = optional_column<std::int32_t>(row.getColumn(6));
      run.pattern = row.getColumn(7).getString();
      run.throttle = row.getColumn(8).getInt();
      run.dvfs_state = row.getColumn(9).getInt();
      run.start_ns = row.getColumn(10).getInt64();
      run.end_ns = row.getColumn(11).getInt64();
      run.launches = row.getColumn(12).getInt64();
      run.payload_bits = row.getColumn(13).getDouble();
      WW_ASSIGN(status, run_status_from_string(row.getColumn(14).getString()));
      run.status = status;
      run.reason = row.getColumn(15).getString();
      run.kernel_hash = row.getColumn(16).getString();
      run.counters =
          nlohmann::json::parse(row.getColumn(17).getString()).get<std::map<std::string, double>>();
      runs.push_back(std::move(run));
    }
    std::vector<RunToFill> to_fill;
    for (std::size_t i = 0; i < runs.size(); ++i) to_fill.push_back({ids[i], &runs[i]});
    WW_TRY(fill_runs(impl_->file, to_fill));
    return runs;
  });
}

}  // namespace ww
