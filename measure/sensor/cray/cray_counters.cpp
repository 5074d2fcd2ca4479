#include "cray_counters.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <utility>

#include "sensor/sysfs/rail_log.hpp"
#include "sensor/sysfs/sysfs_file.hpp"
#include "ww/core/energy_tick.hpp"
#include "ww/measure/sampler.hpp"

namespace ww::measure {
namespace {

constexpr double kRefreshS = 0.1;  // raw_scan_hz is 10 on every machine that is known
constexpr std::int64_t kNsPerUs = 1'000;

// The next word, taken from `text`.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  const auto word = text.substr(0, text.find_first_of(" \t\n"));
  text.remove_prefix(word.size());
  return word;
}

std::optional<std::int64_t> number_of(std::string_view word) {
  std::int64_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::string accelerator_file(const std::string& folder, std::size_t accelerator, const char* what) {
  return fmt::format("{}/accel{}_{}", folder, accelerator, what);
}

// A file of joules or watts, read again and again.
class Meter {
 public:
  Meter(std::string path, std::string unit) : file_(std::move(path)), unit_(std::move(unit)) {}
  [[nodiscard]] bool is_open() const { return file_.is_open(); }
  [[nodiscard]] FieldState state(const std::string& what) { return file_.state(what); }
  // Absent where the file does not answer, or in another unit.
  std::optional<CrayValue> read() {
    auto value = parse_cray_value(file_.read(), file_.path());
    if (!value || value->unit != unit_) return std::nullopt;
    return std::move(*value);
  }

 private:
  SysfsFile file_;
  std::string unit_;
};

class CrayAccelerator final : public PowerSource {
 public:
  CrayAccelerator(const std::string& folder, std::size_t accelerator)
      : power_(accelerator_file(folder, accelerator, "power"), "W"),
        energy_(accelerator_file(folder, accelerator, "energy"), "J") {
    facts_.name = fmt::format("Cray pm_counters, accelerator {}", accelerator);
    facts_.stated_period_s = kRefreshS;
    facts_.power_resolution_w = 1.0;
    facts_.counter_unit = "J";
    fields_.push_back(power_.state("power"));
    fields_.push_back(energy_.state("energy"));
    fields_.push_back({std::string(kPackageField), FieldStatus::ok,
                       "power and energy are those of the whole card, upstream of its regulators"});
  }

  [[nodiscard]] bool useful() { return power_.read() || energy_.read(); }
  const SensorFacts& facts() const override { return facts_; }
  std::string power_name() const override { return "pm_counters power"; }
  std::string second_power_name() const override { return ""; }
  const std::vector<FieldState>& fields() const override { return fields_; }
  void read_fast(RawReading& reading) override {
    if (const auto watts = power_.read()) reading.power_uw = watts->value * 1'000'000;
    if (const auto joules = energy_.read()) reading.energy_ticks = joules->value * kTicksPerJoule;
  }
  void read_slow(RawReading&) override {}
  std::string throttle_text(std::uint64_t) const override { return ""; }

 private:
  Meter power_, energy_;
  SensorFacts facts_;
  std::vector<FieldState> fields_;
};

// A source with the node's meters beside it.
class WithCrayMeters final : public PowerSource {
 public:
  WithCrayMeters(std::unique_ptr<PowerSource> source, const std::string& folder,
                 std::optional<std::size_t> accelerator)
      : source_(std::move(source)) {
    add("cray_node_energy", folder + "/energy");
    add("cray_cpu_energy", folder + "/cpu_energy");
    add("cray_memory_energy", folder + "/memory_energy");
    if (accelerator) add("cray_accel_energy", accelerator_file(folder, *accelerator, "energy"));
  }

  const SensorFacts& facts() const override { return source_->facts(); }
  std::string power_name() const override { return source_->power_name(); }
  std::string second_power_name() const override { return source_->second_power_name(); }
  const std::vector<FieldState>& fields() const override { return source_->fields(); }
  void read_fast(RawReading& reading) override { source_->read_fast(reading); }
  void read_slow(RawReading& reading) override {
    source_->read_slow(reading);
    std::vector<RailReading> readings;
    for (auto& [rail, meter] : meters_) {
      const auto joules = meter.read();
      if (!joules) continue;
      readings.push_back(
          {steady_now_ns(), joules->time_ns, rail, "2^-16 J", joules->value * kTicksPerJoule});
    }
    if (!readings.empty()) rails_.add(std::move(readings));
  }
  std::vector<RailReading> take_rails() override {
    auto rails = source_->take_rails();
    std::ranges::move(rails_.take(), std::back_inserter(rails));
    return rails;
  }
  std::string throttle_text(std::uint64_t bits) const override {
    return source_->throttle_text(bits);
  }

 private:
  void add(const char* rail, const std::string& path) {
    Meter meter(path, "J");
    if (meter.read()) meters_.emplace_back(rail, std::move(meter));
  }

  std::unique_ptr<PowerSource> source_;
  std::vector<std::pair<std::string, Meter>> meters_;
  RailLog rails_;
};

}  // namespace

Result<CrayValue> parse_cray_value(std::string_view text, const std::string& file) {
  std::string_view rest = text;
  const auto value = number_of(take_word(rest));
  CrayValue result;
  result.unit = take_word(rest);
  const auto time = take_word(rest);
  const auto time_us = number_of(time);
  const bool stamped = !time.empty();
  constexpr std::int64_t kMaxJoules = std::numeric_limits<std::int64_t>::max() / kTicksPerJoule;
  const bool good = value && *value >= 0 && *value <= kMaxJoules && !result.unit.empty() &&
                    (!stamped || (time_us && *time_us >= 0 && take_word(rest) == "us"));
  if (!good) {
    return fail(ErrorCode::parse_error,
                fmt::format("is not VALUE UNIT TIME us, as pm_counters writes: '{:.60}'", text),
                file);
  }
  result.value = *value;
  if (stamped) result.time_ns = *time_us * kNsPerUs;
  return result;
}

std::string cray_folder(const std::string& sysfs) {
  return sysfs + "/cray/pm_counters";
}

Result<std::size_t> cray_accelerator(const std::string& folder, std::vector<PciAddress> cards,
                                     const PciAddress& card) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) {
    return fail(ErrorCode::not_found, "there is no such folder: the node is not one of HPE Cray",
                folder);
  }
  std::size_t accelerators = 0;
  while (access(accelerator_file(folder, accelerators, "energy").c_str(), F_OK) == 0) {
    ++accelerators;
  }
  std::ranges::sort(cards);
  const auto found = std::ranges::find(cards, card);
  if (accelerators != cards.size() || found == cards.end()) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} accelerators are metered and {} cards are seen here, so that which "
                            "is which is not known",
                            accelerators, cards.size()),
                folder);
  }
  return static_cast<std::size_t>(found - cards.begin());
}

Result<std::unique_ptr<PowerSource>> open_cray_accelerator(const std::string& folder,
                                                           std::size_t accelerator) {
  auto source = std::make_unique<CrayAccelerator>(folder, accelerator);
  if (source->useful()) return source;
  std::string why;
  bool denied = false;
  for (const FieldState& field : source->fields()) {
    if (field.name == kPackageField) continue;
    why += (why.empty() ? "" : "; ") + field.reason;
    denied = denied || field.status == FieldStatus::denied;
  }
  return fail(denied ? ErrorCode::permission_denied : ErrorCode::not_found,
              "pm_counters reports neither power nor energy: " + why, folder);
}

std::unique_ptr<PowerSource> with_cray_meters(std::unique_ptr<PowerSource> source,
                                              const std::string& folder,
                                              std::optional<std::size_t> accelerator) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return source;
  return std::make_unique<WithCrayMeters>(std::move(source), folder, accelerator);
}

}  // namespace ww::measure
