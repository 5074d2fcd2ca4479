#include "bench/sensor_response.hpp"

#include <map>
#include <vector>

namespace ww::microbench {

Result<measure::StepResponse> response_to_steps(std::span<const StoredRun> runs, std::int64_t first,
                                                std::int64_t last) {
  std::map<std::int64_t, std::vector<const StoredRun*>> sessions;
  for (const StoredRun& run : runs) {
    if (run.kind == RunKind::step_test && run.position >= first && run.position <= last) {
      sessions[run.session].push_back(&run);
    }
  }
  const std::vector<const StoredRun*>* most = nullptr;
  for (const auto& [session, list] : sessions) {
    if (most == nullptr || list.size() > most->size()) most = &list;
  }
  std::vector<measure::LoadStep> steps;
  std::vector<SensorReading> readings;
  if (most != nullptr) {
    for (const StoredRun* run : *most) {
      steps.push_back({run->start_ns, run->end_ns});
      readings.insert(readings.end(), run->samples.begin(), run->samples.end());
    }
  }
  return measure::analyse_steps(readings, steps);
}

}  // namespace ww::microbench
