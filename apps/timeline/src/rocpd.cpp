#include "rocpd.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "ww/core/file_system.hpp"
#include "ww/core/hash.hpp"

namespace ww::timeline {
namespace {

// Columns of schema 3 behind `id` and `guid`, in its order. All tables are there, also those that
// stay empty, because ROCm's views join them. (rocprofiler-sdk, share/rocprofiler-sdk-rocpd.)
struct Table {
  const char* name;
  const char* columns;
};
constexpr const char* kMetadata = "rocpd_metadata";
constexpr std::array<Table, 19> kTables{{
    {"rocpd_string", "string TEXT NOT NULL UNIQUE"},
    {"rocpd_info_node",
     "hash BIGINT NOT NULL UNIQUE, machine_id TEXT NOT NULL UNIQUE, system_name TEXT, hostname "
     "TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT"},
    {"rocpd_info_process",
     "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, start "
     "BIGINT, \"end\" BIGINT, command TEXT, environment JSONB NOT NULL DEFAULT '{}', extdata "
     "JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_info_thread",
     "nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT, "
     "start BIGINT, \"end\" BIGINT, extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_info_agent",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT CHECK (type IN ('CPU', 'GPU')), "
     "absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, "
     "model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, extdata JSONB NOT NULL "
     "DEFAULT '{}'"},
    {"rocpd_info_queue",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT, extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_info_stream",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, name TEXT, extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_info_pmc",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, target_arch TEXT CHECK "
     "(target_arch IN ('CPU', 'GPU')), event_code INT, instance_id INTEGER, name TEXT NOT NULL, "
     "symbol TEXT NOT NULL, description TEXT, long_description TEXT DEFAULT '', component TEXT, "
     "units TEXT DEFAULT '', value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')), "
     "block TEXT, expression TEXT, is_constant INTEGER, is_derived INTEGER, extdata JSONB NOT NULL "
     "DEFAULT '{}'"},
    {"rocpd_info_code_object",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, agent_id INTEGER, uri TEXT, load_base BIGINT, "
     "load_size BIGINT, load_delta BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', "
     "'MEMORY')), extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_info_kernel_symbol",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, code_object_id INTEGER NOT NULL, kernel_name "
     "TEXT, display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER, "
     "kernarg_segment_alignment INTEGER, group_segment_size INTEGER, private_segment_size INTEGER, "
     "sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB NOT "
     "NULL DEFAULT '{}'"},
    {"rocpd_track",
     "nid INTEGER NOT NULL, pid INTEGER, tid INTEGER, name_id INTEGER, extdata JSONB NOT NULL "
     "DEFAULT '{}'"},
    {"rocpd_event",
     "category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
     "call_stack JSONB NOT NULL DEFAULT '{}', line_info JSONB NOT NULL DEFAULT '{}', extdata JSONB "
     "NOT NULL DEFAULT '{}'"},
    {"rocpd_arg",
     "event_id INTEGER NOT NULL, position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT "
     "NULL, "
     "value TEXT, extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_pmc_event",
     "event_id INTEGER, pmc_id INTEGER NOT NULL, value REAL DEFAULT 0.0, extdata JSONB DEFAULT "
     "'{}'"},
    {"rocpd_region",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, start BIGINT NOT NULL, "
     "\"end\" BIGINT NOT NULL, name_id INTEGER NOT NULL, event_id INTEGER, extdata JSONB NOT NULL "
     "DEFAULT '{}'"},
    {"rocpd_sample",
     "track_id INTEGER NOT NULL, timestamp BIGINT NOT NULL, event_id INTEGER, extdata JSONB NOT "
     "NULL DEFAULT '{}'"},
    {"rocpd_kernel_dispatch",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL, "
     "kernel_id "
     "INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER "
     "NOT NULL, start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, private_segment_size INTEGER, "
     "group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT "
     "NULL, workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, grid_size_y INTEGER "
     "NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER, extdata "
     "JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_memory_copy",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT NULL, \"end\" "
     "BIGINT NOT NULL, name_id INTEGER NOT NULL, dst_agent_id INTEGER, dst_address INTEGER, "
     "src_agent_id INTEGER, src_address INTEGER, size INTEGER NOT NULL, queue_id INTEGER, "
     "stream_id "
     "INTEGER, region_name_id INTEGER, event_id INTEGER, extdata JSONB NOT NULL DEFAULT '{}'"},
    {"rocpd_memory_allocate",
     "nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER, type TEXT CHECK "
     "(type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')), level TEXT CHECK (level IN ('REAL', "
     "'VIRTUAL', 'SCRATCH')), start BIGINT NOT NULL, \"end\" BIGINT NOT NULL, address INTEGER, "
     "size "
     "INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, event_id INTEGER, extdata JSONB NOT "
     "NULL DEFAULT '{}'"},
}};

// Each set has one node, one process, one thread, one queue, one stream and one code object.
constexpr std::int64_t kOnly = 1;

constexpr std::array<const char*, 3> kEnergyNames = {
    "WIREWATT_REGISTERS_L1_ENERGY", "WIREWATT_L1_L2_ENERGY", "WIREWATT_L2_MEMORY_ENERGY"};

// A statement that is run again and again.
class Insert {
 public:
  Insert(SQLite::Database& database, const std::string& sql) : statement_(database, sql) {}
  template <class... Values>
  void operator()(const Values&... values) {
    statement_.reset();
    int at = 0;
    (statement_.bind(++at, values), ...);
    statement_.exec();
  }

 private:
  SQLite::Statement statement_;
};

// The tables of one process.
class Set {
 public:
  Set(SQLite::Database& database, const TraceContent& content, const std::string& process,
      const ClockDomain& domain, std::int32_t number)
      : database_(database), content_(content), domain_(domain) {
    // Equal content gives equal names.
    const std::string seed = content.title + '\n' + process + '\n' + std::to_string(number);
    const std::string digits = hash_text(std::as_bytes(std::span(seed)));
    guid_ = fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4),
                        digits.substr(12, 4), digits.substr(16, 4), digits.substr(20));
    suffix_ = "_" + guid_;
    std::ranges::replace(suffix_, '-', '_');
    create_tables();
    add_machine(process_number(process, number));
    add_counters();
    add_kernels();
    add_stretches();
    add_readings();
  }

  [[nodiscard]] const std::string& suffix() const { return suffix_; }

 private:
  Insert into(const std::string& table, const std::string& columns) {
    const auto count = std::ranges::count(columns, ',') + 1;
    std::string marks = "?";
    for (std::ptrdiff_t i = 1; i < count; ++i) marks += ",?";
    return {database_,
            fmt::format("INSERT INTO \"{}{}\"({}) VALUES({})", table, suffix_, columns, marks)};
  }

  void create_tables() {
    database_.exec(fmt::format(
        "CREATE TABLE \"{}{}\"(id INTEGER NOT NULL PRIMARY KEY, tag TEXT NOT NULL, value TEXT NOT "
        "NULL)",
        kMetadata, suffix_));
    for (const Table& table : kTables) {
      database_.exec(fmt::format(
          "CREATE TABLE \"{}{}\"(id INTEGER NOT NULL PRIMARY KEY, guid TEXT NOT NULL DEFAULT '{}', "
          "{})",
          table.name, suffix_, guid_, table.columns));
    }
    auto fact = into(kMetadata, "tag,value");
    fact("schema_version", "3");
    fact("uuid", suffix_);
    fact("guid", guid_);
  }

  // Nothing in the file names the machine or its user.
  void add_machine(std::int32_t pid) {
    into("rocpd_info_node", "id,hash,machine_id")(kOnly, 0, "");
    into("rocpd_info_process", "id,nid,pid,command")(kOnly, kOnly, pid, content_.title);
    into("rocpd_info_thread", "id,nid,pid,tid")(kOnly, kOnly, kOnly, pid);
    into("rocpd_info_queue", "id,nid,pid,name")(kOnly, kOnly, kOnly, "queue");
    into("rocpd_info_stream", "id,nid,pid,name")(kOnly, kOnly, kOnly, "stream");
    auto agent = into("rocpd_info_agent",
                      "nid,pid,type,absolute_index,logical_index,type_index,name,product_name,"
                      "user_name");
    std::vector<std::int32_t> numbers{0};
    for (const Stretch& stretch : domain_.stretches) numbers.push_back(stretch.agent);
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    // An agent that no kernel ran on is there for the sensor's readings alone.
    if (numbers.size() > 1 && std::ranges::none_of(domain_.stretches, [](const Stretch& stretch) {
          return stretch.agent == 0;
        })) {
      numbers.erase(numbers.begin());
    }
    for (const std::int32_t number : numbers) {
      agent(kOnly, kOnly, "GPU", number, number, number, content_.architecture, content_.title,
            content_.title);
      agents_[number] = database_.getLastInsertRowid();
    }
  }

  std::int64_t add_counter(const std::string& name, const std::string& unit,
                           const std::string& description) {
    into("rocpd_info_pmc",
         "nid,pid,agent_id,target_arch,name,symbol,description,component,units,value_type,block,"
         "expression,is_constant,is_derived")(kOnly, kOnly, agents_.begin()->second, "GPU", name,
                                              name, description, unit.empty() ? "" : "wirewatt",
                                              unit, "ABS", "", "", 0, 0);
    return database_.getLastInsertRowid();
  }

  void add_counters() {
    for (const std::string& name : content_.counters)
      counters_.push_back(add_counter(name, "", ""));
    constexpr std::array<std::pair<const char*, const char*>, 3> kBounds{
        {{"", ""},
         {"_LOWER", ", lower end of its 95% interval"},
         {"_UPPER", ", upper end of its 95% interval"}}};
    for (std::size_t s = 0; s < kEnergyNames.size(); ++s) {
      if (!content_.tracks[s]) continue;
      for (std::size_t bound = 0; bound < kBounds.size(); ++bound) {
        energies_[s][bound] =
            add_counter(std::string(kEnergyNames[s]) + kBounds[bound].first, "J",
                        fmt::format("Energy of the wires of {}{}; {}", *content_.tracks[s],
                                    kBounds[bound].second, content_.title));
      }
    }
  }

  std::int64_t string(const std::string& text) {
    const auto known = strings_.find(text);
    if (known != strings_.end()) return known->second;
    into("rocpd_string", "string")(text);
    return strings_[text] = database_.getLastInsertRowid();
  }

  void add_kernels() {
    into("rocpd_info_code_object", "id,nid,pid,agent_id")(kOnly, kOnly, kOnly,
                                                          agents_.begin()->second);
    auto kernel =
        into("rocpd_info_kernel_symbol", "id,nid,pid,code_object_id,kernel_name,display_name");
    std::int64_t row = 0;
    for (const std::string& name : content_.kernels) {
      kernel(++row, kOnly, kOnly, kOnly, name, name);
      names_.push_back(string(name));
    }
  }

  std::int64_t add_track(const std::string& name) {
    into("rocpd_track", "nid,pid,tid,name_id")(kOnly, kOnly, kOnly, string(name));
    return database_.getLastInsertRowid();
  }

  // Time without a known kernel is a sample at its end.
  void add_stretches() {
    auto event = into("rocpd_event", "id,category_id,correlation_id");
    auto value = into("rocpd_pmc_event", "event_id,pmc_id,value");
    auto sample = into("rocpd_sample", "track_id,timestamp,event_id,extdata");
    // A work-group's size is not in the counters. A size of 0 means that it is not known.
    auto dispatch = into("rocpd_kernel_dispatch",
                         "nid,pid,tid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,\"end"
                         "\",workgroup_size_x,workgroup_size_y,workgroup_size_z,grid_size_x,"
                         "grid_size_y,grid_size_z,region_name_id,event_id");
    const std::int64_t of_kernels = string("KERNEL_DISPATCH");
    std::optional<std::int64_t> track;
    for (const Stretch& stretch : domain_.stretches) {
      ++events_;
      event(events_, of_kernels, events_);
      if (stretch.kernel == Stretch::kNoKernel) {
        if (!track) track = add_track("wires");
        sample(*track, stretch.end_ns, events_, fmt::format("{{\"start\":{}}}", stretch.start_ns));
      } else {
        dispatch(kOnly, kOnly, kOnly, agents_.at(stretch.agent),
                 static_cast<std::int64_t>(stretch.kernel) + 1,
                 static_cast<std::int64_t>(stretch.dispatch), kOnly, kOnly, stretch.start_ns,
                 stretch.end_ns, 0, 0, 0, static_cast<std::int64_t>(stretch.grid_size.value_or(0)),
                 1, 1, names_[stretch.kernel], events_);
      }
      for (const CounterValue& counted : stretch.counters) {
        value(events_, counters_[counted.counter], counted.value);
      }
      for (std::size_t s = 0; s < energies_.size(); ++s) {
        if (!content_.tracks[s] || !stretch.energy_j[s]) continue;
        const model::Interval& joules = *stretch.energy_j[s];
        value(events_, energies_[s][0], joules.value);
        value(events_, energies_[s][1], joules.low);
        value(events_, energies_[s][2], joules.high);
      }
    }
  }

  void add_readings() {
    struct Quantity {
      const char* name;
      const char* unit;
      const char* description;
      std::optional<double> SensorPoint::*member;
    };
    constexpr std::array<Quantity, 3> kQuantities{
        {{"WIREWATT_DEVICE_POWER", "W", "Power of the device, by its sensor; ",
          &SensorPoint::power_w},
         {"WIREWATT_TEMPERATURE", "C", "Temperature, by the sensor; ", &SensorPoint::temperature_c},
         {"WIREWATT_CORE_CLOCK", "MHz", "Core clock; ", &SensorPoint::clock_mhz}}};
    auto event = into("rocpd_event", "id,category_id");
    auto value = into("rocpd_pmc_event", "event_id,pmc_id,value");
    auto sample = into("rocpd_sample", "track_id,timestamp,event_id");
    for (const Quantity& quantity : kQuantities) {
      std::int64_t counter = 0;
      std::int64_t track = 0;
      for (const SensorPoint& reading : domain_.readings) {
        const auto& read = reading.*quantity.member;
        if (!read) continue;
        if (counter == 0) {
          counter =
              add_counter(quantity.name, quantity.unit, quantity.description + content_.title);
          track = add_track(quantity.name);
        }
        event(++events_, string("SENSOR"));
        sample(track, reading.time_ns, events_);
        value(events_, counter, *read);
      }
    }
  }

  SQLite::Database& database_;
  const TraceContent& content_;
  const ClockDomain& domain_;
  std::string guid_, suffix_;
  std::map<std::int32_t, std::int64_t> agents_;  // number of a GPU: row
  std::map<std::string, std::int64_t> strings_;
  std::vector<std::int64_t> names_;                        // rows of the kernels' names
  std::vector<std::int64_t> counters_;                     // rows, by index of the counter
  std::array<std::array<std::int64_t, 3>, 3> energies_{};  // rows, by segment and bound
  std::int64_t events_{};
};

void fill(SQLite::Database& database, const TraceContent& content) {
  SQLite::Transaction transaction(database);
  std::vector<std::string> suffixes;
  std::int32_t number = 0;
  for (const auto& [process, domain] : content.domains) {
    suffixes.push_back(Set(database, content, process, domain, ++number).suffix());
  }
  const auto view = [&](const std::string& name) {
    std::string sql;
    for (const std::string& suffix : suffixes) {
      sql +=
          fmt::format("{}SELECT * FROM \"{}{}\"", sql.empty() ? "" : " UNION ALL ", name, suffix);
    }
    database.exec(fmt::format("CREATE VIEW \"{}\" AS {}", name, sql));
  };
  if (!suffixes.empty()) {
    view(kMetadata);
    for (const Table& table : kTables) view(table.name);
  }
  transaction.commit();
}

}  // namespace

Status write_database(const TraceContent& content, const std::filesystem::path& file) {
  WW_ASSIGN(folder, folder_for(file));
  const auto aside = folder.path() / "rocpd.db";
  try {
    SQLite::Database database(aside.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    // Nobody sees the file before it is whole: there is nothing to go back to.
    database.exec("PRAGMA journal_mode=OFF");
    database.exec("PRAGMA synchronous=OFF");
    fill(database, content);
  } catch (const SQLite::Exception& e) {
    return fail(ErrorCode::io_error, fmt::format("cannot write the database: {}", e.what()),
                file.string());
  }
  return place_file(aside, file);
}

}  // namespace ww::timeline
