// The ends of launches against the begins of those that follow in their queue.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "counter_forms.hpp"

namespace ww::measure {
namespace {

bool is_counted_alone(const CounterDispatch& dispatch) {
  const auto monitor = dispatch.counters.lower_bound("WW_");
  const bool is_virtual = monitor != dispatch.counters.end() && monitor->first.starts_with("WW_");
  return !is_virtual && !(dispatch.counters.empty() && dispatch.missing.empty());
}

}  // namespace

void cut_late_ends(std::vector<CounterDispatch>& dispatches) {
  using Queue = std::tuple<std::string, std::string, std::string>;
  std::map<Queue, std::vector<CounterDispatch*>> queues;
  for (CounterDispatch& dispatch : dispatches) {
    if (!dispatch.start_ns || !dispatch.duration_ns || dispatch.queue.empty()) continue;
    if (!is_counted_alone(dispatch)) continue;
    queues[{dispatch.process, dispatch.agent, dispatch.queue}].push_back(&dispatch);
  }
  for (auto& [queue, launches] : queues) {
    std::ranges::stable_sort(launches, {}, [](const auto* launch) { return *launch->start_ns; });
    for (std::size_t i = 0; i + 1 < launches.size(); ++i) {
      CounterDispatch& launch = *launches[i];
      const auto until_next = static_cast<double>(*launches[i + 1]->start_ns - *launch.start_ns);
      if (*launch.duration_ns <= until_next) continue;
      launch.cut_ns = *launch.duration_ns - until_next;
      launch.duration_ns = until_next;
      if (until_next > 0) continue;
      launch.duration_ns.reset();
      launch.start_ns.reset();
      launch.duration_reason = "the next launch of its queue begins at the same time";
    }
  }
}

}  // namespace ww::measure
