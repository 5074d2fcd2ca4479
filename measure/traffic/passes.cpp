// Counters of one launch from several of its executions: a profiler has few counter registers, so
// it runs the program, or the kernel alone, once for each group of counters.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

#include "counter_forms.hpp"

namespace ww::measure {
namespace {

bool same_launch(const CounterDispatch& a, const CounterDispatch& b) {
  return a.id == b.id && a.kernel == b.kernel && a.grid_size == b.grid_size && a.agent == b.agent;
}

// All of them are of one launch.
CounterDispatch joined(std::span<CounterDispatch> passes) {
  RepeatedCounters repeated;
  for (const CounterDispatch& pass : passes) {
    for (const auto& [name, value] : pass.counters) repeated.add(name, value);
  }
  CounterDispatch all = std::move(passes.front());
  for (CounterDispatch& pass : passes.subspan(1)) {
    all.missing.merge(pass.missing);
    all.remarks.merge(pass.remarks);
    all.texts.merge(pass.texts);
  }
  repeated.settle(all);
  std::erase_if(all.missing, [&](const auto& one) { return all.counters.contains(one.first); });
  forget_times_of_passes(all);
  return all;
}

std::set<std::string> counters_of(const std::vector<CounterDispatch>& set) {
  std::set<std::string> names;
  for (const CounterDispatch& dispatch : set) {
    for (const auto& [name, value] : dispatch.counters) names.insert(name);
  }
  return names;
}

// Sets of launches that are passes of one another.
struct PassGroup {
  std::vector<std::vector<CounterDispatch>> passes;
  std::set<std::string> counters;

  // Two processes that ran the same program have the same counters; passes have others.
  [[nodiscard]] bool takes(const std::vector<CounterDispatch>& set,
                           const std::set<std::string>& its_counters) const {
    return std::ranges::equal(passes.front(), set, same_launch) &&
           !std::ranges::includes(counters, its_counters) &&
           !std::ranges::includes(its_counters, counters);
  }
  std::vector<CounterDispatch> join() && {
    if (passes.size() == 1) return std::move(passes.front());
    std::vector<CounterDispatch> launches;
    for (std::size_t i = 0; i < passes.front().size(); ++i) {
      std::vector<CounterDispatch> rows;
      for (auto& pass : passes) rows.push_back(std::move(pass[i]));
      launches.push_back(joined(rows));
    }
    return launches;
  }
};

// Whether rows of one launch are its passes, where the file does not say so. Two rows with the same
// counters may be two processes of one number, or two dies.
Status check_passes(std::span<const CounterDispatch> rows, const std::string& source) {
  const auto refused = [&](const std::string& why) {
    return fail(ErrorCode::bad_data,
                fmt::format("dispatch {} of agent {} appears twice{}", rows.front().id,
                            rows.front().agent, why),
                source);
  };
  std::set<std::int64_t> starts;
  std::set<std::set<std::string>> sets;
  std::set<std::string> seen, repeated;
  for (const CounterDispatch& row : rows) {
    if (row.start_ns) starts.insert(*row.start_ns);
    std::set<std::string> counters;
    for (const auto& [name, value] : row.counters) {
      counters.insert(name);
      if (!seen.insert(name).second && !is_sum(name)) repeated.insert(name);
    }
    if (counters.empty()) return refused("");
    if (!sets.insert(counters).second) {
      return refused(
          " with the same counters: rows of several processes, dies or runs; import one at a time");
    }
  }
  if (!repeated.empty() && starts.size() < rows.size()) {
    return refused(fmt::format(
        " with {0}: instances or passes, the file does not say; count {0}_sum", *repeated.begin()));
  }
  return {};
}

Status check_rows(std::span<const CounterDispatch> rows, SameRows same, const std::string& source) {
  for (const CounterDispatch& row : rows) {
    if (same_launch(row, rows.front())) continue;
    return fail(ErrorCode::bad_data,
                fmt::format("dispatch {} of agent {} is kernel '{}' in one row and '{}' in another",
                            row.id, row.agent, rows.front().kernel, row.kernel),
                source);
  }
  return same == SameRows::passes ? Status() : check_passes(rows, source);
}

std::vector<std::vector<CounterDispatch>> by_process(std::vector<CounterDispatch> dispatches) {
  std::vector<std::vector<CounterDispatch>> sets;
  for (CounterDispatch& dispatch : dispatches) {
    if (sets.empty() || sets.back().back().process != dispatch.process) sets.emplace_back();
    sets.back().push_back(std::move(dispatch));
  }
  return sets;
}

}  // namespace

void forget_times_of_passes(CounterDispatch& dispatch) {
  dispatch.duration_ns.reset();
  dispatch.start_ns.reset();
  dispatch.duration_reason =
      "its counters come from several runs of the kernel, and each run has times of its own";
}

void RepeatedCounters::settle(CounterDispatch& dispatch) const {
  for (const auto& [name, values] : values_) {
    const auto [low, high] = std::ranges::minmax(values);
    const auto count = static_cast<double>(values.size());
    dispatch.counters[name] = low == high ? low : std::reduce(values.begin(), values.end()) / count;
    if (low != high) {
      dispatch.remarks[name] = fmt::format("{} is the mean of {} passes, which counted {} to {}",
                                           name, count, low, high);
    }
  }
}

void join_passes(std::vector<std::vector<CounterDispatch>>& sets) {
  std::vector<PassGroup> groups;
  for (auto& set : sets) {
    auto counters = counters_of(set);
    auto group = std::ranges::find_if(
        groups, [&](const PassGroup& one) { return one.takes(set, counters); });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->passes.push_back(std::move(set));
    group->counters.merge(counters);
  }
  sets.clear();
  for (PassGroup& group : groups) sets.push_back(std::move(group).join());
}

Status sort_dispatches(CounterFile& file, SameRows same) {
  const auto key = [](const CounterDispatch& d) { return std::tie(d.process, d.agent, d.id); };
  std::ranges::stable_sort(file.dispatches, {}, key);
  std::vector<CounterDispatch> launches;
  for (auto row = file.dispatches.begin(); row != file.dispatches.end();) {
    const auto end = std::find_if(row, file.dispatches.end(),
                                  [&](const CounterDispatch& d) { return key(d) != key(*row); });
    const std::span rows(row, end);
    if (rows.size() > 1) WW_TRY(check_rows(rows, same, file.source));
    launches.push_back(rows.size() > 1 ? joined(rows) : std::move(rows.front()));
    row = end;
  }
  auto sets = by_process(std::move(launches));
  join_passes(sets);
  file.dispatches.clear();
  for (auto& set : sets) std::ranges::move(set, std::back_inserter(file.dispatches));
  return {};
}

}  // namespace ww::measure
