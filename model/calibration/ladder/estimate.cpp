// An application's joules by the level in which its bits end.
#include <fmt/format.h>

#include <algorithm>

#include "crossings/use.hpp"
#include "ladder/ladder.hpp"
#include "requests.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::calibration {
namespace {

using model::SegmentTraffic;
using model::WireSegment;
using nlohmann::json;

// Bytes that end in a level, and what is said of them.
struct LevelUse {
  const char* level{};
  std::optional<double> bytes;
  RowStatus status{RowStatus::unavailable};
  std::string reason;
  std::optional<Interval> energy_j;
};

struct KernelUse {
  std::string kernel;
  std::optional<double> time_s;
  std::vector<LevelUse> levels;
  std::optional<Interval> energy_j;  // of the levels that have a figure
  std::string left_out;
};

std::optional<double> less(const SegmentTraffic& more, const SegmentTraffic& beyond) {
  if (!more.bytes) return std::nullopt;
  return std::max(0.0, *more.bytes - beyond.bytes.value_or(0));
}

LevelUse use_of(const char* level, std::optional<double> bytes, const std::string& why_not,
                const Figure& random, const Figure& zeros, const model::AssumedData& data) {
  LevelUse use;
  use.level = level;
  use.bytes = bytes;
  const auto random_pj = random.interval();
  if (!random_pj) {
    use.status = random.status == RowStatus::ok ? RowStatus::unavailable : random.status;
    use.reason = random.reason;
    return use;
  }
  if (!bytes) {
    use.reason = why_not.empty() ? "no counter of these bytes" : why_not;
    return use;
  }
  // Between zeros and random bits the energy goes with the toggles, as it does for a crossing.
  CrossingModel between;
  between.random_pj = *random_pj;
  between.zero_pj = zeros.interval();
  use.energy_j = between.of_data(data).times(8 * 1e-12 * *bytes);
  use.status = random.status;
  return use;
}

json to_json(const KernelUse& use) {
  json levels = json::array();
  for (const LevelUse& level : use.levels) {
    levels.push_back({{"level", level.level},
                      {"bytes", or_null(level.bytes)},
                      {"energy_j", interval_json(level.energy_j)},
                      {"status", to_string(level.status)},
                      {"reason", level.reason}});
  }
  return {{"kernel", use.kernel},
          {"time_s", or_null(use.time_s)},
          {"levels", std::move(levels)},
          {"energy_j", interval_json(use.energy_j)},
          {"left_out", use.left_out}};
}

void add_up(KernelUse& use) {
  for (const LevelUse& level : use.levels) {
    if (level.energy_j) {
      use.energy_j = use.energy_j ? together(*use.energy_j, *level.energy_j) : *level.energy_j;
    } else {
      use.left_out += (use.left_out.empty() ? "" : ", ") + std::string(level.level);
    }
  }
}

}  // namespace

Result<Answer> Ladder::estimate(const Traffic& traffic, const EstimateRequest& request) const {
  WW_TRY(check_toggle_rate(request));
  if (traffic.kernels.empty()) return fail(ErrorCode::bad_data, "no kernel", traffic.file);
  const bool transferred = of_another_part(request.part, traffic.architecture);
  if (!request.anyway) {
    WW_TRY(require_same_part(request.part, traffic.architecture, traffic.file, "a bit by level",
                             "or give --anyway to use the figures with the status 'transferred'"));
  }
  const auto data =
      request.toggle_rate ? model::data_at_rate(*request.toggle_rate) : request.options.data;
  const auto of = [&](const char* level) {
    return std::pair(figure(fmt::format("{}_read", level)),
                     figure(fmt::format("{}_read_zeros", level)));
  };
  const auto [l1, l1_zeros] = of("l1");
  const auto [l2, l2_zeros] = of("l2");
  const auto [memory, memory_zeros] = of("memory");
  std::vector<KernelUse> uses;
  KernelUse all;
  all.kernel = "all";
  all.levels = {{"l1", {}, RowStatus::ok, "", {}},
                {"l2", {}, RowStatus::ok, "", {}},
                {"memory", {}, RowStatus::ok, "", {}}};
  for (const KernelTraffic& kernel : traffic.kernels) {
    const auto& registers = kernel.segments[static_cast<std::size_t>(WireSegment::registers_l1)];
    const auto& l1_l2 = kernel.segments[static_cast<std::size_t>(WireSegment::l1_l2)];
    const auto& beyond = kernel.segments[static_cast<std::size_t>(WireSegment::l2_memory)];
    KernelUse& use = uses.emplace_back();
    use.kernel = kernel.kernel;
    use.time_s = kernel.time_s;
    use.levels.push_back(
        use_of("l1", less(registers, l1_l2), registers.reason, l1, l1_zeros, data));
    use.levels.push_back(use_of("l2", beyond.bytes ? less(l1_l2, beyond) : std::nullopt,
                                l1_l2.bytes ? beyond.reason : l1_l2.reason, l2, l2_zeros, data));
    use.levels.push_back(use_of("memory", beyond.bytes, beyond.reason, memory, memory_zeros, data));
    for (std::size_t i = 0; i < use.levels.size(); ++i) {
      LevelUse& level = use.levels[i];
      if (transferred && level.status == RowStatus::ok) level.status = RowStatus::transferred;
      LevelUse& sum = all.levels[i];
      if (level.status != RowStatus::ok) {
        sum.status = level.status;
        sum.reason = level.reason;
      }
      if (level.bytes) sum.bytes = sum.bytes.value_or(0) + *level.bytes;
      if (level.energy_j) {
        sum.energy_j = sum.energy_j ? together(*sum.energy_j, *level.energy_j) : *level.energy_j;
      }
    }
    add_up(use);
  }
  add_up(all);
  uses.push_back(std::move(all));

  const bool is_virtual = provenance_.is_virtual || traffic.is_virtual;
  Answer answer;
  answer.json = {{"kind", "ladder"},
                 {"device", provenance_.device},
                 {"virtual", is_virtual},
                 {"architecture", traffic.architecture},
                 {"dispatches", traffic.dispatches},
                 {"kernels", json::array()}};
  answer.json["constant"] = {{"source", provenance_.source}, {"convention", "marginal, reads"}};
  Table table{"Joules by the level in which bits end, those of reads",
              {{"KERNEL"}, {"LEVEL"}, {"BYTES", true}, {"mJ (95%)"}, {"STATUS"}},
              {}};
  const auto labels = kernel_labels(uses, &KernelUse::kernel);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const KernelUse& use = uses[i];
    if (i + 1 < uses.size()) {
      answer.json["kernels"].push_back(to_json(use));
    } else {
      answer.json["total"] = to_json(use);
    }
    for (const LevelUse& level : use.levels) {
      table.rows.push_back(
          {labels[i], level.level, level.bytes ? fmt::format("{:.6g}", *level.bytes) : "-",
           level.energy_j ? std::optional(level.energy_j->times(1e3)) : std::nullopt,
           to_string(level.status)});
    }
  }
  answer.text.emplace_back(fmt::format("{}{}: {}", traffic.architecture,
                                       is_virtual ? " (virtual, not a measurement)" : "",
                                       provenance_.source));
  answer.text.emplace_back(std::move(table));
  answer.text.emplace_back(
      "Writes are priced as reads: counters of both together do not part them.");
  if (!uses.back().energy_j) {
    answer.lacking = {ErrorCode::bad_data, "no level has both bytes and a figure", traffic.file};
  }
  return answer;
}

}  // namespace ww::calibration
