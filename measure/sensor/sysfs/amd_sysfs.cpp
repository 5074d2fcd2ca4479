#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include "sysfs_file.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/gpu_metrics.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

bool is_card(const std::string& name) {
  return name.starts_with("card") && name.size() > 4 &&
         std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::optional<std::int32_t> narrow(std::optional<std::int64_t> value) {
  if (!value || *value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    return {};
  }
  return static_cast<std::int32_t>(*value);
}

class AmdSysfs final : public PowerSource {
 public:
  explicit AmdSysfs(const AmdGpu& gpu) {
    facts_.name = fmt::format("amdgpu files of {}", gpu.name);
    const auto hwmon = [&gpu](const std::string& name) {
      return gpu.hwmon.empty() ? std::string() : gpu.hwmon + "/" + name;
    };
    open(instant_, hwmon("power1_input"), "power_instant");
    open(average_, hwmon("power1_average"), "power_average");
    open(metrics_, gpu.folder + "/gpu_metrics", "gpu_metrics");
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
    facts_.power_resolution_w = 1e-6;
    facts_.temperature_resolution_c = 1.0;
  }

  [[nodiscard]] bool useful() const { return power_ != Power::none || has_energy_; }
  const SensorFacts& facts() const override { return facts_; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  std::string power_name() const override { return name_of(power_); }
  std::string second_power_name() const override { return name_of(second_); }
  std::string throttle_text(std::uint64_t bits) const override { return amd_throttle_text(bits); }

  void read_fast(RawReading& reading) override {
    table_.reset();
    if (has_energy_ || needs_table(power_) || needs_table(second_)) read_table();
    reading.power_uw = power(power_);
    reading.second_power_uw = power(second_);
    if (table_) reading.energy_ticks = table_->energy_ticks;
  }

  void read_slow(RawReading& reading) override {
    if (!table_ && metrics_.is_open()) read_table();
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
    if (!table_) return;
    const auto fill = [](auto& field, const auto& value) {
      if (!field) field = value;
    };
    fill(reading.edge_mc, table_->edge_mc);
    fill(reading.junction_mc, table_->junction_mc);
    fill(reading.memory_mc, table_->memory_mc);
    fill(reading.voltage_uv, table_->voltage_uv);
    fill(reading.clock_khz, table_->clock_khz);
    fill(reading.memory_clock_khz, table_->memory_clock_khz);
    reading.throttle = table_->throttle;
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
    if (metrics_.is_open()) {
      auto& state = *std::ranges::find(fields_, "gpu_metrics", &FieldState::name);
      const auto bytes = metrics_.read_bytes();
      if (!bytes.empty()) {
        auto table = parse_gpu_metrics(bytes, metrics_.path());
        if (table) {
          table_ = std::move(*table);
          state.reason = fmt::format("{}, layout {}", metrics_.path(), table_->layout);
        } else {
          state.status = FieldStatus::failed;
          state.reason = table.error().text();
          metrics_ = SysfsFile();
        }
      }
    }
    has_energy_ = table_ && table_->energy_ticks;
    if (has_energy_) {
      fields_.push_back({"energy", FieldStatus::ok, metrics_.path()});
    } else {
      fields_.push_back({"energy", FieldStatus::missing,
                         table_ ? fmt::format("layout {} has no energy counter", table_->layout)
                                : "no gpu_metrics that can be read"});
    }
    std::vector<Power> there;
    if (instant_.read_number()) there.push_back(Power::input_file);
    if (table_ && table_->current_power_uw && there.empty()) there.push_back(Power::table_current);
    if (average_.read_number()) there.push_back(Power::average_file);
    if (table_ && table_->average_power_uw && there.empty()) there.push_back(Power::table_average);
    if (!there.empty()) power_ = there[0];
    if (there.size() > 1) second_ = there[1];
  }

  void read_table() {
    auto table = parse_gpu_metrics(metrics_.read_bytes(), metrics_.path());
    if (table) table_ = std::move(*table);
  }

  std::optional<std::int64_t> power(Power from) {
    switch (from) {
      case Power::none: return {};
      case Power::input_file: return instant_.read_number();
      case Power::average_file: return average_.read_number();
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

  SensorFacts facts_;
  std::vector<FieldState> fields_;
  SysfsFile instant_, average_, metrics_;
  SysfsFile edge_, junction_, memory_, voltage_, clock_, memory_clock_, level_;
  std::optional<GpuMetrics> table_;
  bool has_energy_{};
  Power power_{Power::none}, second_{Power::none};
};

class AmdClocks final : public ClockControl {
 public:
  AmdClocks(const AmdGpu& gpu, std::vector<DvfsState> states, std::string before,
            std::unique_ptr<ClockGuardian> guardian)
      : level_file_(gpu.folder + "/power_dpm_force_performance_level"),
        clock_file_(gpu.folder + "/pp_dpm_sclk"),
        states_(std::move(states)),
        before_(std::move(before)),
        guardian_(std::move(guardian)) {}
  ~AmdClocks() override { static_cast<void>(restore()); }

  const std::vector<DvfsState>& states() const override { return states_; }
  int current() const override { return selected_; }
  Status select(int state) override {
    if (state < 0 || static_cast<std::size_t>(state) >= states_.size()) {
      return fail(ErrorCode::out_of_range, fmt::format("no clock state {}", state), clock_file_);
    }
    if (selected_ < 0) {
      WW_TRY(guardian_->arm({RestoreAction::Kind::write_file, level_file_, before_}));
      if (auto done = write_file(level_file_, "manual"); !done) {
        guardian_->disarm();
        return done;
      }
    }
    if (auto done = write_file(clock_file_, std::to_string(state)); !done) {
      if (selected_ < 0) {
        selected_ = 0;  // the level was changed
        static_cast<void>(restore());
      }
      return done;
    }
    selected_ = state;
    return {};
  }
  Status restore() override {
    if (selected_ < 0) return {};
    WW_TRY(write_file(level_file_, before_));
    selected_ = -1;
    guardian_->disarm();
    return {};
  }

 private:
  std::string level_file_, clock_file_;
  std::vector<DvfsState> states_;
  std::string before_;
  std::unique_ptr<ClockGuardian> guardian_;
  int selected_{-1};
};

// "0: 500Mhz", "1: 1700Mhz *", one a line.
std::vector<DvfsState> clock_levels(std::string_view text) {
  std::vector<DvfsState> states;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('S')) continue;  // "S:" is asleep
    line.remove_prefix(colon + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    double mhz = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), mhz).ec != std::errc{}) continue;
    states.push_back({0.0, mhz * 1e6});
  }
  return states;
}

}  // namespace

std::vector<AmdGpu> list_amd_gpus(const std::string& sysfs) {
  std::vector<AmdGpu> gpus;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(sysfs + "/class/drm", ec)) {
    if (!is_card(entry.path().filename().string())) continue;
    const auto folder = fs::canonical(entry.path() / "device", ec);
    if (ec || file_text((folder / "vendor").string()) != "0x1002") continue;
    AmdGpu gpu;
    gpu.folder = folder.string();
    const auto address = parse_pci_address(folder.filename().string());
    if (!address) continue;
    gpu.pci = *address;
    gpu.device_id = file_text(gpu.folder + "/device");
    gpu.name = file_text(gpu.folder + "/product_name");
    if (gpu.name.empty()) gpu.name = fmt::format("AMD GPU {}", gpu.device_id);
    for (const auto& hwmon : fs::directory_iterator(folder / "hwmon", ec)) {
      const auto path = hwmon.path().string();
      if (gpu.hwmon.empty() || file_text(path + "/name") == "amdgpu") gpu.hwmon = path;
    }
    for (const auto& node : fs::directory_iterator(folder / "drm", ec)) {
      const auto name = node.path().filename().string();
      if (name.starts_with("renderD")) gpu.render = name;
    }
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &AmdGpu::pci);
  return gpus;
}

Result<std::unique_ptr<PowerSource>> open_amd_sysfs(const AmdGpu& gpu) {
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

Result<std::unique_ptr<ClockControl>> open_amd_clock_control(
    const AmdGpu& gpu, std::unique_ptr<ClockGuardian> guardian) {
  const auto level_file = gpu.folder + "/power_dpm_force_performance_level";
  const auto before = file_text(level_file);
  if (before.empty()) {
    return fail(ErrorCode::unsupported, "the driver offers no control of clocks", level_file);
  }
  if (before == "manual") {
    return fail(ErrorCode::unsupported,
                "somebody fixed the clocks by hand, and how cannot be read back; give them free "
                "first: echo auto | sudo tee " +
                    level_file,
                level_file);
  }
  auto states = clock_levels(file_text(gpu.folder + "/pp_dpm_sclk"));
  if (states.empty()) {
    return fail(ErrorCode::unsupported, "the driver lists no core clocks",
                gpu.folder + "/pp_dpm_sclk");
  }
  if (access(level_file.c_str(), W_OK) != 0) {
    return fail(ErrorCode::permission_denied,
                "this user may not fix clocks; run as root (sudo), or measure with the clocks as "
                "they are",
                level_file);
  }
  return std::make_unique<AmdClocks>(gpu, std::move(states), before, std::move(guardian));
}

}  // namespace ww::measure
