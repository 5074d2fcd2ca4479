#include "testing/dsent_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace ww::sim::power {
namespace {

// Constants with DSENT's digits.
constexpr double kPi = 3.14159;
constexpr double kBoltzmann = 1.3806503e-23;
constexpr double kLight = 2.9979246e8;
constexpr double kCharge = 1.602e-19;
constexpr double kVacuum = 8.85e-12;  // permittivity; of silicon 11.7 times as much
constexpr double kSilicon = 11.7;
constexpr double kTemperature = 340;

// DSENT's technology files: a process, and the smallest inverter of its cell library.
struct Process {
  int node_nm;
  double vdd;
  double gate_width, gate_cap, drain_cap;         // m, F/m, F/m
  double nmos_resistance, pmos_resistance;        // ohm m
  double gate_pitch;                              // m
  double wire_width, wire_thickness, dielectric;  // m, of metal 1; spacing as the width
  double permittivity;
};
constexpr std::array kProcesses{
    Process{45, 1.0, 0.16e-6, 1.0e-9, 0.60e-9, 1.10e-3, 1.50e-3, 0.20e-6, 80e-9, 140e-9, 130e-9,
            3.2},
    Process{22, 0.8, 0.10e-6, 0.9e-9, 0.62e-9, 0.70e-3, 0.93e-3, 0.12e-6, 32e-9, 60e-9, 60e-9, 3.0},
    Process{11, 0.6, 0.08e-6, 0.61e-9, 0.56e-9, 1.16e-3, 1.28e-3, 0.08e-6, 20e-9, 35e-9, 35e-9,
            3.0},
};

struct Inverter {
  double input_cap, output_cap, resistance;  // F, F, ohm
};

// A metal-1 wire, both sides, to ground and neighbours: the fit that DSENT takes from PTM.
double wire_cap(const Process& p, double spacing) {
  const double w = p.wire_width;
  const double t = p.wire_thickness;
  const double h = p.dielectric;
  const double s = spacing;
  const double ground =
      w / h + 2.04 * std::pow(s / (s + 0.54 * h), 1.77) * std::pow(t / (t + 4.53 * h), 0.07);
  const double coupling = 1.14 * (t / s) * std::exp(-4 * s / (s + 8.01 * h)) +
                          2.37 * std::pow(w / (w + 0.31 * s), 0.28) *
                              std::pow(h / (h + 8.96 * s), 0.76) * std::exp(-2 * s / (s + 6 * h));
  return 2 * p.permittivity * kVacuum * (ground + coupling);
}

Inverter inverter_of(const Process& p) {
  constexpr double kTracks = 11;
  constexpr double kHeightOverhead = 1.4;
  const double height = kTracks * 2 * p.wire_width;
  const double ratio = p.pmos_resistance / p.nmos_resistance;
  const double active = height / kHeightOverhead;
  const double nmos = std::max(p.gate_width, active / (1 + ratio));
  const double pmos = std::max(p.gate_width, active * ratio / (1 + ratio));
  return {(nmos + pmos) * p.gate_cap,
          (nmos + pmos) * p.drain_cap + height * wire_cap(p, p.gate_pitch - p.wire_width),
          (p.nmos_resistance / nmos + p.pmos_resistance / pmos) / 2};
}

// Standard deviations beyond which a normal variable lies with chance `tail`; DSENT's search.
double sigmas(double tail) {
  double step = 20;
  double out = step;
  for (int i = 0; i < 20; ++i) {
    out += 0.5 * std::erfc(out / std::sqrt(2.0)) > tail ? step : -step;
    step *= 0.5;
  }
  return out;
}

// Integrating sense amplifier: light that it needs for a bit error rate of 1e-15, as the larger
// root of a quadratic in the current (shot noise, jitter, offset, thermal and supply noise).
class Receiver {
 public:
  Receiver(const Process& p, const Inverter& inverter, double rate) {
    constexpr double kIntegration = 0.7;  // of a bit's time
    constexpr double kJitter = 0.01;
    constexpr double kRejection = 5;  // of common mode
    const double unit_drain = p.gate_width * p.drain_cap;
    const double unit_gate = p.gate_width * p.gate_cap;
    const double input_cap = unit_drain * 11 + 5e-15;  // the photodetector's parasitic one
    const double tau = inverter.resistance * (inverter.input_cap + inverter.output_cap);
    const double residual = 3 * 0.04 * p.vdd / 32;  // offset left by 5 bits of compensation
    const double noise = 0.01 * p.vdd / kRejection;
    const double sense = p.vdd * std::exp(-(1 - kIntegration) / (rate * tau)) + 0.02 + residual +
                         0.05 * p.vdd / kRejection;
    const double sigma2 = std::pow(sigmas(1e-15), 2);
    const double z = kIntegration / (rate * input_cap);
    a_ = 1 - sigma2 * kJitter * kJitter;
    shot_ = -kPi * sigma2 * kCharge * 0.7 * rate;
    linear_ = -2 * sense / z;
    c_ = (sense * sense - sigma2 * (kBoltzmann * kTemperature / input_cap + noise * noise)) /
         (z * z);
    // Sampler (switches every bit) and latch (a quarter of them), in unit widths.
    const double sampler =
        unit_gate * 40 + inverter.input_cap + unit_drain * 24 + inverter.output_cap;
    const double latch = unit_gate * 4 + inverter.input_cap + unit_drain * 12;
    energy_ = p.vdd * p.vdd * (sampler + 0.25 * latch);
  }
  [[nodiscard]] double light_w(double extinction_db) const {
    constexpr double kResponsivity = 1.1;  // A/W
    const double ratio = std::pow(10, extinction_db / 10);
    const double b = shot_ * (1 + ratio) / (2 * (ratio - 1)) + linear_;
    return (-b + std::sqrt(b * b - 4 * a_ * c_)) / (2 * a_) / kResponsivity;
  }
  [[nodiscard]] double energy_j() const { return energy_; }

 private:
  double a_{}, shot_{}, linear_{}, c_{}, energy_{};
};

// Depletion-mode ring modulator with its driver.
class Modulator {
 public:
  Modulator(const Process& p, const Inverter& inverter, double rate)
      : vdd_(p.vdd), unit_(inverter), rate_(rate) {
    constexpr double kAcceptors = 3e24;
    constexpr double kDonors = 1e24;
    constexpr double kIntrinsic = 1e16;
    constexpr double kJunctionShare = 0.8;
    constexpr double kWidth = 500e-9;
    constexpr double kDispersion = 3e-27;  // index per carrier and m3
    constexpr double kConfinement = 0.3;
    constexpr double kGroupIndex = 4;
    constexpr double kLambda = 1300e-9;
    constexpr double kMaxQuality = 150e3;
    const double length = 2 * kPi * 3e-6;
    const double quality = std::min(kLight / kLambda / rate, kMaxQuality);
    built_in_v_ = kBoltzmann * kTemperature / kCharge *
                  std::log(kAcceptors * kDonors / (kIntrinsic * kIntrinsic));
    depletion_m_ = std::sqrt(2 * kVacuum * kSilicon / kCharge * built_in_v_ *
                             (kAcceptors + kDonors) / (kAcceptors * kDonors));
    junction_f_ = kVacuum * kSilicon * length * kJunctionShare * kWidth / depletion_m_;
    charge_c_ = kCharge * kGroupIndex * (length * kHeight * kWidth) /
                (2 * kDispersion * quality * kConfinement);
  }

  // Joules of a rising bit; empty where no driver makes such a modulator fast enough.
  [[nodiscard]] std::optional<double> energy_j(double insertion_db, double extinction_db) const {
    constexpr double kNotch = 0.01;  // what the ring lets through on resonance
    constexpr double kBoost = 1.2;
    constexpr double kSeriesOhm = 100;
    constexpr double kParasitic = 5e-15;
    constexpr int kMaxStages = 20;
    const double ratio = std::pow(10, extinction_db / 10);
    const double on = std::pow(10, -insertion_db / 10);
    const double off = on / ratio;
    if (on >= 1 || off <= kNotch || ratio >= 1 / kNotch) {
      return std::nullopt;
    }
    const double shift =
        std::sqrt((1 - kNotch) / (1 - on) - 1) - std::sqrt((1 - kNotch) / (1 - off) - 1);
    const double charge = shift * charge_c_;
    const double volts =
        built_in_v_ *
        (std::pow((charge + 2 * built_in_v_ * junction_f_) / (2 * built_in_v_ * junction_f_), 2) -
         1);
    if (!(depletion_m_ * std::sqrt((built_in_v_ + volts) / built_in_v_) < kHeight)) {
      return std::nullopt;
    }
    const double supply = volts * kBoost;
    const double cap = charge / volts;
    const double time_constants = std::log(supply / (supply - volts));
    const double allowed = 1 / (4 * rate_);
    const double intrinsic = time_constants * unit_.output_cap * unit_.resistance;
    const double least = intrinsic + time_constants * kSeriesOhm * cap;
    if (least > allowed) {
      return std::nullopt;
    }
    const double driver =
        std::max(1.0, time_constants * unit_.resistance * (cap + kParasitic) / (allowed - least));
    double inverters = driver * std::max(1.0, supply / vdd_);
    double load = driver * unit_.input_cap;
    for (int stage = 0; load > unit_.input_cap || stage % 2 == 0; ++stage) {
      if (stage > kMaxStages) {
        return std::nullopt;
      }
      const double size = std::max(1.0, unit_.resistance * load / (allowed - intrinsic));
      load = size * unit_.input_cap;
      inverters += size;
    }
    const double predrivers = inverters - driver;
    return vdd_ * vdd_ *
               (unit_.output_cap * predrivers + unit_.input_cap * (predrivers + driver - load)) +
           supply * std::max(supply, vdd_) * (driver * unit_.output_cap + cap + kParasitic);
  }

 private:
  static constexpr double kHeight = 500e-9;
  double vdd_;
  Inverter unit_;
  double rate_;
  double built_in_v_{}, depletion_m_{}, junction_f_{}, charge_c_{};
};

Status check(const DsentLinkConfig& config) {
  const DsentLosses& losses = config.losses;
  const std::pair<const char*, double> not_negative[] = {
      {"losses.laser_diode_db", losses.laser_diode_db},
      {"losses.waveguide_db_per_cm", losses.waveguide_db_per_cm},
      {"losses.ring_through_db", losses.ring_through_db},
      {"losses.ring_drop_db", losses.ring_drop_db},
      {"losses.detector_db", losses.detector_db},
      {"length_cm", config.length_cm},
      {"insertion_db", config.insertion_db},
      {"extinction_db", config.extinction_db}};
  for (const auto& [key, value] : not_negative) {
    if (!(value >= 0)) {
      return fail(ErrorCode::out_of_range, fmt::format("{} = {} is below 0", key, value), key);
    }
  }
  if ((config.insertion_db > 0) != (config.extinction_db > 0)) {
    return fail(ErrorCode::out_of_range, "insertion_db and extinction_db go together",
                "insertion_db");
  }
  if (config.wavelengths < 1 || config.readers < 1 || !(config.bits_per_second > 0) ||
      !(config.efficiency > 0 && config.efficiency <= 1)) {
    return fail(ErrorCode::out_of_range,
                "a link has wavelengths, readers, a rate and a laser of some efficiency",
                "wavelengths");
  }
  return {};
}

// Loss from the laser to the last reader: the writer's bank dropped onto its modulators, the
// waveguide past the other readers' banks, the last bank's drop.
double path_db(const DsentLinkConfig& config) {
  const DsentLosses& losses = config.losses;
  const double bank = losses.ring_through_db * config.wavelengths;
  return losses.laser_diode_db + bank + losses.waveguide_db_per_cm * config.length_cm +
         (config.readers - 1) * bank + losses.ring_drop_db + bank + losses.detector_db;
}

}  // namespace

DsentLosses gpuopt_losses() {
  return {1, 0.274, 0.005, 0.6, 0.1};
}

Result<DsentLink> dsent_link(const DsentLinkConfig& config) {
  WW_TRY(check(config));
  const auto process = std::find_if(kProcesses.begin(), kProcesses.end(), [&](const Process& one) {
    return one.node_nm == config.node_nm;
  });
  if (process == kProcesses.end()) {
    return fail(ErrorCode::not_found,
                fmt::format("DSENT has no process of {} nm here; 45, 22 or 11", config.node_nm),
                "node_nm");
  }
  const double rate = config.bits_per_second;
  const Inverter inverter = inverter_of(*process);
  const Receiver receiver(*process, inverter, rate);
  const Modulator modulator(*process, inverter, rate);
  const double path = path_db(config);
  const auto laser_w = [&](double insertion_db, double extinction_db) {
    return config.wavelengths * receiver.light_w(extinction_db) *
           std::pow(10, (path + insertion_db) / 10) / (1 - std::pow(10, -extinction_db / 10)) /
           config.efficiency;
  };
  double insertion = config.insertion_db;
  double extinction = config.extinction_db;
  std::optional<double> energy;
  if (insertion > 0) {
    energy = modulator.energy_j(insertion, extinction);
  } else {
    // 1250 points below 10 dB in all, a modulator in use half the time.
    constexpr double kMax = 10;
    const double step = kMax / std::sqrt(2 * 1250.0);
    double least = 0;
    for (double il = step; il < kMax; il += step) {
      for (double er = step; er <= kMax - il; er += step) {
        const auto one = modulator.energy_j(il, er);
        if (!one) {
          continue;
        }
        const double power = laser_w(il, er) + config.wavelengths * *one * 0.25 * 0.5 * rate;
        if (!energy || power < least) {
          least = power;
          energy = one;
          insertion = il;
          extinction = er;
        }
      }
    }
  }
  if (!energy) {
    return fail(ErrorCode::bad_data,
                fmt::format("no ring modulator in {} nm does {:.3g} bit/s with these losses",
                            config.node_nm, rate),
                "bits_per_second");
  }
  // A heater moves its ring by one channel of the free spectral range, at 100 K/mW and 10 GHz/K.
  const double free_range = kLight / (4 * 2 * kPi * 3e-6);
  DsentLink link;
  link.laser = Watt(laser_w(insertion, extinction));
  link.tuning = Watt((config.readers + 1) * free_range / (10e9 * 100e3));
  link.sensitivity_uw = receiver.light_w(extinction) * 1e6;
  link.modulator_fj_per_bit = *energy * 0.25 * 1e15;
  link.detector_fj_per_bit = receiver.energy_j() * 1e15;
  link.insertion_db = insertion;
  link.extinction_db = extinction;
  return link;
}

}  // namespace ww::sim::power
