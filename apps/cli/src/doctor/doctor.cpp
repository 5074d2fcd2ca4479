// wirewatt doctor: everything a user needs to know before trusting a number.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "device_options.hpp"
#include "doctor/doctor_output.hpp"
#include "output.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"
#include "ww/core/process.hpp"
#include "ww/core/progress.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/command_load.hpp"
#include "ww/measure/environment.hpp"
#include "ww/measure/gpu_choice.hpp"
#include "ww/measure/sensor_check.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/gpu_load.hpp"
#include "ww/microbench/traffic_check.hpp"

namespace ww::cli {
namespace {

using measure::Finding;
using measure::Verdict;
using nlohmann::json;

struct DoctorArguments {
  microbench::DeviceRequest device;
  std::string recording, meter;
  std::string load;  // a command
  bool no_step_test{};
  bool no_clock_control{};
  bool no_counters{};
  bool json{};
};

// A sensor and what there is to load its GPU with.
struct Patient {
  std::string name;
  bool is_virtual{};
  std::unique_ptr<microbench::ComputeDevice> compute;  // null for a sensor alone
  std::unique_ptr<measure::Sensor> own_sensor;
  std::unique_ptr<measure::Load> load;
  std::string no_sensor, no_load;
  std::vector<Finding> findings;

  [[nodiscard]] measure::Sensor* sensor() const {
    return compute != nullptr ? compute->sensor.get() : own_sensor.get();
  }
};

// A GPU's sensor alone: no compute host is needed to read it.
Result<Patient> sensor_patient(const measure::TelemetryGpu& gpu,
                               const measure::TelemetryOptions& options) {
  Patient patient;
  patient.name = fmt::format("pci:{}", measure::to_string(gpu.pci));
  patient.findings = measure::check_gpu(gpu, measure::sysfs_of(options));
  auto sensor = measure::open_sensor(gpu, options);
  if (sensor) {
    patient.own_sensor = std::move(*sensor);
  } else {
    patient.no_sensor = sensor.error().text();
  }
  patient.no_load =
      "no compute host was asked for; name one with --device (see 'wirewatt devices') "
      "or a command with --load";
  return patient;
}

Result<Patient> compute_patient(const DoctorArguments& arguments,
                                const measure::Telemetry& telemetry,
                                const measure::TelemetryOptions& options) {
  WW_ASSIGN(device, microbench::open_compute_device(arguments.device));
  Patient patient;
  patient.name = device.name;
  patient.is_virtual = device.is_virtual;
  patient.no_sensor = device.no_sensor;
  if (!device.is_virtual) {
    const auto match = microbench::match_sensor(device.host->facts(), telemetry);
    if (match.gpu != nullptr) {
      patient.findings = measure::check_gpu(*match.gpu, measure::sysfs_of(options));
    }
  }
  patient.findings.insert(
      patient.findings.begin(),
      {"compute host", Verdict::good,
       fmt::format("{}, driver {}", device.host->device_name(), device.host->driver_version()),
       ""});
  patient.compute = std::make_unique<microbench::ComputeDevice>(std::move(device));
  if (patient.sensor() == nullptr || !arguments.load.empty() || arguments.no_step_test) {
    return patient;
  }
  auto load = microbench::make_gpu_load(*patient.compute->host, *patient.sensor());
  if (load) {
    patient.load = std::move(*load);
  } else {
    patient.no_load = load.error().text();
  }
  return patient;
}

// Chooses the device to examine: the one that was named, else the best real GPU, else a GPU that
// has a sensor and no compute host, else the virtual one.
Result<Patient> find_patient(DoctorArguments& arguments, const measure::Telemetry& telemetry,
                             const measure::TelemetryOptions& options) {
  auto& name = arguments.device.name;
  if (name.empty()) {
    WW_ASSIGN(choice, microbench::choose_device(arguments.device.need));
    name = choice.name;
  }
  if (const auto kind = DeviceName(name).kind();
      kind == DeviceName::Kind::pci || kind == DeviceName::Kind::sensor) {
    WW_ASSIGN(index, measure::choose_gpu(telemetry, name));
    return sensor_patient(telemetry.gpus[index], options);
  }
  return compute_patient(arguments, telemetry, options);
}

void add_clock_control(Patient& patient) {
  auto* polled = dynamic_cast<measure::PolledSensor*>(patient.sensor());
  if (polled == nullptr) {
    const auto states = patient.sensor()->dvfs_states().size();
    patient.findings.push_back(
        {"clock control", Verdict::good, fmt::format("{} states", states), ""});
    return;
  }
  const auto states = polled->dvfs_states();
  if (states.empty()) {
    patient.findings.push_back({"clock control", Verdict::unavailable, polled->no_clocks(), ""});
  } else {
    patient.findings.push_back(
        {"clock control", Verdict::good,
         fmt::format("{} clocks from {:.0f} to {:.0f} MHz; given back on every way out",
                     states.size(), states.front().clock_hz * 1e-6, states.back().clock_hz * 1e-6),
         ""});
  }
}

// Reports what limited the clocks when the sensor was last read.
void add_throttling(Patient& patient) {
  auto* polled = dynamic_cast<measure::PolledSensor*>(patient.sensor());
  if (polled == nullptr) return;
  polled->sleep_until(polled->now_ns() + 250'000'000);
  std::optional<std::uint64_t> bits;
  for (const auto& sample : polled->new_samples()) {
    if (sample.reading.throttle) bits = bits.value_or(0) | *sample.reading.throttle;
  }
  if (!bits) {
    patient.findings.push_back(
        {"throttling", Verdict::unavailable, "the driver does not tell", ""});
    return;
  }
  const auto text = polled->source().throttle_text(*bits);
  patient.findings.push_back(
      {"throttling", text.empty() ? Verdict::good : Verdict::limited,
       text.empty() ? "none" : "clocks are held down by: " + text,
       text.empty() ? "" : "cool the card, raise its power limit, or fix a lower clock"});
}

// Whether the device's counters, mapped to bytes, hold on kernels that move a known number of
// bytes.
void add_counter_mapping(Patient& patient) {
  using measure::MappingVerdict;
  if (patient.compute == nullptr) return;
  Progress progress("known bytes");
  progress.update(0, 1, "asking the counters");
  const auto checks = [&]() -> Result<std::vector<measure::MappingCheck>> {
    WW_ASSIGN(self, own_program());
    return microbench::check_device_mapping(*patient.compute, self);
  }();
  progress.finish();
  if (!checks) {
    const bool absent = checks.error().code == ErrorCode::unsupported;
    patient.findings.push_back(
        {"counter mapping", absent ? Verdict::unavailable : Verdict::bad, checks.error().message,
         absent ? "bytes then follow from the kernels' arithmetic, unchecked" : ""});
    return;
  }
  for (const auto& check : *checks) {
    Finding finding;
    finding.capability = fmt::format("counters {}", to_string(check.segment));
    finding.detail = check.reason;
    switch (check.verdict) {
      case MappingVerdict::exact:
        finding.verdict = Verdict::good;
        finding.detail = fmt::format("{:+.2f}% off the known bytes{}{}", 100 * check.error(),
                                     check.reason.empty() ? "" : ", ", check.reason);
        break;
      case MappingVerdict::scaled: finding.verdict = Verdict::limited; break;
      case MappingVerdict::refused: finding.verdict = Verdict::bad; break;
      case MappingVerdict::unavailable: finding.verdict = Verdict::unavailable; break;
    }
    patient.findings.push_back(std::move(finding));
  }
}

Result<std::optional<measure::SensorReport>> step_test(const DoctorArguments& arguments,
                                                       Patient& patient) {
  std::optional<measure::SensorReport> none;
  if (arguments.no_step_test || patient.sensor() == nullptr) return none;
  if (!arguments.load.empty()) {
    patient.load = measure::make_command_load(arguments.load, *patient.sensor());
  }
  if (patient.load == nullptr) return none;
  Progress progress("step test");
  auto report = measure::check_sensor(*patient.sensor(), *patient.load,
                                      [&](const measure::CheckProgress& step) {
                                        progress.update(step.done, step.total, step.note);
                                      });
  progress.finish();
  if (!report) return tl::unexpected(report.error());
  return std::optional(std::move(*report));
}

// The kernels that need no compiler on this machine.
measure::Finding compiled_kernels() {
  const auto targets = kernels::precompiled_targets();
  if (targets.empty()) {
    return {"AMD kernels", measure::Verdict::unavailable,
            "this wirewatt was built without clang-19, so HIP needs AMD's compiler library",
            "install clang-19 and lld-19, and build wirewatt again"};
  }
  return {"AMD kernels", measure::Verdict::good,
          fmt::format(
              "compiled beforehand by {} for {} targets of HIP, {} to {}; others need AMD's "
              "compiler library",
              kernels::precompiled_by(), targets.size(), targets.front().name, targets.back().name),
          ""};
}

// Tries also the backends that a measurement does not need, on the GPU whose sensor was named or
// else on the first one: what a vendor's library answers on one card it answers on its neighbours.
void try_all_backends(measure::Telemetry& telemetry, const std::string& device,
                      measure::TelemetryOptions options) {
  if (telemetry.gpus.empty()) return;
  options.all_backends = true;
  const auto kind = DeviceName(device).kind();
  const bool named = kind == DeviceName::Kind::pci || kind == DeviceName::Kind::sensor;
  const auto index =
      named ? measure::choose_gpu(telemetry, device) : Result<std::size_t>(std::size_t{0});
  if (index) measure::try_backends(telemetry.gpus[*index], options);
}

int run(DoctorArguments arguments) {
  if (!arguments.recording.empty()) {
    return doctor_recording(arguments.recording, arguments.meter, arguments.json);
  }
  if (!arguments.no_clock_control) {
    for (const auto& line : measure::restore_leftovers()) log::warn("{}", line);
  }
  measure::TelemetryOptions options;
  options.clock_control = !arguments.no_clock_control;
  arguments.device.clock_control = options.clock_control;
  // Children first: this process has no threads yet.
  const auto libraries = measure::check_libraries();
  auto telemetry = measure::find_telemetry(options);
  try_all_backends(telemetry, arguments.device.name, options);
  auto patient = find_patient(arguments, telemetry, options);
  if (!patient) return report_error(patient.error());

  DoctorReport report;
  report.device = patient->name;
  report.is_virtual = patient->is_virtual;
  if (patient->sensor() != nullptr) {
    add_clock_control(*patient);
    const auto tested = step_test(arguments, *patient);
    if (!tested) return report_error(tested.error());
    report.sensor = *tested;
    add_throttling(*patient);
    report.sensor_name = patient->sensor()->facts().name;
    report.fields = patient->sensor()->fields();
    if (auto* polled = dynamic_cast<measure::PolledSensor*>(patient->sensor()); polled != nullptr) {
      report.sampler = polled->stats();
    }
  }
  if (!arguments.no_counters) add_counter_mapping(*patient);
  report.no_sensor = patient->no_sensor;
  report.no_step_test = arguments.no_step_test ? "left out (--no-step-test)" : patient->no_load;
  report.findings = std::move(patient->findings);
  report.libraries = libraries;
  report.libraries.push_back(compiled_kernels());
  report.no_amd = telemetry.no_amd;
  report.no_nvidia = telemetry.no_nvidia;
  if (arguments.json) {
    print_json(to_json(report));
  } else {
    print_report(report);
  }
  return exit_code_of(report);
}

}  // namespace

void add_doctor(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("doctor", "Check permissions, sensors, clocks and counters");
  auto arguments = std::make_shared<DoctorArguments>();
  arguments->device.need = need_of("doctor");
  command->add_option(
      "--device", arguments->device.name,
      "Device as `wirewatt devices` names it, or for a sensor alone gpu:N (from 0, "
      "AMD's first) or pci:0000:03:00.0; default: the best real GPU, else virtual:w9100");
  auto* recording =
      command->add_option("--recording", arguments->recording,
                          "Look at a recording instead: a folder with gpudata.csv, polls of "
                          "nvidia-smi, a trace of Score-P (traces.otf2), or a table with time_s, "
                          "power_w and perhaps meter_w and load");
  command
      ->add_option("--meter", arguments->meter,
                   "With --recording: a table of an external meter by the same clock, FILE or "
                   "FILE:COLUMN")
      ->needs(recording);
  command->add_option("--load", arguments->load,
                      "Command that loads the GPU while it runs; it is started and ended for each "
                      "step, and the time that it takes to begin counts as the sensor's delay "
                      "(default: a kernel of our own)");
  command->add_flag("--no-step-test", arguments->no_step_test,
                    "Do not load the GPU, so that sensors are not tested by load steps");
  command->add_flag("--no-clock-control", arguments->no_clock_control, "Never touch the clocks");
  command->add_flag("--no-counters", arguments->no_counters,
                    "Do not check the counters on kernels of known bytes");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt doctor\n"
      "  wirewatt doctor --device virtual:w9100 --json\n"
      "  wirewatt doctor --recording recording/\n"
      "Exit codes: 0 can be used, 1 a sensor is not to be believed, 3 no sensor.");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
