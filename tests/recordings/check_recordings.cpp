// Prints what wirewatt finds in recordings from real GPUs beside what is known of them.
// check_recordings DATA          the recordings of DATA/README.md; exit code 1 if one is missed
// check_recordings --show PATH...  counter files, poll files and folders of sensor recordings of
//                                the same kinds, of which nothing is known
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/measure/recorded/units.hpp"
#include "ww/measure/sensor_response.hpp"

namespace {

using namespace ww;
using namespace ww::measure;

struct Row {
  std::string file, quantity, expected, found;
  std::optional<bool> right;  // nothing is known where absent
};

class Table {
 public:
  void add(Row row) {
    if (row.right) ++(*row.right ? right_ : wrong_);
    rows_.push_back(std::move(row));
  }
  void known(const std::string& file, const std::string& quantity, double expected,
             double tolerance, std::optional<double> found, const std::string& unit,
             const std::string& why_not) {
    Row row{file, quantity, fmt::format("{:.6g} +- {:.2g} {}", expected, tolerance, unit),
            found ? fmt::format("{:.6g} {}", *found, unit) : why_not, false};
    row.right = found && std::abs(*found - expected) <= tolerance;
    add(std::move(row));
  }
  int print() const {
    std::array<std::size_t, 4> width{};
    for (const Row& row : rows_) {
      width = {std::max(width[0], row.file.size()), std::max(width[1], row.quantity.size()),
               std::max(width[2], row.expected.size()), std::max(width[3], row.found.size())};
    }
    width[3] = std::min<std::size_t>(width[3], 60);
    for (const Row& row : rows_) {
      fmt::print("{:<{}}  {:<{}}  {:<{}}  {:<{}}  {}\n", row.file, width[0], row.quantity, width[1],
                 row.expected, width[2], row.found, width[3],
                 !row.right ? "" : (*row.right ? "ok" : "MISSED"));
    }
    fmt::print("{} found as known, {} missed\n", right_, wrong_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  std::vector<Row> rows_;
  int right_{}, wrong_{};
};

std::string shown(const SegmentBytes& bytes) {
  const auto note = bytes.reason.empty() ? "" : "; " + bytes.reason;
  if (bytes.bytes)
    return fmt::format("{:.0f} B, {}{}", *bytes.bytes, to_string(bytes.quality), note);
  if (bytes.upper_bytes) return fmt::format("at most {:.0f} B{}", *bytes.upper_bytes, note);
  return fmt::format("{}{}", to_string(bytes.status), note);
}

std::string shown(const SensorResponse& response, const UpdatePeriod& period) {
  if (response.kind == ResponseKind::not_resolved) return "not resolved: " + response.reason;
  auto text = fmt::format("{} {:.1f} ms ({:.1f}..{:.1f})", to_string(response.kind),
                          response.time_s * 1e3, response.low_s * 1e3, response.high_s * 1e3);
  if (response.seen(period) < 1) {
    text += fmt::format(", {:.0f}% of the time unseen", 100 * (1 - response.seen(period)));
  }
  return text;
}

std::string gain_of(const SensorResponse& response) {
  if (!response.gain) return "none: " + response.gain_reason;
  return fmt::format("{:.3f}, {:+.1f} W", *response.gain, *response.offset_w);
}

// Range over the dispatches that `counts` takes, against the known bytes within 0.5%.
void known_bytes(Table& table, const std::string& name, const CounterFile& file, Segment segment,
                 const std::function<double(const CounterDispatch&)>& known) {
  double low = 1e300, high = -1e300;
  std::size_t count = 0;
  std::string why;
  for (const CounterDispatch& dispatch : file.dispatches) {
    const double expected = known(dispatch);
    if (expected <= 0) continue;
    const auto all = segment_bytes(file.architecture, dispatch);
    const auto& bytes = *std::ranges::find(all, segment, &SegmentBytes::segment);
    if (!bytes.bytes) why = bytes.reason;
    const double off = bytes.bytes ? *bytes.bytes / expected - 1 : 1e300;
    low = std::min(low, off);
    high = std::max(high, off);
    ++count;
  }
  Row row{name, std::string(to_string(segment)), fmt::format("known bytes of {}, +-0.5%", count),
          why, count > 0 && why.empty() && std::max(-low, high) <= 0.005};
  if (why.empty()) row.found = fmt::format("{:+.2f}..{:+.2f}%", 100 * low, 100 * high);
  table.add(std::move(row));
}

void check_counters(Table& table, const std::string& data) {
  const std::map<std::string, std::optional<double>> vcopy = {
      {"MI100", 24800}, {"MI200", 20480}, {"MI300A_A1", {}}, {"MI300X_A1", {}}};
  for (const auto& [chip, duration_ns] : vcopy) {
    const auto file =
        read_counter_file(data + "/rocprofiler_compute_vcopy/" + chip + "/pmc_perf.csv");
    if (!file) {
      table.add({chip, "counters", "readable", file.error().text(), false});
      continue;
    }
    const auto all = [](const CounterDispatch&) { return 8388608.0; };
    const auto both = [](const CounterDispatch&) { return 16777216.0; };
    const bool dirty = !duration_ns ? false : true;
    known_bytes(table, chip, *file, Segment::l1_l2_read, all);
    known_bytes(table, chip, *file, Segment::l1_l2_write, all);
    known_bytes(table, chip, *file, Segment::l1_l2, both);
    known_bytes(table, chip, *file, Segment::l2_fill, both);
    known_bytes(table, chip, *file, Segment::l2_memory_read, all);
    // Dirty lines of dispatches 1 and 2 stay in the L2 of MI100 and MI200.
    known_bytes(table, chip, *file, Segment::l2_memory_write,
                [&](const CounterDispatch& d) { return dirty && d.id > 0 ? 0.0 : 8388608.0; });
    const auto& first = file->dispatches.at(0);
    if (duration_ns) {
      table.known(chip, "duration", *duration_ns, 0.5, first.duration_ns, "ns",
                  first.duration_reason);
    } else {
      table.add({chip, "duration", "refused", first.duration_reason, !first.duration_ns});
      const double dies = chip == "MI300A_A1" ? 6 : 8;
      table.known(chip, "cycles of a die", first.counters.at("GRBM_GUI_ACTIVE") / dies, 1,
                  elapsed_cycles(first), "", "no TCC_CYCLE");
    }
  }
  if (const auto file = read_counter_file(data + "/rocprof_v1_mixbench_mi200/pmc_perf.csv")) {
    const auto read = [](const CounterDispatch& d) {
      const auto at = d.kernel.find("benchmark_func<");
      if (at == std::string::npos) return 0.0;
      const auto type = d.kernel.substr(at + 15, d.kernel.find(", 256", at) - at - 15);
      const double size = type == "short" ? 2 : type == "double" || type.starts_with("HIP") ? 8 : 4;
      return *d.grid_size * 8 * size;
    };
    const auto long_read = [&](const CounterDispatch& d) {
      return d.kernel.find("<short") == std::string::npos ? read(d) : 0.0;
    };
    const auto fill = [](const CounterDispatch& d) {
      return d.kernel.starts_with("__amd_rocclr_fill") ? 268435456.0 : 0.0;
    };
    known_bytes(table, "mixbench", *file, Segment::l1_l2_read, read);
    known_bytes(table, "mixbench", *file, Segment::l2_memory_read, long_read);
    known_bytes(table, "mixbench", *file, Segment::l2_fill, long_read);
    known_bytes(table, "mixbench", *file, Segment::l1_l2_write, fill);
  } else {
    table.add({"mixbench", "counters", "readable", file.error().text(), false});
  }
  if (const auto file = read_counter_file(data + "/rocprofv3/sdk_docs_counter_collection.csv")) {
    const bool right = std::ranges::all_of(file->dispatches, [](const CounterDispatch& d) {
      return d.counters.at("SQ_WAVES") == *d.grid_size / 64;
    });
    table.add({"rocprofv3", "SQ_WAVES", "Grid_Size / 64", right ? "equal" : "differs", right});
  } else {
    table.add({"rocprofv3", "counters", "readable", file.error().text(), false});
  }
  if (const auto file = read_counter_file(data + "/ncu/superbench_cublaslt_ncu.log")) {
    const auto& dispatch = file->dispatches.at(0);
    table.known("ncu", "duration", 406240, 0.5, dispatch.duration_ns, "ns", "");
    for (const SegmentBytes& bytes : segment_bytes(file->architecture, dispatch)) {
      table.add({"ncu", std::string(to_string(bytes.segment)), "not available", shown(bytes),
                 bytes.status == RowStatus::unavailable && !bytes.bytes});
    }
  } else {
    table.add({"ncu", "counters", "readable", file.error().text(), false});
  }
}

struct KnownSensor {
  std::string folder, column;
  double period_ms, period_tolerance_ms;
  ResponseKind kind;
  double low_ms, high_ms;
  double gain, gain_tolerance;  // gain 0: none may be given
};

void check_sensors(Table& table, const std::string& data) {
  constexpr auto window = ResponseKind::window;
  const KnownSensor sensors[] = {
      {"A100_5050", "power.draw", 101.22, 0.5, window, 20, 30, 0, 0},
      {"A100_5050", "power.draw.instant", 101.22, 0.5, window, 20, 30, 0, 0},
      {"3090_5050", "power.draw.instant", 99.97, 0.5, window, 95, 105, 0.957, 0.015},
      {"3090_5050", "power.draw.average", 99.97, 0.5, window, 950, 1150, 0.97, 0.03},
      {"4090_TR", "power.draw", 99.98, 0.5, window, 90, 115, 1.048, 0.01},
      {"K40m_TR", "power.draw", 15.41, 0.154, ResponseKind::lag, 45, 60, 1.020, 0.01},
  };
  for (const KnownSensor& known : sensors) {
    const auto name = known.folder + " " + known.column;
    const auto recording = read_sensor_recording(data + "/gpu_power_benchmark/" + known.folder);
    if (!recording) {
      table.add({name, "recording", "readable", recording.error().text(), false});
      continue;
    }
    const auto column = std::ranges::find(recording->columns, known.column, &PollColumn::name);
    if (column == recording->columns.end()) {
      table.add({name, "column", "present", "absent", false});
      continue;
    }
    const auto period = find_update_period(column->polls);
    const auto readings = refreshes(column->polls, period);
    const auto response = fit_response(readings, period, recording->meter);
    const auto stepped = fit_response_to_load(readings, period, recording->switches);
    const auto within = [&](const SensorResponse& r) {
      return r.kind == known.kind && r.time_s * 1e3 >= known.low_ms &&
             r.time_s * 1e3 <= known.high_ms;
    };
    const auto expected =
        fmt::format("{} {} to {} ms", to_string(known.kind), known.low_ms, known.high_ms);
    table.known(name, "update period", known.period_ms, known.period_tolerance_ms,
                period.resolved ? std::optional(period.period_s * 1e3) : std::nullopt, "ms",
                period.reason);
    table.add({name, "response, by meter", expected, shown(response, period), within(response)});
    table.add({name, "response, by load alone", expected + " or not resolved",
               shown(stepped, period),
               within(stepped) || stepped.kind == ResponseKind::not_resolved});
    if (known.gain == 0) {
      table.add({name, "gain, offset", "none from this run", gain_of(response), !response.gain});
    } else {
      table.add({name, "gain, offset",
                 fmt::format("gain {} +- {}", known.gain, known.gain_tolerance), gain_of(response),
                 response.gain && std::abs(*response.gain - known.gain) <= known.gain_tolerance});
    }
    for (const SteadyError& error :
         steady_errors(readings, recording->meter, recording->switches, response)) {
      table.add({name,
                 error.what,
                 "",
                 fmt::format("{:+.1f}% at {:.0f} W", 100 * error.relative(), error.meter_w),
                 {}});
    }
  }
  for (const auto& [card, period_ms] :
       {std::pair{"A100", 101.16}, std::pair{"V100", 20.04}, std::pair{"3090", 99.97}}) {
    const auto path =
        fmt::format("{}/gpu_power_benchmark/pwr_update_freq_{}_first30s.csv", data, card);
    const auto text = read_file(path);
    const auto columns = text ? parse_polls(*text, path) : tl::unexpected(text.error());
    if (!columns) {
      table.add({card, "polls", "readable", columns.error().text(), false});
      continue;
    }
    for (const PollColumn& column : *columns) {
      const auto period = find_update_period(column.polls);
      table.known(fmt::format("pwr_update_freq {} {}", card, column.name), "update period",
                  period_ms, std::min(0.5, 0.01 * period_ms),
                  period.resolved ? std::optional(period.period_s * 1e3) : std::nullopt, "ms",
                  period.reason);
    }
  }
}

// Empty where the file cannot be read.
SensorRecording table_of(const std::string& path) {
  const auto text = read_file(path);
  const auto recording = text ? parse_power_table(*text, path) : tl::unexpected(text.error());
  return recording.value_or(SensorRecording{});
}

// An MI250X's own counter against the node's meter before the card. Which of both loaded dies is
// the metered card's, the recording does not say.
void check_mi250x(Table& table, const std::string& data) {
  const std::string folder = data + "/amd_sensor_mi250x/rank0_";
  const SensorRecording node = table_of(folder + "craypm.csv");
  const SensorRecording card = table_of(folder + "energy.csv");
  const auto metered =
      std::ranges::find(node.counters, std::string("accel0_energy_j"), &EnergyColumn::name);
  PowerSeries meter;
  if (metered != node.counters.end()) meter = mean_power(*metered);
  meter.start_s += node.zero_s - card.zero_s;
  for (const char* die : {"dev0_uj", "dev2_uj"}) {
    Row row{"MI250X " + std::string(die, 4), "meter over counter, joules", "1.05 to 1.06",
            "not readable", false};
    const auto counter = std::ranges::find(card.counters, std::string(die), &EnergyColumn::name);
    if (counter != card.counters.end()) {
      if (const auto gain = compare_with_meter(*counter, meter)) {
        row.found = fmt::format("{:.4f} (sd {:.3f}), of changes {:.3f} (sd {:.3f})", gain->ratio,
                                gain->ratio_sd, gain->slope.value_or(0), gain->slope_sd);
        row.right = gain->ratio >= 1.045 && gain->ratio < 1.065;
      }
    }
    table.add(std::move(row));
  }
}

void show_columns(Table& table, const std::string& path, const SensorRecording& recording) {
  for (const PollColumn& column : recording.columns) {
    const auto name = path + " " + column.name;
    const auto period = find_update_period(column.polls);
    const auto readings = refreshes(column.polls, period);
    const auto response = fit_response(readings, period, recording.meter);
    table.add({name,
               "update period",
               "",
               period.resolved ? fmt::format("{:.2f} ms", period.period_s * 1e3)
                               : "not resolved: " + period.reason,
               {}});
    table.add({name, "response, by meter", "", shown(response, period), {}});
    table.add({name,
               "response, by load alone",
               "",
               shown(fit_response_to_load(readings, period, recording.switches), period),
               {}});
    table.add({name, "gain, offset", "", gain_of(response), {}});
    if (!response.note.empty()) table.add({name, "note", "", response.note, {}});
    for (const SteadyError& error :
         steady_errors(readings, recording.meter, recording.switches, response)) {
      table.add({name,
                 error.what,
                 "",
                 fmt::format("{:+.1f}% at {:.0f} W", 100 * error.relative(), error.meter_w),
                 {}});
    }
  }
}

void show(Table& table, const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    const auto recording = read_sensor_recording(path);
    if (!recording) return table.add({path, "recording", "", recording.error().text(), {}});
    return show_columns(table, path, *recording);
  }
  const auto text = read_file(path);
  if (!text) return table.add({path, "file", "", text.error().text(), {}});
  auto columns = parse_polls(*text, path);
  if (columns) return show_columns(table, path, {std::move(*columns), {}, {}});
  // Polls, then, but not to be read.
  if (columns.error().code != ErrorCode::unsupported && !text->empty()) {
    return table.add({path, "polls", "", columns.error().text(), {}});
  }
  const auto file = read_counter_file(path);
  if (!file) return table.add({path, "counters", "", file.error().text(), {}});
  for (const CounterDispatch& dispatch : file->dispatches) {
    const auto name = fmt::format("{} {}", dispatch.id, dispatch.kernel.substr(0, 40));
    table.add({name,
               "duration",
               "",
               dispatch.duration_ns ? fmt::format("{:.0f} ns", *dispatch.duration_ns)
                                    : dispatch.duration_reason,
               {}});
    for (const SegmentBytes& bytes : segment_bytes(file->architecture, dispatch)) {
      table.add({name, std::string(to_string(bytes.segment)), "", shown(bytes), {}});
    }
    for (const PassDisagreement& two : pass_disagreements(dispatch)) {
      if (std::abs(two.relative()) < 0.005) continue;
      table.add({name,
                 two.counter,
                 "",
                 fmt::format("passes disagree by {:+.1f}%", 100 * two.relative()),
                 {}});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Table table;
  if (argc > 2 && std::strcmp(argv[1], "--show") == 0) {
    for (int i = 2; i < argc; ++i) show(table, argv[i]);
    return table.print();
  }
  if (argc != 2 || argv[1][0] == '-') {
    fmt::print(stderr, "usage: check_recordings DATA | check_recordings --show PATH...\n");
    return 2;
  }
  if (!std::filesystem::exists(argv[1])) {
    fmt::print(stderr, "no recordings at {}\n", argv[1]);
    return 3;
  }
  check_counters(table, argv[1]);
  check_sensors(table, argv[1]);
  check_mi250x(table, argv[1]);
  return table.print();
}
