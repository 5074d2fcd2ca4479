#include "ww/model/estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fit/solver/assumptions.hpp"
#include "ww/model/supply_limits.hpp"

namespace ww::model {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kFemto = 1e-15;
// Between half and twice as much.
constexpr Interval kTransfer{1, 1 / kOtherWires, kOtherWires};
constexpr Interval other_toggles{1, 1 / kOtherToggles, kOtherToggles};

Status check(const KernelTraffic& kernel) {
  const auto bad = [](double value) { return !std::isfinite(value) || value < 0; };
  if (kernel.time_s && bad(*kernel.time_s)) {
    return fail(ErrorCode::bad_data, fmt::format("a time of {} s", *kernel.time_s), kernel.kernel);
  }
  for (std::size_t s = 0; s < kWireSegments.size(); ++s) {
    const auto& traffic = kernel.segments[s];
    for (const auto& bytes : {traffic.bytes, traffic.upper_bytes}) {
      if (bytes && bad(*bytes)) {
        return fail(ErrorCode::bad_data,
                    fmt::format("{} bytes on {}", *bytes, to_string(kWireSegments[s])),
                    kernel.kernel);
      }
    }
  }
  return {};
}

// Energy of what the wires did, from the monitors' counts.
std::optional<Interval> from_monitors(const WireModel& model, const KernelTraffic& kernel,
                                      WireSegment segment, double mm) {
  const auto& wires = kernel.segments[static_cast<std::size_t>(segment)].wires;
  if (!model.events || !wires) return std::nullopt;
  // Monitors weigh events with millimetres, which energy per nanosecond must not be multiplied by.
  if (segment != WireSegment::l1_l2 || !kernel.trunks_mm || model.per_ns) {
    return model.of_activity(*wires).times(mm * kFemto);
  }
  const Interval trunks = model.of_activity(*kernel.trunks_mm).times(kFemto);
  if (!kernel.legs_mm) return trunks;
  // Pipeline clock, strobes and requests run along the trunks, which the calibration saw. How much
  // of that goes on along a leg no contrast shows: something between nothing and all.
  WireActivity payload = *kernel.legs_mm;
  payload.slot_bits = 0;
  const double clock = std::max(0.0, model.events->fj_per_mm[0] * kernel.legs_mm->slot_bits);
  return together(together(trunks, model.of_activity(payload).times(kFemto)),
                  Interval{0.5, 0, 1}.times(clock * kFemto));
}

// Bits that reach registers, at what `wirewatt segments` measured of them: it follows toggles, for
// what does not was separated from it.
Interval as_measured(const Interval& fj_per_bit, double bytes, const Interval& toggle_rate) {
  const Interval energy = fj_per_bit.times(bytes * kBitsPerByte * kFemto);
  return toggle_rate.value > 0 ? product(energy, toggle_rate.times(1 / kRandomToggleRate))
                               : energy.times(0);
}

void add_reason(std::string& text, const std::string& more) {
  if (more.empty()) return;
  if (!text.empty()) text += "; ";
  text += more;
}

SegmentEstimate estimate_segment(const WireModel& model, const KernelTraffic& kernel,
                                 WireSegment segment, const EstimateOptions& options) {
  const auto index = static_cast<std::size_t>(segment);
  const SegmentTraffic& traffic = kernel.segments[index];
  SegmentEstimate out;
  out.segment = segment;
  out.bytes = traffic.bytes;
  out.bytes_at_least = traffic.bytes && traffic.at_least;
  out.bytes_scaled = traffic.bytes && traffic.scaled;
  out.reason = traffic.reason;
  const auto own_data = options.data_of_kernel.find(kernel.kernel);
  AssumedData data = own_data == options.data_of_kernel.end() ? options.data : own_data->second;
  out.toggle_rate = equivalent_rate(data, model.coupling_share).value;
  const auto& distance = model.distance_mm[index];
  if (!model.refused[index].empty() || !distance) {
    out.status = RowStatus::not_identified;
    add_reason(out.reason,
               model.refused[index].empty() ? "its distance is not known" : model.refused[index]);
    return out;
  }
  Interval mm = *distance;
  if (segment == WireSegment::l1_l2 && kernel.l1_l2_mm && !model.per_ns) {
    mm = mm.times(*kernel.l1_l2_mm / mm.value);
  }
  out.distance_mm = mm.value;
  const Interval length{1, mm.low / mm.value, mm.high / mm.value};
  const Interval volts =
      options.voltage_v ? model.energy_factor(*options.voltage_v) : Interval{1, 1, 1};
  const auto finish = [&](Interval energy) {
    energy = product(product(energy, volts), length);
    return segment == WireSegment::l1_l2 ? product(energy, model.whole_way)
                                         : product(energy, kTransfer);
  };
  // L1-L2 alone has a distance contrast in a calibration; a literature constant is carried over.
  // Energy per nanosecond is measured over differences of flight; over the whole way, whose flight
  // is known within bounds only, it is carried over, too.
  const bool own = segment == WireSegment::l1_l2 && !model.literature && !model.per_ns;
  const bool all_counted = !traffic.at_least && !traffic.scaled;
  if (traffic.wires && options.use_monitors && traffic.bytes && *traffic.bytes > 0) {
    out.toggle_rate = traffic.wires->toggles / (*traffic.bytes * kBitsPerByte);
    out.toggles_measured = true;
    data = data_at_rate(std::min(1.0, out.toggle_rate));
  }
  const bool measured = segment == WireSegment::registers_l1 && model.registers_l1_fj_per_bit;
  if (traffic.bytes && measured) {
    out.status = all_counted ? RowStatus::ok : RowStatus::transferred;
    out.energy_j = product(as_measured(*model.registers_l1_fj_per_bit, *traffic.bytes,
                                       equivalent_rate(data, model.coupling_share)),
                           volts);
    add_reason(out.reason,
               "energy per bit as 'wirewatt segments' measured it, register write and wire "
               "together");
    if (out.toggles_measured) {
      out.energy_j = product(*out.energy_j, other_toggles);
      add_reason(out.reason, "toggles taken from the crossbar, half to twice");
    }
  } else if (traffic.bytes) {
    // No interval of the counted bytes bounds those that were not counted.
    out.status = own && all_counted ? RowStatus::ok : RowStatus::transferred;
    std::optional<Interval> energy;
    if (options.use_monitors) energy = from_monitors(model, kernel, segment, mm.value);
    if (!energy) {
      energy = model.of_data(data).times(*traffic.bytes * kBitsPerByte * mm.value * kFemto);
    }
    out.energy_j = finish(*energy);
    if (!own) {
      add_reason(out.reason, model.literature ? "energy per bit and mm from the literature"
                             : model.per_ns ? "energy per bit and ns over the whole way, of which "
                                              "bounds alone are known; the value is their middle"
                                            : "energy per bit and mm transferred from L1-L2, "
                                              "half to twice");
    }
  } else if (traffic.upper_bytes) {
    out.status = RowStatus::not_identified;
    const Interval energy =
        finish(model.of_data(data).times(*traffic.upper_bytes * kBitsPerByte * mm.value * kFemto));
    out.upper_j = energy.high;
  } else {
    out.status = RowStatus::unavailable;
  }
  if (!model.misfit.empty() && (out.energy_j || out.upper_j)) {
    out.status = RowStatus::misfit;
    add_reason(out.reason, "the model is flagged as a misfit");
  }
  if (kernel.time_s && *kernel.time_s > 0) {
    if (out.energy_j) out.power_w = out.energy_j->times(1 / *kernel.time_s);
    if (out.upper_j) out.upper_w = *out.upper_j / *kernel.time_s;
  }
  return out;
}

// Sums what has a figure; segments share their errors.
void sum_segments(KernelEstimate& kernel) {
  kernel.energy_j.reset();
  kernel.status = RowStatus::unavailable;
  for (const auto& segment : kernel.segments) {
    if (segment.energy_j) {
      // All are of one model: either every figure is of a misfit, or none is.
      kernel.status = kernel.status == RowStatus::transferred ? kernel.status : segment.status;
      kernel.energy_j =
          kernel.energy_j ? together(*kernel.energy_j, *segment.energy_j) : *segment.energy_j;
    } else {
      if (!kernel.left_out.empty()) kernel.left_out += ", ";
      kernel.left_out += to_string(segment.segment);
    }
  }
  if (kernel.energy_j && kernel.time_s && *kernel.time_s > 0) {
    kernel.power_w = kernel.energy_j->times(1 / *kernel.time_s);
  }
}

KernelEstimate total_of(const std::vector<KernelEstimate>& kernels, std::optional<double> busy_s) {
  KernelEstimate total;
  total.kernel = "all";
  total.time_s = 0;
  for (const auto& kernel : kernels) {
    total.dispatches += kernel.dispatches;
    if (kernel.time_s && total.time_s) {
      *total.time_s += *kernel.time_s;
    } else if (total.time_s) {
      total.time_s.reset();
      total.time_reason = kernel.kernel + ": " + kernel.time_reason;
    }
  }
  if (total.time_s) {
    for (const auto& kernel : kernels) {
      if (kernel.time_reason.empty()) continue;
      add_reason(total.time_reason, kernel.kernel + ": " + kernel.time_reason);
    }
  }
  if (busy_s && *busy_s > 0) total.time_s = std::min(total.time_s.value_or(*busy_s), *busy_s);
  for (std::size_t s = 0; s < kWireSegments.size(); ++s) {
    SegmentEstimate& sum = total.segments[s];
    sum.segment = kWireSegments[s];
    double toggles = 0;
    double weights = 0;
    bool known = true;
    double upper = 0;
    bool bounded = true;
    std::string lacking;  // why a kernel has no figure
    for (const auto& kernel : kernels) {
      const SegmentEstimate& part = kernel.segments[s];
      if (part.bytes) {
        sum.bytes = sum.bytes.value_or(0) + *part.bytes;
        toggles += *part.bytes * part.toggle_rate;
        weights += *part.bytes;
        sum.distance_mm += *part.bytes * part.distance_mm;
      }
      if (part.energy_j) {
        sum.energy_j = sum.energy_j ? together(*sum.energy_j, *part.energy_j) : *part.energy_j;
        if (sum.status != RowStatus::transferred) sum.status = part.status;
        upper += part.energy_j->high;
      } else {
        known = false;
        bounded = bounded && part.upper_j.has_value();
        upper += part.upper_j.value_or(0);
        if (lacking.empty()) lacking = part.reason;
      }
      if (part.energy_j && sum.reason.empty()) sum.reason = part.reason;
      sum.toggles_measured = sum.toggles_measured || part.toggles_measured;
      sum.bytes_at_least = sum.bytes_at_least || part.bytes_at_least;
      sum.bytes_scaled = sum.bytes_scaled || part.bytes_scaled;
      if (weights == 0) sum.toggle_rate = part.toggle_rate;
    }
    if (weights > 0) {
      sum.toggle_rate = toggles / weights;
      sum.distance_mm /= weights;
    }
    if (!known) {
      // A sum without one of its parts would be too low: only a bound, or nothing.
      sum.energy_j.reset();
      sum.reason = lacking;
      sum.status = bounded ? RowStatus::not_identified : RowStatus::unavailable;
      for (const auto& kernel : kernels) {
        if (kernel.segments[s].status == RowStatus::not_identified) {
          sum.status = RowStatus::not_identified;
        }
      }
      if (bounded) sum.upper_j = upper;
      for (const auto& kernel : kernels) {
        if (bounded && kernel.segments[s].status == RowStatus::misfit) {
          sum.status = RowStatus::misfit;
        }
      }
    }
    if (total.time_s && *total.time_s > 0) {
      if (sum.energy_j) sum.power_w = sum.energy_j->times(1 / *total.time_s);
      if (sum.upper_j) sum.upper_w = *sum.upper_j / *total.time_s;
    }
  }
  sum_segments(total);
  return total;
}

nlohmann::json kernel_json(const KernelEstimate& kernel, const char* distance_key) {
  auto segments = nlohmann::json::array();
  for (const auto& segment : kernel.segments) {
    segments.push_back({{"segment", to_string(segment.segment)},
                        {"status", to_string(segment.status)},
                        {"reason", segment.reason},
                        {"bytes", or_null(segment.bytes)},
                        {"bytes_at_least", segment.bytes_at_least},
                        {"bytes_scaled", segment.bytes_scaled},
                        {"energy_j", interval_json(segment.energy_j)},
                        {"power_w", interval_json(segment.power_w)},
                        {"upper_j", or_null(segment.upper_j)},
                        {"upper_w", or_null(segment.upper_w)},
                        {"toggle_rate", segment.toggle_rate},
                        {"toggles", segment.toggles_measured ? "measured" : "assumed"},
                        {distance_key, segment.distance_mm}});
  }
  return {{"kernel", kernel.kernel},
          {"dispatches", kernel.dispatches},
          {"time_s", or_null(kernel.time_s)},
          {"time_reason", kernel.time_reason},
          {"status", to_string(kernel.status)},
          {"energy_j", interval_json(kernel.energy_j)},
          {"power_w", interval_json(kernel.power_w)},
          {"left_out", kernel.left_out},
          {"segments", std::move(segments)}};
}

}  // namespace

Result<Estimate> estimate(const WireModel& model, const std::vector<KernelTraffic>& kernels,
                          const EstimateOptions& options) {
  if (kernels.empty()) return fail(ErrorCode::bad_data, "no kernel was counted");
  const Interval rate = equivalent_rate(options.data, model.coupling_share);
  // Counted toggles may be more than bits: beats that carry few bits move all of their wires.
  const bool counted = std::isfinite(options.data.counted_coupling);
  if (!(rate.low >= 0 && rate.low <= rate.value && rate.value <= rate.high) ||
      !std::isfinite(rate.high) || (!counted && rate.value > 1)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("toggle rate of {:.3g} ({:.3g} to {:.3g}); it lies between 0 and 1",
                            rate.value, rate.low, rate.high));
  }
  if (options.voltage_v &&
      !(*options.voltage_v >= kMinCoreVoltage && *options.voltage_v <= kMaxCoreVoltage)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("core voltage of {} V; {} to {} make sense", *options.voltage_v,
                            kMinCoreVoltage, kMaxCoreVoltage));
  }
  Estimate result;
  result.assumed_rate = rate;
  result.per_ns = model.per_ns;
  for (const auto& kernel : kernels) {
    WW_TRY(check(kernel));
    KernelEstimate out;
    out.kernel = kernel.kernel;
    out.dispatches = kernel.dispatches;
    out.time_s = kernel.time_s;
    out.time_reason = kernel.time_reason;
    if (out.time_s && !(*out.time_s > 0)) {
      out.time_s.reset();
      out.time_reason = "the file's times are all 0";
    }
    for (std::size_t s = 0; s < kWireSegments.size(); ++s) {
      out.segments[s] = estimate_segment(model, kernel, kWireSegments[s], options);
    }
    sum_segments(out);
    result.kernels.push_back(std::move(out));
  }
  const auto joules = [](const KernelEstimate& kernel) {
    return kernel.energy_j ? kernel.energy_j->value : 0.0;
  };
  std::ranges::stable_sort(result.kernels, std::ranges::greater{}, joules);
  result.total = total_of(result.kernels, options.busy_s);
  result.share_reason = "power was not sampled";
  return result;
}

void add_dynamic_energy(Estimate& estimate, const Interval& dynamic_j) {
  if (!(dynamic_j.low > 0) || !std::isfinite(dynamic_j.high)) {
    estimate.share_reason = fmt::format(
        "the sampled power shows no sure dynamic energy ({:.3g} J beyond idle, {:.3g} to "
        "{:.3g}): too short a run",
        dynamic_j.value, dynamic_j.low, dynamic_j.high);
    return;
  }
  if (estimate.total.time_s) estimate.dynamic_w = dynamic_j.value / *estimate.total.time_s;
  if (!estimate.total.energy_j) {
    estimate.share_reason = "no segment has a figure";
    return;
  }
  const Interval inverse{1 / dynamic_j.value, 1 / dynamic_j.high, 1 / dynamic_j.low};
  estimate.share_percent = product(*estimate.total.energy_j, inverse).times(100);
  estimate.share_reason.clear();
}

nlohmann::json to_json(const Estimate& estimate) {
  const char* const distance_key = estimate.per_ns ? "distance_ns" : "distance_mm";
  nlohmann::json json;
  json["total"] = kernel_json(estimate.total, distance_key);
  json["kernels"] = nlohmann::json::array();
  for (const auto& kernel : estimate.kernels)
    json["kernels"].push_back(kernel_json(kernel, distance_key));
  json["dynamic_w"] = or_null(estimate.dynamic_w);
  json["interconnect_share_percent"] = interval_json(estimate.share_percent);
  json["share_status"] =
      to_string(estimate.share_percent ? estimate.total.status : RowStatus::unavailable);
  json["share_reason"] = estimate.share_reason;
  json["assumed"] = {{"equivalent_rate", interval_json(estimate.assumed_rate)}};
  return json;
}

}  // namespace ww::model
