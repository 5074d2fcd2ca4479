#include "ww/tables/campaign_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "ww/core/file_system.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::tables {
namespace {

constexpr double kTicksPerJoule = 65536;

// A row that is being written. Numbers have the fewest digits that read back as the same number.
class CsvLine {
 public:
  CsvLine& text(std::string_view value) {
    separate();
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += value;
      return *this;
    }
    line_ += '"';
    for (const char c : value) {
      if (c == '"') line_ += '"';
      line_ += c;
    }
    line_ += '"';
    return *this;
  }
  template <class Number>
  CsvLine& number(Number value) {
    separate();
    line_ += fmt::format("{}", value);
    return *this;
  }
  // Nothing where there is no value.
  template <class Number>
  CsvLine& number(const std::optional<Number>& value) {
    return value ? number(*value) : text("");
  }
  // Divided, not multiplied by a thousandth, so that whole millionths print as such.
  template <class Number>
  CsvLine& divided(const std::optional<Number>& value, double parts) {
    return value ? number(static_cast<double>(*value) / parts) : text("");
  }
  [[nodiscard]] std::string ended() {
    first_ = true;
    return std::exchange(line_, {}) + "\r\n";
  }

 private:
  void separate() {
    if (!first_) line_ += ',';
    first_ = false;
  }
  std::string line_;
  bool first_{true};
};

class CsvTable {
 public:
  static Result<CsvTable> create(const std::filesystem::path& folder, std::string name,
                                 std::vector<std::string> columns) {
    const auto path = folder / (name + ".csv");
    WW_ASSIGN(file, StreamedFile::create(path));
    CsvTable table(std::move(file), {std::move(name), path, 0, std::move(columns)});
    CsvLine head;
    for (const auto& column : table.about_.columns) head.text(column);
    WW_TRY(table.file_.write(head.ended()));
    return table;
  }
  Status add(CsvLine& line) {
    ++about_.rows;
    return file_.write(line.ended());
  }
  Result<WrittenTable> keep() {
    WW_TRY(file_.keep());
    return about_;
  }

 private:
  CsvTable(StreamedFile file, WrittenTable about)
      : file_(std::move(file)), about_(std::move(about)) {}
  StreamedFile file_;
  WrittenTable about_;
};

CsvLine& begin_run(CsvLine& line, const StoredRun& run) {
  return line.number(run.block).number(run.position);
}

Result<WrittenTable> write_facts(const std::map<std::string, std::string>& facts,
                                 const std::filesystem::path& folder) {
  WW_ASSIGN(table, CsvTable::create(folder, "facts", {"key", "value"}));
  CsvLine line;
  for (const auto& [key, value] : facts) WW_TRY(table.add(line.text(key).text(value)));
  return table.keep();
}

Result<WrittenTable> write_runs(const std::vector<StoredRun>& runs, std::string_view is_virtual,
                                const std::filesystem::path& folder) {
  std::set<std::string> counters;
  for (const StoredRun& run : runs) {
    for (const auto& [counter, value] : run.counters) counters.insert(counter);
  }
  std::vector<std::string> columns{"block",  "position",    "session",     "virtual",  "kind",
                                   "engine", "quadrant",    "pattern",     "throttle", "dvfs_state",
                                   "status", "reason",      "kernel_hash", "launches", "start_ns",
                                   "end_ns", "payload_bits"};
  for (const auto& counter : counters) columns.push_back("counter_" + counter);
  WW_ASSIGN(table, CsvTable::create(folder, "runs", std::move(columns)));
  CsvLine line;
  for (const StoredRun& run : runs) {
    begin_run(line, run).number(run.session).text(is_virtual).text(to_string(run.kind));
    line.number(run.engine).number(run.quadrant).text(run.pattern).number(run.throttle);
    line.number(run.dvfs_state).text(to_string(run.status)).text(run.reason);
    line.text(run.kernel_hash).number(run.launches).number(run.start_ns).number(run.end_ns);
    line.number(run.payload_bits);
    for (const auto& counter : counters) {
      const auto found = run.counters.find(counter);
      line.number(found == run.counters.end() ? std::nullopt : std::optional(found->second));
    }
    WW_TRY(table.add(line));
  }
  return table.keep();
}

Result<WrittenTable> write_waves(const std::vector<StoredRun>& runs,
                                 const std::filesystem::path& folder) {
  WW_ASSIGN(table, CsvTable::create(folder, "waves", {"block", "position", "hw_id", "waves"}));
  CsvLine line;
  for (const StoredRun& run : runs) {
    for (const StoredWaves& waves : run.waves) {
      WW_TRY(table.add(begin_run(line, run).number(waves.hw_id).number(waves.waves)));
    }
  }
  return table.keep();
}

Result<WrittenTable> write_readings(const std::vector<StoredRun>& runs,
                                    const std::filesystem::path& folder) {
  WW_ASSIGN(table,
            CsvTable::create(folder, "readings",
                             {"block", "position", "time_ns", "poll_ns", "power_w", "energy_j",
                              "temperature_c", "voltage_v", "clock_mhz", "changed"}));
  CsvLine line;
  for (const StoredRun& run : runs) {
    for (const SensorReading& reading : run.samples) {
      begin_run(line, run).number(reading.time_ns).number(reading.poll_ns);
      line.divided(reading.power_uw, 1e6).divided(reading.energy_ticks, kTicksPerJoule);
      line.divided(reading.temperature_mc, 1e3).divided(reading.voltage_uv, 1e6);
      line.divided(reading.clock_khz, 1e3).number(reading.changed ? 1 : 0);
      WW_TRY(table.add(line));
    }
  }
  return table.keep();
}

Result<WrittenTable> write_slots(const std::vector<StoredRun>& runs,
                                 const std::filesystem::path& folder) {
  WW_ASSIGN(table, CsvTable::create(folder, "slots",
                                    {"block", "position", "engine", "quadrant", "start_ns",
                                     "end_ns", "payload_bits"}));
  CsvLine line;
  for (const StoredRun& run : runs) {
    for (const StoredSlot& slot : run.slots) {
      begin_run(line, run).number(slot.engine).number(slot.quadrant).number(slot.start_ns);
      WW_TRY(table.add(line.number(slot.end_ns).number(slot.payload_bits)));
    }
  }
  return table.keep();
}

Result<WrittenTable> write_rails(const std::vector<StoredRun>& runs,
                                 const std::filesystem::path& folder) {
  WW_ASSIGN(table, CsvTable::create(folder, "rails",
                                    {"block", "position", "poll_ns", "source_ns", "rail", "value",
                                     "unit_of_value"}));
  CsvLine line;
  for (const StoredRun& run : runs) {
    for (const RailReading& reading : run.rails) {
      begin_run(line, run).number(reading.poll_ns).number(reading.source_ns);
      WW_TRY(table.add(line.text(reading.rail).number(reading.value).text(reading.unit)));
    }
  }
  return table.keep();
}

// A table that this campaign does not have would stay beside its others.
Status refuse_foreign(const std::filesystem::path& file, bool is_written) {
  std::error_code ignored;
  if (is_written || !std::filesystem::exists(file, ignored)) return {};
  return fail(ErrorCode::invalid_argument,
              "is a table of another campaign, which this one does not have; name another folder, "
              "or remove it",
              file.string());
}

}  // namespace

Result<std::vector<WrittenTable>> write_campaign_csv(const CampaignStore& store,
                                                     const std::filesystem::path& folder) {
  WW_ASSIGN(facts, store.facts());
  WW_ASSIGN(runs, store.runs());
  WW_TRY(make_folder(folder));
  const auto any = [&runs](auto member) {
    return std::ranges::any_of(runs, [&](const StoredRun& run) { return !(run.*member).empty(); });
  };
  const bool with_slots = any(&StoredRun::slots);
  const bool with_rails = any(&StoredRun::rails);
  WW_TRY(refuse_foreign(folder / "slots.csv", with_slots));
  WW_TRY(refuse_foreign(folder / "rails.csv", with_rails));
  const auto is_virtual = facts.find(std::string(campaign_keys::is_virtual));
  std::vector<WrittenTable> tables;
  const auto keep = [&tables](Result<WrittenTable> table) -> Status {
    WW_TRY(table);
    tables.push_back(std::move(*table));
    return {};
  };
  WW_TRY(keep(write_facts(facts, folder)));
  WW_TRY(keep(write_runs(runs, is_virtual == facts.end() ? "" : is_virtual->second, folder)));
  WW_TRY(keep(write_waves(runs, folder)));
  WW_TRY(keep(write_readings(runs, folder)));
  if (with_slots) WW_TRY(keep(write_slots(runs, folder)));
  if (with_rails) WW_TRY(keep(write_rails(runs, folder)));
  return tables;
}

}  // namespace ww::tables
