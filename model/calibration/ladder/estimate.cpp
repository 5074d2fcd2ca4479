// An application's joules by the steps of its bits' way: into the L1, on to the L2, on to memory. A
// step is a difference of two levels' streams, so that the instructions of these are in the L1's
// step alone.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "crossings/use.hpp"
#include "fit/solver/assumptions.hpp"
#include "ladder/ladder.hpp"
#include "requests.hpp"
#include "ww/calibration/ladder_fit.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::calibration {
namespace {

using model::KernelTraffic;
using model::SegmentTraffic;
using model::WireSegment;
using nlohmann::json;

constexpr const char* kWholeLines =
    "of streams of whole lines with their instructions; an application's loads may take others";
constexpr const char* kByParts =
    "by the lines that loads take, and 4 B of each work-item; the interval has 0 to 16 B, and what "
    "a "
    "load itself costs the ladder's streams, which wait for it";
constexpr const char* kWritten =
    "writes by the ladder's stores, with the miss that made room for them in the L2; a line that "
    "was stored and has not left the L2 took that miss alone, between none and all of a write";
constexpr const char* kCacheOrMemory = "cache or memory";
constexpr const char* kNotParted =
    "no counter parts what the cache behind the L2 answers from what memory does";

// Price of a bit in a step: of random data, and of zeros.
struct StepPrice {
  Figure random;
  std::optional<Interval> zeros;
};

// Bytes that take a step, and what is said of them.
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

LevelUse use_of(const char* level, std::optional<double> bytes, const std::string& why_not,
                const StepPrice& price, const model::AssumedData& data) {
  LevelUse use;
  use.level = level;
  use.bytes = bytes;
  const auto random_pj = price.random.interval();
  if (!random_pj) {
    use.status =
        price.random.status == RowStatus::ok ? RowStatus::unavailable : price.random.status;
    use.reason = price.random.reason;
    return use;
  }
  if (!bytes) {
    use.reason = why_not.empty() ? "no counter of these bytes" : why_not;
    return use;
  }
  // Between zeros and random bits the energy goes with the toggles, as it does for a crossing.
  CrossingModel between;
  between.random_pj = *random_pj;
  between.zero_pj = price.zeros;
  use.energy_j = between.of_data(data).times(8 * 1e-12 * *bytes);
  use.status = price.random.status;
  use.reason = price.random.reason;
  return use;
}

constexpr const char* kRead = "read";
constexpr const char* kWrite = "write";
using FigureOf = std::function<Figure(const std::string&)>;

// Prices of loads through the L1, by their number, their lines and their bytes.
struct LoadPrice {
  StepPrice line, loaded;  // of a bit
  Figure load;             // of a wavefront
  double wave_size{};

  [[nodiscard]] bool known() const {
    return line.random.interval() && loaded.random.interval() && load.interval();
  }
};

LoadPrice load_price(const FigureOf& of, double wave_size) {
  LoadPrice price;
  price.wave_size = wave_size;
  for (const auto& [part, name] :
       {std::pair{&price.line, std::string(ladder_levels::kLine)},
        std::pair{&price.loaded, std::string(ladder_levels::kRegister)}}) {
    part->random = of(name);
    part->zeros = of(name + "_zeros").interval();
  }
  price.load = of(ladder_levels::kInstruction);
  return price;
}

// Nothing costs less than nothing, whatever the noise of a small part is.
Interval above_zero(const Interval& energy) {
  return {std::max(0.0, energy.value), std::max(0.0, energy.low), std::max(0.0, energy.high)};
}

Interval of_bits(const StepPrice& price, const model::AssumedData& data, double bits) {
  CrossingModel between;
  between.random_pj = *price.random.interval();
  between.zero_pj = price.zeros;
  return above_zero(between.of_data(data).times(1e-12 * bits));
}

// The step into the L1, where loads are counted beside the lines that they take. What a load costs
// by itself has the wait of its wavefront in it, which an application's loads share: it is in the
// interval alone.
void price_loads(LevelUse& use, const LoadPrice& price, double loads, double line_bytes,
                 const model::AssumedData& data) {
  const double items = loads * price.wave_size;
  const Interval lines = of_bits(price.line, data, 8 * line_bytes);
  const Interval loaded = of_bits(price.loaded, data, 8.0);  // of a byte of each work-item
  const Interval load = above_zero(price.load.interval()->times(1e-12 * loads));
  use.energy_j = Interval{lines.value + model::kLoadedBytes * items * loaded.value, lines.low,
                          lines.high + model::kMaxLoadedBytes * items * loaded.high + load.high};
  use.reason = kByParts;
  use.status = RowStatus::transferred;
}

// From one level to the next, of reads or writes; from the compute units where there is none
// before.
StepPrice step_price(const FigureOf& of, const std::string& way, const std::string& level,
                     const std::string& before) {
  StepPrice price;
  const auto zeros = of(fmt::format("{}_{}_zeros", level, way)).interval();
  if (before.empty()) {
    price.random = of(fmt::format("{}_{}", level, way));
    price.zeros = zeros;
    return price;
  }
  price.random = of(fmt::format("{}_{}_less_{}", level, way, before));
  const auto random = price.random.interval();
  const auto zeros_before = of(fmt::format("{}_{}_zeros", before, way)).interval();
  if (!random || !zeros || !zeros_before) return price;
  // As sure as that of random bits, which is no smaller and has the same errors.
  const double value = zeros->value - zeros_before->value;
  const double half = (random->high - random->low) / 2;
  price.zeros = Interval{value, value - half, value + half};
  return price;
}

// Between what two ways cost, of which nobody counts the shares.
Interval either(const Interval& less, const Interval& more) {
  return {(less.value + more.value) / 2, std::min(less.low, more.low),
          std::max(less.high, more.high)};
}

// Behind the L2, by a cache that answers some share.
StepPrice price_behind_cache(const FigureOf& of, const std::string& way) {
  const StepPrice cache = step_price(of, way, ladder_levels::cache, ladder_levels::l2);
  const StepPrice beyond = step_price(of, way, ladder_levels::memory, ladder_levels::cache);
  const auto near = cache.random.interval();
  const auto far = beyond.random.interval();
  if (!near || !far) return near ? beyond : cache;
  StepPrice price = beyond;
  const Interval all = either(*near, together(*near, *far));
  price.random.value = all.value;
  price.random.low = all.low;
  price.random.high = all.high;
  price.random.reason = kNotParted;
  price.zeros.reset();
  if (cache.zeros && beyond.zeros) {
    price.zeros = either(*cache.zeros, together(*cache.zeros, *beyond.zeros));
  }
  return price;
}

struct Prices {
  StepPrice l1, l2, behind, behind_written;
  const char* behind_name{ladder_levels::memory};
};

Prices prices_by(const FigureOf& of) {
  Prices prices;
  prices.l1 = step_price(of, kRead, ladder_levels::l1, "");
  // Streams of whole lines: other loads take as many instructions for fewer bytes.
  if (prices.l1.random.status == RowStatus::ok) {
    prices.l1.random.status = RowStatus::transferred;
    prices.l1.random.reason = kWholeLines;
  }
  const bool has_l1 = prices.l1.random.value.has_value();
  prices.l2 = step_price(of, kRead, ladder_levels::l2, has_l1 ? ladder_levels::l1 : "");
  const bool has_cache = of(std::string(ladder_levels::cache) + "_read").value.has_value();
  if (has_cache) prices.behind_name = kCacheOrMemory;
  for (const auto& [price, way] :
       {std::pair{&prices.behind, kRead}, std::pair{&prices.behind_written, kWrite}}) {
    *price = has_cache ? price_behind_cache(of, way)
                       : step_price(of, way, ladder_levels::memory, ladder_levels::l2);
  }
  return prices;
}

// The step behind the L2, where counters part writes from reads. A line that stores took in the L2
// and that has not left it since took its miss alone: between nothing and a write. A write passes
// the L2's arrays twice, by that miss and as it leaves, and a read once, so that the miss is what a
// write costs more where the way to memory costs alike.
void price_writes(LevelUse& use, const KernelTraffic& kernel, const Prices& prices,
                  const model::AssumedData& data) {
  const auto written = kernel.memory_written_bytes;
  if (!use.energy_j || !written || !prices.behind_written.random.interval()) return;
  const double read = std::max(0.0, *use.bytes - *written);
  use.energy_j = together(of_bits(prices.behind, data, 8 * read),
                          of_bits(prices.behind_written, data, 8 * *written));
  const double kept = kernel.l2_filled_bytes.value_or(0) - read - *written;
  if (kept > 0) {
    const Interval all = of_bits(prices.behind_written, data, 8 * kept);
    const double more = all.value - of_bits(prices.behind, data, 8 * kept).value;
    use.energy_j = together(*use.energy_j, {std::max(0.0, more), 0, all.high});
  }
  use.reason += (use.reason.empty() ? "" : "; ") + std::string(kWritten);
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

// The kernels' time, if all have one. `busy_s` is how long any of them ran, where that is known.
std::optional<double> time_of(const std::vector<KernelUse>& kernels, std::optional<double> busy_s) {
  double sum = 0;
  for (const KernelUse& kernel : kernels) {
    if (!kernel.time_s) return busy_s;
    sum += *kernel.time_s;
  }
  return busy_s ? std::min(sum, *busy_s) : sum;
}

Priced priced(const KernelUse& all) {
  const auto watts = [&all](const std::optional<Interval>& energy) {
    return energy && all.time_s && *all.time_s > 0 ? std::optional(energy->times(1 / *all.time_s))
                                                   : std::nullopt;
  };
  Priced priced;
  for (const LevelUse& level : all.levels) {
    priced.rows.push_back({level.level, std::string(to_string(level.status)), level.reason,
                           level.energy_j, watts(level.energy_j)});
  }
  priced.together = together_row(all.left_out, all.energy_j, watts(all.energy_j));
  return priced;
}

}  // namespace

std::vector<std::string> Ladder::priced_rows() const {
  const bool has_cache = figure(std::string(ladder_levels::cache) + "_read").value.has_value();
  return {ladder_levels::l1, ladder_levels::l2, has_cache ? kCacheOrMemory : ladder_levels::memory};
}

Result<Answer> Ladder::estimate(const Traffic& traffic, const EstimateRequest& request) const {
  WW_TRY(check_toggle_rate(request));
  if (traffic.kernels.empty()) return fail(ErrorCode::bad_data, "no kernel", traffic.file);
  const bool transferred = of_another_part(request.part, traffic.architecture);
  if (!request.anyway) {
    WW_TRY(require_same_part(request.part, traffic.architecture, traffic.file, "a bit by level",
                             "or give --anyway to use the figures with the status 'transferred'"));
  }
  const auto data_of = [&](const std::string& kernel) {
    if (request.toggle_rate) return model::data_at_rate(*request.toggle_rate);
    const auto own = request.options.data_of_kernel.find(kernel);
    return own == request.options.data_of_kernel.end() ? request.options.data : own->second;
  };
  const Prices prices = prices_by([this](const std::string& name) { return figure(name); });
  const LoadPrice loads = load_price([this](const std::string& name) { return figure(name); },
                                     document_.value("wave_size", 64.0));
  std::vector<KernelUse> uses;
  KernelUse all;
  all.kernel = "all";
  for (const char* level : {ladder_levels::l1, ladder_levels::l2, prices.behind_name}) {
    all.levels.push_back({level, {}, RowStatus::ok, "", {}});
  }
  for (const KernelTraffic& kernel : traffic.kernels) {
    const auto& registers = kernel.segments[static_cast<std::size_t>(WireSegment::registers_l1)];
    const auto& l1_l2 = kernel.segments[static_cast<std::size_t>(WireSegment::l1_l2)];
    const auto& beyond = kernel.segments[static_cast<std::size_t>(WireSegment::l2_memory)];
    const model::AssumedData data = data_of(kernel.kernel);
    KernelUse& use = uses.emplace_back();
    use.kernel = kernel.kernel;
    use.time_s = kernel.time_s;
    // Caches look up whole lines, whatever part of them is moved.
    const auto l1_lines = registers.upper_bytes ? registers.upper_bytes : registers.bytes;
    const auto l2_lines =
        l1_l2.bytes && l1_l2.wires ? std::optional(l1_l2.wires->slot_bits / 8) : l1_l2.bytes;
    use.levels.push_back(use_of(ladder_levels::l1, l1_lines, registers.reason, prices.l1, data));
    if (use.levels.back().energy_j && loads.known() && kernel.memory_instructions &&
        registers.upper_bytes) {
      price_loads(use.levels.back(), loads, *kernel.memory_instructions, *l1_lines, data);
    }
    use.levels.push_back(use_of(ladder_levels::l2, l2_lines, l1_l2.reason, prices.l2, data));
    use.levels.push_back(
        use_of(prices.behind_name, beyond.bytes, beyond.reason, prices.behind, data));
    price_writes(use.levels.back(), kernel, prices, data);
    for (std::size_t i = 0; i < use.levels.size(); ++i) {
      LevelUse& level = use.levels[i];
      if (transferred && level.status == RowStatus::ok) level.status = RowStatus::transferred;
      LevelUse& sum = all.levels[i];
      if (level.status != RowStatus::ok) sum.status = level.status;
      if (!level.reason.empty()) sum.reason = level.reason;
      if (level.bytes) sum.bytes = sum.bytes.value_or(0) + *level.bytes;
      if (level.energy_j) {
        sum.energy_j = sum.energy_j ? together(*sum.energy_j, *level.energy_j) : *level.energy_j;
      }
    }
    add_up(use);
  }
  add_up(all);
  all.time_s = time_of(uses, request.options.busy_s);
  uses.push_back(std::move(all));

  const bool is_virtual = provenance_.is_virtual || traffic.is_virtual;
  Answer answer;
  answer.json = {{"kind", "ladder"},
                 {"device", provenance_.device},
                 {"virtual", is_virtual},
                 {"architecture", traffic.architecture},
                 {"dispatches", traffic.dispatches},
                 {"kernels", json::array()}};
  answer.json["constant"] = {{"source", provenance_.source},
                             {"convention", "marginal, by steps of the way"}};
  Table table{"Joules by the step that bits take to a level",
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
      "Writes into the L2 are priced as reads, and so are those behind it where no counter parts "
      "them.");
  for (const LevelUse& level : uses.back().levels) {
    if (level.energy_j && !level.reason.empty()) {
      answer.text.emplace_back(fmt::format("{}: {}", level.level, level.reason));
    }
  }
  answer.priced = priced(uses.back());
  if (!uses.back().energy_j) {
    answer.lacking = {ErrorCode::bad_data, "no level has both bytes and a figure", traffic.file};
  }
  return answer;
}

}  // namespace ww::calibration
