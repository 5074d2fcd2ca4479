#include "package/use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "estimate/picojoules.hpp"
#include "fit/crossing/crossing_interval.hpp"
#include "ww/core/json_reader.hpp"

namespace ww::calibration {
namespace {

using model::AssumedData;
using model::EstimateOptions;
using model::SegmentTraffic;
using model::WireSegment;
using nlohmann::json;

constexpr double kJoulesPerPjAndByte = 8 * model::kJoulesPerPj;
constexpr double kEvenShare = 0.25;  // of each way, where pages and readers are spread evenly

constexpr std::size_t index_of(HopClass which) {
  return static_cast<std::size_t>(which);
}

// The wires behind the L2s are others than those on which monitors count the same words.
AssumedData data_of(const KernelTraffic& kernel, const EstimateOptions& options) {
  const auto& wires = kernel.segments[static_cast<std::size_t>(WireSegment::l2_memory)].wires;
  if (options.use_monitors && wires && wires->slot_bits > 0 && wires->toggles > 0) {
    return model::data_counted_elsewhere(std::min(1.0, wires->toggles / wires->slot_bits),
                                         wires->coupling() / wires->toggles);
  }
  const auto own = options.data_of_kernel.find(kernel.kernel);
  return own != options.data_of_kernel.end() ? own->second : options.data;
}

// Bytes of the class, and where they come from.
HopClassUse bytes_of(HopClass which, const SegmentTraffic& behind_l2, const IoDieBytes* counted) {
  HopClassUse use;
  const auto certain = [&use](double bytes) {
    use.bytes = Interval{bytes, bytes, bytes};
    use.status = RowStatus::ok;
  };
  if (counted != nullptr) {
    switch (which) {
      case HopClass::compute_die_and_cache:
        certain(counted->own + counted->row + counted->column + counted->across);
        break;
      case HopClass::row_hop: certain(counted->row); break;
      case HopClass::column_hop: certain(counted->column); break;
      case HopClass::across: certain(counted->across); break;
      case HopClass::memory_phy:
      case HopClass::memory: certain(counted->memory); break;
      case HopClass::xgmi: certain(counted->xgmi); break;
    }
    return use;
  }
  if (!behind_l2.bytes) {
    use.reason = behind_l2.reason.empty() ? "no bytes behind the L2s" : behind_l2.reason;
    return use;
  }
  const double bytes = *behind_l2.bytes;
  switch (which) {
    case HopClass::compute_die_and_cache:
      certain(bytes);
      if (behind_l2.at_least) {
        use.status = RowStatus::transferred;
        use.reason = "more may have left the L2s than was counted: " + behind_l2.reason;
      } else if (behind_l2.scaled) {
        use.status = RowStatus::transferred;
        use.reason = behind_l2.reason;
      }
      break;
    case HopClass::row_hop:
    case HopClass::column_hop:
    case HopClass::across:
      use.bytes = Interval{kEvenShare * bytes, 0, bytes};
      use.status = RowStatus::transferred;
      use.reason =
          "no counter says which links the traffic takes: a quarter of it if pages and readers are "
          "spread evenly, anything from none to all otherwise";
      break;
    case HopClass::memory_phy:
    case HopClass::memory:
      use.status = RowStatus::not_identified;
      use.bytes = Interval{bytes, 0, bytes};
      use.reason = "no counter says what the Infinity Cache had: at most all of the traffic";
      break;
    case HopClass::xgmi:
      use.status = RowStatus::not_identified;
      use.bytes = Interval{0, 0, bytes};
      use.reason = "no counter says what is another part's memory: at most all of the traffic";
      break;
  }
  return use;
}

HopClassUse use_of(HopClass which, const ChipletModel::Energy& energy, const Interval& share,
                   const KernelTraffic& kernel, const IoDieBytes* counted) {
  HopClassUse use =
      bytes_of(which, kernel.segments[static_cast<std::size_t>(WireSegment::l2_memory)], counted);
  if (!use.bytes) return use;
  if (use.bytes->high == 0) {  // whatever a bit takes
    use.energy_j = Interval{};
    if (kernel.time_s && *kernel.time_s > 0) use.power_w = Interval{};
    return use;
  }
  if (!energy.pj) {
    use.status = RowStatus::not_identified;
    use.reason = energy.why_not;
    return use;
  }
  // A difference of conditions may lie below zero; less than nothing is not drawn.
  const Interval joules{
      use.bytes->value * std::max(0.0, energy.pj->value) * kJoulesPerPjAndByte,
      use.bytes->low * std::max(0.0, energy.pj->low) * share.low * kJoulesPerPjAndByte,
      use.bytes->high * energy.pj->high * share.high * kJoulesPerPjAndByte};
  if (use.status == RowStatus::not_identified) {
    use.upper_j = joules.high;
    return use;
  }
  use.energy_j = joules;
  if (kernel.time_s && *kernel.time_s > 0) use.power_w = joules.times(1 / *kernel.time_s);
  return use;
}

// Adds a class of one kernel to the same class of all.
void add(HopClassUse& sum, const HopClassUse& one, bool first) {
  if (first) {
    sum = one;
    return;
  }
  const auto add_interval = [](std::optional<Interval>& to, const std::optional<Interval>& from) {
    to = to && from ? std::optional(together(*to, *from)) : std::nullopt;
  };
  add_interval(sum.bytes, one.bytes);
  // Where one kernel has a bound alone, all have no more.
  const auto upper = [](const HopClassUse& use) {
    return use.energy_j ? std::optional(use.energy_j->high) : use.upper_j;
  };
  const auto of_sum = upper(sum);
  const auto of_one = upper(one);
  add_interval(sum.energy_j, one.energy_j);
  sum.upper_j =
      sum.energy_j || !of_sum || !of_one ? std::nullopt : std::optional(*of_sum + *of_one);
  if (one.status != RowStatus::ok) {
    sum.status = one.status;
    sum.reason = one.reason;
  }
}

// The classes share a sensor's gain, so their ends add.
HopClassUse together_of(const ChipletUse& use) {
  HopClassUse sum;
  sum.status = RowStatus::ok;
  sum.energy_j = Interval{};
  for (std::size_t i = 0; i < use.classes.size(); ++i) {
    const HopClassUse& one = use.classes[i];
    if (one.energy_j) {
      sum.energy_j = together(*sum.energy_j, *one.energy_j);
      continue;
    }
    sum.status = one.status;
    sum.reason = fmt::format("{}: {}", kHopClasses[i], one.reason);
    sum.energy_j.reset();
    break;
  }
  return sum;
}

void add_power(HopClassUse& use, const std::optional<double>& time_s) {
  use.power_w.reset();
  if (use.energy_j && time_s && *time_s > 0) use.power_w = use.energy_j->times(1 / *time_s);
}

json class_json(std::string_view name, const HopClassUse& use) {
  return {{"class", name},
          {"status", to_string(use.status)},
          {"reason", use.reason},
          {"bytes", interval_json(use.bytes)},
          {"energy_j", interval_json(use.energy_j)},
          {"power_w", interval_json(use.power_w)},
          {"upper_j", or_null(use.upper_j)}};
}

}  // namespace

Result<ChipletModel> parse_chiplet_model(const json& document, const std::string& origin) {
  const auto rows = document.is_object() ? document.find("hop_classes") : document.end();
  if (!document.is_object() || rows == document.end() || !rows->is_array()) {
    return fail(ErrorCode::parse_error,
                "is not a calibration of a package's dies: it has no 'hop_classes'", origin);
  }
  ChipletModel model;
  const JsonReader reader(document, origin);
  reader.read("device", model.device);
  reader.read("virtual", model.is_virtual);
  WW_TRY(reader.status());
  if (const auto chip = document.find("chip"); chip != document.end() && chip->is_object()) {
    if (const auto target = chip->find("target"); target != chip->end() && target->is_string()) {
      model.target = target->get<std::string>();
    }
  }
  model.source = "calibration of a package's dies" +
                 (model.device.empty() ? std::string() : " of " + model.device);
  for (std::size_t i = 0; i < kHopClasses.size(); ++i) {
    ChipletModel::Energy& energy = model.classes[i];
    energy.why_not = "the calibration has no such row";
    for (const json& row : *rows) {
      if (!row.is_object() || row.value("name", json()) != kHopClasses[i]) continue;
      const JsonReader of_row(row, origin);
      std::string status;
      std::string reason;
      of_row.read("status", status);
      of_row.read_optional("reason", reason);
      WW_TRY(of_row.status());
      energy.why_not = fmt::format("{}: {}", status, reason);
      if (status != "ok") continue;
      Interval pj;
      of_row.read("value", pj.value);
      of_row.read("low", pj.low);
      of_row.read("high", pj.high);
      WW_TRY(of_row.status());
      if (const auto why =
              model::why_below_zero(model::kJoulesPerPj * pj.low, model::kJoulesPerPj * pj.high)) {
        energy.why_not = *why;
        continue;
      }
      energy = {pj, ""};
    }
  }
  return model;
}

Result<std::vector<ChipletUse>> estimate_chiplet(const ChipletModel& model,
                                                 const std::vector<KernelTraffic>& kernels,
                                                 const std::map<std::string, IoDieBytes>& counted,
                                                 const EstimateOptions& options) {
  if (kernels.empty()) return fail(ErrorCode::bad_data, "no kernel");
  std::vector<ChipletUse> uses;
  ChipletUse all;
  all.kernel = "all";
  all.time_s = 0;
  for (const KernelTraffic& kernel : kernels) {
    ChipletUse use;
    use.kernel = kernel.kernel;
    use.dispatches = kernel.dispatches;
    use.time_s = kernel.time_s;
    const Interval share = model::share_of_random_bits(data_of(kernel, options));
    const auto found = counted.find(kernel.kernel);
    for (std::size_t i = 0; i < kHopClasses.size(); ++i) {
      use.classes[i] = use_of(static_cast<HopClass>(i), model.classes[i], share, kernel,
                              found == counted.end() ? nullptr : &found->second);
      add(all.classes[i], use.classes[i], uses.empty());
    }
    use.together = together_of(use);
    add_power(use.together, use.time_s);
    all.dispatches += use.dispatches;
    all.time_s = all.time_s && use.time_s ? std::optional(*all.time_s + *use.time_s) : std::nullopt;
    uses.push_back(std::move(use));
  }
  if (options.busy_s && *options.busy_s > 0) {
    all.time_s = std::min(all.time_s.value_or(*options.busy_s), *options.busy_s);
  }
  for (HopClassUse& one : all.classes) add_power(one, all.time_s);
  all.together = together_of(all);
  add_power(all.together, all.time_s);
  std::ranges::stable_sort(uses, std::greater<>(), [](const ChipletUse& use) {
    const auto& energy = use.classes[index_of(HopClass::compute_die_and_cache)].energy_j;
    return use.together.energy_j ? use.together.energy_j->value : energy ? energy->value : -1.0;
  });
  uses.push_back(std::move(all));
  return uses;
}

json to_json(const ChipletUse& use) {
  json classes = json::array();
  for (std::size_t i = 0; i < use.classes.size(); ++i) {
    classes.push_back(class_json(kHopClasses[i], use.classes[i]));
  }
  return {{"kernel", use.kernel},
          {"dispatches", use.dispatches},
          {"time_s", or_null(use.time_s)},
          {"hop_classes", std::move(classes)},
          {"together", class_json("all", use.together)}};
}

}  // namespace ww::calibration
