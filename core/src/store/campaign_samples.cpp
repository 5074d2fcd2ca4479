#include "campaign_samples.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "packed_readings.hpp"
#include "sqlite_error.hpp"

namespace ww {
namespace {

// More would wait for memory, not for SQLite.
constexpr unsigned kMaxReaders = 4;

// A prepared statement without SQLiteCpp's counted pointer for every column: a campaign has tens of
// millions of them.
class Rows {
 public:
  Rows(SQLite::Database& database, const char* sql) : database_(database.getHandle()) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) != SQLITE_OK) {
      throw SQLite::Exception(database_);
    }
    statement_.reset(statement);
  }
  void of_run(std::int64_t run) {
    sqlite3_reset(statement_.get());
    sqlite3_bind_int64(statement_.get(), 1, run);
  }
  bool next() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) throw SQLite::Exception(database_, code);
    return false;
  }
  [[nodiscard]] std::int64_t integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
  }
  template <class T>
  [[nodiscard]] std::optional<T> optional(int column) const {
    // Asked of the value, a connection of one thread needs no further look-ups.
    sqlite3_value* value = sqlite3_column_value(statement_.get(), column);
    if (sqlite3_value_type(value) == SQLITE_NULL) return std::nullopt;
    return static_cast<T>(sqlite3_value_int64(value));
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    return bytes == nullptr ? std::string() : reinterpret_cast<const char*>(bytes);
  }
  [[nodiscard]] std::string bytes(int column) const {
    const void* first = sqlite3_column_blob(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return size == 0 ? std::string()
                     : std::string(static_cast<const char*>(first), static_cast<std::size_t>(size));
  }
  [[nodiscard]] double real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// One thread's connection: without locks, which would cost a tenth of reading a campaign.
SQLite::Database connect(const std::string& file) {
  return {file, SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX, 2000};
}

class Reader {
 public:
  explicit Reader(const std::string& file) : database_(connect(file)) {
    if (database_.tableExists("readings")) {
      packed_.emplace(database_, "SELECT count,differences,compressed FROM readings WHERE run=?1");
    }
    // Reads files of earlier versions.
    if (database_.tableExists("sample")) {
      last_.emplace(database_,
                    "SELECT sequence FROM sample WHERE run=?1 ORDER BY sequence DESC LIMIT 1");
      samples_.emplace(database_,
                       "SELECT time_ns,poll_ns,power_uw,energy_ticks,temperature_mc,voltage_uv,"
                       "clock_khz,changed FROM sample WHERE run=?1 ORDER BY sequence");
    }
    if (database_.tableExists("slot")) {
      slots_.emplace(database_,
                     "SELECT engine,quadrant,start_ns,end_ns,payload_bits FROM slot WHERE run=?1 "
                     "ORDER BY sequence");
    }
    if (database_.tableExists("rail")) {
      rails_.emplace(database_,
                     "SELECT poll_ns,source_ns,rail,unit,value FROM rail WHERE run=?1 ORDER BY "
                     "sequence");
    }
  }

  Status fill(const RunToFill& to_fill) {
    StoredRun& run = *to_fill.run;
    waves_.of_run(to_fill.id);
    while (waves_.next()) {
      run.waves.push_back({static_cast<std::uint32_t>(waves_.integer(0)),
                           static_cast<std::uint64_t>(waves_.integer(1))});
    }
    if (samples_) fill_samples(to_fill.id, run.samples);
    if (packed_) WW_TRY(unpack(to_fill.id, run.samples));
    if (rails_) {
      rails_->of_run(to_fill.id);
      while (rails_->next()) {
        run.rails.push_back({rails_->integer(0), rails_->optional<std::int64_t>(1), rails_->text(2),
                             rails_->text(3), rails_->integer(4)});
      }
    }
    if (!slots_ || run.kind != RunKind::lock_in) return {};
    slots_->of_run(to_fill.id);
    while (slots_->next()) {
      run.slots.push_back({static_cast<std::int32_t>(slots_->integer(0)),
                           static_cast<std::int32_t>(slots_->integer(1)), slots_->integer(2),
                           slots_->integer(3), slots_->real(4)});
    }
    return {};
  }

 private:
  void fill_samples(std::int64_t run, std::vector<SensorReading>& samples) {
    last_->of_run(run);
    if (last_->next()) samples.reserve(static_cast<std::size_t>(last_->integer(0)) + 1);
    samples_->of_run(run);
    while (samples_->next()) {
      samples.push_back({samples_->integer(0), samples_->integer(1),
                         samples_->optional<std::int64_t>(2), samples_->optional<std::int64_t>(3),
                         samples_->optional<std::int32_t>(4), samples_->optional<std::int32_t>(5),
                         samples_->optional<std::int32_t>(6), samples_->integer(7) != 0});
    }
  }

  Status unpack(std::int64_t run, std::vector<SensorReading>& samples) {
    packed_->of_run(run);
    if (!packed_->next()) return {};
    WW_ASSIGN(readings,
              unpack_readings({packed_->integer(0), packed_->text(1), packed_->bytes(2)}));
    samples = std::move(readings);
    return {};
  }

  SQLite::Database database_;
  Rows waves_{database_, "SELECT hw_id,waves FROM wave WHERE run=?1"};
  std::optional<Rows> packed_;
  std::optional<Rows> last_;
  std::optional<Rows> samples_;
  std::optional<Rows> slots_;
  std::optional<Rows> rails_;
};

}  // namespace

Status check_pages(const std::string& file) {
  try {
    auto database = connect(file);
    SQLite::Statement check(database, "PRAGMA quick_check(1)");
    check.executeStep();
    const std::string said = check.getColumn(0).getString();
    if (said == "ok") return {};
    return fail(ErrorCode::parse_error, "damaged campaign: " + said, file);
  } catch (const SQLite::Exception& e) {
    return tl::unexpected(sqlite_error(e, file));
  }
}

Status fill_runs(const std::string& file, std::span<const RunToFill> runs) {
  std::atomic<std::size_t> next{0};
  const auto read = [&]() -> Status {
    try {
      Reader reader(file);
      for (std::size_t i = next++; i < runs.size(); i = next++) {
        if (auto filled = reader.fill(runs[i]); !filled) {
          next = runs.size();
          filled.error().context = file;
          return filled;
        }
      }
      return {};
    } catch (const SQLite::Exception& e) {
      next = runs.size();
      return tl::unexpected(sqlite_error(e, file));
    }
  };
  const auto readers =
      std::min<std::size_t>(std::clamp(std::thread::hardware_concurrency(), 1U, kMaxReaders),
                            std::max<std::size_t>(runs.size(), 1));
  auto checked = std::async(std::launch::async, [&] { return check_pages(file); });
  std::vector<std::future<Status>> others;
  for (std::size_t i = 1; i < readers; ++i) others.push_back(std::async(std::launch::async, read));
  Status result = read();
  for (auto& other : others) {
    if (auto status = other.get(); result && !status) result = std::move(status);
  }
  // The check knows best what is wrong.
  if (auto status = checked.get(); !status) return status;
  return result;
}

}  // namespace ww
