#include "ww/session/bracket.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "reading_collector.hpp"
#include "segments.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/vgpu_abi.h"
#include "ww/energy/energy.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/measure/update_period.hpp"
#include "ww/measure/virtual_device.hpp"
#include "ww/session/card_counts.hpp"
#include "ww/session/device_meter.hpp"
#include "ww/session/traffic.hpp"

namespace ww::session {
namespace {

void add_reason(Joules& joules, const std::string& more) {
  if (!joules.reason.empty() && !more.empty()) joules.reason += "; ";
  joules.reason += more;
}

// Between two refreshes of the register; between two polls where its changes show no period.
double refresh_s(const energy::EnergySeries& series) {
  constexpr std::size_t kEnough = 5'000;
  std::vector<measure::PowerPoint> points;
  for (const energy::EnergyReading& reading : series.readings) {
    if (points.size() >= kEnough) break;
    if (reading.power_uw == energy::kAbsent) continue;
    points.push_back({static_cast<double>(reading.time_ns - series.readings.front().time_ns) * 1e-9,
                      static_cast<double>(reading.power_uw) * 1e-6});
  }
  return measure::find_update_period(points).refresh_s();
}

// How long after a change of the load a register shows something of what was before.
double settle_s(const measure::LaunchSensor& response, double refresh_s) {
  constexpr double kLags = 5;  // after which it has shown 99%
  const bool lags = response.kind == measure::ResponseKind::lag;
  return response.delay_s + response.delay_error_s + refresh_s +
         (lags ? kLags : 1) * std::max(response.time_s, response.high_s);
}

// Times of launches may be off by so much. Another clock than the device's is off by far more.
constexpr std::int64_t kLaunchSlack_ns = 1'000'000'000;
constexpr std::ptrdiff_t kReadingsBefore = 30;  // that may show power at rest

// Base of both kinds of device: the sensor, the model and the state of the bracket.
class Common : public Bracket {
 public:
  // `collects`: the sensor forgets what is not read for a minute, so that a thread must read it.
  Common(std::unique_ptr<measure::Sensor> sensor, std::optional<model::WireModel> model,
         bool collects)
      : sensor_(std::move(sensor)), model_(std::move(model)), collects_(collects) {
    known_.gain_tolerance_95 = sensor_->facts().gain_tolerance_95;
  }

  Status begin() override {
    if (begun_) return fail(ErrorCode::invalid_argument, "begun already; end it first", device());
    rest(*sensor_);
    WW_ASSIGN(before, sensor_->new_readings());
    const auto kept = std::min(std::ssize(before), kReadingsBefore);
    before_.assign(before.end() - kept, before.end());
    if (collects_) collector_.emplace(*sensor_);
    from_ns_ = sensor_->now_ns();
    begun_ = true;
    return {};
  }

  Result<Reading> end() override {
    if (!begun_) return fail(ErrorCode::invalid_argument, "was not begun", device());
    begun_ = false;
    const std::int64_t to_ns = sensor_->now_ns();
    WW_ASSIGN(readings, take_readings());
    Reading reading;
    reading.seconds = static_cast<double>(to_ns - from_ns_) * 1e-9;
    reading.device = joules_of(device_energy(energy::energy_series(readings), to_ns));
    add_reason(reading.device, measured_besides());
    WW_TRY(fill(reading));
    rest(*sensor_);
    WW_ASSIGN(after, sensor_->new_readings());
    const std::int64_t alone_ns = alone_since_ns();
    std::erase_if(before_, [&](const SensorReading& one) { return one.time_ns < alone_ns; });
    readings.insert(readings.begin(), before_.begin(), before_.end());
    readings.insert(readings.end(), after.begin(), after.end());
    reading.kernels = kernel_energies(launches_, energy::energy_series(readings), known_);
    for (KernelEnergy& kernel : reading.kernels.kernels) {
      const std::string besides = measured_besides();
      if (!kernel.reason.empty() && !besides.empty()) kernel.reason += "; ";
      kernel.reason += besides;
    }
    launches_.clear();
    return reading;
  }

  void set_response(const measure::LaunchSensor& response) override { known_.response = response; }
  std::string measured_besides() const override {
    return measure::measured_besides(sensor_->fields());
  }
  std::string sensor_of() const override { return measure::sensor_of(sensor_->fields()); }

 protected:
  virtual Status fill(Reading& reading) = 0;
  // Lets the device rest before and after the bracket, where that costs nobody time.
  virtual void rest(measure::Sensor&) {}
  // Since when launches are only those of the bracket.
  [[nodiscard]] virtual std::int64_t alone_since_ns() const { return from_ns_; }
  [[nodiscard]] LaunchLog& launches() { return launches_; }
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] std::int64_t begun_ns() const { return from_ns_; }
  [[nodiscard]] std::int64_t now_ns() { return sensor_->now_ns(); }
  [[nodiscard]] const std::optional<model::WireModel>& model() const { return model_; }

 private:
  // A register still shows what was before for as long as it lags: what it shows then is left out,
  // and that time counts at the mean power, with all of it in the interval.
  [[nodiscard]] energy::Energy device_energy(const energy::EnergySeries& series,
                                             std::int64_t to_ns) const {
    energy::EnergyOptions options = energy_options(sensor_->facts());
    // Under a load that moves no register rests for longer.
    constexpr double kLongestRefresh_s = 1.0;
    if (known_.response) options.register_lag_s = settle_s(*known_.response, kLongestRefresh_s);
    auto energy = energy::energy_between(series, from_ns_, to_ns, options);
    if (!energy.ok() || energy.source != energy::EnergySource::power_register) return energy;
    if (!known_.response) {
      energy.reason +=
          "; how late they are is not known and not in the interval: give the register's response, "
          "which `wirewatt doctor` finds";
      return energy;
    }
    options.settle_s = settle_s(*known_.response, refresh_s(series));
    return energy::energy_between(series, from_ns_, to_ns, options);
  }

  // Returns the readings since begin().
  Result<std::vector<SensorReading>> take_readings() {
    if (!collector_) return sensor_->new_readings();
    auto readings = collector_->finish();
    collector_.reset();
    return readings;
  }

  std::unique_ptr<measure::Sensor> sensor_;
  std::optional<model::WireModel> model_;
  bool collects_;
  std::optional<ReadingCollector> collector_;  // while begun; it uses the sensor
  KernelSensor known_;
  LaunchLog launches_;
  std::vector<SensorReading> before_;
  std::int64_t from_ns_{};
  bool begun_{};
};

class VirtualBracket final : public Common {
 public:
  VirtualBracket(const ww_vgpu_abi& abi, std::optional<model::WireModel> model)
      : Common(measure::make_virtual_sensor(abi), std::move(model), false), abi_(abi) {
    for (std::uint32_t i = 0; i < abi_.counter_count(); ++i) {
      names_.emplace_back(abi_.counter_name(i));
    }
    if (const auto* chip = abi_.chip_info(); chip != nullptr) {
      name_ = virtual_device_name(chip->name);
      target_ = chip->target;
    }
  }
  std::string device() const override { return name_; }
  bool is_virtual() const override { return true; }

  Status begin() override {
    WW_TRY(Common::begin());
    first_ = abi_.dispatch_count();
    ww_vgpu_dispatch last{};
    alone_since_ns_ = first_ > 0 && abi_.dispatch(first_ - 1, &last) == 0 ? last.end_ns : 0;
    return {};
  }
  Status add_traffic(model::WireSegment, double, double) override {
    return fail(ErrorCode::unsupported, "a virtual device counts its traffic itself", name_);
  }
  Status add_launch(const std::string&, std::int64_t, std::int64_t) override {
    return fail(ErrorCode::unsupported, "a virtual device knows its launches itself", name_);
  }

 private:
  Status fill(Reading& reading) override {
    std::vector<measure::CounterDispatch> dispatches;
    std::vector<double> values(names_.size());
    const std::uint64_t count = abi_.dispatch_count();
    for (std::uint64_t id = first_; id < count; ++id) {
      ww_vgpu_dispatch raw{};
      if (abi_.dispatch(id, &raw) != 0 ||
          abi_.dispatch_counters(id, values.data(), static_cast<std::uint32_t>(values.size())) !=
              0) {
        return fail(ErrorCode::device_error, fmt::format("no counters of dispatch {}", id), name_);
      }
      measure::CounterDispatch dispatch;
      dispatch.id = id;
      dispatch.kernel = raw.kernel != nullptr ? raw.kernel : "";
      dispatch.duration_ns = static_cast<double>(raw.end_ns - raw.start_ns);
      launches().add(dispatch.kernel, raw.start_ns, raw.end_ns);
      for (std::size_t i = 0; i < names_.size(); ++i) dispatch.counters[names_[i]] = values[i];
      dispatches.push_back(std::move(dispatch));
    }
    reading.dispatches = dispatches.size();
    std::vector<model::KernelTraffic> kernels;
    if (!dispatches.empty()) {
      WW_ASSIGN(traffic, count_traffic(dispatches, target_));
      kernels = std::move(traffic.kernels);
    }
    return fill_segments(reading, model(), kernels);
  }

  // Rests by the chip's clock, which stands still between a program's launches.
  void rest(measure::Sensor& sensor) override {
    const double period_s = sensor.facts().stated_period_s.value_or(0);
    sensor.sleep_until(sensor.now_ns() +
                       std::llround(static_cast<double>(kReadingsBefore) * period_s * 1e9));
  }
  [[nodiscard]] std::int64_t alone_since_ns() const override { return alone_since_ns_; }

  const ww_vgpu_abi& abi_;
  std::int64_t alone_since_ns_{};
  std::vector<std::string> names_;
  std::string name_{kVirtualLabel};
  std::string target_;
  std::uint64_t first_{};
};

class RealBracket final : public Common {
 public:
  // `counts`: of the card from inside this process; null where nobody asked for them.
  RealBracket(std::string name, std::unique_ptr<measure::Sensor> sensor,
              std::optional<model::WireModel> model, CardCounts* counts)
      : Common(std::move(sensor), std::move(model), true),
        name_(std::move(name)),
        counts_(counts) {}
  std::string device() const override { return name_; }
  bool is_virtual() const override { return model() && model()->is_virtual; }

  // A sample of the counters takes milliseconds, so that it lies outside of the sensor's stretch at
  // both ends.
  Status begin() override {
    if (counts_ != nullptr && model() && !begun()) before_ = counts_->now();
    WW_TRY(Common::begin());
    said_ = {};
    return {};
  }
  Status add_traffic(model::WireSegment segment, double bytes, double toggle_rate) override {
    if (!begun()) return fail(ErrorCode::invalid_argument, "was not begun", name_);
    const bool known = toggle_rate != kUnknownToggleRate;
    if (!std::isfinite(bytes) || bytes < 0 || (known && !(toggle_rate >= 0 && toggle_rate <= 1))) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} bytes at {} toggles a bit: bytes must not be negative and the "
                              "rate lie between 0 and 1, or be -1 where it is not known",
                              bytes, toggle_rate),
                  name_);
    }
    auto& said = said_[static_cast<std::size_t>(segment)];
    if (!said) said.emplace();
    said->bytes += bytes;
    (known ? said->toggled_bits : said->unknown_bytes) += known ? 8 * bytes * toggle_rate : bytes;
    return {};
  }

  Status add_launch(const std::string& kernel, std::int64_t start_ns,
                    std::int64_t end_ns) override {
    if (!begun()) return fail(ErrorCode::invalid_argument, "was not begun", name_);
    if (end_ns <= start_ns) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("a launch of {} ends at {} ns and begins at {} ns", kernel, end_ns, start_ns),
          name_);
    }
    const std::int64_t now = now_ns();
    if (start_ns < begun_ns() - kLaunchSlack_ns || end_ns > now + kLaunchSlack_ns) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("a launch of {} from {} to {} ns lies outside of the stretch, which "
                              "began at {} ns and is at {} ns of CLOCK_MONOTONIC now",
                              kernel, start_ns, end_ns, begun_ns(), now),
                  name_);
    }
    launches().add(kernel, start_ns, end_ns);
    return {};
  }

 private:
  // Bytes that the program gave go before bytes that the card counted.
  Status fill(Reading& reading) override {
    const bool said = std::ranges::any_of(said_, [](const auto& one) { return one.has_value(); });
    if (counts_ == nullptr || !model() || said) {
      return fill_said_segments(reading, model(), said_);
    }
    const auto kernels = counted(reading.seconds);
    if (!kernels) {
      leave_segments_out(reading, kernels.error().text());
      return {};
    }
    WW_TRY(fill_segments(reading, model(), *kernels));
    for (Joules& segment : reading.segments) add_reason(segment, counts_->source());
    return {};
  }

  [[nodiscard]] Result<std::vector<model::KernelTraffic>> counted(double seconds) {
    // A sample takes 3 ms on a card, at each end.
    constexpr double kShortest_s = 0.02;
    if (seconds < kShortest_s) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("a stretch of {:.3g} s is too short to be counted, as a sample takes "
                              "3 ms: {} s are needed",
                              seconds, kShortest_s));
    }
    WW_TRY(calibration::require_same_part(model()->target, counts_->part(), name_, "a bit",
                                          "give a model of this part"));
    // HIP may start within the stretch: all that was ever counted is then of it.
    const bool begins_here = !before_ && before_.error().code == ErrorCode::missing_dependency;
    if (!before_ && !begins_here) return tl::unexpected(before_.error());
    WW_ASSIGN(after, counts_->now());
    const auto stretch = CardCounts::between(before_.value_or(CardCounts::Sums()), after);
    if (stretch.empty()) return std::vector<model::KernelTraffic>();
    WW_ASSIGN(traffic, count_traffic(stretch, counts_->part()));
    return std::move(traffic.kernels);
  }

  std::string name_;
  CardCounts* counts_;
  Result<CardCounts::Sums> before_;  // at the begin
  std::array<std::optional<SaidTraffic>, 3> said_;
};

Result<std::unique_ptr<Bracket>> open_virtual(std::optional<model::WireModel> model) {
  const auto abi = measure::find_virtual_abi(WW_VGPU_LIBRARY_NAME);
  if (!abi) {
    return fail(abi.error().code,
                abi.error().message +
                    ": call OpenCL first (clGetPlatformIDs), and start the "
                    "program by 'wirewatt run --device virtual:w9100 -- PROGRAM'",
                "virtual");
  }
  const auto* chip = (*abi)->chip_info();
  if (model && chip != nullptr) {
    WW_TRY(calibration::require_same_part(model->target, chip->target,
                                          virtual_device_name(chip->name), "a bit",
                                          "or run the program on the calibrated one"));
  }
  return std::make_unique<VirtualBracket>(**abi, std::move(model));
}

Result<std::unique_ptr<Bracket>> open_real(const std::string& device,
                                           std::optional<model::WireModel> model) {
  const auto telemetry = measure::find_telemetry();
  auto index = measure::choose_gpu(telemetry, device);
  if (!index) {
    // A name that is none is a device that is not there, for programs that were built on that.
    if (!device.empty()) index.error().code = ErrorCode::not_found;
    return tl::unexpected(index.error());
  }
  const measure::TelemetryGpu& gpu = telemetry.gpus[*index];
  measure::TelemetryOptions options;
  options.clock_control = false;
  options.whole_package = true;  // measured_besides() says so
  WW_ASSIGN(sensor, measure::open_sensor(gpu, options));
  return std::make_unique<RealBracket>(measure::name_with_address(gpu), std::move(sensor),
                                       std::move(model), CardCounts::of(gpu));
}

}  // namespace

Result<std::unique_ptr<Bracket>> Bracket::open(const std::string& device,
                                               const std::string& model_file,
                                               model::FlaggedModel flagged) {
  std::optional<model::WireModel> model;
  if (!model_file.empty()) {
    WW_ASSIGN(loaded, model::load_wire_model(model_file, flagged));
    model = std::move(loaded);
  }
  if (device == kVirtualLabel) return open_virtual(std::move(model));
  if (!device.empty()) return open_real(device, std::move(model));
  if (measure::find_virtual_abi(WW_VGPU_LIBRARY_NAME)) return open_virtual(std::move(model));
  return open_real("", std::move(model));
}

}  // namespace ww::session
