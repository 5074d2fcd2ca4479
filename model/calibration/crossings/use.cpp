#include "crossings/use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "estimate/picojoules.hpp"
#include "fit/solver/assumptions.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::calibration {
namespace {

using model::AssumedData;
using model::SegmentTraffic;
using model::WireSegment;
using nlohmann::json;

constexpr const char* kRandomRow = "energy_pj_per_bit_crossing";
constexpr const char* kZeroRow = "zero_data_pj_per_bit_crossing";

// A row with a figure; nothing where it has none.
std::optional<Interval> identified_row(const json& crossing, const char* key) {
  const auto row = crossing.find(key);
  if (row == crossing.end() || !row->is_object() || row->value("status", "") != "ok") return {};
  for (const char* part : {"value", "low", "high"}) {
    if (!row->contains(part) || !(*row)[part].is_number()) return {};
  }
  return Interval{(*row)["value"], (*row)["low"], (*row)["high"]};
}

// The ends of a product whose factors are independent and may be zero: no logarithms there.
Interval times_bits(const Interval& crossed_bytes, const Interval& pj) {
  const double factor = 8 * model::kJoulesPerPj;
  return {crossed_bytes.value * pj.value * factor,
          std::min(crossed_bytes.low * pj.low, crossed_bytes.high * pj.low) * factor,
          crossed_bytes.high * std::max(0.0, pj.high) * factor};
}

// Whether more crossed than the traffic allows: the excess is no part of that traffic.
bool more_than_there_was(const CountedCrossing& counted) {
  return counted.traffic &&
         counted.bytes > model::kMaxCrossingsOfAByte * *counted.traffic + model::kUnrelatedBytes;
}

void use_counted(CrossingUse& use, const CountedCrossing& counted) {
  if (more_than_there_was(counted)) {
    use.status = RowStatus::rejected;
    use.reason = fmt::format(
        "the fabric counted {:.4g} bytes, more than twice the {:.4g} between L1 and L2, of which "
        "they are a part{}",
        counted.bytes, *counted.traffic,
        counted.traffic_at_least
            ? "; reductions and atomics were not counted: profile with their counters"
            : ": one of the counters counts something else");
    return;
  }
  if (counted.uncounted > 0 && !counted.uncounted_traffic) {
    use.status = RowStatus::not_identified;
    use.reason = fmt::format(
        "{} of {} dispatches lack the counter of the fabric "
        "(lts__t_sectors_srcunit_ltcfabric.sum), and nothing bounds what crossed in them",
        counted.uncounted, use.dispatches);
    return;
  }
  const double most = counted.uncounted > 0 ? *counted.uncounted_traffic : 0;
  use.crossed_bytes = Interval{counted.bytes + most / 2, counted.bytes, counted.bytes + most};
  use.counted = counted.uncounted == 0;
  use.status = use.counted ? RowStatus::ok : RowStatus::transferred;
  use.reason = "crossings as the profiler counted them on the fabric between the L2's parts";
  if (!use.counted) {
    use.reason += fmt::format(
        "; {} of {} dispatches lack the counter: there, anything from none to all of the traffic "
        "crosses",
        counted.uncounted, use.dispatches);
  }
  if (counted.read_traffic && counted.written_traffic &&
      *counted.read_traffic > *counted.written_traffic) {
    use.status = RowStatus::transferred;
    use.reason +=
        "; most of the traffic is reads, and the calibration measured reductions, whose data move "
        "the other way";
  }
}

CrossingUse use_of(const KernelTraffic& kernel,
                   const std::map<std::string, CountedCrossing>& crossed, const Interval& pj) {
  CrossingUse use;
  use.kernel = kernel.kernel;
  use.dispatches = kernel.dispatches;
  use.time_s = kernel.time_s;
  const SegmentTraffic& l1_l2 = kernel.segments[static_cast<std::size_t>(WireSegment::l1_l2)];
  use.l1_l2_bytes = l1_l2.bytes;
  if (const auto counted = crossed.find(kernel.kernel); counted != crossed.end()) {
    use_counted(use, counted->second);
  } else if (l1_l2.bytes && l1_l2.at_least) {
    use.reason = fmt::format(
        "no counter of the fabric (lts__t_sectors_srcunit_ltcfabric.sum), and no bound of what "
        "may have crossed: {}",
        l1_l2.reason);
    use.status = RowStatus::not_identified;
  } else if (l1_l2.bytes) {
    // A hash that spreads lines evenly puts half of them on the other side; copies near the reader
    // make it fewer.
    use.crossed_bytes = Interval{*l1_l2.bytes / 2, 0, *l1_l2.bytes};
    use.reason =
        "no counter of the fabric (lts__t_sectors_srcunit_ltcfabric.sum): anything from none to "
        "all of the traffic crosses";
    use.status = RowStatus::transferred;
  } else {
    use.reason = l1_l2.reason.empty() ? "no bytes of L1-L2" : l1_l2.reason;
  }
  if (!use.crossed_bytes) return use;
  use.energy_j = times_bits(*use.crossed_bytes, pj);
  if (use.time_s && *use.time_s > 0) use.power_w = use.energy_j->times(1 / *use.time_s);
  return use;
}

}  // namespace

Interval CrossingModel::of_data(const AssumedData& data) const {
  if (!zero_pj) {
    const Interval share = model::share_of_random_bits(data);
    return {random_pj.value, std::min(random_pj.low, random_pj.low * share.low),
            std::max(random_pj.high, random_pj.high * share.high)};
  }
  const Interval rate = model::equivalent_rate(
      data, {model::kCouplingShare, model::kCouplingShare - model::kCouplingShareError,
             model::kCouplingShare + model::kCouplingShareError});
  const auto at = [&](double toggles, double random, double zero) {
    return zero + (random - zero) * toggles / model::kRandomToggleRate;
  };
  const Interval& zero = *zero_pj;
  // The sensor and the runs behind both are the same, so their ends go together. Beyond random bits
  // these lines may cross, and the outer ones are the ends.
  const auto [low, high] = std::minmax(
      {at(rate.low, random_pj.low, zero.low), at(rate.high, random_pj.low, zero.low),
       at(rate.low, random_pj.high, zero.high), at(rate.high, random_pj.high, zero.high)});
  return {at(rate.value, random_pj.value, zero.value), low, high};
}

Result<CrossingModel> parse_crossing_model(const json& crossing, const std::string& origin) {
  if (!crossing.is_object() || !crossing.contains(kRandomRow)) {
    return fail(ErrorCode::parse_error,
                fmt::format("is not a calibration of crossings: it has no '{}'", kRandomRow),
                origin);
  }
  const auto random = identified_row(crossing, kRandomRow);
  if (!random) {
    const json& row = crossing[kRandomRow];
    return fail(ErrorCode::bad_data,
                fmt::format("the calibration has no figure: {}, {}", row.value("status", "?"),
                            row.value("reason", "")),
                origin);
  }
  CrossingModel model;
  model.device = crossing.value("device", "");
  if (const auto chip = crossing.find("chip"); chip != crossing.end() && chip->is_object()) {
    model.target = chip->value("target", "");
  }
  const auto is_virtual = crossing.find("virtual");
  model.is_virtual =
      is_virtual != crossing.end() && is_virtual->is_boolean() && is_virtual->get<bool>();
  model.source = "calibration of crossings" + (model.device.empty() ? "" : " of " + model.device);
  model.random_pj = *random;
  model.zero_pj = identified_row(crossing, kZeroRow);
  return model;
}

Result<std::vector<CrossingUse>> estimate_crossings(
    const CrossingModel& model, const std::vector<KernelTraffic>& kernels,
    const std::map<std::string, CountedCrossing>& crossed, const AssumedData& data) {
  if (kernels.empty()) return fail(ErrorCode::bad_data, "no kernel");
  const Interval pj = model.of_data(data);
  std::vector<CrossingUse> uses;
  CrossingUse all;
  all.kernel = "all";
  all.time_s = 0;
  all.counted = true;
  all.status = RowStatus::ok;
  all.l1_l2_bytes = 0;
  all.crossed_bytes = Interval{};
  all.energy_j = Interval{};
  for (const KernelTraffic& kernel : kernels) {
    const CrossingUse use = use_of(kernel, crossed, pj);
    uses.push_back(use);
    all.dispatches += use.dispatches;
    all.counted = all.counted && use.counted;
    if (!use.time_s) all.time_s.reset();
    if (all.time_s) *all.time_s += *use.time_s;
    if (!use.energy_j) {
      all.status = RowStatus::unavailable;
      all.reason = fmt::format("kernel '{}': {}", use.kernel, use.reason);
      all.energy_j.reset();
      all.crossed_bytes.reset();
      all.l1_l2_bytes.reset();
    }
    if (!all.energy_j) continue;
    if (use.status != RowStatus::ok) {
      all.status = use.status;
      all.reason = use.reason;
    }
    all.energy_j = together(*all.energy_j, *use.energy_j);
    all.crossed_bytes = together(*all.crossed_bytes, *use.crossed_bytes);
    if (all.l1_l2_bytes && use.l1_l2_bytes) {
      *all.l1_l2_bytes += *use.l1_l2_bytes;
    } else {
      all.l1_l2_bytes.reset();
    }
  }
  if (all.energy_j && all.time_s && *all.time_s > 0) {
    all.power_w = all.energy_j->times(1 / *all.time_s);
  }
  std::ranges::stable_sort(uses, std::greater<>(), [](const CrossingUse& use) {
    return use.energy_j ? use.energy_j->value : -1.0;
  });
  uses.push_back(std::move(all));
  return uses;
}

json to_json(const CrossingUse& use) {
  return {{"kernel", use.kernel},
          {"dispatches", use.dispatches},
          {"time_s", or_null(use.time_s)},
          {"status", to_string(use.status)},
          {"reason", use.reason},
          {"crossings_counted", use.counted},
          {"l1_l2_bytes", or_null(use.l1_l2_bytes)},
          {"crossed_bytes", interval_json(use.crossed_bytes)},
          {"energy_j", interval_json(use.energy_j)},
          {"power_w", interval_json(use.power_w)}};
}

}  // namespace ww::calibration
