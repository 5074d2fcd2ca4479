// hwmon, gpu_metrics and pm_metrics of the amdgpu driver as a source of power.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <limits>
#include <optional>

#include "hwmon_power.hpp"
#include "rail_log.hpp"
#include "sensor/sysfs/no_reading.hpp"
#include "sensor/sysfs/pm_metrics.hpp"
#include "sysfs_file.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/gpu_metrics.hpp"
#include "ww/measure/sampler.hpp"

namespace ww::measure {
namespace {

std::optional<std::int32_t> narrow(std::optional<std::int64_t> value) {
  if (!value || *value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    return {};
  }
  return static_cast<std::int32_t>(*value);
}

// Limits that a package counts instead of flagging: which of them grew between two tables.
class LimitCounts {
 public:
  // Bits as amd_throttle_text() names them; absent where the table counts no limits, or is the
  // first.
  std::optional<std::uint64_t> grown(const GpuMetrics& table) {
    constexpr std::uint64_t power = 1, temperature = 1ULL << 32, other = 1ULL << 56;
    const Counts now{table.power_limited, table.thermally_limited, table.otherwise_limited};
    const Counts before = std::exchange(last_, now);
    if (!now.power || !before.power) return {};
    const auto bit = [](const auto& later, const auto& earlier, std::uint64_t mask) {
      return later && earlier && *later > *earlier ? mask : 0;
    };
    return bit(now.power, before.power, power) | bit(now.thermal, before.thermal, temperature) |
           bit(now.other, before.other, other);
  }

 private:
  struct Counts {
    std::optional<std::int64_t> power, thermal, other;
  };
  Counts last_;
};

class AmdSysfs final : public PowerSource {
 public:
  explicit AmdSysfs(const AmdGpu& gpu) : gpu_(gpu) {
    facts_.name = fmt::format("amdgpu files of {}", gpu.name);
    const auto in = [](const std::string& folder, const std::string& name) {
      return folder.empty() ? std::string() : folder + "/" + name;
    };
    const auto hwmon = [&](const std::string& name) { return in(gpu.hwmon, name); };
    // Power and energy of a package are at the die that holds its sensor.
    const bool elsewhere = gpu.other_die && gpu.other_die->holds_sensor;
    const std::string& power_folder = elsewhere ? gpu.other_die->hwmon : gpu.hwmon;
    const std::string& table_folder = elsewhere ? gpu.other_die->folder : gpu.folder;
    open(instant_, in(power_folder, "power1_input"), "power_instant");
    open(average_, in(power_folder, "power1_average"), "power_average");
    open(metrics_, table_folder + "/gpu_metrics", "gpu_metrics");
    if (access((table_folder + "/pm_metrics").c_str(), F_OK) == 0) {
      open(package_, table_folder + "/pm_metrics", "pm_metrics");
    } else if (!gpu.hsmp.empty()) {
      open(package_, gpu.hsmp + "/metrics_bin", "hsmp");
    }
    for (int i = 1; i <= 3; ++i) {
      const auto label = file_text(hwmon(fmt::format("temp{}_label", i)));
      const auto input = hwmon(fmt::format("temp{}_input", i));
      if (label == "edge" || (label.empty() && i == 1)) open(edge_, input, "temperature_edge");
      if (label == "junction") open(junction_, input, "temperature_junction");
      if (label == "mem") open(memory_, input, "temperature_memory");
    }
    for (int i = 0; i <= 1; ++i) {
      if (file_text(hwmon(fmt::format("in{}_label", i))) == "vddgfx") {
        open(voltage_, hwmon(fmt::format("in{}_input", i)), "voltage");
      }
    }
    for (int i = 1; i <= 2; ++i) {
      const auto label = file_text(hwmon(fmt::format("freq{}_label", i)));
      const auto input = hwmon(fmt::format("freq{}_input", i));
      if (label == "sclk") open(clock_, input, "clock");
      if (label == "mclk") open(memory_clock_, input, "memory_clock");
    }
    if (!clock_.is_open()) open(level_, gpu.folder + "/pp_dpm_sclk", "clock");
    settle_metrics();
    std::ranges::move(package_fields(gpu, table_ && table_->apu), std::back_inserter(fields_));
    settle_package();
    facts_.power_resolution_w = table_ && table_->power_in_watts ? 1.0 : 1e-6;
    facts_.temperature_resolution_c = 1.0;
    find_slow_reads();
  }

  [[nodiscard]] bool useful() const { return power_ != Power::none || has_energy_; }
  const SensorFacts& facts() const override { return facts_; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  std::string power_name() const override { return name_of(power_); }
  std::string second_power_name() const override { return name_of(second_); }
  std::string throttle_text(std::uint64_t bits) const override { return amd_throttle_text(bits); }
  std::vector<RailReading> take_rails() override { return rails_.take(); }

  void read_fast(RawReading& reading) override {
    table_.reset();
    if (has_energy_ || needs_table(power_) || needs_table(second_)) read_table();
    reading.power_uw = power(power_);
    reading.second_power_uw = power(second_);
    if (table_ && has_energy_) reading.energy_ticks = table_->energy_ticks;
    // The table is here anyway, and a run's temperature is a mean of whole degrees.
    if (table_) take_temperatures(reading);
  }

  void read_slow(RawReading& reading) override {
    const bool in_every_reading = table_.has_value();
    if (!table_ && metrics_.is_open()) read_table();
    read_files(reading);
    read_rails();
    if (!table_) return;
    // Takes all from one source: the files need not round equally.
    if (in_every_reading) take_temperatures(reading);
    if (is_own_table()) {
      fill(reading.edge_mc, table_->edge_mc);
      fill(reading.junction_mc, table_->junction_mc);
      fill(reading.memory_mc, table_->memory_mc);
      fill(reading.voltage_uv, table_->voltage_uv);
      fill(reading.clock_khz, table_->clock_khz);
      fill(reading.memory_clock_khz, table_->memory_clock_khz);
    }
    reading.throttle = table_->throttle ? table_->throttle : limits_.grown(*table_);
  }

 private:
  enum class Power { none, input_file, average_file, table_current, table_average };

  static std::string name_of(Power power) {
    switch (power) {
      case Power::none: return "";
      case Power::input_file: return "power1_input";
      case Power::average_file: return "power1_average";
      case Power::table_current: return "gpu_metrics current power";
      case Power::table_average: return "gpu_metrics average power";
    }
    return "";
  }
  template <class Field, class Value>
  static void fill(Field& field, const Value& value) {
    if (!field) field = value;
  }
  // The table is the other die's where that one holds the sensor.
  [[nodiscard]] bool is_own_table() const {
    return !gpu_.other_die || !gpu_.other_die->holds_sensor;
  }
  void take_temperatures(RawReading& reading) const {
    if (!is_own_table()) return;
    const auto take = [](auto& field, const auto& value) {
      if (value) field = value;
    };
    take(reading.edge_mc, table_->edge_mc);
    take(reading.junction_mc, table_->junction_mc);
    take(reading.memory_mc, table_->memory_mc);
  }
  static bool needs_table(Power power) {
    return power == Power::table_current || power == Power::table_average;
  }

  void open(SysfsFile& file, const std::string& path, const std::string& field) {
    if (path.empty()) {
      fields_.push_back({field, FieldStatus::missing, "the driver has no hwmon folder"});
      return;
    }
    file = SysfsFile(path);
    fields_.push_back(file.state(field));
  }

  void settle_metrics() {
    std::string no_energy = "no gpu_metrics that can be read";
    if (metrics_.is_open()) {
      auto& state = *std::ranges::find(fields_, "gpu_metrics", &FieldState::name);
      const auto bytes = metrics_.read_bytes();
      if (!bytes.empty()) {
        auto table = parse_gpu_metrics(bytes, metrics_.path());
        if (table) {
          table_ = *table;
          state.reason = fmt::format("{}, layout {}", metrics_.path(), table_->layout);
          no_energy = energy_obstacle();
          if (table_->apu) metrics_.open_every_time();
        } else {
          state.status = FieldStatus::failed;
          state.reason = table.error().text();
          metrics_ = SysfsFile();
        }
      }
    }
    has_energy_ = no_energy.empty();
    if (has_energy_) {
      fields_.push_back({"energy", FieldStatus::ok, metrics_.path()});
    } else {
      fields_.push_back({"energy", FieldStatus::missing, no_energy});
    }
    choose_power();
  }

  // Why the table's energy cannot be used; empty where it can.
  [[nodiscard]] std::string energy_obstacle() const {
    if (!table_->energy_ticks) {
      return fmt::format("layout {} has no energy counter, or it stands at a value that means none",
                         table_->layout);
    }
    // Only packages of Instinct parts have the later tables.
    const bool package =
        table_->layout.starts_with("v1.") && table_->layout.substr(3) >= std::string_view("4");
    return package ? std::string() : amd_energy_doubt(gpu_);
  }

  void choose_power() {
    if (table_ && table_->layout == "v3.0") {
      hwmon_power_ = HwmonPower(HwmonPower::Fraction::hundredths);
    }
    const auto instant = instant_.read_number();
    const auto average = average_.read_number();
    std::vector<Power> there;
    // An APU's table counts mW, its files less.
    const bool apu_power = table_ && table_->apu && table_->average_power_uw.value_or(0) > 0;
    if (apu_power) there.push_back(Power::table_average);
    // A file that reads 0 beside one that does not has no sensor behind it.
    if (instant && (*instant != 0 || average.value_or(0) == 0)) there.push_back(Power::input_file);
    if (table_ && table_->current_power_uw && there.empty()) there.push_back(Power::table_current);
    if (average && (*average != 0 || there.empty())) there.push_back(Power::average_file);
    if (table_ && table_->average_power_uw && there.empty()) there.push_back(Power::table_average);
    if (!there.empty()) power_ = there[0];
    if (there.size() > 1) second_ = there[1];
    if (apu_power && table_->power_in_watts) {
      fields_.push_back({"power_unit", FieldStatus::ok,
                         metrics_.path() + " gives whole watts, where the driver's structure says "
                                           "milliwatts"});
    }
  }

  void settle_package() {
    if (!package_.is_open()) return;
    by_hsmp_ = !package_.path().ends_with("/pm_metrics");
    auto& state = *std::ranges::find(fields_, by_hsmp_ ? "hsmp" : "pm_metrics", &FieldState::name);
    const auto table = package_table();
    if (table) {
      state.reason = fmt::format("{}, table {}, firmware {:#x}", package_.path(), table->layout,
                                 table->firmware);
      if (by_hsmp_) state.reason = package_.path() + ", protocol 6";
    } else {
      state.status = FieldStatus::failed;
      state.reason = table.error().text();
      package_ = SysfsFile();
    }
  }
  Result<PmMetrics> package_table() {
    if (!by_hsmp_) {
      return parse_pm_metrics(package_.read_bytes(), package_.path(), is_mi300a(gpu_));
    }
    // Older kernels do not report the protocol; the table's size does then.
    const std::string protocol = file_text(gpu_.hsmp + "/protocol_version");
    if (!protocol.empty() && protocol != "6") {
      return fail(ErrorCode::unsupported,
                  "HSMP protocol " + protocol + " is not known; that of MI300A is 6",
                  package_.path());
    }
    return parse_hsmp_table(package_.read_bytes(), package_.path());
  }

  // Some drivers wait half a second for the firmware at each read, and others answer at once.
  void find_slow_reads() {
    using Clock = std::chrono::steady_clock;
    const auto before = Clock::now();
    RawReading reading;
    read_fast(reading);
    const double took_s = std::chrono::duration<double>(Clock::now() - before).count();
    constexpr double slow_s = 0.02;
    if (took_s < slow_s) return;
    facts_.stated_period_s = took_s;
    fields_.push_back({"reads", FieldStatus::ok,
                       fmt::format("one reading of power takes {:.0f} ms: the driver waits for the "
                                   "firmware",
                                   took_s * 1e3)});
  }

  void read_table() {
    auto table = parse_gpu_metrics(metrics_.read_bytes(), metrics_.path());
    if (table) table_ = *table;
  }

  void read_files(RawReading& reading) {
    reading.edge_mc = edge_.is_open() ? narrow(edge_.read_number()) : std::nullopt;
    reading.junction_mc = junction_.is_open() ? narrow(junction_.read_number()) : std::nullopt;
    reading.memory_mc = memory_.is_open() ? narrow(memory_.read_number()) : std::nullopt;
    if (const auto mv = voltage_.is_open() ? voltage_.read_number() : std::nullopt) {
      reading.voltage_uv = narrow(*mv * 1000);
    }
    if (const auto hz = clock_.is_open() ? clock_.read_number() : std::nullopt) {
      reading.clock_khz = narrow(*hz / 1000);
    } else if (level_.is_open()) {
      reading.clock_khz = marked_level();
    }
    if (const auto hz = memory_clock_.is_open() ? memory_clock_.read_number() : std::nullopt) {
      reading.memory_clock_khz = narrow(*hz / 1000);
    }
    drop_empty(reading);  // the table fills in what the files have not
  }

  // The accumulators as the firmware has them. Which of two files gives the socket's energy does
  // not matter to the campaign: both say when they were filled.
  void read_rails() {
    std::vector<RailReading> readings;
    const std::int64_t now = steady_now_ns();
    const auto add = [&](const std::string& rail, const char* unit,
                         const std::optional<std::int64_t>& value,
                         const std::optional<std::int64_t>& source_ns) {
      if (value) readings.push_back({now, source_ns, rail, unit, *value});
    };
    if (package_.is_open()) {
      if (const auto table = package_table()) {
        constexpr const char* ticks = "2^-16 J";
        add("socket_energy", ticks, table->socket_ticks, table->timestamp_ns);
        add("ccd_energy", ticks, table->ccd_ticks, table->timestamp_ns);
        add("xcd_energy", ticks, table->xcd_ticks, table->timestamp_ns);
        add("aid_energy", ticks, table->aid_ticks, table->timestamp_ns);
        add("hbm_energy", ticks, table->hbm_ticks, table->timestamp_ns);
      }
    }
    if (table_) {
      for (std::size_t link = 0; link < GpuMetrics::most_links; ++link) {
        add(fmt::format("xgmi_read_{}", link), "kB", table_->xgmi_read_kb[link],
            table_->firmware_ns);
        add(fmt::format("xgmi_write_{}", link), "kB", table_->xgmi_write_kb[link],
            table_->firmware_ns);
      }
    }
    if (!readings.empty()) rails_.add(std::move(readings));
  }

  std::optional<std::int64_t> power(Power from) {
    const auto in_file = [this](SysfsFile& file) {
      auto number = file.read_number();
      if (number) number = hwmon_power_.microwatts(*number);
      return number;
    };
    switch (from) {
      case Power::none: return {};
      case Power::input_file: return in_file(instant_);
      case Power::average_file: return in_file(average_);
      case Power::table_current: return table_ ? table_->current_power_uw : std::nullopt;
      case Power::table_average: return table_ ? table_->average_power_uw : std::nullopt;
    }
    return {};
  }

  // "1: 1000Mhz *" among the lines of pp_dpm_sclk.
  std::optional<std::int32_t> marked_level() {
    const auto text = level_.read();
    const auto mark = text.find('*');
    if (mark == std::string_view::npos) return {};
    const auto line = text.rfind('\n', mark);
    auto level = text.substr(line == std::string_view::npos ? 0 : line + 1);
    level.remove_prefix(std::min(level.find(':') + 1, level.size()));
    while (level.starts_with(' ')) level.remove_prefix(1);
    std::int32_t mhz = 0;
    if (std::from_chars(level.data(), level.data() + level.size(), mhz).ec != std::errc{})
      return {};
    return mhz * 1000;
  }

  AmdGpu gpu_;
  SensorFacts facts_;
  std::vector<FieldState> fields_;
  SysfsFile instant_, average_, metrics_, package_;
  SysfsFile edge_, junction_, memory_, voltage_, clock_, memory_clock_, level_;
  std::optional<GpuMetrics> table_;
  HwmonPower hwmon_power_;
  LimitCounts limits_;
  RailLog rails_;
  bool has_energy_{};
  bool by_hsmp_{};  // the package's table is that of its CPU side
  Power power_{Power::none}, second_{Power::none};
};

}  // namespace

Status other_die_idles(const AmdGpu& gpu) {
  if (!gpu.other_die) return {};
  constexpr std::int64_t most_percent = 2;
  const auto busy = SysfsFile(gpu.other_die->folder + "/gpu_busy_percent").read_number();
  if (!busy || *busy <= most_percent) return {};
  return fail(
      ErrorCode::device_error,
      fmt::format("the other die of this package ({}) is {}% busy, and the one power sensor "
                  "measures both; stop what runs there",
                  to_string(gpu.other_die->pci), *busy),
      to_string(gpu.pci));
}

Result<std::unique_ptr<PowerSource>> open_amd_sysfs(const AmdGpu& gpu) {
  WW_TRY(wake_amd_gpu(gpu));
  if (!gpu.no_other_die.empty()) {
    return fail(ErrorCode::unsupported, gpu.no_other_die, to_string(gpu.pci));
  }
  auto source = std::make_unique<AmdSysfs>(gpu);
  if (source->useful()) return source;
  std::string why;
  bool denied = false;
  for (const FieldState& field : source->fields()) {
    if (!field.name.starts_with("power") && field.name != "gpu_metrics") continue;
    if (!why.empty()) why += "; ";
    why += field.reason;
    denied = denied || field.status == FieldStatus::denied;
  }
  return fail(denied ? ErrorCode::permission_denied : ErrorCode::not_found,
              "the driver's files report neither power nor energy: " + why, to_string(gpu.pci));
}

}  // namespace ww::measure
