#include "estimate/crossing_traffic.hpp"

#include "ww/measure/counter_file.hpp"
#include "ww/measure/crossing_counters.hpp"

namespace ww::cli {

Result<CrossingTraffic> crossing_traffic(const model::CrossingModel& model,
                                         const std::vector<std::string>& counters,
                                         const std::string& architecture,
                                         std::optional<double> toggle_rate) {
  if (toggle_rate && !(*toggle_rate >= 0 && *toggle_rate <= 1)) {
    return fail(ErrorCode::out_of_range, "a toggle rate lies between 0 and 1", "--toggle-rate");
  }
  CrossingTraffic done;
  WW_ASSIGN(traffic, read_traffic(counters, architecture));
  done.traffic = std::move(traffic);
  const auto data = toggle_rate ? model::data_at_rate(*toggle_rate) : model::unknown_data();
  done.pj_per_bit = model.of_data(data);
  std::vector<measure::CounterDispatch> dispatches;
  for (const auto& name : counters) {
    WW_ASSIGN(file, measure::read_counter_file(name, architecture));
    dispatches.insert(dispatches.end(), file.dispatches.begin(), file.dispatches.end());
  }
  const auto counted = measure::count_crossings(dispatches);
  WW_ASSIGN(uses, model::estimate_crossings(model, done.traffic.kernels, counted.bytes, data));
  done.uses = std::move(uses);
  if (!counted.unused.empty()) {
    for (auto& use : done.uses) {
      if (!use.counted) use.reason += "; not used: " + counted.unused;
    }
  }
  return done;
}

}  // namespace ww::cli
